/* ui/app/app_log.c: what everybody says: the engine's threads, verbs that run as programs, libraries that
 * print. The newest lines are kept for the Log screen, all of them in a file for after a crash. */
#include "ui/app/app_int.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "draw/ink/words.h"
#include "ui/term/crash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FILE_MOST    (1 << 20) /* what is longer is put aside, and thrown away by the next such */
#define PENDING_MOST 10000
#define NAME_MOST    300        /* columns: a command line may begin with a word of any length */
#define TALK_NS      500000000u /* a line whose end does not come is one by then */

static void sink(void *user, enum log_level level, const char *line)
{
    struct app_int *own = user;
    uint64_t one = 1;
    ssize_t n = 0;

    pthread_mutex_lock(&own->lock);
    if (own->pending_count < PENDING_MOST) {
        own->pending = mem_grow(own->pending, &own->pending_room, own->pending_count + 1,
                                sizeof *own->pending);
        own->pending[own->pending_count++] =
            (struct app_line){.level = level, .text = mem_text(line)};
        n = write(own->pending_fd, &one, sizeof one);
    }
    pthread_mutex_unlock(&own->lock);
    (void)n; /* a full counter is readable already */
}

static char *path_of_log(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *folder, *path;
    struct err e;

    if (state && *state == '/') /* the base directory specification: a relative one is none */
        folder = io_path(state, "chorus");
    else if (home && *home)
        folder = io_path(home, ".local/state/chorus");
    else
        return NULL;
    path = io_make_folders(folder, &e) == ERR_OK ? io_path(folder, "workbench.log") : NULL;
    free(folder);
    return path;
}

/* Another workbench may write to the same file, and may have put it aside already. */
static void open_file(struct app_int *own)
{
    struct stat st;
    char *old;

    if (own->log)
        fclose(own->log);
    if (io.stat(own->log_path, &st) == 0 && st.st_size > FILE_MOST) {
        old = mem_textf("%s.1", own->log_path);
        if (io.rename(own->log_path, old) != 0)
            io.unlink(own->log_path);
        free(old);
    }
    own->log = fopen(own->log_path, "ae");
}

void log_open(struct app *app)
{
    struct app_int *own = app->own;

    pthread_mutex_init(&own->lock, NULL);
    own->pending_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    own->log_path = path_of_log();
    if (own->log_path)
        open_file(own);
    log_to(sink, own);
}

static void drop_first(struct app_int *own)
{
    struct app_line *line = &own->line[own->line_first];

    free(line->from);
    free(line->text);
    *line = (struct app_line){0};
    own->line_first = (own->line_first + 1) % APP_LINES;
    own->lines--;
}

/* What was printed, n bytes: its lines go into the log, the last one where it is ended or all is to go. Says
 * how much stays. */
static size_t log_talk(struct app *app, size_t n, bool all)
{
    char *said = crash_said();
    size_t from = 0;

    for (size_t i = 0; i < n; i++) {
        if (said[i] == 0)
            said[i] = '?';
        if (said[i] != '\n')
            continue;
        said[i] = 0;
        app_log_from(app, LOG_INFO, "printed", said + from);
        from = i + 1;
    }
    if (n > from && (all || n - from == CRASH_SAID)) {
        said[n] = 0;
        app_log_from(app, LOG_INFO, "printed", said + from);
        from = n;
    }
    if (crash_has_come())
        return n;
    memmove(said, said + from, n - from);
    memset(said + n - from, 0, from);
    return n - from;
}

void log_close(struct app *app)
{
    struct app_int *own = app->own;

    log_to(NULL, NULL);
    log_take(app);
    log_talk(app, own->talk_n, true);
    while (own->lines)
        drop_first(own);
    free(own->pending);
    if (own->log)
        fclose(own->log);
    free(own->log_path);
    close(own->pending_fd);
    pthread_mutex_destroy(&own->lock);
}

void app_log(struct app *app, int level, const char *line)
{
    app_log_from(app, level, "", line);
}

static void write_line(struct app_int *own, const struct app_line *line)
{
    char utc[CLOCK_UTC_ROOM];

    if (!own->log || crash_has_come())
        return;
    clock_utc(utc, line->wall);
    fprintf(own->log, "%s %s%s%s\n", utc, line->from, *line->from ? ": " : "", line->text);
    fflush(own->log);
    if (ftell(own->log) > FILE_MOST)
        open_file(own);
}

