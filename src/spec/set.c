#include "spec/spec_int.h"
#include "base/mem.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a wrong value may take of an error's room. */
#define SHOWN         100 /* bytes, and columns, of a value in a message */
#define SHOWN_UNCLEAN 40  /* columns of what is no text */

/* A character with what follows of it; no further than garbage could be one. */
static size_t character_bytes(const char *s)
{
    size_t n = 1;

    while (n < 4 && ((unsigned char)s[n] & 0xc0) == 0x80)
        n++;
    return n;
}

void spec_add_shown(struct text *t, const char *value)
{
    int most = text_is_clean(value) ? SHOWN : SHOWN_UNCLEAN;
    const char *end = value + strnlen(value, SHOWN);
    struct text shown = {0};
    size_t fits = 0;

    while (value < end) {
        char one[5] = {0};
        size_t n = character_bytes(value);

        memcpy(one, value, n);
        text_add_clean(&shown, one);
        if (text_width(text_str(&shown)) > most)
            break;
        fits = shown.n;
        value += n;
    }
    text_add_n(t, text_str(&shown), fits);
    if (*value)
        text_add(t, "...");
    text_free(&shown);
}

static void add_where(struct text *t, const char *where)
{
    if (where && *where)
        text_addf(t, "%s: ", where);
}

enum err_code spec_refuse(const struct spec_input *in, struct err *e, const char *fmt, ...)
{
    struct text t = {0};
    char reason[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    add_where(&t, in->where);
    spec_add_shown(&t, in->key);
    text_add(&t, *in->value ? " = " : " = ''");
    spec_add_shown(&t, in->value);
    text_addf(&t, ": %s", reason);
    if (in->form)
        text_addf(&t, "; the form is %s", in->form);
    else if (!strcmp(in->key,
                     spec_keys[in->id].name)) /* not model.NAME, whose values the model knows */
        text_addf(&t, "; allowed: %s", spec_keys[in->id].values);
    enum err_code code = err_set(e, ERR_INPUT, "%s", text_str(&t));
    text_free(&t);
    return code;
}

enum err_code spec_refuse_count(const struct spec_input *in, const char *what, int64_t lo,
                                int64_t hi, struct err *e)
{
    const char *digits = in->value + (*in->value == '-');
    bool whole = *digits && !digits[strspn(digits, "0123456789")];
    int64_t value = *in->value == '-' ? -1 : hi; /* beyond all of them, where it is so long */

    (void)text_to_int(in->value, &value);
    if (!whole)
        return spec_refuse(in, e, "it is no %s", what);
    if (value < lo)
        return spec_refuse(in, e, "the least is %lld", (long long)lo);
    return spec_refuse(in, e, "the most is %lld", (long long)hi);
}

static enum err_code refuse_sweep(const char *where, const char *key, const char *value,
                                  const char *instead, struct err *e)
{
    struct text t = {0};

    add_where(&t, where);
    text_addf(&t, "%s = ", key);
    spec_add_shown(&t, value);
    text_addf(&t, ": that is for the sweeps of `chorus run`; %s here", instead);
    enum err_code code = err_set(e, ERR_INPUT, "%s", text_str(&t));
    text_free(&t);
    return code;
}

/* What other programs call a key. */
static const char *other_name(const char *small)
{
    static const char *const names[][2] = {
        {"learning_rate", "lr"},     {"lrate", "lr"},           {"eta", "lr"},
        {"batch_size", "batch"},     {"bs", "batch"},           {"n_epochs", "epochs"},
        {"num_epochs", "epochs"},    {"dataset", "data"},       {"net", "model"},
        {"network", "model"},        {"arch", "model"},         {"optim", "optimizer"},
        {"solver", "optimizer"},     {"wd", "weight_decay"},    {"decay", "weight_decay"},
        {"random_seed", "seed"},     {"scheduler", "schedule"}, {"lr_scheduler", "schedule"},
        {"ensemble", "members"},     {"workers", "threads"},    {"gpus", "devices"},
        {"augmentation", "augment"}, {"clip", "grad_clip"},     {"early_stopping", "patience"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i][0], small))
            return names[i][1];
    return NULL;
}

