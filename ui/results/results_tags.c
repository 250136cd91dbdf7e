/* ui/results/results_tags.c: what is typed as tags, in the words of the verb tag. */
#include "ui/results/results_int.h"

#include "base/mem.h"
#include "record/run/run.h"

#include <stdlib.h>
#include <string.h>

/* "paper" is taken for "+paper": there is nothing else that it could mean here. The bytes of what is to be
 * added are counted with the blanks between. */
static enum err_code add_change(const char *word, struct text *line, size_t *bytes, struct err *e)
{
    const char *name = word + (*word == '+' || *word == '-');

    if (!*name)
        return err_set(e, ERR_INPUT, "a tag has a name behind its sign, as +paper");
    if (name[strcspn(name, ",\"+=")])
        return err_set(e, ERR_INPUT,
                       "%s: a tag is one word without commas, quotes, + and =, as +paper -draft",
                       word);
    if (*word != '-')
        *bytes += strlen(name) + (*bytes > 0);
    text_addf(line, " %s%s", name == word ? "+" : "", word);
    return ERR_OK;
}

enum err_code results_tag_line(const char *text, struct text *line, struct err *e)
{
    char *copy = mem_text(text), *rest = copy;
    const size_t most = sizeof(((struct record_run *)0)->tags) - 1;
    size_t bytes = 0;
    enum err_code code = ERR_OK;

    text_add(line, "tag");
    for (char *word; code == ERR_OK && (word = strsep(&rest, " \t"));)
        if (*word)
            code = add_change(word, line, &bytes, e);
    free(copy);
    if (code == ERR_OK && bytes > most)
        return err_set(e, ERR_INPUT, "the tags of a run take up to %zu bytes, these have %zu", most,
                       bytes);
    return code;
}
