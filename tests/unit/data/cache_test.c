/* The cache of decoded sets: what comes out of it is what would have been decoded, whatever was done
 * to its files, its folder and the sources. */
#include "tests/unit/data/kit.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

static const struct net_shape nothing;

/* Where the numbers of a file's head stand. */
enum {
    AT_ORDER = 8,
    AT_VERSION = 12,
    AT_SUM = 16,
    AT_CONTENT = 24,
    AT_SIZE = 32,
    AT_KEY = 40,
    AT_HEIGHT = 72,
    AT_CLASSES = 84,
    AT_WIDTH = 88,
    AT_TRAIN = 96,
    AT_NAMES = 112,
    HEAD = 192
};

/* A folder with a source in it and a cache beside it. */
struct bench {
    char *top, *source, *cache;
    struct spec spec;
};

static int sources_opened;
static int (*real_open)(const char *, int, mode_t);
static struct io_table real;

static int count_open(const char *path, int flags, mode_t mode)
{
    sources_opened += strstr(path, "/source/") != NULL;
    return real_open(path, flags, mode);
}

static struct bench bench_new(void)
{
    struct bench b = {.top = kit_folder()};

    b.source = io_path(b.top, "source");
    b.cache = io_path(b.top, "cache");
    b.spec = kit_spec(b.source);
    if (mkdir(b.source, 0777)) {
        perror(b.source);
        exit(1);
    }
    setenv("CHORUS_CACHE", b.cache, 1);
    real = io;
    real_open = io.open;
    io.open = count_open;
    return b;
}

static void bench_free(struct bench *b)
{
    io = real;
    setenv("CHORUS_CACHE", "off", 1);
    kit_remove(b->top);
    free(b->source);
    free(b->cache);
}

/* The names in the cache; how many there are. */
static size_t cache_files(const struct bench *b, char ***names)
{
    size_t count = 0;

    *names = NULL;
    if (io_is_folder(b->cache) && io_list_folder(b->cache, names, &count, NULL) != ERR_OK)
        count = 0;
    return count;
}

static size_t cache_count(const struct bench *b)
{
    char **names;
    size_t count = cache_files(b, &names);

    io_free_names(names, count);
    return count;
}

/* The path of the only file there. */
static char *cache_file(const struct bench *b)
{
    char **names, *path;
    size_t count = cache_files(b, &names);

    path = count == 1 ? io_path(b->cache, names[0]) : mem_text("/nowhere");
    io_free_names(names, count);
    return path;
}

static enum err_code open_it(const struct bench *b, struct net_shape wanted, struct data_set **set)
{
    struct data_places places = {NULL};
    struct err e;
    enum err_code code = data_open(set, &b->spec, &places, wanted, &e);

    if (code != ERR_OK)
        TEST_FAILED("%s", e.text);
    return code;
}

/* Opens until it comes from the cache: a source that was written just now is not kept. */
static bool warm_up(const struct bench *b, struct net_shape wanted)
{
    struct data_set *set;

    for (int tries = 0; tries < 100; tries++) {
        sources_opened = 0;
        if (open_it(b, wanted, &set) != ERR_OK)
            return false;
        data_close(set);
        if (!sources_opened && cache_count(b) > 0)
            return true;
        clock_sleep_ms(50);
    }
    TEST_FAILED("it was not kept");
    return false;
}

static bool same_part(const struct data_part *a, const struct data_part *b, size_t size)
{
    if (a->count != b->count || !a->bytes != !b->bytes || !a->values != !b->values)
        return false;
    if (a->count == 0)
        return true;
    return !memcmp(a->labels, b->labels, a->count * sizeof *a->labels) &&
           (!a->bytes || !memcmp(a->bytes, b->bytes, a->count * size)) &&
           (!a->values || !memcmp(a->values, b->values, a->count * size * sizeof *a->values));
}

