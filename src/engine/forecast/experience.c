#include "engine/forecast/experience.h"

#include "record/run/run.h"
#include "wire/wire.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ENOUGH_SECONDS 10.0 /* a run that trained longer tells no more */
#define BACKWARD       3.0  /* a training image against one that is only evaluated */
#define SOME_SECONDS   0.5  /* the first steps of a run are slow: below this it tells little */
#define ALIKE          0.5  /* a run further off than this, half as large again, is unlike */
#define HEARSAY        0.1  /* what evaluation counts for where training is asked, and back */
#define TOO_SHORT      0.1 /* below this a slow start, or who else computes, makes ten times of it */
#define AS_LARGE       0.5 /* a run of so much of the work asked for tells of it, however short */

/* What computing takes beside the operations of an image: images are computed so many at a time, and a
 * step of a model, its parameters and its images have a price of their own, here in operations. By one
 * thread of Zen 4: 17 us a step, 1 us an image, 1 ns a parameter. */
struct grain {
    double group, step, image, parameter;
};

static const struct grain *grain_of(const char *backend)
{
    static const struct grain cpu = {8, 5e6, 3e5, 300}, cuda = {1, 3e9, 0, 300},
                              naive = {1, 0, 0, 0};

    return !strcmp(backend, "cpu") ? &cpu : !strcmp(backend, "cuda") ? &cuda : &naive;
}

struct work { /* of a run, known or asked for */
    const char *backend;
    double flops, parameters, batch, model_images;
};

static double operations(const struct work *w)
{
    const struct grain *g = grain_of(w->backend);
    double computed = ceil(w->batch / g->group) * g->group;

    return w->model_images / w->batch *
           (g->step + w->parameters * g->parameter + w->batch * g->image + computed * w->flops);
}

/* A group of images is one thread's. */
static double threads_used(const char *backend, double threads, double batch, double members)
{
    return fmin(threads, members * ceil(batch / grain_of(backend)->group));
}

static const char *end_of(const char *data)
{
    size_t n = strlen(data), room = sizeof((struct experience *)NULL)->data;

    return n < room ? data : data + n - room + 1;
}

static struct experience_terms terms_of(const struct experience *x)
{
    double work =
        operations(&(struct work){x->backend, x->flops, x->parameters, x->batch, x->model_images});

    return (struct experience_terms){
        .work = work,
        .used = log(threads_used(x->backend, x->threads, x->batch, x->members)),
        .train = log(x->train_seconds / work),
        .other = log(x->other_seconds),
        .flops = log(x->flops),
        .threads = log(x->threads),
        .batch = log(x->batch),
    };
}

void experience_weigh(struct experience *x)
{
    x->terms = terms_of(x);
}

bool experience_learn(struct experience *x, const struct record_run *run)
{
    const struct spec *s = &run->spec;
    if (run->state != WIRE_DONE || run->model_images <= 0 || !(run->flops_per_image > 0) ||
        !(run->train_seconds > 0) || spec_batch(s) <= 0)
        return false;
    *x = (struct experience){
        .flops = run->flops_per_image,
        .parameters = (double)run->parameters,
        .batch = (double)spec_batch(s),
        .threads = run->threads_used > 0 ? (double)run->threads_used : 1,
        .train_seconds = run->train_seconds,
        .model_images = (double)run->model_images,
        .eval_seconds = run->eval_seconds,
        .other_seconds = run->wall_seconds - run->train_seconds - run->eval_seconds,
        .evaluations = (double)run->epochs_done,
        .members = run->images > 0 ? (double)run->model_images / (double)run->images : 1,
        .test_limit = s->test_limit,
        .valid_images = s->valid,
    };
    if (s->valid_per_cent) {
        double epoch = run->epochs_done > 0 ? (double)run->images / (double)run->epochs_done : 0;

        x->valid_images = epoch * s->valid / (100 - s->valid);
    }
    snprintf(x->backend, sizeof x->backend, "%s", run->backend_used);
    snprintf(x->isa, sizeof x->isa, "%s", run->isa);
    snprintf(x->precision, sizeof x->precision, "%s", run->precision_used);
    memcpy(x->data, end_of(s->data), strlen(end_of(s->data)) + 1);
    return true;
}

/* How unlike a run is to what is planned: the instructions and the precision matter most, then the
 * model's size, then batch and threads. */
static double unlike(const struct experience *x, const struct experience_terms *of,
                     const struct experience_ask *ask, const struct experience_terms *to)
{
    return 10 * (strcmp(x->isa, ask->isa) != 0) + 5 * (strcmp(x->precision, ask->precision) != 0) +
           fabs(of->flops - to->flops) + 0.5 * fabs(of->threads - to->threads) +
           0.25 * fabs(of->batch - to->batch);
}

