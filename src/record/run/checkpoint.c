#include "record/run/checkpoint.h"

#include "base/mem.h"
#include "record/file/safetensors_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum err_code new_vector(void **out, int members, size_t count, size_t element,
                                struct err *e)
{
    char room[TEXT_NUMBER_ROOM], number[2][TEXT_NUMBER_ROOM];
    size_t n;

    *out = NULL;
    if (count == 0)
        return ERR_OK;
    if (__builtin_mul_overflow((size_t)members, count, &n) || !(*out = mem_try(n, element)))
        return err_set(
            e, ERR_NOMEM,
            "no memory for %s model%s of %s numbers, %s: fewer members or a smaller model need less",
            text_count(number[0], (uint64_t)members), text_s(members), text_count(number[1], count),
            text_bytes(room, (uint64_t)members * count * element));
    return ERR_OK;
}

enum err_code record_weights_new(struct record_weights *w, const struct net *net, int members,
                                 bool ensemble, size_t element, int slots, struct err *e)
{
    enum err_code code;

    *w = (struct record_weights){
        .members = members, .ensemble = ensemble, .element = element, .slots = slots};
    code = new_vector(&w->params, members, net->parameter_count, element, e);
    if (code == ERR_OK)
        code = new_vector(&w->stats, members, net->stat_count, element, e);
    for (int i = 0; i < slots && code == ERR_OK; i++)
        code = new_vector(&w->slot[i], members, net->parameter_count, element, e);
    if (code != ERR_OK)
        record_weights_free(w);
    return code;
}

void record_weights_free(struct record_weights *w)
{
    free(w->params);
    free(w->stats);
    free(w->slot[0]);
    free(w->slot[1]);
    memset(w, 0, sizeof *w);
}

static void *vector_of(const struct record_weights *w, void *vectors, size_t count, int m)
{
    return vectors ? (char *)vectors + (size_t)m * count * w->element : NULL;
}

void *record_weights_params(const struct record_weights *w, const struct net *net, int m)
{
    return vector_of(w, w->params, net->parameter_count, m);
}

void *record_weights_stats(const struct record_weights *w, const struct net *net, int m)
{
    return vector_of(w, w->stats, net->stat_count, m);
}

void *record_weights_slot(const struct record_weights *w, const struct net *net, int m, int slot)
{
    return vector_of(w, w->slot[slot], net->parameter_count, m);
}

/* Adds a tensor of these bytes, which must outlive the pack. */
static enum err_code add_tensor(struct record_pack *p, const char *name, enum safetensors_type type,
                                int dims, const size_t *shape, const void *bytes, struct err *e)
{
    struct safetensors_tensor t = {.type = type, .dims = dims, .bytes = bytes};

    if (strlen(name) >= sizeof t.name || dims < 0 || dims > (int)MEM_COUNT(t.shape))
        return err_set(e, ERR_FAILED, "tensor '%s' has a name or a shape too long for a file",
                       name);
    memcpy(t.name, name, strlen(name) + 1);
    for (int i = 0; i < dims; i++)
        t.shape[i] = shape[i];
    if (!safetensors_bytes(type, dims, shape, &t.size))
        return err_set(e, ERR_FAILED, "tensor '%s' is too large for a file", name);
    p->tensor = mem_grow(p->tensor, &p->tensor_room, p->tensors + 1, sizeof *p->tensor);
    p->tensor[p->tensors++] = t;
    return ERR_OK;
}

enum err_code record_pack_tensor(struct record_pack *p, const char *name,
                                 enum safetensors_type type, int dims, const size_t *shape,
                                 const void *bytes, struct err *e)
{
    struct safetensors_tensor *t;
    void *copy;

    TRY(add_tensor(p, name, type, dims, shape, NULL, e));
    t = &p->tensor[p->tensors - 1];
    copy = mem_try(t->size, 1);
    if (!copy)
        return err_set(e, ERR_NOMEM, "no memory for the %zu bytes of tensor '%s'", t->size, name);
    p->copy = mem_grow(p->copy, &p->copy_room, p->copies + 1, sizeof *p->copy);
    p->copy[p->copies++] = copy;
    t->bytes = t->size ? memcpy(copy, bytes, t->size) : copy;
    return ERR_OK;
}

void record_pack_note(struct record_pack *p, const char *key, const char *value)
{
    p->note = mem_grow(p->note, &p->note_room, p->notes + 1, sizeof *p->note);
    p->note[p->notes++] = (struct safetensors_note){mem_text(key), mem_text(value)};
}

void record_pack_int(struct record_pack *p, const char *key, int64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRId64, value);
    record_pack_note(p, key, text);
}

void record_pack_free(struct record_pack *p)
{
    for (size_t i = 0; i < p->copies; i++)
        free(p->copy[i]);
    for (size_t i = 0; i < p->notes; i++) {
        free(p->note[i].key);
        free(p->note[i].value);
    }
    free(p->tensor);
    free(p->note);
    free(p->copy);
    memset(p, 0, sizeof *p);
}

/* The file's shape of a tensor: in an ensemble the members stand in front. */
static int file_shape(const struct record_weights *w, const struct net_tensor *t, size_t shape[8])
{
    int dims = 0;

    if (w->ensemble)
        shape[dims++] = (size_t)w->members;
    for (int i = 0; i < t->dims; i++)
        shape[dims++] = t->shape[i];
    return dims;
}

