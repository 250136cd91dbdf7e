/* The table of all fields: in which order they are shown, and what helps to fill them in. What a value
 * may be is spec_keys' to say. */
#include "ui/setup/form.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

const char *const form_group_names[5] = {"Data", "Model", "Training", "Devices", "Stop"};

const struct form_key form_keys[] = {
    {"data", FORM_PATH, true, WORDS("fashion-mnist", "mnist", "synthetic"), 0},
    {"valid", FORM_NUMBER, false, NULL, 0},
    {"normalize", FORM_CHOICE, false, WORDS("255", "standard", "none"), 0},
    {"augment", FORM_CHOICE, false, WORDS("none", "flip", "crop:2", "flip+crop:2", "erase"), 0},
    {"shuffle", FORM_CHOICE, false, WORDS("yes", "no"), 0},
    {"member_order", FORM_CHOICE, false, WORDS("same", "own"), 0},
    {"train_limit", FORM_NUMBER, false, NULL, FORM_STEP_DECADE},
    {"test_limit", FORM_NUMBER, false, NULL, FORM_STEP_DECADE},

    {"model", FORM_PATH, true, NULL, 0},
    {"init", FORM_CHOICE, false, WORDS("model", "lecun", "he", "xavier", "normal:0.01"), 0},
    {"weights", FORM_PATH, false, NULL, 0},
    {"name", FORM_WORDS, false, NULL, 0},

    {"devices", FORM_NUMBER, true, NULL, FORM_STEP_DOUBLE},
    {"mode", FORM_CHOICE, true, WORDS("data-parallel", "ensemble"), 0},
    {"members", FORM_NUMBER, false, NULL, FORM_STEP_DOUBLE},
    {"threads", FORM_WORDS, false, NULL, FORM_STEP_ONE},
    {"backend", FORM_CHOICE, false, WORDS("auto", "cpu", "cuda", "ref"), 0},
    {"precision", FORM_CHOICE, false, WORDS("fp32", "tf32", "bf16", "fp64"), 0},
    {"sync_bn", FORM_CHOICE, false, WORDS("no", "yes"), 0},

    {"batch", FORM_NUMBER, true, NULL, FORM_STEP_DOUBLE},
    {"epochs", FORM_NUMBER, true, NULL, FORM_STEP_ONE},
    {"lr", FORM_NUMBER, true, NULL, FORM_STEP_DECADE},
    {"optimizer", FORM_CHOICE, true, WORDS("sgd", "momentum", "nesterov", "adam", "adamw"), 0},
    {"momentum", FORM_NUMBER, false, NULL, 0},
    {"beta1", FORM_NUMBER, false, NULL, 0},
    {"beta2", FORM_NUMBER, false, NULL, 0},
    {"epsilon", FORM_NUMBER, false, NULL, FORM_STEP_DECADE},
    {"weight_decay", FORM_NUMBER, false, NULL, FORM_STEP_DECADE},
    {"lr_rule", FORM_CHOICE, false, WORDS("none", "linear", "sqrt"), 0},
    {"lr_batch", FORM_NUMBER, false, NULL, FORM_STEP_DOUBLE},
    {"schedule", FORM_CHOICE, false, WORDS("constant", "cosine", "step"), 0},
    {"warmup", FORM_NUMBER, false, NULL, FORM_STEP_ONE},
    {"lr_min", FORM_NUMBER, false, NULL, FORM_STEP_DECADE},
    {"step_epochs", FORM_NUMBER, false, NULL, FORM_STEP_ONE},
    {"step_factor", FORM_NUMBER, false, NULL, FORM_STEP_DECADE},
    {"grad_clip", FORM_NUMBER, false, NULL, FORM_STEP_DECADE},
    {"loss_reduction", FORM_CHOICE, false, WORDS("mean", "sum"), 0},
    {"seed", FORM_NUMBER, false, NULL, FORM_STEP_ONE},
    {"repeats", FORM_NUMBER, false, NULL, FORM_STEP_ONE},
    {"zip", FORM_WORDS, false, NULL, 0},
    {"samples", FORM_NUMBER, false, NULL, FORM_STEP_DOUBLE},

    {"patience", FORM_NUMBER, false, NULL, FORM_STEP_ONE},
    {"max_steps", FORM_NUMBER, false, NULL, FORM_STEP_DECADE},
    {"max_minutes", FORM_NUMBER, false, NULL, FORM_STEP_ONE},
    {"target_acc", FORM_NUMBER, false, NULL, 0},
    {"keep", FORM_CHOICE, false, WORDS("last+best", "last", "best", "all", "last+best+every:10"),
     0},
    {"log_every", FORM_NUMBER, false, NULL, FORM_STEP_DECADE},
    {"on_end", FORM_WORDS, false, NULL, 0},
    {NULL, FORM_WORDS, false, NULL, 0},
};
_Static_assert(sizeof form_keys / sizeof *form_keys == FORM_KEYS + 1, "a row for every key");
