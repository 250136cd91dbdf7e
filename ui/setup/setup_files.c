/* The list of experiments, and what is written to it. */
#include "ui/setup/setup_int.h"

#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER    "experiments"
#define LARGEST   (4 << 20) /* bytes of one that is looked into */
#define MOST_NAME 240       /* bytes: a draft's is a little longer */

/* ---- the list ---- */

struct listing {
    struct setup_link *link;
    struct setup_file *file;
    size_t files;
    char *path; /* of the form's, which was of that hash; NULL: none */
    uint64_t hash;
    enum form_file_is is;
};

static void free_files(struct setup_file *file, size_t files)
{
    for (size_t i = 0; i < files; i++) {
        free(file[i].name);
        free(file[i].path);
    }
    free(file);
}

void setup_free_files(struct setup *s)
{
    free_files(s->file, s->files);
    s->file = NULL;
    s->files = 0;
}

static void add(struct listing *l, char *name, char *path)
{
    l->file = mem_resize(l->file, l->files + 1, sizeof *l->file);
    l->file[l->files++] = (struct setup_file){name, path};
}

/* Whether the file is what it was. One that cannot be read, but is there, may be so for a moment. */
static enum form_file_is look_at(const char *path, uint64_t hash)
{
    char *bytes;
    size_t n;
    bool same;

    if (io_read_file(path, LARGEST, &bytes, &n, NULL) != ERR_OK)
        return io_exists(path) ? FORM_AS_READ : FORM_GONE;
    same = hash_quick(bytes, n) == hash;
    free(bytes);
    return same ? FORM_AS_READ : FORM_CHANGED;
}

char *setup_listed_path(char *path)
{
    char *listed = io_path(FOLDER, io_last_part(path));
    struct stat a, b;
    bool same = io.stat(path, &a) == 0 && io.stat(listed, &b) == 0 && a.st_dev == b.st_dev &&
                a.st_ino == b.st_ino;

    free(same ? path : listed);
    return same ? listed : path;
}

/* Files first: those that a person made. What is built in and has a file of its name is that file. */
static void list(void *arg)
{
    struct listing *l = arg;
    char **names = NULL;
    size_t count = 0, own;

    if (l->path)
        l->is = look_at(l->path, l->hash);
    add(l, mem_text("the defaults"), mem_text(""));
    if (io_list_folder(FOLDER, &names, &count, NULL) == ERR_OK) {
        for (size_t i = 0; i < count; i++) {
            size_t n = text_stem(names[i], ".ini");

            if (names[i][0] != '.' && names[i][n])
                add(l, mem_text_n(names[i], n), io_path(FOLDER, names[i]));
        }
        io_free_names(names, count);
    }
    own = l->files;
    for (int i = 0; spec_builtin_name(i); i++) {
        bool shadowed = false;

        for (size_t k = 1; k < own; k++)
            shadowed = shadowed || !strcmp(l->file[k].name, spec_builtin_name(i));
        if (!shadowed)
            add(l, mem_text(spec_builtin_name(i)), NULL);
    }
}

static void take_look(struct setup *s, const struct listing *l)
{
    if (!l->path || s->form.from != FORM_FILE || s->file_hash != l->hash ||
        strcmp(s->form.path, l->path) != 0 || s->form.file_is == l->is)
        return;
    s->form.file_is = l->is;
    if (l->is == FORM_CHANGED)
        app_say(s->app, GRID_WARN,
                "%s was changed elsewhere: the form has it as it was before. Enter on it loads it, "
                "S would replace it.",
                l->path);
    else if (l->is == FORM_GONE)
        app_say(s->app, GRID_WARN, "%s is gone: the form alone has it now. S writes it again.",
                l->path);
}