/* One of the vectors, whose members lie count elements apart, as tensors under a prefix. */
static enum err_code pack_vector(struct record_pack *p, const struct record_weights *w,
                                 const char *prefix, const struct net_tensor *tensors, int n,
                                 const char *vector, size_t count, struct err *e)
{
    for (int i = 0; i < n; i++) {
        const struct net_tensor *t = &tensors[i];
        size_t shape[8];
        int dims = file_shape(w, t, shape);
        char *name = mem_textf("%s%s", prefix, t->name);
        enum err_code code =
            add_tensor(p, name, w->element == 8 ? SAFETENSORS_F64 : SAFETENSORS_F32, dims, shape,
                       vector + t->offset * w->element, e);
        free(name);
        if (code != ERR_OK)
            return code;
        p->tensor[p->tensors - 1].pieces = (size_t)w->members;
        p->tensor[p->tensors - 1].apart = count * w->element;
    }
    return ERR_OK;
}

enum err_code record_pack_weights(struct record_pack *p, const struct record_weights *w,
                                  const struct net *net, struct err *e)
{
    static const char *const slot_prefix[2] = {"slot1/", "slot2/"};
    char text[64];

    TRY(pack_vector(p, w, "params/", net->param, net->params, w->params, net->parameter_count, e));
    TRY(pack_vector(p, w, "", net->stat, net->stats, w->stats, net->stat_count, e));
    for (int i = 0; i < w->slots; i++)
        TRY(pack_vector(p, w, slot_prefix[i], net->param, net->params, w->slot[i],
                        net->parameter_count, e));
    snprintf(text, sizeof text, "%d %d %d", net->input.h, net->input.w, net->input.c);
    record_pack_note(p, RECORD_NOTE_INPUT, text);
    record_pack_int(p, RECORD_NOTE_CLASSES, net->classes);
    record_pack_int(p, RECORD_NOTE_MEMBERS, w->ensemble ? w->members : 0);
    return ERR_OK;
}

static void shape_words(struct text *out, int dims, const size_t *shape)
{
    text_add(out, "(");
    for (int i = 0; i < dims; i++)
        text_addf(out, i ? ", %zu" : "%zu", shape[i]);
    text_add(out, ")");
}

static enum err_code check_tensor(const struct safetensors_tensor *have, const char *name,
                                  enum safetensors_type type, int dims, const size_t *shape,
                                  const char *file, struct err *e)
{
    struct text a = {0}, b = {0};
    bool same = have->type == type && have->dims == dims;

    for (int i = 0; same && i < dims; i++)
        same = have->shape[i] == shape[i];
    if (same)
        return ERR_OK;
    shape_words(&a, have->dims, have->shape);
    shape_words(&b, dims, shape);
    err_set(e, ERR_INPUT, "%s: tensor '%s' is %s %s, but this model needs %s %s", file, name,
            safetensors_type_name(have->type), text_str(&a), safetensors_type_name(type),
            text_str(&b));
    text_free(&a);
    text_free(&b);
    return ERR_INPUT;
}

static enum err_code unpack_vector(const struct safetensors *s, const char *file,
                                   const struct record_weights *w, const char *prefix,
                                   const struct net_tensor *tensors, int n, char *vector,
                                   size_t count, struct err *e)
{
    for (int i = 0; i < n; i++) {
        const struct net_tensor *t = &tensors[i];
        size_t shape[8], bytes = t->count * w->element;
        int dims = file_shape(w, t, shape);
        char *name = mem_textf("%s%s", prefix, t->name);
        const struct safetensors_tensor *have = safetensors_find(s, name);
        enum err_code code =
            have ? check_tensor(have, name, w->element == 8 ? SAFETENSORS_F64 : SAFETENSORS_F32,
                                dims, shape, file, e)
                 : err_set(e, ERR_INPUT, "%s has no tensor '%s', which this model needs", file,
                           name);
        free(name);
        if (code != ERR_OK)
            return code;
        for (int m = 0; m < w->members; m++)
            memcpy(vector + ((size_t)m * count + t->offset) * w->element,
                   (const char *)have->bytes + (size_t)m * bytes, bytes);
    }
    return ERR_OK;
}

enum err_code record_unpack_weights(const struct safetensors *s, const char *file,
                                    const struct net *net, struct record_weights *w, struct err *e)
{
    static const char *const slot_prefix[2] = {"slot1/", "slot2/"};

    TRY(unpack_vector(s, file, w, "params/", net->param, net->params, w->params,
                      net->parameter_count, e));
    TRY(unpack_vector(s, file, w, "", net->stat, net->stats, w->stats, net->stat_count, e));
    for (int i = 0; i < w->slots; i++)
        TRY(unpack_vector(s, file, w, slot_prefix[i], net->param, net->params, w->slot[i],
                          net->parameter_count, e));
    return ERR_OK;
}

bool record_unpack_int(const struct safetensors *s, const char *key, int64_t *value)
{
    const char *text = safetensors_note(s, key);

    return text && text_to_int(text, value);
}
