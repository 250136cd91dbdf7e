/* tests/twin/emu.cpp: kernels on the processor. Every CUDA thread of a block is a fiber; the blocks run
 * one after another. A thread runs until it waits for others: at a barrier of the block, or where a
 * warp works together, whose last lane to come does the work for all 32. A thread that never waits
 * runs to its end, and its fiber takes the next thread without a switch.
 *
 * What CUDA leaves open is drawn at random: the order of blocks, which warp runs next and how far
 * ahead of the others, in what order its lanes come. Shared memory holds NaN at a block's start, and
 * the target of an asynchronous copy does until a wait lands it. */
#include "tests/twin/emu.h"

#include "tests/twin/emu_int.h"
#include "tests/twin/fiber.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

#define THREADS 1024
#define WARPS   (THREADS / 32)
#define FENCE   256 /* bytes behind shared memory that nobody may write */

__thread struct emu_place emu_at;

namespace
{

struct copy {
    void *to;
    const void *from;
    int bytes, size;
};

struct cuda_thread {
    fiber *on; /* NULL: not begun */
    emu_meeting *at;
    std::vector<copy> copies;    /* not landed yet */
    std::vector<size_t> commits; /* how many of them each group ends at */
};

struct warp {
    uint32_t exists, ready, at_work, at_barrier, done;
    unsigned turn;
};

struct machine { /* of an OS thread */
    const emu_launch *launch;
    fiber_place home;
    fiber *all[THREADS];
    int fibers;
    fiber *idle[THREADS];
    int idles;
    cuda_thread thread[THREADS];
    warp w[WARPS];
    int warps, threads, waiting, done; /* waiting: at the barrier */
    uint32_t warps_ready;
    int now; /* the thread that runs */
    uint64_t random;
    bool failed;
    char report[512];
};

/* A machine lives as long as its OS thread. */
pthread_key_t machine_key;
pthread_once_t machine_once = PTHREAD_ONCE_INIT;
__thread machine *m;

uint32_t draw(void)
{
    uint64_t x = m->random;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    m->random = x;
    return (uint32_t)(x >> 29);
}

void run_threads(void);

void fiber_entry(void)
{
    fiber_began();
    run_threads();
    abort();
}

fiber *fiber_take(void)
{
    if (m->idles)
        return m->idle[--m->idles];
    return m->all[m->fibers++] = fiber_open(fiber_entry);
}

void machine_close(void *p)
{
    machine *gone = (machine *)p;

    for (int i = 0; i < gone->fibers; i++)
        fiber_close(gone->all[i]);
    delete gone;
}

void machine_open(void)
{
    pthread_key_create(&machine_key, machine_close);
}

/* ---- what goes wrong ---- */

/* Leaves the kernel where it is: no thread of it runs again. */
__attribute__((format(printf, 1, 2), noreturn)) void fail(const char *fmt, ...)
{
    va_list ap;
    char what[400];

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    snprintf(m->report, sizeof m->report, "%s: block (%u, %u, %u): %s", m->launch->kernel->name,
             emu_at.block.x, emu_at.block.y, emu_at.block.z, what);
    m->failed = true;
    fiber_place here = {};
    fiber_change(&here, &m->home);
    abort();
}

const char *const kind_name[] = {"dev_sync_warp", "a shuffle",     "dev_any",        "dev_mma_tf32",
                                 "dev_mma_bf16",  "dev_ldmatrix4", "dev_ldmatrix4_t"};

__attribute__((noreturn)) void fail_stuck(void)
{
    int at_work = 0, lane = -1;

    for (int i = 0; i < m->warps; i++) {
        at_work += __builtin_popcount(m->w[i].at_work);
        if (lane < 0 && m->w[i].at_work)
            lane = i * 32 + __builtin_ctz(m->w[i].at_work);
    }
    if (lane >= 0)
        fail(
            "stuck: %d of %d threads wait at a barrier, %d have returned, and %d wait for their warp "
            "(thread %d at %s, where only %d of 32 lanes came)",
            m->waiting, m->threads, m->done, at_work, lane, kind_name[m->thread[lane].at->kind],
            __builtin_popcount(m->w[lane / 32].at_work));
    fail("stuck: %d of %d threads wait at a barrier, and %d have returned", m->waiting, m->threads,
         m->done);
}

/* ---- who runs next ---- */

void make_ready(int i, uint32_t lanes)
{
    m->w[i].ready |= lanes;
    if (m->w[i].ready)
        m->warps_ready |= 1u << i;
}

int turned(uint32_t mask, unsigned by) /* the first bit at or behind `by`, around */
{
    uint32_t behind = mask >> by << by;

    return __builtin_ctz(behind ? behind : mask);
}

int any_of(uint32_t mask)
{
    for (uint32_t skip = draw() % (uint32_t)__builtin_popcount(mask); skip; skip--)
        mask &= mask - 1;
    return __builtin_ctz(mask);
}

/* The next thread to run, taken from the ready ones: of the same warp while it has any. -1: none. */
int take_next(int of_warp)
{
    int lane;

    if (of_warp < 0 || !m->w[of_warp].ready) {
        if (!m->warps_ready)
            return -1;
        of_warp = any_of(m->warps_ready);
    }
    lane = turned(m->w[of_warp].ready, m->w[of_warp].turn);
    m->w[of_warp].ready &= ~(1u << lane);
    if (!m->w[of_warp].ready)
        m->warps_ready &= ~(1u << of_warp);
    return of_warp * 32 + lane;
}

void become(int thread)
{
    m->now = thread;
    emu_at.thread.x = (unsigned)thread;
}

/* Switches from the fiber of thread `self` to thread `next`. */
void go_to(fiber_place *self, int next)
{
    cuda_thread *t = &m->thread[next];

    if (!t->on)
        t->on = fiber_take();
    become(next);
    fiber_change(self, &t->on->at);
}

/* The running thread waits, or lets others go first where it is ready itself. */
void step_aside(int of_warp)
{
    int self = m->now, next = take_next(of_warp);

    if (next < 0)
        fail_stuck();
    if (next != self)
        go_to(&m->thread[self].on->at, next);
}

/* The life of a fiber: thread after thread, while there are any that have not begun. */
void run_threads(void)
{
    for (;;) {
        int self = m->now, next;
        fiber *mine = m->thread[self].on;

        ((void (*)(const void *))m->launch->kernel->entry)(m->launch->args);
        m->thread[self].on = NULL;
        m->thread[self].copies.clear();
        m->thread[self].commits.clear();
        m->w[self / 32].done |= 1u << (self & 31);
        m->done++;
        next = take_next(self / 32);
        if (next < 0 && m->done < m->threads)
            fail_stuck();
        if (next >= 0 && !m->thread[next].on) {
            m->thread[next].on = mine;
            become(next);
            continue;
        }
        m->idle[m->idles++] = mine;
        if (next < 0)
            fiber_change(&mine->at, &m->home);
        else
            go_to(&mine->at, next);
    }
}

/* ---- work of a warp ---- */

void work(int of_warp)
{
    emu_meeting *of[32];

    for (int l = 0; l < 32; l++) {
        of[l] = m->thread[of_warp * 32 + l].at;
        if (of[l]->kind != of[0]->kind)
            fail("warp %d diverged: lane 0 is at %s, lane %d at %s", of_warp,
                 kind_name[of[0]->kind], l, kind_name[of[l]->kind]);
    }
    emu_work(of);
}

void meet(emu_meeting *mine)
{
    int self = m->now, of_warp = self / 32;
    warp *w = &m->w[of_warp];
    uint32_t bit = 1u << (self & 31);

    m->thread[self].at = mine;
    w->at_work |= bit;
    if (w->at_work != 0xffffffffu) {
        step_aside(of_warp);
        return;
    }
    work(of_warp);
    w->at_work = 0;
    w->turn = draw() & 31;
    make_ready(of_warp, 0xffffffffu & ~bit);
    if (draw() % 16 == 0) { /* now and then another warp goes on first */
        make_ready(of_warp, bit);
        step_aside(-1);
    }
}

bool in_shared(const void *p, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)p;

