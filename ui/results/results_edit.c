/* ui/results/results_edit.c: what is done to runs at once: tags, notes, the trash, each with its question. Files
 * are written by tasks; nothing here waits. */
#include "ui/results/results_int.h"

#include "base/mem.h"
#include "draw/ink/words.h"
#include "record/run/reader.h"
#include "record/run/run.h"
#include "record/trash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "7f3a", or "3 runs" */
void results_say_runs(char *out, size_t room, const char *const *names, size_t count)
{
    if (count == 1)
        snprintf(out, room, "%s", *results_hash(names[0]) ? results_hash(names[0]) : names[0]);
    else
        snprintf(out, room, "%s runs", TEXT_COUNT(count));
}

/* ---- tags, notes, trash: by the thread of tasks ---- */

enum deed { DEED_EDIT, DEED_REMOVE };
struct doing {
    struct results *results;
    enum deed deed;
    char **folder, *line;
    size_t count, done;
    char *where; /* a folder of the trash */
    struct err e;
};

static enum err_code remove_one(struct doing *d, const char *folder)
{
    struct record_entry entry;
    enum err_code code;

    TRY(record_read_entry(folder, &entry, &d->e));
    free(d->where);
    d->where = NULL;
    code = entry.live ? err_set(&d->e, ERR_INPUT, "%s is at work: K stops it first", entry.name)
                      : record_remove(&entry, &d->where, &d->e);
    record_free_entry(&entry);
    return code;
}

static void do_deed(void *arg)
{
    struct doing *d = arg;

    for (size_t i = 0; i < d->count; i++) {
        enum err_code code = d->deed == DEED_REMOVE ? remove_one(d, d->folder[i])
                                                    : record_edit(d->folder[i], d->line, &d->e);

        d->done += code == ERR_OK;
    }
}

/* The results folder is known: paths below it are said from there on, so that the reason is seen. */
static void shorten(const char *sentence, const char *folder, struct text *out)
{
    size_t n = strlen(folder);

    for (const char *at; n && (at = strstr(sentence, folder)) && at[n] == '/';) {
        text_add_n(out, sentence, (size_t)(at - sentence));
        sentence = at + n + 1;
    }
    text_add(out, sentence);
}

static void say_deed(const struct doing *d)
{
    struct app *app = d->results->app;
    struct text why = {0};

    shorten(d->e.text, app->config.results, &why);
    if (d->done < d->count)
        app_say(app, GRID_BAD, "%s%s", text_str(&why), d->done ? " (the others are done)" : "");
    else if (d->deed == DEED_REMOVE)
        app_say(app, GRID_GOOD, "moved to the folder trash of the results: %s run%s",
                TEXT_COUNT(d->done), text_s(d->done));
    else
        app_say(app, GRID_GOOD, "written into %s run%s", TEXT_COUNT(d->done), text_s(d->done));
    text_free(&why);
}

static void done_deed(void *arg, bool dropped)
{
    struct doing *d = arg;

    if (!dropped) {
        say_deed(d);
        library_tick(d->results->app->library, true);
    }
    for (size_t i = 0; i < d->count; i++)
        free(d->folder[i]);
    free(d->folder);
    free(d->line);
    free(d->where);
    free(d);
}

static void tell_deed(struct results *r, enum deed deed, const char *const *names, size_t count,
                      const char *line)
{
    struct text behind = {0};

    if (deed == DEED_REMOVE) {
        app_did(r->app, "rm", names, count, NULL);
    } else if (!strncmp(line, "tag ", 4)) {
        app_did(r->app, "tag", names, count, line + 4);
    } else {
        jobs_add_word(&behind, line[4] ? line + 5 : "");
        app_did(r->app, "note", names, count, text_str(&behind));
    }
    text_free(&behind);
}

static void start_deed(struct results *r, enum deed deed, const char *const *names, size_t count,
                       const char *line)
{
    struct doing *d = mem_new(1, sizeof *d);

    tell_deed(r, deed, names, count, line);
    d->results = r;
    d->deed = deed;
    d->line = mem_text(line);
    d->folder = mem_new(count + 1, sizeof *d->folder);
    for (size_t i = 0; i < count; i++)
        d->folder[d->count++] = library_folder(r->app->library, names[i]);
    tasks_add_slow(r->app->tasks, do_deed, done_deed, d);
}

/* ---- tags and notes ---- */