const char *spec_key_near(const char *key)
{
    const char *names[SPEC_KEYS + 1] = {0}, *nearest;
    char *small = mem_text(key);

    for (int i = 0; i < SPEC_KEYS; i++)
        names[i] = spec_keys[i].name;
    for (char *p = small; *p; p++)
        *p = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p == '-' ? '_' : *p;
    nearest = other_name(small);
    if (!nearest)
        nearest = text_nearest(small, names);
    free(small);
    return nearest;
}

static enum err_code refuse_key(const char *where, const char *key, struct err *e)
{
    struct text t = {0};

    add_where(&t, where);
    if (!*key) {
        text_add(&t, "there is no key in front of '='; write key = value");
    } else {
        const char *nearest = text_is_clean(key) ? spec_key_near(key) : NULL;
        text_add(&t, "there is no key ");
        spec_add_shown(&t, key);
        if (nearest)
            text_addf(&t, "; did you mean %s?", nearest);
        else
            text_add(&t, "; `chorus help keys` lists them");
    }
    enum err_code code = err_set(e, ERR_INPUT, "%s", text_str(&t));
    text_free(&t);
    return code;
}

/* ---- from the text of a value to the value ---- */

const char *const spec_sweep_keys[2] = {"samples", "zip"};

bool spec_is_form(const char *value)
{
    static const char *const forms[] = {"geom:", "lin:", "step:", "loguniform:"};

    for (size_t i = 0; i < MEM_COUNT(forms); i++)
        if (!strncmp(value, forms[i], strlen(forms[i])))
            return true;
    return false;
}

bool spec_is_list(const char *value)
{
    bool quoted = false;

    if (spec_is_form(value))
        return true;
    for (const char *p = value; *p; p++) {
        if (*p == '"')
            quoted = !quoted;
        else if (*p == ',' && !quoted)
            return true;
    }
    return false;
}

/* Takes the quotes off, in place; "" inside them stands for one. Returns what is wrong, or NULL. */
static const char *unquote(char *value)
{
    if (*value != '"')
        return strchr(value, '"') ? "a quote stands in the middle; put quotes around all of it"
                                  : NULL;
    char *to = value, *from = value + 1;
    for (;; from++) {
        if (!*from)
            return "the closing quote is missing";
        if (*from == '"' && *++from != '"')
            break;
        *to++ = *from;
    }
    if (*from)
        return "there is text behind the closing quote";
    *to = 0;
    return NULL;
}

static enum err_code set_word(struct spec *s, const struct spec_input *in, struct err *e)
{
    const struct spec_field *f = &spec_fields[in->id];
    const char *variable = getenv("CHORUS_FAKE"); /* lets tests choose the backend without sums */
    bool fake = variable && (!strcmp(variable, "1") || !strcmp(variable, "only"));
    const char *allowed[16] = {0}; /* ends with NULL */
    int n = 0;

    for (int i = 0; f->words[i]; i++) {
        bool hidden = in->id == KEY_BACKEND && i == SPEC_FAKE && !fake;
        if (!*f->words[i] || hidden)
            continue;
        if (n + 1 < (int)MEM_COUNT(allowed))
            allowed[n++] = f->words[i];
        if (!strcmp(f->words[i], in->value)) {
            memcpy((char *)s + f->offset, &i, sizeof i);
            return ERR_OK;
        }
    }
    /* what everybody calls it is nearer to cpu by its letters */
    bool gpu = in->id == KEY_BACKEND && !strcasecmp(in->value, "gpu");
    const char *nearest = gpu ? "cuda" : text_nearest(in->value, allowed);
    if (nearest)
        return spec_refuse(in, e, "there is no such value, did you mean %s?", nearest);
    return spec_refuse(in, e, "there is no such value");
}

static enum err_code set_yesno(struct spec *s, const struct spec_input *in, struct err *e)
{
    bool yes = !strcmp(in->value, "yes");

    if (!yes && strcmp(in->value, "no") != 0)
        return spec_refuse(in, e, "it is neither yes nor no");
    memcpy((char *)s + spec_fields[in->id].offset, &yes, sizeof yes);
    return ERR_OK;
}

static enum err_code set_count(struct spec *s, const struct spec_input *in, struct err *e)
{
    const struct spec_field *f = &spec_fields[in->id];
    char *at = (char *)s + f->offset;
    int64_t value = 0;

