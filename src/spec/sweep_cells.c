/* The cells of a sweep: which values each has, and in which order they show the shape of the whole
 * soonest. */
#include "spec/sweep.h"
#include "base/mem.h"
#include "spec/spec_int.h"

#include <stdlib.h>
#include <string.h>

/* Lists that walk together are one side of the grid. */
struct grid {
    size_t *side;   /* (axes): of each axis */
    size_t *length; /* (sides) */
    size_t sides;
};

static size_t first_of_side(const struct spec_sweep *s, size_t a)
{
    size_t b = 0;

    while (b < a && (!s->axis[a].zip || s->axis[b].zip != s->axis[a].zip))
        b++;
    return b;
}

static struct grid grid_of(const struct spec_sweep *s)
{
    struct grid g = {mem_new(s->axes + 1, sizeof *g.side), mem_new(s->axes + 1, sizeof *g.length),
                     0};

    for (size_t a = 0; a < s->axes; a++) {
        size_t b = first_of_side(s, a);

        g.side[a] = b < a ? g.side[b] : g.sides++;
        g.length[g.side[a]] = s->axis[a].values;
    }
    return g;
}

static void grid_free(struct grid *g)
{
    free(g->side);
    free(g->length);
}

bool spec_sweep_varies(const struct spec_sweep *s)
{
    return s->axes > 0;
}

const char *spec_sweep_tests_apart(const struct spec_sweep *s)
{
    for (size_t i = 0; i < s->axes; i++)
        if (s->axis[i].values > 1 &&
            (!strcmp(s->axis[i].key, "data") || !strcmp(s->axis[i].key, "test_limit")))
            return s->axis[i].key;
    return NULL;
}

size_t spec_sweep_cells(const struct spec_sweep *s)
{
    struct grid g = grid_of(s);
    size_t cells = 1;

    for (size_t i = 0; i < g.sides; i++)
        cells *= g.length[i]; /* spec_sweep_close has seen that it stays small */
    grid_free(&g);
    return cells;
}

/* Without a grid: of a large sweep it is asked for each cell at each keystroke. */
void spec_sweep_place(const struct spec_sweep *s, size_t cell, size_t *place)
{
    for (size_t a = s->axes; a-- > 0;) {
        const struct spec_axis *axis = &s->axis[a];
        size_t first = first_of_side(s, a);

        if (first < a)
            continue;
        place[a] = cell % axis->values;
        cell /= axis->values;
    }
    for (size_t a = 0; a < s->axes; a++)
        place[a] = place[first_of_side(s, a)];
}

size_t spec_sweep_at(const struct spec_sweep *s, const size_t *place)
{
    size_t cell = 0;

    for (size_t a = 0; a < s->axes; a++)
        if (first_of_side(s, a) == a)
            cell = cell * s->axis[a].values + place[a];
    return cell;
}

/* A given key that lapses because what decides about it varies. */
static void lapse(const struct spec_sweep *s, struct spec *cell)
{
    for (int key = 0; key < SPEC_KEYS; key++) {
        int by = spec_given(cell, key) ? spec_used_by(key, NULL) : -1;

        for (size_t a = 0; by >= 0 && a < s->axes; a++)
            if (!strcmp(s->axis[a].key, spec_keys[by].name) && !spec_applies(cell, key))
                cell->given &= ~(UINT64_C(1) << key);
    }
}

/* Where no key of a side has an effect, all its values are one cell: the first one's. */
static enum err_code refuse_twin(const struct spec_sweep *s, const struct spec *cell,
                                 const size_t *place, struct err *e)
{
    for (size_t a = 0; a < s->axes; a++) {
        const struct spec_axis *axis = &s->axis[a];
        bool works = false;

        for (size_t b = 0; b < s->axes; b++)
            if (b == a || (axis->zip && s->axis[b].zip == axis->zip))
                works = works || spec_applies(cell, spec_key_find(s->axis[b].key));
        if (!place[a] || works)
            continue;
        struct text by = {0};
        int decides = spec_used_by(spec_key_find(axis->key), NULL);
        spec_value(cell, decides, &by);
        enum err_code code = err_set(
            e, ERR_INPUT, "%s%s%s = %s: %s = %s does not use it, so this is the cell of %s = %s",
            axis->where ? axis->where : "", axis->where ? ": " : "", axis->key,
            axis->value[place[a]], spec_keys[decides].name, text_str(&by), axis->key,
            axis->value[0]);
        text_free(&by);
        return code;
    }
    return ERR_OK;
}

static enum err_code set_cell(const struct spec_sweep *s, const size_t *place, struct spec *out,
                              struct err *e)
{
    *out = s->base;
    out->repeats = 1;
    for (size_t a = 0; a < s->axes; a++) {
        const struct spec_axis *axis = &s->axis[a];

        TRY(spec_set(out, axis->key, axis->value[place[a]], axis->where, axis->folder, e));
    }
    memcpy(out->line, s->base.line, sizeof out->line);
    for (int i = 0; i < s->base.params; i++) /* in the same places: base has them all */
        out->param[i].line = s->base.param[i].line;
    lapse(s, out);
    TRY(spec_check(out, e));
    return refuse_twin(s, out, place, e);
}

