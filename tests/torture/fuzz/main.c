/* Drives a fuzz target where there is no libFuzzer: PROGRAM MS SEED CASE CORPUS [DICTIONARY]. First it gives it each
 * file of the corpus, then changed ones until the time is over. A case is made from seed and number alone. CASE above
 * 0: that one alone. PROGRAM FILE: that file alone. */
#include "tests/torture/fuzz/fuzz.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define MOST_BYTES   4096 /* of a changed case */
#define MOST_CHANGES 8
#define CASE_SECONDS 20 /* of a processor: a case that takes longer hangs */

void __sanitizer_set_death_callback(void (*callback)(void));

struct bytes {
    uint8_t *at;
    size_t n;
};

static struct bytes *seeds, *words;
static size_t seed_count, word_count, word_room;
static uint64_t state;
static struct bytes now; /* the case that runs */
static long number;

static size_t draw(size_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % below;
}

/* The bytes of the case that ended the program, for `PROGRAM FILE`. */
static void on_death(void)
{
    const char *path = getenv("FUZZ_FAILED");
    FILE *out = path && number ? fopen(path, "wb") : NULL;

    if (out) {
        fwrite(now.at, 1, now.n, out);
        fclose(out);
    }
    fprintf(stderr, "It was case %ld, of %zu bytes.\n", number, now.n);
}

static void on_alarm(int signal)
{
    static const char why[] = "A case takes more than 20 seconds.\n";

    (void)signal;
    (void)!write(STDERR_FILENO, why, sizeof why - 1);
    abort();
}

static void read_corpus(const char *folder)
{
    char **names;
    struct err e;

    if (io_list_folder(folder, &names, &seed_count, &e) != ERR_OK)
        fuzz_fail(folder, 0, e.text, "");
    seeds = mem_new(seed_count + 1, sizeof *seeds);
    for (size_t i = 0; i < seed_count; i++) {
        char *path = io_path(folder, names[i]), *bytes;

        if (io_read_file(path, 1 << 20, &bytes, &seeds[i].n, &e) != ERR_OK)
            fuzz_fail(path, 0, e.text, "");
        seeds[i].at = (uint8_t *)bytes;
        free(path);
    }
    io_free_names(names, seed_count);
    MUST(seed_count > 0);
}

/* "a\x00\"" of a libFuzzer dictionary. */
static void add_word(const char *at, const char *end)
{
    struct bytes *w;

    words = mem_grow(words, &word_room, word_count + 1, sizeof *words);
    w = &words[word_count++];
    *w = (struct bytes){mem_new((size_t)(end - at) + 1, 1), 0};
    for (; at < end; at++) {
        char hex[3] = "";

        if (*at == '\\' && at[1] == 'x') {
            memcpy(hex, at + 2, 2);
            w->at[w->n++] = (uint8_t)strtoul(hex, NULL, 16);
            at += 3;
        } else {
            at += *at == '\\';
            w->at[w->n++] = (uint8_t)*at;
        }
    }
}

static void read_words(const char *path)
{
    char *text, *rest, *line;
    size_t n;
    struct err e;

    if (io_read_file(path, 1 << 20, &text, &n, &e) != ERR_OK)
        fuzz_fail(path, 0, e.text, "");
    rest = text;
    while ((line = strsep(&rest, "\n"))) {
        char *first = strchr(line, '"'), *last = strrchr(line, '"');

        if (*line != '#' && last > first)
            add_word(first + 1, last);
    }
    free(text);
}

/* Puts n bytes at a place, instead of so many that stand there. */
static void replace(struct bytes *b, size_t place, size_t old, const uint8_t *bytes, size_t n)
{
    if (b->n - old + n > MOST_BYTES)
        return;
    memmove(b->at + place + n, b->at + place + old, b->n - place - old);
    if (n)
        memcpy(b->at + place, bytes, n);
    b->n += n - old;
}

/* A piece of any seed. */
static struct bytes draw_piece(void)
{
    const struct bytes *from = &seeds[draw(seed_count)];
    size_t at = draw(from->n + 1), most = from->n - at;

    return (struct bytes){from->at + at, draw((most < 64 || !draw(4) ? most : 64) + 1)};
}

