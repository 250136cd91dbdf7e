/* base/system/library_find.h: where the loader would find a library. */
#ifndef CHORUS_BASE_SYSTEM_LIBRARY_FIND_H
#define CHORUS_BASE_SYSTEM_LIBRARY_FIND_H

#include <stdbool.h>

/* Whether the loader would take that file and look no further; it need not be there. */
typedef bool library_is(const char *path, void *user);

/* The files that the loader would try for a name without a slash, in its order, until one is it. What
 * is for certain processors alone (glibc-hwcaps) is left out. */
bool library_each(const char *name, library_is *is, void *user);
/* Those that a file of ldconfig's names ("/etc/ld.so.cache"). */
bool library_cached(const char *cache, const char *name, library_is *is, void *user);

#endif
