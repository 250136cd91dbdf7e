/* Where data sets are looked for, and what a value of the key `data` means on this machine. */
#include "data/places.h"

#include "data/folder_int.h"

#include "base/io.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define DEBIAN_DATASETS "/usr/share/datasets"

/* What file i holds, for messages. */
static const char *const file_words[DATA_FILES] = {"training images", "training labels",
                                                   "test images", "test labels"};

/* Test files are "t10k" in MNIST and its kin, "test" in some sets made later; dots instead of dashes
 * come from unpacking on systems that took "-idx3-ubyte" for a suffix. */
static const char *const stems[DATA_FILES][4] = {
    {"train-images", NULL},
    {"train-labels", NULL},
    {"t10k-images", "test-images", NULL},
    {"t10k-labels", "test-labels", NULL},
};
static const char *const endings[2][4] = {
    {"-idx3-ubyte", ".idx3-ubyte", "-idx4-ubyte", ".idx4-ubyte"},
    {"-idx1-ubyte", ".idx1-ubyte", NULL, NULL},
};

/* The path of what has a name of that file and is one, or is a folder; NULL: there is none. */
static char *file_find(const char *folder, int file, bool is_folder)
{
    const char *const *ending = endings[file == DATA_TRAIN_LABELS || file == DATA_TEST_LABELS];

    for (int s = 0; stems[file][s]; s++) {
        for (int k = 0; k < 4 && ending[k]; k++) {
            for (int gz = 0; gz < 2; gz++) {
                char *name = mem_textf("%s%s%s", stems[file][s], ending[k], gz ? ".gz" : "");
                char *path = io_path(folder, name);

                free(name);
                if (io_exists(path) && io_is_folder(path) == is_folder)
                    return path;
                free(path);
            }
        }
    }
    return NULL;
}

static void find_files(const char *folder, struct data_idx_files *files)
{
    for (int i = 0; i < DATA_FILES; i++)
        files->path[i] = file_find(folder, i, false);
}

static void free_files(struct data_idx_files *files)
{
    for (int i = 0; i < DATA_FILES; i++) {
        free(files->path[i]);
        files->path[i] = NULL;
    }
}

static int files_there(const struct data_idx_files *files)
{
    int there = 0;

    for (int i = 0; i < DATA_FILES; i++)
        there += files->path[i] != NULL;
    return there;
}

enum err_code data_place_of_user(const char *name, char **folder, struct err *e)
{
    const char *xdg = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");

    *folder = NULL;
    /* The specification of these folders: a relative path is to be ignored. */
    if (xdg && xdg[0] == '/')
        *folder = mem_textf("%s/chorus/%s", xdg, name);
    else if (home && home[0] == '/')
        *folder = mem_textf("%s/.local/share/chorus/%s", home, name);
    else
        return err_set(
            e, ERR_INPUT,
            "no folder for data sets: neither XDG_DATA_HOME nor HOME is set; set one, or "
            "give --data-dir DIR");
    return ERR_OK;
}

static const char *last_part(const char *path, size_t *n)
{
    size_t end = strlen(path), start;

    while (end > 1 && path[end - 1] == '/')
        end--;
    for (start = end; start > 0 && path[start - 1] != '/'; start--)
        ;
    *n = end - start;
    return path + start;
}

void data_places_list(const char *name, const struct data_places *places, char ***folders,
                      size_t *count)
{
    char *user;

    *folders = mem_new(4, sizeof **folders);
    *count = 0;
    if (places && places->given && places->given[0]) {
        size_t n;
        const char *last = last_part(places->given, &n);

        (*folders)[(*count)++] = io_path(places->given, name);
        /* DIR may be the set's own folder, but only if it says so: any other would be taken for a
         * set that it is not. */
        if (n == strlen(name) && !memcmp(last, name, n))
            (*folders)[(*count)++] = mem_text(places->given);
    }
    (*folders)[(*count)++] = mem_textf(DEBIAN_DATASETS "/%s", name);
    if (data_place_of_user(name, &user, NULL) == ERR_OK)
        (*folders)[(*count)++] = user;
}

