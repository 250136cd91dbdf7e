/* cli/verbs/tag.c: `chorus tag` and `chorus note`: what users write on runs. */
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/args/runs.h"
#include "cli/out/print.h"
#include "cli/out/table.h"
#include "cli/verbs.h"
#include "record/run/reader.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TAGS 64

static const struct cli_usage tag_usage = {
    "tag RUN... [+TAG...] [-TAG...]",
    "Puts tags on runs (+paper) and takes them away (-draft); without any, prints them.",
    "  chorus tag @ +paper              the newest run\n"
    "  chorus tag model=cnn lr=0.1 +paper -draft\n"
    "  chorus ls tags=paper             the runs that have it\n"
    "RUNs and filters are those of `chorus ls --help`. Tags stand in run.csv; a run that is at\n"
    "work is told and keeps them too.\n"};

static const struct cli_usage note_usage = {
    "note RUN [TEXT]",
    "Writes a note on a run, in place of the one before; without TEXT, prints it.",
    "  chorus note @ \"collapsed after epoch 3: lr too high\"\n"
    "  chorus note @ \"\"                 removes it\n"
    "  chorus ls note=collapsed         the runs whose note holds the word\n"};

static int refuse_tag(const char *arg, const char *why)
{
    return cli_refuse("%s: %s", TEXT_CLEAN(arg), why);
}

static bool is_change(const char *arg)
{
    if (arg[0] == '+')
        return true;
    return arg[0] == '-' && arg[1] && arg[1] != '-' && strcmp(arg, "-h") != 0;
}

static int check_tag(const char *arg, char *const *changes, size_t count)
{
    if (!arg[1])
        return refuse_tag(arg, "a tag has a name behind its sign, as +paper");
    for (const unsigned char *s = (const unsigned char *)arg + 1; *s; s++)
        if ((*s < ' ' && *s != '\t' && *s != '\n') || *s == 127)
            return refuse_tag(arg, "it holds a control character; a tag is one word without any");
        else if (*s <= ' ' || strchr(",\"+=", *s))
            return refuse_tag(arg, "a tag is one word without blanks, commas, quotes, + and =");
    if (!text_is_clean(arg))
        return refuse_tag(arg, "it holds a character that cannot be seen, or bytes that are not "
                               "UTF-8; a tag is one word without any");
    for (size_t i = 0; i < count; i++)
        if (!strcmp(changes[i] + 1, arg + 1) && changes[i][0] != arg[0])
            return refuse_tag(arg, "a tag is either put on or taken away");
    return CLI_ON;
}

/* Takes +TAG and -TAG out of argv, which the options would take for their own. */
static int take_changes(int *argc, char **argv, char **changes, size_t *count)
{
    int kept = 1, code;

    *count = 0;
    for (int i = 1; i < *argc; i++) {
        if (!is_change(argv[i])) {
            argv[kept++] = argv[i];
            continue;
        }
        if (*count == MOST_TAGS)
            return cli_refuse("tag takes at most %d tags at once", MOST_TAGS);
        if ((code = check_tag(argv[i], changes, *count)) != CLI_ON)
            return code;
        changes[(*count)++] = argv[i];
    }
    argv[kept] = NULL;
    *argc = kept;
    return CLI_ON;
}

/* One run: a tag a line. Several: a table. */
static int print_tags(const struct record_entry *list, size_t count)
{
    struct text out = {0};
    struct cli_table t;
    int code;

    if (count == 1) {
        for (const char *at = list[0].run.tags; *at; at += strspn(at, " ")) {
            size_t n = strcspn(at, " ");
            char *tag = mem_text_n(at, n);
            text_addf(&out, "%s\n", TEXT_CLEAN(tag));
            free(tag);
            at += n;
        }
        if (!out.n)
            cli_talk("%s has no tags", TEXT_CLEAN(list[0].name));
    } else {
        cli_table_start(&t, "run|tags");
        for (size_t i = 0; i < count; i++) {
            cli_table_add(&t, list[i].name);
            cli_table_add(&t, list[i].run.tags);
        }
        cli_table_fit(&t, cli_limit(1), NULL, "run", true);
        cli_table_text(&t, &out);
        cli_table_free(&t);
    }
    code = cli_print(&out);
    text_free(&out);
    return code;
}

