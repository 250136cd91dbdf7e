/* A run's experiment.ini, which must still say what run.csv says was trained: a file that was cut or
 * edited since would let a run go on as another one. */
#include "base/io.h"
#include "base/mem.h"
#include "record/run/reader.h"
#include "record/run/run.h"

#include <stdlib.h>
#include <string.h>

/* What may be otherwise by right: a resume on another machine, more epochs, the copy of the model. */
static bool is_free(const char *key)
{
    static const char *const names[] = {"name",      "model", "backend",    "threads", "epochs",
                                        "log_every", "keep",  "target_acc", "on_end"};

    return TEXT_IS_AMONG(key, names);
}

static bool is_given(const struct spec *spec, const char *key)
{
    return spec->given >> spec_key_find(key) & 1;
}

/* NULL: nothing differs. then, now: values of the first key that does; more: how many others do. */
static const char *first_difference(const struct record_run *then, const struct record_run *now,
                                    struct text *value, struct text *held, int *more)
{
    const char *first = NULL;

    *more = 0;
    for (const struct spec_key *k = spec_keys; k->name; k++) {
        struct text a = {0}, b = {0};

        if (!is_free(k->name) && !record_run_is_several(then, k->name)) {
            record_run_value(then, k->name, &a);
            record_run_value(now, k->name, &b);
        }
        /* a folder that was moved as a whole has its data elsewhere */
        if (strcmp(io_last_part(text_str(&a)), io_last_part(text_str(&b))) != 0) {
            *more += first != NULL;
            if (!first) {
                first = k->name;
                text_add(held, text_str(&a));
                text_add(value, text_str(&b));
            }
        }
        text_free(&a);
        text_free(&b);
    }
    return first;
}

static const char *or_none(const struct text *value)
{
    return value->n ? text_str(value) : "none";
}

static enum err_code check(const char *path, const struct record_run *then, const struct spec *spec,
                           struct err *e)
{
    struct record_run *now = mem_new(1, sizeof *now);
    struct text value = {0}, held = {0};
    const char *key;
    int more;
    enum err_code code = ERR_OK;

    now->spec = *spec;
    key = first_difference(then, now, &value, &held, &more);
    if (!is_given(spec, "model") || !is_given(spec, "epochs"))
        code =
            err_set(e, ERR_INPUT,
                    "%s was cut: its key %s is missing; write it again by what run.csv beside it "
                    "says, or start a new run",
                    path, is_given(spec, "model") ? "epochs" : "model");
    else if (key)
        code =
            err_set(e, ERR_INPUT,
                    "%s is not what this run was trained by: %s is %s there and %s in run.csv "
                    "beside it%s; give it run.csv's values again, or start a new run",
                    path, key, or_none(&value), or_none(&held), more ? ", and more differs" : "");
    text_free(&value);
    text_free(&held);
    free(now);
    return code;
}

enum err_code record_read_spec(const char *folder, struct spec *spec, struct err *e)
{
    char *path = io_path(folder, "experiment.ini");
    struct record_entry entry;
    enum err_code code;

    spec_default(spec);
    code = spec_read(spec, path, e);
    if (code == ERR_OK && record_read_entry(folder, &entry, NULL) == ERR_OK) {
        if (!entry.broken)
            code = check(path, &entry.run, spec, e);
        record_free_entry(&entry);
    }
    free(path);
    return code;
}
