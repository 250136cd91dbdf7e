#include "spec/spec_int.h"
#include "base/mem.h"

#include <float.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* Counts end where a signed 32-bit index does; the largest double stands for "any finite number". */
#define MOST  2147483647
#define MOST_ "2147483647"

const struct spec_key spec_keys[] = {
    [KEY_NAME] = {"name", SPEC_GROUP_MODEL, "made from model and mode",
                  "up to 64 letters, digits, '-', '_' and '.'",
                  "becomes part of the run folder's name"},
    [KEY_MODEL] = {"model", SPEC_GROUP_MODEL, "lenet",
                   "a built-in name, a name in ./models, or a path with a slash or ending in .net",
                   "the network; model.NAME sets its parameter NAME"},
    [KEY_DATA] =
        {"data", SPEC_GROUP_DATA, "fashion-mnist",
         "fashion-mnist, mnist, synthetic, a folder of IDX files or of pictures by class, or a CSV "
         "file "
         "(train.csv or train.csv:test.csv; its column of labels is the one named label, else the "
         "first: chorus data --help)",
         "the images to learn from"},
    [KEY_NORMALIZE] = {"normalize", SPEC_GROUP_DATA, "255, for numbers in a CSV file standard",
                       "255, standard, none",
                       "how pixels become numbers: divided by 255, standardised from the training "
                       "images, or as they are"},
    [KEY_VALID] = {"valid", SPEC_GROUP_DATA, "0",
                   "a count of images from 0 to " MOST_ ", or per cent below 100 (10%)",
                   "images held out of training, the same for every seed"},
    [KEY_MODE] = {"mode", SPEC_GROUP_DEVICES, "data-parallel", "data-parallel, ensemble",
                  "one model with its batch split over the devices, or a model a device"},
    [KEY_BACKEND] = {"backend", SPEC_GROUP_DEVICES, "auto", "auto, cpu, cuda, ref",
                     "what computes: ref is the naive oracle, auto the fastest that is there"},
    [KEY_DEVICES] = {"devices", SPEC_GROUP_DEVICES, "1",
                     "a count from 1 to 1024, or GPU numbers (gpu:0+2)",
                     "places that compute; more than there are become virtual devices"},
    [KEY_THREADS] = {"threads", SPEC_GROUP_DEVICES, "all",
                     "all, a count from 1 to 1024, or a count for each device (2/device)",
                     "CPU threads"},
    [KEY_MEMBERS] = {"members", SPEC_GROUP_DEVICES, "as many as devices", "a count from 1 to 4096",
                     "models of an ensemble, member m on device m mod devices"},
    [KEY_BATCH] = {"batch", SPEC_GROUP_TRAINING, "256",
                   "a count from 1 to " MOST_ ", or a count for each device (32/device)",
                   "images that one update of one model sees, over all devices"},
    [KEY_EPOCHS] = {"epochs", SPEC_GROUP_TRAINING, "10", "a count from 0 to 1000000",
                    "passes over the training images; 0: the initial weights, nothing more"},
    [KEY_OPTIMIZER] = {"optimizer", SPEC_GROUP_TRAINING, "sgd",
                       "sgd, momentum, nesterov, adam, adamw", "how a gradient becomes an update"},
    [KEY_MOMENTUM] = {"momentum", SPEC_GROUP_TRAINING, "0.9", "a number from 0 to below 1",
                      "of momentum and nesterov: what is kept of the step before"},
    [KEY_BETA1] = {"beta1", SPEC_GROUP_TRAINING, "0.9", "a number from 0 to below 1",
                   "of adam and adamw: decay of the first moment"},
    [KEY_BETA2] = {"beta2", SPEC_GROUP_TRAINING, "0.999", "a number from 0 to below 1",
                   "of adam and adamw: decay of the second moment"},
    [KEY_EPSILON] = {"epsilon", SPEC_GROUP_TRAINING, "1e-08", "a number above 0 up to 1",
                     "of adam and adamw: added to the root"},
    [KEY_WEIGHT_DECAY] = {"weight_decay", SPEC_GROUP_TRAINING, "0", "a number from 0 to 1000",
                          "adamw: decoupled, 0.0001 unless given; elsewhere added to the gradient"},
    [KEY_LR] = {"lr", SPEC_GROUP_TRAINING, "0.1", "a finite number from 0", "the learning rate"},
    [KEY_LR_RULE] = {"lr_rule", SPEC_GROUP_TRAINING, "none", "none, linear, sqrt",
                     "how the learning rate grows with batch / lr_batch"},
    [KEY_LR_BATCH] = {"lr_batch", SPEC_GROUP_TRAINING, "256", "a count from 1 to " MOST_,
                      "the batch at which lr_rule leaves lr as it is"},
    [KEY_SCHEDULE] = {"schedule", SPEC_GROUP_TRAINING, "constant", "constant, cosine, step",
                      "how the learning rate changes from update to update"},
    [KEY_WARMUP] = {"warmup", SPEC_GROUP_TRAINING, "0", "epochs, a number from 0 to 1000000",
                    "epochs in which the learning rate rises to its full height"},
    [KEY_LR_MIN] = {"lr_min", SPEC_GROUP_TRAINING, "0", "a finite number from 0",
                    "of schedule = cosine: where it ends"},
    [KEY_STEP_EPOCHS] = {"step_epochs", SPEC_GROUP_TRAINING, "10",
                         "epochs, a number above 0 up to 1000000",
                         "of schedule = step: epochs between two steps"},
    [KEY_STEP_FACTOR] = {"step_factor", SPEC_GROUP_TRAINING, "0.1", "a number above 0 up to 1",
                         "of schedule = step: what each step multiplies with"},
    [KEY_GRAD_CLIP] = {"grad_clip", SPEC_GROUP_TRAINING, "none", "none, or a finite number above 0",
                       "largest global norm of a gradient"},
    [KEY_LOSS_REDUCTION] = {"loss_reduction", SPEC_GROUP_TRAINING, "mean", "mean, sum",
                            "within a device; between devices it is always the mean"},
    [KEY_SHUFFLE] = {"shuffle", SPEC_GROUP_DATA, "yes", "yes, no",
                     "a new order of the images every epoch, or the file's"},
    [KEY_MEMBER_ORDER] = {"member_order", SPEC_GROUP_DATA, "same", "same, own",
                          "whether the members of an ensemble see the images in the same order"},
    [KEY_INIT] = {"init", SPEC_GROUP_MODEL, "model",
                  "model, normal:STD, normal:STD:bias (STD above 0 up to 1000), lecun, he, xavier",
                  "initial weights; model: what the .net file says"},
    [KEY_WEIGHTS] = {"weights", SPEC_GROUP_MODEL, "none", "none, a safetensors file, or a run",
                     "weights to start from"},
    [KEY_PRECISION] = {"precision", SPEC_GROUP_DEVICES, "fp32",
                       "fp32, tf32, bf16, and fp64 with backend = ref", "of the arithmetic"},
    [KEY_SYNC_BN] = {"sync_bn", SPEC_GROUP_DEVICES, "no", "no, yes",
                     "batch norm's statistics over all devices instead of each device's own"},
    [KEY_AUGMENT] = {"augment", SPEC_GROUP_DATA, "none",
                     "none, or flip, crop:PAD (PAD from 1 to 256), erase joined by +",
                     "what is done to training images at random"},
    [KEY_SEED] = {"seed", SPEC_GROUP_TRAINING, "0", "a whole number from 0 to 9223372036854775807",
                  "of weights, orders, dropout and augmentation"},
    [KEY_REPEATS] = {"repeats", SPEC_GROUP_TRAINING, "1", "a count from 1 to 1000000",
                     "runs of the same experiment from seed, seed + 1, ..."},
    [KEY_TRAIN_LIMIT] = {"train_limit", SPEC_GROUP_DATA, "all", "all, or a count from 1 to " MOST_,
                         "the first so many training images"},
    [KEY_TEST_LIMIT] = {"test_limit", SPEC_GROUP_DATA, "all", "all, or a count from 1 to " MOST_,
                        "the first so many test images"},
    [KEY_LOG_EVERY] = {"log_every", SPEC_GROUP_STOP, "10", "a count from 1 to " MOST_,
                       "steps between two rows of steps.csv"},
    [KEY_KEEP] = {"keep", SPEC_GROUP_STOP, "last+best",
                  "last, best, all, every:N (N from 1 to 1000000) joined by +",
                  "the checkpoints that are kept"},
    [KEY_TARGET_ACC] = {"target_acc", SPEC_GROUP_STOP, "none",
                        "none, or a fraction above 0 up to 1",
                        "test (with valid: validation) accuracy whose crossing is timed"},
    [KEY_MAX_STEPS] = {"max_steps", SPEC_GROUP_STOP, "none",
                       "none, or a count from 1 to 9223372036854775807",
                       "ends after so many updates"},
    [KEY_MAX_MINUTES] = {"max_minutes", SPEC_GROUP_STOP, "none",
                         "none, or minutes, a number above 0 up to 10000000",
                         "ends after so many minutes"},
    [KEY_PATIENCE] = {"patience", SPEC_GROUP_STOP, "none", "none, or a count from 1 to 1000000",
                      "ends after so many epochs without a better loss"},
    [KEY_ON_END] = {"on_end", SPEC_GROUP_STOP, "none", "none, or a command for sh",
                    "a command run at the end, with CHORUS_RUN and CHORUS_STATE around it"},
    {NULL, SPEC_GROUP_DATA, NULL, NULL, NULL},
};
_Static_assert(MEM_COUNT(spec_keys) == SPEC_KEYS + 1, "spec.h counts the keys");
_Static_assert(SPEC_KEYS <= 64, "given is a set of bits");

