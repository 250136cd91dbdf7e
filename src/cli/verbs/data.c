/* cli/verbs/data.c: `chorus data`: which data sets are here, what is in one, and how to get one. */
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/print.h"
#include "cli/out/table.h"
#include "cli/verbs.h"
#include "data/check.h"
#include "data/data.h"
#include "data/fetch.h"
#include "data/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cli_usage usage = {
    "data [check PATH or NAME | fetch NAME [--from URL]] [--json]",
    "Says which data sets are here and what gets the others; checks one; downloads one.",
    "Without more: a table of the sets known by name, with where they are or what gets them.\n"
    "check: counts, shape, classes, range, and what is odd; exit 2 where it is broken.\n"
    "fetch: downloads into $XDG_DATA_HOME/chorus/NAME (~/.local/share/chorus/NAME), goes on where\n"
    "an earlier download broke off, and keeps a file only if its checksum is right.\n"
    "\n"
    "A CSV file: commas, a row an image, one column of labels (words or whole numbers), all others\n"
    "numbers. A first row of names says with `label` which column that is; without it, the first\n"
    "column is. As many values as 8x8 or more and square, all bytes: an image; else numbers, each\n"
    "column standardised. train.csv:test.csv names both sets; of a single file the last sixth of the\n"
    "rows is the test set, as they stand: mix them first if they are sorted by class.\n"
    "\n"
    "A folder of pictures by class: DIR/train/CLASS/*.png and DIR/test/CLASS/*.png, PNG, PGM or PPM,\n"
    "classes in the order of their names. Without test, val or valid is taken; without all of them, or\n"
    "as DIR/CLASS/*.png, the last sixth is the test set. The order mixes classes evenly, each by its\n"
    "files' names, so the first N and the last sixth have all of them. All pictures have one size,\n"
    "unless the model says its own (`input 3 32 32`): then they are stretched to it, as by predict.\n"
    "One picture with colours makes all of them have some.\n"};

/* What gets a set that is not here. */
static void add_remedy(struct text *out, const struct data_known *set)
{
    if (set->package)
        text_addf(out, "apt install %s or ", set->package);
    text_addf(out, "chorus data fetch %s", set->name);
}

static void add_places(struct text *out, const char *name)
{
    char **folders;
    size_t count;

    data_places_list(name, cli_places(), &folders, &count);
    for (size_t i = 0; i < count; i++)
        text_addf(out, "%s%s", i ? ", " : "", folders[i]);
    io_free_names(folders, count);
}

/* One set of the list. */
struct entry {
    const char *name;
    bool found;
    struct data_set facts;
    struct text where;  /* a folder, or where it was looked for */
    struct text remedy; /* empty where it is here */
    struct err e;       /* why it cannot be used */
};

static void look(struct entry *it, const char *name, const struct data_known *set)
{
    struct data_found found;
    struct spec spec;

    *it = (struct entry){.name = name};
    spec_default(&spec);
    snprintf(spec.data, sizeof spec.data, "%s", name);
    if (data_find(&found, name, cli_places(), NULL) != ERR_OK) {
        add_places(&it->where, name);
        if (set)
            add_remedy(&it->remedy, set);
        return;
    }
    text_add(&it->where, found.folder ? found.folder : "made from the seed");
    data_found_free(&found);
    it->found =
        data_peek(&it->facts, &spec, cli_places(), (struct net_shape){0, 0, 0}, &it->e) == ERR_OK;
    if (!it->found && set)
        text_addf(&it->remedy, "chorus data fetch %s", name);
}

static void entry_free(struct entry *it)
{
    text_free(&it->where);
    text_free(&it->remedy);
}

static void add_row(struct cli_table *t, const struct entry *it)
{
    char number[TEXT_NUMBER_ROOM], shape[48];

    cli_table_add(t, it->name);
    if (it->found) {
        net_shape_text(&it->facts.shape, shape);
        cli_table_add(t, text_count(number, it->facts.train.count));
        cli_table_add(t, text_count(number, it->facts.test.count));
        cli_table_add(t, shape);
        cli_table_addf(t, "%d", it->facts.classes);
        cli_table_add(t, text_str(&it->where));
        return;
    }
    for (int i = 0; i < 4; i++)
        cli_table_add(t, "");
    if (it->e.code)
        cli_table_addf(t, "broken: %s", it->e.text);
    else
        cli_table_addf(t, "missing: %s", text_str(&it->remedy));
}

