#include "record/run/reader.h"

#include "base/again.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/record_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool claims_owner(enum wire_state state)
{
    return state == WIRE_RUNNING || state == WIRE_PAUSED;
}

static void read_entry(const char *folder, struct record_entry *entry)
{
    char *path = io_path(folder, "run.csv"), *end;
    const char *slash;
    struct err e = {0};

    memset(entry, 0, sizeof *entry);
    entry->folder = mem_text(folder);
    end = entry->folder + strlen(entry->folder);
    while (end > entry->folder + 1 && end[-1] == '/')
        *--end = 0;
    slash = strrchr(entry->folder, '/');
    entry->name = mem_text(slash && slash[1] ? slash + 1 : entry->folder);
    /* The lock first: a run that ends in between is then seen as ended, not as dead. */
    entry->live = record_is_owned(folder);
    if (record_read_run(path, &entry->run, &e) != ERR_OK) {
        entry->broken = true;
        snprintf(entry->problem, sizeof entry->problem, "%.255s", e.text);
    }
    entry->dead = !entry->broken && claims_owner(entry->run.state) && !entry->live;
    /* One that came to life in between, or started after the question, is asked again. */
    if (entry->dead && record_is_owned(folder)) {
        entry->live = true;
        entry->dead = false;
    }
    if (entry->dead)
        (void)record_catch_up(folder, &entry->run);
    free(path);
}

void record_free_entry(struct record_entry *entry)
{
    free(entry->folder);
    free(entry->name);
    memset(entry, 0, sizeof *entry);
}

void record_free_list(struct record_entry *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        record_free_entry(&list[i]);
    free(list);
}

static bool has_any(const char *folder, const char *const *names, size_t count)
{
    bool has = false;

    for (size_t i = 0; i < count && !has; i++) {
        char *path = io_path(folder, names[i]);

        has = io_exists(path);
        free(path);
    }
    return has;
}

bool record_has_checkpoint(const char *folder)
{
    static const char *const any[] = {"checkpoint.safetensors", "checkpoint.prev.safetensors"};

    return has_any(folder, any, MEM_COUNT(any));
}

bool record_is_run(const char *folder)
{
    static const char *const any[] = {"run.csv", "experiment.ini"};

    return has_any(folder, any, MEM_COUNT(any));
}

enum err_code record_check_whole(const struct record_entry *entry, struct err *e)
{
    if (!entry->broken)
        return ERR_OK;
    return err_set(e, ERR_INPUT, "%s is broken: %s; chorus rm %s%s moves it to the trash",
                   entry->name, entry->problem, entry->name, again());
}

enum err_code record_read_entry(const char *folder, struct record_entry *out, struct err *e)
{
    if (!record_is_run(folder))
        return err_set(e, ERR_INPUT, "%s is not the folder of a run: it has no run.csv", folder);
    read_entry(folder, out);
    return ERR_OK;
}
