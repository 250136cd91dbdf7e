/* base/log.h: where talk goes. The rooms of src/ never print: they call log_say, and whoever runs
 * the program decides where lines land (stderr, a run's log.txt, a screen). Safe from any thread. */
#ifndef CHORUS_BASE_LOG_H
#define CHORUS_BASE_LOG_H

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

typedef void log_sink(void *user, enum log_level level, const char *line);

/* Replaces the sink (NULL: lines are dropped). The sink is called under a lock, one line at a time,
 * without the newline. */
void log_to(log_sink *sink, void *user);
void log_say(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
