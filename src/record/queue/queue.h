/* record/queue/queue.h: results/queue/: experiments that wait for their turn, one file each, "0003-lenet.ini",
 * the lowest number first. Many programs at a time may add, move and remove; what a file says is never
 * changed, and at any moment each waiting experiment stands under exactly one name. A listing takes
 * no longer than reading the files; a change waits for the disk. */
#ifndef CHORUS_RECORD_QUEUE_QUEUE_H
#define CHORUS_RECORD_QUEUE_QUEUE_H

#include "base/err.h"
#include "base/text.h"
#include "record/run/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_queued {
    char *file;     /* "0003-lenet.ini" */
    int64_t number; /* 3; 0: a file that somebody named without one, behind the others */
    char *name;     /* "lenet" */
    uint64_t id;    /* stays through moves; another file of the same name has another */
    char *text;     /* of the experiment, n bytes and a 0; NULL: broken, or not read */
    size_t n;
    bool broken;
    char problem[512]; /* why it is broken */
};
void record_queue_free_item(struct record_queued *item);
/* Number, name and file of "0003-lenet.ini"; false: the file is no part of the queue. */
bool record_queue_take_name(const char *file, struct record_queued *item);
void record_queue_free(struct record_queued *list, size_t count);

/* In their order. A folder that is not there is an empty queue. */
enum err_code record_queue_list(const char *results, struct record_queued **out, size_t *count,
                                struct err *e) MUST_USE;
/* The first one alone is read. found: there is one; count: how many there are. An error where the machine cannot read
 * it now: then it is not taken for broken. */
enum err_code record_queue_first(const char *results, struct record_queued *out, bool *found,
                                 size_t *count, struct err *e) MUST_USE;

/* Behind the last one. name: cleaned as those of run folders; of a sweep the sweep's, unless the text
 * has options that name it. out (may be NULL): what was added. */
enum err_code record_queue_add(const char *results, const char *ini, const char *name,
                               struct record_queued *out, struct err *e) MUST_USE;
/* By so many places later, or (below 0) earlier; past an end: to that end. ERR_INPUT: it is not in the
 * queue any more. */
enum err_code record_queue_move(const char *results, const struct record_queued *item, int64_t by,
                                struct err *e) MUST_USE;
enum err_code record_queue_remove(const char *results, const struct record_queued *item,
                                  struct err *e) MUST_USE;
/* Out of the way as "0003-lenet.ini.bad", beside the queue and no part of it. */
enum err_code record_queue_reject(const char *results, const struct record_queued *item,
                                  struct err *e) MUST_USE;
/* Path of the item's file; the caller frees it. */
char *record_queue_path(const char *results, const struct record_queued *item);

/* "lr=0.1 epochs=3": of each the keys in which others of its name have other values; "" where none does,
 * and where very many wait. */
char **record_queue_labels(const struct record_queued *list, size_t count);
void record_queue_free_labels(char **label, size_t count);

/* The right to take from the queue, for one process: held until it is given back or the process ends.
 * ERR_FAILED: another one has it; *owner (may be NULL) is its process id where that is known, else 0. */
enum err_code record_queue_own(const char *results, int *fd, int64_t *owner,
                               struct err *e) MUST_USE;
void record_queue_release(int fd);
/* The process that takes from the queue now; 0: none, or unknown. */
int64_t record_queue_owner(const char *results);

/* An item is begun once, through kills too: whoever takes it, by that right, notes its id first, makes its
 * run with the line of add_origin in front of the experiment, and then removes the item. An item of the noted
 * id that still waits may have its run already: find_run, which reads the experiments of all runs. */
enum err_code record_queue_set_taken(const char *results, uint64_t id, struct err *e) MUST_USE;
uint64_t record_queue_taken(const char *results); /* 0: none */
void record_queue_add_origin(struct text *out, uint64_t id);
enum err_code record_queue_find_run(const char *results, uint64_t id, struct record_entry *out,
                                    bool *found, struct err *e) MUST_USE;

/* Whether the folder may have changed: another number. Costs one stat. For two seconds behind a change
 * every call gives another one, since times of files are coarse. 0: there is no queue. */
uint64_t record_queue_stamp(const char *results);

/* What an experiment has no keys for: its first line, "# options: --name board --order grid". */
struct record_queue_options {
    char name[128];   /* of a sweep; empty: the item's */
    char resume[256]; /* name of a run that goes on, to the item's epochs; empty: it is a new one */
    bool grid, failed;
    bool alone;              /* its turn comes when no other chorus of this user computes on this
                                machine, whatever folder its results are in */
    int64_t max_cells, jobs; /* 0: not given */
};
void record_queue_add_options(struct text *out, const struct record_queue_options *options);
/* Text without such a line has no options. */
enum err_code record_queue_read_options(const char *text, struct record_queue_options *options,
                                        struct err *e) MUST_USE;

#endif
