/* Events up, commands down, slots, statuses: alone and between threads. */
#include "base/clock.h"
#include "tests/test.h"
#include "wire/wire.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>

static bool readable(struct wire *w)
{
    struct pollfd p = {.fd = wire_fd(w), .events = POLLIN};

    return poll(&p, 1, 0) == 1;
}

TEST(events_come_in_order_and_the_descriptor_says_when)
{
    struct wire *w = wire_new(4);
    struct wire_event event = {.kind = WIRE_STEP};

    CHECK(!readable(w));
    CHECK(!wire_take(w, &event));
    for (int i = 0; i < 3; i++) {
        event.u.step.step = i;
        wire_post(w, &event);
        CHECK(readable(w));
    }
    for (int i = 0; i < 3; i++) {
        CHECK(readable(w));
        REQUIRE(wire_take(w, &event));
        CHECK_INT(event.u.step.step, i);
        CHECK_INT(event.serial, i + 1);
    }
    CHECK(!readable(w));
    CHECK(!wire_take(w, &event));
    CHECK_INT(wire_missed(w), 0);
    wire_free(w);
}

TEST(a_full_ring_drops_counts_and_frees_slots)
{
    struct wire *w = wire_new(2);
    struct wire_event event = {.kind = WIRE_LOG};

    for (int i = 0; i < 5; i++) {
        event.slot = wire_slot_put(w, "text", 5);
        REQUIRE(event.slot);
        wire_post(w, &event);
    }
    CHECK_INT(wire_missed(w), 3);
    CHECK_INT(wire_missed(w), 0);
    /* the newest was dropped, its slot is free */
    CHECK(!wire_slot_take(w, event.slot, NULL));
    REQUIRE(wire_take(w, &event));
    CHECK_INT(event.serial, 1);
    free(wire_slot_take(w, event.slot, NULL));
    wire_post(w, &event);
    REQUIRE(wire_take(w, &event));
    CHECK_INT(event.serial, 2);
    REQUIRE(wire_take(w, &event));
    CHECK_INT(event.serial, 6);
    wire_free(w); /* frees the slots that nobody took: the leak checker looks */
}

TEST(commands_wait_in_a_queue_of_64)
{
    struct wire *w = wire_new(1);
    struct wire_command c = {.kind = WIRE_CLOSE};

    CHECK(!wire_next_command(w, &c, 0));
    for (uint32_t i = 0; i < 64; i++) {
        c.run = i;
        CHECK(wire_send(w, &c));
    }
    CHECK(!wire_send(w, &c));
    for (uint32_t i = 0; i < 64; i++) {
        REQUIRE(wire_next_command(w, &c, 0));
        CHECK_INT(c.run, i);
    }
    CHECK(!wire_next_command(w, &c, 5));
    CHECK(wire_send(w, &c));
    wire_free(w);
}

TEST(a_poke_wakes_whoever_waits_for_commands)
{
    struct wire *w = wire_new(1);
    struct wire_command c;
    uint64_t start = clock_ns();

    wire_poke(w);
    CHECK(!wire_next_command(w, &c, 60000));
    CHECK(clock_ns() - start < 30000000000u);
    CHECK(!wire_next_command(w, &c, 1)); /* the poke was used up */
    wire_free(w);
}

TEST(slots_hold_copies_under_numbers_that_are_not_0)
{
    struct wire *w = wire_new(1);
    char text[] = "first";
    uint32_t one = wire_slot_put(w, text, sizeof text), two, n = 2;
    size_t size;
    char *back;

    text[0] = 'X';
    two = wire_slot_put(w, text, sizeof text);
    CHECK(one && two && one != two);
    back = wire_slot_take(w, one, &size);
    CHECK_STR(back, "first");
    CHECK_INT(size, 6);
    free(back);
    CHECK(!wire_slot_take(w, one, &size));
    CHECK_INT(size, 0);
    CHECK(!wire_slot_take(w, 0, &size));
    CHECK(!wire_slot_take(w, 1025, &size));
    CHECK(!wire_slot_take(w, UINT32_MAX, &size));
    /* 1,024 of them */
    while (wire_slot_put(w, "", 0))
        n++;
    CHECK_INT(n - 1, 1024);
    free(wire_slot_take(w, two, NULL));
    CHECK_INT(wire_slot_put(w, text, 2), two);
    wire_free(w);
}

