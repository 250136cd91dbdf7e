/* ui/term/crash.h: a crash gives the terminal back, says where the log is and writes its last words there. */
#ifndef CHORUS_UI_TERM_CRASH_H
#define CHORUS_UI_TERM_CRASH_H

#include <stdbool.h>

/* Before curses changes it: its modes are those of now. in is for reading alone; log: a path, or NULL. */
void crash_terminal(int in, int out, const char *log);
void crash_set_modes(int fd); /* as they were then, where curses cannot reach its terminal */
void crash_watch(void);       /* curses knows the terminal by now */
/* Between these two the first thread opens or closes the terminal, and calls nothing of base/mem.h: another
 * thread that finds no memory gives the terminal back before or after that. */
void crash_waits(void);
void crash_waits_no_more(void);
void crash_forget(void);
bool crash_is_watched(void);
void crash_resumes(bool something); /* whether there is what a resume would go on with */
bool crash_has_come(void); /* to another thread: the log's last words are written just now */
void crash_talk(int fd);   /* what the program printed is read there; -1: nowhere */

/* The room for what was read there and is no line of the log yet, and for a 0: a crash writes it there, too. */
#define CRASH_SAID 4096
char *crash_said(void);

#endif
