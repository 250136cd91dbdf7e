/* cli/verbs/predict.c: chorus predict RUN: the test images, or pictures of one's own, through the trained
 * models. */
#include "base/err.h"
#include "base/io.h"
#include "base/loss.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/print.h"
#include "cli/out/report/predictions.h"
#include "cli/out/results.h"
#include "cli/out/table.h"
#include "cli/verbs.h"
#include "draw/tile.h"
#include "record/filter.h"
#include "record/find.h"
#include "record/run/reader.h"
#include "study/members.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const struct cli_usage usage = {
    "predict RUN [PICTURE...] [--first N] [--worst N] [--confusion]",
    "Predictions of a run's models for the test images, against their labels.",
    "Prints the first ones and the accuracy over all; writes all of them to the run's folder as\n"
    "predictions.safetensors: images, labels, probabilities (members, images, classes). PICTUREs are\n"
    "PNG, PGM or PPM files, classified instead; --invert turns black on white into white on black, as\n"
    "the MNIST sets are.\n"
    "  --worst    mistakes, those with the least probability for the right class first\n"
    "  --split    an ensemble's images by how many members answer otherwise than the whole\n"
    "  --sure     the images by their highest probability; --unsure the other way round\n"
    "  --label    only images of that class, --answer only those that were given it\n"
    "  --csv      a row an image: label, prediction, the averaged probability of each class (p0, p1,\n"
    "             ...), each member's prediction, and with --members its probabilities (member0_p0,\n"
    "             ...); with --confusion a row a label and a column an answer; with --classes a row\n"
    "             a class\n"
    "The loss is the mean of -log of the label's probability, in double and from the logits, as in\n"
    "training. Where the GPU that a run was trained on\n"
    "is not, the answers are computed on what there is, the same up to rounding.\n"};

struct wish {
    const char *at, *csv;
    const char *first, *worst, *split, *sure, *unsure, *label, *answer;
    int of_label, of_answer; /* -1: of every class */
    bool json, confusion, classes, members, draw, invert;
    enum study_order order;
    int64_t rows;
};

/* ---- for people ---- */

static void add_class(const struct study_answers *p, int class, struct text *out)
{
    text_addf(out, "%d", class);
    if (p->class_names && p->class_names[class])
        text_addf(out, " %s", p->class_names[class]);
}

static void add_class_cell(struct cli_table *t, const struct study_answers *p, int class)
{
    struct text cell = {0};

    add_class(p, class, &cell);
    cli_table_add(t, text_str(&cell));
    text_free(&cell);
}

static void add_table(const struct study_answers *p, const size_t *pick, size_t count,
                      struct text *out)
{
    struct cli_table t;
    struct text head = {0};

    text_addf(&head, "-%s|label|prediction||-probability", study_answers_noun(p));
    for (int m = 0; p->members > 1 && m < p->members; m++)
        text_addf(&head, "|member %d", m);
    cli_table_start(&t, text_str(&head));
    for (size_t k = 0; k < count; k++) {
        size_t i = pick[k];
        int said = p->answer[i];

        cli_table_addf(&t, "%zu", i);
        add_class_cell(&t, p, (int)p->labels[i]);
        add_class_cell(&t, p, said);
        cli_table_add(&t, said == p->labels[i] ? "" : "wrong");
        cli_table_addf(&t, "%.4f", study_answers_highest(p, i));
        for (int m = 0; p->members > 1 && m < p->members; m++) {
            int own = study_answers_of(p, m, i);
            size_t at = ((size_t)m * p->n + i) * (size_t)p->classes + (size_t)own;

            cli_table_addf(&t, "%d %.4f", own, (double)p->p[at]);
        }
    }
    cli_table_text(&t, out);
    cli_table_free(&t);
    text_free(&head);
}

static void add_bar(struct text *out, double part, int length)
{
    int cells = (int)lround(part * length);

    for (int i = 0; i < length; i++)
        text_add(out, !cli_utf8() ? (i < cells ? "#" : ".") : i < cells ? "█" : "░");
}

#define CLASSES_DRAWN 10
#define MEMBERS_DRAWN 4

