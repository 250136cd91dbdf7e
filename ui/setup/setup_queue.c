/* The queue beside the form: what waits in results/queue. All that reads or writes is done by the threads
 * of tasks. */
#include "ui/setup/setup_int.h"

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "record/sweep/sweeps.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- looking ---- */

struct reading {
    struct setup_link *link;
    char *results;
    uint64_t stamp; /* of the queue when it was read last; then: as it is now */
    char *sweep;    /* that is in the form; NULL: it is not looked at */
    uint64_t sweep_stamp;
    struct record_queued *list;
    char **label;
    size_t count;
    bool fine;
};

static void free_list(struct record_queued *list, char **label, size_t count)
{
    record_queue_free_labels(label, count);
    record_queue_free(list, count);
}

static void free_reading(struct reading *r)
{
    free_list(r->list, r->label, r->count);
    free(r->results);
    free(r->sweep);
    free(r);
}

/* As far as --max-cells lets it. 0: it is no sweep. */
static size_t cells_of(const struct record_queued *q)
{
    struct record_queue_options options = {0};
    struct spec_sweep sweep;
    size_t n = 0;

    spec_sweep_init(&sweep);
    if (q->text && record_sweep_waits(q, &sweep, &options)) {
        n = spec_sweep_cells(&sweep);
        if (options.max_cells > 0 && (size_t)options.max_cells < n)
            n = (size_t)options.max_cells;
    }
    spec_sweep_free(&sweep);
    return n;
}

/* First what tells it from others of its name. */
static void add_kind(const struct record_queued *q, char **label)
{
    struct record_queue_options options = {0};
    struct text t = {0};
    char number[TEXT_NUMBER_ROOM];
    size_t n;

    if (q->text)
        (void)!record_queue_read_options(q->text, &options, NULL);
    if (options.resume[0]) {
        text_add(&t, "goes on");
    } else {
        text_add(&t, *label);
        if ((n = cells_of(q)))
            text_addf(&t, **label ? " (%s run%s)" : "%s run%s", text_count(number, n), text_s(n));
        if (options.alone)
            text_add(&t, t.n ? ", alone" : "alone");
    }
    free(*label);
    *label = mem_text(text_str(&t));
    text_free(&t);
}

static void read_queue(void *arg)
{
    struct reading *r = arg;
    uint64_t before = r->stamp;

    if (r->sweep) /* other programs end cells too */
        r->sweep_stamp = record_sweep_stamp(r->results, r->sweep);
    r->stamp = record_queue_stamp(r->results);
    if (r->stamp == before)
        return;
    r->fine = record_queue_list(r->results, &r->list, &r->count, NULL) == ERR_OK;
    if (!r->fine)
        return;
    r->label = record_queue_labels(r->list, r->count);
    for (size_t i = 0; i < r->count; i++)
        add_kind(&r->list[i], &r->label[i]);
}

static void queue_read(void *arg, bool dropped)
{
    struct reading *r = arg;
    struct setup *s = setup_let_go(r->link);

    if (s)
        s->queue_reading = false;
    if (s && !dropped && r->sweep && r->sweep_stamp != s->sweep_stamp) {
        s->sweep_stamp = r->sweep_stamp;
        setup_results_change(s);
    }
    if (s && !dropped && !s->queue_again) /* else it may have been read before the change */
        s->queue_stamp = r->stamp;
    if (s)
        s->queue_again = false;
    if (s && !dropped && r->fine) {
        uint64_t id = s->queue_at < s->queue ? s->queued[s->queue_at].id : 0;
        bool waited = setup_waiting(s) != NULL;

        if (s->promised && r->count < s->queue)
            app_unsay(s->app, s->promised);
        free_list(s->queued, s->queue_label, s->queue);
        s->queued = r->list;
        s->queue_label = r->label;
        s->queue = r->count;
        feed_set_queued(s->app->feed, s->queue);
        r->list = NULL;
        r->label = NULL;
        r->count = 0;
        for (size_t i = 0; i < s->queue; i++) /* the same one stays chosen */
            if (s->queued[i].id == id)
                s->queue_at = i;
        if (s->queue_at >= s->queue)
            s->queue_at = s->queue ? s->queue - 1 : 0;
        if (waited)
            setup_seek_begun(s);
        if (!s->queue && s->pane == SETUP_QUEUE)
            s->pane = SETUP_FORM;
        s->app->dirty = true;
    }
    free_reading(r);
}

