/* The form's model: what fields hold, what they come to, what is folded away, and the way there and
 * back of experiments' texts. */
#include "tests/test.h"

#include "base/io.h"
#include "base/mem.h"
#include "ui/setup/form.h"
#include "ui/term/key.h"
#include "ui/widgets/line.h"

#include <fcntl.h>
#include <unistd.h>

static void load(struct form *f, enum form_from from, const char *source, const char *text)
{
    form_load(f, from, source, "made.ini", text, strlen(text));
}

static void set(struct form *f, const char *key, const char *text)
{
    struct err e = {0};
    int i = form_find(f, key);

    if (i < 0 || form_set(f, (size_t)i, text, &e) != ERR_OK)
        TEST_FAILED("%s = %s: %s", key, text ? text : "default", i < 0 ? "no such field" : e.text);
}

static const char *command(const struct form *f)
{
    static struct text out;

    text_clear(&out);
    form_command(f, &out);
    return text_str(&out);
}

static const char *rows_in(const struct form *f, bool folded, size_t room)
{
    static struct text out;
    size_t row[FORM_KEYS + SPEC_PARAMS + 8], n = form_rows(f, folded, room, -1, row);

    text_clear(&out);
    for (size_t i = 0; i < n; i++)
        text_addf(&out, "%s%s", i ? " " : "", f->field[row[i]].key);
    return text_str(&out);
}

static const char *rows(const struct form *f, bool folded)
{
    return rows_in(f, folded, SIZE_MAX);
}

TEST(every_key_has_one_field_of_its_group)
{
    struct form f;
    size_t n = 0;

    form_start(&f);
    for (int k = 0; spec_keys[k].name; k++) {
        int i = form_find(&f, spec_keys[k].name);

        REQUIRE(i >= 0);
        CHECK_INT(f.field[i].group, spec_keys[k].group);
    }
    CHECK(form_find(&f, "zip") >= 0 && form_find(&f, "samples") >= 0);
    for (size_t i = 0; i < f.fields; i++)
        n += form_find(&f, f.field[i].key) == (int)i;
    CHECK_INT(n, FORM_KEYS);
    for (size_t i = 1, groups = 1; i < FORM_KEYS; i++) { /* groups stand together */
        groups += f.field[i].group != f.field[i - 1].group;
        CHECK(groups <= 5);
    }
    form_end(&f);
}

TEST(every_choice_is_one_that_the_key_takes)
{
    struct form f;
    struct err e = {0};

    form_start(&f);
    for (size_t i = 0; i < FORM_KEYS; i++)
        for (int c = 0; form_keys[i].choices && form_keys[i].choices[c]; c++)
            if (form_try(&f, i, form_keys[i].choices[c], &e) != ERR_OK)
                TEST_FAILED("%s", e.text);
    form_end(&f);
}

TEST(the_folded_form_shows_what_matters_and_what_is_not_default)
{
    struct form f;

    form_start(&f);
    CHECK_STR(rows(&f, true), "data model devices mode batch epochs lr optimizer");
    set(&f, "optimizer", "momentum");
    CHECK(!strstr(rows(&f, true), "momentum"));
    set(&f, "momentum", "0.8");
    CHECK_HAS(rows(&f, true), "optimizer momentum");
    set(&f, "patience", "3");
    CHECK_HAS(rows(&f, true), "optimizer momentum patience");
    CHECK_INT(form_rows(&f, false, 0, -1, (size_t[FORM_KEYS + 8]){0}), FORM_KEYS);
    form_end(&f);
}

TEST(what_matters_stands_first_where_a_folded_form_has_more_than_there_is_room_for)
{
    struct form f;

    form_start(&f);
    load(&f, FORM_RUN, "tiny",
         "train_limit = 1000\nname = small\nthreads = 1\noptimizer = momentum\nmomentum = 0.8\n");
    CHECK_STR(rows_in(&f, true, 12),
              "data train_limit model name devices mode threads batch epochs "
              "lr optimizer momentum");
    CHECK_STR(rows_in(&f, true, 11),
              "data model devices mode batch epochs lr optimizer train_limit "
              "name threads momentum");
    CHECK_INT(form_rows(&f, false, 11, -1, (size_t[FORM_KEYS + 8]){0}), FORM_KEYS);
    CHECK_HAS(rows_in(&f, false, 11), "data valid normalize");
    form_end(&f);
}

