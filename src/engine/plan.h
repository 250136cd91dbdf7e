/* engine/plan.h: from an experiment as written to one that is resolved against its model, its data
 * and this machine: every number that a run needs, before anything is opened. */
#ifndef CHORUS_ENGINE_PLAN_H
#define CHORUS_ENGINE_PLAN_H

#include "engine/backend.h"

struct plan {         /* owns net and data; freed by plan_free */
    struct spec spec; /* resolved: it runs again as it stands */
    struct net *net;
    bool net_lent;         /* the source's: not freed */
    struct data_set *data; /* NULL where only peeked at: session.data is facts then */
    const struct backend *backend;
    struct backend_plan session;
    int64_t steps_per_epoch, dropped, batch_per_device;
    int64_t total_steps; /* T, epochs * steps_per_epoch */
    double base_lr;      /* after lr_rule */
    int real_devices;
    int64_t train_images, valid_images, test_images;
    char precision_used[16];
    char note
        [400]; /* what auto could not take, in a sentence; empty where there is nothing to say */
    char why[400];     /* auto: why it is this backend; empty where somebody named it */
    char lacking[300]; /* of plan_check_memory; "" */

    struct data_set facts;        /* of data_peek */
    int shared_gpu[SPEC_DEVICES]; /* of plan_share_gpus */
    int *member_device;           /* what session points to */
    struct rng_key *model_key;
};

/* open_data false: only facts are read (data_peek). Everything wrong is ERR_INPUT in one sentence;
 * `backend = cuda` without a device is ERR_FAILED. */
enum err_code plan_make(struct plan **out, const struct spec *spec,
                        const struct data_places *places, const struct backend *const *backends,
                        bool open_data, struct err *e) MUST_USE;
/* The same where someone says what is known of the data, and has nets: for those who remember. */
typedef enum err_code plan_peek(void *user, struct data_set *facts, const struct spec *spec,
                                const struct data_places *places, struct net_shape wanted,
                                struct err *e);
struct plan_source {
    plan_peek *peek; /* NULL: data_open */
    /* Both or none; NULL: net_demands and net_open. A net stays the source's, and outlives the plan. */
    enum err_code (*demands)(void *user, const char *model, struct net_shape *shape, struct err *e);
    enum err_code (*net)(void *user, const char *model, const struct net_wants *wants,
                         struct net **out, struct err *e);
    void *user;
};
enum err_code plan_make_with(struct plan **out, const struct spec *spec,
                             const struct data_places *places,
                             const struct backend *const *backends, const struct plan_source *from,
                             struct err *e) MUST_USE;
/* Whether the GPUs are here that the experiment asks for, if it does: ERR_FAILED and which are not.
 * *gpus: how many are here then, 0 where it asks for none. */
enum err_code plan_find_gpus(const struct spec *s, const struct backend *const *backends, int *gpus,
                             struct err *e) MUST_USE;
void plan_free(struct plan *p);
/* For a run that is one of `shares` side by side: its part of the GPUs, the same for the same share. As
 * many runs as there are GPUs have one each; the experiment's own choice of GPUs stays. */
void plan_share_gpus(struct plan *p, int share, int shares);

struct plan_memory { /* bytes of this machine: of its memory, and where it can swap */
    size_t all, unused;
};
/* False: nothing is known of it. CHORUS_MEMINFO names a file that stands for /proc/meminfo. */
bool plan_machine(struct plan_memory *out);
/* A copy of a session's state, as checkpoints are written from: parameters, slots, running statistics. */
size_t plan_state_bytes(const struct backend_plan *p);
/* How many of them a run has at most, all that wait and the one that is being written together: two,
 * with which training never waits for the disk; of a large state one, unless it trains on GPUs, which
 * have memory of their own, and epochs too short to wait. */
#define PLAN_STATE_COPIES 2
int plan_state_copies(const struct backend *b, const struct backend_plan *p);
/* The backend's estimate; of one that computes on the CPU with all that its process takes, which depends
 * on the session and its data alone. */
enum err_code plan_want(const struct plan *p, struct backend_estimate *out, struct err *e) MUST_USE;
/* What the machine's memory says to that of a CPU. */
void plan_compare_memory(const struct plan *p, const struct plan_memory *machine,
                         struct backend_estimate *out);
/* Both, with the memory that is here now. */
enum err_code plan_estimate(const struct plan *p, struct backend_estimate *out,
                            struct err *e) MUST_USE;
/* Before anything large is taken: ERR_NOMEM where the machine's memory cannot hold it; where too little
 * is free now, that stands in p->lacking. */
enum err_code plan_check_memory(struct plan *p, struct err *e) MUST_USE;

/* The text of experiment.ini: model is the copy beside it. */
void plan_add_ini(const struct spec *resolved, struct text *out);
/* Sixteen hexadecimal digits of what determines a run's results: its settings, layers and data. */
void plan_hash(const struct plan *p, char out[17]);
/* The same of the layers alone and of the data alone, which two files of one name may have of their
 * own: "#" and eight digits. Data that the seed makes has none: "". */
#define PLAN_PART_ROOM 10
void plan_network_hash(const struct plan *p, char out[PLAN_PART_ROOM]);
void plan_data_hash(const struct plan *p, char out[PLAN_PART_ROOM]);

/* That this thread may use: what threads = all is. */
int plan_cores(void);
/* "8 threads on 2 cores: threads = all is faster", or "2 cells of 2 threads each on 2 cores: ...",
 * where so many cells at the same time have more threads of the CPU backend than so many cores; others
 * train without them: "". */
#define PLAN_CROWDING_ROOM 96
const char *plan_crowding(const struct plan *p, int cells, int cores, char out[PLAN_CROWDING_ROOM]);
/* What runs it. */
static inline const char *plan_isa(const struct plan *p)
{
    return p->backend->isa_in ? p->backend->isa_in(p->session.precision) : p->backend->isa();
}

#endif