void app_log_from(struct app *app, int level, const char *from, const char *line)
{
    struct app_int *own = app->own;
    struct text clean = {0}, who = {0};
    struct app_line *to;

    text_add_clean(&clean, line);
    words_add_cut(&who, from, NAME_MOST, false);
    if (own->lines == APP_LINES)
        drop_first(own);
    own->line_count++;
    to = &own->line[(own->line_first + own->lines++) % APP_LINES];
    *to = (struct app_line){level, app_wall(app), mem_text(text_str(&who)),
                            mem_text(text_str(&clean))};
    write_line(own, to);
    text_free(&clean);
    text_free(&who);
    app->dirty = true;
}

const struct app_line *app_log_line(const struct app *app, size_t from_last)
{
    const struct app_int *own = app->own;

    return from_last < own->lines
               ? &own->line[(own->line_first + own->lines - 1 - from_last) % APP_LINES]
               : NULL;
}

/* What ended, and why. That something runs, its own lines say. */
static void log_state(struct app *app, enum wire_state state, const char *from, const char *why)
{
    const char *name = wire_state_words(state);
    struct text line = {0};

    if (!wire_state_ended(state))
        return;
    if (strncmp(why, name, strlen(name)) != 0)
        text_addf(&line, "%s%s", name, *why ? ": " : "");
    text_add(&line, why);
    app_log_from(app,
                 state == WIRE_FAILED || state == WIRE_OOM     ? LOG_ERROR
                 : state == WIRE_DONE || state == WIRE_STOPPED ? LOG_INFO
                                                               : LOG_WARN,
                 from, text_str(&line));
    text_free(&line);
}

void log_event(struct app *app, const struct wire_event *event, const char *words)
{
    struct text from = {0}, line = {0};

    if (event->kind == WIRE_LOG || event->kind == WIRE_STATE || event->kind == WIRE_REFUSED ||
        event->kind == WIRE_TAKEN)
        feed_add_name(app->feed, event->run, &from);
    if (event->kind == WIRE_LOG && *words)
        app_log_from(app, event->u.log.level, text_str(&from), words);
    else if (event->kind == WIRE_REFUSED && *words)
        app_log_from(app, LOG_ERROR, text_str(&from), words);
    else if (event->kind == WIRE_STATE)
        log_state(app, event->u.state.state, text_str(&from), words);
    else if (event->kind == WIRE_TAKEN && *words) {
        text_addf(&line, "%s is taken from the queue", words);
        app_log_from(app, LOG_INFO, text_str(&from), text_str(&line));
    }
    text_free(&from);
    text_free(&line);
}

size_t app_log_lines(const struct app *app)
{
    return app->own->lines;
}

size_t app_log_count(const struct app *app)
{
    return app->own->line_count;
}

int log_fd(const struct app *app)
{
    return app->own->pending_fd;
}

/* What libraries print comes in pieces, and is taken by lines. */
static bool take_talk(struct app *app)
{
    struct app_int *own = app->own;
    uint64_t now = clock_ns();
    bool took = false;
    size_t room;
    ssize_t n;

    if (!own->term || term_talk_fd(own->term) < 0)
        return false;
    do {
        room = CRASH_SAID - own->talk_n;
        n = read(term_talk_fd(own->term), crash_said() + own->talk_n, room);
        if (n > 0) {
            took = true;
            own->talk_n = log_talk(app, own->talk_n + (size_t)n, false);
        }
    } while (n > 0 && n == (ssize_t)room);
    if (took)
        own->talk_ns = now;
    else if (own->talk_n && now - own->talk_ns > TALK_NS)
        own->talk_n = log_talk(app, own->talk_n, true);
    return took;
}

bool log_take(struct app *app)
{
    struct app_int *own = app->own;
    struct app_line *list;
    size_t count;
    uint64_t ignored;

    if (read(own->pending_fd, &ignored, sizeof ignored) < 0)
        ignored = 0;
    pthread_mutex_lock(&own->lock);
    list = own->pending;
    count = own->pending_count;
    own->pending = NULL;
    own->pending_count = own->pending_room = 0;
    pthread_mutex_unlock(&own->lock);
    for (size_t i = 0; i < count; i++) {
        app_log(app, list[i].level, list[i].text);
        free(list[i].text);
    }
    free(list);
    return take_talk(app) || count > 0;
}

/* Once: Results shows it for as long as it is so. */
void log_tell_folder(struct app *app)
{
    const char *problem = library_problem(app->library);

    if (problem && !app->own->folder_told)
        app_say(app, GRID_BAD, "%s", problem);
    app->own->folder_told = problem != NULL;
}
