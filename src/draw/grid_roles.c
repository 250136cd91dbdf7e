/* draw/grid_roles.c: which role each cell has, as letters: what a test keeps of a screen's colours. */
#include "draw/grid.h"
#include "draw/theme.h"

/* Curves are 1 to 6, shades A to P. */
static const char letters[GRID_ROLES + 1] = ".dh-=kcfmgwb#_ts|123456@ABCDEFGHIJKLMNOP";
static const char legend[] =
    "# . text  d dim  h head  - border  = focus  k key  c chosen  f field  m marked  g good\n"
    "# w warn  b bad  # bar  _ rest  t title  s status  | rule  1-6 curves  @ pixel  A-P shades\n";

/* A blank is seen where it has a ground of its own. */
static bool is_seen(const struct grid_cell *cell)
{
    return (cell->code && cell->code != ' ') || theme_role(false, cell->role)->ground >= 0;
}

void grid_to_roles(const struct grid *g, struct text *out)
{
    text_add(out, legend);
    for (int row = 0; row < g->rows; row++) {
        const struct grid_cell *cell = &g->cell[row * g->columns];
        int end = g->columns;

        while (end > 0 && !is_seen(&cell[end - 1]))
            end--;
        for (int column = 0; column < end; column++)
            text_add_n(out, is_seen(&cell[column]) ? &letters[cell[column].role] : " ", 1);
        text_add(out, "\n");
    }
}
