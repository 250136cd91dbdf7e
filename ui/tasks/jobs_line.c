/* Command lines: into words and back. */
#include "ui/tasks/jobs.h"

#include "base/io.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void jobs_free_args(char **args)
{
    for (size_t i = 0; args && args[i]; i++)
        free(args[i]);
    free(args);
}

/* One word from *at on, in the way of POSIX shells; NULL: something is missing at its end, behind this quote
 * or backslash. */
static char *take_word(const char **at, char *missing)
{
    const char *c = *at;
    struct text word = {0};
    bool lost = false;
    char quote = 0;

    for (; *c && (quote || !strchr(" \t\n", *c)); c++) {
        if (quote == '\'' && *c != '\'') {
            text_add_n(&word, c, 1);
        } else if (*c == quote) {
            quote = 0;
        } else if (!quote && (*c == '\'' || *c == '"')) {
            quote = *c;
        } else if (*c == '\\' && (!quote || (c[1] && strchr("\"\\$`\n", c[1])))) {
            lost = !*++c;
            if (lost)
                break;
            text_add_n(&word, c, 1);
        } else {
            text_add_n(&word, c, 1);
        }
    }
    if (quote || lost) {
        *missing = lost ? '\\' : quote;
        text_free(&word);
        return NULL;
    }
    *at = c;
    return word.s ? word.s : mem_text("");
}

enum err_code jobs_split(const char *line, char ***args, size_t *count, struct err *e)
{
    size_t room = 0, n = 0;
    char **list = mem_grow(NULL, &room, 1, sizeof *list);

    *args = NULL;
    *count = 0;
    list[0] = NULL;
    for (line += strspn(line, " \t\n"); *line; line += strspn(line, " \t\n")) {
        bool home = !strncmp(line, "~/", 2); /* not within quotes */
        char missing = 0, *word = take_word(&line, &missing), *plain = word;

        if (home && word) {
            word = io_home_path(plain);
            free(plain);
        }
        if (!word) {
            jobs_free_args(list);
            /* what is missing first: of a long line the end is cut */
            return missing == '\\'
                       ? err_set(e, ERR_INPUT,
                                 "what the backslash at the end stands before is missing: %s", line)
                       : err_set(e, ERR_INPUT,
                                 "a quote is not closed: another %c is missing behind %s", missing,
                                 line);
        }
        list = mem_grow(list, &room, n + 2, sizeof *list);
        list[n++] = word;
        list[n] = NULL;
    }
    *args = list;
    *count = n;
    return ERR_OK;
}

void jobs_add_word(struct text *line, const char *word)
{
    static const char safe[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

    if (*word && !word[strspn(word, safe)]) {
        text_add(line, word);
        return;
    }
    text_add(line, "'");
    for (; *word; word++) {
        if (*word == '\'')
            text_add(line, "'\\''");
        else
            text_add_n(line, word, 1);
    }
    text_add(line, "'");
}
