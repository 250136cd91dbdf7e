/* The keys whose values are names and paths: each as a pair, text in and text out. */
#include "spec/spec_int.h"
#include "base/io.h"
#include "base/mem.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void spec_add_quoted(struct text *out, const char *value)
{
    size_t n = strlen(value);
    bool quotes = strpbrk(value, ",#\"") || spec_is_form(value) ||
                  (n && (value[0] == ' ' || value[n - 1] == ' '));

    if (!quotes) {
        text_add(out, value);
        return;
    }
    text_add(out, "\"");
    for (; *value; value++)
        text_add(out, *value == '"' ? "\"\"" : (char[2]){*value, 0});
    text_add(out, "\"");
}

void spec_add_plain(struct text *out, const char *value)
{
    size_t n = strlen(value);

    if (n < 2 || value[0] != '"' || value[n - 1] != '"') {
        text_add(out, value);
        return;
    }
    for (size_t i = 1; i + 1 < n; i++) {
        text_add_n(out, value + i, 1);
        i += value[i] == '"'; /* two stand for one */
    }
}

/* ---- name ---- */

enum err_code spec_set_name(struct spec *s, const struct spec_input *in, struct err *e)
{
    if (strlen(in->value) > 64)
        return spec_refuse(in, e, "it is %zu characters long", strlen(in->value));
    if (in->value[0] == '.' || in->value[0] == '-')
        return spec_refuse(in, e, "it may not begin with '%c'", in->value[0]);
    for (const char *p = in->value; *p; p++)
        if (!isascii(*p) || (!isalnum(*p) && !strchr("-_.", *p)))
            return spec_refuse(in, e, "it becomes part of a folder's name");
    strcpy(s->name, in->value);
    return ERR_OK;
}

void spec_value_name(const struct spec *s, struct text *out)
{
    text_add(out, s->name);
}

/* ---- paths ---- */

/* The absolute path of n bytes of a value, by the folder that it is relative to. Freed by the
 * caller; NULL where there is no current folder. */
static char *absolute(const char *path, size_t n, const char *folder)
{
    char *given = mem_text_n(path, n);
    char *name = io_home_path(given); /* no shell does it in a file, nor behind a colon */
    char *start = name;

    free(given);
    while (start[0] == '.' && start[1] == '/')
        start += 2 + strspn(start + 2, "/");
    char *joined = folder && strcmp(folder, ".") != 0 ? io_path(folder, start) : mem_text(start);
    free(name);
    if (joined[0] == '/')
        return joined;
    char here[PATH_MAX];
    char *whole = getcwd(here, sizeof here) ? io_path(here, joined) : NULL;
    free(joined);
    return whole;
}

static enum err_code set_path(char *to, size_t room, const struct spec_input *in, struct err *e)
{
    char *path = absolute(in->value, strlen(in->value), in->folder);

    if (!path)
        return spec_refuse(in, e, "the current folder is gone, give the whole path");
    size_t n = strlen(path);
    if (n < room)
        memcpy(to, path, n + 1);
    free(path);
    if (n >= room)
        return spec_refuse(in, e, "the path is %zu bytes long, above %zu", n, room - 1);
    return ERR_OK;
}

static enum err_code set_text(char *to, size_t room, const struct spec_input *in, struct err *e)
{
    if (strlen(in->value) >= room)
        return spec_refuse(in, e, "it is %zu bytes long, above %zu", strlen(in->value), room - 1);
    strcpy(to, in->value);
    return ERR_OK;
}

static enum err_code set_param(struct spec *s, const struct spec_input *in, struct err *e)
{
    const char *name = in->key + strlen("model.");
    size_t n = strlen(name);
    int at = 0;

    if (!n || n >= sizeof s->param[0].name ||
        strspn(name, "abcdefghijklmnopqrstuvwxyz"
                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "0123456789_") != n)
        return spec_refuse(in, e,
                           "a model's parameter has a name of 1 to %zu letters, digits and _",
                           sizeof s->param[0].name - 1);
    if (strlen(in->value) >= sizeof s->param[0].value)
        return spec_refuse(in, e, "it is longer than %zu bytes", sizeof s->param[0].value - 1);
    while (at < s->params && strcmp(s->param[at].name, name) != 0)
        at++;
    if (at == SPEC_PARAMS)
        return spec_refuse(in, e, "more than %d parameters of a model", SPEC_PARAMS);
    if (at == s->params)
        s->params++;
    memset(&s->param[at], 0, sizeof s->param[at]);
    strcpy(s->param[at].name, name);
    strcpy(s->param[at].value, in->value);
    return ERR_OK;
}

