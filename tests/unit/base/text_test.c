#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/loss.h"
#include "base/text.h"
#include "tests/test.h"

#include <locale.h>
#include <math.h>
#include <stdint.h>

TEST(text_grows_and_formats)
{
    struct text t = {0};

    CHECK_STR(text_str(&t), "");
    for (int i = 0; i < 1000; i++)
        text_addf(&t, "%d,", i);
    CHECK_INT(t.n, 3890);
    CHECK_HAS(t.s, "998,999,");
    text_clear(&t);
    CHECK_STR(text_str(&t), "");
    text_free(&t);
}

TEST(doubles_read_back_as_they_were_written)
{
    uint64_t bits = 0x9e3779b97f4a7c15;
    char s[TEXT_NUMBER_ROOM];

    for (int i = 0; i < 20000; i++) {
        double value, back = 0;
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        CHECK(text_to_double(text_double(s, value), &back) && back == value);
        float f = (float)value;
        if (isfinite(f)) {
            CHECK(text_to_double(text_float(s, f), &back));
            CHECK((float)back == f);
        }
    }
    CHECK_STR(text_double(s, 0.1), "0.1");
    CHECK_STR(text_float(s, 0.1f), "0.1");
    CHECK_STR(text_double(s, 10), "10");
    CHECK_STR(text_double(s, -60000), "-60000");
    CHECK_STR(text_double(s, 1e15), "1e+15");
    CHECK_STR(text_float(s, 100), "100");
    CHECK_STR(text_double(s, NAN), "nan");
    CHECK_STR(text_double(s, -INFINITY), "-inf");
}

TEST(numbers_are_read_strictly)
{
    static const char *const bad[] = {"",    " 1",    "1 ",     "1,5",      "0x10", "1e", "e5",
                                      "--1", "1.2.3", "nan(1)", "infinity", "1f",   "+",  "."};
    double d;
    int64_t i;
    uint64_t u;

    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        if (text_to_double(bad[k], &d))
            TEST_FAILED("\"%s\" was taken for the number %g", bad[k], d);
    }
    CHECK(text_to_double("-1.5e3", &d) && d == -1500);
    CHECK(text_to_double("inf", &d) && isinf(d));
    CHECK(text_to_int("-9223372036854775808", &i) && i == INT64_MIN);
    CHECK(!text_to_int("9223372036854775808", &i));
    CHECK(!text_to_int("1.0", &i) && !text_to_int("", &i) && !text_to_int("-", &i));
    CHECK(text_to_uint("18446744073709551615", &u) && u == UINT64_MAX);
    CHECK(!text_to_uint("18446744073709551616", &u) && !text_to_uint("-1", &u));
}

TEST(numbers_do_not_follow_the_locale)
{
    char s[TEXT_NUMBER_ROOM];
    double d;

    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        SKIP("no locale de_DE.UTF-8 here");
    CHECK_STR(text_double(s, 0.5), "0.5");
    CHECK(text_to_double("0.25", &d) && d == 0.25);
    setlocale(LC_ALL, "C");
}

TEST(numbers_with_so_many_digits)
{
    static const struct {
        double value;
        int digits;
        const char *want;
    } all[] = {{-0.0, 4, "0.0000"},      {-1e-16, 4, "0.0000"},   {-0.00004, 4, "0.0000"},
               {-0.00006, 4, "-0.0001"}, {0.00001, 4, "0.0000"},  {NAN, 4, "nan"},
               {-INFINITY, 2, "-inf"},   {0.8639, 4, "0.8639"},   {0.99996, 4, "1.0000"},
               {1e20, 2, "1e+20"},       {-12.3456, 0, "-12"},    {86.385, 2, "86.39"},
               {0.86385, 4, "0.8639"},   {-0.00125, 4, "-0.0013"}};
    char s[TEXT_NUMBER_ROOM];

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CHECK_STR(text_fixed(s, all[i].value, all[i].digits), all[i].want);
}