static void add_object(struct text *json, const struct entry *it)
{
    text_add(json, json->n > 1 ? ",\n {\"name\": " : "\n {\"name\": ");
    text_add_json(json, it->name);
    text_addf(json, ", \"found\": %s", it->found ? "true" : "false");
    if (it->found) {
        text_addf(json, ", \"train\": %zu, \"test\": %zu, \"shape\": [%d, %d, %d], \"classes\": %d",
                  it->facts.train.count, it->facts.test.count, it->facts.shape.h, it->facts.shape.w,
                  it->facts.shape.c, it->facts.classes);
    }
    text_add(json, it->found || it->e.code ? ", \"where\": " : ", \"looked_in\": ");
    text_add_json(json, text_str(&it->where));
    if (it->remedy.n) {
        text_add(json, ", \"get\": ");
        text_add_json(json, text_str(&it->remedy));
    }
    if (it->e.code) {
        text_add(json, ", \"error\": ");
        text_add_json(json, it->e.text);
    }
    text_add(json, "}");
}

static int list(bool as_json)
{
    struct text out = {0}, json = {0}, missing = {0};
    struct cli_table t;
    int code;

    cli_table_start(&t, "data|-training|-test|shape|-classes|where");
    text_add(&json, "[");
    for (const struct data_known *set = data_known_sets;; set++) {
        struct entry it;

        look(&it, set->name ? set->name : "synthetic", set->name ? set : NULL);
        add_row(&t, &it);
        add_object(&json, &it);
        if (!it.found && !it.e.code)
            text_addf(&missing, "%s was looked for in %s\n", it.name,
                      TEXT_CLEAN(text_str(&it.where)));
        entry_free(&it);
        if (!set->name)
            break;
    }
    text_add(&json, "\n]\n");
    cli_table_text(&t, &out);
    text_add(&out, text_str(&missing));
    code = cli_print(as_json ? &json : &out);
    cli_table_free(&t);
    text_free(&out);
    text_free(&json);
    text_free(&missing);
    return code;
}

/* check */

#define CLASSES_SHOWN 50 /* the table */
#define ODD_SHOWN     10 /* classes without images, each with a line of its own */

static const char *class_name(const struct data_set *set, int k, char number[16])
{
    if (set->class_names)
        return set->class_names[k];
    snprintf(number, 16, "%d", k);
    return number;
}

/* The columns of a table look like the channels of one pixel. */
static const char *noun(const struct data_set *set)
{
    return set->shape.h == 1 && set->shape.w == 1 ? "row" : "image";
}

static void add_odd(struct text *out, const struct data_set *set, const char *part, size_t n,
                    bool are, const char *words)
{
    char number[TEXT_NUMBER_ROOM];
    const char *verb = are ? n == 1 ? "is" : "are" : n == 1 ? "has" : "have";

    if (n)
        text_addf(out, "odd: %s %s %s%s %s %s\n", text_count(number, n), part, noun(set), text_s(n),
                  verb, words);
}

/* What is no error, but what one should know before trusting a result. */
static void add_oddities(struct text *out, const struct data_check *check)
{
    const struct data_set *set = check->set;
    char number[16];
    int odd = 0;

    for (int k = 0; k < set->classes; k++) {
        const char *name = class_name(set, k, number);

        if (!check->train.of_class[k] || !check->test.of_class[k]) {
            if (++odd > ODD_SHOWN)
                continue;
            text_addf(out, "odd: class %d", k);
            if (set->class_names)
                text_addf(out, " (%s)", TEXT_CLEAN(name));
            text_addf(out, " has no %s images\n",
                      check->train.of_class[k]  ? "test"
                      : check->test.of_class[k] ? "training"
                                                : "training and no test");
        }
    }
    if (data_only_class(&set->train) >= 0)
        text_add(out, "odd: all training images are of one class: a model learns to say that and "
                      "nothing else; mix the rows\n");
    if (odd > ODD_SHOWN)
        text_addf(out, "odd: and %d class%s more without training or test images\n",
                  odd - ODD_SHOWN, odd - ODD_SHOWN == 1 ? "" : "es");
    add_odd(out, set, "training", check->train.constant, false, "one value everywhere");
    add_odd(out, set, "test", check->test.constant, false, "one value everywhere");
    add_odd(out, set, "training", check->train.again, true, "there more than once");
    add_odd(out, set, "training", check->train.contradicting, true,
            "there again under another label");
    add_odd(out, set, "test", check->test.in_training, true, "among the training images");
    add_odd(out, set, "test", check->test.contradicting, true, "there again under another label");
    if (check->unscaled)
        text_addf(out, "odd: %s; normalize=none takes the numbers as they are\n",
                  TEXT_CLEAN(check->unscaled));
}

