/* ui/results/results_members.c: the members of ensembles that are unfolded, read by a task. */
#include "ui/results/results_int.h"

#include "base/mem.h"
#include "record/run/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading_members {
    struct results *results;
    char *folder;
    struct results_members found;
};

static void do_members(void *arg)
{
    struct reading_members *m = arg;
    struct sheet s;
    size_t from;
    int epoch;

    if (record_read_sheet(m->folder, "members", &s, NULL) != ERR_OK)
        return;
    epoch = sheet_column(&s, "epoch");
    from = s.rows;
    while (from > 0 && !strcmp(sheet_cell(&s, from - 1, epoch), sheet_cell(&s, s.rows - 1, epoch)))
        from--;
    m->found.member = mem_new(s.rows - from + 1, sizeof *m->found.member);
    for (size_t i = from; i < s.rows; i++) {
        m->found.member[m->found.n].acc = sheet_number(&s, i, sheet_column(&s, "test_acc"));
        m->found.member[m->found.n].loss = sheet_number(&s, i, sheet_column(&s, "test_loss"));
        m->found.member[m->found.n].prefix = sheet_number(&s, i, sheet_column(&s, "prefix_acc"));
        m->found.member[m->found.n].device = (int)sheet_whole(&s, i, sheet_column(&s, "device"), 0);
        m->found.epoch = sheet_whole(&s, i, epoch, 0);
        m->found.n++;
    }
    sheet_free(&s);
}

static void done_members(void *arg, bool dropped)
{
    struct reading_members *m = arg;
    struct results *r = m->results;

    for (size_t i = 0; !dropped && i < RESULTS_MEMBERS; i++) {
        struct results_members *to = &r->members[i];

        if (strcmp(to->run, m->found.run) != 0)
            continue;
        free(to->member);
        to->member = m->found.member;
        to->n = m->found.n;
        to->epoch = m->found.epoch;
        to->read = true;
        m->found.member = NULL;
        r->stale = true;
        break;
    }
    free(m->found.member);
    free(m->folder);
    free(m);
}

/* The next place of none that is unfolded: two that take each other's place would be read for ever.
 * NULL: all are. */
static struct results_members *find_place(struct results *r)
{
    for (size_t i = 0; i < RESULTS_MEMBERS; i++) {
        struct results_members *to = &r->members[r->member_next++ % RESULTS_MEMBERS];

        if (!to->run[0] || !results_is_open(r, results_key("run", to->run)))
            return to;
    }
    return NULL;
}

const struct results_members *results_members_of(struct results *r, const char *run)
{
    static const struct results_members none;
    struct reading_members *m;
    struct results_members *to;

    for (size_t i = 0; i < RESULTS_MEMBERS; i++)
        if (!strcmp(r->members[i].run, run))
            return &r->members[i];
    to = find_place(r);
    if (!to)
        return &none;
    free(to->member);
    memset(to, 0, sizeof *to);
    snprintf(to->run, sizeof to->run, "%s", run);
    m = mem_new(1, sizeof *m);
    m->results = r;
    m->folder = library_folder(r->app->library, run);
    snprintf(m->found.run, sizeof m->found.run, "%s", run);
    tasks_add(r->app->tasks, do_members, done_members, m);
    return to;
}
