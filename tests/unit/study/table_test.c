/* The forms of a table. */
#include "tests/unit/study/kit.h"

static void small_table(struct study_table *t)
{
    memset(t, 0, sizeof *t);
    study_table_column(t, "run", STUDY_TEXT, false);
    study_table_column(t, "test_acc", STUDY_SHARE, true);
    study_table_word(t, "=cmd|' /C calc'!A0, \"x\"");
    study_table_mean(t, 0.5, 0.125);
    study_table_word(t, "a_b & 50 % <i>");
    study_table_number(t, -0.25);
    study_table_note(t, "a note: gain_* → 0");
}

TEST(csv_keeps_numbers_and_disarms_formulas)
{
    struct study_table t;
    struct text out = {0};

    small_table(&t);
    study_table_csv(&t, &out);
    CHECK_STR(text_str(&out), "run,test_acc,test_acc_sd\n"
                              "\"'=cmd|' /C calc'!A0, \"\"x\"\"\",0.5,0.125\n"
                              "a_b & 50 % <i>,-0.25,\n");
    text_clear(&out);
    study_add_field(&out, "\tx");
    CHECK_STR(text_str(&out), "'\tx");
    text_free(&out);
    study_table_free(&t);
}

/* Twelve columns of 22 letters and a name of 8: 6 to a part of 140. */
TEST(a_table_of_many_pages_width_stands_in_parts)
{
    struct study_table t = {0};
    struct text out = {0};
    char name[32];
    int parts = 0, names = 0;

    study_table_column(&t, "run", STUDY_TEXT, false);
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "a_column_of_a_name_%d", i % 10);
        study_table_column(&t, name, STUDY_TEXT, false);
    }
    for (int row = 0; row < 2; row++) {
        study_table_word(&t, row ? "second" : "first");
        for (int i = 0; i < 12; i++)
            study_table_word(&t, row ? "x" : "y");
    }
    study_table_tex(&t, NULL, &out);
    for (const char *at = text_str(&out); (at = strstr(at, "\\begin{tabular}{lllllll}")); at++)
        parts++;
    for (const char *at = text_str(&out); (at = strstr(at, "second & x")); at++)
        names++;
    CHECK_INT(parts, 2);
    CHECK_INT(names, 2);
    CHECK_HAS(text_str(&out), "% \\usepackage{booktabs,graphicx}\n\\noindent\n\\resizebox{");
    CHECK_HAS(text_str(&out), "\\end{tabular}}\n\\par\\medskip\\noindent\n\\resizebox{");
    text_free(&out);
    study_table_free(&t);
}

/* Shares that are equal but for the sums that they come of differ by nothing. */
TEST(nothing_has_no_sign)
{
    struct study_table t = {0};
    struct text out = {0};

    study_table_column(&t, "gain", STUDY_SHARE, false);
    study_table_number(&t, -1.1102230246251565e-16);
    study_table_number(&t, -0.0001);
    study_table_md(&t, NULL, &out);
    CHECK_HAS(text_str(&out), "| 0.0000 |\n| -0.0001 |\n");
    text_free(&out);
    study_table_free(&t);
}

TEST(markdown_latex_html_and_json)
{
    struct study_table t;
    struct text out = {0};

    small_table(&t);
    study_table_md(&t, NULL, &out);
    CHECK_HAS(text_str(&out), "| a\\_b & 50 % \\<i\\> | -0.2500 |\n");
    CHECK_HAS(text_str(&out), "| 0.5000 ± 0.1250 |");
    CHECK_HAS(text_str(&out), "\n\na note: gain\\_\\* → 0\n");
    text_clear(&out);
    study_table_tex(&t,
                    &(struct study_style){
                        .digits = 2, .head = (const char *const[]){"test_acc=Accuracy (%)", NULL}},
                    &out);
    CHECK_HAS(text_str(&out), "run & Accuracy (\\%) \\\\\n\\midrule\n");
    CHECK_HAS(text_str(&out), "a\\_b \\& 50 \\% $<$i$>$ & -0.25 \\\\\n");
    CHECK_HAS(text_str(&out), "0.50 $\\pm$ 0.13");
    CHECK_HAS(text_str(&out), "\\footnotesize\\sloppy\na note: gain\\_* $\\to$ 0\\par\n");
    text_clear(&out);
    study_table_html(&t, NULL, &out);
    CHECK_HAS(text_str(&out), "<td>a_b &amp; 50 % &lt;i&gt;</td>");
    CHECK_HAS(text_str(&out), "<p class=\"note\">a note: gain_* → 0</p>");
    text_clear(&out);
    study_table_json(&t, &out);
    CHECK_HAS(text_str(&out),
              "{\"run\": \"a_b & 50 % <i>\", \"test_acc\": -0.25, \"test_acc_sd\": null}");
    text_free(&out);
    study_table_free(&t);
}

TEST(a_form_is_found_by_its_name)
{
    static const char *const forms[] = {"csv", "json", "md", "tex", "html"};
    struct study_table t = {0};
    struct study_style style = {.digits = 2};

    study_table_column(&t, "test_acc", STUDY_SHARE, false);
    study_table_number(&t, 0.98765);
    for (int i = 0; i < 5; i++) {
        struct text got = {0}, want = {0};

        study_table_write(&t, forms[i], &style, &got);
        if (i == 0)
            study_table_csv(&t, &want);
        else if (i == 1)
            study_table_json(&t, &want);
        else
            (i == 2   ? study_table_md
             : i == 3 ? study_table_tex
                      : study_table_html)(&t, &style, &want);
        CHECK_STR(text_str(&got), text_str(&want));
        text_free(&got);
        text_free(&want);
    }
    study_table_free(&t);
}

TEST(sorting_puts_what_is_empty_last)
{
    struct study_table t = {0};

    study_table_column(&t, "x", STUDY_NUMBER, false);
    study_table_number(&t, 2);
    study_table_empty(&t);
    study_table_number(&t, 10);
    study_table_number(&t, NAN);
    study_table_number(&t, -1);
    study_table_sort(&t, 0, true);
    CHECK_STR(cell(&t, 0, "x"), "10");
    CHECK_STR(cell(&t, 2, "x"), "-1");
    study_table_sort(&t, 0, false);
    CHECK_STR(cell(&t, 0, "x"), "-1");
    CHECK_STR(cell(&t, 2, "x"), "10");
    study_table_free(&t);
}
