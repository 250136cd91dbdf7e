#include "fake/fake.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "engine/backend.h"
#include "rng/rng.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t script_lock = PTHREAD_MUTEX_INITIALIZER;
static struct fake_script script; /* guarded by script_lock */
static bool script_set;

struct backend_session {
    struct fake_script script;
    enum spec_mode mode;
    int models, units, devices, classes, slots;
    size_t batch, params, stats, element;
    struct rng_key *key; /* (models) */
    void **vector;       /* (models, 4): by enum backend_kind */
    bool stuck;          /* nothing can be had of it any more */
};

void fake_set_script(const struct fake_script *s)
{
    pthread_mutex_lock(&script_lock);
    script = *s;
    script_set = true;
    pthread_mutex_unlock(&script_lock);
}

static struct fake_script script_of_words(const char *words)
{
    struct fake_script s = {0};
    char *copy = mem_text(words ? words : ""), *rest = NULL;

    for (char *w = strtok_r(copy, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(w, '=');
        int64_t value = 0;

        if (equals)
            *equals = '\0';
        if (equals && !strcmp(w, "stuck_file")) {
            snprintf(s.stuck_file, sizeof s.stuck_file, "%s", equals + 1);
            continue;
        }
        if (equals && !strcmp(w, "held_file")) {
            snprintf(s.held_file, sizeof s.held_file, "%s", equals + 1);
            continue;
        }
        if (equals && !strcmp(w, "plan_file")) {
            snprintf(s.plan_file, sizeof s.plan_file, "%s", equals + 1);
            continue;
        }
        if (equals && !text_to_int(equals + 1, &value))
            continue;
        if (!strcmp(w, "diverge"))
            s.diverge_at = value;
        else if (!strcmp(w, "fail"))
            s.fail_at = value;
        else if (!strcmp(w, "oom"))
            s.oom = true;
        else if (!strcmp(w, "broken"))
            s.broken = true;
        else if (!strcmp(w, "step_ms"))
            s.step_ms = (int)value;
        else if (!strcmp(w, "evaluate_ms"))
            s.evaluate_ms = (int)value;
        else if (!strcmp(w, "diverge_lr"))
            s.diverge_lr = (double)value;
        else if (!strcmp(w, "oom_batch"))
            s.oom_batch = value;
        else if (!strcmp(w, "fail_batch"))
            s.fail_batch = value;
        else if (!strcmp(w, "stuck"))
            s.stuck_at = value;
        else if (!strcmp(w, "stuck_batch"))
            s.stuck_batch = value;
    }
    free(copy);
    return s;
}

static struct fake_script script_now(void)
{
    struct fake_script s;

    pthread_mutex_lock(&script_lock);
    s = script_set ? script : script_of_words(getenv("CHORUS_FAKE_SCRIPT"));
    pthread_mutex_unlock(&script_lock);
    return s;
}

static bool take_byte(const char *file, const struct stat *st)
{
    return st->st_size > 0 && truncate(file, st->st_size - 1) == 0;
}

static void wait_to_plan(const char *file)
{
    struct stat st;

    while (*file && stat(file, &st) == 0 && !take_byte(file, &st))
        clock_sleep_ms(1);
}

static enum err_code fake_can(const struct backend_plan *plan, struct err *e)
{
    struct fake_script s = script_now();

    wait_to_plan(s.plan_file);
    if (plan->precision == SPEC_BF16)
        return err_set(e, ERR_INPUT, "precision = bf16: the fake backend has fp32 and fp64");
    return ERR_OK;
}

static enum err_code fake_estimate(const struct backend_plan *plan, struct backend_estimate *out,
                                   struct err *e)
{
    size_t vectors = 1 + (size_t)backend_slots(plan->optimizer);

    (void)e;
    *out = (struct backend_estimate){.places = 1};
    out->bytes[0] = (size_t)plan->members * backend_element(plan) *
                    (vectors * plan->net->parameter_count + plan->net->stat_count);
    return ERR_OK;
}

static const char *fake_isa(void)
{
    return "none";
}

static void fake_close(struct backend_session *s)
{
    if (!s)
        return;
    for (int i = 0; s->vector && i < s->models * 4; i++)
        free(s->vector[i]);
    free(s->vector);
    free(s->key);
    free(s);
}

static size_t vector_count(const struct backend_session *s, enum backend_kind kind)
{
    if (kind == BACKEND_STATS)
        return s->stats;
    if (kind == BACKEND_SLOT1 || kind == BACKEND_SLOT2)
        return s->slots > (int)(kind - BACKEND_SLOT1) ? s->params : 0;
    return s->params;
}

static enum err_code fake_open(const struct backend_plan *plan, struct backend_session **out,
                               struct err *e)
{
    struct backend_session *s = mem_new(1, sizeof *s);

