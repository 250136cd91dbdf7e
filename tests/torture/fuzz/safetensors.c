/* A safetensors file, as a checkpoint or as weights: its header alone and the whole agree; what is read and written
 * again is the same; a model takes it, and `weights` exports it, or refuses it in a sentence. */
#include "tests/torture/fuzz/fuzz.h"

#include "base/mem.h"
#include "record/run/checkpoint.h"
#include "record/run/export.h"
#include "record/file/safetensors.h"
#include "record/start_weights.h"

#include <stdlib.h>
#include <string.h>

#define PATH  "/w/a.safetensors"
#define AGAIN "/w/b.safetensors"

static const char model[] = "input 1 2 2\ndense 3\nbatchnorm\nrelu\ndense 2\n";

static struct net *small_net(void)
{
    static struct net *net;
    struct err e = {0};

    if (!net && net_parse(&net, model, sizeof model - 1, "m.net", NULL, &e) != ERR_OK)
        fuzz_fail(__FILE__, __LINE__, e.text, "");
    return net;
}

static void same_tensors(const struct safetensors *a, const struct safetensors *b, bool bytes)
{
    MUST(a->tensors == b->tensors);
    for (size_t i = 0; i < a->tensors; i++) {
        const struct safetensors_tensor *x = &a->tensor[i], *y = &b->tensor[i];

        MUST(!strcmp(x->name, y->name) && x->type == y->type && x->dims == y->dims);
        MUST(!memcmp(x->shape, y->shape, sizeof x->shape) && x->size == y->size);
        MUST(!bytes || !x->size || !memcmp(x->bytes, y->bytes, x->size));
    }
}

/* Without the checksum, which writing makes anew. */
static void write_again(const struct safetensors *s)
{
    struct safetensors_note *note = mem_new(s->notes + 1, sizeof *note);
    struct safetensors again;
    size_t notes = 0;
    struct err e = {0};

    for (size_t i = 0; i < s->notes; i++)
        if (strcmp(s->note[i].key, "sha256") != 0)
            note[notes++] = s->note[i];
    if (fuzz_taken(safetensors_write(AGAIN, s->tensor, s->tensors, note, notes, &e), &e)) {
        if (safetensors_read(AGAIN, &again, &e) != ERR_OK)
            fuzz_fail(__FILE__, __LINE__, "what was written reads: ", e.text);
        MUST(again.sealed);
        for (size_t i = 0; i < notes; i++)
            MUST_BE(safetensors_note(&again, note[i].key), note[i].value);
        safetensors_free(&again);
    }
    free(note);
}

static void give_to_model(const struct safetensors *s, bool ensemble)
{
    struct record_weights w;
    struct err e = {0};
    int64_t number;
    enum err_code whole, checked;

    MUST(record_weights_new(&w, small_net(), ensemble ? 2 : 1, ensemble, 4, 1, &e) == ERR_OK);
    (void)fuzz_taken(record_unpack_weights(s, PATH, small_net(), &w, &e), &e);
    whole = record_read_start(NULL, PATH, small_net(), &w, &e);
    (void)fuzz_taken(whole, &e);
    checked = record_check_start_file(PATH, small_net(), w.members, ensemble, &e);
    (void)fuzz_taken(checked, &e);
    MUST(whole == checked);
    (void)record_unpack_int(s, RECORD_NOTE_EPOCH, &number);
    record_weights_free(&w);
}

static void export_it(const struct safetensors *s, int member, bool torch)
{
    struct record_pack pack = {0};
    struct err e = {0};

    (void)fuzz_taken(record_export(&pack, s, member, torch, small_net(), &e), &e);
    record_pack_free(&pack);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct safetensors s, header;
    struct err e = {0}, of_header = {0};
    enum err_code code;

    fuzz_begin();
    fuzz_put(PATH, bytes, n);
    code = safetensors_read_header(PATH, &header, &of_header);
    if (!fuzz_taken(safetensors_read(PATH, &s, &e), &e)) {
        if (fuzz_taken(code, &of_header)) { /* its checksum is wrong */
            MUST(safetensors_note(&header, "sha256"));
            safetensors_free(&header);
        }
        return 0;
    }
    MUST(code == ERR_OK);
    same_tensors(&s, &header, false);
    safetensors_free(&header);
    write_again(&s);
    give_to_model(&s, false);
    give_to_model(&s, true);
    export_it(&s, RECORD_ALL_MEMBERS, n % 2);
    export_it(&s, 1, n % 2);
    safetensors_free(&s);
    return 0;
}
