/* Decoded data sets, kept in a folder of the user's: what took a second to unpack is mapped the next
 * time, and shared by all who train on it. Nothing depends on it: whatever is wrong with the folder or
 * a file, the set is decoded as if there were none.
 *
 * A file: struct head; the names of classes and of a table's columns, each ended by a 0; training
 * images, training labels, test images, test labels. Every section starts at a multiple of 64 bytes,
 * zeros in between. It is named after where the set comes from and so replaces the one of an earlier state of
 * these files; the key in its head says of which state it is. It is written under another name, renamed, and
 * never touched again. */
#include "data/folder_int.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VERSION 2
#define ORDER   0x01020304u
#define ALIGN   64
/* All files together, the newest first; none takes more than half of it. */
#define FOLDER_MAX ((uint64_t)2 << 30)
#define FILE_MAX   (FOLDER_MAX / 2)
#define NAME       27 /* "data-0123456789abcdef.cache" */

static const char magic[8] = "chorus\r\n";

struct head {
    char magic[8];
    uint32_t order, version; /* order: as the machine that wrote it keeps its numbers */
    uint64_t sum;            /* of this head with 0 here */
    uint64_t content;        /* sum of all that follows */
    uint64_t size;           /* of the file */
    uint8_t key[32];
    int32_t h, w, c, classes;
    uint64_t width;       /* bytes of a value: 1, or 8 for doubles */
    uint64_t train, test; /* images */
    uint64_t names;       /* bytes of the names of classes and columns, 0 for none */
    char checksum[72];    /* data_set's, of all images; terminated */
};
_Static_assert(sizeof(struct head) % ALIGN == 0, "the sections follow the head");

enum { NAMES, TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS, SECTIONS };

/* Eight words at a time, each into a chain of its own, so that memory and not the multiplier is what
 * it waits for. A changed word always changes its chain: every step can be undone. n is a multiple of
 * 64. */
