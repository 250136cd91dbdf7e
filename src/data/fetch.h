/* data/fetch.h: brings a known data set here. A file stands under its final name only when its
 * content has the checksum that is pinned; until then it is NAME.part, and a fetch that was broken
 * off goes on from there. */
#ifndef CHORUS_DATA_FETCH_H
#define CHORUS_DATA_FETCH_H

#include "base/err.h"
#include "data/places.h"

#include <stdint.h>

struct data_fetch {
    const char *from;   /* a mirror in place of the set's own; NULL */
    const char *folder; /* NULL: data_place_of_user */
    int patience;       /* seconds without a byte before it gives up; 0: 30 */
    /* May be NULL. all: bytes of the file, 0 where the server does not say. */
    void (*progress)(void *user, const char *file, uint64_t done, uint64_t all);
    void *user;
};

/* *fetched: files that were brought; 0 where all was here and right already. */
enum err_code data_fetch(const struct data_known *set, const struct data_fetch *how, int *fetched,
                         struct err *e) MUST_USE;
bool data_fetch_can(void); /* false: built without libcurl, data_fetch says so in a sentence */

#endif
