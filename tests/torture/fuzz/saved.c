/* The network of a run: its experiment, its model, and behind these what a checkpoint says of its input and classes. It
 * is refused in a sentence or a sound net. */
#include "tests/torture/fuzz/fuzz.h"

#include "record/run/export.h"
#include "record/run/checkpoint.h"

#include <stdlib.h>

#define RUN "/r/run"

static char *next_string(struct fuzz_rest *rest)
{
    const uint8_t *bytes;
    size_t n;

    return fuzz_next(rest, &bytes, &n) ? fuzz_string(bytes, n) : NULL;
}

static void check(const struct net *net)
{
    MUST(net->input.h > 0 && net->input.w > 0 && net->input.c > 0 && net->classes > 0);
    for (int i = 0; i < net->layers; i++)
        MUST(net->layer[i].out.h > 0 && net->layer[i].out.w > 0 && net->layer[i].out.c > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static char input[] = RECORD_NOTE_INPUT, classes[] = RECORD_NOTE_CLASSES;
    struct fuzz_rest rest = {bytes, n};
    struct safetensors_note note[2] = {{input, NULL}, {classes, NULL}};
    struct safetensors s = {.note = note};
    struct net *net = NULL;
    struct err e = {0};

    fuzz_begin();
    fuzz_put_next(&rest, RUN "/experiment.ini");
    fuzz_put_next(&rest, RUN "/model.net");
    while (s.notes < 2 && (note[s.notes].value = next_string(&rest)))
        s.notes++;
    if (fuzz_taken(record_read_net(RUN, &s, &net, &e), &e)) {
        check(net);
        net_free(net);
    }
    for (size_t i = 0; i < s.notes; i++)
        free(note[i].value);
    return 0;
}