static bool same_set(const struct data_set *a, const struct data_set *b)
{
    size_t size = (size_t)a->shape.h * (size_t)a->shape.w * (size_t)a->shape.c;

    if (memcmp(&a->shape, &b->shape, sizeof a->shape) != 0 || a->classes != b->classes ||
        strcmp(a->name, b->name) != 0 || strcmp(a->checksum, b->checksum) != 0 ||
        a->normalize != b->normalize || !a->class_names != !b->class_names || !a->lut != !b->lut ||
        (a->lut && memcmp(a->lut, b->lut, (size_t)a->shape.c * 256 * sizeof *a->lut) != 0))
        return false;
    for (int i = 0; a->class_names && i < a->classes; i++)
        if (strcmp(a->class_names[i], b->class_names[i]) != 0)
            return false;
    if (!a->column_names != !b->column_names)
        return false;
    for (size_t i = 0; a->column_names && i < size; i++)
        if (strcmp(a->column_names[i], b->column_names[i]) != 0)
            return false;
    return same_part(&a->train, &b->train, size) && same_part(&a->valid, &b->valid, size) &&
           same_part(&a->test, &b->test, size);
}

/* The set as it is without a cache. */
static struct data_set *plain(const struct bench *b, struct net_shape wanted)
{
    char *folder = mem_text(getenv("CHORUS_CACHE"));
    struct data_set *set;

    setenv("CHORUS_CACHE", "off", 1);
    if (open_it(b, wanted, &set) != ERR_OK)
        set = NULL;
    setenv("CHORUS_CACHE", folder, 1);
    free(folder);
    return set;
}

/* Opened now it is as it would be without a cache. Returns how many files of the source were read. */
static int opens_right(const struct bench *b, struct net_shape wanted)
{
    struct data_set *want = plain(b, wanted), *got;
    int opened;

    sources_opened = 0;
    if (!want || open_it(b, wanted, &got) != ERR_OK) {
        data_close(want);
        return -1;
    }
    opened = sources_opened;
    CHECK(same_set(got, want));
    data_close(got);
    data_close(want);
    return opened;
}

/* Cold, then warm in every way that a set can be asked for. */
static void all_ways(struct bench *b, struct net_shape wanted)
{
    if (!warm_up(b, wanted))
        return;
    CHECK_INT(opens_right(b, wanted), 0);
    for (int way = 0; way < 8; way++) {
        b->spec.normalize = way & 1 ? SPEC_NORMALIZE_STANDARD : SPEC_NORMALIZE_AUTO;
        b->spec.valid = way & 2 ? 3 : 0;
        b->spec.train_limit = way & 4 ? 7 : 0;
        b->spec.test_limit = way & 4 ? 2 : 0;
        CHECK_INT(opens_right(b, wanted), 0);
    }
    b->spec = kit_spec(b->spec.data);
}

TEST(every_byte_of_idx)
{
    for (int gz = 0; gz < 2; gz++) {
        for (uint32_t c = 1; c <= 3; c += 2) {
            struct bench b = bench_new();

            kit_set(b.source, 23, 5, 7, 3, c, 4, gz);
            all_ways(&b, nothing);
            CHECK_INT(cache_count(&b), 1);
            bench_free(&b);
        }
    }
}

/* Rows as text; halves: values that are no bytes. */
static void csv_rows(const struct bench *b, const char *name, int rows, int columns, bool halves)
{
    static const char *const labels[] = {"cat", "dog", "a \xc3\xa9 b"};
    struct text t = {0};

    for (int i = 0; i < rows; i++) {
        text_add(&t, labels[i % 3]);
        for (int k = 0; k < columns; k++)
            text_addf(&t, ",%d%s", kit_byte((size_t)i, (size_t)k), halves ? ".25" : "");
        text_add(&t, "\n");
    }
    kit_write(b->source, name, t.s, t.n);
    text_free(&t);
}

