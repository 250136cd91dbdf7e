/* Safetensors files: what is written reads back, the same input gives the same bytes, and nothing
 * that was damaged, cut or made up is believed. */
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "record/file/safetensors.h"
#include "tests/test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char *make_folder(void)
{
    const char *base = getenv("TMPDIR");
    char *folder = mem_textf("%s/chorus-test-XXXXXX", base && *base ? base : "/tmp");

    if (!mkdtemp(folder)) {
        perror(folder);
        exit(1);
    }
    return folder;
}

static void remove_folder(char *folder)
{
    char **names;
    size_t n;

    if (io_list_folder(folder, &names, &n, NULL) == ERR_OK) {
        for (size_t i = 0; i < n; i++) {
            char *path = io_path(folder, names[i]);
            unlink(path);
            free(path);
        }
        io_free_names(names, n);
    }
    rmdir(folder);
    free(folder);
}

static size_t files_in(const char *folder)
{
    char **names;
    size_t n = 0;

    if (io_list_folder(folder, &names, &n, NULL) == ERR_OK)
        io_free_names(names, n);
    return n;
}

/* Without O_TRUNC, after which some file systems write to the disk when the file is closed. */
static void put_file(const char *path, const void *all, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0666);

    if (fd < 0 || pwrite(fd, all, n, 0) != (ssize_t)n || ftruncate(fd, (off_t)n) || close(fd)) {
        perror(path);
        exit(1);
    }
}

/* A file with this header (n bytes of it, 0: all) and data bytes of the value 1. */
static void put_made_up(const char *path, const char *header, uint64_t n, size_t data)
{
    struct text t = {0};

    if (n == 0)
        n = strlen(header);
    for (int i = 0; i < 8; i++) {
        char byte = (char)(n >> (8 * i));
        text_add_n(&t, &byte, 1);
    }
    text_add(&t, header);
    for (size_t i = 0; i < data; i++)
        text_add_n(&t, "\1", 1);
    put_file(path, t.s, t.n);
    text_free(&t);
}

static const float floats[6] = {1, -2.5f, 3e-40f, 4, 5, 6};
static const double doubles[2] = {0.1, -1e300};
static const uint8_t bytes[3] = {7, 8, 255};
static const int32_t ints[2] = {-5, 6};
static const int64_t longs[1] = {-1234567890123};
static const uint16_t shorts[3] = {1, 2, 65535};
static const struct safetensors_tensor sample[] = {
    {.name = "Conv_0/kernel", .type = SAFETENSORS_F32, .dims = 2, .shape = {2, 3}, .bytes = floats},
    {.name = "labels", .type = SAFETENSORS_U8, .dims = 1, .shape = {3}, .bytes = bytes},
    {.name = "engine/sums", .type = SAFETENSORS_F64, .dims = 1, .shape = {2}, .bytes = doubles},
    {.name = "i32", .type = SAFETENSORS_I32, .dims = 1, .shape = {2}, .bytes = ints},
    {.name = "scalar", .type = SAFETENSORS_I64, .dims = 0, .bytes = longs},
    {.name = "u16", .type = SAFETENSORS_U16, .dims = 1, .shape = {3}, .bytes = shorts},
    {.name = "nothing", .type = SAFETENSORS_F32, .dims = 2, .shape = {0, 4}, .bytes = NULL},
};
static const struct safetensors_note sample_notes[] = {
    {"chorus.step", "12"}, {"a \"quoted\" key", "line\nbreak, \\, \u00e9"}};

TEST(what_is_written_reads_back)
{
    struct err e = {0};
    char *folder = make_folder(), *path = io_path(folder, "a.safetensors");
    struct safetensors s;

    REQUIRE_OK(safetensors_write(path, sample, MEM_COUNT(sample), sample_notes, 2, &e));
    CHECK_INT(files_in(folder), 1);
    REQUIRE_OK(safetensors_read(path, &s, &e));
    CHECK(s.sealed);
    CHECK_INT(s.tensors, MEM_COUNT(sample));
    for (size_t i = 0; i < MEM_COUNT(sample); i++) {
        const struct safetensors_tensor *t = safetensors_find(&s, sample[i].name);
        size_t size = safetensors_size(sample[i].type);
        REQUIRE(t);
        CHECK(t == &s.tensor[i]); /* the header keeps the order */
        CHECK_INT(t->type, sample[i].type);
        CHECK_INT(t->dims, sample[i].dims);
        for (int d = 0; d < t->dims; d++) {
            CHECK_INT(t->shape[d], sample[i].shape[d]);
            size *= t->shape[d];
        }
        CHECK_INT(t->size, size);
        CHECK(size == 0 || !memcmp(t->bytes, sample[i].bytes, size));
        CHECK_INT((uintptr_t)t->bytes % safetensors_size(t->type), 0);
    }
    CHECK_STR(safetensors_note(&s, "chorus.step"), "12");
    CHECK_STR(safetensors_note(&s, "a \"quoted\" key"), "line\nbreak, \\, \u00e9");
    CHECK(!safetensors_note(&s, "none"));
    CHECK(!safetensors_find(&s, "none"));
    safetensors_free(&s);
    free(path);
    remove_folder(folder);
}