static void listed(void *arg, bool dropped)
{
    struct listing *l = arg;
    struct setup *s = setup_let_go(l->link);

    if (s)
        s->listing = false;
    if (s && !dropped) {
        bool first = !s->files;
        char *at = first ? mem_text("first") : mem_text(s->file[s->file_at].name);

        setup_free_files(s);
        s->file = l->file;
        s->files = l->files;
        l->file = NULL;
        l->files = 0;
        for (size_t i = 0; i < s->files; i++)
            if (!strcmp(s->file[i].name, at))
                s->file_at = i;
        if (s->file_at >= s->files)
            s->file_at = s->files - 1;
        free(at);
        take_look(s, l);
        if (first && !form_dirty(&s->form) && !*s->form.source)
            setup_load_chosen(s);
        s->app->dirty = true;
    }
    free_files(l->file, l->files);
    free(l->path);
    free(l);
}

void setup_list_files(struct setup *s)
{
    struct listing *l;

    if (s->listing)
        return;
    s->listing = true;
    s->listed_ns = app_ns(s->app);
    l = mem_new(1, sizeof *l);
    l->link = setup_hold(s);
    if (s->file_hash && s->form.from == FORM_FILE) {
        l->path = mem_text(s->form.path);
        l->hash = s->file_hash;
    }
    if (s->files)
        tasks_add(s->app->tasks, list, listed, l);
    else
        setup_try(s, list, listed, l); /* the first one is seen at once, where that can be had */
}

void setup_load_chosen(struct setup *s)
{
    const struct setup_file *f = &s->file[s->file_at];

    if (s->file_at >= s->files)
        return;
    if (!f->path)
        setup_load_builtin(s, f->name);
    else if (!*f->path)
        setup_load_defaults(s);
    else
        setup_load_path(s, f->path);
}

static void named(void *user, const char *text)
{
    char *copy = mem_text(text ? text : ""), *name = text_trim(copy), *path;

    if (*name) {
        /* with its folder: a bare name would be saved among the experiments */
        path = strchr(name, '/') ? io_home_path(name) : mem_textf("./%s", name);
        setup_load_typed(user, path, text);
        free(path);
    }
    free(copy);
}

void setup_load_another(struct setup *s, const char *path)
{
    app_prompt(s->app, "load the file", path, named, form_complete_path, s);
}

/* ---- writing ---- */

struct saving {
    struct setup_link *link;
    const char *label; /* of the line in which it was typed, */
    char *typed;       /* and what stood there */
    uint64_t keyed;    /* as app_keyed */
    char *path;
    char *folder; /* what was typed, where the ending is ours: it may be a folder's name; NULL */
    bool replace, there;
    uint64_t hash;             /* of that file, as the form was read from it; 0: it was not */
    bool changed;              /* since then */
    size_t comments;           /* of the one that is there, which this one has not */
    struct text text, dropped; /* dropped: keys without effect, which are not written */
    struct err e;
    uint64_t turn;
};

static void free_saving(struct saving *v)
{
    text_free(&v->text);
    text_free(&v->dropped);
    free(v->typed);
    free(v->path);
    free(v->folder);
    free(v);
}

/* Lines with a comment in the file that is there, which are not in the one to be written. */
static size_t lost_comments(const struct saving *v)
{
    char *bytes, *next;
    struct err ignored;
    size_t n, lost = 0;

    if (io_read_file(v->path, LARGEST, &bytes, &n, &ignored) != ERR_OK)
        return 0;
    next = bytes;
    for (char *line; (line = strsep(&next, "\n"));)
        lost += strchr(line, '#') && !strstr(text_str(&v->text), strchr(line, '#'));
    free(bytes);
    return lost;
}

