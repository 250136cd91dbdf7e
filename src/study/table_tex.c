/* Tables in LaTeX, for a page of paper: what is the same in all rows is said below, and what is far
 * too wide goes on below itself. */
#include "study/table_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define PAGE     70         /* letters across a page of a paper, with what stands between columns */
#define PART     (2 * PAGE) /* at most in a part, which is scaled down to the page */
#define LEFT_OUT (-1)

/* Whether a column is left out: not the first, nor one that says which row is best. */
static bool tells_nothing(const struct study_table *t, size_t column,
                          const struct study_style *style)
{
    if (!style || !style->narrow || t->rows < 2 || !column)
        return false;
    for (size_t r = 0; r < t->rows; r++) {
        const struct study_cell *c = &t->cell[r * t->columns + column];

        if (c->best || strcmp(c->text, t->cell[column].text) != 0)
            return false;
    }
    return true;
}

/* In letters, with what stands between columns. */
static size_t tex_width(const struct study_table *t, size_t column, const struct study_style *style)
{
    struct text word = {0};
    size_t most = strlen(study_table_head(t, (int)column, style));

    for (size_t r = 0; r < t->rows; r++) {
        text_clear(&word);
        study_cell_text(t, r, (int)column, style, &word);
        most = word.n > most ? word.n : most;
    }
    text_free(&word);
    return most + 2;
}

/* The part in which each column but the first stands, or LEFT_OUT. The caller frees it; width:
 * (columns) of each part. */
static int *share_out(const struct study_table *t, const struct study_style *style, size_t *width,
                      int *parts)
{
    int *part = mem_new(t->columns + 1, sizeof *part);
    size_t first = tex_width(t, 0, style);

    *parts = 1;
    width[0] = first;
    for (size_t c = 1; c < t->columns; c++) {
        size_t own = tex_width(t, c, style), *now = &width[*parts - 1];

        part[c] = LEFT_OUT;
        if (tells_nothing(t, c, style))
            continue;
        if (*now > first && *now + own > PART) {
            now = &width[(*parts)++];
            *now = first;
        }
        *now += own;
        part[c] = *parts - 1;
    }
    return part;
}

static bool is_in(const int *part, size_t column, int which)
{
    return !column || part[column] == which;
}

static void tex_rows(const struct study_table *t, const struct study_style *style, const int *part,
                     int which, struct text *out)
{
    struct text word = {0};

    for (size_t i = 0; i < t->cells + t->columns; i++) { /* the heads are row 0 */
        size_t c = i % t->columns, row = i / t->columns;
        bool best = row && t->cell[i - t->columns].best;

        if (is_in(part, c, which)) {
            text_clear(&word);
            if (row)
                study_cell_text(t, row - 1, (int)c, style, &word);
            else
                text_add(&word, study_table_head(t, (int)c, style));
            text_add(out, c ? " & " : "");
            text_add(out, best ? "\\textbf{" : "");
            text_add_tex(out, text_str(&word));
            text_add(out, best ? "}" : "");
        }
        if (c + 1 == t->columns)
            text_add(out, row ? " \\\\\n" : " \\\\\n\\midrule\n");
    }
    text_free(&word);
}

/* What was left out, as a sentence. */
static void tex_same(const struct study_table *t, const struct study_style *style, const int *part,
                     struct text *out)
{
    struct text word = {0}, all = {0};

    for (size_t c = 0; c < t->columns; c++) {
        if (part[c] != LEFT_OUT)
            continue;
        text_clear(&word);
        study_cell_text(t, 0, (int)c, style, &word);
        text_addf(&all, "%s%s = %s",
                  all.n ? ", " : "the same in all rows: ", study_table_head(t, (int)c, style),
                  word.n ? text_str(&word) : "(empty)");
    }
    text_add_tex(out, text_str(&all));
    text_add(out, all.n ? "\\par\n" : "");
    text_free(&word);
    text_free(&all);
}

/* A paragraph below the table: what must be read with it is printed with it. */
static void tex_notes(const struct study_table *t, const struct study_style *style, const int *part,
                      struct text *out)
{
    struct text notes = {0};

    tex_same(t, style, part, &notes);
    study_table_notes(t, "", "\\par\n", text_add_tex, &notes);
    if (notes.n)
        text_addf(
            out,
            "\\par\\smallskip\n\\noindent\\begin{minipage}{\\linewidth}\\footnotesize\\sloppy\n%s"
            "\\end{minipage}\n",
            text_str(&notes));
    text_free(&notes);
}

static void tex_part(const struct study_table *t, const struct study_style *style, const int *part,
                     int which, bool broad, struct text *out)
{
    if (broad)
        text_add(out, "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n");
    text_add(out, "\\begin{tabular}{");
    for (size_t c = 0; c < t->columns; c++)
        if (is_in(part, c, which))
            text_add(out, t->column[c].kind == STUDY_TEXT ? "l" : "r");
    text_add(out, "}\n\\toprule\n");
    tex_rows(t, style, part, which, out);
    text_add(out, broad ? "\\bottomrule\n\\end{tabular}}\n" : "\\bottomrule\n\\end{tabular}\n");
}

void study_table_tex(const struct study_table *t, const struct study_style *style, struct text *out)
{
    size_t *width = mem_new(t->columns + 1, sizeof *width);
    int parts, *part = share_out(t, style, width, &parts);

    text_addf(out, "%% \\usepackage{booktabs%s}\n",
              parts > 1 || width[0] > PAGE ? ",graphicx" : "");
    for (int p = 0; p < parts; p++) {
        text_add(out, p ? "\\par\\medskip\\noindent\n" : width[p] > PAGE ? "\\noindent\n" : "");
        tex_part(t, style, part, p, width[p] > PAGE, out);
    }
    tex_notes(t, style, part, out);
    free(part);
    free(width);
}