TEST(what_does_not_apply_lapses_and_comes_back)
{
    struct form f;

    form_start(&f);
    load(&f, FORM_FILE, "m.ini", "optimizer = momentum\nmomentum = 0.8\n");
    CHECK(f.good);
    CHECK(strstr(rows(&f, true), "momentum"));
    set(&f, "optimizer", "adam");
    CHECK(f.good);
    CHECK(!f.field[form_find(&f, "momentum")].applies);
    CHECK(!strstr(rows(&f, true), "momentum"));
    CHECK_STR(command(&f), "run m.ini optimizer=adam");
    set(&f, "optimizer", "sgd, momentum");
    CHECK(f.good && f.field[form_find(&f, "momentum")].applies);
    CHECK_NEAR(f.sweep.base.momentum, 0.8, 0);
    CHECK_INT(spec_sweep_cells(&f.sweep), 2);
    form_end(&f);
}

TEST(lists_become_a_sweep_in_the_order_in_which_they_were_given)
{
    struct form f;
    struct text t = {0};
    struct spec_sweep s;
    struct err e = {0};

    form_start(&f);
    set(&f, "lr", "0.05, 0.1");
    set(&f, "batch", "64, 128, 256");
    set(&f, "repeats", "2");
    REQUIRE(f.good);
    CHECK_INT(spec_sweep_cells(&f.sweep), 12);
    CHECK_STR(f.sweep.axis[0].key, "lr");
    CHECK_STR(f.sweep.axis[1].key, "batch");
    CHECK_STR(command(&f), "run 'lr=0.05, 0.1' 'batch=64, 128, 256' repeats=2");
    set(&f, "lr", "geom:0.01:1:5");
    CHECK_STR(f.sweep.axis[0].key, "lr"); /* it stays where it was */
    CHECK_INT(spec_sweep_cells(&f.sweep), 30);

    form_write(&f, &t);
    spec_sweep_init(&s);
    REQUIRE_OK(spec_sweep_parse(&s, t.s, t.n, "written.ini", &e));
    REQUIRE_OK(spec_sweep_close(&s, &e));
    CHECK_INT(spec_sweep_cells(&s), 30);
    CHECK_STR(s.axis[0].key, "lr"); /* behind batch in the form */
    spec_sweep_free(&s);
    text_free(&t);
    form_end(&f);
}

TEST(zip_and_samples_are_fields_like_others)
{
    struct form f;

    form_start(&f);
    set(&f, "devices", "1, 2");
    set(&f, "batch", "256, 512");
    set(&f, "zip", "devices, batch");
    CHECK(f.good);
    CHECK_INT(spec_sweep_cells(&f.sweep), 2);
    set(&f, "batch", "256");
    CHECK(!f.good);
    CHECK_INT(f.blamed, form_find(&f, "zip"));
    CHECK_HAS(form_wrong(&f, (size_t)f.blamed), "batch is no list here");
    set(&f, "zip", NULL);
    set(&f, "lr", "loguniform:0.01:1");
    CHECK_HAS(f.problem.text, "add samples = N");
    CHECK_INT(f.blamed, form_find(&f, "lr"));
    set(&f, "samples", "7");
    CHECK(f.good);
    CHECK_INT(spec_sweep_cells(&f.sweep), 14);
    form_end(&f);
}

TEST(errors_are_the_command_lines_own_and_leave_the_value)
{
    struct form f;
    struct err e = {0};
    size_t lr;

    form_start(&f);
    lr = (size_t)form_find(&f, "lr");
    set(&f, "lr", "0.2");
    CHECK_INT(form_set(&f, lr, "fast", &e), ERR_INPUT);
    CHECK_STR(e.text, "lr = fast: it is no number; allowed: a finite number from 0");
    CHECK_NEAR(f.sweep.base.lr, 0.2, 0);
    set(&f, "devices", "3");
    CHECK(!f.good);
    CHECK_INT(f.blamed, form_find(&f, "devices"));
    CHECK_HAS(f.problem.text, "do not divide batch = 256; the nearest batches are 255 and 258");
    form_end(&f);
}

