/* ui/library/library_int.h: what the library's files share. */
#ifndef CHORUS_UI_LIBRARY_LIBRARY_INT_H
#define CHORUS_UI_LIBRARY_LIBRARY_INT_H

#include "base/text.h"
#include "record/stamp.h"
#include "ui/library/library.h"

#define LIBRARY_EXTRAS 16 /* columns that stand in no run.csv and are held all the same */

/* Strings, each once, at places that stay. */
struct library_pool {
    const char **slot; /* (slots), a power of two; open addressing */
    size_t slots, used;
    struct library_chunk *chunk;
    size_t bytes;
};
const char *library_intern(struct library_pool *p, const char *s);
void library_free_pool(struct library_pool *p);

/* One look. Once it has been taken up nobody changes it, so that the next look may read it. */
struct library_list {
    struct library_run *run;    /* (count), by name */
    struct record_stamp *stamp; /* (count) */
    const char **cells;         /* (count, columns) */
    size_t count, room;
    struct library_pool *pool; /* often that of the look before */
};

struct library_extra {
    char column[64];
    const char **value; /* (count of the list); NULL: not read */
    size_t left;        /* how many are not */
};

struct library {
    char *results;
    struct tasks *tasks;
    struct library_list *list;
    bool ready, looking, again, filling; /* again: asked for while it looked */
    bool was_there;                      /* the folder, at an earlier look */
    char *problem;
    uint64_t turn, marks_turn;
    uint64_t looked_ns, took_ns; /* when the last look ended, how long it took */
    char **mark;                 /* (marks), by name */
    size_t marks, mark_room;
    size_t there; /* marked runs that there are, as of: */
    uint64_t there_turn, there_marks_turn;
    struct library_extra extra[LIBRARY_EXTRAS];
    size_t extras;
    struct library_pool extra_pool;
};

/* The place of a run in the list; count where it is none. */
size_t library_place(const struct library_list *list, const char *name);
/* A new list took the place of an old one: values of runs that have not changed are kept. */
void library_carry_extras(struct library *l, const struct library_list *old);
void library_fill_extras(struct library *l); /* asks for values that are wanted, some at a time */
void library_free_extras(struct library *l);

#endif
