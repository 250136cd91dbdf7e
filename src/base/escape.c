/* Text inside the documents of others: what means something there is written so that it stands for
 * itself, and what could drive a terminal or turn the direction is made visible. */
#include "base/text.h"

#include <string.h>

void text_add_html(struct text *out, const char *word)
{
    struct text clean = {0};

    text_add_clean(&clean, word ? word : "");
    for (const char *s = text_str(&clean); *s; s++) {
        if (*s == '&')
            text_add(out, "&amp;");
        else if (*s == '<')
            text_add(out, "&lt;");
        else if (*s == '>')
            text_add(out, "&gt;");
        else if (*s == '"')
            text_add(out, "&quot;");
        else
            text_add_n(out, s, 1);
    }
    text_free(&clean);
}

void text_add_tex(struct text *out, const char *word)
{
    struct text clean = {0};

    text_add_clean(&clean, word ? word : "");
    for (const char *s = text_str(&clean); *s; s++) {
        if (!strncmp(s, "±", 2)) {
            text_add(out, "$\\pm$");
            s++;
        } else if (*s == '\\') {
            text_add(out, "\\textbackslash{}");
        } else if (*s == '~' || *s == '^') {
            text_addf(out, "\\%c{}", *s);
        } else if (strchr("&%$#_{}", *s)) {
            text_addf(out, "\\%c", *s);
        } else if (*s == '<' || *s == '>') {
            text_addf(out, "$%c$", *s);
        } else {
            text_add_n(out, s, 1);
        }
    }
    text_free(&clean);
}