static const char *const normalize_words[] = {"", "255", "standard", "none", NULL};
static const char *const mode_words[] = {"data-parallel", "ensemble", NULL};
static const char *const backend_words[] = {"auto", "cpu", "cuda", "ref", "fake", NULL};
static const char *const optimizer_words[] = {"sgd", "momentum", "nesterov", "adam", "adamw", NULL};
static const char *const lr_rule_words[] = {"none", "linear", "sqrt", NULL};
static const char *const schedule_words[] = {"constant", "cosine", "step", NULL};
static const char *const loss_words[] = {"mean", "sum", NULL};
static const char *const order_words[] = {"same", "own", NULL};
static const char *const precision_words[] = {"fp32", "tf32", "bf16", "fp64", NULL};

#define AT(member) offsetof(struct spec, member)
#define WORD(member, all)                                                                          \
    {                                                                                              \
        .kind = FIELD_WORD, .offset = AT(member), .words = all                                     \
    }
#define YESNO(member)                                                                              \
    {                                                                                              \
        .kind = FIELD_YESNO, .offset = AT(member)                                                  \
    }
#define COUNT(member, first, last, none)                                                           \
    {                                                                                              \
        .kind = FIELD_COUNT, .offset = AT(member), .lo = first, .hi = last, .unset = none          \
    }
