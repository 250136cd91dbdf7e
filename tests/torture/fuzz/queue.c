/* A file of the queue, and sweep.ini: its options read back as they were written; what waits is a sweep or is not. The
 * first line of a case is the file's name. */
#include "tests/torture/fuzz/fuzz.h"

#include "base/mem.h"
#include "record/queue/queue.h"
#include "record/sweep/sweeps.h"

#include <stdlib.h>
#include <string.h>

static void check_options(const char *text)
{
    struct record_queue_options options, again;
    struct text first = {0}, second = {0};
    struct err e = {0};

    if (fuzz_taken(record_queue_read_options(text, &options, &e), &e)) {
        record_queue_add_options(&first, &options);
        MUST(record_queue_read_options(text_str(&first), &again, &e) == ERR_OK);
        record_queue_add_options(&second, &again);
        MUST_BE(text_str(&second), text_str(&first));
    }
    text_free(&first);
    text_free(&second);
}

static void check_name(char *name, struct record_queued *item)
{
    if (!record_queue_take_name(name, item))
        return;
    MUST_BE(item->file, name);
    MUST(item->number >= 0 && strstr(name, item->name));
}

/* In what it differs from another one of its name. */
static void check_labels(const struct record_queued *item)
{
    static char plain[] = "model = mlp\nlr = 0.1\n";
    struct record_queued pair[2] = {*item, *item};
    char **label;

    pair[1].text = plain;
    pair[1].n = sizeof plain - 1;
    label = record_queue_labels(pair, 2);
    MUST(label && label[0] && label[1] && !strchr(label[0], '\n'));
    record_queue_free_labels(label, 2);
}

/* Whether its text holds a list that may be long: sweep.c knows these. */
static bool is_short(const char *text)
{
    return !strpbrk(text, ":") && strlen(text) < 2000;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *all = fuzz_string(bytes, n), *text = all, *name = strsep(&text, "\n");
    struct record_queued item = {.text = text, .n = text ? strlen(text) : 0};
    struct record_queue_options options;
    struct spec_sweep s;

    fuzz_begin();
    check_name(name, &item);
    if (text) {
        check_options(text);
        if (item.file && is_short(text))
            check_labels(&item);
        spec_sweep_init(&s);
        if (item.file && is_short(text) && record_sweep_waits(&item, &s, &options))
            MUST(*options.name && spec_sweep_cells(&s) > 1);
        spec_sweep_free(&s);
    }
    item.text = NULL;
    record_queue_free_item(&item);
    free(all);
    return 0;
}
