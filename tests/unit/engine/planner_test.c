/* Answers do not wait for data that must be opened to find which cells have a result. */
#include "tests/unit/engine/sweep_kit.h"

#include "base/io.h"
#include "base/mem.h"

#include <fcntl.h>
#include <pthread.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool armed, waits; /* who opens the table first waits at the gate, nobody else */

static int open_slowly(const char *path, int flags, mode_t mode)
{
    if (text_ends_with(path, "table.csv") && atomic_exchange(&armed, false)) {
        atomic_store(&waits, true);
        pthread_mutex_lock(&gate);
        pthread_mutex_unlock(&gate);
    }
    return open(path, flags, mode);
}

static void send_table(struct kit *k, enum wire_command_kind kind, uint32_t number, const char *lr)
{
    struct wire_command c = {.kind = kind, .run = number};
    char *text = mem_textf("model = linear\ndata = %s/table.csv\nbatch = 2\nepochs = 1\n"
                           "backend = fake\nlr = %s\n",
                           k->folder, lr);
    size_t n = sizeof(struct wire_sweep) + strlen(text) + 1;
    struct wire_sweep *s = mem_new(1, n);

    strcpy(s->name, "table");
    strcpy(s->text, text);
    CHECK(wire_send_with(k->wire, c, s, n));
    free(s);
    free(text);
}

/* Until so many answers have come, or the final one to that question. */
static void hear_answers(struct kit *k, int answers, uint32_t question)
{
    uint64_t until = clock_ns() + KIT_WAIT_MS * 1000000ull;
    struct wire_event event;

    while (k->events[WIRE_FORECAST] < answers && k->forecast.question != question &&
           clock_ns() < until) {
        while (wire_take(k->wire, &event))
            kit_hear(k, &event);
        clock_sleep_ms(1);
    }
}

TEST(an_answer_does_not_wait_for_data_that_are_opened)
{
    int (*real)(const char *, int, mode_t) = io.open;
    struct wire_sweep_status status;
    struct kit k;
    char *table;

    kit_folder(&k);
    table = io_path(k.folder, "table.csv");
    kit_write(table,
              "a,b,label\n1,2,0\n2,1,1\n3,5,0\n4,4,1\n5,2,0\n6,1,1\n7,8,0\n8,1,1\n9,2,0\n1,1,1\n");
    clock_sleep_ms(50); /* from now on it cannot change unseen */
    io.open = open_slowly;
    kit_engine(&k, 4096, 0);
    send_table(&k, WIRE_SWEEP, ++k.runs, "0.1, 0.2");
    wait_sweep(&k, k.runs, &status);
    CHECK_INT(status.done, 2);
    send_table(&k, WIRE_ASK, 101, "0.1, 0.2");
    hear_answers(&k, INT32_MAX, 101);
    CHECK_INT(k.forecast.question, 101);
    CHECK_INT(k.forecast.with_result, 2);
    pthread_mutex_lock(&gate);
    atomic_store(&armed, true); /* its head is known, so that it is opened for the names alone */
    for (uint32_t question = 102; question < 105; question++) {
        int heard = k.events[WIRE_FORECAST];

        send_table(&k, WIRE_ASK, question, "0.1, 0.2, 0.4");
        hear_answers(&k, heard + 1, question);
        CHECK(k.events[WIRE_FORECAST] > heard);
        for (int i = 0; i < KIT_WAIT_MS && !atomic_load(&waits); i++)
            clock_sleep_ms(1);
        CHECK(atomic_load(&waits));
        CHECK_INT(k.forecast.question, 101);
    }
    pthread_mutex_unlock(&gate);
    hear_answers(&k, INT32_MAX, 104);
    CHECK_INT(k.forecast.question, 104);
    CHECK_INT(k.forecast.with_result, 2);
    CHECK_INT(k.forecast.runs, 1);
    kit_end(&k);
    io.open = real;
    free(table);
}