enum err_code spec_set_model(struct spec *s, const struct spec_input *in, struct err *e)
{
    if (!strncmp(in->key, "model.", 6))
        return set_param(s, in, e);
    if (strchr(in->value, '/') || text_ends_with(in->value, ".net"))
        return set_path(s->model, sizeof s->model, in, e);
    return set_text(s->model, sizeof s->model, in, e);
}

void spec_value_model(const struct spec *s, struct text *out)
{
    spec_add_quoted(out, s->model);
}

static bool is_csv(const char *s)
{
    return text_ends_with(s, ".csv") || text_ends_with(s, ".csv.gz");
}

/* The colon between the files of train.csv:test.csv: paths may hold colons too, so it is the first one
 * behind ".csv" or with a file on both sides. NULL where there is none. */
static const char *pair_colon(const char *value, const char *folder)
{
    for (const char *p = strchr(value, ':'); p; p = strchr(p + 1, ':')) {
        char *before = mem_text_n(value, (size_t)(p - value));
        char *train = absolute(before, strlen(before), folder);
        char *test = absolute(p + 1, strlen(p + 1), folder);
        bool found = is_csv(before) ||
                     (p > value && p[1] && train && test && io_exists(train) && io_exists(test));
        free(before);
        free(train);
        free(test);
        if (found)
            return p;
    }
    return NULL;
}

enum err_code spec_set_data(struct spec *s, const struct spec_input *in, struct err *e)
{
    static const char *const names[] = {"fashion-mnist", "mnist", "synthetic"};
    const char *colon = pair_colon(in->value, in->folder);

    if (TEXT_IS_AMONG(in->value, names))
        return set_text(s->data, sizeof s->data, in, e);
    if (in->value[0] == ':') /* a file of that name goes by ./ */
        return spec_refuse(in, e, "the training file is missing in front of ':'");
    if (colon) {
        if (!colon[1])
            return spec_refuse(in, e, "the test file is missing behind ':'");
        char *train = absolute(in->value, (size_t)(colon - in->value), in->folder);
        char *test = absolute(colon + 1, strlen(colon + 1), in->folder);
        char *both = train && test ? mem_textf("%s:%s", train, test) : mem_text("");
        bool fits = strlen(both) < sizeof s->data;
        if (fits && *both)
            strcpy(s->data, both);
        bool gone = !*both;
        free(train);
        free(test);
        free(both);
        if (gone)
            return spec_refuse(in, e, "the current folder is gone, give the whole path");
        if (!fits)
            return spec_refuse(in, e, "the paths are longer than %zu bytes", sizeof s->data - 1);
        return ERR_OK;
    }
    if (strchr(in->value, '/') || is_csv(in->value))
        return set_path(s->data, sizeof s->data, in, e);

    /* A bare word: a folder beside the file, or else a name that the data room knows or refuses. */
    char *path = absolute(in->value, strlen(in->value), in->folder);
    bool there = path && io_exists(path);
    free(path);
    if (there)
        return set_path(s->data, sizeof s->data, in, e);
    return set_text(s->data, sizeof s->data, in, e);
}

void spec_value_data(const struct spec *s, struct text *out)
{
    spec_add_quoted(out, s->data);
}

enum err_code spec_set_weights(struct spec *s, const struct spec_input *in, struct err *e)
{
    if (!strcmp(in->value, "none")) {
        s->weights[0] = 0;
        return ERR_OK;
    }
    if (strchr(in->value, '/') || text_ends_with(in->value, ".safetensors"))
        return set_path(s->weights, sizeof s->weights, in, e);
    return set_text(s->weights, sizeof s->weights, in, e);
}

void spec_value_weights(const struct spec *s, struct text *out)
{
    spec_add_quoted(out, s->weights);
}

enum err_code spec_set_on_end(struct spec *s, const struct spec_input *in, struct err *e)
{
    if (!strcmp(in->value, "none")) {
        s->on_end[0] = 0;
        return ERR_OK;
    }
    return set_text(s->on_end, sizeof s->on_end, in, e);
}

void spec_value_on_end(const struct spec *s, struct text *out)
{
    spec_add_quoted(out, s->on_end);
}
