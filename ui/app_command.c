/* ui/app_command.c: what is seen here as a command line (':'), and as a file ('w'). */
#include "ui/app_int.h"

#include "base/io.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PAGE_MOST (64 << 10) /* bytes of a command's output that are shown over the screen */

static const struct screen *shown(const struct app *app)
{
    return app_screens[app->shown];
}

/* The start of it, where it is long: every frame lays it out again. */
static void show_output(struct app *app, const struct text *out)
{
    struct text page = {0};

    text_add_n(&page, text_str(out), out->n < PAGE_MOST ? out->n : PAGE_MOST);
    if (out->n > PAGE_MOST)
        text_add(&page, "\n... the Log screen has more of it");
    popup_whole_page(app, "what the command said", text_str(&page));
    text_free(&page);
}

static void job_over(void *user, const struct job_end *end)
{
    struct app *app = user;

    if (end->exit_code)
        app_say(app, GRID_BAD, "%s (exit code %d; the Log screen has all of it)",
                end->last_line && *end->last_line ? end->last_line : "the command failed",
                end->exit_code);
    else if (end->out->n && app->own->popup != POPUP_NONE) /* somebody types or reads */
        app_say(app, GRID_GOOD, "done; the Log screen has what it said");
    else if (end->out->n)
        show_output(app, end->out);
    else
        app_say(app, GRID_GOOD, "done");
    library_tick(app->library, true);
}

/* A command that trains goes on without this program: it would end with it otherwise. */
static bool trains(char **args, size_t count)
{
    static const char *const quick[] = {"--dry-run", "--background", "--queue", "--help"};

    if (count == 0 || (strcmp(args[0], "run") != 0 && strcmp(args[0], "resume") != 0))
        return false;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < MEM_COUNT(quick); k++)
            if (!strcmp(args[i], quick[k]))
                return false;
    return true;
}

static void run_command(void *user, const char *line)
{
    struct app *app = user;
    const char **args;
    char **words;
    size_t count, n = 0;
    struct err e;

    if (!line || !*line)
        return;
    if (!strcmp(line, "q") || !strcmp(line, "quit")) {
        app_say(app, GRID_TEXT, "the key q leaves");
        return;
    }
    if (jobs_split(line, &words, &count, &e) != ERR_OK) {
        app_say(app, GRID_BAD, "%s", e.text);
        return;
    }
    args = mem_new(count + 3, sizeof *args);
    for (size_t i = !strcmp(count ? words[0] : "", "chorus"); i < count; i++)
        args[n++] = words[i];
    if (trains((char **)args, n))
        args[n++] = "--background";
    if (n == 0)
        app_say(app, GRID_BAD, "that is no command; `help` lists them");
    else if (!strcmp(args[0], "watch")) /* it would follow to the run's end, and fill the log */
        app_say(app, GRID_TEXT, "the screen Run is what watches here: Enter on Results opens it");
    else if (jobs_start(app->jobs, args, job_over, app, &e) != ERR_OK)
        app_say(app, GRID_BAD, "%s", e.text);
    else
        app_say(app, GRID_DIM, "chorus %s runs; what it says is on the Log screen", args[0]);
    free(args);
    jobs_free_args(words);
}

void command_show(struct app *app)
{
    struct text line = {0};

    if (shown(app)->command)
        shown(app)->command(app->screen[app->shown], &line);
    app_prompt(app, "chorus", text_str(&line), run_command, NULL, app);
    text_free(&line);
}

static bool ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);

    return n > m && !strcasecmp(path + n - m, end);
}

static enum err_code write_screen(struct app *app, const char *path, struct text *out,
                                  struct err *e)
{
    const struct screen *s = shown(app);
    struct text known = {0};

    for (size_t i = 0; s->write && s->forms && s->forms[i]; i++) {
        char *end = mem_textf(".%s", s->forms[i]);
        bool is = ends_with(path, end) && !ends_with(path, "screen.svg");

        free(end);
        if (is)
            return s->write(app->screen[app->shown], s->forms[i], out, e);
        text_addf(&known, ", .%s", s->forms[i]);
    }
    if (ends_with(path, ".svg")) {
        grid_to_svg(&app->own->grid, !strcmp(app_theme(app), "light"), s->name, out);
    } else if (ends_with(path, ".txt")) {
        grid_to_text(&app->own->grid, out);
    } else {
        err_set(e, ERR_INPUT,
                "%s: the ending says the form; here it is .txt or screen.svg (the whole screen)%s",
                path, text_str(&known));
        text_free(&known);
        return e->code;
    }
    text_free(&known);
    return ERR_OK;
}

static void write_now(struct app *app, const char *path)
{
    struct text out = {0};
    struct err e;

    if (write_screen(app, path, &out, &e) == ERR_OK &&
        io_replace_file(path, text_str(&out), out.n, &e) == ERR_OK)
        app_say(app, GRID_GOOD, "written: %s", path);
    else
        app_say(app, GRID_BAD, "%s", e.text);
    text_free(&out);
}

static void overwrite(void *user, int answer)
{
    struct app *app = user;

    if (answer == 0)
        write_now(app, app->own->write_path);
}

static void write_to(void *user, const char *path)
{
    static const char *const answers[] = {"replace it", "cancel", NULL};
    struct app *app = user;
    char *question;

    if (!path || !*path)
        return;
    if (!io_exists(path)) {
        write_now(app, path);
        return;
    }
    free(app->own->write_path);
    app->own->write_path = mem_text(path);
    question = mem_textf("%s is there already.", path);
    app_ask(app, question, answers, overwrite, app);
    free(question);
}

void command_write(struct app *app)
{
    const struct screen *s = shown(app);
    struct text label = {0}, path = {0};

    text_add(&label, "write (.txt screen.svg");
    for (size_t i = 0; s->write && s->forms && s->forms[i]; i++)
        text_addf(&label, " .%s", s->forms[i]);
    text_add(&label, ")");
    text_addf(&path, "%s.%s", s->name, s->write && s->forms && s->forms[0] ? s->forms[0] : "txt");
    path.s[0] = (char)(path.s[0] | 0x20);
    app_prompt(app, text_str(&label), text_str(&path), write_to, NULL, app);
    text_free(&label);
    text_free(&path);
}
