#include "wire/wire.h"
#include "base/mem.h"
#include "base/system/trace.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define COMMANDS 64
#define SLOTS    1024

struct slot {
    void *bytes; /* NULL: free */
    size_t n;
};

struct sweep {
    struct wire_sweep_status status;
    struct wire_cell *cell; /* (cells) by their numbers */
    size_t cells, room;
};

/* Everything is guarded by the one lock: a post is some tens of nanoseconds, and the engine makes
 * at most some hundreds of events a second. Nothing slow is ever done under it. */
struct wire {
    pthread_mutex_t lock;

    struct wire_event *ring; /* (room) */
    size_t room, first, count;
    uint32_t serial;
    uint64_t missed;
    int fd; /* an eventfd, not 0 exactly while count > 0 */

    struct wire_command command[COMMANDS];
    size_t first_command, commands;
    bool poked;
    pthread_cond_t wake; /* of whoever waits in wire_next_command */

    struct wire_status *status;
    size_t statuses, status_room;
    struct sweep *sweep;
    size_t sweeps, sweep_room;
    struct wire_queue queue;

    struct slot slot[SLOTS]; /* number n lies at n - 1 */
    size_t next_slot; /* where the search for a free one starts, so that numbers rest a while */
};

struct wire *wire_new(size_t events)
{
    struct wire *w = mem_new(1, sizeof *w);
    pthread_condattr_t attr;

    w->room = events ? events : 1;
    w->ring = mem_new(w->room, sizeof *w->ring);
    w->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &attr);
    pthread_condattr_destroy(&attr);
    return w;
}

void wire_free(struct wire *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        free(w->slot[i].bytes);
    if (w->fd >= 0)
        close(w->fd);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    for (size_t i = 0; i < w->sweeps; i++)
        free(w->sweep[i].cell);
    free(w->sweep);
    free(w->status);
    free(w->ring);
    free(w);
}

static void slot_drop(struct wire *w, uint32_t slot)
{
    if (slot == 0 || slot > SLOTS)
        return;
    free(w->slot[slot - 1].bytes);
    w->slot[slot - 1] = (struct slot){0};
}

/* Neither can fail: a counter of 0 has room for 1, and one that is not 0 can be read. */
static void set_fd(struct wire *w, bool readable)
{
    uint64_t value = 1;
    ssize_t n = readable ? write(w->fd, &value, sizeof value) : read(w->fd, &value, sizeof value);

    (void)n;
}

void wire_post(struct wire *w, const struct wire_event *event)
{
    TRACE(WIRE, 2, "event %d of run %u", (int)event->kind, (unsigned)event->run);
    pthread_mutex_lock(&w->lock);
    w->serial++;
    if (w->count == w->room) {
        w->missed++;
        slot_drop(w, event->slot); /* nobody will ever ask for it */
    } else {
        struct wire_event *to = &w->ring[(w->first + w->count++) % w->room];
        *to = *event;
        to->serial = w->serial;
        if (w->count == 1)
            set_fd(w, true);
    }
    pthread_mutex_unlock(&w->lock);
}

int wire_fd(struct wire *w)
{
    return w->fd;
}

bool wire_take(struct wire *w, struct wire_event *event)
{
    bool any;

    pthread_mutex_lock(&w->lock);
    any = w->count > 0;
    if (any) {
        *event = w->ring[w->first];
        w->first = (w->first + 1) % w->room;
        w->count--;
        if (w->count == 0)
            set_fd(w, false);
    }
    pthread_mutex_unlock(&w->lock);
    return any;
}

uint64_t wire_missed(struct wire *w)
{
    uint64_t missed;

    pthread_mutex_lock(&w->lock);
    missed = w->missed;
    w->missed = 0;
    pthread_mutex_unlock(&w->lock);
    return missed;
}

void wire_set_status(struct wire *w, const struct wire_status *status)
{
    size_t i;

    pthread_mutex_lock(&w->lock);
    for (i = 0; i < w->statuses; i++)
        if (w->status[i].run == status->run)
            break;
    if (i == w->statuses) {
        w->status = mem_grow(w->status, &w->status_room, i + 1, sizeof *w->status);
        w->statuses++;
    }
    w->status[i] = *status;
    pthread_mutex_unlock(&w->lock);
}

