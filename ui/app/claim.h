/* ui/app/claim.h: before anything begins to compute from here the machine is claimed, on another thread: of
 * two programs that begin at one instant one is asked. */
#ifndef CHORUS_UI_APP_CLAIM_H
#define CHORUS_UI_APP_CLAIM_H

#include "ui/app/app.h"

enum claim_how {
    CLAIM_NOT,   /* cancelled */
    CLAIM_NOW,   /* the machine is ours, or a person wants it beside the other one */
    CLAIM_BEHIND /* a person wants it in the queue */
};
/* What a question of where something starts can offer. */
struct claim_choice {
    bool busy;       /* something computes on this machine; */
    bool over;       /* it has ended since: the answers keep their letters and places */
    bool queue, now; /* what is possible */
};
/* For app_ask: words end with NULL. The first answer fits best: the queue where something computes, else now.
 * "cancel" is the last one. */
struct claim_answers {
    const char *words[4];
    enum claim_how how[4];
    int count;
};
struct claim_answers claim_answers(const struct claim_choice *c);
enum claim_how claim_answered(const struct claim_choice *c, int answer);

/* elsewhere: who computes has results in another folder. */
typedef void claim_begin(void *user, enum claim_how how, bool elsewhere);

/* No question takes the place of one that somebody may be answering. */
#define CLAIM_ASKED "not begun: what is to start before it is asked about still"

/* Calls begin once. Where another program computes a person is asked; queue: whether to wait in the
 * queue is an answer. While a claim goes on, or its question stands, a further one is refused. */
void claim_machine(struct app *app, bool queue, claim_begin *begin, void *user);
/* The engine, or a program that was started, shows itself what it does. */
void claim_drop(struct app *app);
/* Often: drops a claim whose start came to nothing; a question about a program that has ended since
 * says so, and stands. */
void claim_tick(struct app *app);
void claim_close(struct app *app);

#endif
