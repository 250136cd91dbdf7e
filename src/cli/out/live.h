/* cli/out/live.h: the lines of stderr that are redrawn in place. */
#ifndef CHORUS_CLI_OUT_LIVE_H
#define CHORUS_CLI_OUT_LIVE_H

void live_start(void); /* locale and log; once, from main */
/* One line or several, none wider than the terminal; only where cli_terminal(2). NULL or "": takes
 * them away. */
void live_draw(const char *lines);
int live_rows(int fd); /* of the terminal, 24 where it does not say */

#endif