TEST(a_bad_file_is_told_line_by_line_and_the_rest_is_kept)
{
    struct form f;
    static const char text[] = "# a remark\n"
                               "model = mlp\n"
                               "epochs = ten\n"
                               "lr = 0.3   # fine\n"
                               "lr = 0.4\n"
                               "speed = 9\n"
                               "nonsense\n"
                               "batch = 64\n";

    form_start(&f);
    load(&f, FORM_FILE, "bad.ini", text);
    CHECK_HAS(f.notes, "made.ini:3: epochs = ten: it is no whole number");
    CHECK_HAS(f.notes, "made.ini:5: lr stands in a line above already");
    CHECK_HAS(f.notes, "made.ini:6: there is no key speed");
    CHECK_HAS(f.notes, "made.ini:7: \"nonsense\" has no '='");
    CHECK_STR(f.field[form_find(&f, "lr")].text, "0.3");
    CHECK_STR(f.field[form_find(&f, "batch")].text, "64");
    CHECK_STR(f.sweep.base.model, "mlp");
    CHECK_HAS(form_wrong(&f, (size_t)form_find(&f, "epochs")), "made.ini:3");
    CHECK_HAS(rows(&f, true), "epochs");
    CHECK_STR(f.remark, "# a remark\n");
    CHECK(f.good && !form_dirty(&f));
    set(&f, "epochs", "3"); /* mended */
    CHECK(!form_wrong(&f, (size_t)form_find(&f, "epochs")));
    form_end(&f);
}

TEST(a_mark_of_utf_8_is_no_part_of_the_first_key)
{
    struct form f;

    form_start(&f);
    load(&f, FORM_FILE, "made.ini", "\xef\xbb\xbf# made elsewhere\nmodel = mlp\n");
    CHECK_STR(f.notes, "");
    CHECK_STR(f.remark, "# made elsewhere\n");
    load(&f, FORM_FILE, "made.ini", "\xef\xbb\xbfmodel = mlp\nbatch = 64\n");
    CHECK_STR(f.field[form_find(&f, "model")].text, "mlp");
    CHECK_STR(f.field[form_find(&f, "batch")].text, "64");
    form_end(&f);
}

TEST(lines_that_are_too_many_are_told_where_they_say_something)
{
    struct form f;
    struct text many = {0};

    form_start(&f);
    for (int i = 0; i < 4000; i++)
        text_add(&many, "# a line\n");
    text_add(&many, "  # another\n\n");
    load(&f, FORM_FILE, "made.ini", text_str(&many));
    CHECK_STR(f.notes, "");
    text_add(&many, "lr = 0.5");
    load(&f, FORM_FILE, "made.ini", text_str(&many));
    CHECK_STR(f.notes,
              "made.ini:4001: what stands from here on is left out; 4000 lines are read\n");
    text_free(&many);
    form_end(&f);
}

TEST(what_only_the_whole_file_tells_is_told_too)
{
    struct form f;

    form_start(&f);
    load(&f, FORM_FILE, "x.ini", "momentum = 0.5\n");
    CHECK_HAS(f.notes, "made.ini:1: momentum = 0.5: optimizer = sgd does not use it");
    CHECK_HAS(form_wrong(&f, (size_t)form_find(&f, "momentum")), "does not use it");
    form_end(&f);
}

TEST(the_command_says_only_what_differs_from_the_file)
{
    struct form f;

    form_start(&f);
    CHECK_STR(command(&f), "run");
    load(&f, FORM_BUILTIN, "first", "model = lenet\nlr = 0.002\noptimizer = adam\nmax_steps = 9\n");
    CHECK_STR(command(&f), "run first");
    set(&f, "lr", "0.01");
    set(&f, "max_steps", NULL);
    set(&f, "on_end", "echo 'it is over'");
    CHECK_STR(command(&f), "run first lr=0.01 max_steps=none 'on_end=echo '\\''it is over'\\'''");
    form_end(&f);
}

TEST(a_models_parameters_are_fields)
{
    struct form f;

    form_start(&f);
    CHECK_INT(form_find(&f, "model.width"), -1);
    set(&f, "model", "mlp");
    REQUIRE(form_find(&f, "model.width") >= 0);
    CHECK_HAS(rows(&f, false), "model model.width init");
    {
        struct text t = {0};
        bool normal;

        form_shown(&f, (size_t)form_find(&f, "model.width"), &t, &normal);
        CHECK_STR(text_str(&t), "1024");
        CHECK(normal);
        text_free(&t);
    }
    set(&f, "model.width", "64, 128");
    CHECK_INT(spec_sweep_cells(&f.sweep), 2);
    CHECK_STR(command(&f), "run model=mlp 'model.width=64, 128'");
    set(&f, "model", "lenet"); /* it has none: the value waits for its model */
    CHECK(f.good);
    CHECK_INT(spec_sweep_cells(&f.sweep), 1);
    CHECK_STR(command(&f), "run model=lenet");
    set(&f, "model", "mlp");
    CHECK_INT(spec_sweep_cells(&f.sweep), 2);
    form_end(&f);
}

