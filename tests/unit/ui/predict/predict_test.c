#include "tests/unit/ui/runs_kit.h"

#include "base/mem.h"
#include "tests/test.h"
#include "ui/app/screens.h"
#include "ui/predict/predictview_int.h"

#include <unistd.h>

#define CLASSES 3
#define IMAGES  4
#define MEMBERS 2

static const int64_t labels[IMAGES] = {0, 1, 2, 1};
/* Image 0: both right. 1: the members differ, the mean says 1. 2: both say 0, surely. 3: both say 2,
 * hardly. */
static const float p[MEMBERS][IMAGES][CLASSES] = {
    {{0.90f, 0.05f, 0.05f}, {0.60f, 0.40f, 0.00f}, {0.97f, 0.02f, 0.01f}, {0.20f, 0.38f, 0.42f}},
    {{0.80f, 0.10f, 0.10f}, {0.10f, 0.80f, 0.10f}, {0.95f, 0.03f, 0.02f}, {0.20f, 0.36f, 0.44f}}};
static const uint8_t images[IMAGES][4][4] = {{{0, 255}, {255, 0}}, {{255, 255, 255, 255}}};

/* As it comes from the disk. names: NULL: none. shape: of 16 values. */
static bool write_shape(const char *names, const int64_t *own_labels, const size_t shape[3],
                        struct safetensors *file)
{
    char *path = mem_textf("%s/predict-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    int fd = mkstemp(path);
    const struct safetensors_tensor t[3] = {
        {.name = "images",
         .type = SAFETENSORS_U8,
         .dims = 4,
         .shape = {IMAGES, shape[0], shape[1], shape[2]},
         .bytes = images},
        {.name = "labels",
         .type = SAFETENSORS_I64,
         .dims = 1,
         .shape = {IMAGES},
         .bytes = own_labels},
        {.name = "probabilities",
         .type = SAFETENSORS_F32,
         .dims = 3,
         .shape = {MEMBERS, IMAGES, CLASSES},
         .bytes = p},
    };
    const struct safetensors_note note[3] = {
        {(char *)"chorus.epoch", (char *)"7"},
        {(char *)"chorus.column_names", (char *)"length\nwidth"},
        {(char *)"chorus.class_names", (char *)names}};
    struct err e;
    bool fine = fd >= 0 && safetensors_write(path, t, 3, note, names ? 3 : 2, &e) == ERR_OK &&
                safetensors_read(path, file, &e) == ERR_OK;

    close(fd);
    unlink(path);
    free(path);
    return fine;
}

static bool write_and_read(const char *names, const int64_t *own_labels, struct safetensors *file)
{
    return write_shape(names, own_labels, (const size_t[3]){4, 4, 1}, file);
}

static struct predictview_set *new_set(const char *names)
{
    struct predictview_set *s = NULL;
    struct safetensors file;
    struct err e;

    if (!write_and_read(names, labels, &file) ||
        predictview_make(&s, &file, "predictions.safetensors", &e) != ERR_OK)
        return NULL;
    return s;
}

TEST(what_the_models_say_is_averaged_and_counted)
{
    struct predictview_set *s = new_set("shirt\ncoat\n\033[1mbag");

    REQUIRE(s);
    CHECK_INT(s->of.epoch, 7);
    CHECK_INT(s->of.members, 2);
    CHECK_STR(s->name[1], "coat");
    CHECK_NEAR(s->of.mean[3], 0.35, 1e-6); /* of 0.6 and 0.1 */
    CHECK_INT(s->of.answer[1], 1);
    CHECK_INT(s->of.others[1], 1);
    CHECK_INT(s->of.answer[3], 2);
    CHECK_NEAR(s->acc, 0.5, 1e-12); /* images 0 and 1 */
    CHECK_NEAR(s->member_acc[0], 0.25, 1e-12);
    CHECK_NEAR(s->member_acc[1], 0.5, 1e-12);
    CHECK_INT(s->confusion.count[1 * CLASSES + 2], 1);
    CHECK_INT(s->confusion.count[2 * CLASSES + 0], 1);
    predictview_free(s);
}

static void check_pick(const struct predictview_set *s, struct predictview_pick *pick,
                       enum predictview_order order, const char *want)
{
    struct text got = {0};