TEST(data_begins_at_a_multiple_of_eight_and_has_no_gaps)
{
    struct err e = {0};
    char *folder = make_folder(), *path = io_path(folder, "a.safetensors");
    char *all;
    size_t n, data = 0;
    uint64_t header = 0;

    REQUIRE_OK(safetensors_write(path, sample, MEM_COUNT(sample), NULL, 0, &e));
    REQUIRE_OK(io_read_file(path, 1 << 20, &all, &n, &e));
    for (int i = 7; i >= 0; i--)
        header = header << 8 | (uint8_t)all[i];
    CHECK_INT(header % 8, 0);
    data =
        sizeof floats + sizeof doubles + sizeof bytes + sizeof ints + sizeof longs + sizeof shorts;
    CHECK_INT(n, 8 + header + data);
    CHECK(!memcmp(all + 8 + header, doubles, sizeof doubles)); /* widest first */
    CHECK_HAS(all + 8, "{\"__metadata__\":{\"sha256\":\"");
    CHECK_HAS(all + 8, "\"Conv_0/kernel\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[");
    free(all);
    free(path);
    remove_folder(folder);
}

TEST(the_same_input_gives_the_same_bytes)
{
    struct err e = {0};
    char *folder = make_folder(), *a = io_path(folder, "a"), *b = io_path(folder, "b");
    char *x, *y;
    size_t n, m;

    REQUIRE_OK(safetensors_write(a, sample, MEM_COUNT(sample), sample_notes, 2, &e));
    REQUIRE_OK(safetensors_write(b, sample, MEM_COUNT(sample), sample_notes, 2, &e));
    REQUIRE_OK(io_read_file(a, 1 << 20, &x, &n, &e));
    REQUIRE_OK(io_read_file(b, 1 << 20, &y, &m, &e));
    CHECK(n == m && !memcmp(x, y, n));
    free(x);
    free(y);
    free(a);
    free(b);
    remove_folder(folder);
}

TEST(every_flipped_bit_is_noticed)
{
    struct err e = {0};
    char *folder = make_folder(), *path = io_path(folder, "a"), *hit = io_path(folder, "b");
    char *all;
    size_t n, believed = 0;

    REQUIRE_OK(safetensors_write(path, sample, 3, sample_notes, 2, &e));
    REQUIRE_OK(io_read_file(path, 1 << 20, &all, &n, &e));
    for (size_t bit = 0; bit < 8 * n; bit++) {
        struct safetensors s;
        all[bit / 8] ^= (char)(1 << bit % 8);
        put_file(hit, all, n);
        all[bit / 8] ^= (char)(1 << bit % 8);
        if (safetensors_read(hit, &s, &e) == ERR_OK) {
            if (s.sealed && believed++ < 5)
                TEST_FAILED("bit %zu of %zu can flip", bit, 8 * n);
            safetensors_free(&s);
        }
    }
    CHECK_INT(believed, 0);
    free(all);
    free(path);
    free(hit);
    remove_folder(folder);
}

TEST(every_cut_and_every_tail_is_noticed)
{
    struct err e = {0};
    char *folder = make_folder(), *path = io_path(folder, "a"), *hit = io_path(folder, "b");
    char *all;
    size_t n;
    struct safetensors s;

    REQUIRE_OK(safetensors_write(path, sample, MEM_COUNT(sample), NULL, 0, &e));
    REQUIRE_OK(io_read_file(path, 1 << 20, &all, &n, &e));
    for (size_t keep = 0; keep < n; keep++) {
        put_file(hit, all, keep);
        if (safetensors_read(hit, &s, &e) == ERR_OK) {
            TEST_FAILED("%zu of %zu bytes were taken for the whole", keep, n);
            safetensors_free(&s);
        } else {
            CHECK_INT(e.code, ERR_INPUT);
            CHECK_HAS(e.text, hit);
        }
    }
    all[n] = 0; /* io_read_file leaves a 0 behind the bytes */
    put_file(hit, all, n + 1);
    CHECK_INT(safetensors_read(hit, &s, &e), ERR_INPUT);
    CHECK_HAS(e.text, "belong to no tensor");
    free(all);
    free(path);
    free(hit);
    remove_folder(folder);
}