TEST(every_number_of_csv)
{
    for (int halves = 0; halves < 2; halves++) {
        struct bench b = bench_new();

        csv_rows(&b, "set.csv", 40, 64, halves);
        snprintf(b.spec.data, sizeof b.spec.data, "%s/set.csv", b.source);
        all_ways(&b, nothing);
        csv_rows(&b, "test.csv", 9, 64, halves);
        snprintf(b.spec.data, sizeof b.spec.data, "%s/set.csv:%s/test.csv", b.source, b.source);
        all_ways(&b, nothing);
        CHECK_INT(cache_count(&b), 2);
        bench_free(&b);
    }
}

TEST(every_picture_of_a_folder)
{
    for (int c = 1; c <= 3; c += 2) {
        struct bench b = bench_new();

        kit_pictures(b.source, "train", 23, 7, 3, c, 4);
        kit_pictures(b.source, "test", 5, 7, 3, c, 4);
        all_ways(&b, nothing);
        all_ways(&b, (struct net_shape){4, 4, 1});
        CHECK_INT(cache_count(&b), 2);
        bench_free(&b);
    }
}

/* The set that is opened now, not from an earlier state of the folder. */
static void is_seen(const struct bench *b, size_t train)
{
    struct data_set *set;

    CHECK(opens_right(b, nothing) > 0);
    REQUIRE(open_it(b, nothing, &set) == ERR_OK);
    CHECK_INT(set->train.count, train);
    data_close(set);
    REQUIRE(warm_up(b, nothing));
    CHECK_INT(opens_right(b, nothing), 0);
}

static void forget_all(const struct bench *b)
{
    char **names;
    size_t count = cache_files(b, &names);

    for (size_t i = 0; i < count; i++) {
        char *path = io_path(b->cache, names[i]);

        unlink(path);
        free(path);
    }
    io_free_names(names, count);
}

TEST(a_changed_folder)
{
    struct bench b = bench_new();
    char *class, *path, *other;

    kit_pictures(b.source, "train", 12, 4, 4, 1, 2);
    kit_pictures(b.source, "test", 4, 4, 4, 1, 2);
    REQUIRE(warm_up(&b, nothing));
    class = io_path(b.source, "train/a");
    kit_picture(class, "000.ppm", 99, 4, 4, 1);
    CHECK(opens_right(&b, nothing) > 0);
    kit_picture(class, "new.pgm", 98, 4, 4, 1);
    forget_all(&b);
    is_seen(&b, 13);
    path = io_path(class, "002.ppm");
    unlink(path);
    forget_all(&b);
    is_seen(&b, 12);
    free(path);
    path = cache_file(&b);
    REQUIRE(truncate(path, 300) == 0);
    CHECK(opens_right(&b, nothing) > 0); /* damaged */
    free(path);
    /* another name of a class */
    other = io_path(b.source, "train/z");
    REQUIRE(rename(class, other) == 0);
    path = io_path(b.source, "test/a");
    free(other);
    other = io_path(b.source, "test/z");
    REQUIRE(rename(path, other) == 0);
    CHECK(opens_right(&b, nothing) > 0);
    free(other);
    free(path);
    free(class);
    bench_free(&b);
}

/* A table with a header keeps the names of its columns. */
TEST(columns_with_names)
{
    struct text rows = {0};
    struct bench b = bench_new();
    struct data_set *set;
    struct err e;

    text_add(&rows, "length,label,width\n");
    for (int i = 0; i < 40; i++)
        text_addf(&rows, "%d.5,%s,%d\n", i, i % 3 ? "a" : "b", i * i);
    kit_write(b.source, "set.csv", rows.s, rows.n);
    text_free(&rows);
    snprintf(b.spec.data, sizeof b.spec.data, "%s/set.csv", b.source);
    all_ways(&b, nothing);
    REQUIRE(data_open(&set, &b.spec, &(struct data_places){0}, nothing, &e) == ERR_OK);
    CHECK(set->column_names);
    if (set->column_names) {
        CHECK_STR(set->column_names[0], "length");
        CHECK_STR(set->column_names[1], "width");
    }
    data_close(set);
    bench_free(&b);
}