void setup_watch(struct setup *s)
{
    struct reading *r;
    char name[SPEC_NAME];

    if (s->queue_reading || !s->app->config.results || !s->app->tasks)
        return;
    r = mem_new(1, sizeof *r);
    r->link = setup_hold(s);
    r->results = mem_text(s->app->config.results);
    r->stamp = s->queue_stamp;
    if (s->app->shown == SCREEN_SETUP && s->form.good && setup_sweep_name(s, name))
        r->sweep = mem_text(setup_sweep_name(s, name));
    s->queue_reading = true;
    tasks_add_live(s->app->tasks, read_queue, queue_read, r);
}

void screen_setup_add_next(const struct setup *s, struct text *out)
{
    struct wire_queue queue = {0};
    size_t i = 0;

    if (!s->app->config.wire)
        return;
    wire_queue(s->app->config.wire, &queue);
    while (i < s->queue && s->queued[i].broken)
        i++;
    if (i == s->queue || queue.state != WIRE_QUEUE_BUSY)
        return;
    text_add(out, " Once it is stopped the queue goes on with ");
    text_add_clean(out, *s->queued[i].name ? s->queued[i].name : s->queued[i].file);
    text_add(out, ".");
}

void setup_free_queue(struct setup *s)
{
    free_list(s->queued, s->queue_label, s->queue);
    s->queued = NULL;
    s->queue_label = NULL;
    s->queue = 0;
    free(s->promised);
    s->promised = NULL;
}

/* ---- changing ---- */

struct change {
    struct setup_link *link;
    char *results, *name;
    struct text text;          /* to be added */
    struct record_queued item; /* to be moved or removed: id, file and number alone */
    int64_t by;
    char *goes_on;  /* folder of the run that is added; NULL */
    int64_t epochs; /* of it; 0: as many as it has */
    size_t waiting; /* experiments, once it is added; 0: it was taken already */
    bool alone;     /* nor beside who has results in another folder */
    bool once;      /* not where it waits already */
    enum { ADD, MOVE, REMOVE } kind;
    struct err e;
};

/* The text of a run that is to go on: its experiment says to others what it is. */
static enum err_code make_resume(struct change *c, struct err *e)
{
    struct record_queue_options options = {0};
    char *path = io_path(c->goes_on, "experiment.ini");
    struct spec_sweep s;
    enum err_code code;

    spec_sweep_init(&s);
    code = spec_sweep_read(&s, path, e);
    if (code == ERR_OK)
        code = spec_sweep_close(&s, e);
    if (code == ERR_OK) {
        s.base.epochs = c->epochs ? c->epochs : s.base.epochs;
        snprintf(options.resume, sizeof options.resume, "%s", io_last_part(c->goes_on));
        options.alone = c->alone;
        record_queue_add_options(&c->text, &options);
        spec_sweep_write(&s, &c->text);
    }
    spec_sweep_free(&s);
    free(path);
    return code;
}

/* How they are walked aside, in whatever order and words their files say it. */
static bool same_sweep(const struct record_queued *a, const struct record_queued *b)
{
    struct record_queue_options mine, other;
    struct text lists[2] = {{0}, {0}};
    struct spec_sweep s[2];
    bool same;

    spec_sweep_init(&s[0]);
    spec_sweep_init(&s[1]);
    same = record_sweep_waits(a, &s[0], &mine) && record_sweep_waits(b, &s[1], &other) &&
           !strcmp(mine.name, other.name) && mine.failed == other.failed &&
           mine.max_cells == other.max_cells;
    for (int i = 0; i < 2 && same; i++)
        spec_sweep_write(&s[i], &lists[i]);
    same = same && !strcmp(text_str(&lists[0]), text_str(&lists[1]));
    for (int i = 0; i < 2; i++) {
        text_free(&lists[i]);
        spec_sweep_free(&s[i]);
    }
    return same;
}

static bool is_same(const struct change *c, const struct record_queued *q)
{
    struct record_queued item = {
        .file = q->file, .name = c->name, .text = (char *)text_str(&c->text), .n = c->text.n};
    struct record_queue_options mine, other;

    if (!q->text)
        return false;
    if (!c->goes_on)
        return same_sweep(&item, q);
    return record_queue_read_options(q->text, &other, NULL) == ERR_OK &&
           record_queue_read_options(item.text, &mine, NULL) == ERR_OK &&
           !strcmp(mine.resume, other.resume);
}

