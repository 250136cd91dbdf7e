/* The session thread: from an experiment to an open backend whose state is set, and its way to speak
 * with the engine thread. What it does then stands in train.c. */
#include "engine/engine_int.h"

#include "base/again.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/system/trace.h"
#include "record/list.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/run/writer.h"
#include "record/start_weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So far the engine thread may be behind before training waits for it. */
#define MESSAGES_MAX 256

void run_send(struct run *r, struct message *m)
{
    static const char *const kinds[] = {
        [MESSAGE_PLANNED] = "its plan is made",
        [MESSAGE_OPENED] = "the backend stands ready",
        [MESSAGE_ROWS] = "rows",
        [MESSAGE_SNAPSHOT] = "a snapshot",
        [MESSAGE_PAUSED] = "paused",
        [MESSAGE_WENT_ON] = "went on",
        [MESSAGE_ENDED] = "it ends",
    };

    TRACE(ENGINE, 2, "%s at step %lld", kinds[m->kind], (long long)m->at.n.step);
    pthread_mutex_lock(&r->lock);
    while (r->messages >= MESSAGES_MAX)
        pthread_cond_wait(&r->changed, &r->lock);
    if (r->last)
        r->last->next = m;
    else
        r->first = m;
    r->last = m;
    r->messages++;
    pthread_mutex_unlock(&r->lock);
    wire_poke(r->engine->wire);
}

static struct err *err_copy(const struct err *e)
{
    struct err *copy = mem_new(1, sizeof *copy);

    *copy = *e;
    return copy;
}

/* ERR_OK as a refusal: there is nothing to do, and that is no failure. */
static enum err_code read_found(struct run *r, bool *finished, struct err *e)
{
    struct record_entry entry;
    const struct record_run *found = &r->found;
    int64_t more = r->start.epochs;
    enum err_code code = ERR_OK;
    bool changed;

    TRY(record_read_entry(r->start.resume, &entry, e));
    r->found = entry.run;
    changed = record_rows_changed(&entry); /* its rows are in the checkpoint */
    if (entry.broken)
        code = err_set(e, ERR_INPUT, "run %s cannot be resumed: %s", entry.name, entry.problem);
    record_free_entry(&entry);
    TRY(code);
    if (more && more < found->epochs_done)
        return err_set(e, ERR_INPUT, "epochs = %lld: %lld epoch%s of %s %s done already",
                       (long long)more, (long long)found->epochs_done, text_s(found->epochs_done),
                       found->run, found->epochs_done == 1 ? "is" : "are");
    if (found->state == WIRE_DIVERGED)
        return err_set(e, ERR_DIVERGED,
                       "run %s diverged (%s) and would again: start a new one with other settings",
                       found->run, found->reason);
    if (found->state == WIRE_DONE && (!more || more == found->spec.epochs) && !changed) {
        *finished = true;
        return err_set(e, ERR_OK, "run %s is finished: %lld of %lld epoch%s%s%s%s", found->run,
                       (long long)found->epochs_done, (long long)found->spec.epochs,
                       text_s(found->spec.epochs), found->reason[0] ? ", " : "", found->reason,
                       found->reason[0] ? "" : "; more with epochs=N");
    }
    return ERR_OK;
}

/* The experiment of a run that goes on, from its folder. An extension writes run.csv before experiment.ini:
 * after a kill in between, the larger number of epochs is what was wanted. */
static enum err_code spec_of_run(struct run *r, struct spec *spec, struct err *e)
{
    int64_t known = r->found.spec.epochs, ini;

    TRY(record_read_spec(r->start.resume, spec, e));
    ini = spec->epochs;
    if (r->start.epochs || spec->epochs < known)
        spec->epochs = r->start.epochs ? r->start.epochs : known;
    r->extended = spec->epochs != known;
    r->ini_differs = spec->epochs != ini;
    return ERR_OK;
}

/* A run that goes on keeps its backend: without its GPUs only another one can take what it has learnt. */
static enum err_code find_gpus(const struct run *r, const struct spec *spec, struct err *e)
{
    struct err why;
    const char *name = r->found.run;
    bool learnt = record_has_checkpoint(r->start.resume);
    char count[40] = "";
    int gpus;