/* The bar has what a terminal has room for beside an image, a name and the probabilities. */
static int bar_length(const struct study_answers *p)
{
    int members = p->members > MEMBERS_DRAWN ? MEMBERS_DRAWN : p->members > 1 ? p->members : 0;
    int room = cli_limit(STDOUT_FILENO) - (study_answers_are_rows(p) ? 0 : p->shape.w + 2) - 22 -
               6 * members;

    return room < 4 ? 4 : room < 20 ? room : 20;
}

/* What stands beside line number `line` of an image: who says what. */
static void add_beside(const struct study_answers *p, size_t image, int line, struct text *out)
{
    int said = p->answer[image];
    int rows = p->classes < CLASSES_DRAWN ? p->classes : CLASSES_DRAWN;
    struct text name = {0};

    if (line == 0) {
        text_addf(out, "%s %zu: ", study_answers_noun(p), image);
        add_class(p, said, out);
        if (said != p->labels[image]) {
            text_add(out, ", wrong: it is ");
            add_class(p, (int)p->labels[image], out);
        }
    } else if (line <= rows) {
        double value = p->mean[image * (size_t)p->classes + (size_t)line - 1];

        add_class(p, line - 1, &name);
        text_addf(out, "%-14.14s ", text_str(&name));
        add_bar(out, value, bar_length(p));
        text_addf(out, " %.4f", value);
        for (int m = 0; p->members > 1 && m < p->members && m < MEMBERS_DRAWN; m++)
            text_addf(
                out, " %.3f",
                (double)p->p[((size_t)m * p->n + image) * (size_t)p->classes + (size_t)line - 1]);
    } else if (line == rows + 1 && p->members > 1) {
        text_addf(out, "%d of %d members say otherwise", p->others[image], p->members);
    }
    text_free(&name);
}

static void draw_image(const struct study_answers *p, size_t image, struct text *out)
{
    uint8_t *bytes = study_answers_bytes(p, image);
    struct tile t = {bytes, p->shape.h, p->shape.w, p->shape.c == 3 ? 3 : 1};
    bool colours = cli_colours(STDOUT_FILENO) && cli_utf8();
    int lines = study_answers_are_rows(p) ? 0 : tile_lines(&t);
    int most = (p->classes < CLASSES_DRAWN ? p->classes : CLASSES_DRAWN) + (p->members > 1);
    struct text raw = {0};

    for (int line = 0; line < lines || line <= most; line++) {
        text_clear(&raw);
        if (line < lines)
            tile_add_line(&t, line, colours, out);
        else if (!study_answers_are_rows(p)) /* whose numbers are no picture */
            text_addf(out, "%*s", t.w, "");
        add_beside(p, image, line, &raw);
        text_add(out, raw.n && !study_answers_are_rows(p) ? "  " : "");
        text_add_clean(out, text_str(&raw));
        while (!colours && out->n && out->s[out->n - 1] == ' ')
            out->s[--out->n] = 0;
        text_add(out, "\n");
    }
    text_add(out, "\n");
    text_free(&raw);
    free(bytes);
}

static void add_accuracy(const struct study_answers *p, const struct study_members *s,
                         struct text *out)
{
    char acc[TEXT_NUMBER_ROOM], high[TEXT_NUMBER_ROOM], loss[LOSS_ROOM];
    double least = 1, most = 0;

    text_addf(out, "accuracy %s, loss %s over %s test %s%s", text_fixed(acc, s->whole.acc, 4),
              loss_text(loss, s->whole.nll), TEXT_COUNT(p->n), study_answers_noun(p), text_s(p->n));
    if (p->epoch >= 0)
        text_addf(out, ", weights of epoch %lld", (long long)p->epoch);
    for (int m = 0; m < p->members; m++) {
        least = fmin(least, s->member[m].acc);
        most = fmax(most, s->member[m].acc);
    }
    if (p->members > 1)
        text_addf(out, "; %d members %s to %s", p->members, text_fixed(acc, least, 4),
                  text_fixed(high, most, 4));
    text_add(out, "\n");
}

/* ---- for programs ---- */