    pick->order = order;
    predictview_pick(s, pick);
    for (size_t i = 0; i < pick->n; i++)
        text_addf(&got, "%s%zu", i ? " " : "", pick->image[i]);
    CHECK_STR(text_str(&got), want);
    text_free(&got);
}

TEST(images_come_in_the_order_that_was_asked_for)
{
    struct predictview_set *s = new_set(NULL);
    struct predictview_pick pick = {.label = 1, .answer = 2};

    REQUIRE(s);
    check_pick(s, &pick, PREDICTVIEW_ALL, "0 1 2 3");
    /* The right class has 0.015 in image 2, 0.37 in image 3. */
    check_pick(s, &pick, PREDICTVIEW_WORST, "2 3");
    /* Highest means: 0.85, 0.60, 0.96, 0.43. */
    check_pick(s, &pick, PREDICTVIEW_UNSURE, "3 1 0 2");
    check_pick(s, &pick, PREDICTVIEW_SPLIT, "1 3 0 2");
    check_pick(s, &pick, PREDICTVIEW_CLASS, "1 3");
    check_pick(s, &pick, PREDICTVIEW_PAIR, "3");
    pick.answer = 0;
    check_pick(s, &pick, PREDICTVIEW_PAIR, "");
    free(pick.image);
    predictview_free(s);
}

TEST(classes_are_found_by_name_number_and_part)
{
    struct predictview_set *s = new_set("T-shirt/top\nCoat\nShirt");

    REQUIRE(s);
    CHECK_INT(predictview_class(s, "coat"), 1);
    CHECK_INT(predictview_class(s, "shirt"), 2); /* a whole name before a part of one */
    CHECK_INT(predictview_class(s, "top"), 0);
    CHECK_INT(predictview_class(s, "2"), 2);
    CHECK_INT(predictview_class(s, "3"), -1);
    CHECK_INT(predictview_class(s, "sandal"), -1);
    CHECK_INT(predictview_class(s, ""), -1);
    predictview_free(s);
}

TEST(a_file_that_does_not_fit_is_refused)
{
    static const int64_t wrong[IMAGES] = {0, 1, 3, 1};
    struct predictview_set *s = NULL;
    struct safetensors file;
    struct err e;

    REQUIRE(write_and_read(NULL, wrong, &file));
    CHECK_INT(predictview_make(&s, &file, "predictions.safetensors", &e), ERR_INPUT);
    CHECK_HAS(e.text, "label 3 of image 2 is none of 3 classes");
    REQUIRE(write_and_read(NULL, labels, &file));
    file.tensor[2].shape[1] = IMAGES - 1;
    CHECK_INT(predictview_make(&s, &file, "predictions.safetensors", &e), ERR_INPUT);
    CHECK(!s);
}

static void draw(struct predictview *v, int rows, int columns, bool ascii, struct text *out)
{
    struct grid g;

    grid_init(&g, rows, columns, ascii);
    predictview_draw(v, &g, grid_all(&g));
    text_clear(out);
    grid_to_text(&g, out);
    grid_free(&g);
}

static void start(struct predictview *v, struct app *app, const char *names)
{
    *v = (struct predictview){.app = app,
                              .run = (char *)"2026-11-21-175802-557-lenet-ens2-218c",
                              .state = PREDICTVIEW_SHOWN,
                              .set = new_set(names),
                              .epochs_done = 9,
                              .best_epoch = 7};
}

static void end(struct predictview *v, struct text *out)
{
    free(v->pick.image);
    predictview_free(v->set);
    text_free(out);
}

TEST(the_screen_tells_who_says_what_of_an_image)
{
    struct app app = {0};
    struct predictview v;
    struct text out = {0};

    start(&v, &app, "shirt\ncoat\nbag");
    REQUIRE(v.set);
    predictview_pick(v.set, &v.pick);
    v.at = 1;
    draw(&v, 21, 80, true, &out);
    CHECK_HAS(text_str(&out), "lenet-ens2-218c  weights of epoch 7 (best, picked on test)");
    CHECK_HAS(text_str(&out), "all in order  2 of 4");
    CHECK_HAS(text_str(&out), "accuracy 0.5000, 2 members 0.2500 to 0.5000");
    CHECK_HAS(text_str(&out), "image 1  coat 0.600, right; 1 of 2 members differ");
    CHECK_HAS(text_str(&out), "0.350  0.600  0.100"); /* shirt: the mean, both members */
    v.at = 2;
    draw(&v, 21, 80, true, &out);
    CHECK_HAS(text_str(&out), "shirt 0.960, wrong: it is bag");
    draw(&v, 21, 50, true, &out); /* no bracket is left open */
    CHECK_HAS(text_str(&out), "  weights of epoch 7 -");
    draw(&v, 42, 160, true, &out);
    CHECK_HAS(text_str(&out), "label");
    end(&v, &out);
}

TEST(the_title_follows_a_run_that_trains_on)
{
    static const char name[] = "2026-10-29-100000-000-lenet-0001";
    struct predictview *v;
    struct kit k;

    kit_begin(&k);
    kit_open(&k, &screen_predict, SCREEN_PREDICT);
    v = k.state;
    v->run = mem_text(name);
    v->set = new_set(NULL);
    REQUIRE(v->set);
    v->state = PREDICTVIEW_SHOWN;
    v->epochs_done = v->best_epoch = 7;
    predictview_pick(v->set, &v->pick);
    kit_run(&k, name, "state=running epochs_done=7 best_epoch=7");
    kit_turn(&k, true);
    CHECK(kit_shows(&k, "weights of epoch 7 (best, picked on test, and last) ─"));
    kit_run(&k, name, "state=running epochs_done=8 best_epoch=7");
    kit_turn(&k, true);
    CHECK(kit_shows(&k, "weights of epoch 7 (best, picked on test) ─"));
    CHECK(kit_shows(&k, "newer weights: L"));
    kit_run(&k, name, "state=done epochs_done=10 best_epoch=9");
    kit_turn(&k, true);
    CHECK(kit_shows(&k, "weights of epoch 7 ─"));
    kit_end(&k);
}

/* A row of a table is no picture: its values stand there, with their columns' names. */
TEST(rows_of_a_table_are_values)
{
    struct app app = {0};
    struct predictview v;
    struct text out = {0};
    struct safetensors file;
    struct err e;

    start(&v, &app, NULL);
    predictview_free(v.set);
    v.set = NULL;
    REQUIRE(write_shape("shirt\ncoat\nbag", labels, (const size_t[3]){1, 1, 16}, &file));
    REQUIRE(predictview_make(&v.set, &file, "predictions.safetensors", &e) == ERR_OK);
    predictview_pick(v.set, &v.pick);
    draw(&v, 21, 80, true, &out);
    CHECK_HAS(text_str(&out), "what the model sees");
    CHECK_HAS(text_str(&out), "length          0 ");
    CHECK_HAS(text_str(&out), "width         255 ");
    CHECK_HAS(text_str(&out), "value 16 ");
    CHECK_HAS(text_str(&out), "shirt");
    CHECK_HAS(text_str(&out), " row 0 ");
    draw(&v, 14, 60, true, &out);
    CHECK_HAS(text_str(&out), " more");
    v.confusion = true;
    draw(&v, 21, 80, true, &out);
    CHECK_HAS(text_str(&out), " row (");
    CHECK_HAS(text_str(&out), "Enter shows the rows.");
    CHECK(!strstr(text_str(&out), "image"));
    CHECK_STR(predictview_hints(&v)[1].hint, "its rows");
    CHECK_STR(predictview_hints(&v)[2].hint, "rows");
    v.confusion = false;
    CHECK_STR(predictview_hints(&v)[2].hint, "disagreement");
    v.set->of.members = 1; /* nobody is there to disagree */
    CHECK_STR(predictview_hints(&v)[2].hint, "unsure");
    v.set->of.members = MEMBERS;
    end(&v, &out);
}

/* Members that have a column of one cell each need not the room of digits. */
TEST(names_of_the_list_are_whole_where_there_is_room)
{
    struct app app = {0};
    struct predictview v;
    struct text out = {0};

    start(&v, &app, "Ankle boot\ncoat\nbag");
    REQUIRE(v.set);
    predictview_pick(v.set, &v.pick);
    for (int columns = 130; columns < 170; columns++) {
        draw(&v, 42, columns, false, &out);
        if (columns >= 142 && strstr(text_str(&out), "Ankle b…"))
            TEST_FAILED("%d columns: %s", columns, text_str(&out));
    }
    end(&v, &out);
}

TEST(the_confusion_matrix_is_a_board_with_accuracies)
{
    struct app app = {0};
    struct predictview v;
    struct text out = {0};

    start(&v, &app, "shirt\ncoat\nbag");
    REQUIRE(v.set);
    predictview_pick(v.set, &v.pick);
    v.confusion = true;
    v.view.row = 1;
    v.view.column = 2;
    draw(&v, 21, 80, false, &out);
    CHECK_HAS(text_str(&out), "coat 0.500");
    CHECK_HAS(text_str(&out), "coat taken for bag: 1 of 2 images (50.0 %)");
    draw(&v, 13, 60, false, &out);
    CHECK_HAS(text_str(&out), "confusion matrix  ");
    CHECK_HAS(text_str(&out), " accuracy 0.");
    end(&v, &out);
}

TEST(a_class_without_images_has_no_shares)
{
    struct app app = {0};
    struct predictview v;
    struct text out = {0};

    start(&v, &app, "shirt\ncoat\nbag");
    REQUIRE(v.set);
    v.set->labelled[0] = 0;
    v.confusion = true;
    v.view.column = 1;
    draw(&v, 21, 80, false, &out);
    CHECK_HAS(text_str(&out), "No test image is labelled shirt. ");
    CHECK(!strstr(text_str(&out), "of 0 images"));
    end(&v, &out);
}

TEST(a_long_name_leaves_the_accuracy_in_sight)
{
    struct app app = {0};
    struct predictview v;
    struct text out = {0};

    start(
        &v, &app,
        "shirt\na very long class name indeed that goes on\nok\xe2\x80\x8b\xe2\x80\x8b\xe2\x80\x8b");
    REQUIRE(v.set);
    predictview_pick(v.set, &v.pick);
    v.confusion = true;
    draw(&v, 21, 80, false, &out);
    CHECK_HAS(text_str(&out), "a very l…t goes on 0.500");
    CHECK_HAS(text_str(&out), "<U+200B> 0.");
    end(&v, &out);
}

TEST(a_long_name_leaves_the_weights_in_sight)
{
    struct app app = {0};
    struct predictview v;
    struct text out = {0};

    start(&v, &app, "shirt\ncoat\nbag");
    REQUIRE(v.set);
    predictview_pick(v.set, &v.pick);
    v.run = (char *)"2026-10-29-101530-412-a-name-that-no-title-has-any-room-for-218c";
    draw(&v, 21, 80, true, &out);
    CHECK_HAS(text_str(&out), "  weights of epoch 7 (best, picked on test) ");
    CHECK_HAS(text_str(&out), "a-name-that-");
    CHECK_HAS(text_str(&out), "-for-218c  weights");
    end(&v, &out);
}

TEST(every_size_can_be_drawn)
{
    struct app app = {0};
    struct predictview v;
    struct text out = {0};

    start(&v, &app,
          "\033[31ma class whose name is much too long for any column\n\xe2\x80\xae"
          "bag\nc");
    REQUIRE(v.set);
    predictview_pick(v.set, &v.pick);
    for (int turn = 0; turn < 4; turn++) {
        v.confusion = turn & 1;
        for (int rows = 0; rows < 60; rows += rows < 12 ? 1 : 7)
            for (int columns = 0; columns < 200; columns += columns < 30 ? 1 : 13) {
                draw(&v, rows, columns, turn & 2, &out);
                CHECK(!strchr(text_str(&out), '\033'));
                CHECK(!strstr(text_str(&out), "\xe2\x80\xae"));
            }
    }
    end(&v, &out);
}

TEST(images_are_fitted_to_their_room)
{
    static const uint8_t bytes[4] = {255, 0, 0, 255};
    const struct tile t = {bytes, 2, 2, 1};
    struct grid g;
    struct rect took;
    struct text out = {0};

    grid_init(&g, 4, 9, true);
    took = tile_grid(&t, &g, grid_all(&g));
    CHECK_INT(took.rows, 4); /* four times as large: 8 pixels, two in a row */
    CHECK_INT(took.columns, 8);
    grid_to_text(&g, &out);
    CHECK_STR(text_str(&out), "@@@@\n@@@@\n    @@@@\n    @@@@\n");
    grid_free(&g);
    text_clear(&out);
    grid_init(&g, 1, 1, true); /* one pixel of half the brightness, in the upper half */
    tile_grid(&t, &g, grid_all(&g));
    grid_to_text(&g, &out);
    CHECK_STR(text_str(&out), ":\n");
    grid_free(&g);
    text_free(&out);
}

/* Of 3,000 classes, whose matrix would have 9 million places, those with the most mistakes. */
TEST(a_confusion_matrix_of_many_classes_is_bounded)
{
    enum { MANY = 3000, SEEN = 40 };
    float *probability = mem_new(SEEN * MANY, sizeof *probability);
    uint8_t *pixel = mem_new(SEEN, 1);
    int64_t *label = mem_new(SEEN, sizeof *label);
    char *path = mem_textf("%s/predict-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    const struct safetensors_tensor t[3] = {
        {.name = "images",
         .type = SAFETENSORS_U8,
         .dims = 4,
         .shape = {SEEN, 1, 1, 1},
         .bytes = pixel},
        {.name = "labels", .type = SAFETENSORS_I64, .dims = 1, .shape = {SEEN}, .bytes = label},
        {.name = "probabilities",
         .type = SAFETENSORS_F32,
         .dims = 3,
         .shape = {1, SEEN, MANY},
         .bytes = probability},
    };
    struct predictview_set *s = NULL;
    struct predictview_board b;
    struct safetensors file;
    struct err e;
    bool has = false;

    for (int i = 0; i < SEEN; i++) { /* 2990 taken for 2991, ten times; the others are right */
        int right = i < 10 ? 2990 : 50 * i;

        label[i] = right;
        probability[i * MANY + (i < 10 ? 2991 : right)] = 1;
    }
    close(mkstemp(path));
    REQUIRE_OK(safetensors_write(path, t, 3, NULL, 0, &e));
    REQUIRE_OK(safetensors_read(path, &file, &e));
    REQUIRE_OK(predictview_make(&s, &file, "predictions.safetensors", &e));
    CHECK_INT(s->confusion.classes, PREDICTVIEW_MOST_CLASSES);
    for (int i = 0; i < s->confusion.classes; i++) {
        CHECK(i == 0 || s->shown[i] > s->shown[i - 1]);
        if (s->shown[i] == 2990) {
            has = s->shown[i + 1] == 2991;
            CHECK_INT(s->confusion.count[i * s->confusion.classes + i + 1], 10);
        }
    }
    CHECK(has);
    predictview_make_board(s, &b);
    CHECK_INT(b.board.rows, PREDICTVIEW_MOST_CLASSES);
    predictview_free_board(&b);
    predictview_free(s);
    unlink(path);
    free(path);
    free(label);
    free(pixel);
    free(probability);
}