static void add_range(struct text *out, const char *part, const struct data_check_part *p,
                      bool bytes)
{
    text_addf(out, "%-8s %s %g to %g, mean %.4g, sd %.4g\n", part, bytes ? "bytes" : "numbers",
              p->least, p->most, p->mean, p->sd);
}

static void add_report(struct text *out, const struct data_check *check, const char *data)
{
    const struct data_set *set = check->set;
    char shape[48], train[TEXT_NUMBER_ROOM], test[TEXT_NUMBER_ROOM], number[16];
    struct cli_table t;
    size_t before;

    net_shape_text(&set->shape, shape);
    if (!strcmp(noun(set), "row"))
        snprintf(shape, sizeof shape, "%d column%s", set->shape.c, text_s(set->shape.c));
    text_addf(out, "%s: %s training and %s test %ss of %s, %d classes\n", TEXT_CLEAN(data),
              text_count(train, set->train.count), text_count(test, set->test.count), noun(set),
              shape, set->classes);
    if (check->label)
        text_addf(out, "%-8s %s\n", "labels", check->label);
    if (set->note)
        text_addf(out, "%-8s %s\n", "note", TEXT_CLEAN(set->note));
    add_range(out, "training", &check->train, set->train.bytes != NULL);
    add_range(out, "test", &check->test, set->train.bytes != NULL);
    text_addf(out, "checksum %s\n\n", set->checksum);
    cli_table_start(&t, "-class|name|-training|-test");
    for (int k = 0; k < set->classes && k < CLASSES_SHOWN; k++) {
        cli_table_addf(&t, "%d", k);
        cli_table_add(&t, class_name(set, k, number));
        cli_table_add(&t, text_count(train, check->train.of_class[k]));
        cli_table_add(&t, text_count(test, check->test.of_class[k]));
    }
    cli_table_text(&t, out);
    cli_table_free(&t);
    if (set->classes > CLASSES_SHOWN)
        text_addf(out, "and %d class%s more: --json has them all\n", set->classes - CLASSES_SHOWN,
                  set->classes - CLASSES_SHOWN == 1 ? "" : "es");
    text_add(out, "\n");
    before = out->n;
    add_oddities(out, check);
    if (out->n == before)
        text_add(out, "nothing odd in it\n");
}

static void add_json_part(struct text *out, const char *name, const struct data_set *set,
                          const struct data_part *part, const struct data_check_part *p)
{
    text_addf(out, " \"%s\": {\"images\": %zu, \"min\": ", name, part->count);
    text_add_json_double(out, p->least);
    text_add(out, ", \"max\": ");
    text_add_json_double(out, p->most);
    text_add(out, ", \"mean\": ");
    text_add_json_double(out, p->mean);
    text_add(out, ", \"sd\": ");
    text_add_json_double(out, p->sd);
    text_addf(out,
              ", \"constant\": %zu, \"again\": %zu, \"contradicting\": %zu, \"in_training\": %zu, "
              "\"of_class\": [",
              p->constant, p->again, p->contradicting, p->in_training);
    for (int k = 0; k < set->classes; k++)
        text_addf(out, "%s%zu", k ? ", " : "", p->of_class[k]);
    text_add(out, "]},\n");
}