static double image_work(const char *backend, double flops)
{
    return flops + grain_of(backend)->image;
}

/* The work of its evaluations; 0 where it is not known how many images it was tested on. */
static double eval_work(const struct experience *x, const struct experience_ask *ask,
                        const char *data)
{
    double images = 0;

    if (x->test_limit == ask->test_limit && !strcmp(x->data, data))
        images = ask->test_images;
    else if (x->test_limit > 0)
        images = (double)x->test_limit;
    return images > 0 ? (images + x->valid_images) * x->evaluations * x->members *
                            image_work(x->backend, x->flops)
                      : 0;
}

/* A mean of rates by their logarithms, so that one that is ten times too high is no worse than one
 * that is ten times too low. */
struct mean {
    double weight, sum;
};

/* rate: the logarithm of the seconds that an operation took. */
static void add(struct mean *m, double weight, double seconds, double rate)
{
    if (!(seconds > 0) || !isfinite(rate))
        return;
    weight *= fmin(seconds, ENOUGH_SECONDS) * seconds / (seconds + SOME_SECONDS);
    m->weight += weight;
    m->sum += weight * rate;
}

/* What each run costs, be it large or small: all count alike. */
static void add_once(struct mean *m, double weight, double seconds, double rate)
{
    if (!(seconds > 0))
        return;
    m->weight += weight;
    m->sum += weight * rate;
}

/* Whether so much work can be told by it at all. */
static bool can_tell(const struct experience *x, const struct experience_terms *of, double wanted)
{
    return x->train_seconds + x->eval_seconds >= TOO_SHORT || of->work >= AS_LARGE * wanted;
}

double experience_seconds(const struct experience *known, size_t count,
                          const struct experience_ask *ask, int *guessed)
{
    struct mean train = {0, 0}, eval = {0, 0}, other = {0, 0};
    double nearest = INFINITY, seconds = 0, tested = ask->test_images + ask->valid_images;
    double wanted = operations(
        &(struct work){ask->backend, ask->flops, ask->parameters, ask->batch, ask->model_images});
    const struct experience_terms to = {
        .flops = log(ask->flops),
        .threads = log(ask->threads),
        .batch = log(ask->batch),
        .used = log(threads_used(ask->backend, ask->threads, ask->batch, ask->members))};
    const double backward = log(BACKWARD);
    const char *data = end_of(ask->data);
    bool alike = false;
    int newer = 0;

    for (size_t i = 0; i < count; i++) {
        const struct experience *x = &known[i];
        struct experience_terms of;

        if (strcmp(x->backend, ask->backend))
            continue;
        of = x->terms.work > 0 ? x->terms : terms_of(x);
        if (can_tell(x, &of, wanted))
            nearest = fmin(nearest, unlike(x, &of, ask, &to));
    }
    for (size_t i = 0; i < count; i++) {
        const struct experience *x = &known[i];
        struct experience_terms of;
        double tests, rate, tested_rate, weight, far;

        if (strcmp(x->backend, ask->backend))
            continue;
        of = x->terms.work > 0 ? x->terms : terms_of(x);
        add_once(&other, 1 / (1 + 0.2 * newer), x->other_seconds, of.other);
        if (!can_tell(x, &of, wanted))
            continue;
        far = unlike(x, &of, ask, &to);
        alike = alike ||
                (far < ALIKE && (x->train_seconds >= SOME_SECONDS || of.work >= AS_LARGE * wanted));
        weight = exp(3 * (nearest - far)) / (1 + 0.2 * newer++);
        rate = of.train + of.used; /* of one thread */
        add(&train, weight, x->train_seconds, rate - to.used);
        add(&eval, HEARSAY * weight, x->train_seconds, rate - to.threads - backward);
        tests = eval_work(x, ask, data);
        if (!(tests > 0))
            continue;
        tested_rate = log(x->eval_seconds / tests) + of.threads;
        add(&eval, weight, x->eval_seconds, tested_rate - to.threads);
        add(&train, HEARSAY * weight, x->eval_seconds, tested_rate - to.used + backward);
    }
    *guessed = alike ? 0 : newer;
    if (!(train.weight > 0))
        return NAN;
    seconds = exp(train.sum / train.weight) * wanted;
    if (other.weight > 0)
        seconds += exp(other.sum / other.weight);
    return seconds + exp(eval.sum / eval.weight) * ask->evaluations * tested * ask->members *
                         image_work(ask->backend, ask->flops);
}