static void add_row(const struct study_answers *p, int member, size_t image, struct text *out)
{
    size_t classes = (size_t)p->classes, at = image * classes;

    text_add(out, "[");
    for (size_t c = 0; c < classes; c++) {
        text_add(out, c ? ", " : "");
        text_add_json_double(out, member < 0
                                      ? p->mean[at + c]
                                      : (double)p->p[(size_t)member * p->n * classes + at + c]);
    }
    text_add(out, "]");
}

static void add_json(const struct study_answers *p, const struct record_entry *run,
                     const struct study_members *s, const char *path, const size_t *pick,
                     size_t count, struct text *out)
{
    text_add(out, "{\"run\": ");
    text_add_json(out, run->name);
    text_addf(out, ", \"epoch\": %lld, \"images\": %zu, \"members\": %d, \"test_acc\": ",
              (long long)p->epoch, p->n, p->members);
    text_add_json_double(out, s->whole.acc);
    text_add(out, ", \"test_loss\": ");
    text_add_json_double(out, s->whole.nll);
    text_add(out, ", \"file\": ");
    text_add_json(out, path);
    text_add(out, ", \"first\": [");
    for (size_t k = 0; k < count; k++) {
        size_t i = pick[k];

        text_addf(out, "%s{\"image\": %zu, \"label\": %lld, \"prediction\": %d, \"mean\": ",
                  k ? ", " : "", i, (long long)p->labels[i], p->answer[i]);
        add_row(p, -1, i, out);
        text_add(out, ", \"members\": [");
        for (int m = 0; m < p->members; m++) {
            text_add(out, m ? ", " : "");
            add_row(p, m, i, out);
        }
        text_add(out, "]}");
    }
    text_add(out, "]}\n");
}

static void make_matrix(const struct study_answers *p, bool confusion, struct study_table *t)
{
    struct study_confusion c;

    study_answers_confusion(p, NULL, p->classes, &c);
    (confusion ? study_confusion_table : study_classes_table)(&c, p->class_names, t);
    study_confusion_free(&c);
}

static int write_csv(const struct study_answers *p, const struct wish *w, const size_t *pick,
                     size_t count)
{
    struct study_table t = {0};
    struct text out = {0};
    int code;

    if (w->confusion || w->classes)
        make_matrix(p, w->confusion, &t);
    else
        study_answers_table(p, pick, count, w->members, &t);
    study_table_csv(&t, &out);
    study_table_free(&t);
    code = cli_write_out(w->csv, &out);
    text_free(&out);
    return code;
}

/* ---- the verb ---- */

static void add_matrices(const struct study_answers *p, const struct wish *w, struct text *out)
{
    struct study_table t = {0};

    if (w->confusion) {
        make_matrix(p, true, &t);
        cli_study_text(&t, NULL, -1, out);
        study_table_free(&t);
    }
    if (w->classes) {
        text_add(out, out->n ? "\n" : "");
        make_matrix(p, false, &t);
        cli_study_text(&t, NULL, STDOUT_FILENO, out);
        study_table_free(&t);
    }
}

static int show(const struct study_answers *p, const struct record_entry *run, const struct wish *w,
                const char *path)
{
    struct study_members s;
    size_t *pick, count = study_answers_pick(p, w->order, w->of_label, w->of_answer, &pick);
    struct text out = {0}, line = {0};
    int code;

    count = (int64_t)count < w->rows ? count : (size_t)w->rows;
    if (w->csv) {
        code = write_csv(p, w, pick, count);
        free(pick);
        return code;
    }
    study_members(&s, p);
    if (w->json) {
        add_json(p, run, &s, path, pick, count, &out);
    } else if (w->confusion || w->classes) {
        add_matrices(p, w, &out);
    } else {
        for (size_t k = 0; w->draw && k < count; k++)
            draw_image(p, pick[k], &out);
        if (!w->draw && count)
            add_table(p, pick, count, &out);
        else if (!count && w->rows)
            text_addf(&out, "none of the %zu images is of that kind\n", p->n);
        add_accuracy(p, &s, &line);
        cli_add_lines(&out, line.s, cli_limit(STDOUT_FILENO), 0);
    }
    code = cli_print_drawn(&out);
    study_members_free(&s);
    text_free(&out);
    text_free(&line);
    free(pick);
    return code;
}

