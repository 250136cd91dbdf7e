/* tests/torture/story.h: what a program does between its start and a power cut, written down on a disk of disk.h, and
 * the same without anything in between, which the others are compared with. */
#ifndef CHORUS_TORTURE_STORY_H
#define CHORUS_TORTURE_STORY_H

#define TEST_OWN_MAIN
#include "record/queue/queue.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/sweep/sweeps.h"
#include "record/trash.h"
#include "tests/torture/outage.h"
#include "tests/unit/engine/sweep_kit.h"

enum story_kind { STORY_RUN, STORY_SWEEP, STORY_QUEUE };

#define STORY_ITEMS 3

struct story {
    enum story_kind kind;
    struct dice dice;
    struct kit kit;
    struct disk disk;
    struct spec spec; /* of the runs */
    int64_t more;     /* epochs that a run is extended by when it is done */
    char *whole;      /* results of what nobody disturbed */
    char *keys;       /* of a sweep */
    int jobs;
    size_t cells;
    /* Behind which operation a program was told so: the run has its tag, is in the trash; an item was added. */
    size_t tagged, removed, added[STORY_ITEMS];
    char *item[STORY_ITEMS]; /* its text */
};

/* ---- something happens in the middle ---- */

static struct kit *story_kit;
static struct wire_command story_command;

static void story_send(const struct backend_span *span)
{
    wire_send(story_kit->wire, &story_command);
    if (story_command.wish == WIRE_WISH_STOP_EPOCH) /* the span goes on */
        return;
    for (int i = 0; i < 20000 && !atomic_load(span->stop); i++)
        clock_sleep_ms(1);
}

static inline void story_stop_at(struct kit *k, uint32_t number, int64_t step, enum wire_wish how)
{
    story_kit = k;
    story_command = (struct wire_command){.kind = WIRE_WISH, .run = number, .wish = how};
    kit_happen = story_send;
    atomic_store(&kit_at, step);
}

/* ---- the folders ---- */

static inline struct kit story_elsewhere(const struct story *s, char *results)
{
    struct kit k = s->kit;

    k.results = results;
    k.engine = NULL;
    k.wire = NULL;
    k.runs = 0;
    return k;
}

static inline char *story_first_run(const char *results)
{
    struct record_entry *list;
    size_t n = 0;
    char *folder = NULL;

    if (record_list(results, &list, &n, NULL) == ERR_OK) {
        folder = n ? mem_text(list[0].folder) : NULL;
        record_free_list(list, n);
    }
    return folder;
}

/* How many epochs a run that is done was to have; 0: it is not done. */
static inline int64_t story_done(const char *folder)
{
    struct record_run run;

    kit_read_run(folder, &run);
    return run.state == WIRE_DONE ? run.spec.epochs : 0;
}

/* ---- a run ---- */

static inline void story_choose(struct story *s)
{
    static const char *const keep[] = {"keep=last+best", "keep=last+best+every:1",
                                       "keep=last+best+every:2", "keep=last+best+all"};
    static const char *const mode[] = {"mode=data-parallel", "mode=ensemble"};
    static const char *const devices[] = {"devices=1", "devices=2"};
    static const char *const valid[] = {"valid=0", "valid=16"};
    static const char *const epochs[] = {"epochs=2", "epochs=4", "epochs=6"};

    kit_spec(&s->kit, &s->spec, keep[dice_below(&s->dice, 4)], valid[dice_below(&s->dice, 2)],
             epochs[dice_below(&s->dice, 3)], mode[dice_below(&s->dice, 2)],
             devices[dice_below(&s->dice, 2)], NULL);
}

