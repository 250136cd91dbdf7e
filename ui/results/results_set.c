/* ui/results/results_set.c: runs that were seen to end, or were at work, as the settings keep them: by the keys of
 * their names, 16 digits and a blank each. */
#include "ui/results/results_int.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

void results_set_add_key(struct results_set *s, uint64_t key)
{
    s->key = mem_grow(s->key, &s->room, s->count + 1, sizeof *s->key);
    s->key[s->count++] = key;
}

void results_set_read(struct results_set *s, const char *text)
{
    char *end;

    s->count = 0;
    for (uint64_t key; (key = strtoull(text, &end, 16)) && end > text; text = end)
        results_set_add_key(s, key);
    results_set_sort(s);
}

void results_set_add(struct results_set *s, const char *run)
{
    results_set_add_key(s, results_key("run", run));
}

void results_set_sort(struct results_set *s)
{
    size_t kept = 0;

    if (s->count)
        qsort(s->key, s->count, sizeof *s->key, by_number);
    for (size_t i = 0; i < s->count; i++)
        if (!kept || s->key[i] != s->key[kept - 1])
            s->key[kept++] = s->key[i];
    s->count = kept;
}

bool results_set_has(const struct results_set *s, const char *run)
{
    uint64_t key = results_key("run", run);

    return s->count && bsearch(&key, s->key, s->count, sizeof *s->key, by_number);
}

void results_set_write(const struct results_set *s, struct text *out)
{
    for (size_t i = 0; i < s->count; i++)
        text_addf(out, "%016" PRIx64 " ", s->key[i]);
}

void results_set_free(struct results_set *s)
{
    free(s->key);
    *s = (struct results_set){0};
}