static uint64_t sum_add(uint64_t sum[8], const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    uint64_t a[8], h = 0;

    memcpy(a, sum, sizeof a);
    for (size_t k = 0; k < n; k += 64) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            uint64_t word;

            memcpy(&word, at + k + 8 * i, 8);
            a[i] = (a[i] ^ word) * 0x9e3779b97f4a7c15u;
            a[i] ^= a[i] >> 29;
        }
    }
    memcpy(sum, a, sizeof a);
    for (int i = 0; i < 8; i++) {
        h = (h ^ a[i]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

static void sum_start(uint64_t sum[8])
{
    for (uint64_t i = 0; i < 8; i++)
        sum[i] = (i + 1) * 0xbf58476d1ce4e5b9u;
}

static uint64_t sum_of_head(const struct head *head)
{
    struct head h = *head;
    uint64_t sum[8];

    h.sum = 0;
    sum_start(sum);
    return sum_add(sum, &h, sizeof h);
}

/* Where the sections start, and behind them where the file ends. */
static bool lay_out(const struct head *h, uint64_t at[SECTIONS + 1])
{
    uint64_t size[SECTIONS] = {h->names}, image = h->width;

    if ((h->width != 1 && h->width != 8) || h->h < 1 || h->w < 1 || h->c < 1 || h->names > FILE_MAX)
        return false;
    if (__builtin_mul_overflow(image, (uint64_t)h->h, &image) ||
        __builtin_mul_overflow(image, (uint64_t)h->w, &image) ||
        __builtin_mul_overflow(image, (uint64_t)h->c, &image) ||
        __builtin_mul_overflow(image, h->train, &size[TRAIN_IMAGES]) ||
        __builtin_mul_overflow(image, h->test, &size[TEST_IMAGES]) ||
        size[TRAIN_IMAGES] > FILE_MAX || size[TEST_IMAGES] > FILE_MAX)
        return false;
    size[TRAIN_LABELS] = h->train * sizeof(uint16_t);
    size[TEST_LABELS] = h->test * sizeof(uint16_t);
    at[0] = sizeof *h;
    for (int i = 0; i < SECTIONS; i++)
        at[i + 1] = (at[i] + size[i] + ALIGN - 1) / ALIGN * ALIGN;
    return at[SECTIONS] <= FILE_MAX;
}

/* Two writes of a file may carry one time, so whoever was changed just now may change again without
 * showing it. Kernels count in steps of 10 ms at most; times without a fraction come from file systems
 * that count in seconds. */
bool data_cache_is_settled(const struct stat *st)
{
    double age = clock_wall() - ((double)st->st_ctim.tv_sec + (double)st->st_ctim.tv_nsec * 1e-9);

    return age > (st->st_ctim.tv_nsec % 1000000 == 0 ? 3 : 0.03);
}

/* Adds a file to the texts of the name and of the key. */
static bool add_file(struct data_cache *cache, struct text *name, struct text *key,
                     const char *path)
{
    char *real = realpath(path, NULL);
    struct stat st;
    bool there = real && io.stat(real, &st) == 0;

    if (there) {
        text_add_n(name, real, strlen(real) + 1);
        text_addf(key, "size %lld inode %llu written %lld.%09ld changed %lld.%09ld\n",
                  (long long)st.st_size, (unsigned long long)st.st_ino,
                  (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec,
                  st.st_ctim.tv_nsec);
        cache->settled &= data_cache_is_settled(&st);
    }
    free(real);
    return there;
}

static void digest_of(const struct text *t, uint8_t out[32])
{
    struct hash_sha256 h;

    hash_sha256_start(&h);
    hash_sha256_add(&h, t->s, t->n);
    hash_sha256_end(&h, out);
}

/* The state of its files was taken when they were listed. */
static bool add_folder(struct data_cache *cache, struct text *name, struct text *key,
                       const struct data_found *found)
{
    char *real = realpath(found->folder, NULL);
    bool there = real && found->folder_list;

    if (there) {
        text_add_n(name, real, strlen(real) + 1);
        text_add_n(key, found->folder_list->state, sizeof found->folder_list->state);
        cache->settled &= found->folder_list->settled;
    }
    free(real);
    return there;
}

bool data_cache_find(struct data_cache *cache, const struct data_found *found,
                     struct net_shape wanted)
{
    struct text name = {0}, key = {0};
    uint8_t digest[32];
    char hex[17];
    bool there = true;

    *cache = (struct data_cache){.folder = io_cache_folder(), .settled = true};
    if (!cache->folder)
        return false;
    if (found->kind == DATA_IDX) {
        text_addf(&name, "idx %s\n", found->known ? found->known->name : "");
        for (int i = 0; i < DATA_FILES; i++)
            there = there && add_file(cache, &name, &key, found->files.path[i]);
    } else if (found->kind == DATA_FOLDER) { /* what is asked for is what they are scaled to */
        text_addf(&name, "pictures %d %d %d\n", wanted.h, wanted.w, wanted.c);
        there = add_folder(cache, &name, &key, found);
    } else { /* what is asked for decides how rows are read */
        text_addf(&name, "csv, whole labels %d %d %d\n", wanted.h, wanted.w, wanted.c);
        there = add_file(cache, &name, &key, found->train) &&
                (!found->test || add_file(cache, &name, &key, found->test));
    }
    digest_of(&name, digest);
    hash_hex(hex, digest, 8);
    cache->path = mem_textf("%s/data-%s.cache", cache->folder, hex);
    text_add_n(&key, name.s, name.n);
    digest_of(&key, cache->key);
    text_free(&name);
    text_free(&key);
    if (!there)
        data_cache_free(cache);
    return there;
}

void data_cache_free(struct data_cache *cache)
{
    free(cache->folder);
    free(cache->path);
    *cache = (struct data_cache){0};
}

void data_map_free(struct data_map *map)
{
    if (map)
        io_unmap(map->at, map->size, map->mapped);
    free(map);
}

/* What stands in the head is taken for true only if it is ours, whole, of this state of the source,
 * and the file is as long as it says. */
static bool read_head(const struct data_cache *cache, int fd, struct head *head)
{
    uint64_t at[SECTIONS + 1];
    struct stat st;

    return io.fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
           !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
           io.read(fd, head, sizeof *head) == (ssize_t)sizeof *head &&
           !memcmp(head->magic, magic, sizeof magic) && head->order == ORDER &&
           head->version == VERSION && head->sum == sum_of_head(head) &&
           !memcmp(head->key, cache->key, sizeof head->key) && lay_out(head, at) &&
           at[SECTIONS] == head->size && (uint64_t)st.st_size == head->size && head->classes >= 2 &&
           head->classes <= DATA_CLASSES_MAX + 1 && head->train > 0 &&
           head->checksum[sizeof head->checksum - 1] == 0;
}

/* So many of those between *names and end; NULL: there are not so many. */
static char **take_some(const char **names, const char *end, size_t count)
{
    char **to = mem_new(count, sizeof *to);

    for (size_t i = 0; i < count; i++) {
        size_t left = (size_t)(end - *names), length = strnlen(*names, left);

        if (length == left) {
            data_free_names(to, i);
            return NULL;
        }
        to[i] = mem_text_n(*names, length);
        *names += length + 1;
    }
    return to;
}

static bool take_names(struct data_raw *raw, const char *names, size_t n)
{
    const char *end = names + n;

    if (n == 0)
        return true;
    raw->class_names = take_some(&names, end, (size_t)raw->classes);
    if (raw->class_names && names < end)
        raw->column_names = take_some(&names, end, data_values(raw->shape));
    return raw->class_names && names == end;
}

static bool labels_fit(const struct data_raw_part *part, int classes)
{
    int most = 0;

    for (size_t i = 0; i < part->count; i++)
        most = part->labels[i] > most ? part->labels[i] : most;
    return most < classes;
}

static void take_part(struct data_raw_part *part, char *images, char *labels, size_t width)
{
    part->mapped = true;
    if (width == 1)
        part->bytes = (uint8_t *)images;
    else
        part->numbers = (double *)(void *)images;
    part->labels = (uint16_t *)(void *)labels;
}

static bool take_content(struct data_raw *raw, const struct head *head, int fd)
{
    struct data_map *map = raw->map = mem_new(1, sizeof *map);
    uint64_t at[SECTIONS + 1], sum[8];
    char *base;

    map->size = (size_t)head->size;
    map->at = io_map(fd, map->size, &map->mapped);
    base = map->at;
    sum_start(sum);
    if (!base || !lay_out(head, at) || memcmp(base, head, sizeof *head) != 0 ||
        sum_add(sum, base + sizeof *head, map->size - sizeof *head) != head->content)
        return false;
    take_part(&raw->train, base + at[TRAIN_IMAGES], base + at[TRAIN_LABELS], head->width);
    take_part(&raw->test, base + at[TEST_IMAGES], base + at[TEST_LABELS], head->width);
    memcpy(raw->checksum, head->checksum, sizeof raw->checksum);
    return labels_fit(&raw->train, raw->classes) && labels_fit(&raw->test, raw->classes) &&
           take_names(raw, base + at[NAMES], (size_t)head->names);
}

/* The newest are kept: being used makes it new, once an hour. */
static void mark_used(int fd)
{
    struct stat st;

    if (io.fstat(fd, &st) == 0 && clock_wall() - (double)st.st_mtim.tv_sec > 3600)
        futimens(fd, NULL);
}

bool data_cache_open(const struct data_cache *cache, struct data_raw *raw, bool peek)
{
    int fd = io.open(cache->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
    struct head head;
    bool good;

    *raw = (struct data_raw){0};
    if (fd < 0)
        return false;
    good = read_head(cache, fd, &head);
    if (good) {
        raw->shape = (struct net_shape){head.h, head.w, head.c};
        raw->bytes = head.width == 1;
        raw->classes = head.classes;
        raw->train.count = raw->train.all = (size_t)head.train;
        raw->test.count = raw->test.all = (size_t)head.test;
        good = peek || take_content(raw, &head, fd);
    }
    if (good && !peek)
        mark_used(fd);
    io.close(fd);
    if (!good)
        data_raw_free(raw);
    return good;
}

/* A folder of ours, made where only its last part or two are missing: a home that is not there is
 * nobody's home. */
static bool make_folder(const char *folder)
{
    char *above = io_folder_of(folder);
    struct stat st;

    if (io.mkdir(folder, 0700) && errno == ENOENT && io.mkdir(above, 0700) == 0)
        (void)io.mkdir(folder, 0700);
    free(above);
    return io.stat(folder, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

struct kept {
    char *path;
    uint64_t size;
    double used;
};

static int newest_first(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;

    return (x->used < y->used) - (x->used > y->used);
}

/* "data-0123456789abcdef.cache" and whatever follows */
static bool name_is_ours(const char *name)
{
    size_t n = strlen(name);

    return n >= NAME && !memcmp(name, "data-", 5) && strspn(name + 5, "0123456789abcdef") == 16 &&
           !memcmp(name + 21, ".cache", 6);
}

/* Removes the longest unused beyond what may lie here, and what writers left that were killed. */
static void prune(const char *folder)
{
    char **names;
    size_t count, n = 0;
    uint64_t total = 0;
    struct kept *kept;

    if (io_list_folder(folder, &names, &count, NULL) != ERR_OK)
        return;
    kept = mem_new(count, sizeof *kept);
    for (size_t i = 0; i < count; i++) {
        struct stat st;
        char *path;

        if (!name_is_ours(names[i]))
            continue;
        path = io_path(folder, names[i]);
        if (io.stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
            double used = (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec * 1e-9;

            if (names[i][NAME] == 0)
                kept[n++] = (struct kept){mem_text(path), (uint64_t)st.st_size, used};
            else if (!strncmp(names[i] + NAME, ".tmp-", 5) && clock_wall() - used > 600)
                io.unlink(path);
        }
        free(path);
    }
    qsort(kept, n, sizeof *kept, newest_first);
    for (size_t i = 0; i < n; i++) {
        total += kept[i].size;
        if (total > FOLDER_MAX)
            io.unlink(kept[i].path);
        free(kept[i].path);
    }
    free(kept);
    io_free_names(names, count);
}

/* What goes into the file: the head and the sections. */
struct content {
    struct head head;
    struct text names;
    const void *of[SECTIONS];
    size_t size[SECTIONS];
};

static bool make_content(struct content *c, const struct data_cache *cache,
                         const struct data_raw *raw)
{
    const struct data_raw_part *parts[2] = {&raw->train, &raw->test};
    size_t width = raw->bytes ? 1 : sizeof(double);
    uint64_t at[SECTIONS + 1], sum[8];

    *c = (struct content){.head = {.order = ORDER,
                                   .version = VERSION,
                                   .h = raw->shape.h,
                                   .w = raw->shape.w,
                                   .c = raw->shape.c,
                                   .classes = raw->classes,
                                   .width = width,
                                   .train = raw->train.count,
                                   .test = raw->test.count}};
    memcpy(c->head.magic, magic, sizeof magic);
    memcpy(c->head.key, cache->key, sizeof c->head.key);
    memcpy(c->head.checksum, raw->checksum, sizeof raw->checksum);
    for (int i = 0; raw->class_names && i < raw->classes; i++)
        text_add_n(&c->names, raw->class_names[i], strlen(raw->class_names[i]) + 1);
    for (size_t i = 0; raw->class_names && raw->column_names && i < data_values(raw->shape); i++)
        text_add_n(&c->names, raw->column_names[i], strlen(raw->column_names[i]) + 1);
    c->of[NAMES] = c->names.s;
    c->size[NAMES] = c->head.names = c->names.n;
    if (!lay_out(&c->head, at))
        return false;
    c->head.size = at[SECTIONS];
    for (int i = 0; i < 2; i++) {
        const struct data_raw_part *p = parts[i];

        c->of[TRAIN_IMAGES + 2 * i] = p->bytes ? (const void *)p->bytes : p->numbers;
        c->size[TRAIN_IMAGES + 2 * i] =
            p->count * width * (size_t)raw->shape.h * (size_t)raw->shape.w * (size_t)raw->shape.c;
        c->of[TRAIN_LABELS + 2 * i] = p->labels;
        c->size[TRAIN_LABELS + 2 * i] = p->count * sizeof *p->labels;
    }
    sum_start(sum);
    for (int i = 0; i < SECTIONS; i++) {
        size_t whole = c->size[i] / ALIGN * ALIGN, rest = c->size[i] - whole;
        uint8_t last[ALIGN] = {0};

        if (whole)
            c->head.content = sum_add(sum, c->of[i], whole);
        if (rest) {
            memcpy(last, (const char *)c->of[i] + whole, rest);
            c->head.content = sum_add(sum, last, ALIGN);
        }
    }
    c->head.sum = sum_of_head(&c->head);
    return true;
}

static bool write_content(int fd, const struct content *c, const char *path)
{
    static const uint8_t zeros[ALIGN];
    bool good = io_write_all(fd, &c->head, sizeof c->head, path, NULL) == ERR_OK;

    for (int i = 0; i < SECTIONS && good; i++) {
        size_t rest = c->size[i] % ALIGN;

        good = io_write_all(fd, c->of[i], c->size[i], path, NULL) == ERR_OK &&
               io_write_all(fd, zeros, rest ? ALIGN - rest : 0, path, NULL) == ERR_OK;
    }
    return good;
}

bool data_cache_store(const struct data_cache *cache, const struct data_raw *raw)
{
    static atomic_uint serial;
    struct content c;
    char *temporary;
    bool good = make_content(&c, cache, raw) && make_folder(cache->folder);
    int fd;

    if (!good) {
        text_free(&c.names);
        return false;
    }
    temporary = mem_textf("%s.tmp-%ld-%u-%llx", cache->path, (long)getpid(),
                          atomic_fetch_add(&serial, 1), (unsigned long long)clock_ns());
    fd = io.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    good = fd >= 0 && write_content(fd, &c, temporary);
    /* Not synced: what a power cut leaves half is noticed by its sum. */
    if (fd >= 0 && io.close(fd))
        good = false;
    good = good && io.rename(temporary, cache->path) == 0;
    if (good)
        prune(cache->folder);
    else if (fd >= 0)
        io.unlink(temporary);
    text_free(&c.names);
    free(temporary);
    return good;
}

uint64_t data_cache_most(void)
{
    return FILE_MAX;
}
