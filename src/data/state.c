/* Whether what a value of the key `data` names is as it was: for whoever asks again and again. */
#include "data/folder_int.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"

#include <pthread.h>
#include <string.h>

#define DEAR_NS 5000000u
#define LONGER  50

/* Those that took long to find out, such as of a folder with many pictures, hold for so many times as
 * long, for all who ask: else whoever asks once a second would be at work all the time. */
static struct {
    pthread_mutex_t lock;
    struct dear {
        uint64_t name, state, until_ns;
    } dear[16];
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool recall(uint64_t name, uint64_t *state)
{
    uint64_t now = clock_ns();
    bool known = false;

    pthread_mutex_lock(&kept.lock);
    for (size_t i = 0; i < sizeof kept.dear / sizeof *kept.dear && !known; i++) {
        known = kept.dear[i].name == name && now < kept.dear[i].until_ns;
        *state = kept.dear[i].state;
    }
    pthread_mutex_unlock(&kept.lock);
    return known;
}

/* In the place of the one that ends first. */
static void keep(uint64_t name, uint64_t state, uint64_t took_ns)
{
    struct dear *to = kept.dear;

    pthread_mutex_lock(&kept.lock);
    for (size_t i = 0; i < sizeof kept.dear / sizeof *kept.dear; i++) {
        struct dear *d = &kept.dear[i];

        if (d->name == name) {
            to = d;
            break;
        }
        to = d->until_ns < to->until_ns ? d : to;
    }
    *to = (struct dear){name, state, clock_ns() + LONGER * took_ns};
    pthread_mutex_unlock(&kept.lock);
}

/* With whether it could change again unseen: once it cannot, it is another state, and what was found in
 * between is found anew. */
static void add_file(struct text *t, const char *path)
{
    struct stat st = {0}; /* of what is not there */
    bool there = path && io.stat(path, &st) == 0;
    const int64_t is[] = {there,
                          st.st_size,
                          (int64_t)st.st_ino,
                          st.st_mtim.tv_sec,
                          st.st_mtim.tv_nsec,
                          st.st_ctim.tv_sec,
                          st.st_ctim.tv_nsec,
                          data_cache_is_settled(&st)};

    text_add_n(t, is, sizeof is);
}

/* What is refused has a state too, of what was listed up to there. */
static enum err_code add_pictures(struct text *t, struct data_found *found, struct err *e)
{
    enum err_code code = data_folder_list(found, e);

    text_add_n(t, found->folder_list->state, sizeof found->folder_list->state);
    text_add(t, found->folder_list->settled ? "settled" : "");
    return code;
}

/* What is missing, and where it was looked for, stands in the error. */
static uint64_t look(const char *data, const struct data_places *places)
{
    struct data_found found;
    struct text t = {0};
    struct err e = {0};
    enum err_code code = data_find(&found, data, places, &e);
    uint64_t state;

    if (code == ERR_OK && found.kind == DATA_FOLDER)
        code = add_pictures(&t, &found, &e);
    if (found.kind == DATA_CSV) {
        add_file(&t, found.train);
        add_file(&t, found.test);
    }
    for (int i = 0; i < DATA_FILES && found.kind == DATA_IDX; i++)
        add_file(&t, found.files.path[i]);
    text_add(&t, found.folder ? found.folder : "");
    text_add(&t, found.note ? found.note : "");
    text_add(&t, code == ERR_OK ? "" : e.text);
    data_found_free(&found);
    state = hash_quick(text_str(&t), t.n);
    text_free(&t);
    return state;
}

uint64_t data_state(const char *data, const struct data_places *places)
{
    uint64_t name = hash_quick(data, strlen(data)), began = clock_ns(), state, took;

    if (recall(name, &state))
        return state;
    state = look(data, places);
    took = clock_ns() - began;
    if (took >= DEAR_NS)
        keep(name, state, took);
    return state;
}