static int reads;
static int (*open_before)(const char *path, int flags, mode_t mode);

static int counted_open(const char *path, int flags, mode_t mode)
{
    reads += strstr(path, "own.net") != NULL;
    return open_before(path, flags, mode);
}

TEST(a_models_file_is_read_once_and_again_when_it_changes)
{
    char folder[] = "/tmp/chorus-form-XXXXXX";
    char *path;
    struct form f;
    struct err e;

    REQUIRE(mkdtemp(folder));
    path = io_path(folder, "own.net");
    REQUIRE_OK(io_replace_file(path, "input auto\nparam a 1\ndense classes\n", 35, &e));
    form_start(&f);
    open_before = io.open;
    io.open = counted_open;
    set(&f, "model", path);
    CHECK(form_find(&f, "model.a") >= 0);
    reads = 0;
    set(&f, "lr", "0.01");
    set(&f, "epochs", "3");
    CHECK_INT(reads, 0);
    REQUIRE_OK(io_replace_file(path, "input auto\nparam bb 1\ndense classes\n", 36, &e));
    set(&f, "lr", "0.02");
    io.open = open_before;
    CHECK(form_find(&f, "model.bb") >= 0);
    CHECK_INT(form_find(&f, "model.a"), -1);
    form_end(&f);
    unlink(path);
    rmdir(folder);
    free(path);
}

static int asked;

static void count_asked(void *user, const char *path)
{
    (void)user;
    (void)path;
    asked++;
}

/* At each keystroke they are looked into: what that takes grows no further. */
TEST(of_very_many_models_the_first_are_looked_into)
{
    struct text list = {0};
    struct form f;

    form_start(&f);
    set(&f, "model", "mlp");
    set(&f, "model.width", "64");
    f.read_model = count_asked;
    for (int i = 0; i < 10 * FORM_MODELS; i++)
        text_addf(&list, "%s./%d.net", i ? ", " : "", i);
    asked = 0;
    set(&f, "model", text_str(&list));
    CHECK_INT(asked, FORM_MODELS);
    CHECK(f.field[form_find(&f, "model.width")].applies); /* any of the others may have it */
    CHECK_INT(spec_sweep_cells(&f.sweep), 10 * FORM_MODELS);
    form_end(&f);
    text_free(&list);
}

TEST(a_run_is_loaded_without_what_is_default)
{
    struct form f;
    static const char text[] =
        "model = lenet\ndata = fashion-mnist\nbatch = 256\nlr = 0.3\n"
        "optimizer = adamw\nweight_decay = 0.0001\nseed = 0\nshuffle = yes\n";

    form_start(&f);
    load(&f, FORM_RUN, "2026-11-20-101530-412-lenet-7f3a", text);
    CHECK(f.good && !form_dirty(&f));
    CHECK(!f.field[form_find(&f, "batch")].text);
    CHECK(!f.field[form_find(&f, "weight_decay")].text);
    CHECK_STR(rows(&f, true), "data model devices mode batch epochs lr optimizer");
    set(&f, "seed", "1");
    CHECK(form_changed(&f, (size_t)form_find(&f, "seed")));
    CHECK_STR(command(&f), "run 2026-11-20-101530-412-lenet-7f3a seed=1");
    {
        char name[SPEC_NAME];

        form_sweep_name(&f, name);
        CHECK_STR(name, "lenet");
    }
    form_end(&f);
}

TEST(undo_goes_back_step_by_step)
{
    struct form f;

    form_start(&f);
    set(&f, "lr", "0.2");
    set(&f, "lr", "0.3");
    set(&f, "batch", "64");
    CHECK_INT(form_undo(&f), form_find(&f, "batch"));
    CHECK(!f.field[form_find(&f, "batch")].text);
    CHECK_INT(form_undo(&f), form_find(&f, "lr"));
    CHECK_NEAR(f.sweep.base.lr, 0.2, 0);
    CHECK_INT(form_undo(&f), form_find(&f, "lr"));
    CHECK(!form_dirty(&f));
    CHECK_INT(form_undo(&f), -1);
    form_end(&f);
}