/* An accuracy of a batch of images, in whichever way it was added up: the same digits as a share and
 * per cent, as a double and as a float. */
TEST(a_share_has_the_same_digits_in_all_places)
{
    char want[TEXT_NUMBER_ROOM], got[TEXT_NUMBER_ROOM];

    for (int right = 0; right <= 80000; right++) { /* of 8 members on 10,000 images */
        double share = right / 80000.0, sum = 0, exact = floor(right / 8.0 + 0.5);

        for (int m = 0; m < 8; m++)
            sum += (right / 8 + (m < right % 8)) / 10000.0 / 8;
        snprintf(want, sizeof want, "%d.%04d", (int)exact / 10000, (int)exact % 10000);
        if (strcmp(text_fixed(got, share, 4), want) || strcmp(text_fixed(got, sum, 4), want) ||
            strcmp(text_fixed(got, (double)(float)share, 4), want))
            TEST_FAILED("%d of 80000: %s, not %s", right, got, want);
        snprintf(want, sizeof want, "%d.%02d", (int)exact / 100, (int)exact % 100);
        CHECK_STR(text_fixed(got, 100 * sum, 2), want);
    }
}

TEST(numbers_for_people)
{
    char s[TEXT_NUMBER_ROOM], span[CLOCK_UTC_ROOM];

    CHECK_STR(text_count(s, 60000), "60,000");
    CHECK_STR(text_count(s, 999), "999");
    CHECK_STR(text_count(s, 1234567890), "1,234,567,890");
    CHECK_STR(text_bytes(s, 12), "12 bytes");
    CHECK_STR(text_bytes(s, 12345678), "12.3 MB");
    clock_span(span, 0.4215);
    CHECK_STR(span, "0.42 s");
    clock_span(span, 187.2);
    CHECK_STR(span, "3:07");
    clock_span(span, 3729);
    CHECK_STR(span, "1:02:09");
    clock_span(span, NAN);
    CHECK_STR(span, "?");
    clock_utc(span, 0.25);
    CHECK_STR(span, "1970-01-01T00:00:00.250Z");
    CHECK_STR(clock_age(span, 59.9, "1970-01-01T00:00:00.000Z"), "59 s");
    CHECK_STR(clock_age(span, 60, "1970-01-01T00:00:00.000Z"), "1 min");
    CHECK_STR(clock_age(span, 86400 + 60, "1970-01-02T00:00:00.000Z"), "1 min");
    CHECK_STR(clock_age(span, 48 * 3600 - 1, "1970-01-01T00:00:00.000Z"), "47 h");
    CHECK_STR(clock_age(span, 48 * 3600, "1970-01-01T00:00:00.000Z"), "2 d");
    CHECK_STR(clock_age(span, 0, "1970-01-01T00:00:05.000Z"), "0 s"); /* another machine's clock */
    CHECK_STR(clock_age(span, 0, "once"), "");
    clock_stamp(span, 86400);
    CHECK_STR(span, "1970-01-02-000000-000");
}

static void let_time_pass(void)
{
    for (uint64_t until = clock_ns() + 5000000; clock_ns() < until;)
        ;
}

TEST(work_stands_still_while_the_program_is_stopped)
{
    uint64_t before = clock_work_ns(), held;

    let_time_pass();
    clock_work_stops();
    held = clock_work_ns();
    CHECK(held - before >= 5000000);
    let_time_pass();
    CHECK(clock_work_ns() == held); /* also for threads that go on before the stop is counted */
    clock_work_goes();
    CHECK(clock_work_ns() >= held);
    CHECK(clock_ns() - clock_work_ns() >= 5000000);
    let_time_pass();
    CHECK(clock_work_ns() - held >= 5000000);
}

