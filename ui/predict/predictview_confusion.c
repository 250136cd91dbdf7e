/* ui/predict/predictview_confusion.c: who is taken for whom: the confusion matrix, and a cell of it in words. */
#include "ui/predict/predictview_int.h"

#include "base/mem.h"
#include "draw/ink/words.h"
#include "ui/widgets/share.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST_LABEL 18 /* columns: the accuracy behind it must stay in sight at 80 */

/* By their places among the classes that are shown. */
static uint64_t count_at(const struct predictview_set *s, int label, int answer)
{
    return s->confusion.count[(size_t)label * (size_t)s->confusion.classes + (size_t)answer];
}

void predictview_make_board(const struct predictview_set *s, struct predictview_board *out)
{
    size_t n = (size_t)s->confusion.classes;
    char number[TEXT_NUMBER_ROOM];
    struct text name = {0};

    *out = (struct predictview_board){0};
    out->row_name = mem_new(n + 1, sizeof *out->row_name);
    out->word = mem_new(n * n + 1, sizeof *out->word);
    out->value = mem_new(n * n + 1, sizeof *out->value);
    for (size_t l = 0; l < n; l++) {
        size_t images = s->labelled[s->shown[l]];

        for (size_t a = 0; a < n; a++) {
            uint64_t count = count_at(s, (int)l, (int)a);

            out->value[l * n + a] = (double)count;
            out->word[l * n + a] = count ? mem_text(text_count(number, count)) : mem_text("·");
        }
        words_add_cut(&name, s->shown_as[l], LONGEST_LABEL, false);
        if (images) {
            text_add(&name, " ");
            share_add(&name, (double)count_at(s, (int)l, (int)l) / (double)images);
        }
        out->row_name[l] = mem_text(text_str(&name));
        text_clear(&name);
    }
    out->board =
        (struct board){.row_label = share_in_per_cent() ? "label, accuracy %" : "label, accuracy",
                       .column_label = "answer",
                       .rows = s->confusion.classes,
                       .columns = s->confusion.classes,
                       .row_name = (const char *const *)out->row_name,
                       .column_name = (const char *const *)s->shown_as,
                       .value = out->value,
                       .words = (const char *const *)out->word,
                       .by_magnitude = true};
    text_free(&name);
}

void predictview_free_board(struct predictview_board *b)
{
    for (int i = 0; i < b->board.rows; i++)
        free(b->row_name[i]);
    for (int i = 0; i < b->board.rows * b->board.columns; i++)
        free(b->word[i]);
    free(b->row_name);
    free(b->word);
    free(b->value);
    *b = (struct predictview_board){0};
}

static void draw_cell_words(const struct predictview *v, struct grid *g, struct rect in)
{
    const struct predictview_set *s = v->set;
    int label = v->view.row, answer = v->view.column, other = -1;
    uint64_t count = count_at(s, label, answer), images = s->labelled[s->shown[label]];
    uint64_t answers = s->answered[s->shown[answer]];
    char number[TEXT_NUMBER_ROOM], all[TEXT_NUMBER_ROOM];
    struct text words = {0};

    for (int k = 0; k < s->confusion.classes; k++)
        if (k != label && count_at(s, label, k) > (other < 0 ? 0 : count_at(s, label, other)))
            other = k;
    if (images)
        text_addf(&words, "%s %s%s: %s of %s %s%s (%.1f %%). ", s->shown_as[label],
                  label == answer ? "answered rightly" : "taken for ",
                  label == answer ? "" : s->shown_as[answer], text_count(number, count),
                  text_count(all, images), study_answers_noun(&s->of), text_s(images),
                  100 * (double)count / (double)images);
    else
        text_addf(&words, "No test %s is labelled %s. ", study_answers_noun(&s->of),
                  s->shown_as[label]);
    if (answers)
        text_addf(&words, "%.1f %% of the answers %s are right",
                  100 * (double)count_at(s, answer, answer) / (double)answers, s->shown_as[answer]);
    else
        text_addf(&words, "None was answered %s", s->shown_as[answer]);
    if (other >= 0)
        text_addf(&words, "; %s is most often taken for %s", s->shown_as[label],
                  s->shown_as[other]);
    text_addf(&words, ". Enter shows the %ss.", study_answers_noun(&s->of));
    grid_words(g, in, 0, GRID_TEXT, text_str(&words));
    text_free(&words);
}

void predictview_draw_confusion(struct predictview *v, struct grid *g, struct rect in)
{
    int shows = v->set->confusion.classes, at;
    struct predictview_board b;
    struct text facts = {0};

    predictview_add_facts(v, &facts);
    at = grid_bold(g, in, 0, 0, GRID_TEXT, "confusion matrix");
    if (shows < v->set->of.classes)
        at = grid_textf(g, in, 0, at, GRID_DIM, " of the %d classes with the most mistakes, of %d",
                        shows, v->set->of.classes);
    if (text_width(text_str(&facts)) + 2 > in.columns - at) /* the first of them says most */
        facts.s[strcspn(text_str(&facts), ",")] = 0;
    grid_right(g, in, 0, in.columns, GRID_DIM, text_str(&facts));
    text_free(&facts);
    v->view.row = v->view.row < shows ? v->view.row : shows - 1;
    v->view.column = v->view.column < shows ? v->view.column : shows - 1;
    predictview_make_board(v->set, &b);
    board_grid(&b.board, g, rect_above(rect_below(in, 1 + (in.rows > 17)), 4), &v->view);
    predictview_free_board(&b);
    draw_cell_words(v, g, rect_bottom(in, 3));
}