static void step(struct form *f, const char *key, int by, const char *want)
{
    int i = form_find(f, key);
    struct text t = {0};

    form_step(f, (size_t)i, by, f->field[i].is->choices);
    form_value(f, (size_t)i, &t);
    CHECK_STR(text_str(&t), want);
    text_free(&t);
}

TEST(steps_lead_through_choices_and_numbers)
{
    struct form f;

    form_start(&f);
    step(&f, "optimizer", 1, "momentum");
    step(&f, "optimizer", -1, "sgd");
    step(&f, "optimizer", -1, "adamw");
    step(&f, "batch", 1, "512");
    step(&f, "batch", -1, "256");
    CHECK(!f.field[form_find(&f, "batch")].text); /* the default again */
    step(&f, "lr", 1, "0.2");
    step(&f, "lr", 1, "0.5");
    step(&f, "lr", 1, "1");
    step(&f, "lr", -1, "0.5");
    step(&f, "lr", -1, "0.2");
    step(&f, "lr", -1, "0.1");
    step(&f, "lr", -1, "0.05");
    step(&f, "epochs", -1, "9");
    step(&f, "devices", -1, "1"); /* no fewer than one */
    form_end(&f);
}

static bool type(struct line_edit *l, const char *keys)
{
    bool changed = false;

    for (; *keys; keys++)
        line_key(l, (unsigned char)*keys, &changed);
    return changed;
}

TEST(a_line_is_edited_like_any_other)
{
    struct line_edit l = {0};
    bool changed;

    line_set(&l, "0.1");
    l.selected = true;
    CHECK(l.selected);
    CHECK(type(&l, "5")); /* takes the place of what is selected */
    CHECK_STR(text_str(&l.text), "5");
    line_set(&l, "0.1, 0.2");
    line_key(&l, 23, &changed); /* Ctrl-W */
    CHECK_STR(text_str(&l.text), "0.1, ");
    line_key(&l, UI_HOME, &changed);
    CHECK(!changed);
    type(&l, "1");
    CHECK_STR(text_str(&l.text), "10.1, ");
    line_key(&l, UI_DELETE, &changed);
    CHECK_STR(text_str(&l.text), "1.1, ");
    line_key(&l, UI_END, &changed);
    line_key(&l, 0x20ac, &changed); /* three bytes, one character */
    CHECK_STR(text_str(&l.text), "1.1, \xe2\x82\xac");
    line_key(&l, UI_LEFT, &changed);
    line_key(&l, UI_RIGHT, &changed);
    line_key(&l, UI_BACKSPACE, &changed);
    CHECK_STR(text_str(&l.text), "1.1, ");
    CHECK(!line_key(&l, UI_UP, &changed));
    CHECK(!line_key(&l, UI_ESC, &changed));
    line_free(&l);
    line_set(&l, "");
    line_key(&l, UI_BACKSPACE, &changed);
    line_key(&l, UI_LEFT, &changed);
    CHECK_STR(text_str(&l.text), "");
    line_free(&l);
}

static void draw_line(const struct line_edit *l, struct grid *g, const char *seen)
{
    struct text out = {0};

    line_draw(l, g, grid_all(g));
    grid_to_text(g, &out);
    CHECK(!strncmp(text_str(&out), seen, strlen(seen)));
    text_free(&out);
}

/* What is scrolled away at its left does not make another line of it. */
TEST(a_line_says_that_its_start_is_cut)
{
    struct line_edit l = {0};
    struct grid g;
    bool changed;

    grid_init(&g, 1, 10, false);
    line_set(&l, "predict lenet");
    draw_line(&l, &g, "‹ct lenet");
    line_key(&l, UI_HOME, &changed);
    draw_line(&l, &g, "predict le");
    g.ascii = true;
    line_key(&l, UI_END, &changed);
    draw_line(&l, &g, "<ct lenet");
    line_free(&l);
    grid_free(&g);
}