bool wire_status(struct wire *w, uint32_t run, struct wire_status *out)
{
    bool found = false;

    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->statuses && !found; i++)
        if (w->status[i].run == run) {
            *out = w->status[i];
            found = true;
        }
    pthread_mutex_unlock(&w->lock);
    return found;
}

struct wire_status *wire_statuses(struct wire *w, size_t *n)
{
    struct wire_status *list;

    *n = 0;
    if (!w)
        return NULL;
    pthread_mutex_lock(&w->lock);
    list = mem_new(w->statuses + 1, sizeof *list);
    for (; *n < w->statuses; ++*n)
        list[*n] = w->status[*n];
    pthread_mutex_unlock(&w->lock);
    return list;
}

void wire_drop_status(struct wire *w, uint32_t run)
{
    size_t i = 0;

    pthread_mutex_lock(&w->lock);
    while (i < w->statuses && w->status[i].run != run)
        i++;
    if (i < w->statuses) {
        w->statuses--;
        memmove(&w->status[i], &w->status[i + 1], (w->statuses - i) * sizeof *w->status);
    }
    pthread_mutex_unlock(&w->lock);
}

static struct sweep *find_sweep(struct wire *w, uint32_t number)
{
    for (size_t i = 0; i < w->sweeps; i++)
        if (w->sweep[i].status.sweep == number)
            return &w->sweep[i];
    return NULL;
}

static struct sweep *have_sweep(struct wire *w, uint32_t number)
{
    struct sweep *s = find_sweep(w, number);

    if (!s) {
        w->sweep = mem_grow(w->sweep, &w->sweep_room, w->sweeps + 1, sizeof *w->sweep);
        s = &w->sweep[w->sweeps++];
        *s = (struct sweep){.status.sweep = number};
    }
    return s;
}

void wire_set_sweep(struct wire *w, const struct wire_sweep_status *status)
{
    pthread_mutex_lock(&w->lock);
    have_sweep(w, status->sweep)->status = *status;
    pthread_mutex_unlock(&w->lock);
}

void wire_set_cell(struct wire *w, uint32_t sweep, const struct wire_cell *cell)
{
    struct sweep *s;

    pthread_mutex_lock(&w->lock);
    s = have_sweep(w, sweep);
    s->cell = mem_grow(s->cell, &s->room, (size_t)cell->cell + 1, sizeof *s->cell);
    for (; s->cells <= cell->cell; s->cells++)
        s->cell[s->cells] = (struct wire_cell){.cell = (uint32_t)s->cells};
    s->cell[cell->cell] = *cell;
    pthread_mutex_unlock(&w->lock);
}

bool wire_sweep_status(struct wire *w, uint32_t sweep, struct wire_sweep_status *out)
{
    struct sweep *s;

    pthread_mutex_lock(&w->lock);
    s = find_sweep(w, sweep);
    if (s)
        *out = s->status;
    pthread_mutex_unlock(&w->lock);
    return s != NULL;
}

struct wire_sweep_status *wire_sweeps(struct wire *w, size_t *n)
{
    struct wire_sweep_status *list;

    *n = 0;
    if (!w)
        return NULL;
    pthread_mutex_lock(&w->lock);
    list = mem_new(w->sweeps + 1, sizeof *list);
    for (; *n < w->sweeps; ++*n)
        list[*n] = w->sweep[*n].status;
    pthread_mutex_unlock(&w->lock);
    return list;
}

size_t wire_cells(struct wire *w, uint32_t sweep, struct wire_cell *out, size_t room)
{
    struct sweep *s;
    size_t n = 0;

    pthread_mutex_lock(&w->lock);
    s = find_sweep(w, sweep);
    if (s) {
        n = s->cells;
        if (n && room)
            memcpy(out, s->cell, (n < room ? n : room) * sizeof *out);
    }
    pthread_mutex_unlock(&w->lock);
    return n;
}

void wire_set_queue(struct wire *w, const struct wire_queue *queue)
{
    pthread_mutex_lock(&w->lock);
    w->queue = *queue;
    pthread_mutex_unlock(&w->lock);
}

void wire_queue(struct wire *w, struct wire_queue *out)
{
    pthread_mutex_lock(&w->lock);
    *out = w->queue;
    pthread_mutex_unlock(&w->lock);
}