    *out = NULL;
    s->script = script_now();
    s->script.oom |= s->script.oom_batch && (int64_t)plan->batch >= s->script.oom_batch;
    s->script.broken |= s->script.fail_batch && (int64_t)plan->batch == s->script.fail_batch;
    if (s->script.oom || s->script.broken) {
        bool oom = s->script.oom;

        free(s);
        if (oom)
            return err_set(e, ERR_NOMEM,
                           "the fake backend wants 1,000,000,000,000 bytes: use a "
                           "smaller batch or fewer members");
        return err_set(e, ERR_FAILED, "the fake backend does not open, as it was told");
    }
    s->mode = plan->mode;
    s->models = plan->members;
    s->units = backend_units(plan);
    s->devices = plan->devices;
    s->classes = plan->net->classes;
    s->slots = backend_slots(plan->optimizer);
    s->batch = plan->batch;
    s->params = plan->net->parameter_count;
    s->stats = plan->net->stat_count;
    s->element = backend_element(plan);
    s->key = mem_new((size_t)s->models, sizeof *s->key);
    memcpy(s->key, plan->model_key, (size_t)s->models * sizeof *s->key);
    s->vector = mem_new((size_t)s->models * 4, sizeof *s->vector);
    for (int i = 0; i < s->models * 4; i++) {
        size_t n = vector_count(s, (enum backend_kind)(i % 4));

        s->vector[i] = mem_try(n ? n : 1, s->element);
        if (!s->vector[i]) {
            fake_close(s);
            return err_set(e, ERR_NOMEM, "the fake backend wants %zu bytes more", n * 8);
        }
    }
    *out = s;
    return ERR_OK;
}

static double get(const struct backend_session *s, const void *vector, size_t i)
{
    return s->element == 8 ? ((const double *)vector)[i] : (double)((const float *)vector)[i];
}

static void put(const struct backend_session *s, void *vector, size_t i, double value)
{
    if (s->element == 8)
        ((double *)vector)[i] = value;
    else
        ((float *)vector)[i] = (float)value;
}

static double updates_done(const struct backend_session *s, int model)
{
    return round(get(s, s->vector[model * 4], 0));
}

/* Moves every number of a model by a formula of the step, the learning rate and itself. */
static void update(struct backend_session *s, int model, uint64_t t, double lr)
{
    void **v = s->vector + model * 4;

    for (int kind = 0; kind < 4; kind++) {
        size_t n = vector_count(s, (enum backend_kind)kind);

        for (size_t i = kind == BACKEND_PARAMS; i < n; i++)
            put(s, v[kind], i,
                get(s, v[kind], i) * (1 - 0.01 * lr) + 1e-3 * sin((double)t + (double)i + kind));
    }
    put(s, v[BACKEND_PARAMS], 0, get(s, v[BACKEND_PARAMS], 0) + 1);
}

/* In [0, 1): of a key and two numbers. */
static double chance(struct rng_key key, uint32_t a, uint64_t b)
{
    return rng_bits_at(rng_fold_in(key, a), b) / 4294967296.0;
}

/* How good a model is after t updates: from 0 towards 1. */
static double skill(double t)
{
    return t / (t + 30);
}

static struct backend_step step_of(const struct backend_session *s, int unit, size_t images,
                                   uint64_t t, uint64_t ns)
{
    struct rng_key key = s->key[s->mode == SPEC_ENSEMBLE ? unit : 0];
    uint32_t replica = s->mode == SPEC_ENSEMBLE ? 0 : (uint32_t)unit;
    double luck = chance(key, 1 + replica, t) - 0.5;
    double acc = 0.1 + 0.85 * skill((double)t) + 0.04 * luck;
    struct backend_step r = {
        .compute_ns = ns - ns / 10 - ns / 20, .reduce_ns = ns / 10, .wait_ns = ns / 20};

    r.right = (uint32_t)(acc * (double)images);
    r.loss_sum = (double)images * (2.3 * exp(-3 * skill((double)t)) + 0.1 * luck + 0.06);
    if (s->script.diverge_at && t + 1 == (uint64_t)s->script.diverge_at) {
        r.loss_sum = NAN;
        r.not_finite = true;
    }
    return r;
}

/* false: a stop came before the time was over. */
static bool rest(int ms, const atomic_bool *stop)
{
    uint64_t until = clock_ns() + (uint64_t)ms * 1000000;

    while (ms > 0 && clock_ns() < until) {
        if (stop && atomic_load(stop))
            return false;
        clock_sleep_ms(1);
    }
    return !(stop && atomic_load(stop));
}

static bool may_stick(const struct backend_session *s, uint64_t t)
{
    return s->script.stuck_at && t == (uint64_t)s->script.stuck_at &&
           (!s->script.stuck_batch || (int64_t)s->batch == s->script.stuck_batch);
}

/* Whether this is one of the times, for which there must be a file. false: a stop came before. */
static bool stick(struct backend_session *s, const atomic_bool *stop)
{
    const char *file = s->script.stuck_file, *held = s->script.held_file;
    int made = *held ? creat(held, 0600) : -1;
    struct stat st;

    if (made >= 0)
        close(made);
    while (*file && stat(file, &st) != 0)
        if (!rest(1, *held ? NULL : stop))
            return false;
    s->stuck = !*file || take_byte(file, &st);
    return true;
}

static enum err_code fake_train(struct backend_session *s, const struct backend_span *span,
                                struct backend_step *results, size_t *done, struct err *e)
{
    size_t images = s->mode == SPEC_ENSEMBLE ? s->batch : s->batch / (size_t)s->devices;

