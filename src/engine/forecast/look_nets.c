#include "engine/forecast/look_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define MOST_NETS   1024
#define MOST_LAYERS 32768 /* of all that are kept: some 20 MB */

struct made { /* of a model's text */
    struct made *next;
    char *values; /* its model.NAME ones */
    struct net_shape input;
    int classes;
    struct net *net; /* NULL: it cannot be made, and e says why */
    struct err e;
};

struct look_model {
    struct look_model *next;
    char *name, *text, *file; /* text NULL: it could not be read, and e says why */
    size_t n;
    struct err e;
    struct net_shape demands;
    uint64_t look; /* when that was */
    struct made *made;
};

static void forget_made(struct look_nets *n, struct look_model *m)
{
    while (m->made) {
        struct made *next = m->made->next;

        n->nets--;
        n->freed++;
        n->layers -= m->made->net ? (size_t)m->made->net->layers : 0;
        net_free(m->made->net);
        free(m->made->values);
        free(m->made);
        m->made = next;
    }
}

void look_nets_free(struct look_nets *n)
{
    while (n->model) {
        struct look_model *m = n->model, *next = m->next;

        forget_made(n, m);
        free(m->name);
        free(m->text);
        free(m->file);
        free(m);
        n->model = next;
    }
}

void look_nets_trim(struct look_nets *n)
{
    if (n->nets > MOST_NETS || n->layers > MOST_LAYERS)
        look_nets_free(n);
}

/* What was made of the same text before stays. */
static void read_again(struct look_nets *n, struct look_model *m)
{
    char *text, *file;
    size_t bytes = 0;
    struct err e = {0};

    if (net_find(m->name, &text, &bytes, &file, &e) == ERR_OK && m->text && m->n == bytes &&
        !memcmp(m->text, text, bytes) && !strcmp(m->file, file)) {
        free(text);
        free(file);
        return;
    }
    forget_made(n, m);
    free(m->text);
    free(m->file);
    m->text = text;
    m->file = file;
    m->n = bytes;
    if (text && net_read_demands(text, bytes, file, &m->demands, &e) != ERR_OK) {
        free(m->text);
        m->text = NULL;
    }
    m->e = e;
}

static struct look_model *find_model(struct look_nets *n, uint64_t look, const char *name)
{
    struct look_model *m = n->model;

    while (m && strcmp(m->name, name) != 0)
        m = m->next;
    if (!m) {
        m = mem_new(1, sizeof *m);
        m->name = mem_text(name);
        m->next = n->model;
        n->model = m;
    }
    if (m->look != look)
        read_again(n, m);
    m->look = look;
    return m;
}

static enum err_code tell(const struct err *why, struct err *e)
{
    if (e)
        *e = *why;
    return why->code;
}

enum err_code look_demands(struct look_nets *n, uint64_t look, const char *model,
                           struct net_shape *shape, struct err *e)
{
    struct look_model *m = find_model(n, look, model);

    *shape = m->demands;
    return m->text ? ERR_OK : tell(&m->e, e);
}

static struct made *make(struct look_nets *n, const struct look_model *m,
                         const struct net_wants *wants)
{
    struct made *made = mem_new(1, sizeof *made);

    made->input = wants->input;
    made->classes = wants->classes;
    if (net_parse(&made->net, m->text, m->n, m->file, wants, &made->e) == ERR_OK)
        n->layers += (size_t)made->net->layers;
    n->parsed++;
    n->nets++;
    return made;
}

enum err_code look_net(struct look_nets *n, uint64_t look, const char *model,
                       const struct net_wants *wants, struct net **out, struct err *e)
{
    struct look_model *m = find_model(n, look, model);
    struct made *made = m->made;
    struct text values = {0};

    *out = NULL;
    if (!m->text)
        return tell(&m->e, e);
    for (int i = 0; i < wants->spec->params; i++)
        text_addf(&values, "%s=%s\n", wants->spec->param[i].name, wants->spec->param[i].value);
    while (made &&
           (strcmp(made->values, text_str(&values)) != 0 || made->classes != wants->classes ||
            memcmp(&made->input, &wants->input, sizeof made->input) != 0))
        made = made->next;
    if (!made) {
        made = make(n, m, wants);
        made->values = mem_text(text_str(&values));
        made->next = m->made;
        m->made = made;
    }
    text_free(&values);
    *out = made->net;
    return made->net ? ERR_OK : tell(&made->e, e);
}
