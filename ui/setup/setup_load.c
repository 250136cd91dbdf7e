/* Experiments into the form: files, what is built in, runs, and what waits in the queue. */
#include "ui/setup/setup_int.h"

#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "net/net.h"
#include "record/run/reader.h"
#include "study/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEXT (4 << 20)

void setup_free_source(struct setup_source *source)
{
    if (!source)
        return;
    free(source->source);
    free(source->file);
    free(source->text);
    free(source->sweep_name);
    if (source->made)
        form_end(source->made);
    free(source->made);
    free(source);
}

void setup_take_options(struct setup_source *w)
{
    size_t n = strcspn(w->text, "\n");

    if (record_queue_read_options(w->text, &w->options, NULL) != ERR_OK)
        w->options = (struct record_queue_options){0};
    if (!strncmp(w->text, "# options:", 10)) {
        w->n -= n; /* its end stays, so that other lines keep their numbers */
        memmove(w->text, w->text + n, w->n + 1);
    }
}

static void make(struct setup_source *w)
{
    w->made = form_make(w->from, w->source, w->file, w->text, w->n);
}

static void choose_first(struct setup *s)
{
    size_t row[SETUP_ROWS], n = setup_rows(s, row);

    for (size_t i = 0; i < n; i++) /* what is wrong waits for a better value */
        if (form_wrong(&s->form, row[i])) {
            setup_choose(s, row[i]);
            return;
        }
    s->first = 0;
    setup_choose(s, (size_t)form_find(&s->form, "model"));
}

/* The first of them. */
static void say_note(struct setup *s, const char *notes, const char *behind)
{
    char *first = mem_text_n(notes, strcspn(notes, "\n"));

    app_say(s->app, GRID_BAD, "%s%s", first, behind);
    free(first);
}

static void take(struct setup *s)
{
    struct setup_source *w = s->wanted;

    s->wanted = NULL;
    s->file_hash = w->hash;
    if (s->open) /* of the form that was there, left by a key such as F3 */
        setup_close_field(s);
    if (!w->made)
        make(w);
    form_take(&s->form, w->made);
    w->made = NULL;
    free(s->sweep_name);
    s->sweep_name = w->sweep_name;
    w->sweep_name = NULL;
    free(s->goes_on);
    s->goes_on = *w->options.resume ? mem_text(w->options.resume) : NULL;
    s->waits = s->goes_on ? 0 : w->queued;
    s->nowhere = false;
    w->options.resume[0] = 0;
    s->sweep = w->options;
    s->partly = false;
    setup_seek_begun(s);
    choose_first(s);
    s->pane = SETUP_FORM;
    setup_ask(s);
    if (*s->form.notes)
        say_note(s, s->form.notes,
                 strchr(s->form.notes, '\n')[1] ? " (v shows all that could not be taken)" : "");
    setup_free_source(w);
}

/* It has lines, and not one of a key: no experiment, whatever it is. */
static bool is_none(const struct form *f)
{
    for (size_t i = 0; i < f->fields; i++)
        if (f->field[i].text || f->field[i].wrong)
            return false;
    return *f->notes;
}

static void answered(void *user, int answer)
{
    struct setup *s = user;

    if (!s->wanted)
        return;
    if (answer == 0) {
        take(s);
        return;
    }
    setup_free_source(s->wanted);
    s->wanted = NULL;
    if (answer == 1)
        setup_save_as(s);
}

/* The source becomes the screen's. */
static void load(struct setup *s, struct setup_source *source)
{
    static const char *const answers[] = {"load it", "save them first", "cancel", NULL};
    struct text name = {0}, question = {0};

    if (source->made && is_none(source->made)) {
        say_note(s, source->made->notes,
                 "; none of its lines is of an experiment, and the form stays as it was");
        setup_free_source(source);
        return;
    }
    setup_free_source(s->wanted);
    s->wanted = source;
    if (!setup_is_unsaved(s)) {
        take(s);
        return;
    }
    text_add_clean(&name, source->source);
    setup_add_unsaved(s, &question);
    text_addf(&question, " Load %.150s over %s?", name.n ? text_str(&name) : "the defaults",
              form_dirty(&s->form) ? "them" : "it");
    app_ask(s->app, text_str(&question), answers, answered, s);
    text_free(&name);
    text_free(&question);
}

static struct setup_source *source_of(enum form_from from, const char *source, const char *file,
                                      const char *text, size_t n)
{
    struct setup_source *w = mem_new(1, sizeof *w);

    w->from = from;
    w->source = mem_text(source);
    w->file = mem_text(file);
    w->text = mem_text_n(text, n);
    w->n = n;
    return w;
}

void setup_load_builtin(struct setup *s, const char *name)
{
    const char *text = spec_builtin(name);
    char *file = mem_textf("built-in experiment %s", name);

    if (text)
        load(s, source_of(FORM_BUILTIN, name, file, text, strlen(text)));
    free(file);
}

