/* What was loaded from the queue may be begun by another program while it stands in the form. */
#include "ui/setup/setup_int.h"

#include "base/mem.h"
#include "record/run/reader.h"
#include "record/sweep/sweeps.h"
#include "study/compare.h"

#include <stdlib.h>
#include <string.h>

const struct record_queued *setup_waiting(const struct setup *s)
{
    for (size_t i = 0; s->waits && i < s->queue; i++)
        if (s->queued[i].id == s->waits)
            return &s->queued[i];
    return NULL;
}

bool setup_was_queued(const struct setup *s)
{
    return s->form.from == FORM_QUEUE && !s->goes_on && !setup_waiting(s);
}

struct seeking {
    struct setup_link *link;
    char *results, *sweep; /* sweep: its name; NULL: it is a single run */
    uint64_t id, turn;
    bool waits;                    /* it is in the queue, and nobody has begun it */
    char *begun;                   /* as what; NULL: not */
    void (*then)(struct setup *s); /* what is done where nobody has begun it; NULL: nothing */
};

static bool is_queued(const char *results, uint64_t id)
{
    struct record_queued *list;
    bool is = false;
    size_t n;

    if (record_queue_list(results, &list, &n, NULL) != ERR_OK)
        return false;
    for (size_t i = 0; i < n && !is; i++)
        is = list[i].id == id;
    record_queue_free(list, n);
    return is;
}

static void seek(void *arg)
{
    struct seeking *k = arg;
    struct record_entry run;
    bool found;

    k->waits = is_queued(k->results, k->id);
    if (k->sweep && !k->waits && record_sweep_stamp(k->results, k->sweep))
        k->begun = mem_text(k->sweep);
    /* who takes it makes the run before it is out of the queue */
    if (k->sweep || (k->waits && record_queue_taken(k->results) != k->id) ||
        record_queue_find_run(k->results, k->id, &run, &found, NULL) != ERR_OK || !found)
        return;
    k->begun = mem_text(run.name);
    record_free_entry(&run);
}

static void again_or_not(void *user, int answer)
{
    struct setup *s = user;

    if (answer != 0)
        return;
    s->waits = 0;
    setup_run(s);
}

static void ask_again(struct setup *s, const char *begun)
{
    static const char *const answers[] = {"run it once more", "cancel", NULL};
    struct text question = {0};

    text_add(&question, "That one of the queue has begun: ");
    text_add_clean(&question, study_short_name(begun));
    text_add(&question, ". From here it is another run of the same settings.");
    app_ask(s->app, text_str(&question), answers, again_or_not, s);
    text_free(&question);
}

static void say_begun(struct setup *s, const char *begun)
{
    struct text name = {0};

    text_add_clean(&name, study_short_name(begun));
    app_say(s->app, GRID_TEXT, "That one of the queue has begun: %s", text_str(&name));
    text_free(&name);
}

static void take(struct setup *s, const struct seeking *k)
{
    if (s->waits == k->id) {
        s->nowhere = !k->waits && !k->begun;
        s->app->dirty = true;
    }
    if (k->then && s->form.turn != k->turn)
        setup_say_changed(s);
    else if (k->then && k->begun && setup_is_as_it_waited(s))
        ask_again(s, k->begun);
    else if (k->then)
        k->then(s);
    else if (k->begun && s->waits == k->id && s->app->shown == SCREEN_SETUP)
        say_begun(s, k->begun);
}

static void sought(void *arg, bool dropped)
{
    struct seeking *k = arg;
    struct setup *s = setup_let_go(k->link);

    if (s && !dropped)
        take(s, k);
    free(k->results);
    free(k->sweep);
    free(k->begun);
    free(k);
}

static struct seeking *seeking_new(struct setup *s)
{
    struct seeking *k = mem_new(1, sizeof *k);
    char name[SPEC_NAME];

    k->link = setup_hold(s);
    k->results = mem_text(s->app->config.results);
    k->sweep = setup_sweep_name(s, name) ? mem_text(setup_sweep_name(s, name)) : NULL;
    k->id = s->waits;
    k->turn = s->form.turn;
    return k;
}

void setup_seek_begun(struct setup *s)
{
    if (s->waits && !setup_waiting(s))
        tasks_add_slow(s->app->tasks, seek, sought, seeking_new(s));
}

void setup_unless_begun(struct setup *s, void (*then)(struct setup *s))
{
    struct seeking *k = seeking_new(s);

    k->then = then;
    setup_try(s, seek, sought, k);
}