/* The shape that a model demands decides what the rows of a CSV file are. */
TEST(csv_in_the_shape_that_is_wanted)
{
    struct bench b = bench_new();
    struct net_shape shapes[] = {{0, 0, 0}, {4, 4, 4}, {1, 1, 64}, {8, 8, 1}};

    csv_rows(&b, "set.csv", 40, 64, false);
    snprintf(b.spec.data, sizeof b.spec.data, "%s/set.csv", b.source);
    for (size_t i = 0; i < MEM_COUNT(shapes); i++)
        if (!warm_up(&b, shapes[i]))
            break;
    for (size_t i = 0; i < MEM_COUNT(shapes); i++)
        CHECK_INT(opens_right(&b, shapes[i]), 0);
    bench_free(&b);
}

TEST(peek_and_its_limits)
{
    struct bench b = bench_new();
    struct data_places places = {NULL};
    struct data_set facts, *set;
    struct err e, e2;

    kit_set(b.source, 23, 5, 7, 3, 1, 4, true);
    REQUIRE(warm_up(&b, nothing));
    b.spec.train_limit = 20;
    b.spec.valid = 4;
    sources_opened = 0;
    REQUIRE_OK(data_peek(&facts, &b.spec, &places, nothing, &e));
    CHECK_INT(sources_opened, 0);
    CHECK_INT(facts.train.count, 16);
    CHECK_INT(facts.valid.count, 4);
    CHECK_INT(facts.test.count, 5);
    CHECK_INT(facts.shape.h, 7);
    CHECK_INT(facts.shape.w, 3);
    CHECK_INT(facts.classes, 4);
    CHECK_INT(facts.normalize, SPEC_NORMALIZE_255);
    b.spec.train_limit = 24;
    CHECK_INT(data_open(&set, &b.spec, &places, nothing, &e), ERR_INPUT);
    setenv("CHORUS_CACHE", "off", 1);
    CHECK_INT(data_open(&set, &b.spec, &places, nothing, &e2), ERR_INPUT);
    CHECK_STR(e.text, e2.text);
    bench_free(&b);
}

/* Changes to a cache file, and what it looks like then. */
struct bytes {
    char *s;
    size_t n;
};

static uint64_t get64(const char *at)
{
    uint64_t v;

    memcpy(&v, at, 8);
    return v;
}

static void put64(char *at, uint64_t v)
{
    memcpy(at, &v, 8);
}

static void put32(char *at, uint32_t v)
{
    memcpy(at, &v, 4);
}

