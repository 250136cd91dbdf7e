/* The parameters of models as fields: what `param` lines the texts of the form's models have. */
#include "ui/form_int.h"

#include "base/io.h"
#include "base/mem.h"
#include "net/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEXT (1 << 20)

struct found {
    char key[64], value[64];
};

struct search {
    struct found found[SPEC_PARAMS];
    size_t n;
    bool unread; /* a model's text could not be had: nothing is known of its parameters */
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

static void read_model(struct search *s, const char *model)
{
    size_t n = strlen(model);
    bool is_path = strchr(model, '/') || (n >= 4 && !strcmp(model + n - 4, ".net"));
    const char *text = is_path ? NULL : net_builtin(model);
    char *file, *bytes;
    size_t length;

    if (text) {
        read_lines(s, text);
        return;
    }
    file = is_path ? mem_text(model) : mem_textf("models/%s.net", model);
    if (io_read_file(file, MOST_TEXT, &bytes, &length, NULL) == ERR_OK) {
        read_lines(s, bytes);
        free(bytes);
    } else {
        s->unread = true;
    }
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
        free(x->text);
        free(x->saved);
        free(x->wrong);
        free(x->normal);
    }
    f->fields = n;
}

void form_find_parameters(struct form *f, const struct spec_sweep *s)
{
    struct search search = {.n = 0};
    bool listed = false;

    for (size_t a = 0; a < s->axes; a++)
        for (size_t v = 0; !strcmp(s->axis[a].key, "model") && v < s->axis[a].values; v++) {
            read_model(&search, s->axis[a].value[v]);
            listed = true;
        }
    if (!listed)
        read_model(&search, s->base.model);
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
