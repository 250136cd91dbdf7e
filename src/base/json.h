/* base/json.h: a small strict JSON reader: for the headers of safetensors files, which may come from
 * anywhere. Depth is bounded by 16, and a value never outlives the text it was read from. */
#ifndef CHORUS_BASE_JSON_H
#define CHORUS_BASE_JSON_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_TEXT,
    JSON_ARRAY,
    JSON_OBJECT
};

struct json { /* a tree; children of arrays and objects are a linked list in file order */
    enum json_kind kind;
    char *key;  /* name inside an object, NULL elsewhere */
    char *text; /* JSON_TEXT: decoded; JSON_NUMBER: as written */
    struct json *first, *next;
};

/* Exactly one value with only white space around it. *out is freed by json_free. */
enum err_code json_parse(const char *bytes, size_t n, struct json **out, struct err *e) MUST_USE;
void json_free(struct json *j);
const struct json *json_get(const struct json *object, const char *key); /* NULL where missing */
const char *json_text(const struct json *j); /* NULL where it is no text */
bool json_uint(const struct json *j, uint64_t *value);

#endif