    if (!f->unset || strcmp(in->value, f->unset) != 0) {
        if (in->id == KEY_REPEATS && text_to_int(in->value, &value) && value > 1)
            return refuse_sweep(in->where, in->key, in->value,
                                "give 1, and seed = 1, 2, ... by hand", e);
        if (!text_to_int(in->value, &value) || value < f->lo || value > f->hi)
            return spec_refuse_count(in, "whole number", f->lo, f->hi, e);
    }
    if (f->kind == FIELD_INT) {
        int small = (int)value;
        memcpy(at, &small, sizeof small);
    } else {
        memcpy(at, &value, sizeof value);
    }
    return ERR_OK;
}

static enum err_code set_real(struct spec *s, const struct spec_input *in, struct err *e)
{
    const struct spec_field *f = &spec_fields[in->id];
    double value = 0;

    if (!f->unset || strcmp(in->value, f->unset) != 0) {
        if (!text_to_double(in->value, &value))
            return spec_refuse(in, e, "it is no number");
        if (!isfinite(value))
            return spec_refuse(in, e, "it is not finite");
        if (value < f->min || value > f->max || (f->above && value <= f->min))
            return spec_refuse(in, e, "it is out of range");
        if (value == 0)
            value = 0; /* not -0 */
    }
    memcpy((char *)s + f->offset, &value, sizeof value);
    return ERR_OK;
}

static enum err_code set_value(struct spec *s, const struct spec_input *in, struct err *e)
{
    switch (spec_fields[in->id].kind) {
    case FIELD_WORD:
        return set_word(s, in, e);
    case FIELD_YESNO:
        return set_yesno(s, in, e);
    case FIELD_INT:
    case FIELD_COUNT:
        return set_count(s, in, e);
    case FIELD_REAL:
        return set_real(s, in, e);
    case FIELD_OWN:
        break;
    }
    return spec_fields[in->id].set(s, in, e);
}

/* value: a copy, which is trimmed and unquoted in place. */
static enum err_code set_copy(struct spec *s, const char *key, char *value, const char *where,
                              const char *folder, struct err *e)
{
    struct spec_input in = {.key = key, .where = where, .folder = folder, .id = spec_key_find(key)};

    in.value = value = text_trim(value);
    for (size_t i = 0; i < MEM_COUNT(spec_sweep_keys); i++)
        if (!strcmp(key, spec_sweep_keys[i]))
            return refuse_sweep(where, key, value, "leave it out", e);
    if (in.id < 0)
        return refuse_key(where, key, e);
    if (spec_is_list(value))
        return refuse_sweep(where, key, value, "give one value", e);
    char *whole = mem_text(value);
    const char *wrong = unquote(value);
    if (wrong) {
        in.value = whole;
        enum err_code code = spec_refuse(&in, e, "%s", wrong);
        free(whole);
        return code;
    }
    free(whole);
    if (!*value)
        return spec_refuse(&in, e, "there is no value");
    for (const char *p = value; *p; p++)
        if ((unsigned char)*p < 32 || *p == 127)
            return spec_refuse(&in, e, "it holds a control character");
    int64_t before = s->repeats;
    TRY(set_value(s, &in, e));
    if (in.id == KEY_REPEATS && s->repeats > 1) {
        s->repeats = before;
        return refuse_sweep(where, key, value, "leave it out", e);
    }

    if (!strncmp(key, "model.", 6))
        return ERR_OK;
    s->given |= UINT64_C(1) << in.id;
    s->line[in.id] = 0;
    s->dotted &= ~(UINT64_C(1) << in.id);
    s->dotted |= (uint64_t)!strncmp(value, "./", 2) << in.id;
    if (in.id == KEY_OPTIMIZER && !spec_given(s, KEY_WEIGHT_DECAY))
        spec_set_optimizer_default(s, s->optimizer);
    return ERR_OK;
}

void spec_set_optimizer_default(struct spec *s, enum spec_optimizer optimizer)
{
    s->weight_decay = optimizer == SPEC_ADAMW ? 1e-4 : 0;
}

enum err_code spec_set(struct spec *s, const char *key, const char *value, const char *where,
                       const char *folder, struct err *e)
{
    char *copy = mem_text(value);
    enum err_code code = set_copy(s, key, copy, where, folder, e);

    free(copy);
    return code;
}