static void take_tags(void *user, const char *text)
{
    struct results *r = user;
    struct text line = {0};
    struct err e = {0};
    const char **names;
    size_t count;

    if (!text)
        return;
    if (results_tag_line(text, &line, &e) != ERR_OK) {
        app_prompt_again(r->app, text);
        app_say(r->app, GRID_BAD, "%s", e.text);
        text_free(&line);
        return;
    }
    names = results_asked(r, &count);
    if (count && strcmp(text_str(&line), "tag") != 0)
        start_deed(r, DEED_EDIT, names, count, text_str(&line));
    text_free(&line);
    free(names);
}

void results_ask_tags(struct results *r, const char *const *names, size_t count)
{
    struct text label = {0}, now = {0};
    char who[300];

    results_say_runs(who, sizeof who, names, count);
    text_addf(&label, "tags of %.24s", who);
    if (count == 1)
        words_add_cut(&now, library_cell(library_find(r->app->library, names[0]), "tags"), 20,
                      true);
    if (now.n)
        text_addf(&label, " (%s)", text_str(&now));
    text_add(&label, ", +TAG -TAG");
    app_prompt(r->app, text_str(&label), "", take_tags, NULL, r);
    text_free(&label);
    text_free(&now);
}

static void take_note(void *user, const char *text)
{
    struct results *r = user;
    const struct library_run *run = library_find(r->app->library, r->about);
    const size_t most = sizeof(((struct record_run *)0)->note) - 1;
    char *line;

    if (!text || !run)
        return;
    if (strlen(text) > most) { /* nothing was written: what was typed or pasted stays to be cut */
        app_prompt_again(r->app, text);
        app_say(r->app, GRID_BAD, "a note takes up to %zu bytes, this one has %zu", most,
                strlen(text));
        return;
    }
    line = *text ? mem_textf("note %s", text) : mem_text("note");
    start_deed(r, DEED_EDIT, &run->name, 1, line);
    free(line);
}

static void remember(struct results *r, const struct library_run *run)
{
    snprintf(r->about, sizeof r->about, "%s", run->name);
}

void results_ask_note(struct results *r, const struct library_run *run)
{
    char label[64];

    snprintf(label, sizeof label, "note on %.20s", results_hash(run->name));
    remember(r, run);
    app_prompt(r->app, label, library_cell(run, "note"), take_note, NULL, r);
}

/* ---- the trash ---- */

static void take_trash(void *user, int answer)
{
    struct results *r = user;
    const char **names;
    size_t count, kept = 0;

    if (answer != 1)
        return;
    names = results_asked(r, &count);
    for (size_t i = 0; i < count; i++) {
        const struct library_run *run = library_find(r->app->library, names[i]);

        if (run && !run->live)
            names[kept++] = names[i];
    }
    if (kept)
        start_deed(r, DEED_REMOVE, names, kept, "");
    free(names);
}

/* "7f3a", or which ones: marks are kept for long, and the cursor may stand on another run. */
static void add_meant(const struct results *r, const char *const *names, size_t count,
                      struct text *out)
{
    char who[300];
    size_t shown = count > 4 ? 3 : count;

    results_say_runs(who, sizeof who, names, count);
    text_addf(out, "%s%s", count > 1 && library_marks(r->app->library) ? "the marked " : "", who);
    for (size_t i = 0; i < shown && count > 1; i++)
        text_addf(out, "%s%s", i ? ", " : " (", results_hash(names[i]));
    if (shown < count)
        text_addf(out, " and %s more", TEXT_COUNT(count - shown));
    text_add(out, count > 1 ? ")" : "");
}

void results_ask_trash(struct results *r, const char *const *names, size_t count)
{
    static const char *const answers[] = {"keep", "trash", NULL};
    size_t live = 0;
    struct text who = {0}, question = {0};

    for (size_t i = 0; i < count; i++) {
        const struct library_run *run = library_find(r->app->library, names[i]);

        live += run && run->live;
    }
    add_meant(r, names, count, &who);
    text_addf(&question, "Move %s to the folder trash?", text_str(&who));
    if (live)
        text_addf(&question, " %s of them at work stay.", TEXT_COUNT(live));
    if (live == count)
        app_say(r->app, GRID_WARN, "%s %s at work: K stops a run first", text_str(&who),
                count == 1 ? "is" : "are");
    else
        app_ask(r->app, text_str(&question), answers, take_trash, r);
    text_free(&who);
    text_free(&question);
}