static enum err_code find_known(struct data_found *found, const struct data_known *known,
                                const struct data_places *places, struct err *e)
{
    struct text looked = {0}, parts = {0};
    char **folders;
    size_t count;

    data_places_list(known->name, places, &folders, &count);
    for (size_t i = 0; i < count; i++) {
        struct data_idx_files files;

        find_files(folders[i], &files);
        if (files_there(&files) == DATA_FILES) {
            found->kind = DATA_IDX;
            found->known = known;
            found->folder = mem_text(folders[i]);
            found->files = files;
            break;
        }
        text_addf(&looked, "%s%s", i ? ", " : "", folders[i]);
        if (files_there(&files) > 0) {
            for (int f = 0; f < DATA_FILES; f++)
                if (!files.path[f])
                    text_addf(&parts, "; %s lacks the %s", folders[i], file_words[f]);
        }
        free_files(&files);
    }
    if (!found->folder) {
        err_set(e, ERR_INPUT,
                "data set %s is not here (looked in %s%s): %s%s%schorus data fetch %s", known->name,
                text_str(&looked), text_str(&parts), known->package ? "apt install " : "",
                known->package ? known->package : "", known->package ? " or " : "", known->name);
    }
    io_free_names(folders, count);
    text_free(&looked);
    text_free(&parts);
    return found->folder ? ERR_OK : ERR_INPUT;
}

/* The first CSV file of a folder, which may be what was meant; NULL: it has none. */
static char *csv_in(const char *folder, char **names, size_t count)
{
    char *found = NULL;

    for (size_t i = 0; i < count && !found; i++)
        if (names[i][0] != '.' && text_has_ending_any_case(names[i], ".csv"))
            found = io_path(folder, names[i]);
    return found;
}

static enum err_code refuse_folder(const char *path, struct err *e)
{
    char **names, *csv;
    size_t count;

    /* nobody knows what is in one that cannot be read */
    if (io_list_folder(path, &names, &count, e) != ERR_OK)
        return err_context(e, "data = %s", path);
    csv = csv_in(path, names, count);
    io_free_names(names, count);
    if (csv)
        err_set(e, ERR_INPUT,
                "data = %s: a folder of IDX files or of pictures by class is a data set, and it is "
                "none; a CSV file in it is given by its path: data=%s",
                path, csv);
    else if (data_folder_has_pictures(path))
        err_set(e, ERR_INPUT,
                "data = %s: there are pictures in this folder and no folders of classes: put the "
                "pictures of each class into a folder of its own, named like the class",
                path);
    else
        err_set(e, ERR_INPUT,
                "data = %s: there is no data set in this folder: give a folder of IDX files "
                "(train-images-idx3-ubyte and so on), one of pictures by class (CLASS/1.png, or "
                "train/CLASS/1.png and test/CLASS/1.png), a CSV file, or a name that `chorus data` "
                "lists",
                path);
    free(csv);
    return ERR_INPUT;
}

/* "the test labels (t10k-labels-idx1-ubyte or .gz)" */
static void add_lacking(struct text *out, const char *folder, int file)
{
    char *other = file_find(folder, file, true);

    text_addf(out, "%sthe %s (", out->n ? ", " : "", file_words[file]);
    if (other)
        text_addf(out, "%s is a folder)", other);
    else
        text_addf(out, "%s-idx%d-ubyte or .gz)", stems[file][0],
                  file == DATA_TRAIN_LABELS || file == DATA_TEST_LABELS ? 1 : 3);
    free(other);
}

static enum err_code find_folder(struct data_found *found, const char *path, struct err *e)
{
    struct data_idx_files files;
    struct text lacks = {0};
    int there;

