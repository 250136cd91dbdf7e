/* The parameters of a run's model: they stand in its experiment.ini alone, and most runs have none. */
#include "record/run/params.h"

#include "base/io.h"
#include "base/mem.h"
#include "spec/spec.h"

#include <stdlib.h>
#include <string.h>

void record_read_params(const char *folder, struct record_params *p)
{
    char *path = io_path(folder, "experiment.ini"), *text = NULL;
    struct spec *spec;
    size_t n;

    *p = (struct record_params){0};
    if (io_read_file(path, 1 << 20, &text, &n, NULL) == ERR_OK && strstr(text, "model.")) {
        spec = mem_new(1, sizeof *spec);
        spec_default(spec);
        if (spec_read(spec, path, NULL) == ERR_OK && spec->params) {
            p->count = (size_t)spec->params;
            p->name = mem_new(p->count, sizeof *p->name);
            p->value = mem_new(p->count, sizeof *p->value);
        }
        for (size_t i = 0; i < p->count; i++) {
            p->name[i] = mem_textf("model.%s", spec->param[i].name);
            p->value[i] = mem_text(spec->param[i].value);
        }
        free(spec);
    }
    free(text);
    free(path);
}

void record_free_params(struct record_params *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->name[i]);
        free(p->value[i]);
    }
    free(p->name);
    free(p->value);
    *p = (struct record_params){0};
}

const char *record_param(const struct record_params *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++)
        if (!strcmp(p->name[i], name))
            return p->value[i];
    return "";
}

static int by_name(const void *a, const void *b, void *arg)
{
    const struct record_params *p = arg;

    return strcmp(p->name[*(const size_t *)a], p->name[*(const size_t *)b]);
}

void record_add_params(const struct record_params *p, struct text *out)
{
    size_t *order = mem_new(p->count + 1, sizeof *order);

    for (size_t i = 0; i < p->count; i++)
        order[i] = i;
    qsort_r(order, p->count, sizeof *order, by_name, (void *)p);
    for (size_t i = 0; i < p->count; i++)
        text_addf(out, "%s%s=%s", i ? " " : "", p->name[order[i]] + strlen("model."),
                  p->value[order[i]]);
    free(order);
}

bool record_params_add(struct record_params *to, const char *name)
{
    for (size_t i = 0; i < to->count; i++)
        if (!strcmp(to->name[i], name))
            return false;
    to->name = mem_resize(to->name, to->count + 1, sizeof *to->name);
    to->value = mem_resize(to->value, to->count + 1, sizeof *to->value);
    to->name[to->count] = mem_text(name);
    to->value[to->count++] = mem_text("");
    return true;
}