TEST(a_word_among_others)
{
    static const char *const words[] = {"lr", "batch", ""};

    CHECK(TEXT_IS_AMONG("lr", words) && TEXT_IS_AMONG("", words));
    CHECK(!TEXT_IS_AMONG("bat", words) && !TEXT_IS_AMONG("batches", words));
    CHECK(text_is_among("batch", words, 2) && !text_is_among("", words, 2));
    CHECK(!text_is_among("lr", words, 0));
}

TEST(nearest_word)
{
    static const char *const words[] = {"devices", "epochs", "lr", NULL};

    CHECK_STR(text_nearest("device", words), "devices");
    CHECK_STR(text_nearest("epcohs", words), "epochs");
    CHECK(!text_nearest("banana", words));
    char ones[300] = {0};
    memset(ones, '1', sizeof ones - 1);
    CHECK(!text_nearest(ones, words));
}

TEST(text_for_terminals_is_harmless)
{
    struct text t = {0};

    text_add_clean(&t, "a\x1b[31m\xff\xe2\x80\xae z\xc2\x9b\xc3\xa9\n");
    CHECK_STR(t.s, "a^[[31m\\xFF<U+202E> z<U+009B>\xc3\xa9^J");
    text_free(&t);
    CHECK_INT(text_width("a\xc3\xa9\xe2\xa1\x87"), 3);
    CHECK_INT(text_width("\xe6\xbc\xa2"), 2);
}

static void check_clean(const char *s, size_t n, const char *end)
{
    struct text t = {0};

    text_add_clean(&t, s);
    CHECK_INT(strlen(TEXT_CLEAN(s)), n);
    CHECK(!strncmp(TEXT_CLEAN(s), text_str(&t), n - strlen(end)));
    CHECK_STR(TEXT_CLEAN(s) + n - strlen(end), end);
    text_free(&t);
}

TEST(a_clean_word_is_what_is_added_clean)
{
    uint64_t bits = 1;
    char s[TEXT_CLEAN_ROOM / 4 + 1];

    for (int i = 0; i < 2000; i++) {
        struct text t = {0};
        size_t n = (size_t)i % 40 == 39 ? sizeof s - 1 : (size_t)i % 40;
        for (size_t at = 0; at <= n; at++) {
            bits = bits * 6364136223846793005u + 1442695040888963407u;
            s[at] = (char)(at < n ? bits >> 56 : 0);
        }
        text_add_clean(&t, s);
        if (t.n < TEXT_CLEAN_ROOM)
            CHECK_STR(TEXT_CLEAN(s), text_str(&t));
        text_free(&t);
    }
}

TEST(a_clean_word_that_does_not_fit_is_cut_at_a_whole_character)
{
    enum { MOST = TEXT_CLEAN_ROOM - 1 };
    char s[2 * TEXT_CLEAN_ROOM] = {0};

    memset(s, 'a', MOST);
    check_clean(s, MOST, "");
    s[MOST] = 'b';
    check_clean(s, MOST, "...");
    memcpy(s + MOST - 4, "\303\244", 2); /* only its first byte would fit before "..." */
    check_clean(s, MOST - 1, "...");
    memcpy(s + MOST - 4, "\033a", 2); /* "^[" */
    check_clean(s, MOST - 1, "...");
    memcpy(s + MOST - 5, "\302\255z", 3); /* "<U+00AD>" */
    check_clean(s, MOST - 2, "...");
    memset(s, '\n', sizeof s - 1);
    check_clean(s, MOST, "...");
}

TEST(clean_words_last_until_their_block_ends)
{
    const char *first = TEXT_CLEAN("a\n"), *second = TEXT_CLEAN("b\033"), *third = TEXT_CLEAN("c");

    CHECK_STR(first, "a^J");
    CHECK_STR(second, "b^[");
    CHECK_STR(third, "c");
}

static void check_printed(const char *s, size_t n, bool colours, const char *want)
{
    struct text t = {0};

    text_add_printed(&t, s, n, colours);
    CHECK_STR(text_str(&t), want);
    text_free(&t);
}