void setup_load_defaults(struct setup *s)
{
    load(s, source_of(FORM_DEFAULTS, "", "defaults", "", 0));
}

/* ---- from the disk ---- */

struct reading {
    struct setup_link *link;
    char *path, *run, *sweep;    /* run: its folder, sweep: its name; both NULL: of a file */
    char *typed;                 /* what stood in the line that asked for it; NULL: it was chosen */
    uint64_t keyed;              /* as app_keyed */
    bool again, slow;            /* slow: it was told that it is being read */
    struct setup_source *source; /* what was read */
    enum err_code code;
    struct err e;
};

/* The built-in model that a run's copy is word for word; NULL: it is another. */
static const char *same_model(const char *folder)
{
    char *path = io_path(folder, "model.net"), *text = NULL;
    const char *found = NULL;
    size_t n;

    if (io_read_file(path, MOST_TEXT, &text, &n, NULL) == ERR_OK)
        for (int i = 0; !found && net_builtin_name(i); i++)
            if (!strcmp(net_builtin(net_builtin_name(i)), text))
                found = net_builtin_name(i);
    free(text);
    free(path);
    return found;
}

/* A run whose run.csv cannot be read may have an experiment all the same. */
static enum err_code check_run(const char *folder, struct err *e)
{
    struct record_entry entry;
    enum err_code code;

    if (record_read_entry(folder, &entry, NULL) != ERR_OK)
        return ERR_OK;
    code = entry.broken ? ERR_OK : study_check_trainable(&entry, e);
    record_free_entry(&entry);
    return code;
}

/* The text with the line of the copied model replaced: "lenet" says more than a path. */
static void name_model(struct text *out, const char *text, const char *model)
{
    static const char copied[] = "model = model.net\n";
    const char *at = strstr(text, copied);

    if (!model || !at || (at != text && at[-1] != '\n')) {
        text_add(out, text);
        return;
    }
    text_add_n(out, text, (size_t)(at - text));
    text_addf(out, "model = %s\n", model);
    text_add(out, at + sizeof copied - 1);
}

static void read_source(void *arg)
{
    struct reading *r = arg;
    struct text named = {0};
    char *text = NULL;
    size_t n;

    if (!r->run && !r->sweep)
        r->path = setup_listed_path(r->path);
    r->code = r->run ? check_run(r->run, &r->e) : ERR_OK;
    if (r->code == ERR_OK)
        r->code = io_read_file(r->path, MOST_TEXT, &text, &n, &r->e);
    if (r->code == ERR_OK && r->run) {
        name_model(&named, text, same_model(r->run));
        r->source = source_of(FORM_RUN, io_last_part(r->run), r->path, text_str(&named), named.n);
    } else if (r->code == ERR_OK) {
        r->source = source_of(FORM_FILE, r->path, r->path, text, n);
        r->source->hash = r->sweep ? 0 : hash_quick(text, n);
    }
    if (r->source && r->sweep) {
        setup_take_options(r->source);
        r->source->options.failed = false; /* F of its screen asks for that */
        r->source->sweep_name = mem_text(r->sweep);
    }
    if (r->source)
        make(r->source);
    text_free(&named);
    free(text);
}

static void take_read(struct setup *s, struct reading *r)
{
    if (r->code != ERR_OK) {
        if (r->typed && app_waits(s->app, SCREEN_SETUP, r->keyed))
            setup_load_another(s, r->typed); /* the path stays in its line, to be mended */
        app_say(s->app, GRID_BAD, "%s", r->e.text);
    } else if (r->again) {
        form_take(&s->again, r->source->made);
        r->source->made = NULL;
        setup_run_again(s);
    } else {
        if (r->slow)
            app_say(s->app, GRID_TEXT, "%s is read", r->path);
        load(s, r->source);
        r->source = NULL;
    }
    s->app->dirty = true;
}

static void source_read(void *arg, bool dropped)
{
    struct reading *r = arg;
    struct setup *s = setup_let_go(r->link);

    if (s && !dropped)
        take_read(s, r);
    setup_free_source(r->source);
    free(r->path);
    free(r->typed);
    free(r->run);
    free(r->sweep);
    free(r);
}

static void begin_reading(struct setup *s, struct reading *r)
{
    char *path = mem_text(r->path); /* what reads may put another one in its place meanwhile */

    if (!setup_try(s, read_source, source_read, r)) { /* else r is gone */
        r->slow = true;
        app_say(s->app, GRID_DIM, "reading %s ...", path);
    }
    free(path);
}

void setup_load_path(struct setup *s, const char *path)
{
    setup_load_typed(s, path, NULL);
}