    return at >= emu_at.shared && at + bytes <= emu_at.shared + m->launch->shared;
}

/* ---- blocks ---- */

void run_block(const unsigned char *fence)
{
    int threads = (int)m->launch->block;

    m->threads = threads;
    m->warps = (threads + 31) / 32;
    m->waiting = m->done = 0;
    m->warps_ready = 0;
    for (int i = 0; i < m->warps; i++) {
        warp *w = &m->w[i];

        memset(w, 0, sizeof *w);
        w->exists = threads - i * 32 >= 32 ? 0xffffffffu : (1u << (threads - i * 32)) - 1;
        w->turn = draw() & 31;
        make_ready(i, w->exists);
    }
    go_to(&m->home, take_next(-1));
    if (!m->failed && fence)
        for (int i = 0; i < FENCE; i++)
            if (fence[i] != 0xc3) {
                snprintf(m->report, sizeof m->report,
                         "%s: block (%u, %u, %u): wrote %d bytes behind its %zu bytes of shared "
                         "memory",
                         m->launch->kernel->name, emu_at.block.x, emu_at.block.y, emu_at.block.z, i,
                         m->launch->shared);
                m->failed = true;
                break;
            }
}

/* After a failure fibers stand in the middle of the kernel: all begin anew. */
void forget_threads(void)
{
    m->idles = 0;
    for (int i = 0; i < m->fibers; i++) {
        fiber_lay(m->all[i]);
        m->idle[m->idles++] = m->all[i];
    }
    for (cuda_thread &t : m->thread) {
        t.on = NULL;
        t.copies.clear();
        t.commits.clear();
    }
}

uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t r = a % b;

        a = b;
        b = r;
    }
    return a;
}

} // namespace

void emu_sync(void)
{
    int self = m->now;

    m->w[self / 32].at_barrier |= 1u << (self & 31);
    if (++m->waiting == m->threads) {
        m->waiting = 0;
        for (int i = 0; i < m->warps; i++) {
            m->w[i].at_barrier = 0;
            m->w[i].turn = draw() & 31;
            make_ready(i, m->w[i].exists);
        }
        step_aside(-1);
    } else {
        step_aside(self / 32);
    }
}

void emu_sync_warp(void)
{
    emu_meeting mine = {};

    mine.kind = EMU_SYNC_WARP;
    meet(&mine);
}

uint64_t emu_shuffle(uint64_t v, int from)
{
    emu_meeting mine = {};

    mine.kind = EMU_SHFL;
    mine.value = v;
    mine.from = from;
    meet(&mine);
    return mine.value;
}

bool emu_any(bool v)
{
    emu_meeting mine = {};

    mine.kind = EMU_ANY;
    mine.value = v;
    meet(&mine);
    return mine.value != 0;
}

void emu_mma(enum emu_kind kind, float c[4], const uint32_t a[4], const uint32_t b[2])
{
    emu_meeting mine = {};

    mine.kind = kind;
    mine.c = c;
    mine.a = a;
    mine.b = b;
    if (kind == EMU_TF32)
        for (int i = 0; i < 6; i++) {
            uint32_t u = i < 4 ? a[i] : b[i - 4];

            if ((u & 0x1fffu) && (u & 0x7fffffffu) <= 0x7f800000u)
                fail("thread %d: dev_mma_tf32 was given %.9g, which dev_tf32 has not rounded",
                     m->now, (double)emu_float(u));
        }
    meet(&mine);
}

void emu_ldmatrix(enum emu_kind kind, uint32_t r[4], const void *row)
{
    emu_meeting mine = {};

    mine.kind = kind;
    mine.r = r;
    mine.row = row;
    if (!in_shared(row, 16) || ((uintptr_t)row & 15))
        fail("thread %d: dev_ldmatrix4 of a row that is %s", m->now,
             (uintptr_t)row & 15 ? "not aligned to 16 bytes" : "not in the block's shared memory");
    meet(&mine);
}

