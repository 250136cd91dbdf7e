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

/* A character beyond ASCII; returns its bytes. What LaTeX knows without packages, what the program
 * itself writes among it; '?' for all else: of a letter that it does not know it makes no page at all. */
static size_t add_tex_letter(struct text *out, const char *s)
{
    static const char *const known[][2] = {{"±", "$\\pm$"},      {"×", "$\\times$"},
                                           {"−", "$-$"},         {"–", "--"},
                                           {"—", "---"},         {"‘", "`"},
                                           {"’", "'"},           {"“", "``"},
                                           {"”", "''"},          {"…", "\\ldots{}"},
                                           {"·", "$\\cdot$"},    {"•", "$\\bullet$"},
                                           {"→", "$\\to$"},      {"←", "$\\leftarrow$"},
                                           {"↑", "$\\uparrow$"}, {"↓", "$\\downarrow$"},
                                           {"≤", "$\\le$"},      {"≥", "$\\ge$"},
                                           {"≠", "$\\ne$"},      {"≈", "$\\approx$"},
                                           {"÷", "$\\div$"},     {"∞", "$\\infty$"},
                                           {"√", "$\\surd$"},    {"°", "$^\\circ$"},
                                           {"²", "$^2$"},        {"³", "$^3$"},
                                           {"§", "\\S{}"},       {"µ", "$\\mu$"},
                                           {"μ", "$\\mu$"},      {"Δ", "$\\Delta$"},
                                           {"Σ", "$\\Sigma$"},   {"Ω", "$\\Omega$"},
                                           {"α", "$\\alpha$"},   {"β", "$\\beta$"},
                                           {"γ", "$\\gamma$"},   {"δ", "$\\delta$"},
                                           {"ε", "$\\epsilon$"}, {"η", "$\\eta$"},
                                           {"θ", "$\\theta$"},   {"λ", "$\\lambda$"},
                                           {"π", "$\\pi$"},      {"ρ", "$\\rho$"},
                                           {"σ", "$\\sigma$"},   {"ω", "$\\omega$"}};
    const unsigned char *b = (const unsigned char *)s;
    size_t n = 1;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(s, known[i][0], strlen(known[i][0]))) {
            text_add(out, known[i][1]);
            return strlen(known[i][0]);
        }
    while ((s[n] & 0xc0) == 0x80)
        n++;
    /* letters with accents of Latin-1, but eth, thorn and division; sharp s and ae are among them */
    if (n == 2 && b[0] == 0xc3 && !strchr("\x90\x97\x9e\xb0\xb7\xbe", b[1]))
        text_add_n(out, s, n);
    else
        text_add(out, "?");
    return n;
}

void text_add_tex(struct text *out, const char *word)
{
    struct text clean = {0};

    text_add_clean(&clean, word ? word : "");
    for (const char *s = text_str(&clean); *s; s++) {
        if (*s == '\\') {
            text_add(out, "\\textbackslash{}");
        } else if (*s == '~' || *s == '^') {
            text_addf(out, "\\%c{}", *s);
        } else if (strchr("&%$#_{}", *s)) {
            text_addf(out, "\\%c", *s);
        } else if (*s == '<' || *s == '>' || *s == '|') {
            text_addf(out, "$%c$", *s);
        } else if ((unsigned char)*s >= 0x80) {
            s += add_tex_letter(out, s) - 1;
        } else {
            text_add_n(out, s, 1);
        }
    }
    text_free(&clean);
}
