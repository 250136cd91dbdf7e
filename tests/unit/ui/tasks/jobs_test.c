#include "base/mem.h"
#include "tests/test.h"
#include "ui/tasks/jobs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

static void say(void *user, const char *verb, const char *line)
{
    struct text *said = user;

    CHECK(*verb);
    text_addf(said, "[%s]", line);
}

struct seen {
    int ends, exit_code;
    struct text out, last;
    struct jobs *more; /* the end of one starts another */
};

static void ended(void *user, const struct job_end *end)
{
    struct seen *seen = user;
    static const char *const next[] = {"-c", "exit 4", NULL};

    seen->ends++;
    seen->exit_code = end->exit_code;
    text_add_n(&seen->out, end->out->s, end->out->n);
    text_add(&seen->last, end->last_line);
    if (seen->more) {
        struct jobs *j = seen->more;

        seen->more = NULL;
        CHECK_INT(jobs_start(j, next, ended, seen, NULL), ERR_OK);
    }
}

static void forget(struct seen *seen)
{
    text_free(&seen->out);
    text_free(&seen->last);
}

/* Turns of a loop until all have ended; each waits for the descriptors alone. */
static bool finish(struct jobs *j)
{
    for (int turn = 0; turn < 4000 && jobs_running(j); turn++) {
        struct pollfd polls[16];
        int fds[16];
        size_t n = jobs_fds(j, fds, 16);

        for (size_t i = 0; i < n; i++)
            polls[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
        poll(polls, (nfds_t)n, 1000);
        jobs_take(j);
    }
    return jobs_running(j) == 0;
}

static void run(const char *script, struct seen *seen, struct text *said)
{
    const char *const args[] = {"-c", script, NULL};
    struct jobs *j = jobs_new("/bin/sh", say, said);
    struct err e;

    REQUIRE_OK(jobs_start(j, args, ended, seen, &e));
    CHECK_INT(jobs_running(j), 1);
    CHECK(finish(j));
    CHECK_INT(seen->ends, 1);
    jobs_free(j);
}

TEST(a_job_tells_what_it_said_and_how_it_ended)
{
    struct seen seen = {0};
    struct text said = {0};

    run("echo one; printf 'two\\nthree'; exit 3", &seen, &said);
    CHECK_INT(seen.exit_code, 3);
    CHECK_STR(text_str(&seen.out), "one\ntwo\nthree");
    CHECK_STR(text_str(&said), "[one][two][three]");
    CHECK_STR(text_str(&seen.last), "");
    text_free(&said);
    forget(&seen);
}

TEST(its_last_line_of_stderr_is_why_it_failed)
{
    struct seen seen = {0};
    struct text said = {0};

    run("echo before >&2; printf 'chorus: no run \\033[31mx\\n' >&2; exit 2", &seen, &said);
    CHECK_INT(seen.exit_code, 2);
    CHECK_STR(text_str(&seen.last), "no run ^[[31mx");
    CHECK_STR(text_str(&said), "[before][chorus: no run ^[[31mx]");
    CHECK_STR(text_str(&seen.out), "");
    text_free(&said);
    forget(&seen);
}

TEST(what_is_only_asked_is_told_to_whoever_asked)
{
    static const char *const args[] = {"-c", "echo one; echo why >&2; exit 2", NULL};
    struct seen seen = {0};
    struct text said = {0};
    struct jobs *j = jobs_new("/bin/sh", say, &said);
    struct err e;

    REQUIRE_OK(jobs_start_silent(j, args, ended, &seen, &e));
    CHECK(finish(j));
    CHECK_INT(seen.exit_code, 2);
    CHECK_STR(text_str(&seen.last), "why");
    CHECK_STR(text_str(&said), "");
    jobs_free(j);
    text_free(&said);
    forget(&seen);
}

TEST(a_signal_is_told_as_shells_do)
{
    struct seen seen = {0};
    struct text said = {0};

    run("kill -9 $$", &seen, &said);
    CHECK_INT(seen.exit_code, 128 + SIGKILL);
    text_free(&said);
    forget(&seen);
}

TEST(much_is_cut_and_all_lines_are_told)
{
    struct seen seen = {0};
    struct text said = {0};
    size_t lines = 0;

    run("yes 0123456789abcdef | head -n 100000", &seen, &said);
    CHECK_INT(seen.out.n, 1 << 20);
    for (size_t i = 0; i < said.n; i++)
        lines += said.s[i] == '[';
    CHECK_INT(lines, 100000);
    text_free(&said);
    forget(&seen);
}

TEST(a_line_without_an_end_is_told_in_parts)
{
    struct seen seen = {0};
    struct text said = {0};
    size_t parts = 0, letters = 0;

    run("head -c 10000 /dev/zero | tr '\\0' x", &seen, &said);
    for (size_t i = 0; i < said.n; i++) {
        parts += said.s[i] == '[';
        letters += said.s[i] == 'x';
    }
    CHECK_INT(parts, 3);
    CHECK_INT(letters, 10000);
    text_free(&said);
    forget(&seen);
}

TEST(a_job_ends_though_what_it_left_behind_holds_its_output)
{
    struct seen seen = {0};
    struct text said = {0};

    run("echo here; sleep 5 & exit 0", &seen, &said);
    CHECK_STR(text_str(&said), "[here]");
    CHECK_INT(seen.exit_code, 0);
    text_free(&said);
    forget(&seen);
}

TEST(stdin_is_empty_and_signals_are_as_usual)
{
    struct seen seen = {0};
    struct text said = {0};
    void (*old)(int) = signal(SIGTERM, SIG_IGN);

    run("cat; kill -TERM $$; echo still here", &seen, &said);
    CHECK_INT(seen.exit_code, 128 + SIGTERM);
    CHECK_STR(text_str(&said), "");
    signal(SIGTERM, old);
    text_free(&said);
    forget(&seen);
}

TEST(several_run_at_once_and_one_may_start_another)
{
    static const char *const args[] = {"-c", "exit 1", NULL};
    struct seen a = {0}, b = {0};
    struct text said = {0};
    struct jobs *j = jobs_new("/bin/sh", say, &said);
    struct err e;

    a.more = j;
    REQUIRE_OK(jobs_start(j, args, ended, &a, &e));
    REQUIRE_OK(jobs_start(j, args, ended, &b, &e));
    CHECK_INT(jobs_running(j), 2);
    CHECK(finish(j));
    CHECK_INT(a.ends, 2);
    CHECK_INT(a.exit_code, 4);
    CHECK_INT(b.ends, 1);
    jobs_free(j);
    text_free(&said);
    forget(&a);
    forget(&b);
}

TEST(a_program_that_is_not_there_is_an_error)
{
    static const char *const args[] = {"ls", NULL};
    struct jobs *j = jobs_new("/nowhere/chorus", NULL, NULL);
    struct err e;

    CHECK_INT(jobs_start(j, args, NULL, NULL, &e), ERR_IO);
    CHECK_HAS(e.text, "/nowhere/chorus ls");
    CHECK_INT(jobs_running(j), 0);
    jobs_free(j);
}

TEST(those_that_run_are_ended_with_all_that_they_started)
{
    static const char *const args[] = {"-c", "trap '' TERM; echo $$; while :; do sleep 1; done",
                                       NULL};
    struct text said = {0};
    struct jobs *j = jobs_new("/bin/sh", say, &said);
    struct err e;
    long pid = 0;

    REQUIRE_OK(jobs_start(j, args, NULL, NULL, &e));
    for (int i = 0; i < 1000 && !said.n; i++) {
        poll(NULL, 0, 10);
        jobs_take(j);
    }
    REQUIRE(said.n > 1);
    pid = strtol(said.s + 1, NULL, 10);
    REQUIRE(pid > 1);
    CHECK_INT(kill((pid_t)pid, 0), 0);
    jobs_free(j);
    CHECK(kill((pid_t)pid, 0) < 0 && errno == ESRCH);
    text_free(&said);
}

static void check_split(const char *line, const char *want)
{
    struct text got = {0};
    size_t n = 0;
    char **args;

    CHECK_INT(jobs_split(line, &args, &n, NULL), ERR_OK);
    for (size_t i = 0; i < n; i++)
        text_addf(&got, "<%s>", args[i]);
    CHECK_STR(text_str(&got), want);
    CHECK(args && !args[n]);
    jobs_free_args(args);
    text_free(&got);
}

TEST(a_line_is_parted_as_a_shell_parts_it)
{
    char **args, line[2000] = "";
    struct err e;
    size_t n;

    check_split("", "");
    check_split("  compare  a\tb ", "<compare><a><b>");
    check_split("note @ 'two words' \"a \\\"b\\\" \\x $c\"",
                "<note><@><two words><a \"b\" \\x $c>");
    check_split("a\\ b 'it'\\''s' x'y'\"z\" '' \"\"", "<a b><it's><xyz><><>");
    check_split("'a\\b' * ~ | ;", "<a\\b><*><~><|><;>");
    setenv("HOME", "/home/me", 1);
    check_split("plot @ -o ~/a.svg '~/b' a~/c", "<plot><@><-o></home/me/a.svg><~/b><a~/c>");
    CHECK_INT(jobs_split("run 'first", &args, &n, &e), ERR_INPUT);
    CHECK_STR(e.text, "a quote is not closed: another ' is missing behind 'first");
    CHECK(!args);
    CHECK_INT(jobs_split("run \"a\\\"", &args, &n, &e), ERR_INPUT);
    CHECK_STR(e.text, "a quote is not closed: another \" is missing behind \"a\\\"");
    CHECK_INT(jobs_split("run a\\", &args, &n, &e), ERR_INPUT);
    CHECK_STR(e.text, "what the backslash at the end stands before is missing: a\\");
    memset(line, 'x', sizeof line - 1);
    line[0] = '\'';
    CHECK_INT(jobs_split(line, &args, &n, &e), ERR_INPUT);
    CHECK_HAS(e.text, "another ' is missing"); /* however long the line is */
}

/* Every character, through a real shell. */
TEST(words_come_back_from_a_shell)
{
    struct text shell = {0};
    char word[2] = "", got[4] = "";

    for (int c = 1; c < 128; c++) {
        FILE *f;
        size_t n;

        word[0] = (char)c;
        text_clear(&shell);
        text_add(&shell, "printf '%s' ");
        jobs_add_word(&shell, word);
        REQUIRE((f = popen(text_str(&shell), "r")) != NULL);
        n = fread(got, 1, sizeof got - 1, f);
        CHECK_INT(pclose(f), 0);
        CHECK_INT(n, 1);
        CHECK_INT(got[0], c);
    }
    text_free(&shell);
}

TEST(words_come_back_through_a_line)
{
    static const char *const words[] = {"plain-1.csv", "",     "two words", "it's",
                                        "a\"b",        "$(x)", "tab\there", "\\",
                                        "lr=0.1,0.2",  "'",    "~",         "\xc3\xa9"};
    struct text line = {0};
    char **args;
    size_t n = 0;

    for (size_t i = 0; i < MEM_COUNT(words); i++) {
        text_add(&line, i ? " " : "");
        jobs_add_word(&line, words[i]);
    }
    CHECK_HAS(text_str(&line), "plain-1.csv '' 'two words' ");
    CHECK_HAS(text_str(&line), " lr=0.1,0.2 ");
    REQUIRE(jobs_split(text_str(&line), &args, &n, NULL) == ERR_OK);
    REQUIRE(n == MEM_COUNT(words));
    for (size_t i = 0; i < n; i++)
        CHECK_STR(args[i], words[i]);
    jobs_free_args(args);
    text_free(&line);
}