TEST(tab_completes_names_lists_and_paths)
{
    static const char *const words[] = {"lenet", "linear", "mlp", NULL};
    struct text out = {0}, several = {0};
    char folder[] = "/tmp/chorus-form-XXXXXX", *path, *typed;
    struct err e = {0};

    CHECK(form_complete("m", words, &out, &several));
    CHECK_STR(text_str(&out), "mlp");
    CHECK(form_complete("mlp, l", words, &out, &several));
    CHECK_STR(text_str(&out), "mlp, l");
    CHECK_STR(text_str(&several), "lenet  linear");
    CHECK(form_complete("mlp, le", words, &out, &several));
    CHECK_STR(text_str(&out), "mlp, lenet");
    CHECK(!form_complete("mlp", words, &out, &several)); /* it is there whole */

    REQUIRE(mkdtemp(folder));
    path = io_path(folder, "some-digits.csv");
    REQUIRE_OK(io_replace_file(path, "1\n", 2, &e));
    typed = mem_textf("%s/so", folder);
    CHECK(form_complete(typed, words, &out, &several));
    CHECK_STR(text_str(&out), path);
    text_clear(&out);
    form_complete_path(typed, &out, &several);
    CHECK_STR(text_str(&out), "me-digits.csv");
    CHECK_STR(text_str(&several), "");
    setenv("HOME", "/tmp", 1); /* the folder in the home folder, at any depth */
    free(typed);
    typed = mem_textf("~/%s/so", folder + strlen("/tmp/"));
    CHECK(form_complete(typed, words, &out, &several));
    CHECK_HAS(text_str(&out), "/some-digits.csv");
    unlink(path);
    free(typed);
    typed = mem_textf("%s/", folder);
    for (int i = 0; i < 2000; i++) { /* names of so many are not all shown */
        free(path);
        path = mem_textf("%s/%04d.csv", folder, i);
        REQUIRE(close(open(path, O_CREAT | O_WRONLY, 0666)) == 0);
    }
    CHECK(form_complete(typed, words, &out, &several));
    CHECK_HAS(text_str(&several), "2,000 of them: 0000.csv  0001.csv");
    CHECK(several.n < 5000);
    for (int i = 0; i < 2000; i++) {
        free(path);
        path = mem_textf("%s/%04d.csv", folder, i);
        unlink(path);
    }
    rmdir(folder);
    free(path);
    free(typed);
    CHECK(!form_complete("zzz-nothing-of-the-kind", words, &out, &several));
    text_free(&out);
    text_free(&several);
}

static char *with_folder(const char *text, const char *folder)
{
    struct text out = {0};

    for (; *text; text++)
        text_add_n(&out, *text == 'F' ? folder : text, *text == 'F' ? strlen(folder) : 1);
    return out.s;
}

/* F stands for the folder. */
static void check_tab(const char *folder, const char *typed, const char *want)
{
    char *from = with_folder(typed, folder), *to = with_folder(want, folder);
    struct text out = {0}, several = {0};

    CHECK(form_complete(from, NULL, &out, &several) == (strcmp(typed, want) != 0));
    CHECK_STR(text_str(&out), to);
    text_free(&out);
    text_free(&several);
    free(from);
    free(to);
}

/* A value of the form with a comma in it is two. */
TEST(tab_puts_a_path_with_a_comma_in_quotes)
{
    static const char *const names[] = {"a,b.csv", "te,st/x.csv", "say \"so\".csv"};
    char folder[] = "/tmp/chorus-form-XXXXXX";
    struct err e = {0};
    struct text out = {0}, several = {0};

    REQUIRE(mkdtemp(folder));
    for (size_t i = 0; i < MEM_COUNT(names); i++) {
        char *path = io_path(folder, names[i]), *in = io_folder_of(path);

        REQUIRE_OK(io_make_folders(in, &e));
        REQUIRE_OK(io_replace_file(path, "1\n", 2, &e));
        free(in);
        free(path);
    }
    check_tab(folder, "F/a", "\"F/a,b.csv\"");
    check_tab(folder, "\"F/a,b.csv\"", "\"F/a,b.csv\"");
    check_tab(folder, "mnist, F/a", "mnist, \"F/a,b.csv\"");
    check_tab(folder, "\"F/a,", "\"F/a,b.csv\"");
    check_tab(folder, "F/t", "\"F/te,st/");
    check_tab(folder, "\"F/te,st/", "\"F/te,st/x.csv\"");
    check_tab(folder, "train.csv:F/a", "\"train.csv:F/a,b.csv\"");
    check_tab(folder, "\"F/a,b.csv:F/te,st/", "\"F/a,b.csv:F/te,st/x.csv\"");
    check_tab(folder, "F/s", "\"F/say \"\"so\"\".csv\"");
    text_addf(&out, "%s/a,", folder); /* where a file is saved no value ends with a comma */
    char *typed = mem_text(text_str(&out));
    text_clear(&out);
    form_complete_path(typed, &out, &several);
    CHECK_STR(text_str(&out), "b.csv");
    CHECK_STR(text_str(&several), "");
    text_clear(&out);
    typed[strlen(folder) + 1] = '\0';
    form_complete_path(typed, &out, &several);
    CHECK_STR(text_str(&out), ""); /* nothing in common, and what there is to choose from */
    CHECK_HAS(text_str(&several), "a,b.csv");
    CHECK_HAS(text_str(&several), "te,st/");
    char *hostile = mem_textf("%s/a\nb", folder);
    REQUIRE_OK(io_replace_file(hostile, "1\n", 2, &e));
    text_clear(&several);
    form_complete_path(typed, &out, &several);
    CHECK(!strchr(text_str(&several), '\n')); /* a name makes no line of its own */
    free(hostile);
    text_free(&several);
    free(typed);
    text_clear(&out);
    text_addf(&out, "rm -r %s", folder);
    CHECK_INT(system(text_str(&out)), 0);
    text_free(&out);
}

