/* base/err.h: errors climb as values. A function that can fail returns an err_code, takes the
 * struct err to fill in as its last argument, and hands results out through pointers. */
#ifndef CHORUS_BASE_ERR_H
#define CHORUS_BASE_ERR_H

#define MUST_USE            __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, a) __attribute__((format(printf, fmt, a)))

enum err_code {
    ERR_OK = 0,
    ERR_INPUT,      /* a command, file or RUN that the user gave is wrong; exit 2 */
    ERR_FAILED,     /* the work itself failed; exit 1 */
    ERR_IO,         /* a file operation failed; exit 1 */
    ERR_NOMEM,      /* out of memory: the text says how many bytes were wanted; exit 1 */
    ERR_DIVERGED,   /* a loss was not finite; exit 3 */
    ERR_STOPPED,    /* the user stopped it; exit 130 */
    ERR_TERMINATED, /* SIGTERM, or a signal that counts as it, stopped it; exit 143 */
    ERR_STUCK,      /* this process can compute no more there, another one can; exit 1 */
};

struct err {
    enum err_code code;
    int sys; /* errno behind it, 0 where there is none */
    char text[1024];
};

/* Sets code and text; returns the code. e may be NULL. */
enum err_code err_set(struct err *e, enum err_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* As err_set with ERR_IO, appending ": " and the text of errno, which is kept in e->sys. */
enum err_code err_errno(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* One line of context a level: puts "context: " in front of the text. Returns e's code. */
enum err_code err_context(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The exit code that docs/design.md promises for it. */
int err_exit_code(enum err_code code);

#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum err_code try_code_ = (call);                                                          \
        if (try_code_ != ERR_OK)                                                                   \
            return try_code_;                                                                      \
    } while (0)

#endif