static void save(void *arg)
{
    struct saving *v = arg;
    const char *name = io_last_part(v->path);
    char *folder;
    enum err_code code = ERR_OK;
    bool made;

    if (v->folder && io_is_folder(v->folder)) {
        err_set(&v->e, ERR_INPUT, "%s is a folder: name a file in it, as %s%sNAME.ini", v->folder,
                v->folder, v->folder[strlen(v->folder) - 1] == '/' ? "" : "/");
        return;
    }
    if (strlen(name) > MOST_NAME || *name == '.') {
        if (*name == '.')
            err_set(&v->e, ERR_INPUT, "%s would be hidden, here too: begin its name without a dot",
                    v->path);
        else
            err_set(&v->e, ERR_INPUT, "a name of %zu bytes is too long: %d are possible",
                    strlen(name), MOST_NAME);
        return;
    }
    v->there = !v->replace && io_has_content(v->path);
    if (v->there) {
        v->comments = lost_comments(v);
        v->changed = v->hash && look_at(v->path, v->hash) == FORM_CHANGED;
        return;
    }
    folder = io_folder_of(v->path);
    made = !io_is_folder(folder);
    if (!strcmp(folder, FOLDER)) /* any other that is not there is a slip of the keys */
        code = io_make_folders(folder, &v->e);
    else if (made)
        code = err_set(&v->e, ERR_IO, "there is no folder %s: nothing is written", folder);
    if (code == ERR_OK)
        code = io_replace_file(v->path, text_str(&v->text), v->text.n, &v->e);
    if (code == ERR_OK) {
        v->e.code = ERR_OK;
        v->path = setup_listed_path(v->path);
    } else if (made) {
        io.rmdir(folder); /* where it is empty */
    }
    free(folder);
}

#define SAVE_AS "save as"

static void start_saving(struct setup *s, const char *label, const char *typed, const char *path,
                         const char *folder, bool replace);

static void overwrite(void *user, int answer)
{
    struct setup *s = user;

    if (s->path && answer == 0)
        start_saving(s, s->path_label, s->path, s->path, NULL, true);
    free(s->path);
    s->path = NULL;
}

static void ask_to_replace(struct setup *s, const struct saving *v)
{
    static const char *const answers[] = {"replace it", "cancel", NULL};
    struct text question = {0};

    if (s->path) { /* the question about another one is still open */
        app_say(s->app, GRID_WARN, "%s is there already, and stays as it is", v->path);
        return;
    }
    s->path = mem_text(v->path);
    s->path_label = v->label;
    text_add_clean(&question, v->path);
    text_add(&question, " is there already");
    if (v->changed)
        text_add(&question, ", changed since the form was loaded from it");
    if (v->comments)
        text_addf(&question, ", and %zu comment%s in it would be lost", v->comments,
                  v->comments == 1 ? "" : "s");
    text_add(&question, ".");
    app_ask(s->app, text_str(&question), answers, overwrite, s);
    text_free(&question);
}

static void ask_path(struct setup *s, const char *label, const char *path);

/* The path stays in its line, to be mended. */
static void say_not_saved(struct setup *s, const struct saving *v)
{
    if (app_waits(s->app, SCREEN_SETUP, v->keyed))
        ask_path(s, v->label, v->typed);
    app_say(s->app, GRID_BAD, "%s", v->e.text);
}

static void saved(void *arg, bool dropped)
{
    struct saving *v = arg;
    struct setup *s = setup_let_go(v->link);

    if (s && !dropped && v->there) {
        ask_to_replace(s, v);
    } else if (s && !dropped) {
        if (v->e.code != ERR_OK) {
            say_not_saved(s, v);
        } else {
            if (s->form.turn == v->turn) {
                if (form_dirty(&s->form)) /* another one than what waits in the queue */
                    s->waits = 0;
                form_saved(&s->form, v->path);
                s->file_hash = hash_quick(text_str(&v->text), v->text.n);
                s->turn = s->form.turn;
            }
            if (v->dropped.n)
                app_say(s->app, GRID_GOOD, "written to %s, without %s: no effect here", v->path,
                        text_str(&v->dropped));
            else
                app_say(s->app, GRID_GOOD, "written to %s", v->path);
            setup_list_files(s);
        }
        s->app->dirty = true;
    }
    free_saving(v);
}