    if (plan_find_gpus(spec, r->engine->config.backends, &gpus, &why) == ERR_OK)
        return ERR_OK;
    if (spec->gpus)
        snprintf(count, sizeof count, " devices=%d", spec->devices);
    return err_set(
        e, why.code,
        "%.600s; this run goes on where it has its GPUs: `chorus run %s backend=cpu%s%s%s` %s",
        why.text, name, count, learnt ? " weights=" : "", learnt ? name : "",
        learnt ? "begins another one with its weights" : "begins it anew");
}

/* What run.csv and messages call the model. The copy in a run's folder is called model.net, which says nothing:
 * there it is what that run calls it. */
static void name_model(struct run *r)
{
    char *folder = io_folder_of(r->plan->spec.model);
    struct record_entry entry;
    const char *base = strrchr(r->plan->spec.model, '/');

    snprintf(r->model, sizeof r->model, "%s", r->plan->net->name);
    if (r->resumed) {
        snprintf(r->model, sizeof r->model, "%s", r->found.spec.model);
    } else if (base && !strcmp(base, "/model.net") && record_is_run(folder) &&
               record_read_entry(folder, &entry, NULL) == ERR_OK) {
        if (!entry.broken && entry.run.spec.model[0])
            snprintf(r->model, sizeof r->model, "%s", entry.run.spec.model);
        record_free_entry(&entry);
    }
    snprintf(r->plan->net->name, sizeof r->plan->net->name, "%.63s", r->model);
    free(folder);
}

static void widen(const float *from, size_t n, size_t element, void *to)
{
    if (element == sizeof(float))
        memcpy(to, from, n * sizeof *from);
    else
        for (size_t i = 0; i < n; i++)
            ((double *)to)[i] = from[i];
}

/* Opening takes seconds for a large model: who wants an end does not wait for all of it. */
static enum err_code check_stop(struct run *r, struct err *e)
{
    if (run_deed(r, WIRE_AT_STEP) < WIRE_END)
        return ERR_OK;
    return err_set(e, ERR_STOPPED, "%s",
                   r->resumed ? "stopped before it went on" : "stopped before its first step");
}

/* The weights of step 0: drawn by the model's keys, or read from where `weights` says. */
static enum err_code first_weights(struct run *r, struct record_weights *w, struct err *e)
{
    const struct plan *p = r->plan;
    const struct net *net = p->net;
    float *params, *stats;
    enum err_code code = ERR_OK;

    TRY(check_stop(r, e));
    TRY(session_new_weights(p, w, e));
    if (p->spec.weights[0])
        return record_read_start(r->engine->results, p->spec.weights, net, w, e);
    params = mem_try(net->parameter_count, sizeof *params);
    stats = mem_try(net->stat_count ? net->stat_count : 1, sizeof *stats);
    if (!params || !stats) {
        free(params);
        free(stats);
        return err_set(e, ERR_NOMEM, "no memory for %zu initial weights", net->parameter_count);
    }
    for (int m = 0; m < w->members && code == ERR_OK; m++) {
        net_init(net, p->spec.init, p->spec.init_std, p->model_key[m], params, stats);
        widen(params, net->parameter_count, w->element, record_weights_params(w, net, m));
        if (net->stat_count)
            widen(stats, net->stat_count, w->element, record_weights_stats(w, net, m));
        code = check_stop(r, e);
    }
    free(params);
    free(stats);
    return code;
}

/* Rows of one run are of one network and one data set; what an older version began says neither. */
static enum err_code check_same(const struct run *r, struct err *e)
{
    const struct record_run *was = &r->found;
    char network[PLAN_PART_ROOM], data[PLAN_PART_ROOM];

