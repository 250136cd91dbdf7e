/* ui/setup_queued.c: what is said of an experiment that was put into the queue, from here or by a command. */
#include "ui/setup_int.h"

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "study/compare.h"

#include <stdlib.h>
#include <string.h>

/* Said, and in the log: what is told of the queue comes true only later. */
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
    char *results, *file;
    size_t waiting;
};

static void count(void *arg)
{
    struct counting *c = arg;
    struct record_queued item = {.file = c->file};

    c->waiting = setup_count_waiting(c->results, &item);
}

/* "lenet" of "0003-lenet-7f3a.ini" as the list has it; the file alone says no better. */
static char *name_of(const char *file)
{
    size_t digits = strspn(file, "0123456789");
    const char *name = file[digits] == '-' ? file + digits + 1 : file;
    const char *end = strrchr(name, '.');

    return mem_text_n(name, end ? (size_t)(end - name) : strlen(name));
}

static void counted(void *arg, bool dropped)
{
    struct counting *c = arg;
    struct setup *s = setup_let_go(c->link);
    char *name = name_of(c->file);

    if (s && !dropped) {
        setup_say_queued(s, name, c->waiting);
        s->queue_stamp = 0; /* another look */
        s->queue_again = s->queue_reading;
        setup_watch(s);
    }
    free(name);
    free(c->file);
    free(c->results);
    free(c);
}

void screen_setup_say_queued(void *setup, const char *path)
{
    struct setup *s = setup;
    struct counting *c = mem_new(1, sizeof *c);

    *c = (struct counting){.link = setup_hold(s),
                           .results = mem_text(s->app->config.results),
                           .file = mem_text(io_last_part(path))};
    tasks_add_slow(s->app->tasks, count, counted, c);
}
