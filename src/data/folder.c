/* A folder of pictures by class: which pictures of which classes are for training and for testing, and
 * in which order. The names alone are looked at here.
 *
 * The order mixes the classes evenly, each sorted by the names of its files: any first part of it, and
 * any last one, has all of them in proportion. */
#include "data/folder_int.h"

#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static const char *const readable[] = {".png", ".pgm", ".ppm", ".pnm", NULL};
static const char *const others[] = {".jpg", ".jpeg", ".bmp",  ".gif",  ".tif", ".tiff",
                                     ".pbm", ".webp", ".heic", ".avif", NULL};

static bool ends_in(const char *name, const char *const *endings)
{
    while (*endings && !text_has_ending_any_case(name, *endings))
        endings++;
    return *endings;
}

bool data_is_picture(const char *path)
{
    return ends_in(path, readable) || ends_in(path, others);
}

static bool is_picture(const char *name)
{
    return name[0] != '.' && data_is_picture(name);
}

bool data_folder_has_pictures(const char *path)
{
    char **names;
    size_t count;
    bool any = false;

    if (io_list_folder(path, &names, &count, NULL) != ERR_OK)
        return false;
    for (size_t i = 0; i < count && !any; i++)
        any = is_picture(names[i]);
    io_free_names(names, count);
    return any;
}

bool data_folder_has_classes(const char *path, int depth)
{
    char **names;
    size_t count;
    bool any = false;

    if (io_list_folder(path, &names, &count, NULL) != ERR_OK)
        return false;
    for (size_t i = 0; i < count && !any; i++) {
        char *inner = io_path(path, names[i]);

        any = names[i][0] != '.' && io_is_folder(inner) &&
              (data_folder_has_pictures(inner) ||
               (depth > 1 && data_folder_has_classes(inner, depth - 1)));
        free(inner);
    }
    io_free_names(names, count);
    return any;
}

/* ---- what is for training, what for testing ---- */

/* The first of them that is there is the test set. */
static void find_test(struct data_found *found, struct text *note)
{
    static const char *const names[] = {"test", "val", "valid"};
    const char *taken = NULL;

    for (size_t i = 0; i < MEM_COUNT(names); i++) {
        char *path = io_path(found->folder, names[i]);

        if (io_is_folder(path) && taken) {
            text_addf(note, "%s%s/ is not read beside %s/", note->n ? "; " : "", names[i], taken);
        } else if (io_is_folder(path)) {
            taken = names[i];
            found->test = mem_text(path);
            if (i > 0)
                text_addf(note, "%s/ is the test set, as there is no test/", taken);
        }
        free(path);
    }
    if (!taken)
        text_add(note, "as there is no test/ beside train/, the last sixth of the pictures is the "
                       "test set");
}

void data_folder_find(struct data_found *found, const char *path)
{
    char *train = io_path(path, "train");
    struct text note = {0};

    found->kind = DATA_FOLDER;
    found->folder = mem_text(path);
    if (data_folder_has_classes(train, 1)) {
        found->train = train;
        find_test(found, &note);
    } else {
        free(train);
        found->train = mem_text(path);
        text_add(&note, "as there are no train/ and test/, the last sixth of the pictures is the "
                        "test set");
    }
    found->note = note.s;
}

/* ---- listing ---- */

static enum err_code refuse(const char *path, struct err *e, const char *why)
{
    return err_set(e, ERR_INPUT, "%s %s", path, why);
}

static enum err_code list_names(struct data_folder *f, const char *path, char ***names,
                                size_t *count, struct err *e)
{
    f->listed = mem_grow(f->listed, &f->listed_room, f->listed_count + 1, sizeof *f->listed);
    f->listed[f->listed_count++] = mem_text(path);
    return io_list_folder(path, names, count, e);
}

static void skip(struct data_folder *f, const char *path)
{
    if (!f->skipped++)
        f->first_skipped = mem_text(path);
}

static void add_picture(struct data_folder_part *part, const char *path, size_t class)
{
    part->file = mem_grow(part->file, &part->room, part->count + 1, sizeof *part->file);
    part->file[part->count++] =
        (struct data_folder_file){.path = mem_text(path), .class = (uint16_t) class};
}