static void start_saving(struct setup *s, const char *label, const char *typed, const char *path,
                         const char *folder, bool replace)
{
    struct saving *v = mem_new(1, sizeof *v);

    v->link = setup_hold(s);
    v->label = label;
    v->typed = mem_text(typed);
    v->keyed = app_keyed(s->app);
    v->path = mem_text(path);
    v->folder = folder ? mem_text(folder) : NULL;
    v->replace = replace;
    v->hash = s->form.from == FORM_FILE && !strcmp(s->form.path, path) ? s->file_hash : 0;
    v->turn = s->form.turn;
    form_write(&s->form, &v->text);
    form_add_dropped(&s->form, &v->dropped);
    setup_try(s, save, saved, v);
}

/* A bare name goes where experiments are, with the ending that they have. */
static char *path_of(const char *typed)
{
    const char *ending = text_ends_with(typed, ".ini") ? "" : ".ini";
    char *there = io_home_path(typed), *path;

    path = strchr(typed, '/') ? mem_textf("%s%s", there, ending)
                              : mem_textf(FOLDER "/%s%s", typed, ending);
    free(there);
    return path;
}

static void entered(struct setup *s, const char *label, const char *text)
{
    char *copy = mem_text(text ? text : ""), *name = text_trim(copy), *path, *folder;

    if (*name) {
        path = path_of(name);
        folder = strchr(name, '/') && !text_ends_with(name, ".ini")
                     ? mem_text_n(path, strlen(path) - strlen(".ini"))
                     : NULL;
        start_saving(s, label, text, path, folder, false);
        free(folder);
        free(path);
    }
    free(copy);
}

static void save_as(void *user, const char *text)
{
    entered(user, SAVE_AS, text);
}

#define DUPLICATE_AS "duplicate as"

static void duplicate_as(void *user, const char *text)
{
    entered(user, DUPLICATE_AS, text);
}

static void ask_path(struct setup *s, const char *label, const char *path)
{
    app_prompt(s->app, label, path, strcmp(label, SAVE_AS) ? duplicate_as : save_as,
               form_complete_path, s);
}

/* What lies in the results is a record of what ran: it is not offered to be written over. */
static char *path_offered(const struct setup *s)
{
    size_t n = strlen(s->app->config.results);
    char name[SPEC_NAME];

    if (s->form.from == FORM_FILE &&
        (strncmp(s->form.path, s->app->config.results, n) != 0 || s->form.path[n] != '/'))
        return mem_text(s->form.path);
    if (s->form.from == FORM_FILE && s->sweep_name && *s->sweep_name)
        return mem_textf(FOLDER "/%s.ini", s->sweep_name);
    form_sweep_name(&s->form, name);
    return mem_textf(FOLDER "/%s.ini", name);
}

void setup_save_as(struct setup *s)
{
    char *path = path_offered(s);

    ask_path(s, SAVE_AS, path);
    free(path);
}

/* ---- the form under a name that is free: what was loaded stays as it is ---- */

struct naming {
    struct setup_link *link;
    char name[SPEC_NAME];
    char *path; /* NULL: there is none */
};

static void find_name(void *arg)
{
    struct naming *n = arg;
    size_t stem = setup_stem(n->name);

    for (int i = 2; i < 1000; i++) {
        n->path = mem_textf(FOLDER "/%.*s-%d.ini", (int)(stem < 100 ? stem : 100), n->name, i);
        if (!io_exists(n->path))
            return;
        free(n->path);
        n->path = NULL;
    }
}

static void name_found(void *arg, bool dropped)
{
    struct naming *n = arg;
    struct setup *s = setup_let_go(n->link);

    if (s && !dropped && n->path)
        ask_path(s, DUPLICATE_AS, n->path);
    free(n->path);
    free(n);
}

void setup_duplicate(struct setup *s)
{
    struct naming *n = mem_new(1, sizeof *n);

    n->link = setup_hold(s);
    form_sweep_name(&s->form, n->name);
    setup_try(s, find_name, name_found, n);
}