void emu_copy(void *to, const void *from, int bytes, int size)
{
    if (bytes < 0 || bytes > size)
        fail("thread %d: dev_copy%d of %d bytes", m->now, size, bytes);
    if (((uintptr_t)to | (bytes ? (uintptr_t)from : 0)) & (uintptr_t)(size - 1))
        fail("thread %d: dev_copy%d, not aligned to %d bytes", m->now, size, size);
    if (!in_shared(to, (size_t)size))
        fail("thread %d: dev_copy%d to what is not in the block's shared memory", m->now, size);
    memset(to, 0xff, (size_t)size);
    m->thread[m->now].copies.push_back({to, from, bytes, size});
}

void emu_commit(void)
{
    cuda_thread *t = &m->thread[m->now];

    t->commits.push_back(t->copies.size());
}

void emu_wait(int groups)
{
    cuda_thread *t = &m->thread[m->now];
    size_t over = t->commits.size() > (size_t)groups ? t->commits.size() - (size_t)groups : 0, n;

    if (!over)
        return;
    n = t->commits[over - 1];
    for (size_t i = 0; i < n; i++) {
        const copy &c = t->copies[i];

        if (c.bytes)
            memcpy(c.to, c.from, (size_t)c.bytes);
        memset((char *)c.to + c.bytes, 0, (size_t)(c.size - c.bytes));
    }
    t->copies.erase(t->copies.begin(), t->copies.begin() + (ptrdiff_t)n);
    t->commits.erase(t->commits.begin(), t->commits.begin() + (ptrdiff_t)over);
    for (size_t &end : t->commits)
        end -= n;
}

void emu_aligned(const void *p, unsigned bytes, const char *what)
{
    if ((uintptr_t)p % bytes)
        fail("thread %d: %s at an address not aligned to %u bytes", m->now, what, bytes);
}

bool emu_run(const struct emu_launch *l, char *report, size_t room)
{
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], step, at;
    size_t bytes = l->shared;
    unsigned char *shared = NULL, *fence = NULL;

    if (!m) {
        pthread_once(&machine_once, machine_open);
        m = new machine();
        pthread_setspecific(machine_key, m);
        fiber_home(&m->home);
    }
    if (bytes) {
#ifndef __SANITIZE_ADDRESS__ /* which puts a fence of its own */
        bytes += FENCE;
#endif
        if (posix_memalign((void **)&shared, 128, bytes)) {
            snprintf(report, room, "%s: no memory to emulate it", l->kernel->name);
            return false;
        }
        if (bytes > l->shared) {
            fence = shared + l->shared;
            memset(fence, 0xc3, FENCE);
        }
    }
#ifdef __SANITIZE_THREAD__
    m->home.tsan = __tsan_get_current_fiber();
#endif
    m->launch = l;
    m->random = l->seed * 0x9E3779B97F4A7C15u + 0x2545F4914F6CDD1Du;
    m->random = m->random ? m->random : 1;
    m->failed = false;
    emu_at.block_dim = {l->block, 1, 1};
    emu_at.grid = {l->grid[0], l->grid[1], l->grid[2]};
    emu_at.thread = {0, 0, 0};
    emu_at.shared = shared;
    at = draw() % blocks;
    step = 1 + draw() % blocks;
    while (common_divisor(step, blocks) != 1)
        step++;
    for (uint64_t i = 0; i < blocks && !m->failed; i++) {
        emu_at.block.x = (unsigned)(at % l->grid[0]);
        emu_at.block.y = (unsigned)(at / l->grid[0] % l->grid[1]);
        emu_at.block.z = (unsigned)(at / l->grid[0] / l->grid[1]);
        if (shared)
            memset(shared, 0xff, l->shared);
        run_block(fence);
        at = (at + step) % blocks;
    }
    free(shared);
    if (m->failed) {
        forget_threads();
        snprintf(report, room, "%s", m->report);
        return false;
    }
    return true;
}