/* By name or number. */
static bool find_class(const struct study_answers *p, const char *option, const char *word,
                       int *class)
{
    int64_t number;

    *class = -1;
    if (!word)
        return true;
    for (int k = 0; p->class_names && k < p->classes; k++)
        if (p->class_names[k] && !strcasecmp(p->class_names[k], word))
            *class = k;
    if (*class < 0 && text_to_int(word, &number) && number >= 0 && number < p->classes)
        *class = (int)number;
    if (*class < 0)
        cli_refuse("%s %s is none of the %d classes, 0 to %d or by name", option, word, p->classes,
                   p->classes - 1);
    return *class >= 0;
}

static int predict(const struct record_entry *run, struct wish *w)
{
    struct study_answers p;
    char *path = predictions_path(run);
    struct err e;
    int code;

    if (predictions_make(&p, run, w->at, &e) != ERR_OK) {
        code = cli_fail(&e);
    } else {
        bool kept = study_answers_save(&p, path, &e) == ERR_OK;

        if (!find_class(&p, "--label", w->label, &w->of_label) ||
            !find_class(&p, "--answer", w->answer, &w->of_answer)) {
            code = err_exit_code(ERR_INPUT);
        } else {
            code = show(&p, run, w, path);
            if (!kept) /* nobody asked for that file: without it they are made again */
                cli_talk("the predictions could not be kept: %s", TEXT_CLEAN(e.text));
            else if (!w->json && !w->csv)
                cli_talk("all of them: %s", TEXT_CLEAN(path));
        }
        study_answers_free(&p);
    }
    free(path);
    return code;
}

#define STRONG 4 /* times smaller or larger: little of the picture is left, or little was there */

/* Where the model saw something else than the picture. */
static void add_scaling(const struct study_answers *p, size_t i, struct text *out)
{
    double across = (double)p->size[i][0] / p->shape.w, down = (double)p->size[i][1] / p->shape.h;
    bool squashed = fabs(log(across / down)) > log(1.25);
    bool scaled = fmax(across, down) > STRONG || fmin(across, down) < 1.0 / STRONG;

    if (squashed || scaled)
        text_addf(out, "  (%s from %lldx%lld to %dx%d)", squashed ? "squashed" : "scaled",
                  (long long)p->size[i][0], (long long)p->size[i][1], p->shape.w, p->shape.h);
}

static int predict_pictures(const struct record_entry *run, const struct wish *w, int count,
                            char **files)
{
    struct study_answers p;
    struct text out = {0};
    struct err e;
    int code;

    if (predictions_of_pictures(&p, run, w->at, count, files, w->invert, &e) != ERR_OK)
        return cli_fail(&e);
    for (int i = 0; i < count; i++) {
        int said = p.answer[i];
        struct text line = {0};

        p.labels[i] = said; /* nobody knows better */
        if (w->draw) {
            draw_image(&p, (size_t)i, &out);
            continue;
        }
        text_addf(&line, "%s: ", files[i]);
        add_class(&p, said, &line);
        text_addf(&line, " %.4f", study_answers_highest(&p, (size_t)i));
        for (int m = 0; p.members > 1 && m < p.members; m++) {
            text_add(&line, !m ? "  members: " : p.class_names ? ", " : " ");
            add_class(&p, study_answers_of(&p, m, (size_t)i), &line);
        }
        add_scaling(&p, (size_t)i, &line);
        text_add_clean(&out, text_str(&line));
        text_add(&out, "\n");
        text_free(&line);
    }
    code = cli_print_drawn(&out);
    text_free(&out);
    study_answers_free(&p);
    return code;
}

