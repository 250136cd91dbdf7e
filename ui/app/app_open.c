/* ui/app/app_open.c: opens what lies over a screen. What comes by itself never opens over a line that
 * is being typed or over what somebody reads: it waits until that is gone. */
#include "ui/app/app_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void popup_close(struct app *app)
{
    struct app_int *own = app->own;

    for (int i = 0; i < own->answers; i++)
        free(own->answer[i]);
    own->answers = 0;
    for (size_t i = 0; i < own->offers; i++)
        free(own->offer[i]);
    own->offers = own->offer_at = 0;
    own->popup = POPUP_NONE;
    app->dirty = true;
}

static void set_question(struct app_int *own, const char *question, const char *const *answers)
{
    text_clear(&own->question);
    text_add(&own->question, question);
    for (int i = 0; i < own->answers; i++)
        free(own->answer[i]);
    for (own->answers = 0; own->answers < APP_ANSWERS && answers[own->answers]; own->answers++)
        own->answer[own->answers] = mem_text(answers[own->answers]);
}

static void open_popup(struct app *app, const struct popup *p)
{
    struct app_int *own = app->own;

    popup_close(app);
    own->popup = p->kind;
    own->popups++;
    own->user = p->user;
    own->on_answer = p->on_answer;
    own->on_text = p->on_text;
    own->complete = p->complete;
    if (p->kind == POPUP_ASK) {
        set_question(own, p->words, p->answer);
        own->chosen = 0;
        own->answers_at = (struct rect){0}; /* those that were drawn are of another question */
        return;
    }
    text_clear(&own->label);
    text_add(&own->label, p->label);
    if (p->kind == POPUP_PROMPT) {
        text_clear(&own->several);
        line_set(&own->typed, p->words);
        return;
    }
    text_clear(&own->page);
    text_add(&own->page, p->words);
    own->page_first = own->page_left = 0;
    own->page_whole = p->whole;
}

static void free_popup(struct popup *p)
{
    free((char *)p->label);
    free((char *)p->words);
    for (int i = 0; i < APP_ANSWERS; i++)
        free((char *)p->answer[i]);
    free(p);
}

static void wait_for_turn(struct app_int *own, const struct popup *p)
{
    struct popup *copy = mem_new(1, sizeof *copy), **end = &own->waits;

    *copy = *p;
    copy->label = p->label ? mem_text(p->label) : NULL;
    copy->words = mem_text(p->words);
    for (int i = 0; i < APP_ANSWERS; i++)
        copy->answer[i] = p->answer[i] ? mem_text(p->answer[i]) : NULL;
    while (*end)
        end = &(*end)->next;
    *end = copy;
}

/* A key's own handler may open something over the field that it ends. */
static bool is_free(const struct app *app)
{
    return app->own->popup == POPUP_NONE && (app->own->pressing || !app_wants_text(app));
}

static void open_or_wait(struct app *app, const struct popup *p)
{
    if (!is_free(app)) {
        wait_for_turn(app->own, p);
        return;
    }
    app->own->said[0] = 0;
    open_popup(app, p);
}

void popup_next(struct app *app)
{
    struct popup *p = app->own->waits;

    if (!p || !is_free(app))
        return;
    app->own->waits = p->next;
    open_popup(app, p); /* with what was said of the line that it waited for */
    free_popup(p);
}

void popup_forget(struct app *app)
{
    while (app->own->waits) {
        struct popup *p = app->own->waits;

        app->own->waits = p->next;
        free_popup(p);
    }
}

void app_ask_end(struct app *app, void (*chosen)(void *user, int answer))
{
    struct popup **at = &app->own->waits;

    if (app->own->popup == POPUP_ASK && app->own->on_answer == chosen)
        popup_close(app);
    while (*at) {
        struct popup *p = *at;

        if (p->kind != POPUP_ASK || p->on_answer != chosen) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        free_popup(p);
    }
}

void app_ask(struct app *app, const char *question, const char *const *answers,
             void (*chosen)(void *user, int answer), void *user)
{
    struct popup p = {.kind = POPUP_ASK, .words = question, .on_answer = chosen, .user = user};

    for (int i = 0; i < APP_ANSWERS && answers[i]; i++)
        p.answer[i] = answers[i];
    app_ask_end(app, chosen);
    open_or_wait(app, &p);
}

void app_ask_renew(struct app *app, const char *question, const char *const *answers,
                   void (*chosen)(void *user, int answer))
{
    struct app_int *own = app->own;

    if (own->popup == POPUP_ASK && own->on_answer == chosen) {
        app->dirty |= strcmp(text_str(&own->question), question) != 0;
        set_question(own, question, answers);
    }
    for (struct popup *p = own->waits; p; p = p->next) {
        if (p->kind != POPUP_ASK || p->on_answer != chosen)
            continue;
        free((char *)p->words);
        p->words = mem_text(question);
        for (int i = 0; i < APP_ANSWERS && answers[i]; i++) {
            free((char *)p->answer[i]);
            p->answer[i] = mem_text(answers[i]);
        }
    }
}

void app_prompt(struct app *app, const char *label, const char *text,
                void (*entered)(void *user, const char *text),
                void (*complete)(const char *text, struct text *more, struct text *several),
                void *user)
{
    char *copy = mem_text(text ? text : ""); /* it may be what was typed before */

    open_or_wait(app, &(struct popup){.kind = POPUP_PROMPT,
                                      .label = label,
                                      .words = copy,
                                      .on_text = entered,
                                      .complete = complete,
                                      .user = user});
    free(copy);
}

void app_prompt_again(struct app *app, const char *text)
{
    struct app_int *own = app->own;
    char *label = mem_text(text_str(&own->label)); /* of the one that was closed just now */

    app_prompt(app, label, text, own->on_text, own->complete, own->user);
    free(label);
}

uint64_t app_entered(const struct app *app)
{
    const struct app_int *own = app->own;

    return own->entered_ns == own->keyed_ns && own->entered == own->popups ? own->entered_ns : 0;
}

void app_enter_again(struct app *app, uint64_t entered)
{
    struct app_int *own = app->own;

    if (entered && entered == app_entered(app) && app_waits(app, own->entered_on, entered))
        command_again(app, text_str(&own->typed.text));
}

uint64_t app_keyed(const struct app *app)
{
    return app->own->keyed_ns;
}

bool app_waits(const struct app *app, int screen, uint64_t keyed)
{
    return app->own->keyed_ns == keyed && app->shown == screen && app->own->popup == POPUP_NONE &&
           !app_wants_text(app);
}

static void open_page(struct app *app, const char *title, const char *lines, bool whole)
{
    open_or_wait(
        app, &(struct popup){.kind = POPUP_PAGE, .label = title, .words = lines, .whole = whole});
}

void app_page(struct app *app, const char *title, const char *lines)
{
    open_page(app, title, lines, false);
}

void popup_whole_page(struct app *app, const char *title, const char *lines)
{
    open_page(app, title, lines, true);
}

void app_renew_page(struct app *app, const char *title, void (*write)(void *user, struct text *out),
                    void *user)
{
    struct app_int *own = app->own;

    if (own->popup != POPUP_PAGE || strcmp(text_str(&own->label), title) != 0)
        return;
    text_clear(&own->page);
    write(user, &own->page);
    app->dirty = true;
}
