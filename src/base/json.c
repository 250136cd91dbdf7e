#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define JSON_DEPTH 16

struct json_reader {
    const char *start, *at, *end;
    struct err *e;
};

static enum err_code json_value(struct json_reader *r, int depth, struct json **out);

static enum err_code json_fail(struct json_reader *r, const char *what)
{
    return err_set(r->e, ERR_INPUT, "JSON: %s at byte %zu", what, (size_t)(r->at - r->start));
}

static void json_blank(struct json_reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
        r->at++;
}

static bool json_next(struct json_reader *r, char c)
{
    json_blank(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static void json_add_utf8(struct text *t, uint32_t c)
{
    char s[4];
    int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0x00, 0xc0, 0xe0, 0xf0};

    for (int i = n - 1; i > 0; i--, c >>= 6)
        s[i] = (char)(0x80 | (c & 0x3f));
    s[0] = (char)(lead[n] | c);
    text_add_n(t, s, (size_t)n);
}

static bool json_hex4(struct json_reader *r, uint32_t *code)
{
    uint32_t sum = 0;

    if (r->end - r->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = *r->at++;
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return false;
        sum = sum << 4 | (uint32_t)digit;
    }
    *code = sum;
    return true;
}

static enum err_code json_escape(struct json_reader *r, struct text *t)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    uint32_t code, low;

    if (r->at == r->end)
        return json_fail(r, "a text ends in the middle of an escape");
    char c = *r->at++;
    const char *known = c ? strchr(from, c) : NULL;
    if (known) {
        text_add_n(t, to + (known - from), 1);
        return ERR_OK;
    }
    if (c != 'u' || !json_hex4(r, &code) || code == 0)
        return json_fail(r, "an unknown escape");
    if (code >= 0xd800 && code < 0xdc00) {
        if (r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u')
            return json_fail(r, "half a surrogate pair");
        r->at += 2;
        if (!json_hex4(r, &low) || low < 0xdc00 || low > 0xdfff)
            return json_fail(r, "half a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
        return json_fail(r, "half a surrogate pair");
    }
    json_add_utf8(t, code);
    return ERR_OK;
}

static enum err_code json_string(struct json_reader *r, char **out)
{
    struct text t = {0};
    enum err_code code = ERR_OK;

    *out = NULL;
    if (!json_next(r, '"'))
        return json_fail(r, "a text was expected");
    text_add(&t, "");
    while (!code) {
        if (r->at == r->end) {
            code = json_fail(r, "a text has no closing quote");
        } else if (*r->at == '"') {
            r->at++;
            break;
        } else if ((unsigned char)*r->at < 0x20) {
            code = json_fail(r, "a control character in a text");
        } else if (*r->at == '\\') {
            r->at++;
            code = json_escape(r, &t);
        } else {
            text_add_n(&t, r->at++, 1);
        }
    }
    if (!code && !text_is_utf8(t.s)) /* it would be another text when it is written again */
        code = json_fail(r, "a string that is not UTF-8 ends");
    if (code)
        text_free(&t);
    *out = t.s;
    return code;
}

static enum err_code json_number(struct json_reader *r, struct json *j)
{
    const char *from = r->at;
    double value;

    while (r->at < r->end && *r->at && strchr("0123456789+-.eE", *r->at))
        r->at++;
    j->text = mem_text_n(from, (size_t)(r->at - from));
    j->kind = JSON_NUMBER;
    if (!text_to_double(j->text, &value) || *j->text == '+' || *j->text == '.')
        return json_fail(r, "no value");
    return ERR_OK;
}

static enum err_code json_children(struct json_reader *r, int depth, char close, struct json *j)
{
    struct json **last = &j->first;

    if (json_next(r, close))
        return ERR_OK;
    do {
        char *key = NULL;
        if (close == '}') {
            TRY(json_string(r, &key));
            if (!json_next(r, ':')) {
                free(key);
                return json_fail(r, "a colon was expected");
            }
        }
        enum err_code code = json_value(r, depth + 1, last);
        if (code) {
            free(key);
            return code;
        }
        (*last)->key = key;
        last = &(*last)->next;
    } while (json_next(r, ','));
    return json_next(r, close) ? ERR_OK : json_fail(r, "a comma or a closing bracket was expected");
}

static enum err_code json_word(struct json_reader *r, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n))
        return json_fail(r, "no value");
    r->at += n;
    return ERR_OK;
}

/* *out is set only on success, so a failed tree hangs together for json_free. */
static enum err_code json_value(struct json_reader *r, int depth, struct json **out)
{
    struct json *j = mem_new(1, sizeof *j);
    enum err_code code;

    if (depth > JSON_DEPTH)
        code = json_fail(r, "brackets are nested too deep");
    else if (json_next(r, '{'))
        j->kind = JSON_OBJECT, code = json_children(r, depth, '}', j);
    else if (json_next(r, '['))
        j->kind = JSON_ARRAY, code = json_children(r, depth, ']', j);
    else if (r->at < r->end && *r->at == '"')
        j->kind = JSON_TEXT, code = json_string(r, &j->text);
    else if (r->at < r->end && *r->at == 't')
        j->kind = JSON_TRUE, code = json_word(r, "true");
    else if (r->at < r->end && *r->at == 'f')
        j->kind = JSON_FALSE, code = json_word(r, "false");
    else if (r->at < r->end && *r->at == 'n')
        j->kind = JSON_NULL, code = json_word(r, "null");
    else
        code = json_number(r, j);
    if (code)
        json_free(j);
    else
        *out = j;
    return code;
}

enum err_code json_parse(const char *bytes, size_t n, struct json **out, struct err *e)
{
    struct json_reader r = {bytes, bytes, bytes + n, e};

    *out = NULL;
    TRY(json_value(&r, 0, out));
    json_blank(&r);
    if (r.at == r.end)
        return ERR_OK;
    json_free(*out);
    *out = NULL;
    return json_fail(&r, "more text behind the value");
}

void json_free(struct json *j)
{
    while (j) {
        struct json *next = j->next;
        json_free(j->first);
        free(j->key);
        free(j->text);
        free(j);
        j = next;
    }
}

const struct json *json_get(const struct json *object, const char *key)
{
    if (!object || object->kind != JSON_OBJECT)
        return NULL;
    for (const struct json *j = object->first; j; j = j->next) {
        if (!strcmp(j->key, key))
            return j;
    }
    return NULL;
}

const char *json_text(const struct json *j)
{
    return j && j->kind == JSON_TEXT ? j->text : NULL;
}

bool json_uint(const struct json *j, uint64_t *value)
{
    return j && j->kind == JSON_NUMBER && text_to_uint(j->text, value);
}