TEST(a_long_zip_names_lists_and_is_none)
{
    struct text text = {0};
    struct form f;

    text_add(&text, "data = synthetic\nlr = 0.1, 0.2\nbatch = 50, 100\nzip = batch");
    for (int i = 0; i < 1500; i++)
        text_add(&text, ", lr");
    text_add(&text, "\n");
    form_start(&f);
    load(&f, FORM_FILE, "made.ini", text_str(&text));
    CHECK_HAS(f.problem.text, "zip");
    form_end(&f);
    text_free(&text);
}

static int checks;

static void check_counted(void *user, const char *key, const char *value)
{
    struct form_checked x = {.value = mem_text(value)};

    checks++;
    strcpy(x.key, key);
    form_check_list(&x);
    CHECK(form_list_checked(user, &x));
}

/* There are many fields, and all of them come to the sweep at each keystroke. */
TEST(a_list_of_some_hundred_values_is_checked_once)
{
    struct form f;

    form_start(&f);
    f.check_list = check_counted;
    f.user = &f;
    set(&f, "lr", "lin:0.1:0.2:300");
    set(&f, "momentum", "lin:0.1:0.2:300");
    set(&f, "optimizer", "momentum");
    CHECK_INT(checks, 2);
    checks = 0;
    for (int i = 1; i < 9; i++)
        set(&f, "epochs", (char[2]){(char)('0' + i), 0});
    CHECK_INT(checks, 0);
    for (int i = 0; i < 1000; i++) { /* as somebody types it */
        char *list = mem_textf("step:1:%d:1", 1000 + i);

        set(&f, "max_steps", list);
        free(list);
    }
    CHECK_INT(checks, 1000);
    CHECK(f.lists < 300);
    set(&f, "epochs", "9");
    CHECK_INT(checks, 1000); /* what stands in the form is never forgotten */
    form_end(&f);
}

TEST(builtin_experiments_load_whole_and_come_out_the_same)
{
    for (int b = 0; spec_builtin_name(b); b++) {
        const char *text = spec_builtin(spec_builtin_name(b));
        char *file = mem_textf("%s.ini", spec_builtin_name(b));
        struct spec_sweep want, got;
        struct text written = {0}, a = {0}, c = {0};
        struct err e = {0};
        struct form f;

        form_start(&f);
        form_load(&f, FORM_BUILTIN, spec_builtin_name(b), file, text, strlen(text));
        CHECK_STR(f.notes, "");
        CHECK(f.good);
        spec_sweep_init(&want);
        REQUIRE_OK(spec_sweep_parse(&want, text, strlen(text), file, &e));
        REQUIRE_OK(spec_sweep_close(&want, &e));
        spec_sweep_write(&want, &a);
        spec_sweep_write(&f.sweep, &c);
        CHECK_STR(text_str(&c), text_str(&a)); /* in the form */
        form_write(&f, &written);
        spec_sweep_init(&got);
        REQUIRE_OK(spec_sweep_parse(&got, written.s, written.n, file, &e));
        REQUIRE_OK(spec_sweep_close(&got, &e));
        text_clear(&c);
        spec_sweep_write(&got, &c);
        CHECK_STR(text_str(&c), text_str(&a)); /* and written */
        spec_sweep_free(&want);
        spec_sweep_free(&got);
        text_free(&written);
        text_free(&a);
        text_free(&c);
        form_end(&f);
        free(file);
    }
}