void setup_load_typed(struct setup *s, const char *path, const char *typed)
{
    struct reading *r = mem_new(1, sizeof *r);

    *r = (struct reading){.link = setup_hold(s),
                          .path = mem_text(path),
                          .typed = typed ? mem_text(typed) : NULL,
                          .keyed = app_keyed(s->app)};
    begin_reading(s, r);
}

void screen_setup_load(struct setup *s, const char *folder, bool again)
{
    struct reading *r = mem_new(1, sizeof *r);

    *r = (struct reading){.link = setup_hold(s),
                          .path = io_path(folder, "experiment.ini"),
                          .run = mem_text(folder),
                          .again = again};
    begin_reading(s, r);
}

void screen_setup_load_sweep(struct setup *s, const char *name)
{
    struct reading *r = mem_new(1, sizeof *r);

    *r = (struct reading){.link = setup_hold(s),
                          .path = mem_textf("%s/sweeps/%s/sweep.ini", s->app->config.results, name),
                          .sweep = mem_text(name)};
    begin_reading(s, r);
}

static const char of_queue[] =
    "r takes it out of the queue; with changes it is another one: the copy stays.";

struct making {
    struct setup_link *link;
    struct setup_source *source;
    char *words;
};

static void make_aside(void *arg)
{
    make(((struct making *)arg)->source);
}

/* A single one, which its start takes out. */
static bool is_run_of_queue(const struct setup_source *w)
{
    return w->queued && !*w->options.resume && !spec_sweep_varies(&w->made->sweep);
}

static void made_aside(void *arg, bool dropped)
{
    struct making *m = arg;
    struct setup *s = setup_let_go(m->link);

    if (s && !dropped) {
        const char *words = is_run_of_queue(m->source) ? of_queue : m->words;

        load(s, m->source);
        m->source = NULL;
        if (words)
            app_say(s->app, GRID_TEXT, "%s", words);
        s->app->dirty = true;
    }
    setup_free_source(m->source);
    free(m->words);
    free(m);
}

void setup_load_aside(struct setup *s, struct setup_source *source, const char *words)
{
    struct making *m = mem_new(1, sizeof *m);

    *m = (struct making){.link = setup_hold(s), .source = source};
    m->words = words ? mem_text(words) : NULL;
    setup_try(s, make_aside, made_aside, m);
}

/* ---- models, for the fields of their parameters ---- */

struct reading_model {
    struct setup_link *link;
    bool again; /* for that form */
    struct form_file file;
};

static void read_model(void *arg)
{
    form_read_file(&((struct reading_model *)arg)->file);
}

static void model_read(void *arg, bool dropped)
{
    struct reading_model *r = arg;
    struct setup *s = setup_let_go(r->link);
    struct form *f = s ? r->again ? &s->again : &s->form : NULL;

    /* while it is built, whoever builds it asks what it means */
    if (f && !dropped && form_model_read(f, &r->file) && !f->building && !r->again)
        setup_ask(s);
    free(r->file.path);
    free(r->file.text);
    free(r);
}

static void ask_for_model(struct setup *s, const char *path, bool again)
{
    struct reading_model *r = mem_new(1, sizeof *r);

    r->link = setup_hold(s);
    r->again = again;
    r->file.path = mem_text(path);
    setup_try(s, read_model, model_read, r);
}

static void model_of_form(void *user, const char *path)
{
    ask_for_model(user, path, false);
}

static void model_of_again(void *user, const char *path)
{
    ask_for_model(user, path, true);
}

/* ---- long lists ---- */

struct checking {
    struct setup_link *link;
    bool again;
    struct form_checked is;
};

static void check_list(void *arg)
{
    form_check_list(&((struct checking *)arg)->is);
}

static void list_checked(void *arg, bool dropped)
{
    struct checking *c = arg;
    struct setup *s = setup_let_go(c->link);
    struct form *f = s ? c->again ? &s->again : &s->form : NULL;

    if (f && !dropped && form_list_checked(f, &c->is) && !f->building && !c->again)
        setup_list_checked(s);
    spec_axis_free(&c->is.list);
    free(c->is.value);
    free(c);
}

static void ask_for_list(struct setup *s, const char *key, const char *value, bool again)
{
    struct checking *c = mem_new(1, sizeof *c);

    c->link = setup_hold(s);
    c->again = again;
    snprintf(c->is.key, sizeof c->is.key, "%s", key);
    c->is.value = mem_text(value);
    setup_try(s, check_list, list_checked, c);
}

static void list_of_form(void *user, const char *key, const char *value)
{
    ask_for_list(user, key, value, false);
}

static void list_of_again(void *user, const char *key, const char *value)
{
    ask_for_list(user, key, value, true);
}

void setup_read_models(struct setup *s)
{
    s->form.read_model = model_of_form;
    s->again.read_model = model_of_again;
    s->form.check_list = list_of_form;
    s->again.check_list = list_of_again;
    s->form.user = s->again.user = s;
}
