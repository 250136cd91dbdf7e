/* A file of lines "name = value"; in values a backslash stands before itself and before n, the end of a
 * line. What is no such line is kept as it is. */
#include "ui/app/settings.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES (32 << 20) /* marks of many runs are long, and those of many folders are kept */

struct line {
    char *text;         /* as it stands in the file */
    char *name, *value; /* NULL: a line that says nothing to us */
    bool changed;       /* since the file was read */
};

struct lines {
    struct line *line;
    size_t n, room;
};

struct settings {
    char *path; /* NULL: there is no place for them */
    struct lines lines;
    char **gone; /* names that were removed since the file was read */
    size_t removed, gone_room;
};

static void free_line(struct line *l)
{
    free(l->text);
    free(l->name);
    free(l->value);
}

static void free_lines(struct lines *l)
{
    for (size_t i = 0; i < l->n; i++)
        free_line(&l->line[i]);
    free(l->line);
    *l = (struct lines){0};
}

static struct line *add_line(struct lines *l)
{
    l->line = mem_grow(l->line, &l->room, l->n + 1, sizeof *l->line);
    l->line[l->n] = (struct line){0};
    return &l->line[l->n++];
}

static struct line *find_line(const struct lines *l, const char *name)
{
    for (size_t i = l->n; i-- > 0;) /* of two that say the same, the later counts */
        if (l->line[i].name && !strcmp(l->line[i].name, name))
            return &l->line[i];
    return NULL;
}

static bool is_name(const char *s)
{
    return *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")];
}

static char *unescape(const char *s)
{
    char *out = mem_text(s), *to = out;

    for (; *s; s++) {
        if (*s == '\\' && s[1])
            *to++ = *++s == 'n' ? '\n' : *s;
        else
            *to++ = *s;
    }
    *to = 0;
    return out;
}

static void parse_line(struct lines *l, const char *text, size_t n)
{
    struct line *line = add_line(l);
    char *copy, *name, *equals;

    line->text = mem_text_n(text, n);
    copy = mem_text(line->text);
    equals = strchr(copy, '=');
    if (equals) {
        *equals = 0;
        name = text_trim(copy);
        if (is_name(name)) {
            line->name = mem_text(name);
            line->value = unescape(text_trim(equals + 1));
        }
    }
    free(copy);
}

static void read_lines(const char *path, struct lines *out)
{
    char *bytes;
    size_t n;

    *out = (struct lines){0};
    if (!path || io_read_file(path, FILE_BYTES, &bytes, &n, NULL) != ERR_OK)
        return;
    if (!memchr(bytes, 0, n)) { /* a file with such a byte was never written by us */
        for (const char *at = bytes, *end; *at; at = *end ? end + 1 : end) {
            end = at + strcspn(at, "\n");
            parse_line(out, at, (size_t)(end - at));
        }
    }
    free(bytes);
}

static char *own_path(void)
{
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (xdg && *xdg == '/')
        return mem_textf("%s/chorus/settings", xdg);
    return home && *home == '/' ? mem_textf("%s/.config/chorus/settings", home) : NULL;
}

struct settings *settings_open(const char *path)
{
    struct settings *s = mem_new(1, sizeof *s);

    s->path = path ? mem_text(path) : own_path();
    read_lines(s->path, &s->lines);
    return s;
}

void settings_close(struct settings *s)
{
    if (!s)
        return;
    if (settings_save(s, NULL) != ERR_OK) {
        /* Nobody is left who could be told, and nothing but a choice is lost. */
    }
    free_lines(&s->lines);
    io_free_names(s->gone, s->removed);
    free(s->path);
    free(s);
}

const char *settings_get(const struct settings *s, const char *name, const char *fallback)
{
    const struct line *line = find_line(&s->lines, name);

    return line ? line->value : fallback;
}

int64_t settings_number(const struct settings *s, const char *name, int64_t fallback)
{
    const char *value = settings_get(s, name, NULL);
    int64_t number;

    return value && text_to_int(value, &number) ? number : fallback;
}

bool settings_is(const struct settings *s, const char *name, bool fallback)
{
    const char *value = settings_get(s, name, "");

    if (!strcmp(value, "yes"))
        return true;
    return strcmp(value, "no") != 0 && fallback;
}

static void write_line(struct line *line)
{
    struct text out = {0};

    text_addf(&out, "%s = ", line->name);
    for (const char *c = line->value; *c; c++) {
        if (*c == '\n')
            text_add(&out, "\\n");
        else if (*c == '\\')
            text_add(&out, "\\\\");
        else
            text_add_n(&out, c, 1);
    }
    free(line->text);
    line->text = out.s;
}

static void put(struct lines *lines, const char *name, const char *value)
{
    struct line *line = find_line(lines, name);

    if (!line) {
        line = add_line(lines);
        line->name = mem_text(name);
    }
    free(line->value);
    line->value = mem_text(value);
    line->changed = true;
    write_line(line);
}

static void drop(struct lines *lines, const char *name)
{
    size_t kept = 0;

    for (size_t i = 0; i < lines->n; i++) {
        if (lines->line[i].name && !strcmp(lines->line[i].name, name))
            free_line(&lines->line[i]);
        else
            lines->line[kept++] = lines->line[i];
    }
    lines->n = kept;
}

void settings_set(struct settings *s, const char *name, const char *value)
{
    const char *old = settings_get(s, name, NULL);

    if (!is_name(name) || (value ? old && !strcmp(old, value) : !old))
        return;
    if (value) {
        put(&s->lines, name, value);
        return;
    }
    drop(&s->lines, name);
    s->gone = mem_grow(s->gone, &s->gone_room, s->removed + 1, sizeof *s->gone);
    s->gone[s->removed++] = mem_text(name);
}

void settings_set_number(struct settings *s, const char *name, int64_t value)
{
    char room[TEXT_NUMBER_ROOM];

    snprintf(room, sizeof room, "%lld", (long long)value);
    settings_set(s, name, room);
}

void settings_set_is(struct settings *s, const char *name, bool value)
{
    settings_set(s, name, value ? "yes" : "no");
}

static bool has_changed(const struct settings *s)
{
    for (size_t i = 0; i < s->lines.n; i++)
        if (s->lines.line[i].changed)
            return true;
    return s->removed > 0;
}

static enum err_code write_file(const char *path, const struct lines *lines, struct err *e)
{
    char *folder = io_folder_of(path);
    struct text out = {0};
    enum err_code code;

    for (size_t i = 0; i < lines->n; i++)
        text_addf(&out, "%s\n", lines->line[i].text);
    code = io_make_folders(folder, e);
    if (code == ERR_OK)
        code = io_replace_file(path, text_str(&out), out.n, e);
    text_free(&out);
    free(folder);
    return code;
}

/* Into the file as it is now: another program may have written its own choices meanwhile. */
enum err_code settings_save(struct settings *s, struct err *e)
{
    struct lines now;
    enum err_code code;

    if (!s->path || !has_changed(s))
        return ERR_OK;
    read_lines(s->path, &now);
    for (size_t i = 0; i < s->removed; i++)
        drop(&now, s->gone[i]);
    for (size_t i = 0; i < s->lines.n; i++)
        if (s->lines.line[i].changed)
            put(&now, s->lines.line[i].name, s->lines.line[i].value);
    code = write_file(s->path, &now, e);
    free_lines(&now);
    if (code != ERR_OK)
        return code;
    for (size_t i = 0; i < s->lines.n; i++)
        s->lines.line[i].changed = false;
    io_free_names(s->gone, s->removed);
    s->gone = NULL;
    s->removed = s->gone_room = 0;
    return ERR_OK;
}