static enum err_code check_waits(const struct change *c, struct err *e)
{
    struct record_queued *list;
    enum err_code code = ERR_OK;
    size_t n;

    TRY(record_queue_list(c->results, &list, &n, e));
    for (size_t i = 0; i < n && code == ERR_OK; i++)
        if (is_same(c, &list[i]))
            code = err_set(e, ERR_INPUT, "%s waits already, number %lld of the queue (1 shows it)",
                           c->name, (long long)list[i].number);
    record_queue_free(list, n);
    return code;
}

static enum err_code add_to_queue(struct change *c, struct err *e)
{
    struct record_queued item = {0};

    if (c->goes_on)
        TRY(make_resume(c, e));
    if (c->once)
        TRY(check_waits(c, e));
    TRY(record_queue_add(c->results, text_str(&c->text), c->name, &item, e));
    c->waiting = setup_count_waiting(c->results, &item);
    record_queue_free_item(&item);
    return ERR_OK;
}

static void change(void *arg)
{
    struct change *c = arg;
    enum err_code code;

    if (c->kind == ADD)
        code = add_to_queue(c, &c->e);
    else if (c->kind == MOVE)
        code = record_queue_move(c->results, &c->item, c->by, &c->e);
    else
        code = record_queue_remove(c->results, &c->item, &c->e);
    if (code == ERR_OK)
        c->e.code = ERR_OK;
}

static void changed(void *arg, bool dropped)
{
    struct change *c = arg;
    struct setup *s = setup_let_go(c->link);

    if (s && c->kind == MOVE)
        s->queue_moving--;
    if (s && !dropped) {
        if (c->e.code != ERR_OK)
            app_say(s->app, GRID_BAD, "%s", c->e.text);
        else if (c->kind == ADD)
            setup_say_queued(s, c->name, c->waiting);
        else if (c->kind == REMOVE)
            setup_say_of_queue(s, false, mem_textf("%s is out of the queue", c->name));
        s->queue_stamp = 0; /* another look */
        s->queue_again = s->queue_reading;
        s->app->dirty = true;
        setup_watch(s);
    }
    free(c->item.file);
    free(c->item.name);
    free(c->goes_on);
    text_free(&c->text);
    free(c->results);
    free(c->name);
    free(c);
}

static struct change *change_new(struct setup *s, const char *name)
{
    struct change *c = mem_new(1, sizeof *c);

    c->link = setup_hold(s);
    c->results = mem_text(s->app->config.results);
    c->name = mem_text(name);
    return c;
}

static struct change *change_of(struct setup *s, const struct record_queued *q)
{
    struct change *c = change_new(s, q->name ? q->name : q->file);

    c->item.id = q->id;
    c->item.number = q->number;
    c->item.file = mem_text(q->file);
    c->item.name = mem_text(q->name ? q->name : "");
    return c;
}

void setup_queue_move(struct setup *s, int by)
{
    const struct record_queued *q;
    bool old = s->queue_moving || !s->queue_stamp; /* a move before is not seen yet */
    struct change *c;

    if (s->queue_at >= s->queue)
        return;
    q = &s->queued[s->queue_at];
    if (!old && s->queue_at == (by < 0 ? 0 : s->queue - 1)) {
        app_say(s->app, GRID_TEXT, "%s is the %s of the queue already", q->name ? q->name : q->file,
                by < 0 ? "first" : "last");
        return;
    }
    c = change_of(s, q);
    c->kind = MOVE;
    c->by = by;
    s->queue_moving++;
    tasks_add_slow(s->app->tasks, change, changed, c);
}

void setup_queue_take_out(struct setup *s, const struct record_queued *q)
{
    struct change *c = change_of(s, q);

    c->kind = REMOVE;
    tasks_add_slow(s->app->tasks, change, changed, c);
}

static void drop_answered(void *user, int answer)
{
    struct setup *s = user;
    size_t i = 0;

    if (answer != 0)
        return;
    while (i < s->queue && s->queued[i].id != s->drops)
        i++;
    if (i < s->queue)
        setup_queue_take_out(s, &s->queued[i]);
    else /* another one is chosen now, of which nobody was asked */
        app_say(s->app, GRID_TEXT, "That one waits in the queue no more.");
}