    find_files(path, &files);
    there = files_there(&files);
    if (there == DATA_FILES) {
        found->kind = DATA_IDX;
        found->folder = mem_text(path);
        found->files = files;
        if (data_folder_has_classes(path, DATA_FOLDER_DEPTH))
            found->note = mem_text("its IDX files are the data set, its folders of pictures are "
                                   "not read");
        return ERR_OK;
    }
    if (there == 0 && data_folder_has_classes(path, DATA_FOLDER_DEPTH)) {
        data_folder_find(found, path);
        return ERR_OK;
    }
    if (there == 0)
        return refuse_folder(path, e);
    for (int i = 0; i < DATA_FILES; i++)
        if (!files.path[i])
            add_lacking(&lacks, path, i);
    err_set(e, ERR_INPUT, "%s: not a folder of IDX files: it lacks %s", path, text_str(&lacks));
    text_free(&lacks);
    free_files(&files);
    return ERR_INPUT;
}

static enum err_code find_file(struct data_found *found, const char *path, struct err *e)
{
    if (text_ends_with(path, ".gz") || text_ends_with(path, "-ubyte")) {
        return err_set(e, ERR_INPUT,
                       "%s: one file of a set; give the folder that holds the images and labels of "
                       "training and test",
                       path);
    }
    if (data_is_picture(path))
        return err_set(e, ERR_INPUT,
                       "%s: one picture; give a folder that holds one of pictures for each class "
                       "(CLASS/1.png, or train/CLASS/1.png and test/CLASS/1.png)",
                       path);
    found->kind = DATA_CSV;
    found->train = mem_text(path);
    return ERR_OK;
}

/* "train.csv:test.csv": a path may hold colons itself, so the first one with a file on both sides
 * is meant. */
static enum err_code find_pair(struct data_found *found, const char *data, struct err *e)
{
    const char *colon = strrchr(data, ':'); /* of the pair that was meant, for the error */
    char *train, *test;
    const char *missing;

    for (const char *c = strchr(data, ':'); c; c = strchr(c + 1, ':')) {
        train = mem_text_n(data, (size_t)(c - data));
        test = mem_text(c + 1);
        if (io_exists(train) && io_exists(test)) {
            if (io_is_folder(train) || io_is_folder(test)) {
                err_set(e, ERR_INPUT,
                        "%s: a pair of data files takes two CSV files, not folders; two folders of "
                        "pictures stand as train and test in one, which is given",
                        data);
                free(train);
                free(test);
                return ERR_INPUT;
            }
            found->kind = DATA_CSV;
            found->train = train;
            found->test = test;
            return ERR_OK;
        }
        if (io_exists(train))
            colon = c;
        free(train);
        free(test);
    }
    train = mem_text_n(data, (size_t)(colon - data));
    missing = io_exists(train) ? colon + 1 : train;
    err_set(e, ERR_INPUT, "data = %s: there is no file %s", data,
            missing[0] ? missing : "(the name is empty)");
    free(train);
    return ERR_INPUT;
}

enum err_code data_find(struct data_found *found, const char *data,
                        const struct data_places *places, struct err *e)
{
    static const char *const words[] = {"fashion-mnist", "mnist", "synthetic", NULL};
    const struct data_known *known = data_known_find(data);
    const char *near;

    *found = (struct data_found){0};
    if (known)
        return find_known(found, known, places, e);
    if (!strcmp(data, "synthetic")) {
        found->kind = DATA_SYNTHETIC;
        return ERR_OK;
    }
    if (!data[0])
        return err_set(e, ERR_INPUT,
                       "data is empty: give fashion-mnist, mnist, synthetic, a folder "
                       "of IDX files or of pictures by class, or a CSV file");
    if (io_is_folder(data))
        return find_folder(found, data, e);
    if (io_exists(data))
        return find_file(found, data, e);
    if (strchr(data, ':'))
        return find_pair(found, data, e);
    near = strchr(data, '/') ? NULL : text_nearest(data, words);
    return err_set(e, ERR_INPUT,
                   "data = %s: there is no such file or folder, and the sets known by name are "
                   "fashion-mnist, mnist and synthetic%s%s%s",
                   data, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

void data_found_free(struct data_found *found)
{
    free(found->folder);
    free_files(&found->files);
    free(found->train);
    free(found->test);
    data_folder_free(found->folder_list);
    free(found->note);
    *found = (struct data_found){0};
}
