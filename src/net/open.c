/* Where models come from: built into the program, the folder ./models, or a path. */
#include "net/net_int.h"

#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_path(const char *model)
{
    return strchr(model, '/') || text_ends_with(model, ".net");
}

static enum err_code refuse_name(const char *model, struct err *e)
{
    const char *known[256] = {0}, *near, *shown = TEXT_CLEAN(model);
    struct text list = {0};
    size_t n = 0;
    enum err_code code;

    for (int i = 0; net_builtin_name(i); i++) {
        text_addf(&list, "%s%s", i ? ", " : "", net_builtin_name(i));
        if (n < MEM_COUNT(known) - 1)
            known[n++] = net_builtin_name(i);
    }
    near = text_nearest(model, known);
    if (!*model)
        code = err_set(e, ERR_INPUT, "the model's name is empty; built in are %s", text_str(&list));
    else if (near)
        code =
            err_set(e, ERR_INPUT,
                    "model = %.200s: no such model, here or in ./models; did you mean %s? (a path "
                    "has a slash or ends in .net)",
                    shown, near);
    else
        code =
            err_set(e, ERR_INPUT,
                    "model = %.200s: no such model: built in are %s, ./models has no %.200s.net, "
                    "and a path has a slash or ends in .net",
                    shown, text_str(&list), shown);
    text_free(&list);
    return code;
}

/* The user named the file: whatever keeps it from being read is a bad input. */
static enum err_code read_model(const char *path, char **text, size_t *n, struct err *e)
{
    struct err why;
    enum err_code code = io_read_file(path, NET_TEXT_BYTES, text, n, &why);

    if (code == ERR_OK)
        return ERR_OK;
    if (code == ERR_NOMEM)
        return err_set(e, ERR_NOMEM, "%s", why.text);
    if (io_is_folder(path))
        return err_set(e, ERR_INPUT,
                       "model = %s is a folder: name a .net file in it; `chorus models` lists the "
                       "models that have a name",
                       path);
    if (why.sys == ENOENT)
        return err_set(e, ERR_INPUT,
                       "model = %s: there is no such file; `chorus models` lists the models that "
                       "have a name",
                       path);
    return err_set(e, ERR_INPUT, "model: %s", why.text);
}

char *net_file(const char *model)
{
    if (is_path(model))
        return mem_text(model);
    return net_builtin(model) ? NULL : mem_textf("models/%s.net", model);
}

enum err_code net_find(const char *model, char **text, size_t *n, char **file, struct err *e)
{
    enum err_code code;

    *text = NULL;
    *file = net_file(model);
    if (!*file) {
        const char *built_in = net_builtin(model);

        *n = strlen(built_in);
        *text = mem_text_n(built_in, *n);
        *file = mem_textf("%s.net", model);
        return ERR_OK;
    }
    if (!is_path(model) && (!*model || !io_exists(*file)))
        code = refuse_name(model, e);
    else
        code = read_model(*file, text, n, e);
    if (code != ERR_OK) {
        free(*file);
        *file = NULL;
    }
    return code;
}

enum err_code net_open(struct net **out, const char *model, const struct net_wants *wants,
                       struct err *e)
{
    char *text, *file;
    size_t n = 0;
    enum err_code code;

    *out = NULL;
    TRY(net_find(model, &text, &n, &file, e));
    code = net_parse(out, text, n, file, wants, e);
    free(text);
    free(file);
    return code;
}

enum err_code net_demands(const char *model, struct net_shape *shape, struct err *e)
{
    char *text, *file;
    size_t n = 0;
    enum err_code code;

    *shape = (struct net_shape){0};
    TRY(net_find(model, &text, &n, &file, e));
    code = net_read_demands(text, n, file, shape, e);
    free(text);
    free(file);
    return code;
}