#define REAL(member, first, last)                                                                  \
    {                                                                                              \
        .kind = FIELD_REAL, .offset = AT(member), .min = first, .max = last                        \
    }
#define REAL_ABOVE(member, first, last, none)                                                      \
    {                                                                                              \
        .kind = FIELD_REAL, .offset = AT(member), .min = first, .max = last, .above = true,        \
        .unset = none                                                                              \
    }
#define OWN(what)                                                                                  \
    {                                                                                              \
        .kind = FIELD_OWN, .set = spec_set_##what, .value = spec_value_##what                      \
    }

#define BELOW_ONE 0.99999999999999988898 /* the double before 1 */

const struct spec_field spec_fields[SPEC_KEYS] = {
    [KEY_NAME] = OWN(name),
    [KEY_MODEL] = OWN(model),
    [KEY_DATA] = OWN(data),
    [KEY_NORMALIZE] = WORD(normalize, normalize_words),
    [KEY_VALID] = OWN(valid),
    [KEY_MODE] = WORD(mode, mode_words),
    [KEY_BACKEND] = WORD(backend, backend_words),
    [KEY_DEVICES] = OWN(devices),
    [KEY_THREADS] = OWN(threads),
    [KEY_MEMBERS] = {.kind = FIELD_INT, .offset = AT(members), .lo = 1, .hi = 4096},
    [KEY_BATCH] = OWN(batch),
    [KEY_EPOCHS] = COUNT(epochs, 0, 1000000, NULL),
    [KEY_OPTIMIZER] = WORD(optimizer, optimizer_words),
    [KEY_MOMENTUM] = REAL(momentum, 0, BELOW_ONE),
    [KEY_BETA1] = REAL(beta1, 0, BELOW_ONE),
    [KEY_BETA2] = REAL(beta2, 0, BELOW_ONE),
    [KEY_EPSILON] = REAL_ABOVE(epsilon, 0, 1, NULL),
    [KEY_WEIGHT_DECAY] = REAL(weight_decay, 0, 1000),
    [KEY_LR] = REAL(lr, 0, DBL_MAX),
    [KEY_LR_RULE] = WORD(lr_rule, lr_rule_words),
    [KEY_LR_BATCH] = COUNT(lr_batch, 1, MOST, NULL),
    [KEY_SCHEDULE] = WORD(schedule, schedule_words),
    [KEY_WARMUP] = REAL(warmup, 0, 1e6),
    [KEY_LR_MIN] = REAL(lr_min, 0, DBL_MAX),
    [KEY_STEP_EPOCHS] = REAL_ABOVE(step_epochs, 0, 1e6, NULL),
    [KEY_STEP_FACTOR] = REAL_ABOVE(step_factor, 0, 1, NULL),
    [KEY_GRAD_CLIP] = REAL_ABOVE(grad_clip, 0, DBL_MAX, "none"),
    [KEY_LOSS_REDUCTION] = WORD(loss_reduction, loss_words),
    [KEY_SHUFFLE] = YESNO(shuffle),
    [KEY_MEMBER_ORDER] = WORD(member_order, order_words),
    [KEY_INIT] = OWN(init),
    [KEY_WEIGHTS] = OWN(weights),
    [KEY_PRECISION] = WORD(precision, precision_words),
    [KEY_SYNC_BN] = YESNO(sync_bn),
    [KEY_AUGMENT] = OWN(augment),
    [KEY_SEED] = OWN(seed),
    [KEY_REPEATS] = COUNT(repeats, 1, 1000000, NULL),
    [KEY_TRAIN_LIMIT] = COUNT(train_limit, 1, MOST, "all"),
    [KEY_TEST_LIMIT] = COUNT(test_limit, 1, MOST, "all"),
    [KEY_LOG_EVERY] = COUNT(log_every, 1, MOST, NULL),
    [KEY_KEEP] = OWN(keep),
    [KEY_TARGET_ACC] = REAL_ABOVE(target_acc, 0, 1, "none"),
    [KEY_MAX_STEPS] = COUNT(max_steps, 1, INT64_MAX, "none"),
    [KEY_MAX_MINUTES] = REAL_ABOVE(max_minutes, 0, 1e7, "none"),
    [KEY_PATIENCE] = COUNT(patience, 1, 1000000, "none"),
    [KEY_ON_END] = OWN(on_end),
};

const char *spec_backend_word(enum spec_backend backend)
{
    return backend_words[backend];
}

int spec_key_find(const char *name)
{
    if (!strncmp(name, "model.", 6))
        return KEY_MODEL;
    for (int i = 0; i < SPEC_KEYS; i++)
        if (!strcmp(spec_keys[i].name, name))
            return i;
    return -1;
}

bool spec_key_names(const char *key)
{
    static const char *const left_out[] = {"name",       "log_every", "keep",
                                           "target_acc", "on_end",    "repeats"};

    return !TEXT_IS_AMONG(key, left_out);
}

static struct spec usual;

static void make_usual(void)
{
    struct err ignored;

    for (int key = 0; key < SPEC_KEYS;
         key++) /* words are no value: 0 says that other keys decide */
        (void)!spec_set(&usual, spec_keys[key].name, spec_keys[key].fallback, NULL, NULL, &ignored);
    usual.given = usual.dotted = 0;
}

void spec_default(struct spec *s)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_usual);
    memcpy(s, &usual, sizeof *s); /* the padding too: equal experiments are equal bytes */
}