TEST(files_of_other_programs_are_read)
{
    struct err e = {0};
    char *folder = make_folder(), *path = io_path(folder, "a");
    struct safetensors s;

    put_made_up(path,
                "{\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[4,7]},"
                "\"a\":{\"data_offsets\":[0,4],\"shape\":[1,1],\"dtype\":\"F32\"}}  ",
                0, 7);
    REQUIRE_OK(safetensors_read(path, &s, &e));
    CHECK(!s.sealed);
    CHECK_INT(s.tensors, 2);
    REQUIRE(safetensors_find(&s, "a"));
    CHECK_INT(safetensors_find(&s, "a")->dims, 2);
    CHECK_INT(((const uint8_t *)safetensors_find(&s, "b")->bytes)[2], 1);
    safetensors_free(&s);
    put_made_up(path, "{}", 0, 0);
    REQUIRE_OK(safetensors_read(path, &s, &e));
    CHECK_INT(s.tensors, 0);
    safetensors_free(&s);
    free(path);
    remove_folder(folder);
}

#define T_(name, rest) "\"" name "\":{\"dtype\":\"F32\"," rest "}"

TEST(hostile_headers_are_refused)
{
    static const struct {
        const char *header;
        uint64_t n;
        size_t data;
        const char *sentence;
    } bad[] = {
        {"{}", UINT64_MAX, 0, "its header would have"},
        {"{}", 1ull << 62, 0, "its header would have"},
        {"{}", 3, 0, "its header would have"},
        {"{}", 1, 9, "its header would have"},
        {"[]", 0, 0, "not a JSON object"},
        {"{\"a\":1}", 0, 0, "is not a tensor"},
        {"{", 2, 8, "not a safetensors file"},
        {"{} x", 0, 8, "not a safetensors file"},
        {"{" T_("a", "\"shape\":[2],\"data_offsets\":[0,8]") "}", 0, 9, "belong to no tensor"},
        {"{" T_("a", "\"shape\":[2],\"data_offsets\":[0,8]") "}", 0, 7, "does not lie within"},
        {"{" T_("a", "\"shape\":[1],\"data_offsets\":[4,8]") "}", 0, 8, "a gap in front of"},
        {"{" T_("a", "\"shape\":[2],\"data_offsets\":[0,8]") "," T_(
             "b", "\"shape\":[1],\"data_offsets\":[4,8]") "}",
         0, 8, "an overlap in front of"},
        {"{" T_("a", "\"shape\":[1],\"data_offsets\":[0,4]") "," T_(
             "b", "\"shape\":[1],\"data_offsets\":[8,12]") "}",
         0, 12, "a gap in front of"},
        {"{" T_("a", "\"shape\":[1],\"data_offsets\":[0,4]") "," T_(
             "a", "\"shape\":[1],\"data_offsets\":[4,8]") "}",
         0, 8, "twice"},
        {"{" T_("a", "\"shape\":[3],\"data_offsets\":[0,8]") "}", 0, 8, "do not make"},
        {"{" T_("a", "\"shape\":[4611686018427387906],\"data_offsets\":[0,8]") "}", 0, 8,
         "do not make"},
        {"{" T_("a", "\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]") "}", 0, 0,
         "do not make"},
        {"{" T_("a", "\"shape\":[18446744073709551616],\"data_offsets\":[0,8]") "}", 0, 8,
         "whole numbers"},
        {"{" T_("a", "\"shape\":[-2],\"data_offsets\":[0,8]") "}", 0, 8, "whole numbers"},
        {"{" T_("a", "\"shape\":[2.0],\"data_offsets\":[0,8]") "}", 0, 8, "whole numbers"},
        {"{" T_("a", "\"shape\":[\"2\"],\"data_offsets\":[0,8]") "}", 0, 8, "whole numbers"},
        {"{" T_("a", "\"shape\":2,\"data_offsets\":[0,8]") "}", 0, 8, "has no shape"},
        {"{" T_("a", "\"shape\":[1,1,1,1,1,1,1,1,2],\"data_offsets\":[0,8]") "}", 0, 8,
         "more than 8 dimensions"},
        {"{" T_("a", "\"shape\":[2],\"data_offsets\":[8,0]") "}", 0, 8, "does not lie within"},
        {"{" T_("a", "\"shape\":[2],\"data_offsets\":[0]") "}", 0, 8, "does not lie within"},
        {"{" T_("a", "\"shape\":[2],\"data_offsets\":[0,8,8]") "}", 0, 8, "does not lie within"},
        {"{" T_("a", "\"shape\":[2],\"data_offsets\":[0,18446744073709551615]") "}", 0, 8,
         "does not lie within"},
        {"{" T_("a", "\"shape\":[2]") "}", 0, 8, "dtype, shape and data_offsets"},
        {"{" T_("a", "\"shape\":[2],\"data_offsets\":[0,8],\"x\":1") "}", 0, 8, "nothing else"},
        {"{\"a\":{\"dtype\":\"BF16\",\"shape\":[4],\"data_offsets\":[0,8]}}", 0, 8, "is BF16"},
        {"{\"a\":{\"dtype\":5,\"shape\":[4],\"data_offsets\":[0,8]}}", 0, 8, "dtype, shape"},
        {"{\"__metadata__\":[]}", 0, 0, "not an object"},
        {"{\"__metadata__\":{\"a\":1}}", 0, 0, "is not a text"},
        {"{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0, 0, "twice"},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, 0, "twice"},
    };
    struct err e = {0};
    char *folder = make_folder(), *path = io_path(folder, "a");
    struct safetensors s;
    struct text deep = {0}, name = {0};

    for (size_t i = 0; i < MEM_COUNT(bad); i++) {
        put_made_up(path, bad[i].header, bad[i].n, bad[i].data);
        if (safetensors_read(path, &s, &e) == ERR_OK) {
            TEST_FAILED("believed: %s", bad[i].header);
            safetensors_free(&s);
            continue;
        }
        CHECK_INT(e.code, ERR_INPUT);
        if (!strstr(e.text, bad[i].sentence))
            TEST_FAILED("%s: \"%s\" is without \"%s\"", bad[i].header, e.text, bad[i].sentence);
    }
    for (int i = 0; i < 100000; i++)
        text_add(&deep, "[");
    put_made_up(path, deep.s, 0, 8);
    CHECK_INT(safetensors_read(path, &s, &e), ERR_INPUT);
    for (int i = 0; i < 128; i++)
        text_add(&name, "n");
    text_clear(&deep);
    text_addf(&deep, "{\"%s\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", name.s);
    put_made_up(path, deep.s, 0, 1);
    CHECK_INT(safetensors_read(path, &s, &e), ERR_INPUT);
    CHECK_HAS(e.text, "longer than 127 bytes");
    text_free(&deep);
    text_free(&name);
    free(path);
    remove_folder(folder);
}

TEST(what_is_no_file_is_not_read)
{
    struct err e = {0};
    char *folder = make_folder(), *path = io_path(folder, "fifo");
    struct safetensors s;

    REQUIRE(mkfifo(path, 0600) == 0);
    CHECK_INT(safetensors_read(path, &s, &e), ERR_INPUT); /* and does not wait for a writer */
    CHECK_HAS(e.text, "not a regular file");
    CHECK_INT(safetensors_write(folder, sample, 1, NULL, 0, &e), ERR_IO);
    CHECK_INT(safetensors_read(folder, &s, &e), ERR_INPUT);
    CHECK_INT(files_in(folder), 1);
    free(path);
    path = io_path(folder, "missing");
    CHECK_INT(safetensors_read(path, &s, &e), ERR_INPUT);
    CHECK_HAS(e.text, path);
    free(path);
    path = io_path(folder, "no/such/folder");
    CHECK_INT(safetensors_write(path, sample, 1, NULL, 0, &e), ERR_IO);
    CHECK_HAS(e.text, path);
    free(path);
    remove_folder(folder);
}

TEST(tensors_that_cannot_be_written_are_refused)
{
    struct err e = {0};
    char *folder = make_folder(), *path = io_path(folder, "a");
    struct safetensors_tensor twice[2] = {sample[0], sample[0]};
    struct safetensors_tensor huge = {
        .name = "a", .type = SAFETENSORS_F64, .dims = 2, .shape = {SIZE_MAX, 3}, .bytes = doubles};

    CHECK_INT(safetensors_write(path, twice, 2, NULL, 0, &e), ERR_FAILED);
    CHECK_HAS(e.text, "twice");
    CHECK_INT(safetensors_write(path, &huge, 1, NULL, 0, &e), ERR_FAILED);
    CHECK_INT(files_in(folder), 0);
    free(path);
    remove_folder(folder);
}