static enum err_code take_entry(struct data_folder *f, struct data_folder_part *part, size_t class,
                                const char *name, const char *path, struct err *e)
{
    if (name[0] == '.')
        skip(f, path);
    else if (ends_in(name, readable))
        add_picture(part, path, class);
    else if (ends_in(name, others))
        return refuse(path, e,
                      "is no PNG, PGM or PPM, and no other pictures can be read: keep them all as "
                      "PNG in folders of their own (ImageMagick's mogrify -format png makes them)");
    else if (io_is_folder(path))
        return refuse(path, e,
                      "is a folder in the folder of a class, whose pictures stand in it "
                      "themselves: move them there (parts of a set are named train and test)");
    else
        skip(f, path);
    return ERR_OK;
}

static enum err_code list_class(struct data_folder *f, struct data_folder_part *part,
                                const char *folder, size_t class, struct err *e)
{
    size_t first = part->count, count;
    char **names;
    enum err_code code = ERR_OK;

    TRY(list_names(f, folder, &names, &count, e));
    for (size_t i = 0; i < count && code == ERR_OK; i++) {
        char *path = io_path(folder, names[i]);

        code = take_entry(f, part, class, names[i], path, e);
        free(path);
    }
    io_free_names(names, count);
    TRY(code);
    if (part->count == first)
        return refuse(folder, e,
                      "is the folder of a class and has no pictures, PNG, PGM or PPM: put some "
                      "into it, or take it away");
    for (size_t i = first; i < part->count; i++) {
        part->file[i].rank = (uint32_t)(i - first);
        part->file[i].of = (uint32_t)(part->count - first);
    }
    return ERR_OK;
}

static bool has_control(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ' || *name == 127)
            return true;
    return false;
}

/* The folders in a folder but hidden ones, sorted by bytes. */
static enum err_code list_classes(struct data_folder *f, const char *folder, char ***classes,
                                  size_t *count, struct err *e)
{
    char **names;
    size_t all, n = 0;
    enum err_code code = ERR_OK;

    *classes = NULL;
    *count = 0;
    TRY(list_names(f, folder, &names, &all, e));
    for (size_t i = 0; i < all; i++) {
        char *path = io_path(folder, names[i]);

        if (names[i][0] == '.' || !io_is_folder(path)) {
            skip(f, path);
            free(names[i]);
        } else {
            if (code == ERR_OK && has_control(names[i]))
                code = refuse(path, e,
                              "is the folder of a class and has a control character in its name: "
                              "rename it");
            names[n++] = names[i];
        }
        free(path);
    }
    *classes = names;
    *count = n;
    return code;
}

/* The name that one of two sorted lists has and the other lacks; NULL: they are the same. */
static const char *lacking(char *const *a, size_t n, char *const *b, size_t m)
{
    for (size_t i = 0, k = 0; i < n; i++, k++) {
        while (k < m && strcmp(b[k], a[i]) < 0)
            k++;
        if (k == m || strcmp(b[k], a[i]) > 0)
            return a[i];
    }
    return NULL;
}

static enum err_code same_classes(const struct data_folder *f, char *const *test, size_t count,
                                  const struct data_found *found, struct err *e)
{
    const char *missing = lacking(f->classes, f->count, test, count);
    const char *extra = lacking(test, count, f->classes, f->count);

    if (!missing && !extra)
        return ERR_OK;
    return err_set(e, ERR_INPUT, "%s has no class %s, which %s has: both need the same folders",
                   missing ? found->test : found->train, missing ? missing : extra,
                   missing ? found->train : found->test);
}

static enum err_code list_part(struct data_folder *f, struct data_folder_part *part,
                               const char *folder, struct err *e)
{
    enum err_code code = ERR_OK;

    for (size_t i = 0; i < f->count && code == ERR_OK; i++) {
        char *class = io_path(folder, f->classes[i]);

        code = list_class(f, part, class, i, e);
        free(class);
    }
    return code;
}

static enum err_code list_test(struct data_folder *f, const struct data_found *found, struct err *e)
{
    char **classes;
    size_t count;
    enum err_code code = list_classes(f, found->test, &classes, &count, e);

    if (code == ERR_OK)
        code = same_classes(f, classes, count, found, e);
    io_free_names(classes, count);
    return code == ERR_OK ? list_part(f, &f->test, found->test, e) : code;
}

/* Picture i of n stands at (i + 1/2) / n of the whole. */
static int mixed_order(const void *a, const void *b)
{
    const struct data_folder_file *x = a, *y = b;
    uint64_t i = (2 * (uint64_t)x->rank + 1) * y->of, k = (2 * (uint64_t)y->rank + 1) * x->of;

    return i != k ? (i > k) - (i < k) : (x->class > y->class) - (x->class < y->class);
}

