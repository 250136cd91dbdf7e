/* What tells experiments of one name apart while they wait: the keys in which they differ. */
#include "ui/setup_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

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

void setup_add_label(const struct record_queued *list, size_t count, size_t i, struct text *out)
{
    struct text key = {0}, value = {0};
    const char *at = list[i].text;

    while (at && next_pair(&at, &key, &value)) {
        bool differs = false;

        for (size_t j = 0; j < count && !differs; j++)
            differs = j != i && same_name(&list[i], &list[j]) &&
                      !has_pair(list[j].text, text_str(&key), text_str(&value));
        if (differs)
            text_addf(out, "%s%s=%s", out->n ? " " : "", text_str(&key), text_str(&value));
    }
    text_free(&key);
    text_free(&value);
}
