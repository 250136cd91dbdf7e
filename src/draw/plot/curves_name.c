/* What curves are called: by what tells their runs apart. */
#include "draw/plot/curves.h"

#include "base/mem.h"
#include "study/compare.h"

#include <stdlib.h>
#include <string.h>

struct telling { /* a key that tells groups apart */
    const char *key;
    struct text *value; /* (groups) */
};

static bool same_value(const struct telling *t, size_t a, size_t b)
{
    return !strcmp(text_str(&t->value[a]), text_str(&t->value[b]));
}

/* Whether a key tells apart two groups which the others leave alike. */
static bool separates(const struct telling *key, const struct telling *t, size_t keys,
                      size_t groups)
{
    for (size_t a = 0; a < groups; a++)
        for (size_t b = 0; b < a; b++) {
            bool alike = !same_value(key, a, b);

            for (size_t k = 0; k < keys && alike; k++)
                alike = &t[k] == key || same_value(&t[k], a, b);
            if (alike)
                return true;
        }
    return false;
}

/* The values of the first run of each group. */
static struct text *values_of(const struct study_run *runs, size_t count, const size_t *of,
                              size_t groups, const char *key)
{
    struct text *value = mem_new(groups + 1, sizeof *value);

    for (size_t i = count; i-- > 0;) {
        text_clear(&value[of[i]]);
        study_value(&runs[i], key, &value[of[i]]);
    }
    return value;
}

static void free_telling(struct telling *t, size_t groups)
{
    for (size_t g = 0; g < groups; g++)
        text_free(&t->value[g]);
    free(t->value);
}

/* The last part of a path, for models and data sets lie anywhere, and computed numbers as short as they
 * differ; nothing where the key does not apply. */
static void add_values(const struct telling *t, size_t groups, struct text *names)
{
    const char **words = mem_new(groups + 1, sizeof *words);
    int digits;

    for (size_t g = 0; g < groups; g++) {
        const char *whole = text_str(&t->value[g]), *slash = strrchr(whole, '/');

        words[g] = slash && slash[1] ? slash + 1 : whole;
    }
    digits = text_least_digits(words, groups);
    for (size_t g = 0; g < groups; g++) {
        if (!*words[g])
            continue;
        text_addf(&names[g], "%s%s=", names[g].n ? " " : "", t->key);
        text_add_short(&names[g], words[g], digits);
    }
    free(words);
}

void curves_name_groups(const struct study_run *runs, size_t count, const size_t *of, size_t groups,
                        const char *over, struct text *names)
{
    size_t found, keys = 0;
    const char **differ = study_differences(runs, count, &found);
    struct telling *t = mem_new(found + 1, sizeof *t);

    for (size_t k = 0; k < found; k++) {
        if (over && !strcmp(differ[k], over))
            continue;
        t[keys] = (struct telling){differ[k], values_of(runs, count, of, groups, differ[k])};
        if (separates(&t[keys], t, keys, groups))
            keys++;
        else
            free_telling(&t[keys], groups);
    }
    for (size_t k = 0; k < keys; k++) { /* later ones may have made it superfluous */
        if (strcmp(t[k].key, "model") != 0 && !separates(&t[k], t, keys, groups)) {
            free_telling(&t[k], groups);
            memmove(&t[k], &t[k + 1], (--keys - k) * sizeof *t);
            k--;
        }
    }
    for (size_t k = 0; k < keys; k++) {
        add_values(&t[k], groups, names);
        free_telling(&t[k], groups);
    }
    free(t);
    free(differ);
}

void curves_name_alike(const struct study_run *runs, size_t count, struct text *names)
{
    bool *alike = mem_new(count + 1, sizeof *alike);

    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < a && count <= CURVES_NAMED; b++)
            if (!strcmp(text_str(&names[a]), text_str(&names[b])))
                alike[a] = alike[b] = true;
    for (size_t i = 0; i < count; i++)
        if (!names[i].n)
            text_add(&names[i], study_short_name(runs[i].entry->name));
        else if (alike[i])
            text_addf(&names[i], " %s", study_short_name(runs[i].entry->name));
    free(alike);
}

char **curves_names(const struct study_run *runs, size_t count)
{
    struct text *names = mem_new(count + 1, sizeof *names);
    size_t *of = mem_new(count + 1, sizeof *of);
    char **words = mem_new(count + 1, sizeof *words);

    for (size_t i = 0; i < count; i++)
        of[i] = i;
    if (count <= CURVES_NAMED)
        curves_name_groups(runs, count, of, count, NULL, names);
    curves_name_alike(runs, count, names);
    for (size_t i = 0; i < count; i++)
        words[i] = names[i].s;
    free(of);
    free(names);
    return words;
}