TEST(what_is_printed_drives_no_terminal)
{
    static const char colours[] = "\033[31ma\033[0m\033[38;5;1;48;5;231mb\033[48;5;2;38;5;16mc";
    static const char others[] = "\033[8m\033[38;5;1m\033[38;5;1;48;5;2;8m\033[8;5;1;78;5;2m\033[H";

    check_printed("a\tb\n\303\244\n", 7, false, "a\tb\n\303\244\n");
    check_printed("\033]0;x\a\r\177", 8, false, "^[]0;x^G^M^?");
    check_printed("a\0b", 3, false, "a^@b");
    check_printed("\233\302\233\342\200\256", 6, false, "\\x9B<U+009B><U+202E>");
    check_printed("\344.csv\302", 6, false, "\344.csv\302"); /* a name in Latin-1 */
    check_printed(colours, sizeof colours - 1, true, colours);
    check_printed(colours, 5, false, "^[[31m");
    check_printed(others, sizeof others - 1, true,
                  "^[[8m^[[38;5;1m^[[38;5;1;48;5;2;8m^[[8;5;1;78;5;2m^[[H");
    check_printed("", 0, true, "");
}

TEST(json_reads_what_it_should)
{
    struct err e = {0};
    struct json *j;
    uint64_t n;
    static const char good[] =
        " {\"a\": [1, 2.5, -3e2], \"b\": {\"c\": \"x\\u00e9\\ud83d\\ude00\\n\"}, \"d\": null} ";

    REQUIRE_OK(json_parse(good, strlen(good), &j, &e));
    CHECK_STR(json_text(json_get(json_get(j, "b"), "c")), "x\xc3\xa9\xf0\x9f\x98\x80\n");
    CHECK(json_uint(json_get(j, "a")->first, &n) && n == 1);
    CHECK(!json_uint(json_get(j, "a")->first->next, &n));
    CHECK(!json_get(j, "z"));
    json_free(j);
}

TEST(json_refuses_what_it_should)
{
    static const char *const bad[] = {
        "",      "{",           "{\"a\"}", "[1,]", "{\"a\":1,}",
        "tru",   "\"abc",       "\"\\x\"", "1 2",  "[1 2]",
        "{a:1}", "\"\\ud800\"", "+1",      ".5",   "[[[[[[[[[[[[[[[[[[1]"};

    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct err e = {0};
        struct json *j;
        if (json_parse(bad[k], strlen(bad[k]), &j, &e) == ERR_OK)
            TEST_FAILED("\"%s\" was taken for JSON", bad[k]);
        else
            CHECK_HAS(e.text, "byte");
        CHECK(!j);
    }
    /* every prefix of a good text is bad */
    static const char good[] = "{\"a\":[1,{\"b\":\"\\u00e9\"}],\"c\":true}";
    for (size_t n = 0; n < strlen(good); n++) {
        struct json *j;
        char *copy = malloc(n + 1);
        memcpy(copy, good, n);
        CHECK(json_parse(copy, n, &j, NULL) != ERR_OK);
        free(copy);
    }
}

TEST(json_writing)
{
    struct text t = {0};

    text_add_json(&t, "a\"b\\\n\x01\xff");
    CHECK_STR(t.s, "\"a\\\"b\\\\\\n\\u0001\xef\xbf\xbd\"");
    text_clear(&t);
    text_add_json(&t, "\r\x7f\xc2\x9b\xe2\x80\xae\xf3\xa0\x80\x81\xc3\xa9");
    CHECK_STR(t.s, "\"\\u000d\\u007f\\u009b\\u202e\\udb40\\udc01\xc3\xa9\"");
    text_clear(&t);
    text_add_json_double(&t, NAN);
    CHECK_STR(t.s, "null");
    text_free(&t);
}