static void add_json(struct text *out, const struct data_check *check, const char *data)
{
    const struct data_set *set = check->set;
    char number[16];

    text_add(out, "{\"data\": ");
    text_add_json(out, data);
    text_addf(out, ", \"shape\": [%d, %d, %d], \"classes\": %d,\n \"names\": [", set->shape.h,
              set->shape.w, set->shape.c, set->classes);
    for (int k = 0; k < set->classes; k++) {
        text_add(out, k ? ", " : "");
        text_add_json(out, class_name(set, k, number));
    }
    text_add(out, "],\n");
    if (set->note) {
        text_add(out, " \"note\": ");
        text_add_json(out, set->note);
        text_add(out, ",\n");
    }
    add_json_part(out, "train", set, &set->train, &check->train);
    add_json_part(out, "test", set, &set->test, &check->test);
    if (check->unscaled) {
        text_add(out, " \"unscaled\": ");
        text_add_json(out, check->unscaled);
        text_add(out, ",\n");
    }
    text_addf(out, " \"checksum\": \"%s\"}\n", set->checksum);
}

static int check_set(const char *data, bool as_json)
{
    struct data_check *check;
    struct text out = {0};
    struct err e;
    int code;

    if (data_check(&check, data, cli_places(), &e) != ERR_OK)
        return cli_fail(&e);
    if (as_json)
        add_json(&out, check, data);
    else
        add_report(&out, check, data);
    code = cli_print(&out);
    text_free(&out);
    data_check_free(check);
    return code;
}

/* fetch */

static void on_progress(void *user, const char *file, uint64_t done, uint64_t all)
{
    char a[TEXT_NUMBER_ROOM], b[TEXT_NUMBER_ROOM], line[160];

    (void)user;
    if (all)
        snprintf(line, sizeof line, "%s  %s of %s  %d %%", file, text_bytes(a, done),
                 text_bytes(b, all), (int)(100 * (double)done / (double)all));
    else
        snprintf(line, sizeof line, "%s  %s", file, text_bytes(a, done));
    live_draw(line);
}

static int fetch_set(const char *name, const char *from)
{
    const struct data_known *set = data_known_find(name);
    struct data_fetch how = {.from = from};
    enum err_code code;
    char *folder;
    struct err e;
    int fetched, exit_code;

    if (!set)
        return cli_refuse("data fetch %s: the sets that can be fetched are fashion-mnist and mnist",
                          TEXT_CLEAN(name));
    if (data_place_of_user(name, &folder, &e) != ERR_OK)
        return cli_fail(&e);
    if (cli_terminal(STDERR_FILENO))
        how.progress = on_progress;
    code = data_fetch(set, &how, &fetched, &e);
    if (how.progress)
        live_draw(NULL);
    if (code == ERR_OK && fetched)
        cli_talk("%s: %d file%s fetched, every checksum is right", name, fetched, text_s(fetched));
    else if (code == ERR_OK)
        cli_talk("%s: all there already, every checksum is right", name);
    exit_code = code == ERR_OK ? cli_printf("%s\n", TEXT_CLEAN(folder)) : cli_fail(&e);
    free(folder);
    return exit_code;
}

int cli_data(int argc, char **argv)
{
    const char *from = NULL;
    bool as_json = false;
    const struct cli_option options[] = {
        {"--from", "URL", "fetch from this mirror", &from},
        {"--json", NULL, "as JSON", &as_json},
        {NULL, NULL, NULL, NULL},
    };
    int code = cli_options(&usage, options, &argc, argv);
    const char *what = argc > 1 ? argv[1] : NULL;

    if (code != CLI_ON)
        return code;
    if (from && (!what || strcmp(what, "fetch") != 0))
        return cli_refuse("--from belongs to data fetch");
    if (!what)
        return list(as_json);
    if (!strcmp(what, "check")) {
        if (argc != 3)
            return cli_refuse("data check takes one data set: a name, a folder or a CSV file");
        return check_set(argv[2], as_json);
    }
    if (!strcmp(what, "fetch")) {
        if (argc != 3)
            return cli_refuse("data fetch takes one name: fashion-mnist or mnist");
        return fetch_set(argv[2], from);
    }
    return cli_refuse("data %s: it knows check and fetch", TEXT_CLEAN(what));
}