/* One of --first, --worst, --split and --sure says how many, and of which. */
static bool check(struct wish *w)
{
    const struct {
        const char *name, *value;
        enum study_order order;
    } orders[] = {{"--first", w->first, STUDY_IN_ORDER},
                  {"--worst", w->worst, STUDY_WORST},
                  {"--split", w->split, STUDY_SPLIT},
                  {"--sure", w->sure, STUDY_SURE},
                  {"--unsure", w->unsure, STUDY_UNSURE}};
    int given = 0;

    w->rows = w->csv ? INT64_C(1) << 40 : 10;
    for (size_t i = 0; i < MEM_COUNT(orders); i++) {
        if (!orders[i].value)
            continue;
        if (given++) {
            cli_refuse("predict takes one of --first, --worst, --split, --sure and --unsure");
            return false;
        }
        w->order = orders[i].order;
        if (!cli_number(orders[i].name, orders[i].value, 0, INT64_C(1) << 40, &w->rows))
            return false;
    }
    if (w->json + (w->csv || w->confusion || w->classes) + w->draw > 1) {
        cli_refuse("predict prints one form: --json, --csv, --draw, or --confusion and --classes");
        return false;
    }
    if (w->csv && w->confusion && w->classes) {
        cli_refuse("a CSV file is one table: --csv with --confusion or with --classes, not both");
        return false;
    }
    if (!cli_ends_in(w->csv, ".csv")) {
        cli_refuse("predict --csv %s: this is named for another form; name it *.csv", w->csv);
        return false;
    }
    if (w->members && (!w->csv || w->confusion || w->classes)) {
        cli_refuse("--members is for --csv FILE, whose rows are images: it adds each member's "
                   "probabilities");
        return false;
    }
    if (w->csv && (w->confusion || w->classes) && (given || w->label || w->answer)) {
        cli_refuse("--confusion and --classes count all images: they take no --first, --worst, "
                   "--label and the like");
        return false;
    }
    return true;
}

/* How many words behind the verb name the run: the first, and filters that follow it. */
static int words_of_run(int argc, char **argv)
{
    int n = 1;

    while (1 + n < argc && record_filter_is(argv[1 + n]) && !io_exists(argv[1 + n]))
        n++;
    return n;
}

int cli_predict(int argc, char **argv)
{
    struct wish w = {0};
    const struct cli_option options[] = {
        {"--first", "N", "how many predictions are printed (10)", &w.first},
        {"--worst", "N", "the worst mistakes instead", &w.worst},
        {"--split", "N", "those on which the members disagree most", &w.split},
        {"--sure", "N", "those with the highest probability", &w.sure},
        {"--unsure", "N", "those with the lowest", &w.unsure},
        {"--label", "CLASS", "images of that class alone, by name or number", &w.label},
        {"--answer", "CLASS", "images that were given that class alone", &w.answer},
        {"--draw", NULL, "draws the images beside their probabilities", &w.draw},
        {"--confusion", NULL, "labels against answers", &w.confusion},
        {"--classes", NULL, "accuracy and precision of each class", &w.classes},
        {"--csv", cli_written, "all of them, those asked for, or the matrix, as CSV (-: stdout)",
         &w.csv},
        {"--members", NULL, "with --csv: each member's probabilities too", &w.members},
        {"--at", "WHEN", "weights of the best epoch, the last, or epoch N if kept (last)", &w.at},
        {"--invert", NULL, "PICTUREs: black becomes white", &w.invert},
        {"--json", NULL, "as an object", &w.json},
        {NULL, NULL, NULL, NULL},
    };
    struct record_entry run;
    struct err e;
    int code = cli_options(&usage, options, &argc, argv), words, pictures;

    if (code != CLI_ON)
        return code;
    if (argc < 2)
        return cli_refuse("predict needs one RUN, such as @ for the newest");
    if (!check(&w))
        return err_exit_code(ERR_INPUT);
    words = words_of_run(argc, argv);
    pictures = argc - 1 - words;
    if (pictures && (w.first || w.worst || w.split || w.sure || w.unsure || w.label || w.answer ||
                     w.json || w.csv || w.confusion || w.classes))
        return cli_refuse("predict RUN PICTURE... takes --at, --invert and --draw alone: PICTUREs "
                          "have no labels, and all of them are printed");
    if (!pictures && w.invert)
        return cli_refuse("--invert is for PICTUREs: name some behind the RUN");
    if (record_find_one(cli_results(), argv + 1, (size_t)words, &run, &e) != ERR_OK)
        return cli_fail(&e);
    if (record_check_whole(&run, &e) != ERR_OK)
        code = cli_fail(&e);
    else
        code =
            pictures ? predict_pictures(&run, &w, pictures, argv + 1 + words) : predict(&run, &w);
    record_free_entry(&run);
    return code;
}