void setup_queue_drop(struct setup *s)
{
    static const char *const answers[] = {"take it out", "cancel", NULL};
    const struct record_queued *q = &s->queued[s->queue_at];
    struct text name = {0};

    if (s->queue_at >= s->queue)
        return;
    text_add_clean(&name, q->name && *q->name ? q->name : q->file);
    if (*s->queue_label[s->queue_at]) {
        text_add(&name, " with ");
        text_add_clean(&name, s->queue_label[s->queue_at]);
    }
    text_add(&name, " waits in the queue");
    if (q->number)
        text_addf(&name, ", number %lld", (long long)q->number);
    text_add(&name, ".");
    s->drops = q->id;
    app_ask(s->app, text_str(&name), answers, drop_answered, s);
    text_free(&name);
}

void setup_queue_verbs(const struct setup *s, struct text *lines)
{
    static const char *const verbs[][2] = {{"move", " -1"}, {"move", " 1"}, {"rm", ""}};
    const struct record_queued *q = &s->queued[s->queue_at];
    struct text word = {0};

    if (s->queue_at >= s->queue)
        return;
    if (q->number)
        text_addf(&word, "%lld", (long long)q->number);
    else
        jobs_add_word(&word, q->file);
    for (size_t i = 0; i < MEM_COUNT(verbs); i++)
        text_addf(lines, "queue %s %s%s\n", verbs[i][0], text_str(&word), verbs[i][1]);
    text_free(&word);
}

/* What it says goes into the form as changes that nobody has saved; it goes on waiting. */
void setup_queue_load(struct setup *s)
{
    const struct record_queued *q = &s->queued[s->queue_at];
    struct setup_source *w;

    if (s->queue_at >= s->queue)
        return;
    if (q->broken || !q->text) {
        app_say(s->app, GRID_BAD, "%s", q->broken ? q->problem : "it cannot be read");
        return;
    }
    w = mem_new(1, sizeof *w);
    w->from = FORM_QUEUE;
    w->source = mem_text(q->name ? q->name : "");
    w->file = record_queue_path(s->app->config.results, q);
    w->text = mem_text_n(q->text, q->n);
    w->n = q->n;
    w->queued = q->id;
    setup_take_options(w);
    w->sweep_name = mem_text(*w->options.name ? w->options.name : w->source);
    setup_load_aside(
        s, w,
        *w->options.resume
            ? "In the queue it goes on from where it stopped; from here r starts a new run."
            : "With changes it is another one: the copy in the queue stays (d takes it out).");
}

void setup_queue_add(struct setup *s, bool alone)
{
    const struct form *what = setup_what(s);
    struct record_queue_options options = {0};
    char name[SPEC_NAME];
    struct change *c;
    struct text ini = {0};

    form_sweep_name(what, name);
    if (spec_sweep_varies(&what->sweep) && !s->runs_again && s->sweep_name && *s->sweep_name)
        snprintf(name, sizeof name, "%s", s->sweep_name);
    c = change_new(s, name);
    c->kind = ADD;
    if (spec_sweep_varies(&what->sweep)) {
        if (!s->runs_again)
            options = s->sweep;
        snprintf(options.name, sizeof options.name, "%s", name);
        c->once = true; /* a second one would find nothing left to run */
    }
    options.alone |= alone || (!s->runs_again && s->sweep.alone);
    if (options.alone || options.name[0])
        record_queue_add_options(&c->text, &options);
    setup_is_kept(s);
    form_write(what, &ini);
    text_add(&c->text, text_str(&ini));
    text_free(&ini);
    tasks_add_slow(s->app->tasks, change, changed, c);
}

/* ---- what goes on behind what runs ---- */

/* Without the time at which it began. */
static const char *short_name(const char *run)
{
    size_t stamp = strlen("2026-11-20-101530-412-");

    return isdigit((unsigned char)*run) && strlen(run) > stamp ? run + stamp : run;
}

static void go_on_behind(struct setup *s, struct change *c)
{
    c->kind = ADD;
    c->once = true;
    tasks_add_slow(s->app->tasks, change, changed, c);
}

void screen_setup_queue_run(struct setup *s, const char *folder, int64_t epochs, bool alone)
{
    struct change *c = change_new(s, short_name(io_last_part(folder)));

    c->goes_on = mem_text(folder);
    c->epochs = epochs;
    c->alone = alone;
    go_on_behind(s, c);
}

void screen_setup_queue_sweep(struct setup *s, const struct spec_sweep *sweep,
                              const struct record_queue_options *options)
{
    struct change *c = change_new(s, options->name);

    record_queue_add_options(&c->text, options);
    spec_sweep_write(sweep, &c->text);
    go_on_behind(s, c);
}