    plan_network_hash(r->plan, network);
    plan_data_hash(r->plan, data);
    if (was->data_hash[0] && strcmp(was->data_hash, data) != 0)
        return err_set(
            e, ERR_INPUT,
            "%s has changed since run %s began (data_hash was %s, is %s), and a run is of "
            "one data set: put the old data back, or begin a run on the new from these "
            "weights with `chorus run %s weights=%s%s`",
            was->spec.data, was->run, was->data_hash, data, was->run, was->run, again());
    if (was->network_hash[0] && strcmp(was->network_hash, network) != 0)
        return err_set(
            e, ERR_INPUT,
            "%s/model.net has changed since that run began (network_hash was %s, is %s): "
            "put the old one back, or start a new run",
            r->start.resume, was->network_hash, network);
    return ERR_OK;
}

static enum err_code prepare(struct run *r, struct record_weights *w, bool *finished, struct err *e)
{
    struct spec *spec = mem_new(1, sizeof *spec);
    enum err_code code = ERR_OK;

    r->resumed = r->start.resume[0] != '\0';
    if (r->resumed) {
        code = read_found(r, finished, e);
        if (code == ERR_OK && !*finished)
            code = spec_of_run(r, spec, e);
        if (code == ERR_OK && !*finished)
            code = find_gpus(r, spec, e);
    } else {
        *spec = r->start.spec;
        code = record_name_weights(r->engine->results, spec, e);
        if (code != ERR_OK)
            spec_locate(spec, e);
    }
    if (code == ERR_OK && !*finished)
        code = plan_make(&r->plan, spec, &r->engine->config.places, r->engine->config.backends,
                         true, e);
    free(spec);
    if (code != ERR_OK || *finished)
        return code;
    plan_share_gpus(r->plan, r->share, r->shares);
    name_model(r);
    code = plan_check_memory(r->plan, e);
    if (code != ERR_OK && !r->sweep)
        return code;
    plan_hash(r->plan, r->hash);
    if (code != ERR_OK) { /* a cell's result, which has its folder as any other */
        r->too_large = *e;
        return ERR_OK;
    }
    if (r->resumed)
        return check_same(r, e);
    if (!r->sweep) /* whose ledger knows */
        (void)record_find_done(r->engine->results, r->hash, r->equal, sizeof r->equal);
    code = first_weights(r, w, e);
    if (code != ERR_OK)
        spec_locate(&r->start.spec, e);
    return code;
}

static void nothing_yet(struct standing *at)
{
    *at = (struct standing){0};
    at->x.best_acc = at->x.best_loss = at->x.best_test_acc = at->x.best_test_loss = RECORD_EMPTY;
    at->x.last_test_acc = at->x.last_test_loss = at->x.least_loss = RECORD_EMPTY;
    at->x.target_seconds = RECORD_EMPTY;
}

static void say_why(const struct session *s, struct err *e)
{
    const struct spec *spec = &s->plan->spec;
    enum run_end end = session_end(s);
    char room[TEXT_NUMBER_ROOM];

    if (end == RUN_MAX_STEPS)
        err_set(e, ERR_OK, "max_steps = %lld", (long long)spec->max_steps);
    else if (end == RUN_MAX_MINUTES)
        err_set(e, ERR_OK, "max_minutes = %s", text_double(room, spec->max_minutes));
    else if (end == RUN_PATIENCE)
        err_set(e, ERR_OK, "patience = %lld epoch%s without a better loss",
                (long long)spec->patience, text_s(spec->patience));
    else
        err_set(e, ERR_OK, "%s", "");
}

/* A checkpoint that does not fit the data, say because the file has grown since. */
static enum err_code check_standing(struct session *s, struct err *e)
{
    const struct standing_counts *n = &s->at.n;
    int64_t steps = s->plan->steps_per_epoch;
    struct err why;

    if (session_end(s) && s->run->extended) {
        say_why(s, &why);
        return err_set(e, ERR_INPUT,
                       "run %s ended by %.200s: more epochs change nothing; start a new one",
                       s->run->found.run, why.text);
    }
    if (!session_end(s) && (n->batch > steps || n->step != n->epoch * steps + n->batch))
        return err_set(e, ERR_INPUT,
                       "the checkpoint stands at step %lld, epoch %lld, batch %lld, but an epoch "
                       "now has %lld steps: the data or the batch are not what they were",
                       (long long)n->step, (long long)n->epoch + 1, (long long)n->batch,
                       (long long)steps);
    return ERR_OK;
}

