/* cuda/load.c: finding and opening the part for GPUs, and the backend that stands for it. */
#include "cuda/load.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/system/library.h"
#include "base/log.h"
#include "base/text.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "chorus-cuda.so"

static struct {
    pthread_once_t loaded, surveyed;
    struct err why; /* there is no part */
    const struct cuda_part *part;
    struct cuda_survey survey;
} held = {.loaded = PTHREAD_ONCE_INIT, .surveyed = PTHREAD_ONCE_INIT};

/* The part has a log of its own, of which nobody hears: its lines become the program's. */
static void say(void *user, enum log_level level, const char *line)
{
    (void)user;
    log_say(level, "%s", line);
}

/* next: what the user can do, where it cannot be opened. */
static void open_part(const char *path, const char *next)
{
    struct err why;
    void *library = library_open(path, RTLD_NOW, &why);
    cuda_part_fn *give;

    if (!library) {
        err_set(&held.why, ERR_FAILED, FILE_NAME " cannot be opened: %s; %s", why.text, next);
        return;
    }
    *(void **)&give = dlsym(library, CUDA_PART_SYMBOL);
    held.part = give ? give() : NULL;
    if (!held.part || held.part->version != CUDA_PART_VERSION) {
        err_set(&held.why, ERR_FAILED,
                "%s is of another version of chorus (%u, this program speaks %u): build both anew "
                "with `make`",
                path, held.part ? held.part->version : 0, (unsigned)CUDA_PART_VERSION);
        held.part = NULL;
        return;
    }
    held.part->log(say, NULL);
    held.part->clock(clock_work_ns);
}

/* DIR/../lib/chorus is PREFIX/lib/chorus where DIR is PREFIX/bin. */
static void load(void)
{
    static const char *const places[] = {FILE_NAME, "../lib/chorus/" FILE_NAME};
    const char *given = getenv("CHORUS_CUDA");
    char exe[4096], path[4200];
    ssize_t n;
    char *slash;

    if (given && !strcmp(given, "none")) {
        err_set(&held.why, ERR_INPUT, "GPUs are switched off by CHORUS_CUDA=none");
        return;
    }
    if (given && *given) {
        open_part(given, "CHORUS_CUDA may name another");
        return;
    }
    n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    slash = strrchr(exe, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", exe, places[i]);
        if (access(path, F_OK) == 0) {
            open_part(path, "CHORUS_CUDA=none goes without it");
            return;
        }
    }
    err_set(&held.why, ERR_INPUT,
            "this program was built without CUDA: there is no " FILE_NAME
            " beside it or in ../lib/chorus");
}

const struct cuda_part *cuda_load(struct err *why)
{
    pthread_once(&held.loaded, load);
    if (!held.part && why)
        *why = held.why;
    return held.part;
}

static void look(void)
{
    const struct cuda_part *part = cuda_load(NULL);

    if (part)
        part->survey(&held.survey);
    else
        snprintf(held.survey.reason, sizeof held.survey.reason, "%.299s", held.why.text);
}

const struct cuda_survey *cuda_survey(void)
{
    pthread_once(&held.surveyed, look);
    return &held.survey;
}

int cuda_usable(struct err *why)
{
    const struct cuda_survey *s = cuda_survey();
    int n = 0;

    for (int i = 0; i < s->gpus; i++)
        n += s->gpu[i].usable;
    if (n)
        return n;
    err_set(why, held.part ? ERR_FAILED : held.why.code, "%s", s->reason);
    return 0;
}

/* ---- the backend ---- */

static enum err_code part_gpu(int gpu, struct err *why)
{
    const struct cuda_survey *s = cuda_survey();

    if (gpu < 0 || gpu >= s->gpus)
        return err_set(why, ERR_FAILED, "there is no GPU %d: %d here, numbered from 0", gpu,
                       s->gpus);
    if (!s->gpu[gpu].usable)
        return err_set(why, ERR_FAILED, "GPU %d (%.90s) cannot be used: %.180s", gpu,
                       s->gpu[gpu].name, s->gpu[gpu].why);
    return ERR_OK;
}

static enum err_code part_can(const struct backend_plan *plan, struct err *e)
{
    const struct cuda_part *part = cuda_load(e);

    return part ? part->backend->can(plan, e) : e->code;
}

static enum err_code part_estimate(const struct backend_plan *plan, struct backend_estimate *out,
                                   struct err *e)
{
    struct err why;
    const struct cuda_part *part = cuda_load(&why);

    return part ? part->backend->estimate(plan, out, e) : err_set(e, why.code, "%s", why.text);
}

static const char *part_isa(void)
{
    const struct cuda_survey *s = cuda_survey();

    for (int i = 0; i < s->gpus; i++)
        if (s->gpu[i].usable)
            return s->gpu[i].name;
    return "no device";
}

static enum err_code part_open(const struct backend_plan *plan, struct backend_session **out,
                               struct err *e)
{
    struct err why;
    const struct cuda_part *part = cuda_load(&why);

    return part ? part->backend->open(plan, out, e) : err_set(e, why.code, "%s", why.text);
}

/* Sessions were opened by the part, so it is there. */
static void part_close(struct backend_session *s)
{
    if (s)
        held.part->backend->close(s);
}

static enum err_code part_train(struct backend_session *s, const struct backend_span *span,
                                struct backend_step *results, size_t *done, struct err *e)
{
    return held.part->backend->train(s, span, results, done, e);
}

static enum err_code part_evaluate(struct backend_session *s, const struct data_part *part,
                                   size_t first, size_t count, const atomic_bool *stop,
                                   float *logits, struct err *e)
{
    return held.part->backend->evaluate(s, part, first, count, stop, logits, e);
}

static enum err_code part_state(struct backend_session *s, int member, enum backend_kind kind,
                                bool set, void *buffer, struct err *e)
{
    return held.part->backend->state(s, member, kind, set, buffer, e);
}

static enum err_code part_peek(struct backend_session *s, int member, int layer,
                               enum backend_what what, double *out, size_t n,
                               enum backend_peek *answer, struct err *e)
{
    return held.part->backend->peek(s, member, layer, what, out, n, answer, e);
}

static void part_gauge(struct backend_session *s, int device, struct backend_gauge *out)
{
    held.part->backend->gauge(s, device, out);
}

static void part_plans(struct backend_session *s, struct text *out)
{
    held.part->backend->plans(s, out);
}

const struct backend cuda_backend = {
    .name = "cuda",
    .gpus = cuda_usable,
    .gpu = part_gpu,
    .can = part_can,
    .estimate = part_estimate,
    .isa = part_isa,
    .open = part_open,
    .close = part_close,
    .train = part_train,
    .evaluate = part_evaluate,
    .state = part_state,
    .peek = part_peek,
    .gauge = part_gauge,
    .plans = part_plans,
};
