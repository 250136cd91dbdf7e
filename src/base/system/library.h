/* base/system/library.h: opening shared libraries. */
#ifndef CHORUS_BASE_SYSTEM_LIBRARY_H
#define CHORUS_BASE_SYSTEM_LIBRARY_H

#include "base/err.h"

/* A file, or, by a name without a slash, what the loader finds; never closed. how: RTLD_LAZY or RTLD_NOW.
 * NULL, and the loader's words in *why: they begin with the path, of a long one with its end. A path to a
 * file whose end is missing is refused: the loader would end the process. */
void *library_open(const char *path, int how, struct err *why) MUST_USE;
/* Whether it would refuse the file; one that is not there is none. For those that other libraries open. */
enum err_code library_check(const char *path, struct err *why) MUST_USE;

#endif