static void check_sha256(const char *bytes, size_t n, size_t cut, const char *want)
{
    struct hash_sha256 h;
    uint8_t out[32];
    char hex[65];

    hash_sha256_start(&h);
    for (size_t at = 0; at < n; at += cut)
        hash_sha256_add(&h, bytes + at, n - at < cut ? n - at : cut);
    hash_sha256_end(&h, out);
    hash_hex(hex, out, 32);
    CHECK_STR(hex, want);
}

TEST(hashes_of_the_standard)
{
    uint8_t out[20];
    char hex[41], million[1000];

    hash_sha1("abc", 3, out);
    hash_hex(hex, out, 20);
    CHECK_STR(hex, "a9993e364706816aba3e25717850c26c9cd0d89d");
    hash_sha1("", 0, out);
    hash_hex(hex, out, 20);
    CHECK_STR(hex, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    hash_sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, out);
    hash_hex(hex, out, 20);
    CHECK_STR(hex, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    check_sha256("abc", 3, 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_sha256("", 0, 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    for (size_t cut = 1; cut <= 57; cut += 7)
        check_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, cut,
                     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(million, 'a', sizeof million);
    struct hash_sha256 h;
    uint8_t digest[32];
    char text[65];
    hash_sha256_start(&h);
    for (int i = 0; i < 1000; i++)
        hash_sha256_add(&h, million, sizeof million);
    hash_sha256_end(&h, digest);
    hash_hex(text, digest, 32);
    CHECK_STR(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void check_short(const char *const *values, size_t n, int digits, const char *joined)
{
    struct text t = {0};

    CHECK_INT(text_least_digits(values, n), digits);
    for (size_t i = 0; i < n; i++) {
        text_add(&t, i ? " " : "");
        text_add_short(&t, values[i], digits);
    }
    CHECK_STR(text_str(&t), joined);
    text_free(&t);
}

TEST(losses_keep_their_digits_within_bounds)
{
    static const struct {
        double loss;
        const char *words;
    } want[] = {{0.30331, "0.3033"}, {999.99, "999.9900"},
                {1234.56, "1234.6"}, {412362110152065, "4.12e+14"},
                {-2, "-2.0000"},     {NAN, "nan"},
                {-INFINITY, "-inf"}};
    char got[LOSS_ROOM];

    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        CHECK_STR(loss_text(got, want[i].loss), want[i].words);
}

TEST(computed_numbers_are_as_short_as_they_tell_apart)
{
    static const char *const geom[] = {"0.01", "0.03162277660168379", "0.1", "0.31622776601683794"};
    static const char *const near[] = {"0.12345678", "0.12346678", "0.12345678", "adam"};
    static const char *const whole[] = {"31622.776601683792", "1234567", "-0.00012345678901"};
    static const char *const typed[] = {"0.123456", "1e-05", "60000000", "nan", "0.100000000"};

    check_short(geom, 4, 3, "0.01 0.0316 0.1 0.316");
    check_short(near, 4, 5, "0.12346 0.12347 0.12346 adam");
    check_short(whole, 3, 3, "31623 1234567 -0.000123");
    check_short(typed, 5, 3, "0.123456 1e-05 60000000 nan 0.100000000");
    check_short(NULL, 0, 3, "");
}

TEST(ends_and_endings)
{
    CHECK(text_ends_with("12%", "%") && text_ends_with("%", "%") && text_ends_with("", ""));
    CHECK(!text_ends_with("12", "%") && !text_ends_with("", "%") &&
          !text_ends_with("a.NET", ".net"));
    CHECK(text_has_ending_any_case("a.svg", ".svg") && text_has_ending_any_case("a.SVG", ".svg"));
    CHECK(!text_has_ending_any_case(".svg", ".svg") && !text_has_ending_any_case("svg", ".svg"));
    CHECK(!text_has_ending_any_case("a.svg.gz", ".svg"));
    CHECK_INT(text_stem("lenet.net", ".net"), 5);
    CHECK_INT(text_stem("lenet.NET", ".net"), 9);
    CHECK_INT(text_stem(".net", ".net"), 4);
    CHECK_INT(text_stem("a", ""), 1);
}
