#include "base/again.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static char *option;

/* Quoted where a shell would take any of it for something else. */
static void add_word(struct text *out, const char *word)
{
    if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789_-+=@%^,./:")]) {
        text_add(out, word);
        return;
    }
    text_add(out, "'");
    for (; *word; word++)
        if (*word == '\'')
            text_add(out, "'\\''");
        else
            text_add_n(out, word, 1);
    text_add(out, "'");
}

void again_set(const char *results)
{
    struct text raw = {0}, clean = {0};

    free(option);
    option = NULL;
    if (!results)
        return;
    text_add(&raw, " --results ");
    add_word(&raw, results);
    text_add_clean(&clean, text_str(&raw));
    option = mem_text(text_str(&clean));
    text_free(&raw);
    text_free(&clean);
}

const char *again(void)
{
    return option ? option : "";
}