/* Goes on after a run that cannot be changed. */
static int change_tags(const struct record_entry *list, size_t count, char *const *changes,
                       size_t change_count)
{
    struct text line = {0};
    size_t changed = 0;
    struct err e = {0};
    int code = 0;

    text_add(&line, "tag");
    for (size_t i = 0; i < change_count; i++)
        text_addf(&line, " %s", changes[i]);
    for (size_t i = 0; i < count; i++) {
        if (record_edit(list[i].folder, text_str(&line), &e) != ERR_OK) {
            err_context(&e, "the tags of %s stay as they were", list[i].name);
            code = cli_fail(&e);
        } else {
            changed++;
        }
    }
    if (changed == 1 && count == 1)
        cli_talk("%s: %s", TEXT_CLEAN(list[0].name), text_str(&line) + 4);
    else if (changed)
        cli_talk("%s run%s: %s", TEXT_COUNT(changed), text_s(changed), text_str(&line) + 4);
    text_free(&line);
    return code;
}

int cli_tag(int argc, char **argv)
{
    char *changes[MOST_TAGS];
    size_t change_count, count;
    struct record_entry *list;
    struct err e;
    int code = take_changes(&argc, argv, changes, &change_count);

    if (code == CLI_ON)
        code = cli_options(&tag_usage, NULL, &argc, argv);
    if (code != CLI_ON)
        return code;
    if (argc < 2)
        return cli_refuse("tag needs a RUN, such as @ for the newest: chorus tag @ +paper");
    if (cli_find_runs(argc - 1, argv + 1, &list, &count, &e) != ERR_OK) {
        const char *last = argv[argc - 1];

        if (argc > 2 && !change_count && !strncmp(e.text, "there is no run", 15))
            return cli_refuse("%s. If it is a tag: chorus tag %s +%s", e.text, argv[1], last);
        return cli_fail(&e);
    }
    code = change_count ? change_tags(list, count, changes, change_count) : print_tags(list, count);
    record_free_list(list, count);
    return code;
}

/* One line: RUN/control is read by lines, and so is a table. */
static bool make_note(struct text *line, int argc, char **argv)
{
    struct text text = {0};
    char *trimmed;

    for (int i = 2; i < argc; i++)
        text_addf(&text, "%s%s", i > 2 ? " " : "", argv[i]);
    for (size_t i = 0; i < text.n; i++)
        if (iscntrl((unsigned char)text.s[i])) {
            cli_refuse("a note is one line without tabs and control characters");
            text_free(&text);
            return false;
        }
    text_add(&text, "");
    trimmed = text.s ? text_trim(text.s) : "";
    text_addf(line, *trimmed ? "note %s" : "note", trimmed);
    text_free(&text);
    return true;
}

static int print_note(const struct record_entry *entry)
{
    if (entry->run.note[0])
        return cli_printf("%s\n", TEXT_CLEAN(entry->run.note));
    cli_talk("%s has no note", TEXT_CLEAN(entry->name));
    return 0;
}

int cli_note(int argc, char **argv)
{
    struct record_entry entry;
    struct text line = {0};
    struct err e;
    int code = cli_options(&note_usage, NULL, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (argc < 2)
        return cli_refuse("note needs a RUN and a text: chorus note @ \"lr too high\"");
    if (argc > 2 && !make_note(&line, argc, argv))
        return err_exit_code(ERR_INPUT);
    if (cli_find_run(argv[1], &entry, &e) != ERR_OK) {
        text_free(&line);
        return cli_fail(&e);
    }
    code = 0;
    if (argc == 2)
        code = print_note(&entry);
    else if (record_edit(entry.folder, text_str(&line), &e) != ERR_OK) {
        err_context(&e, "the note is not written");
        code = cli_fail(&e);
    }
    text_free(&line);
    record_free_entry(&entry);
    return code;
}
