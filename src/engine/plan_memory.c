/* engine/plan_memory.c: whether a session that computes on the CPU has room in this machine's memory, said
 * before any of it is taken. Of GPUs the backend itself knows. */
#include "engine/plan.h"

#include "base/io.h"
#include "base/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "MemTotal:       24657540 kB": what it says in bytes, 0 where it says nothing. */
static size_t line_of(const char *text, const char *name)
{
    const char *line = strstr(text, name);
    unsigned long long kb = 0;

    if (!line || sscanf(line + strlen(name), " %llu kB", &kb) != 1)
        return 0;
    return (size_t)kb * 1024;
}

bool plan_machine(struct plan_memory *out)
{
    const char *path = getenv("CHORUS_MEMINFO");
    char text[4096];
    int fd = io.open(path ? path : "/proc/meminfo", O_RDONLY | O_CLOEXEC, 0);
    ssize_t n = -1;

    *out = (struct plan_memory){0};
    if (fd >= 0) {
        n = io.read(fd, text, sizeof text - 1);
        io.close(fd);
    }
    if (n < 0)
        return false;
    text[n] = '\0';
    out->all = line_of(text, "MemTotal:") + line_of(text, "SwapTotal:");
    out->unused = line_of(text, "MemAvailable:") + line_of(text, "SwapFree:");
    return out->all && out->unused;
}

#define LARGE_STATE ((size_t)16 << 20)
#define PROGRAM     ((size_t)13 << 20) /* code, libraries, threads, what is small */

size_t plan_state_bytes(const struct backend_plan *p)
{
    double vectors = 1 + backend_slots(p->optimizer);
    double all = ((double)p->net->parameter_count * vectors + (double)p->net->stat_count) *
                 p->members * (double)backend_element(p);

    return all < 1e18 ? (size_t)all : (size_t)1e18;
}

int plan_state_copies(const struct backend *b, const struct backend_plan *p)
{
    return !b->gpus && plan_state_bytes(p) > LARGE_STATE ? 1 : PLAN_STATE_COPIES;
}

/* Of a data set what a backend does not count, which counts the images that it works with. */
static size_t data_beside(const struct data_set *data)
{
    const struct net_shape *s = &data->shape;
    size_t images = data->train.count + data->valid.count + data->test.count;
    size_t counted = images * (size_t)s->h * (size_t)s->w * (size_t)s->c * data_element(data);

    return data->held > counted ? data->held - counted : 0;
}

/* What a process takes at most that trains so: the session, the copies of its state that checkpoints are
 * written from, its data, itself. */
static enum err_code wants(const struct backend *b, const struct backend_plan *p,
                           struct backend_estimate *out, struct err *e)
{
    double all;

    TRY(b->estimate(p, out, e));
    if (b->gpus)
        return ERR_OK;
    all = (double)out->bytes[0] + plan_state_copies(b, p) * (double)plan_state_bytes(p) + PROGRAM;
    if (p->data)
        all += (double)data_beside(p->data);
    out->bytes[0] = all < 1e18 ? (size_t)all : (size_t)1e18;
    return ERR_OK;
}

static bool fits(const struct backend *b, const struct backend_plan *p, size_t room)
{
    struct backend_estimate wanted = {0};

    return wants(b, p, &wanted, NULL) == ERR_OK && wanted.bytes[0] <= room;
}

/* The most members that fit: at least as many as devices, fewer than there are; 0: none. */
static int members_within(const struct backend *b, struct backend_plan p, size_t room)
{
    int least = p.devices, above = p.members, best = 0;

    while (p.mode == SPEC_ENSEMBLE && least < above) {
        p.members = least + (above - least) / 2;
        if (fits(b, &p, room)) {
            best = p.members;
            least = p.members + 1;
        } else {
            above = p.members;
        }
    }
    return best;
}

static size_t batch_within(const struct backend *b, struct backend_plan p, size_t room)
{
    size_t step = p.mode == SPEC_ENSEMBLE ? 1 : (size_t)p.devices;

    for (size_t batch = p.batch / 2; batch >= step; batch /= 2) {
        p.batch = batch - batch % step;
        if (fits(b, &p, room))
            return p.batch;
    }
    return 0;
}

/* Where no batch helps: each thread has buffers of its own. 0: fewer of them do not help either. */
static int threads_within(const struct backend *b, struct backend_plan p, size_t room)
{
    while ((p.threads /= 2) >= 1)
        if (fits(b, &p, room))
            return p.threads;
    return 0;
}

static void say_lacking(const struct backend *b, const struct backend_plan *p, size_t room,
                        struct backend_estimate *out)
{
    char want[TEXT_NUMBER_ROOM], have[TEXT_NUMBER_ROOM], next[64], many[32] = "";
    int members = members_within(b, *p, room);
    size_t batch = members ? 0 : batch_within(b, *p, room);
    int threads = members || batch ? 0 : threads_within(b, *p, room);

    if (members)
        snprintf(next, sizeof next, "members=%d would fit", members);
    else if (batch)
        snprintf(next, sizeof next, "batch=%zu would fit", batch);
    else if (threads)
        snprintf(next, sizeof next, "threads=%d would fit", threads);
    else
        snprintf(next, sizeof next, "no smaller batch would fit, a smaller model may");
    if (p->members > 1)
        snprintf(many, sizeof many, "%d models of ", p->members);
    snprintf(
        out->lacking, sizeof out->lacking,
        "%s%.60s with batch %zu take%s %s of memory, with a copy for checkpoints, and %s %s: %s",
        many, p->net->name, p->batch, p->members > 1 ? "" : "s", text_bytes(want, out->bytes[0]),
        out->never ? "the machine has" : "now there are free", text_bytes(have, room), next);
}

enum err_code plan_want(const struct plan *plan, struct backend_estimate *out, struct err *e)
{
    *out = (struct backend_estimate){0};
    return wants(plan->backend, &plan->session, out, e);
}

void plan_compare_memory(const struct plan *plan, const struct plan_memory *machine,
                         struct backend_estimate *out)
{
    const struct backend *b = plan->backend;

    if (b->gpus || !machine->all || out->bytes[0] <= machine->unused)
        return;
    out->unused = machine->unused;
    out->never = out->bytes[0] > machine->all;
    say_lacking(b, &plan->session, out->never ? machine->all : machine->unused, out);
}

enum err_code plan_estimate(const struct plan *plan, struct backend_estimate *out, struct err *e)
{
    struct plan_memory here;

    TRY(plan_want(plan, out, e));
    if (!plan->backend->gpus && plan_machine(&here))
        plan_compare_memory(plan, &here, out);
    return ERR_OK;
}

enum err_code plan_check_memory(struct plan *p, struct err *e)
{
    struct backend_estimate estimate;

    if (p->backend->gpus || plan_estimate(p, &estimate, NULL) != ERR_OK)
        return ERR_OK;
    if (estimate.never)
        return err_set(e, ERR_NOMEM, "%s", estimate.lacking);
    memcpy(p->lacking, estimate.lacking, sizeof p->lacking);
    return ERR_OK;
}
