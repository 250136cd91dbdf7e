/* base/mem.h: memory. Small allocations never fail (they end the program with a sentence and exit code 1);
 * large ones, tensors and data sets, use mem_try and return ERR_NOMEM to their caller. */
#ifndef CHORUS_BASE_MEM_H
#define CHORUS_BASE_MEM_H

#include <stddef.h>

/* Zeroed, count * size checked for overflow. Freed by free(). */
void *mem_new(size_t count, size_t size);
/* Contents kept as by realloc; count * size checked. */
void *mem_resize(void *old, size_t count, size_t size);
char *mem_text(const char *text);             /* a copy */
char *mem_text_n(const char *text, size_t n); /* a copy of n bytes, terminated */
char *mem_textf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* 64-byte aligned and zeroed, NULL where there is no memory or count * size overflows. Freed by
 * free(). */
void *mem_try(size_t count, size_t size);

/* Grows *array (elements of size bytes) so that it holds at least want; *room is its capacity. */
void *mem_grow(void *array, size_t *room, size_t want, size_t size);

/* What the program does before that sentence, such as giving its terminal back; what act returns is said
 * behind the sentence. act allocates nothing. NULL: it does nothing. Where another thread says the sentence just
 * now, this never returns. */
void mem_at_last(const char *(*act)(void));

#define MEM_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