bool wire_send(struct wire *w, const struct wire_command *command)
{
    bool sent;

    pthread_mutex_lock(&w->lock);
    sent = w->commands < COMMANDS;
    if (sent) {
        w->command[(w->first_command + w->commands++) % COMMANDS] = *command;
        pthread_cond_broadcast(&w->wake);
    }
    pthread_mutex_unlock(&w->lock);
    TRACE(WIRE, 1, "command %d to run %u%s", (int)command->kind, (unsigned)command->run,
          sent ? "" : ", for which there is no room");
    return sent;
}

void wire_poke(struct wire *w)
{
    pthread_mutex_lock(&w->lock);
    w->poked = true;
    pthread_cond_broadcast(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

bool wire_next_command(struct wire *w, struct wire_command *command, int timeout_ms)
{
    struct timespec until;
    bool got;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += timeout_ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    pthread_mutex_lock(&w->lock);
    while (w->commands == 0 && !w->poked && timeout_ms > 0)
        if (pthread_cond_timedwait(&w->wake, &w->lock, &until) == ETIMEDOUT)
            break;
    w->poked = false;
    got = w->commands > 0;
    if (got) {
        *command = w->command[w->first_command];
        w->first_command = (w->first_command + 1) % COMMANDS;
        w->commands--;
    }
    pthread_mutex_unlock(&w->lock);
    return got;
}

uint32_t wire_slot_put(struct wire *w, const void *bytes, size_t n)
{
    void *copy = mem_new(n ? n : 1, 1);
    uint32_t number = 0;

    if (n)
        memcpy(copy, bytes, n);
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < SLOTS && !number; i++) {
        size_t at = (w->next_slot + i) % SLOTS;
        if (!w->slot[at].bytes) {
            w->slot[at] = (struct slot){copy, n};
            w->next_slot = at + 1;
            number = (uint32_t)at + 1;
        }
    }
    pthread_mutex_unlock(&w->lock);
    if (!number)
        free(copy);
    return number;
}

void *wire_slot_take(struct wire *w, uint32_t slot, size_t *n)
{
    void *bytes = NULL;

    if (slot == 0 || slot > SLOTS)
        return NULL;
    pthread_mutex_lock(&w->lock);
    bytes = w->slot[slot - 1].bytes;
    if (n)
        *n = bytes ? w->slot[slot - 1].n : 0;
    w->slot[slot - 1] = (struct slot){0};
    pthread_mutex_unlock(&w->lock);
    return bytes;
}

bool wire_send_with(struct wire *w, struct wire_command command, const void *bytes, size_t n)
{
    command.slot = wire_slot_put(w, bytes, n);
    if (command.slot && wire_send(w, &command))
        return true;
    free(wire_slot_take(w, command.slot, NULL));
    return false;
}

static const char *const state_names[] = {
    [WIRE_WAITING] = "waiting", [WIRE_RUNNING] = "running", [WIRE_PAUSED] = "paused",
    [WIRE_STOPPED] = "stopped", [WIRE_DONE] = "done",       [WIRE_DIVERGED] = "diverged",
    [WIRE_OOM] = "oom",         [WIRE_FAILED] = "failed",   [WIRE_SKIPPED] = "skipped",
};

const char *wire_state_name(enum wire_state state)
{
    return (size_t)state < MEM_COUNT(state_names) ? state_names[state] : "unknown";
}

const char *wire_state_words(enum wire_state state)
{
    return state == WIRE_OOM ? "out of memory" : wire_state_name(state);
}

bool wire_state_find(const char *name, enum wire_state *state)
{
    for (size_t i = 0; i < MEM_COUNT(state_names); i++)
        if (!strcmp(name, state_names[i])) {
            *state = (enum wire_state)i;
            return true;
        }
    return false;
}

bool wire_state_ended(enum wire_state state)
{
    return state >= WIRE_STOPPED;
}

bool wire_state_is_final(enum wire_state state)
{
    return state >= WIRE_DONE;
}

bool wire_state_is_bad(enum wire_state state)
{
    return state == WIRE_DIVERGED || state == WIRE_OOM || state == WIRE_FAILED;
}
