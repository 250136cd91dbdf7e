/* spec/sweep.h: an experiment whose values may be lists: the grid of cells that it stands for. An
 * experiment without lists is a sweep of one cell. */
#ifndef CHORUS_SPEC_SWEEP_H
#define CHORUS_SPEC_SWEEP_H

#include "spec/spec.h"

#include <stdatomic.h>

struct spec_axis { /* a key that varies */
    char key[64];  /* "lr", "model.width"; "seed" of repeats */
    char **value;  /* (values), as they were typed and as spec_set takes them */
    size_t values;
    atomic_uint *holders; /* copies that share them: nobody changes them */
    int zip;              /* axes of one number above 0 walk together */
    bool drawn;           /* by loguniform */
    char *where;          /* for errors: "file.ini:12" */
    char *folder; /* what relative paths in the values are relative to; NULL: the current one */
    char *list;   /* as given: "geom:0.01:1:5"; paths in it are absolute */
    int digits;   /* that tell the values apart: text_add_short's; 0 before the sweep is closed */
};

struct spec_sweep {
    struct spec base;       /* what does not vary; of a key that varies its first value */
    struct spec_axis *axis; /* (axes): the first varies slowest, repeats' seeds fastest of all */
    size_t axes;
    int64_t samples; /* for loguniform; 0: not given */
    char *zip;       /* as given */
    /* Where those two stand, and the line where they stand in base.file. */
    char *samples_where, *zip_where;
    int32_t samples_line, zip_line;
};

void spec_sweep_init(struct spec_sweep *s); /* the defaults */
void spec_sweep_free(struct spec_sweep *s);
void spec_sweep_copy(struct spec_sweep *out,
                     const struct spec_sweep *s); /* the values are shared */

/* As spec_set, spec_parse and spec_read, but a value may be a list: A, B, C; geom:A:B:N; lin:A:B:N;
 * step:A:B:S; loguniform:A:B; and there are the keys samples and zip. A list that a later text sets
 * to one value is none any more. Every value of a list is checked as it is set; one that stands in it
 * twice is an error. Where there is an error, s is as it was. */
enum err_code spec_sweep_set(struct spec_sweep *s, const char *key, const char *value,
                             const char *where, const char *folder, struct err *e) MUST_USE;
enum err_code spec_sweep_parse(struct spec_sweep *s, const char *text, size_t n, const char *file,
                               struct err *e) MUST_USE;
enum err_code spec_sweep_read(struct spec_sweep *s, const char *path, struct err *e) MUST_USE;
/* A list of a hundred thousand values takes a while: it is checked once, by whatever thread, and then
 * set as often as one likes, in no time. At least so many values a list will have: 0 for what is none. */
size_t spec_list_length(const char *value);
enum err_code spec_list_check(struct spec_axis *out, const char *key, const char *value,
                              struct err *e) MUST_USE;
enum err_code spec_sweep_set_checked(struct spec_sweep *s, const struct spec_axis *list,
                                     struct err *e) MUST_USE;
void spec_axis_free(struct spec_axis *axis);
/* Behind the last of those: what only the whole can tell (lists of zip of unlike length, samples
 * without loguniform, more than a million cells); draws samples, makes repeats an axis. */
enum err_code spec_sweep_close(struct spec_sweep *s, struct err *e) MUST_USE;

#define SPEC_MOST_CELLS 1000000
bool spec_sweep_varies(const struct spec_sweep *s); /* false: one plain experiment, the base */
size_t spec_sweep_cells(const struct spec_sweep *s);
/* The key by which cells are tested on different data, so that none of them is the best; NULL: all are
 * tested on the same. */
const char *spec_sweep_tests_apart(const struct spec_sweep *s);
/* Cell 0, 1, ... in the grid's order, as a plain experiment without repeats that spec_check has
 * looked at. A key that lapses under another that varies (momentum where optimizer = sgd) is no
 * error; where it varies itself, the cells of all its values but the first are left out there.
 * ERR_INPUT: this cell is impossible, or another one's twin, and e says why. */
enum err_code spec_sweep_cell(const struct spec_sweep *s, size_t cell, struct spec *out,
                              struct err *e) MUST_USE;
/* Whether its cells run one at a time whatever is asked for, so that their seconds can be compared:
 * devices, threads, mode, members or backend vary. */
bool spec_sweep_runs_alone(const struct spec_sweep *s);
/* So many run side by side where so many were asked for (0: nobody did); a single run has no other
 * beside it. */
int spec_sweep_jobs(const struct spec_sweep *s, int64_t asked);
/* Whether its cells can be added to those of an older sweep of its name, begun with so many jobs. If not,
 * why: what ends a sentence about that one ("walks lr, and these lists walk batch", or HOW and what it
 * has: "was begun with epochs = 2, not 3"); list: what would add to it ("epochs=2,3"), "" for nothing.
 * out is the caller's to free, either way. */
struct spec_unlike {
    struct text why, list;
};
bool spec_sweep_adds(const struct spec_sweep *s, int64_t jobs, const struct spec_sweep *old,
                     int64_t old_jobs, const char *how, struct spec_unlike *out);
void spec_unlike_free(struct spec_unlike *u);
/* place[a]: which value of axis a the cell has. */
void spec_sweep_place(const struct spec_sweep *s, size_t cell, size_t *place);
/* The cell of that place. */
size_t spec_sweep_at(const struct spec_sweep *s, const size_t *place);
/* order: (cells) a permutation: corners and centre first, then ever finer; further seeds of repeats
 * behind the whole board of the first. */
void spec_sweep_spread(const struct spec_sweep *s, size_t *order);
/* INI text that reads back as the same sweep. */
void spec_sweep_write(const struct spec_sweep *s, struct text *out);

/* What a sweep is called (results/sweeps/NAME) that is made from a file or a model; from a run: without
 * the run's time and hash. */
void spec_sweep_name_after(const char *path, char name[SPEC_NAME]);
void spec_sweep_name_after_run(const char *run, char name[SPEC_NAME]);

#endif