enum err_code spec_sweep_cell(const struct spec_sweep *s, size_t cell, struct spec *out,
                              struct err *e)
{
    size_t *place = mem_new(s->axes + 1, sizeof *place);
    enum err_code code;

    spec_sweep_place(s, cell, place);
    code = set_cell(s, place, out, e);
    free(place);
    return code;
}

/* ---- the order ---- */

/* How often 0..n-1 was halved when i's turn came: 0 for the ends, 1 for the middle, ... */
static void halve(size_t *level, size_t first, size_t last, size_t depth)
{
    size_t middle = first + (last - first) / 2;

    if (last - first < 2)
        return;
    level[middle] = depth;
    halve(level, first, middle, depth + 1);
    halve(level, middle, last, depth + 1);
}

/* The same for values without an order of their own, drawn ones: as many in each level. */
static void count_up(size_t *level, size_t n)
{
    for (size_t i = 2, depth = 1, in_depth = 1, left = 1; i < n; i++) {
        level[i] = depth;
        if (--left == 0) {
            depth++;
            in_depth *= 2;
            left = in_depth;
        }
    }
}

struct turn {
    size_t cell, seed; /* seed: which seed of the board, 0 first */
    size_t level, sum; /* the finest of its places, and all of them */
    size_t in_class;   /* the same once more, of its place among its equals */
};

static int by_turn(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;

    if (x->seed != y->seed)
        return x->seed < y->seed ? -1 : 1;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->sum != y->sum) /* the middle of a square before the middles of its sides */
        return x->sum > y->sum ? -1 : 1;
    if (x->in_class != y->in_class)
        return x->in_class < y->in_class ? -1 : 1;
    return x->cell < y->cell ? -1 : x->cell > y->cell;
}

/* Among equals too the far ends come first: opposite corners before neighbouring ones. */
static void spread_equals(struct turn *turn, size_t cells)
{
    size_t *level = mem_new(cells, sizeof *level);

    for (size_t first = 0, n; first < cells; first += n) {
        n = 1;
        while (first + n < cells && turn[first + n].seed == turn[first].seed &&
               turn[first + n].level == turn[first].level && turn[first + n].sum == turn[first].sum)
            n++;
        memset(level, 0, n * sizeof *level);
        halve(level, 0, n - 1, 1);
        for (size_t i = 0; i < n; i++)
            turn[first + i].in_class = level[i];
    }
    free(level);
}

void spec_sweep_spread(const struct spec_sweep *s, size_t *order)
{
    struct grid g = grid_of(s);
    size_t cells = spec_sweep_cells(s), seeds = SIZE_MAX;
    size_t **level = mem_new(g.sides + 1, sizeof *level);
    struct turn *turn = mem_new(cells, sizeof *turn);

    for (size_t a = 0; a < s->axes; a++) {
        size_t side = g.side[a];

        if (!strcmp(s->axis[a].key, "seed") && !s->axis[a].zip)
            seeds = side;
        if (level[side])
            continue;
        level[side] = mem_new(g.length[side], sizeof **level);
        if (s->axis[a].drawn)
            count_up(level[side], g.length[side]);
        else
            halve(level[side], 0, g.length[side] - 1, 1);
    }
    for (size_t i = 0; i < cells; i++) {
        size_t rest = i;

        turn[i].cell = i;
        for (size_t side = g.sides; side-- > 0; rest /= g.length[side]) {
            size_t at = rest % g.length[side], l = level[side][at];

            if (side == seeds) {
                turn[i].seed = at;
                continue;
            }
            turn[i].level = l > turn[i].level ? l : turn[i].level;
            turn[i].sum += l;
        }
    }
    qsort(turn, cells, sizeof *turn, by_turn);
    spread_equals(turn, cells);
    qsort(turn, cells, sizeof *turn, by_turn);
    for (size_t i = 0; i < cells; i++)
        order[i] = turn[i].cell;
    for (size_t side = 0; side < g.sides; side++)
        free(level[side]);
    free(level);
    free(turn);
    grid_free(&g);
}

bool spec_sweep_runs_alone(const struct spec_sweep *s)
{
    static const char *const keys[] = {"devices", "threads", "mode", "members", "backend"};

    for (size_t a = 0; a < s->axes; a++)
        for (size_t k = 0; k < MEM_COUNT(keys); k++)
            if (!strcmp(s->axis[a].key, keys[k]) && s->axis[a].values > 1)
                return true;
    return false;
}

int spec_sweep_jobs(const struct spec_sweep *s, int64_t asked)
{
    return asked > 1 && spec_sweep_varies(s) && !spec_sweep_runs_alone(s) ? (int)asked : 1;
}
