/* ui/setup/setup_queued.c: says what happened to an experiment that was put into the queue, here or by a command. */
#include "ui/setup/setup_int.h"

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "study/compare.h"

#include <stdlib.h>
#include <string.h>

/* On the screen and in the log. promised: it comes true later. */
void setup_say_of_queue(struct setup *s, bool promised, char *words)
{
    app_say(s->app, promised ? GRID_GOOD : GRID_TEXT, "%s", words);
    app_log(s->app, LOG_INFO, words);
    free(s->promised);
    s->promised = promised ? words : NULL;
    if (!promised)
        free(words);
}

static void add_turn(struct setup *s, struct text *out)
{
    const struct feed_run *now = feed_busy(s->app->feed) ? feed_current(s->app->feed) : NULL;

    if (now && now->own && now->name[0]) {
        text_add(out, "after ");
        text_add_clean(out, study_short_name(now->name));
    } else {
        text_add(out, "when its turn comes");
    }
}

void setup_say_queued(struct setup *s, const char *name, size_t waiting)
{
    struct text words = {0};

    text_add(&words, waiting ? "Queued: " : "Out of the queue already: ");
    text_add_clean(&words, name);
    text_add(&words, " starts ");
    if (waiting) {
        add_turn(s, &words);
        text_addf(&words, ". %s in the queue (1 shows %s).", TEXT_COUNT(waiting),
                  waiting == 1 ? "it" : "them");
    } else {
        text_add(&words, "now (2 shows it).");
    }
    setup_say_of_queue(s, waiting > 0, words.s);
}

size_t setup_count_waiting(const char *results, const struct record_queued *item)
{
    struct record_queued *list;
    size_t n, at = 0;

    if (record_queue_list(results, &list, &n, NULL) != ERR_OK)
        return 1; /* it was added just now */
    while (at < n && (item->id ? list[at].id != item->id : strcmp(list[at].file, item->file) != 0))
        at++;
    record_queue_free(list, n);
    return at < n ? n : 0;
}

/* ---- by a command, which prints the path of its file ---- */

struct counting {
    struct setup_link *link;
    char *results;
    struct record_queued item;
    size_t waiting;
};

static void count(void *arg)
{
    struct counting *c = arg;

    c->waiting = setup_count_waiting(c->results, &c->item);
}

static void counted(void *arg, bool dropped)
{
    struct counting *c = arg;
    struct setup *s = setup_let_go(c->link);

    if (s && !dropped) {
        setup_say_queued(s, c->item.name, c->waiting);
        s->queue_stamp = 0; /* another look */
        s->queue_again = s->queue_reading;
        setup_watch(s);
    }
    record_queue_free_item(&c->item);
    free(c->results);
    free(c);
}

void screen_setup_say_queued(struct setup *s, const char *path)
{
    struct counting *c = mem_new(1, sizeof *c);

    if (!record_queue_take_name(io_last_part(path), &c->item)) {
        free(c);
        return;
    }
    c->link = setup_hold(s);
    c->results = mem_text(s->app->config.results);
    tasks_add_slow(s->app->tasks, count, counted, c);
}