static void mix(struct data_folder_part *part)
{
    if (part->count)
        qsort(part->file, part->count, sizeof *part->file, mixed_order);
}

/* The last sixth, as of a single CSV file. */
static void split_off(struct data_folder *f)
{
    size_t held = f->train.count < 12 ? 1 : f->train.count / 6;

    f->test.file = mem_new(held, sizeof *f->test.file);
    f->test.count = f->test.room = held;
    f->train.count -= held;
    memcpy(f->test.file, f->train.file + f->train.count, held * sizeof *f->test.file);
}

static enum err_code list_all(struct data_folder *f, const struct data_found *found, struct err *e)
{
    TRY(list_classes(f, found->train, &f->classes, &f->count, e));
    if (f->count < 2)
        return refuse(found->train, e,
                      "has one folder of a class; a model needs two to tell apart");
    if (f->count > DATA_CLASSES_MAX)
        return refuse(found->train, e, "has more than 65535 folders of classes");
    TRY(list_part(f, &f->train, found->train, e));
    if (found->test)
        TRY(list_test(f, found, e));
    if (f->train.count + f->test.count > DATA_COUNT_MAX / 2)
        return refuse(found->folder, e, "has more pictures than can be told apart");
    mix(&f->train);
    mix(&f->test);
    if (!found->test)
        split_off(f);
    return ERR_OK;
}

/* ---- whether it is as it was ---- */

static void add_state(struct hash_sha256 *h, const char *path, const char *root, bool *settled)
{
    const char *name = path + strlen(root);
    struct stat st;

    while (*name == '/')
        name++;
    hash_sha256_add(h, name, strlen(name) + 1);
    if (io.stat(path, &st) == 0) {
        const int64_t was[] = {st.st_size,         (int64_t)st.st_ino, st.st_mtim.tv_sec,
                               st.st_mtim.tv_nsec, st.st_ctim.tv_sec,  st.st_ctim.tv_nsec};

        hash_sha256_add(h, was, sizeof was);
        *settled &= data_cache_is_settled(&st);
    }
}

static void state_of(const struct data_folder *f, const char *root, uint8_t out[32], bool *settled)
{
    const struct data_folder_part *parts[] = {&f->train, &f->test};
    struct hash_sha256 h;

    *settled = true;
    hash_sha256_start(&h);
    for (size_t i = 0; i < f->listed_count; i++)
        add_state(&h, f->listed[i], root, settled);
    for (int p = 0; p < 2; p++)
        for (size_t i = 0; i < parts[p]->count; i++)
            add_state(&h, parts[p]->file[i].path, root, settled);
    hash_sha256_end(&h, out);
}

bool data_folder_is_same(const struct data_folder *f, const char *root)
{
    uint8_t now[32];
    bool settled;

    state_of(f, root, now, &settled);
    return !memcmp(now, f->state, sizeof now);
}

static void note_skipped(struct data_found *found, const struct data_folder *f)
{
    struct text t = {0};
    char number[TEXT_NUMBER_ROOM];

    if (!f->skipped)
        return;
    text_addf(&t, "%s%s%s file%s that %s no picture%s or hidden %s left out: %s%s",
              found->note ? found->note : "", found->note ? "; " : "",
              text_count(number, f->skipped), text_s(f->skipped), f->skipped == 1 ? "is" : "are",
              text_s(f->skipped), f->skipped == 1 ? "is" : "are", TEXT_CLEAN(f->first_skipped),
              f->skipped == 1 ? "" : " is the first");
    free(found->note);
    found->note = t.s;
}

enum err_code data_folder_list(struct data_found *found, struct err *e)
{
    struct data_folder *f = found->folder_list = mem_new(1, sizeof *f);
    enum err_code code = list_all(f, found, e);

    state_of(f, found->folder, f->state, &f->settled);
    if (code == ERR_OK)
        note_skipped(found, f);
    return code;
}

static void part_free(struct data_folder_part *part)
{
    for (size_t i = 0; i < part->count; i++)
        free(part->file[i].path);
    free(part->file);
}

void data_folder_free(struct data_folder *f)
{
    if (!f)
        return;
    io_free_names(f->classes, f->count);
    io_free_names(f->listed, f->listed_count);
    part_free(&f->train);
    part_free(&f->test);
    free(f->first_skipped);
    free(f);
}