/* What computed these numbers: run.csv may say already what a later start of it would have taken. */
static void read_plans(struct run *r, const struct safetensors *file)
{
    const char *plans = safetensors_note(file, RECORD_NOTE_PLANS);

    if (!plans)
        return;
    snprintf(r->found.plans, sizeof r->found.plans, "%s", plans);
    r->plan->session.plans = r->found.plans;
}

static void read_rows(struct run *r, const struct safetensors *file)
{
    const struct safetensors_tensor *rows = safetensors_find(file, RECORD_ROWS);

    if (rows && rows->type == SAFETENSORS_U8)
        text_add_n(&r->rows, rows->bytes, rows->size);
}

static enum err_code read_checkpoint(struct session *s, struct record_weights *w, struct err *e)
{
    struct run *r = s->run;
    struct safetensors file = {0};
    enum err_code code;
    bool found;

    TRY(record_read_checkpoint(r->start.resume, &file, &found, e));
    if (!found)
        return first_weights(r, w, e);
    code = session_new_weights(s->plan, w, e);
    if (code == ERR_OK)
        code = record_unpack_weights(&file, r->start.resume, s->plan->net, w, e);
    if (code == ERR_OK)
        code = standing_unpack(&file, &s->at, &s->sums, e);
    if (code == ERR_OK)
        code = check_standing(s, e);
    if (code == ERR_OK)
        read_plans(r, &file);
    if (code == ERR_OK)
        read_rows(r, &file);
    /* A kill while an epoch's files were written left some of them: all of them are written again. */
    s->stands_in = code == ERR_OK && s->at.n.epoch && !record_has_checkpoint(r->start.resume);
    safetensors_free(&file);
    return code;
}

/* Of where it stands, to be written at once; of an epoch's end that was sent already what waits is. */
static enum err_code send_snapshot(struct session *s, struct err *e)
{
    struct message *m = message_new(MESSAGE_SNAPSHOT, &s->at);
    bool sent = session_end(s) && s->sent_epoch && s->sent_epoch == s->at.n.epoch;
    enum err_code code = sent ? ERR_OK : session_snapshot(s, false, true, &m->snapshot, e);

    m->urgent = true;
    if (code == ERR_OK)
        run_send(s->run, m);
    else
        message_free(m);
    return code;
}

enum err_code session_obey(struct session *s, struct err *e)
{
    struct run *r = s->run;
    bool told = false;
    enum wire_deed deed;

    for (;;) {
        pthread_mutex_lock(&r->lock);
        while ((deed = run_deed_locked(r, WIRE_AT_STEP)) < WIRE_END &&
               (r->hold || (told && deed == WIRE_HOLD)))
            pthread_cond_wait(&r->changed, &r->lock);
        r->obeyed |= deed >= WIRE_END;
        pthread_mutex_unlock(&r->lock);
        if (deed != WIRE_HOLD || told)
            break;
        told = true;
        TRY(send_snapshot(s, e));
        run_send(r, message_new(MESSAGE_PAUSED, &s->at));
    }
    if (deed >= WIRE_END)
        return err_set(e, ERR_STOPPED, "stopped at step %lld", (long long)s->at.n.step);
    if (told)
        run_send(r, message_new(MESSAGE_WENT_ON, &s->at));
    return ERR_OK;
}

static double bytes_per_device(const struct plan *p)
{
    struct backend_estimate estimate = {0};
    double sum = 0;

    if (plan_estimate(p, &estimate, NULL) != ERR_OK)
        return RECORD_EMPTY;
    for (int i = 0; i < estimate.places; i++)
        sum += (double)estimate.bytes[i];
    return sum / p->session.devices;
}

