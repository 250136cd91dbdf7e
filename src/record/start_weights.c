/* Start weights: the key `weights`. Files may come from Python, so names, shapes and types are taken
 * with more latitude than in a checkpoint of our own, but never guessed. */
#include "record/start_weights.h"

#include "base/io.h"
#include "base/mem.h"
#include "record/find.h"
#include "record/run/checkpoint.h"
#include "record/run/reader.h"
#include "record/run/writer.h"

#include <stdlib.h>
#include <string.h>

static double element_of(const struct safetensors_tensor *t, size_t i)
{
    if (t->type == SAFETENSORS_F64) {
        double d;
        memcpy(&d, (const char *)t->bytes + i * sizeof d, sizeof d);
        return d;
    }
    float f;
    memcpy(&f, (const char *)t->bytes + i * sizeof f, sizeof f);
    return f;
}

static bool same_shape(const struct net_tensor *t, const struct safetensors_tensor *have, int skip)
{
    if (have->dims != t->dims + skip)
        return false;
    for (int i = 0; i < t->dims; i++) {
        if (have->shape[i + skip] != t->shape[i])
            return false;
    }
    return true;
}

static enum err_code shape_error(const char *file, const struct net_tensor *t,
                                 const struct safetensors_tensor *have, struct err *e)
{
    struct text a = {0}, b = {0};

    for (int i = 0; i < have->dims; i++)
        text_addf(&a, i ? ", %zu" : "%zu", have->shape[i]);
    for (int i = 0; i < t->dims; i++)
        text_addf(&b, i ? ", %zu" : "%zu", t->shape[i]);
    err_set(e, ERR_INPUT, "weights: tensor '%s' of %s has the shape (%s), this model needs (%s)",
            t->name, file, text_str(&a), text_str(&b));
    text_free(&a);
    text_free(&b);
    return ERR_INPUT;
}

/* Under its own name as exported, or as in a checkpoint. */
static const struct safetensors_tensor *find_tensor(const struct safetensors *s,
                                                    const struct net_tensor *t)
{
    const struct safetensors_tensor *have = safetensors_find(s, t->name);

    if (!have) {
        char *name = mem_textf("params/%s", t->name);
        have = safetensors_find(s, name);
        free(name);
    }
    return have;
}

/* vector NULL: it is only looked whether it could be. */
static enum err_code start_vector(const struct safetensors *s, const char *file,
                                  const struct record_weights *w, const struct net_tensor *tensors,
                                  int n, void *vector, size_t count, struct err *e)
{
    for (int i = 0; i < n; i++) {
        const struct net_tensor *t = &tensors[i];
        const struct safetensors_tensor *have = find_tensor(s, t);
        bool stacked;
        if (!have)
            return err_set(e, ERR_INPUT, "weights: %s has no tensor '%s'%s", file, t->name,
                           safetensors_find(s, "Conv_0.weight") ||
                                   safetensors_find(s, "Dense_0.weight")
                               ? ": it was exported with --layout torch; export it without"
                               : ", which this model needs");
        if (have->type != SAFETENSORS_F32 && have->type != SAFETENSORS_F64)
            return err_set(e, ERR_INPUT, "weights: tensor '%s' of %s is %s, not F32 or F64",
                           t->name, file, safetensors_type_name(have->type));
        stacked = same_shape(t, have, 1);
        if (!stacked && !same_shape(t, have, 0))
            return shape_error(file, t, have, e);
        if (stacked && !w->ensemble && have->shape[0] != 1)
            return err_set(e, ERR_INPUT,
                           "weights: %s holds %zu members, a single model starts from one: export "
                           "it with --member M",
                           file, have->shape[0]);
        if (stacked && have->shape[0] != (size_t)w->members)
            return err_set(e, ERR_INPUT, "weights: %s holds %zu members, this ensemble has %d",
                           file, have->shape[0], w->members);
        for (int m = 0; vector && m < w->members; m++) {
            size_t from = stacked ? (size_t)m * t->count : 0;
            size_t to = (size_t)m * count + t->offset;
            for (size_t j = 0; j < t->count; j++) {
                if (w->element == 8)
                    ((double *)vector)[to + j] = element_of(have, from + j);
                else
                    ((float *)vector)[to + j] = (float)element_of(have, from + j);
            }
        }
    }
    return ERR_OK;
}

