/* What tells experiments of one name apart while they wait: the keys in which they differ. */
#include "base/mem.h"
#include "record/queue/queue.h"
#include "spec/sweep.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TOLD_APART 60 /* of one queue: each is compared with each */

/* The next line "key = value" from *at on, without comments; false: there is none. */
static bool next_pair(const char **at, struct text *key, struct text *value)
{
    while (**at) {
        size_t n = strcspn(*at, "\n");
        char *line = mem_text_n(*at, n), *equals = strchr(line, '=');
        bool pair = *text_trim(line) != '#' && equals;

        *at += n + ((*at)[n] == '\n');
        text_clear(key);
        text_clear(value);
        if (pair) {
            *equals = 0;
            text_add(key, text_trim(line));
            text_add(value, text_trim(equals + 1));
        }
        free(line);
        if (pair)
            return true;
    }
    return false;
}

static bool has_pair(const char *ini, const char *key, const char *value)
{
    struct text k = {0}, v = {0};
    bool has = false;

    while (!has && next_pair(&ini, &k, &v))
        has = !strcmp(text_str(&k), key) && !strcmp(text_str(&v), value);
    text_free(&k);
    text_free(&v);
    return has;
}

static bool same_name(const struct record_queued *a, const struct record_queued *b)
{
    return a->text && b->text && !strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

/* Each one's text with every key in it, so that all say the same in the same words. */
static char **resolve(const struct record_queued *list, size_t count)
{
    char **resolved = mem_new(count + 1, sizeof *resolved);

    for (size_t i = 0; i < count; i++) {
        struct text t = {0};
        struct spec_sweep s;

        spec_sweep_init(&s);
        if (list[i].text &&
            spec_sweep_parse(&s, list[i].text, list[i].n, list[i].file, NULL) == ERR_OK &&
            spec_sweep_close(&s, NULL) == ERR_OK)
            spec_sweep_write(&s, &t);
        else
            text_add(&t, list[i].text ? list[i].text : "");
        resolved[i] = mem_text(text_str(&t));
        spec_sweep_free(&s);
        text_free(&t);
    }
    return resolved;
}

static char *label_of(const struct record_queued *list, char *const *resolved, size_t count,
                      size_t i)
{
    struct text key = {0}, value = {0}, out = {0};
    const char *at = resolved[i];
    char *label;

    while (next_pair(&at, &key, &value)) {
        bool differs = false;

        for (size_t j = 0; j < count && !differs; j++)
            differs = j != i && same_name(&list[i], &list[j]) &&
                      !has_pair(resolved[j], text_str(&key), text_str(&value));
        if (differs)
            text_addf(&out, "%s%s=%s", out.n ? " " : "", text_str(&key), text_str(&value));
    }
    label = mem_text(text_str(&out));
    text_free(&key);
    text_free(&value);
    text_free(&out);
    return label;
}

char **record_queue_labels(const struct record_queued *list, size_t count)
{
    size_t compared = count < MOST_TOLD_APART ? count : 0;
    char **label = mem_new(count + 1, sizeof *label), **resolved = resolve(list, compared);

    for (size_t i = 0; i < count; i++)
        label[i] = compared ? label_of(list, resolved, count, i) : mem_text("");
    record_queue_free_labels(resolved, compared);
    return label;
}

void record_queue_free_labels(char **label, size_t count)
{
    for (size_t i = 0; label && i < count; i++)
        free(label[i]);
    free(label);
}
