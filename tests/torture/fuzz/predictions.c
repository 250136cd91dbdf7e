/* predictions.safetensors, as the workbench shows it: each answer is a class, what is picked are images of it, and each
 * image has bytes. */
#include "tests/torture/fuzz/fuzz.h"

#include "record/file/safetensors.h"
#include "ui/predict/predictview_int.h"

#include <stdlib.h>

#define PATH "/r/run/predictions.safetensors"

static void check_answers(const struct predictview_set *s)
{
    uint64_t counted = 0;
    int shown = s->confusion.classes;

    for (size_t i = 0; i < s->of.n; i++)
        MUST(s->of.answer[i] >= 0 && s->of.answer[i] < s->of.classes &&
             s->of.others[i] <= s->of.members);
    for (int k = 0; k < shown; k++)
        MUST(s->shown[k] >= 0 && s->shown[k] < s->of.classes);
    for (int k = 0; k < shown * shown; k++)
        counted += s->confusion.count[k];
    MUST(shown < s->of.classes ? counted <= s->of.n : counted == s->of.n);
}

static void check_picks(const struct predictview_set *s)
{
    for (int order = PREDICTVIEW_ALL; order <= PREDICTVIEW_PAIR; order++) {
        struct predictview_pick pick = {.order = (enum predictview_order)order,
                                        .label = s->of.classes - 1};

        predictview_pick(s, &pick);
        MUST(pick.n <= s->of.n);
        for (size_t i = 0; i < pick.n; i++)
            MUST(pick.image[i] < s->of.n);
        free(pick.image);
    }
    free(study_answers_bytes(&s->of, s->of.n - 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct predictview_set *set;
    struct safetensors file;
    struct err e = {0};

    fuzz_begin();
    fuzz_put(PATH, bytes, n);
    if (fuzz_taken(safetensors_read(PATH, &file, &e), &e) &&
        fuzz_taken(predictview_make(&set, &file, PATH, &e), &e)) {
        check_answers(set);
        check_picks(set);
        predictview_free(set);
    }
    return 0;
}