TEST(statuses_are_kept_by_run)
{
    struct wire *w = wire_new(1);
    struct wire_status s = {.run = 7, .state = WIRE_RUNNING}, *list;
    size_t n;

    CHECK(!wire_status(w, 7, &s));
    for (uint32_t run = 1; run <= 40; run++) {
        s.run = run;
        s.step = run;
        s.state = WIRE_RUNNING;
        wire_set_status(w, &s);
    }
    s.run = 2;
    s.state = WIRE_DONE;
    wire_set_status(w, &s);
    list = wire_statuses(w, &n);
    CHECK_INT(n, 40);
    CHECK_INT(list[1].state, WIRE_DONE);
    CHECK_INT(list[39].run, 40);
    free(list);
    REQUIRE(wire_status(w, 39, &s));
    CHECK_INT(s.step, 39);
    CHECK(!wire_status(w, 41, &s));
    wire_free(w);
}

TEST(what_has_no_room_keeps_no_slot)
{
    struct wire *w = wire_new(1);
    uint32_t slot;

    while (wire_send(w, &(struct wire_command){.kind = WIRE_STAY}))
        ;
    for (int i = 0; i < 2000; i++)
        CHECK(!wire_send_with(w, (struct wire_command){.kind = WIRE_START}, "spec", 4));
    slot = wire_slot_put(w, "text", 4);
    CHECK(slot);
    free(wire_slot_take(w, slot, NULL));
    wire_free(w);
}

TEST(names_of_states_go_both_ways)
{
    enum wire_state state;

    for (int i = WIRE_WAITING; i <= WIRE_SKIPPED; i++) {
        REQUIRE(wire_state_find(wire_state_name((enum wire_state)i), &state));
        CHECK_INT(state, i);
        CHECK_INT(wire_state_ended((enum wire_state)i), i >= WIRE_STOPPED);
    }
    CHECK(!wire_state_find("finished", &state));
    CHECK_STR(wire_state_name((enum wire_state)99), "unknown");
}

#define EVENTS 20000

struct talk {
    struct wire *w;
    int commands;
};

static void *engine_side(void *user)
{
    struct talk *t = user;
    struct wire_status status = {.run = 1, .state = WIRE_RUNNING};

    for (int i = 1; i <= EVENTS; i++) {
        struct wire_event event = {.kind = WIRE_STEP, .u.step.step = i};
        struct wire_command c;

        if (i % 16 == 0) {
            event.kind = WIRE_LOG;
            event.slot = wire_slot_put(t->w, &i, sizeof i);
        }
        wire_post(t->w, &event);
        status.step = i;
        wire_set_status(t->w, &status);
        if (wire_next_command(t->w, &c, 0))
            t->commands++;
    }
    status.state = WIRE_DONE;
    wire_set_status(t->w, &status);
    return NULL;
}

/* A reader that sleeps in poll gets every event that was not dropped, in order, and can tell how
 * many were. */
TEST(threads_lose_nothing_uncounted)
{
    struct talk t = {.w = wire_new(64)};
    struct wire_status status = {0};
    struct wire_event event;
    pthread_t thread;
    uint64_t taken = 0, missed = 0;
    uint32_t serial = 0;
    int sent = 0;
    struct wire_command c = {.kind = WIRE_STAY};

    REQUIRE(pthread_create(&thread, NULL, engine_side, &t) == 0);
    for (bool more = true; more;) {
        struct pollfd p = {.fd = wire_fd(t.w), .events = POLLIN};

        more = !wire_status(t.w, 1, &status) || status.state != WIRE_DONE;
        poll(&p, 1, 1);
        sent += wire_send(t.w, &c);
        while (wire_take(t.w, &event)) {
            CHECK(event.serial > serial);
            serial = event.serial;
            taken++;
            if (event.slot) {
                int *i = wire_slot_take(t.w, event.slot, NULL);

                CHECK(i && *i == (int)event.serial);
                free(i);
            }
        }
        missed += wire_missed(t.w);
    }
    pthread_join(thread, NULL);
    while (wire_take(t.w, &event)) {
        taken++;
        free(wire_slot_take(t.w, event.slot, NULL));
    }
    missed += wire_missed(t.w);
    CHECK_INT(taken + missed, EVENTS);
    while (wire_next_command(t.w, &c, 0))
        t.commands++;
    CHECK_INT(t.commands, sent);
    wire_free(t.w);
}
