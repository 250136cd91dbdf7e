/* ui/app_log.c: what everybody says: the engine's threads, verbs that run as programs, libraries that
 * print. The newest lines are kept for the Log screen, all of them in a file for after a crash. */
#include "ui/app_int.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FILE_MOST    (1 << 20) /* a longer one is begun anew */
#define PENDING_MOST 10000

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

    if (state && *state)
        folder = io_path(state, "chorus");
    else if (home && *home)
        folder = io_path(home, ".local/state/chorus");
    else
        return NULL;
    path = io_make_folders(folder, &e) == ERR_OK ? io_path(folder, "workbench.log") : NULL;
    free(folder);
    return path;
}

void log_open(struct app *app)
{
    struct app_int *own = app->own;
    struct stat st;

    pthread_mutex_init(&own->lock, NULL);
    own->pending_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    own->log_path = path_of_log();
    if (own->log_path)
        own->log = fopen(own->log_path,
                         io.stat(own->log_path, &st) == 0 && st.st_size > FILE_MOST ? "we" : "ae");
    log_to(sink, own);
}

void log_close(struct app *app)
{
    struct app_int *own = app->own;

    log_to(NULL, NULL);
    log_take(app);
    for (size_t i = 0; i < own->lines; i++)
        free(own->line[(own->line_first + i) % APP_LINES].text);
    free(own->pending);
    text_free(&own->talk);
    if (own->log)
        fclose(own->log);
    free(own->log_path);
    close(own->pending_fd);
    pthread_mutex_destroy(&own->lock);
}

void app_log(struct app *app, int level, const char *line)
{
    struct app_int *own = app->own;
    struct app_line *to;
    struct text clean = {0};
    char utc[CLOCK_UTC_ROOM];

    text_add_clean(&clean, line);
    if (own->lines == APP_LINES) {
        free(own->line[own->line_first].text);
        own->line_first = (own->line_first + 1) % APP_LINES;
        own->lines--;
    }
    own->line_count++;
    to = &own->line[(own->line_first + own->lines++) % APP_LINES];
    *to = (struct app_line){level, app_wall(app), mem_text(text_str(&clean))};
    if (own->log) {
        clock_utc(utc, to->wall);
        fprintf(own->log, "%s %s\n", utc, to->text);
        fflush(own->log);
    }
    text_free(&clean);
    app->dirty = true;
}

const char *app_log_line(const struct app *app, size_t from_last, int *level, double *wall)
{
    const struct app_int *own = app->own;
    const struct app_line *line;

    if (from_last >= own->lines)
        return NULL;
    line = &own->line[(own->line_first + own->lines - 1 - from_last) % APP_LINES];
    if (level)
        *level = line->level;
    if (wall)
        *wall = line->wall;
    return line->text;
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

/* What libraries print comes in pieces; whole lines are taken. */
static bool take_talk(struct app *app)
{
    struct app_int *own = app->own;
    char bytes[4096];
    bool took = false;
    ssize_t n;

    if (!own->term || term_talk_fd(own->term) < 0)
        return false;
    while ((n = read(term_talk_fd(own->term), bytes, sizeof bytes)) > 0) {
        took = true;
        for (ssize_t i = 0; i < n; i++) {
            if (bytes[i] == '\n' || own->talk.n == 4096) {
                app_log(app, LOG_INFO, text_str(&own->talk));
                text_clear(&own->talk);
            }
            if (bytes[i] != '\n')
                text_add_n(&own->talk, &bytes[i], 1);
        }
        if (n < (ssize_t)sizeof bytes)
            break;
    }
    return took;
}

bool log_take(struct app *app)
{
    struct app_int *own = app->own;
    struct app_line *list;
    size_t count, room;
    uint64_t ignored;

    if (read(own->pending_fd, &ignored, sizeof ignored) < 0)
        ignored = 0;
    pthread_mutex_lock(&own->lock);
    list = own->pending;
    count = own->pending_count;
    room = own->pending_room;
    own->pending = NULL;
    own->pending_count = own->pending_room = 0;
    pthread_mutex_unlock(&own->lock);
    (void)room;
    for (size_t i = 0; i < count; i++) {
        app_log(app, list[i].level, list[i].text);
        free(list[i].text);
    }
    free(list);
    return take_talk(app) || count > 0;
}
