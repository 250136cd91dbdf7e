/* What a sweep waits for before it can write: a ledger that others hold, a disk that is full. */
#include "engine/sweep/sweep_int.h"

#include "base/again.h"
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>

#define SECOND      1000000000u
#define PATIENCE_NS 3000000000u /* with a ledger that others hold, until it is said */

static bool is_busy(const struct err *e)
{
    return e->code == ERR_FAILED && e->sys == EWOULDBLOCK;
}

/* Until it is over, for who has not seen the line; who reads the line finds it. */
static void show_trouble(struct sweep *s, enum err_code code, const char *reason)
{
    s->status.code = code;
    snprintf(s->status.reason, sizeof s->status.reason, "%.511s", reason);
    wire_set_sweep(s->engine->wire, &s->status);
}

static void show_held(struct sweep *s, const struct err *e)
{
    struct text words = {0};

    write_error_words(e, s->engine->results, 0, &words);
    show_trouble(s, e->code, text_str(&words));
    text_free(&words);
}

void sweep_wait_over(struct sweep *s)
{
    if (s->held_told) {
        show_trouble(s, ERR_OK, "");
        sweep_tell(s, LOG_WARN, "%s: the sweep %s",
                   s->busy ? "the ledger is free again" : "there is room on the disk again",
                   sweep_is_held(s) ? "is paused still" : "goes on");
    }
    s->held_told = s->busy = false;
    s->held_since_ns = 0;
}

/* Programs that share a sweep wait for each other all the time, for less than anybody notices. */
static void hold(struct sweep *s, const struct err *e)
{
    uint64_t now = clock_ns();
    bool told = s->held_told;

    if (!s->held_since_ns)
        s->held_since_ns = now;
    s->busy = is_busy(e);
    s->hold_ns = now + SECOND;
    if (!told && s->busy && now - s->held_since_ns < PATIENCE_NS)
        return;
    s->held_told = true;
    show_held(s, e);
    if (told)
        return;
    sweep_tell(s, LOG_ERROR,
               "%s: the sweep waits until %s and then goes on by itself; chorus stop "
               "%s%s ends it, resumable",
               e->text, s->busy ? "it is free" : "there is room", s->name, again());
}

void sweep_wait_for(struct sweep *s, const struct err *e)
{
    if (is_busy(e) || write_error_is_full(e)) {
        hold(s, e);
        return;
    }
    if (s->trouble.code)
        return;
    s->trouble = *e;
    sweep_tell(s, LOG_ERROR, "%s: the sweep ends here; chorus resume %s%s goes on", e->text,
               s->name, again());
    sweep_end_part(s);
}