static bool is_known(const struct net *net, const char *name)
{
    if (!strncmp(name, "slot", 4) || !strncmp(name, "engine/", 7))
        return true;
    if (!strncmp(name, "params/", 7))
        name += 7;
    for (int i = 0; i < net->params; i++) {
        if (!strcmp(net->param[i].name, name))
            return true;
    }
    for (int i = 0; i < net->stats; i++) {
        if (!strcmp(net->stat[i].name, name))
            return true;
    }
    return false;
}

static enum err_code start_from(const struct safetensors *s, const char *file,
                                const struct net *net, struct record_weights *w, struct err *e)
{
    TRY(start_vector(s, file, w, net->param, net->params, w->params, net->parameter_count, e));
    TRY(start_vector(s, file, w, net->stat, net->stats, w->stats, net->stat_count, e));
    for (size_t i = 0; i < s->tensors; i++) {
        if (!is_known(net, s->tensor[i].name))
            return err_set(e, ERR_INPUT, "weights: %s holds tensor '%s', which this model has not",
                           file, s->tensor[i].name);
    }
    return ERR_OK;
}

static enum err_code read_run_start(const char *results, const char *from, struct safetensors *s,
                                    struct err *e)
{
    struct record_entry entry = {0};
    enum err_code code = record_find(results, from, &entry, e);
    bool found = false;

    if (code != ERR_OK)
        return err_context(e, "weights");
    code = record_read_checkpoint(entry.folder, s, &found, e);
    if (code == ERR_OK && !found)
        code = err_set(e, ERR_INPUT, "weights: run %s has no checkpoint to start from", entry.name);
    record_free_entry(&entry);
    return code;
}

bool record_start_is_file(const char *from)
{
    return (io_exists(from) && !io_is_folder(from)) || text_ends_with(from, ".safetensors");
}

enum err_code record_check_start_file(const char *path, const struct net *net, int members,
                                      bool ensemble, struct err *e)
{
    struct record_weights w = {.members = members, .ensemble = ensemble};
    struct safetensors s = {0};
    enum err_code code = safetensors_read_header(path, &s, e);

    if (code != ERR_OK)
        return err_context(e, "weights");
    code = start_from(&s, path, net, &w, e);
    safetensors_free(&s);
    return code;
}

enum err_code record_read_start(const char *results, const char *from, const struct net *net,
                                struct record_weights *w, struct err *e)
{
    struct safetensors s = {0};
    enum err_code code;

    if (record_start_is_file(from)) {
        code = safetensors_read(from, &s, e);
        if (code != ERR_OK)
            return err_context(e, "weights");
    } else {
        TRY(read_run_start(results, from, &s, e));
    }
    code = start_from(&s, from, net, w, e);
    safetensors_free(&s);
    return code;
}

enum err_code record_name_weights(const char *results, struct spec *spec, struct err *e)
{
    struct record_entry entry = {0};
    char *folder;

    if (!spec->weights[0] || strchr(spec->weights, '/') || io_exists(spec->weights))
        return ERR_OK;
    if (record_find(results, spec->weights, &entry, e) != ERR_OK)
        return err_context(e, "weights");
    folder = realpath(entry.folder, NULL);
    record_free_entry(&entry);
    if (!folder || strlen(folder) >= sizeof spec->weights) {
        free(folder);
        return err_set(e, ERR_INPUT,
                       "weights = %s: the path of that run has no room; give its checkpoint's path",
                       spec->weights);
    }
    strcpy(spec->weights, folder);
    free(folder);
    return ERR_OK;
}
