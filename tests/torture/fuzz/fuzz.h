/* tests/torture/fuzz/fuzz.h: what the targets share. A target is a file with LLVMFuzzerTestOneInput, linked with
 * files.c and with libFuzzer (clang) or main.c. It gives the bytes of one case to a parser and checks what must hold:
 * MUST ends the program where it does not. Files lie in memory (files.c): no case touches a disk. */
#ifndef CHORUS_TESTS_FUZZ_H
#define CHORUS_TESTS_FUZZ_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fuzz_fail(__FILE__, __LINE__, #condition, "");                                         \
    } while (0)
#define MUST_BE(got, want) fuzz_compare(__FILE__, __LINE__, #got, got, want)
_Noreturn void fuzz_fail(const char *file, int line, const char *what, const char *more);
void fuzz_compare(const char *file, int line, const char *what, const char *got, const char *want);

/* Forgets all files. */
void fuzz_begin(void);
void fuzz_put(const char *path, const void *bytes, size_t n);
/* The bytes of a file, NULL where there is none. A later write moves them. */
const char *fuzz_file(const char *path, size_t *n);

/* A case of several files: cuts the next one off at a line "====". False: nothing is left. */
struct fuzz_rest {
    const uint8_t *bytes;
    size_t n;
};
bool fuzz_next(struct fuzz_rest *rest, const uint8_t **bytes, size_t *n);
/* The next one of them under that path, where there is one. */
bool fuzz_put_next(struct fuzz_rest *rest, const char *path);

/* A copy with a 0 byte behind it, for parsers of strings. The caller frees it. */
char *fuzz_string(const uint8_t *bytes, size_t n);

/* What was refused was refused in one line: whoever shows it makes its bytes visible. True: it was not. */
bool fuzz_taken(enum err_code code, const struct err *e);

#endif
