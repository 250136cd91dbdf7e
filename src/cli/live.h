/* cli/live.h: the one line of stderr that is redrawn in place. */
#ifndef CHORUS_CLI_LIVE_H
#define CHORUS_CLI_LIVE_H

void live_start(void);            /* locale and log; once, from main */
void live_draw(const char *line); /* only where cli_terminal(2); NULL or "": takes it away */
int live_rows(int fd);            /* of the terminal, 24 where it does not say */

#endif
