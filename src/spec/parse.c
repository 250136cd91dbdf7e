/* INI text: a line is empty, a comment, or key = value with a comment behind it. Who reads it, one
 * experiment or a sweep, is told each key and value. */
#include "spec/spec_int.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_LIMIT 65536
#define FILE_LIMIT (4 << 20)

struct reader {
    spec_line_fn *line;
    void *user;
    const char *file;
    const char *folder;
    int32_t seen[SPEC_KEYS + MEM_COUNT(spec_sweep_keys)]; /* the line of each key in this text */
    struct {
        char name[sizeof((struct spec *)0)->param[0].name];
        int32_t line;
    } param[SPEC_PARAMS];
    int params;
};

/* Cuts the comment off: a '#' outside quotes. */
static void cut_comment(char *line)
{
    bool quoted = false;

    for (char *p = line; *p; p++) {
        if (*p == '"')
            quoted = !quoted;
        if (*p == '#' && !quoted) {
            *p = 0;
            return;
        }
    }
}

static enum err_code refuse_repeat(const char *where, const char *key, int32_t before,
                                   struct err *e)
{
    return err_set(e, ERR_INPUT, "%s: %s stands in line %d already; keep one of the two", where,
                   key, before);
}

static enum err_code read_line(struct reader *r, char *line, int32_t number, struct err *e)
{
    char where[400];
    struct text shown = {0};

    snprintf(where, sizeof where, "%.300s:%d", r->file, number);
    cut_comment(line);
    line = text_trim(line);
    if (!*line)
        return ERR_OK;
    if (*line == '[') {
        spec_add_shown(&shown, line);
        enum err_code code = err_set(
            e, ERR_INPUT, "%s: there are no sections, leave %s out and write key = value alone",
            where, text_str(&shown));
        text_free(&shown);
        return code;
    }
    char *equals = strchr(line, '=');
    if (!equals) {
        spec_add_shown(&shown, line);
        enum err_code code = err_set(e, ERR_INPUT, "%s: \"%s\" has no '='; write key = value",
                                     where, text_str(&shown));
        text_free(&shown);
        return code;
    }
    *equals = 0;
    char *key = text_trim(line);
    int id = spec_key_find(key);
    bool param = !strncmp(key, "model.", 6);

    for (size_t i = 0; i < MEM_COUNT(spec_sweep_keys); i++)
        if (!strcmp(key, spec_sweep_keys[i]))
            id = SPEC_KEYS + (int)i;

    if (param) {
        for (int i = 0; i < r->params; i++)
            if (!strcmp(r->param[i].name, key + 6))
                return refuse_repeat(where, key, r->param[i].line, e);
    } else if (id >= 0 && r->seen[id]) {
        return refuse_repeat(where, key, r->seen[id], e);
    }
    const struct spec_line told = {key, equals + 1, where, r->folder, number};
    TRY(r->line(r->user, &told, e));
    if (!param) {
        if (id >= 0)
            r->seen[id] = number;
    } else if (r->params < SPEC_PARAMS) {
        strcpy(r->param[r->params].name, key + 6); /* whoever took it has measured it */
        r->param[r->params++].line = number;
    }
    return ERR_OK;
}

static enum err_code read_lines(struct reader *r, const char *text, size_t n, struct err *e)
{
    int32_t number = 0;

    if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
        text += 3;
        n -= 3;
    }
    while (n) {
        const char *end = memchr(text, '\n', n);
        size_t whole = end ? (size_t)(end - text) : n, length = whole;
        number++;
        if (length && text[length - 1] == '\r')
            length--;
        if (length > LINE_LIMIT)
            return err_set(e, ERR_INPUT, "%.300s:%d: the line has %zu bytes, above %d", r->file,
                           number, length, LINE_LIMIT);
        if (memchr(text, 0, length))
            return err_set(e, ERR_INPUT, "%.300s:%d: there is a byte 0, so this is no text file",
                           r->file, number);
        char *line = mem_text_n(text, length);
        enum err_code code = read_line(r, line, number, e);
        free(line);
        TRY(code);
        text += whole + (end != NULL);
        n -= whole + (end != NULL);
    }
    return ERR_OK;
}

enum err_code spec_each_line(const char *text, size_t n, const char *file, spec_line_fn *line,
                             void *user, struct err *e)
{
    char *folder = io_folder_of(file);
    struct reader r = {.line = line, .user = user, .file = file, .folder = folder};
    enum err_code code;

    if (n > FILE_LIMIT)
        code = err_set(e, ERR_INPUT, "%.300s: %zu bytes are no experiment, the limit is %d", file,
                       n, FILE_LIMIT);
    else
        code = read_lines(&r, text, n, e);
    free(folder);
    return code;
}

void spec_start_file(struct spec *s, const char *file)
{
    snprintf(s->file, sizeof s->file, "%s", file);
    memset(s->line, 0, sizeof s->line); /* they belonged to the file before */
    for (int i = 0; i < s->params; i++)
        s->param[i].line = 0;
}

void spec_stands_at(struct spec *s, const char *key, int32_t line)
{
    if (strncmp(key, "model.", 6) != 0)
        s->line[spec_key_find(key)] = line;
    for (int i = 0; i < s->params; i++)
        if (!strncmp(key, "model.", 6) && !strcmp(s->param[i].name, key + 6))
            s->param[i].line = line;
}

static enum err_code take_line(void *user, const struct spec_line *line, struct err *e)
{
    TRY(spec_set(user, line->key, line->value, line->where, line->folder, e));
    spec_stands_at(user, line->key, line->number);
    return ERR_OK;
}

enum err_code spec_parse(struct spec *s, const char *text, size_t n, const char *file,
                         struct err *e)
{
    spec_start_file(s, file);
    return spec_each_line(text, n, file, take_line, s, e);
}

enum err_code spec_read_text(const char *path, char **text, size_t *n, struct err *e)
{
    enum err_code code = io_read_file(path, FILE_LIMIT, text, n, e);

    if (code == ERR_IO && e)
        e->code = ERR_INPUT; /* a file that cannot be read is the command's fault */
    return code == ERR_IO ? ERR_INPUT : code;
}

enum err_code spec_read(struct spec *s, const char *path, struct err *e)
{
    char *text = NULL;
    size_t n = 0;

    TRY(spec_read_text(path, &text, &n, e));
    enum err_code code = spec_parse(s, text, n, path, e);
    free(text);
    return code;
}
