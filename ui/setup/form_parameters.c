/* The parameters of models as fields: what `param` lines the texts of the form's models have. */
#include "ui/setup/form_int.h"

#include "base/io.h"
#include "base/mem.h"
#include "net/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEXT (1 << 20)

struct form_model {
    struct form_file file;
    bool known;  /* it was read, or looked for in vain */
    bool asking; /* somebody reads it */
};

struct found {
    char key[64], value[64];
};

struct search {
    struct found found[SPEC_PARAMS];
    size_t n;
    bool unread; /* a model's text was not had: nothing is known of its parameters */
};

static void read_lines(struct search *s, const char *text)
{
    for (const char *line = text; *line; line += *line == '\n') {
        struct found x;

        if (sscanf(line, " param %31[A-Za-z0-9_] %63[^# \t\r\n]", x.key, x.value) == 2 &&
            s->n < MEM_COUNT(s->found)) {
            bool known = false;

            memmove(x.key + 6, x.key, strlen(x.key) + 1);
            memcpy(x.key, "model.", 6);
            for (size_t i = 0; i < s->n; i++)
                known = known || !strcmp(s->found[i].key, x.key);
            if (!known)
                s->found[s->n++] = x;
        }
        line += strcspn(line, "\n");
    }
}

static void free_file(struct form_file *x)
{
    free(x->path);
    free(x->text);
    *x = (struct form_file){0};
}

void form_free_models(struct form *f)
{
    for (size_t i = 0; i < f->models; i++)
        free_file(&f->model[i].file);
    free(f->model);
    f->model = NULL;
    f->models = f->model_room = 0;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

void form_read_file(struct form_file *x)
{
    struct stat before = x->st;
    bool there = x->there;
    size_t n;

    x->there = io.stat(x->path, &x->st) == 0;
    if (x->there && there && same_file(&x->st, &before))
        return;
    free(x->text);
    x->text = NULL;
    if (x->there && io_read_file(x->path, MOST_TEXT, &x->text, &n, NULL) != ERR_OK)
        x->text = NULL;
}

static struct form_model *find_model(struct form *f, const char *path)
{
    for (size_t i = 0; i < f->models; i++)
        if (!strcmp(f->model[i].file.path, path))
            return &f->model[i];
    return NULL;
}

bool form_model_read(struct form *f, struct form_file *x)
{
    struct form_model *m = find_model(f, x->path);
    bool other;

    if (!m)
        return false; /* forgotten since */
    other = !m->known || !form_same_text(m->file.text, x->text);
    free_file(&m->file);
    m->file = *x;
    *x = (struct form_file){0};
    m->known = true;
    m->asking = false;
    if (other && !f->building)
        form_build(f);
    return other;
}

/* NULL: there is none, or nobody has read it yet. */
static const char *text_of(struct form *f, const char *path)
{
    struct form_model *m = find_model(f, path);

    if (!m) {
        if (f->models == FORM_MODELS)
            form_free_models(f);
        f->model = mem_grow(f->model, &f->model_room, f->models + 1, sizeof *f->model);
        m = &f->model[f->models++];
        *m = (struct form_model){.file.path = mem_text(path)};
    }
    if (!f->read_model) {
        form_read_file(&m->file);
    } else if (!m->asking) {
        m->asking = true;
        f->read_model(f->user, path);
        m = find_model(f, path); /* it may have been read already */
    }
    return m ? m->file.text : NULL;
}

static void read_model(struct form *f, struct search *s, const char *model)
{
    char *file = net_file(model);
    const char *text = file ? text_of(f, file) : net_builtin(model);

    if (text)
        read_lines(s, text);
    else
        s->unread = true;
    free(file);
}

static void drop_idle(struct form *f)
{
    size_t n = FORM_KEYS;

    for (size_t i = FORM_KEYS; i < f->fields; i++) {
        struct form_field *x = &f->field[i];

        if (x->applies || x->text || x->saved) {
            f->field[n++] = *x;
            continue;
        }
        form_free_field(x);
    }
    f->fields = n;
}

void form_find_parameters(struct form *f, const struct spec_sweep *s)
{
    struct search search = {.n = 0};
    bool listed = false;

    for (size_t a = 0; a < s->axes; a++) {
        const struct spec_axis *axis = &s->axis[a];

        if (strcmp(axis->key, "model") != 0)
            continue;
        listed = true;
        for (size_t v = 0; v < axis->values && v < FORM_MODELS; v++)
            read_model(f, &search, axis->value[v]);
        search.unread |= axis->values > FORM_MODELS;
    }
    if (!listed)
        read_model(f, &search, s->base.model);
    for (size_t i = FORM_KEYS; i < f->fields; i++)
        f->field[i].applies = search.unread;
    for (size_t k = 0; k < search.n; k++) {
        int i = form_find(f, search.found[k].key);
        struct form_field *x;

        if (i < 0)
            i = (int)form_add_parameter(f, search.found[k].key);
        x = &f->field[i];
        x->applies = true;
        free(x->normal);
        x->normal = mem_text(search.found[k].value);
    }
    drop_idle(f);
}