/* As cache.c sums up: eight chains of words. */
static uint64_t sum_of(const char *s, size_t n)
{
    uint64_t a[8], h = 0;

    for (uint64_t i = 0; i < 8; i++)
        a[i] = (i + 1) * 0xbf58476d1ce4e5b9u;
    for (size_t k = 0; k < n / 8; k++) {
        a[k % 8] = (a[k % 8] ^ get64(s + 8 * k)) * 0x9e3779b97f4a7c15u;
        a[k % 8] ^= a[k % 8] >> 29;
    }
    for (int i = 0; i < 8; i++) {
        h = (h ^ a[i]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

/* Makes all sums right again, so that only the change itself can be noticed. */
static void seal(struct bytes *f)
{
    put64(f->s + AT_CONTENT, sum_of(f->s + HEAD, f->n - HEAD));
    put64(f->s + AT_SUM, 0);
    put64(f->s + AT_SUM, sum_of(f->s, HEAD));
}

static void write_over(const char *path, const struct bytes *f)
{
    FILE *to = fopen(path, "wb");

    if (!to || fwrite(f->s, 1, f->n, to) != f->n || fclose(to)) {
        perror(path);
        exit(1);
    }
}

/* The damaged file is noticed, the set is right, and the file is made anew. */
static void is_noticed(const struct bench *b, const char *path, const char *what)
{
    int before = test_failures;
    struct stat st;

    CHECK(opens_right(b, nothing) > 0);
    CHECK_INT(opens_right(b, nothing), 0);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
    if (test_failures > before)
        printf("  after %s\n", what);
}

static struct bytes copy_of(const struct bytes *f)
{
    struct bytes copy = {mem_new(f->n + 64, 1), f->n};

    memcpy(copy.s, f->s, f->n);
    return copy;
}

/* A bench with a warm cache; false where it would not get warm. */
static bool warm_bench(struct bench *b, char **path, struct bytes *f)
{
    struct err e;

    *b = bench_new();
    *path = NULL;
    *f = (struct bytes){NULL, 0};
    kit_set(b->source, 23, 5, 7, 3, 1, 4, true);
    if (!warm_up(b, nothing))
        return false;
    *path = cache_file(b);
    return io_read_file(*path, 100000, &f->s, &f->n, &e) == ERR_OK && f->n > HEAD;
}

static void warm_bench_free(struct bench *b, char *path, struct bytes *f)
{
    free(path);
    free(f->s);
    bench_free(b);
}

TEST(another_length)
{
    struct bench b;
    struct bytes f;
    char *path, what[64];

    REQUIRE(warm_bench(&b, &path, &f));
    size_t lengths[] = {0,        1,       7,       100,     HEAD - 1, HEAD,
                        HEAD + 1, f.n / 2, f.n - 1, f.n + 1, f.n + 64};

    for (size_t i = 0; i < MEM_COUNT(lengths); i++) {
        struct bytes copy = copy_of(&f);

        copy.n = lengths[i];
        write_over(path, &copy);
        snprintf(what, sizeof what, "a length of %zu instead of %zu", lengths[i], f.n);
        is_noticed(&b, path, what);
        free(copy.s);
    }
    warm_bench_free(&b, path, &f);
}

TEST(one_flipped_bit)
{
    struct bench b;
    struct bytes f;
    char *path, what[64];

    REQUIRE(warm_bench(&b, &path, &f));
    for (size_t at = 0; at < f.n; at += at < HEAD ? 5 : 41) {
        struct bytes copy = copy_of(&f);

        copy.s[at] ^= (char)(1 << at % 8);
        write_over(path, &copy);
        snprintf(what, sizeof what, "a flipped bit of byte %zu", at);
        is_noticed(&b, path, what);
        free(copy.s);
    }
    warm_bench_free(&b, path, &f);
}

/* Files whole in themselves that are not ours. */
TEST(foreign_files)
{
    static const char *const what[] = {"another magic",      "another order of bytes",
                                       "another version",    "another key",
                                       "more images",        "images beyond all numbers",
                                       "values of 3 bytes",  "no height",
                                       "one class",          "a label that is no class",
                                       "names without end",  "a size that is not its own",
                                       "no training images", "random bytes"};
    struct bench b;
    struct bytes f;
    char *path;

    REQUIRE(warm_bench(&b, &path, &f));
    {
        struct bytes copy = copy_of(&f);

        seal(&copy); /* the test's sums are those of the cache */
        REQUIRE(copy.n == f.n && !memcmp(copy.s, f.s, f.n));
        free(copy.s);
    }
    for (size_t i = 0; i < MEM_COUNT(what); i++) {
        struct bytes copy = copy_of(&f);
        char *s = copy.s;

        switch (i) {
        case 0:
            s[0] = 'C';
            break;
        case 1:
            put32(s + AT_ORDER, 0x04030201);
            break;
        case 2:
            s[AT_VERSION]++;
            break;
        case 3:
            s[AT_KEY + 31]++;
            break;
        case 4:
            put64(s + AT_TRAIN, 1000);
            break;
        case 5:
            put64(s + AT_TRAIN, (uint64_t)1 << 62);
            break;
        case 6:
            put64(s + AT_WIDTH, 3);
            break;
        case 7:
            put32(s + AT_HEIGHT, 0);
            break;
        case 8:
            put32(s + AT_CLASSES, 1);
            break;
        case 9:
            put32(s + AT_CLASSES, 3);
            break;
        case 10:
            put64(s + AT_NAMES, 40), put64(s + AT_SIZE, copy.n += 64);
            break;
        case 11:
            put64(s + AT_SIZE, copy.n - 64);
            break;
        case 12:
            put64(s + AT_TRAIN, 0);
            break;
        default:
            for (size_t k = 0; k < copy.n; k++)
                s[k] = (char)(k * 2654435761u >> 13);
        }
        if (i < 13)
            seal(&copy);
        write_over(path, &copy);
        is_noticed(&b, path, what[i]);
        free(copy.s);
    }
    warm_bench_free(&b, path, &f);
}

/* What another source left under this name. */
TEST(the_file_of_another_set)
{
    struct bench b;
    struct bytes f;
    char *path;

    REQUIRE(warm_bench(&b, &path, &f));
    kit_set(b.source, 23, 5, 7, 3, 1, 3, true);
    unlink(path);
    REQUIRE(warm_up(&b, nothing));
    write_over(path, &f);
    is_noticed(&b, path, "the file of an earlier state");
    CHECK_INT(cache_count(&b), 1);
    warm_bench_free(&b, path, &f);
}

TEST(things_in_its_place)
{
    struct bench b;
    struct bytes f;
    char *path, *other;
    struct stat st;

    REQUIRE(warm_bench(&b, &path, &f));
    other = io_path(b.top, "other");
    write_over(other, &f);
    unlink(path);
    REQUIRE(symlink(other, path) == 0);
    is_noticed(&b, path, "a link in its place");
    REQUIRE(lstat(path, &st) == 0 && S_ISREG(st.st_mode));
    CHECK(stat(other, &st) == 0 && (size_t)st.st_size == f.n);

    unlink(path);
    REQUIRE(mkfifo(path, 0600) == 0);
    is_noticed(&b, path, "a fifo in its place");

    REQUIRE(chmod(path, 0666) == 0);
    is_noticed(&b, path, "others may write to it");
    if (geteuid() == 0) {
        REQUIRE(chown(path, 12345, 0) == 0);
        is_noticed(&b, path, "it is another user's");
    }
    unlink(path);
    REQUIRE(mkdir(path, 0700) == 0);
    CHECK(opens_right(&b, nothing) > 0);
    CHECK(opens_right(&b, nothing) > 0);
    CHECK_INT(cache_count(&b), 1);
    free(other);
    warm_bench_free(&b, path, &f);
}

static int failing; /* which call fails: 1 the opening of a file to write, 2 write, 3 rename */

static int failing_open(const char *path, int flags, mode_t mode)
{
    if (failing == 1 && flags & O_CREAT) {
        errno = EROFS;
        return -1;
    }
    return count_open(path, flags, mode);
}

static ssize_t failing_write(int fd, const void *from, size_t n)
{
    static int calls;

    if (failing == 2 && calls++ % 3 == 2) {
        errno = ENOSPC;
        return -1;
    }
    return real.write(fd, from, n > 100 ? 100 : n);
}

static int failing_rename(const char *from, const char *to)
{
    if (failing == 3) {
        errno = EDQUOT;
        return -1;
    }
    return real.rename(from, to);
}

TEST(a_folder_that_cannot_be_written)
{
    struct bench b = bench_new();

    kit_set(b.source, 23, 5, 7, 3, 1, 4, true);
    clock_sleep_ms(100);
    io.open = failing_open;
    io.write = failing_write;
    io.rename = failing_rename;
    for (failing = 1; failing <= 3; failing++) {
        CHECK(opens_right(&b, nothing) > 0);
        CHECK_INT(cache_count(&b), 0);
    }
    failing = 0; /* but in short pieces */
    REQUIRE(warm_up(&b, nothing));
    CHECK_INT(opens_right(&b, nothing), 0);
    bench_free(&b);
}

/* Which folder it is. */
TEST(the_folder)
{
    struct bench b = bench_new();
    char *home = mem_text(getenv("HOME") ? getenv("HOME") : "/"), *xdg = NULL, *path, *gone;
    struct stat st;

    if (getenv("XDG_CACHE_HOME"))
        xdg = mem_text(getenv("XDG_CACHE_HOME"));
    kit_set(b.source, 23, 5, 7, 3, 1, 4, true);
    free(b.cache);
    b.cache = mem_textf("%s/.cache/chorus", b.top);
    setenv("CHORUS_CACHE", "", 1);
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", b.top, 1);
    CHECK(warm_up(&b, nothing));
    CHECK(stat(b.cache, &st) == 0 && (st.st_mode & 0777) == 0700);
    path = mem_textf("%s/xdg", b.top);
    setenv("XDG_CACHE_HOME", path, 1);
    free(b.cache);
    b.cache = mem_textf("%s/chorus", path);
    CHECK(warm_up(&b, nothing));
    free(path);

    /* No home, or none that is there: nothing is made, nothing is missed. */
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    CHECK(opens_right(&b, nothing) > 0);
    gone = mem_textf("%s/no/such/home", b.top);
    setenv("HOME", gone, 1);
    setenv("CHORUS_CACHE", "", 1);
    CHECK(opens_right(&b, nothing) > 0);
    path = mem_textf("%s/no", b.top);
    CHECK(!io_exists(path));
    free(path);
    /* A file where the folder should be. */
    setenv("CHORUS_CACHE", gone, 1);
    path = mem_textf("%s/plain", b.top);
    kit_text(b.top, "plain", "x");
    setenv("CHORUS_CACHE", path, 1);
    CHECK(opens_right(&b, nothing) > 0);
    free(b.cache);
    b.cache = mem_textf("%s/inside", path);
    setenv("CHORUS_CACHE", b.cache, 1);
    CHECK(opens_right(&b, nothing) > 0);
    free(path);
    free(gone);
    setenv("HOME", home, 1);
    if (xdg)
        setenv("XDG_CACHE_HOME", xdg, 1);
    free(home);
    free(xdg);
    bench_free(&b);
}

TEST(off)
{
    struct bench b = bench_new();

    kit_set(b.source, 23, 5, 7, 3, 1, 4, true);
    clock_sleep_ms(100);
    data_close(plain(&b, nothing));
    CHECK_INT(cache_count(&b), 0);
    CHECK(!io_exists("off"));
    bench_free(&b);
}

/* A source that changed is another one: also with its old date, in its old length, at once. */
TEST(a_changed_source)
{
    struct bench b = bench_new();
    char *path = io_path(b.source, "t10k-labels-idx1-ubyte"), *bytes;
    struct timespec old[2] = {{1000000000, 123456789}, {1000000000, 123456789}};
    struct err e;
    size_t n;

    kit_set(b.source, 23, 5, 7, 3, 1, 4, false);
    REQUIRE(utimensat(AT_FDCWD, path, old, 0) == 0);
    REQUIRE(warm_up(&b, nothing));
    REQUIRE_OK(io_read_file(path, 1000, &bytes, &n, &e));
    for (int i = 0; i < 60; i++) {
        bytes[n - 1] ^= 1;
        kit_write(b.source, "t10k-labels-idx1-ubyte", bytes, n);
        REQUIRE(utimensat(AT_FDCWD, path, old, 0) == 0);
        CHECK(opens_right(&b, nothing) >= 0);
        if (i % 4 == 0)
            clock_sleep_ms(i);
    }
    CHECK_INT(cache_count(&b), 1);
    clock_sleep_ms(100);
    CHECK(opens_right(&b, nothing) >= 0);
    free(bytes);
    free(path);
    bench_free(&b);
}

/* What is mapped stays when its file goes. */
TEST(removed_while_in_use)
{
    struct bench b;
    struct bytes f;
    struct data_set *set, *want;
    char *path;

    REQUIRE(warm_bench(&b, &path, &f));
    REQUIRE(open_it(&b, nothing, &set) == ERR_OK);
    unlink(path);
    REQUIRE(warm_up(&b, nothing));
    want = plain(&b, nothing);
    CHECK(same_set(set, want));
    data_close(set);
    data_close(want);
    warm_bench_free(&b, path, &f);
}

static int child(const struct bench *b, const struct data_set *want)
{
    struct data_places places = {NULL};
    struct data_set *set;
    struct err e;
    int wrong = 0;

    for (int i = 0; i < 40; i++) {
        if (data_open(&set, &b->spec, &places, nothing, &e) != ERR_OK)
            return 1;
        wrong += !same_set(set, want);
        data_close(set);
    }
    return wrong ? 2 : 0;
}

TEST(many_processes_at_once)
{
    struct bench b;
    struct bytes f;
    char *path;
    pid_t pid[4];
    struct data_set *want;
    int running = 4;

    REQUIRE(warm_bench(&b, &path, &f));
    want = plain(&b, nothing);
    fflush(stdout);
    for (int i = 0; i < 4; i++) {
        pid[i] = fork();
        if (pid[i] == 0)
            _exit(child(&b, want));
        REQUIRE(pid[i] > 0);
    }
    for (int turn = 0; running; turn++) { /* meanwhile it is removed and damaged, by renaming */
        int status;

        while (running && waitpid(-1, &status, WNOHANG) > 0) {
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
            running--;
        }
        if (turn % 2) {
            unlink(path);
        } else {
            char *bad = io_path(b.top, "bad");
            struct bytes copy = copy_of(&f);

            copy.s[turn % (int)f.n] ^= 4;
            write_over(bad, &copy);
            rename(bad, path);
            free(copy.s);
            free(bad);
        }
        clock_sleep_ms(1);
    }
    unlink(path);
    CHECK_INT(cache_count(&b), 0);
    data_close(want);
    warm_bench_free(&b, path, &f);
}

/* Makes a file of this length, without its bytes, last written so many seconds ago. */
static void leave(const struct bench *b, const char *name, uint64_t bytes, int ago)
{
    char *path = io_path(b->cache, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    struct timespec when[2] = {{(time_t)clock_wall() - ago, 0}};

    when[1] = when[0];
    CHECK(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 && futimens(fd, when) == 0);
    close(fd);
    free(path);
}

static bool there(const struct bench *b, const char *name)
{
    char *path = io_path(b->cache, name);
    bool is = io_exists(path);

    free(path);
    return is;
}

TEST(it_does_not_grow_for_ever)
{
    static const struct {
        const char *name;
        uint64_t bytes;
        int ago;
        bool stays;
    } files[] = {
        {"data-0000000000000001.cache", (uint64_t)1 << 30, 5000, true},
        {"data-0000000000000002.cache", (uint64_t)1023 << 20, 6000, true},
        {"data-0000000000000003.cache", (uint64_t)8 << 20, 7000, false},
        {"data-0000000000000004.cache", 10, 9000, false},
        {"data-0000000000000004.cache.tmp-77-0-abc", 10, 9000, false},
        {"data-0000000000000004.cache.tmp-78-0-abc", 10, 5, true},
        {"data-0000000000000004.cache.bak", 10, 9000, true},
        {"data-000000000000000g.cache", 10, 9000, true},
        {"data.cache", (uint64_t)3 << 30, 9000, true},
    };
    struct bench b = bench_new();

    kit_set(b.source, 23, 5, 7, 3, 1, 4, true);
    REQUIRE(mkdir(b.cache, 0700) == 0);
    for (size_t i = 0; i < MEM_COUNT(files); i++)
        leave(&b, files[i].name, files[i].bytes, files[i].ago);
    clock_sleep_ms(100);
    for (int tries = 0; tries < 100 && opens_right(&b, nothing) != 0; tries++)
        clock_sleep_ms(50);
    for (size_t i = 0; i < MEM_COUNT(files); i++) {
        if (there(&b, files[i].name) != files[i].stays)
            TEST_FAILED("%s: %s", files[i].name, files[i].stays ? "it is gone" : "it is there");
    }
    bench_free(&b);
}