    for (*done = 0; *done < span->count;) {
        uint64_t t = span->first_step + *done, start = clock_ns();
        bool finite = true;

        if (!rest(s->script.step_ms, span->stop))
            return ERR_OK;
        if (s->script.fail_at && t + 1 == (uint64_t)s->script.fail_at)
            return err_set(e, ERR_FAILED, "the fake backend fails at step %llu, as it was told",
                           (unsigned long long)t + 1);
        if (!s->stuck && may_stick(s, t + 1) && !stick(s, span->stop))
            return ERR_OK;
        if (s->stuck)
            return err_set(e, ERR_STUCK,
                           "the fake backend computes no more in this process from step %llu on",
                           (unsigned long long)t + 1);
        for (int m = 0; m < s->models; m++)
            update(s, m, t, span->lr[*done]);
        for (int u = 0; u < s->units; u++) {
            struct backend_step *r = &results[*done * (size_t)s->units + (size_t)u];

            *r = step_of(s, u, images, t, clock_ns() - start);
            if (s->script.diverge_lr > 0 && span->lr[*done] >= s->script.diverge_lr) {
                r->loss_sum = NAN;
                r->not_finite = true;
            }
            finite = finite && !r->not_finite;
        }
        ++*done;
        if (!finite)
            return ERR_OK;
    }
    return ERR_OK;
}

static enum err_code fake_evaluate(struct backend_session *s, const struct data_part *part,
                                   size_t first, size_t count, const atomic_bool *stop,
                                   float *logits, struct err *e)
{
    if (s->stuck)
        return err_set(e, ERR_STUCK, "the fake backend evaluates no more in this process");
    if (!rest(s->script.evaluate_ms, stop))
        return err_set(e, ERR_STOPPED, "stopped while evaluating");
    for (int m = 0; m < s->models; m++) {
        double good = 0.1 + 0.88 * skill(updates_done(s, m));

        for (size_t i = 0; i < count; i++) {
            float *row = logits + ((size_t)m * count + i) * (size_t)s->classes;
            int label = part->labels[first + i];
            bool right = chance(s->key[m], 1000, first + i) < good;

            for (int c = 0; c < s->classes; c++)
                row[c] = (float)chance(s->key[m], 1001 + (uint32_t)c, first + i);
            row[right ? label : (label + 1) % s->classes] += (float)(1 + 4 * good);
        }
    }
    return ERR_OK;
}

static enum err_code fake_state(struct backend_session *s, int member, enum backend_kind kind,
                                bool set, void *buffer, struct err *e)
{
    void *vector = s->vector[member * 4 + (int)kind];
    size_t bytes = vector_count(s, kind) * s->element;

    if (s->stuck)
        return err_set(e, ERR_STUCK, "the fake backend gives no state any more in this process");
    if (set)
        memcpy(vector, buffer, bytes);
    else
        memcpy(buffer, vector, bytes);
    return ERR_OK;
}

static enum err_code fake_peek(struct backend_session *s, int member, int layer,
                               enum backend_what what, double *out, size_t n,
                               enum backend_peek *answer, struct err *e)
{
    (void)what;
    for (size_t i = 0; i < n; i++)
        out[i] = chance(s->key[member], 2000 + (uint32_t)layer, i);
    (void)e;
    *answer = BACKEND_PEEKED;
    return ERR_OK;
}

const struct backend fake_backend = {
    .name = "fake",
    .can = fake_can,
    .estimate = fake_estimate,
    .isa = fake_isa,
    .open = fake_open,
    .close = fake_close,
    .train = fake_train,
    .evaluate = fake_evaluate,
    .state = fake_state,
    .peek = fake_peek,
};
