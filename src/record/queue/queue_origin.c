/* Which run came from which item: a run's experiment.ini begins with the item's id, and queue/.taken
 * holds the id of the item that is being begun, so that nobody has to look for runs but behind a kill. */
#include "base/io.h"
#include "base/mem.h"
#include "record/list.h"
#include "record/queue/queue_int.h"
#include "record/run/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char origin_head[] = "# from the queue: ";

static char *taken_path(const char *results)
{
    char *folder = record_queue_folder(results), *path = io_path(folder, ".taken");

    free(folder);
    return path;
}

/* Of takers that were killed: the right to take is one program's. */
static bool is_leftover(const char *name)
{
    return strstr(name, ".taken.tmp-");
}

enum err_code record_queue_set_taken(const char *results, uint64_t id, struct err *e)
{
    char *folder = record_queue_folder(results), *path = taken_path(results), line[32];
    int n = snprintf(line, sizeof line, "%016" PRIx64 "\n", id);
    enum err_code code;

    io_remove_leftovers(folder, is_leftover);
    code = io_replace_own(path, line, (size_t)n, e);
    free(folder);
    free(path);
    return code;
}

static uint64_t read_id(const char *text)
{
    char *end;
    uint64_t id = strtoull(text, &end, 16);

    return end == text + 16 && (*end == '\n' || !*end) ? id : 0;
}

uint64_t record_queue_taken(const char *results)
{
    char *path = taken_path(results), *text = NULL;
    uint64_t id = 0;
    size_t n;

    if (io_read_file(path, 4096, &text, &n, NULL) == ERR_OK)
        id = read_id(text);
    free(text);
    free(path);
    return id;
}

void record_queue_add_origin(struct text *out, uint64_t id)
{
    text_addf(out, "%s%016" PRIx64 "\n", origin_head, id);
}

static bool came_from(const char *folder, uint64_t id)
{
    char *path = io_path(folder, "experiment.ini"), *text = NULL;
    bool is = false;
    size_t n;

    if (io_read_file(path, RECORD_QUEUE_TEXT, &text, &n, NULL) == ERR_OK)
        is = !strncmp(text, origin_head, sizeof origin_head - 1) &&
             read_id(text + sizeof origin_head - 1) == id;
    free(text);
    free(path);
    return is;
}

enum err_code record_queue_find_run(const char *results, uint64_t id, struct record_entry *out,
                                    bool *found, struct err *e)
{
    struct record_entry *list;
    size_t n;

    *found = false;
    TRY(record_list(results, &list, &n, e));
    for (size_t i = n; i-- && !*found;) { /* the newest first */
        *found = came_from(list[i].folder, id);
        if (*found) {
            *out = list[i];
            list[i] = (struct record_entry){0};
        }
    }
    record_free_list(list, n);
    return ERR_OK;
}