/* The line that run.csv holds: of a long one the beginning, and a hash that tells it from others. */
static void ask_plans(struct session *s, char *out, size_t room)
{
    struct text t = {0};
    struct hash_sha256 hash;
    uint8_t sum[32];
    char hex[65];

    out[0] = '\0';
    if (!s->plan->backend->plans)
        return;
    s->plan->backend->plans(s->backend, &t);
    if (t.n < room) {
        snprintf(out, room, "%s", text_str(&t));
    } else {
        hash_sha256_start(&hash);
        hash_sha256_add(&hash, t.s, t.n);
        hash_sha256_end(&hash, sum);
        hash_hex(hex, sum, sizeof sum);
        snprintf(out, room, "%.*s... %.16s", (int)room - 21, t.s, hex);
    }
    text_free(&t);
}

static enum err_code work(struct session *s, struct record_weights *w, struct err *e)
{
    struct run *r = s->run;

    if (r->too_large.code != ERR_OK)
        return err_set(e, r->too_large.code, "%s", r->too_large.text);
    if (r->resumed)
        TRY(read_checkpoint(s, w, e));
    TRY(check_stop(r, e));
    TRY(s->plan->backend->open(&s->plan->session, &s->backend, e));
    TRY(check_stop(r, e));
    TRY(session_move_state(s, w, true, e));
    pthread_mutex_lock(&r->lock);
    r->copies++;
    run_give_room(r, w);
    pthread_mutex_unlock(&r->lock);
    TRY(check_stop(r, e));
    r->bytes_per_device = bytes_per_device(s->plan);
    ask_plans(s, r->plans, sizeof r->plans);
    r->from = s->at;
    s->opened = true;
    run_send(r, message_new(MESSAGE_OPENED, &s->at));
    return session_train(s, e);
}

static enum wire_state state_of(enum err_code code)
{
    switch (code) {
    case ERR_OK:
        return WIRE_DONE;
    case ERR_STOPPED:
    case ERR_TERMINATED:
        return WIRE_STOPPED;
    case ERR_DIVERGED:
        return WIRE_DIVERGED;
    case ERR_NOMEM:
        return WIRE_OOM;
    default:
        return WIRE_FAILED;
    }
}

static void train_and_end(struct run *r, struct record_weights *w)
{
    struct session s = {.run = r, .plan = r->plan};
    struct err e = {0};
    struct message *end;
    enum err_code code;

    nothing_yet(&s.at);
    sums_new(&s.sums, &r->plan->session);
    code = work(&s, w, &e);
    if (s.opened && (code == ERR_OK || code == ERR_STOPPED)) {
        struct err failed = {0};

        if (code == ERR_OK)
            say_why(&s, &e);
        if (code == ERR_STOPPED && run_deed(r, WIRE_AT_STEP) == WIRE_END_NOW) {
            err_set(&e, ERR_STOPPED, "stopped at step %lld without a checkpoint of it",
                    (long long)s.at.n.step);
        } else if (send_snapshot(&s, &failed) != ERR_OK) {
            e = failed;
            code = failed.code;
        }
    }
    r->plan->backend->close(s.backend);
    end = message_new(MESSAGE_ENDED, &s.at);
    end->state = state_of(code);
    e.code = code;
    end->error = err_copy(&e);
    sums_free(&s.sums);
    run_send(r, end);
}

void *session_main(void *arg)
{
    struct run *r = arg;
    struct record_weights w = {0};
    struct err e = {0};
    bool finished = false;
    struct message *m = message_new(MESSAGE_PLANNED, NULL);
    cpu_set_t all;
    enum err_code code;

    cores_take(r->share, r->shares, &all);
    code = prepare(r, &w, &finished, &e);
    /* who asked for more threads than its share has cores gets them where there is room */
    if (r->shares > 1 && code == ERR_OK && !finished &&
        r->plan->spec.threads > CPU_COUNT(&all) / r->shares)
        cores_give_back(&all);
    if (code != ERR_OK || finished)
        m->error = err_copy(&e);
    run_send(r, m);
    pthread_mutex_lock(&r->lock);
    while (r->answer == ANSWER_NONE)
        pthread_cond_wait(&r->changed, &r->lock);
    code = r->answer == ANSWER_GO ? ERR_OK : ERR_STOPPED;
    pthread_mutex_unlock(&r->lock);
    if (code == ERR_OK) {
        trace_work(io_last_part(r->path));
        train_and_end(r, &w);
    }
    record_weights_free(&w);
    return NULL;
}
