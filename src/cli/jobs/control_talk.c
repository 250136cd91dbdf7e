/* cli/jobs/control_talk.c: what is said of a run that is paused, let go or stopped: which one is meant, and why it
 * hears nothing. */
#include "cli/jobs/control_talk.h"

#include "base/again.h"
#include "base/err.h"
#include "base/text.h"
#include "cli/out/print.h"
#include "cli/sweeps/sweeps.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "study/runs.h"
#include "wire/sweep.h"
#include "wire/wire.h"

#include <string.h>

bool control_in_live_sweep(const struct record_entry *entry)
{
    return !entry->broken && entry->run.sweep[0] && sweeps_live(entry->run.sweep);
}

/* No other cell of it has begun since. */
static int refuse_ended_cell(const struct record_entry *entry, const char *verb, const char *sweep)
{
    return cli_refuse("nobody runs %s: it is %s; of the sweep %s, which goes on, it is one cell: "
                      "chorus %s %s%s is for the sweep",
                      TEXT_CLEAN(entry->name),
                      entry->dead ? "dead" : wire_state_words(entry->run.state), sweep, verb, sweep,
                      again());
}

void control_say_of_cell(const struct record_entry *entry, const char *line)
{
    static const struct {
        const char *line, *verb, *does;
    } of[] = {{"pause", "pause",
               "holds this cell alone; what else runs goes on, and nothing "
               "begins in its place"},
              {"go", "go", "lets this cell alone go on"},
              {"skip", "stop", "drops this cell, which gets no result; the sweep goes on"},
              {"stop", "stop",
               "stops this cell alone; the sweep goes on with its others, and with "
               "this one when it is resumed"}};
    struct wire_sweep_status is;
    const char *sweep = TEXT_CLEAN(entry->run.sweep);
    size_t i = 0;

    if (!control_in_live_sweep(entry))
        return;
    while (i + 1 < sizeof of / sizeof *of && strncmp(of[i].line, line, strlen(of[i].line)) != 0)
        i++;
    cli_talk("a cell of the sweep %s: this %s. The whole sweep: chorus %s %s%s", sweep, of[i].does,
             of[i].verb, sweep, again());
    if (!strncmp(line, "go", 2) && sweeps_standing(entry->run.sweep, &is) &&
        is.state == WIRE_PAUSED)
        cli_talk("the sweep stays paused: no further cell begins before chorus go %s%s", sweep,
                 again());
}

static void add_next_step(const struct record_run *run, const char *name, struct text *out)
{
    enum wire_state state = run->state;

    if (state == WIRE_STOPPED || state == WIRE_WAITING) {
        text_addf(out, "chorus resume %s%s goes on with it", name, again());
    } else if (state == WIRE_DONE && run->reason[0]) {
        text_addf(out, "ended by %s, it has nothing to go on with", TEXT_CLEAN(run->reason));
    } else if (state == WIRE_DONE) {
        text_addf(out, "chorus resume %s%s epochs=N with a larger N goes on", name, again());
    } else {
        text_addf(out, "chorus ls%s state=running lists what runs", again());
    }
}

int control_refuse_idle(const struct record_entry *entry, const char *verb)
{
    const char *name = TEXT_CLEAN(entry->name);
    struct text next = {0};
    struct err e;
    int code;

    if (control_in_live_sweep(entry))
        return refuse_ended_cell(entry, verb, TEXT_CLEAN(entry->run.sweep));
    if (record_check_whole(entry, &e) != ERR_OK)
        return cli_fail(&e);
    if (entry->dead)
        return cli_refuse(
            "nobody runs %s any more: its process is gone; chorus resume %s%s goes on", name, name,
            again());
    if (study_entry_is_average(entry))
        text_add(&next, "as an average of finished runs it has nothing to stop or to go on with");
    else
        add_next_step(&entry->run, name, &next);
    code = cli_refuse("nobody runs %s: it is %s; %s", name, wire_state_words(entry->run.state),
                      text_str(&next));
    text_free(&next);
    return code;
}
