/* Tags and notes. They stand in run.csv, which the owner of a run replaces whenever it likes: so a
 * change goes through the owner where there is one, as a line in RUN/control, and is made under the
 * run's lock where there is none. A line says what must be true afterwards ("tag +paper -draft",
 * "note TEXT"), so that it may be obeyed twice. */
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/file/disk.h"
#include "record/record_int.h"
#include "record/run/reader.h"
#include "record/run/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS 5000 /* an owner obeys within a second, between two steps that may be long */
#define LOOK_MS 25

bool record_has_word(const char *words, char sign, const char *word, size_t n)
{
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t m = strcspn(at, " "), skip = sign != 0;
        if (m == n + skip && (!sign || *at == sign) && !memcmp(at + skip, word, n))
            return true;
        at += m;
    }
    return false;
}

static void add_word(struct text *out, const char *word, size_t n)
{
    if (out->n)
        text_add(out, " ");
    text_add_n(out, word, n);
}

static bool apply_tags(const char *line, char *tags, size_t room)
{
    struct text out = {0};
    bool fits;

    for (const char *at = tags; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        if (n && !record_has_word(line, '-', at, n))
            add_word(&out, at, n);
        at += n;
    }
    for (const char *at = line; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        if (n > 1 && *at == '+' && !record_has_word(text_str(&out), 0, at + 1, n - 1))
            add_word(&out, at + 1, n - 1);
        at += n;
    }
    fits = out.n < room;
    if (fits)
        snprintf(tags, room, "%s", text_str(&out));
    text_free(&out);
    return fits;
}

enum record_edited record_apply_edit(const char *line, struct record_marks *marks)
{
    struct record_marks before = *marks;

    if (!strncmp(line, "tag ", 4)) {
        if (!apply_tags(line + 4, marks->tags, sizeof marks->tags))
            return RECORD_TOO_LONG;
    } else if (!strcmp(line, "note") || !strncmp(line, "note ", 5)) {
        const char *text = line[4] ? line + 5 : "";
        if (strlen(text) >= sizeof marks->note)
            return RECORD_TOO_LONG;
        snprintf(marks->note, sizeof marks->note, "%s", text);
    } else {
        return RECORD_NO_EDIT;
    }
    return strcmp(before.tags, marks->tags) || strcmp(before.note, marks->note) ? RECORD_CHANGED
                                                                                : RECORD_SAME;
}

void record_marks_of(struct record_marks *marks, const struct record_run *run)
{
    memcpy(marks->tags, run->tags, sizeof marks->tags);
    memcpy(marks->note, run->note, sizeof marks->note);
}

enum err_code record_write_marks(const char *folder, const struct record_marks *marks,
                                 struct err *e)
{
    char *path = io_path(folder, "run.csv");
    struct record_run *run = mem_new(1, sizeof *run);
    enum err_code code = record_read_run(path, run, e);
    struct text text = {0};

    if (code == ERR_OK) {
        memcpy(run->tags, marks->tags, sizeof run->tags);
        memcpy(run->note, marks->note, sizeof run->note);
        record_run_text(run, &text);
        io_remove_drafts(path); /* a killed tag or note left one */
        code = io_replace_own(path, text.s, text.n, e);
    }
    text_free(&text);
    free(run);
    free(path);
    return code;
}

/* What the file says, and what it would say after the line. */
static enum err_code look(const char *folder, const char *line, struct record_marks *marks,
                          enum record_edited *edited, struct err *e)
{
    char *path = io_path(folder, "run.csv");
    struct record_run *run = mem_new(1, sizeof *run);
    enum err_code code = record_read_run(path, run, e);

    if (code == ERR_OK) {
        record_marks_of(marks, run);
        *edited = record_apply_edit(line, marks);
        if (*edited == RECORD_TOO_LONG)
            code = err_set(e, ERR_INPUT, "%s of %s would take more than %zu bytes",
                           line[0] == 't' ? "the tags" : "the note", folder,
                           (line[0] == 't' ? sizeof marks->tags : sizeof marks->note) - 1);
    }
    free(run);
    free(path);
    return code;
}

/* ERR_FAILED: somebody holds the lock. */
static enum err_code edit_alone(const char *folder, const char *line, struct err *e)
{
    struct record_hold hold;
    struct record_marks marks;
    enum record_edited edited = RECORD_SAME;
    enum err_code code;

    TRY(record_hold(folder, true, &hold, e));
    code = look(folder, line, &marks, &edited, e);
    if (code == ERR_OK && edited == RECORD_CHANGED)
        code = record_write_marks(folder, &marks, e);
    record_let_go(&hold);
    return code;
}

enum err_code record_edit(const char *folder, const char *line, struct err *e)
{
    struct record_marks marks;
    enum record_edited edited = RECORD_SAME;
    enum err_code code = ERR_OK;
    bool told = false;

    for (uint64_t begun = clock_ns(); clock_ns() - begun < WAIT_MS * 1000000ull;) {
        TRY(look(folder, line, &marks, &edited, e));
        if (edited == RECORD_SAME)
            return ERR_OK;
        if (!record_is_owned(folder)) {
            code = edit_alone(folder, line, e);
            if (code != ERR_FAILED)
                return code == ERR_OK ? code : record_say_read_only(folder, e);
        } else if (!told) {
            /* An owner that is gone by now left the line unread: then it is made here. */
            code = record_control(folder, line, e);
            if (code == ERR_IO && (e->sys == EROFS || e->sys == EACCES || e->sys == EPERM))
                return code;
            told = code == ERR_OK;
        }
        clock_sleep_ms(LOOK_MS);
    }
    if (!told && code == ERR_IO)
        return code;
    return err_set(e, ERR_FAILED,
                   "run %s was told, but its owner has not answered within %d s: try again", folder,
                   WAIT_MS / 1000);
}