static void change(struct bytes *b)
{
    static const char *const numbers[] = {"0",
                                          "-1",
                                          "1e999",
                                          "nan",
                                          "18446744073709551616",
                                          "99999",
                                          "0.5",
                                          "1",
                                          "\xff\xff\xff\xff",
                                          "\x7f\xff"};
    size_t place = draw(b->n + 1), left = b->n - place, few = draw((left < 40 ? left : 40) + 1);
    struct bytes piece = draw_piece();
    const char *digits = numbers[draw(MEM_COUNT(numbers))];
    uint8_t any = (uint8_t)draw(256);

    switch (draw(8)) {
    case 0:
        if (left)
            b->at[place] ^= (uint8_t)(1 << draw(8));
        break;
    case 1:
        replace(b, place, left > 0, &any, 1);
        break;
    case 2:
        replace(b, place, few, NULL, 0);
        break;
    case 3: /* twice */
        piece.at = mem_new(few + 1, 1);
        memcpy(piece.at, b->at + place, few);
        replace(b, place, 0, piece.at, few);
        free(piece.at);
        break;
    case 4:
        if (!draw(4))
            b->n = place;
        break;
    case 5:
        replace(b, place, draw(2) ? few : 0, piece.at, piece.n);
        break;
    case 6:
        replace(b, place, draw(2) ? few : 0, (const uint8_t *)digits, strlen(digits));
        break;
    default:
        if (word_count) {
            piece = words[draw(word_count)];
            replace(b, place, draw(2) ? few : 0, piece.at, piece.n);
        }
    }
}

/* A block of just its size, so that a byte too far is seen. */
static void give(const uint8_t *bytes, size_t n)
{
    struct itimerval limit = {.it_value.tv_sec = CASE_SECONDS};

    now = (struct bytes){malloc(n), n};
    if (n)
        memcpy(now.at, bytes, n);
    setitimer(ITIMER_VIRTUAL, &limit, NULL);
    LLVMFuzzerTestOneInput(now.at, n);
    free(now.at);
    now = (struct bytes){0};
}

static void run_case(uint64_t seed)
{
    static uint8_t room[MOST_BYTES];
    const struct bytes *from;
    struct bytes b = {room, 0};

    if ((size_t)number <= seed_count) {
        give(seeds[number - 1].at, seeds[number - 1].n);
        return;
    }
    state = seed * 0x9e3779b97f4a7c15u + (uint64_t)number * 0xbf58476d1ce4e5b9u;
    draw(2);
    from = &seeds[draw(seed_count)];
    b.n = from->n < MOST_BYTES ? from->n : MOST_BYTES;
    memcpy(room, from->at, b.n);
    for (size_t i = draw(MOST_CHANGES) + 1; i; i--)
        change(&b);
    give(b.at, b.n);
}

static void free_all(void)
{
    for (size_t i = 0; i < seed_count; i++)
        free(seeds[i].at);
    for (size_t i = 0; i < word_count; i++)
        free(words[i].at);
    free(seeds);
    free(words);
}

static int run_file(const char *path)
{
    char *bytes;
    size_t n;
    struct err e;

    if (io_read_file(path, 1 << 20, &bytes, &n, &e) != ERR_OK)
        fuzz_fail(path, 0, e.text, "");
    give((const uint8_t *)bytes, n);
    free(bytes);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t end;

    if (argc != 2 && argc < 5)
        fuzz_fail(argv[0], 0, "its words are MS SEED CASE CORPUS [DICTIONARY], or FILE", "");
    __sanitizer_set_death_callback(on_death);
    signal(SIGVTALRM, on_alarm);
    if (argc == 2)
        return run_file(argv[1]);
    read_corpus(argv[4]);
    if (argc > 5)
        read_words(argv[5]);
    end = clock_ns() + strtoull(argv[1], NULL, 10) * 1000000;
    number = strtol(argv[3], NULL, 10);
    if (number)
        run_case(strtoull(argv[2], NULL, 10));
    else
        for (number = 1; number <= (long)seed_count || clock_ns() < end; number++)
            run_case(strtoull(argv[2], NULL, 10));
    free_all();
    printf("%ld cases\n", strtol(argv[3], NULL, 10) ? 1 : number - 1);
    return 0;
}