static inline void story_mark(struct story *s, const char *folder)
{
    struct err e;

    if (s->tagged || dice_percent(&s->dice, 60))
        return;
    if (record_edit(folder, "tag +paper", &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    s->tagged = disk_now();
}

static inline void story_remove(struct story *s, const char *folder)
{
    struct record_entry entry;
    char *to = NULL;
    struct err e;

    if (record_read_entry(folder, &entry, &e) != ERR_OK || record_remove(&entry, &to, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    s->removed = disk_now();
    record_free_entry(&entry);
    free(to);
}

/* The run is stopped up to three times, with a checkpoint or without one, resumed, and perhaps extended or removed. folder: of a run that is there
 * already, or NULL. */
static inline void story_run(struct story *s, char *folder)
{
    static const enum wire_wish how[] = {WIRE_WISH_STOP_NOW, WIRE_WISH_STOP, WIRE_WISH_STOP_EPOCH};
    struct kit *k = &s->kit;
    struct wire_status status = {0};
    int64_t steps = s->spec.epochs * ((96 - s->spec.valid) / s->spec.batch);
    size_t stops = dice_below(&s->dice, 4);
    int64_t at = 0;

    if (folder && story_done(folder))
        status.state = WIRE_DONE;
    kit_engine(k, 4096, 0);
    for (size_t i = 0; i <= stops && status.state != WIRE_DONE; i++) {
        uint32_t number = k->runs + 1;

        at += 1 + (int64_t)dice_below(&s->dice, (size_t)steps / 2);
        if (i < stops && at < steps)
            story_stop_at(k, number, at, how[dice_below(&s->dice, 3)]);
        number = folder ? kit_resume(k, folder, 0) : kit_start(k, &s->spec);
        kit_wait(k, number, &status);
        atomic_store(&kit_at, -1);
        if (!folder)
            folder = mem_text(status.path);
        story_mark(s, folder);
        if (dice_percent(&s->dice, 30)) { /* another process */
            kit_quit(k);
            kit_engine(k, 4096, 0);
        }
    }
    if (s->more && story_done(folder) == s->spec.epochs)
        kit_wait(k, kit_resume(k, folder, s->spec.epochs + s->more), &status);
    kit_quit(k);
    if (dice_percent(&s->dice, 15))
        story_remove(s, folder);
    free(folder);
}

/* ---- a sweep ---- */

static inline void story_sweep(struct story *s)
{
    struct wire_sweep_status status;
    struct wish wish = {.grid = true, .jobs = s->jobs};

    kit_engine(&s->kit, 4096, 0);
    if (dice_percent(&s->dice, 50)) {
        story_stop_at(&s->kit, s->kit.runs + 1, 1 + (int64_t)dice_below(&s->dice, 11),
                      WIRE_WISH_STOP_NOW);
        run_sweep(&s->kit, s->keys, wish, &status);
        atomic_store(&kit_at, -1);
    }
    run_sweep(&s->kit, s->keys, wish, &status);
    kit_quit(&s->kit);
}

/* ---- a queue ---- */

static inline bool story_wait_empty(struct kit *k, int64_t taken)
{
    uint64_t until = clock_ns() + KIT_WAIT_MS * 1000000ull;
    struct wire_queue q = {0};
    struct wire_event event;

    do {
        while (wire_take(k->wire, &event))
            kit_hear(k, &event);
        wire_queue(k->wire, &q);
        clock_sleep_ms(1);
    } while ((q.state != WIRE_QUEUE_EMPTY || q.taken < taken) && clock_ns() < until);
    if (q.state != WIRE_QUEUE_EMPTY)
        TEST_FAILED("the queue is not empty: %s", q.reason);
    return q.state == WIRE_QUEUE_EMPTY;
}

static inline void story_add(struct story *s, int i)
{
    struct text t = {0};
    struct err e;

    snprintf(s->spec.name, sizeof s->spec.name, "item%d", i);
    spec_write(&s->spec, &t);
    if (record_queue_add(s->kit.results, text_str(&t), s->spec.name, NULL, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    s->item[i] = t.s;
    s->added[i] = disk_now();
}

static inline void story_move(struct story *s)
{
    struct record_queued *list;
    size_t n;
    struct err e;

    if (record_queue_list(s->kit.results, &list, &n, &e) != ERR_OK)
        return;
    if (n && record_queue_move(s->kit.results, &list[dice_below(&s->dice, n)],
                               (int64_t)dice_below(&s->dice, 5) - 2, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
    record_queue_free(list, n);
}

static inline void story_queue(struct story *s)
{
    for (int i = 0; i < STORY_ITEMS; i++) {
        story_add(s, i);
        story_move(s);
    }
    s->kit.queue = true;
    kit_engine(&s->kit, 4096, 0);
    story_wait_empty(&s->kit, STORY_ITEMS);
    kit_quit(&s->kit);
}

/* ---- all of it ---- */

static inline void story_whole(struct story *s)
{
    struct kit k = story_elsewhere(s, s->whole);
    struct wire_status status;
    struct wire_sweep_status sweep;

    k.queue = false;
    kit_engine(&k, 4096, 0);
    if (s->kind == STORY_SWEEP) {
        run_sweep(&k, s->keys, (struct wish){.grid = true, .jobs = s->jobs}, &sweep);
        s->cells = (size_t)sweep.cells;
    } else {
        s->spec.epochs += s->more;
        kit_run(&k, &s->spec, &status);
        s->spec.epochs -= s->more;
    }
    kit_quit(&k);
}

/* Power is cut, and then the story is that of who goes on from there. */
static inline void story_again(struct story *s, const char *root)
{
    struct disk before = s->disk;
    struct disk_view left = outage_cut(&before, 1 + dice_below(&s->dice, before.ops), &s->dice);

    kit_empty(root);
    outage_forget();
    outage_make(&before, &left, root);
    outage_forget();
    disk_free_view(&left, before.nodes);
    disk_free(&before);
    s->tagged = s->removed = 0;
    disk_begin(&s->disk, root);
    if (s->kind == STORY_RUN)
        story_run(s, story_first_run(s->kit.results));
    else
        story_sweep(s);
    disk_end();
}

static inline void story_begin(struct story *s, enum story_kind kind, struct dice dice)
{
    static const char *const keys[] = {"lr = 0.1, 0.2, 0.3\n", "batch = 8, 16\nlr = 0.1, 0.2\n",
                                       "seed = 1, 2\nkeep = last+best+every:1\n"};
    char *root;

    *s = (struct story){.kind = kind, .dice = dice};
    kit_folder(&s->kit);
    root = io_path(s->kit.folder, "disk");
    (void)mkdir(root, 0777);
    free(s->kit.results);
    s->kit.results = io_path(root, "results");
    s->whole = io_path(s->kit.folder, "whole");
    s->keys = mem_text(keys[dice_below(&s->dice, 3)]);
    s->jobs = (int)dice_below(&s->dice, 3);
    s->more = kind == STORY_RUN && dice_percent(&s->dice, 30) ? 2 : 0;
    story_choose(s);
    story_whole(s);
    disk_begin(&s->disk, root);
    if (kind == STORY_RUN)
        story_run(s, NULL);
    else if (kind == STORY_SWEEP)
        story_sweep(s);
    else
        story_queue(s);
    disk_end();
    if (kind != STORY_QUEUE && dice_percent(&s->dice, 50))
        story_again(s, root);
    free(root);
}

static inline void story_end(struct story *s)
{
    disk_free(&s->disk);
    for (int i = 0; i < STORY_ITEMS; i++)
        free(s->item[i]);
    free(s->whole);
    free(s->keys);
    kit_end(&s->kit);
}

#endif
