/* Lines of a model's text: words, params put in, numbers within limits, and refusals that say where. */
#include "net/net_int.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 4, 0))) static enum err_code refuse(struct net_reader *r, int line,
                                                                  const char *statement,
                                                                  const char *fmt, va_list args)
{
    char what[800];

    vsnprintf(what, sizeof what, fmt, args);
    if (!line)
        return err_set(r->e, ERR_INPUT, "%s: %s", text_str(&r->file), what);
    if (!*statement)
        return err_set(r->e, ERR_INPUT, "%s:%d: %s", text_str(&r->file), line, what);
    return err_set(r->e, ERR_INPUT, "%s:%d: %s: %s", text_str(&r->file), line, statement, what);
}

enum err_code net_refuse(struct net_reader *r, const char *fmt, ...)
{
    va_list args;
    enum err_code code;

    va_start(args, fmt);
    code = refuse(r, r->line, text_str(&r->shown), fmt, args);
    va_end(args);
    return code;
}

enum err_code net_refuse_line(struct net_reader *r, int line, const char *fmt, ...)
{
    va_list args;
    enum err_code code;

    va_start(args, fmt);
    code = refuse(r, line, "", fmt, args);
    va_end(args);
    return code;
}

/* A word as it may stand in a message. */
static const char *clean_word(struct text *t, const char *word)
{
    char cut[64];

    snprintf(cut, sizeof cut, "%s", word);
    text_clear(t);
    text_add_clean(t, cut);
    if (strlen(word) >= sizeof cut)
        text_add(t, "...");
    return text_str(t);
}

/* The statement for messages: words as written, cut where it gets long. */
static void show_words(struct net_reader *r, char *const *word, int words)
{
    char shown[80] = "";
    size_t n = 0;
    bool whole = true;

    for (int i = 0; i < words && whole; i++) {
        size_t room = sizeof shown - n;

        n += (size_t)snprintf(shown + n, room, "%s%s", i ? " " : "", word[i]);
        if (n >= sizeof shown) {
            n = sizeof shown - 1;
            whole = false;
        }
    }
    text_clear(&r->shown);
    text_add_clean(&r->shown, shown);
    if (!whole)
        text_add(&r->shown, "...");
}

static enum err_code put_in_params(struct net_reader *r)
{
    r->params_used = false;
    for (int i = 0; i < r->words; i++) {
        struct text t = {0};
        enum err_code code;
        int found = -1;

        if (r->word[i][0] != '$')
            continue;
        for (int j = 0; j < r->names; j++)
            if (!strcmp(r->name[j].name, r->word[i] + 1))
                found = j;
        if (found >= 0) {
            r->word[i] = r->name[found].value;
            r->params_used = true;
            continue;
        }
        clean_word(&t, r->word[i]);
        code = net_refuse(r, "no line above says what %s is; write param %s VALUE in front of it",
                          text_str(&t), *r->word[i] && r->word[i][1] ? text_str(&t) + 1 : "NAME");
        text_free(&t);
        return code;
    }
    return ERR_OK;
}

/* Braces are words of their own; '#' and what follows it is a comment. Braces and words are cut out
 * of the line in place: a brace behind a word moves into the spare byte that split() made for it. */
static enum err_code split(struct net_reader *r, char *line)
{
    static char open_brace[] = "{", close_brace[] = "}";
    char *p = line;

    r->words = 0;
    for (;;) {
        char *word, stop;

        p += strspn(p, " \t\r");
        if (!*p || *p == '#')
            return ERR_OK;
        if (r->words == NET_MOST_WORDS)
            return net_refuse(r, "more than %d words on a line", NET_MOST_WORDS);
        if (*p == '{' || *p == '}') {
            r->word[r->words++] = *p == '{' ? open_brace : close_brace;
            p++;
            continue;
        }
        word = p;
        p += strcspn(p, " \t\r{}#");
        stop = *p;
        r->word[r->words++] = word;
        if (!stop || stop == '#') {
            *p = 0;
            return ERR_OK;
        }
        *p++ = 0;
        if (stop != '{' && stop != '}')
            continue;
        if (r->words == NET_MOST_WORDS)
            return net_refuse(r, "more than %d words on a line", NET_MOST_WORDS);
        r->word[r->words++] = stop == '{' ? open_brace : close_brace;
    }
}

enum err_code net_read_words(struct net_reader *r, char *line, size_t n)
{
    r->words = 0;
    text_clear(&r->shown);
    if (n > NET_LINE_BYTES)
        return net_refuse(r, "the line is %zu bytes long; at most %d are allowed", n,
                          NET_LINE_BYTES);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)line[i];

        if ((c < ' ' && c != '\t' && c != '\r') || c == 127)
            return net_refuse(r, "byte %zu is 0x%02x; a model is plain text", i + 1, c);
    }
    TRY(split(r, line));
    show_words(r, r->word, r->words);
    return put_in_params(r);
}

/* "3x3" is what layers are shown with, 3 how they are written. */
static const char *say_square(const char *word, char out[32])
{
    size_t n = strspn(word, "0123456789");
    bool is = n && n < 8 && word[n] == 'x' && !strncmp(word, word + n + 1, n) && !word[2 * n + 1];

    snprintf(out, 32, "%s%.*s", is ? ": write " : "", is ? (int)n : 0, word);
    return out;
}

enum err_code net_read_number(struct net_reader *r, int word, const char *what, int64_t least,
                              int64_t most, int *value)
{
    int64_t read;

    if (word >= r->words)
        return net_refuse(r, "the %s is missing: a whole number from %lld to %lld", what,
                          (long long)least, (long long)most);
    if (!text_to_int(r->word[word], &read) || read < least || read > most) {
        char square[32];
        struct text t = {0};
        enum err_code code;

        code = net_refuse(r, "the %s must be a whole number from %lld to %lld, not %s%s", what,
                          (long long)least, (long long)most, clean_word(&t, r->word[word]),
                          say_square(r->word[word], square));
        text_free(&t);
        return code;
    }
    *value = (int)read;
    return ERR_OK;
}
