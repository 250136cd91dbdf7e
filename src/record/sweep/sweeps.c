#include "record/sweep/sweeps.h"

#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/file/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#define TEXT_BYTES (16 << 20)

char *record_sweep_folder(const char *results, const char *name)
{
    return mem_textf("%s/sweeps/%s", results, name);
}

static char *path_in(const char *results, const char *name, const char *file)
{
    return mem_textf("%s/sweeps/%s/%s", results, name, file);
}

enum err_code record_sweep_read(const char *results, const char *name, struct spec_sweep *s,
                                struct record_queue_options *options, struct err *e)
{
    char *path = path_in(results, name, "sweep.ini"), *text = NULL;
    enum err_code code;
    size_t n;

    code = io_read_file(path, TEXT_BYTES, &text, &n, e);
    if (code == ERR_OK) {
        code = record_queue_read_options(text, options, e);
        if (code != ERR_OK)
            err_set(e, ERR_INPUT,
                    "%s:1: its options cannot be read; run the sweep again from its file, with "
                    "--name",
                    path);
    }
    if (code == ERR_OK)
        code = spec_sweep_parse(s, text, n, path, e);
    if (code == ERR_OK)
        code = spec_sweep_close(s, e);
    free(text);
    free(path);
    return code;
}

bool record_sweep_waits(const struct record_queued *item, struct spec_sweep *s,
                        struct record_queue_options *options)
{
    if (item->broken || record_queue_read_options(item->text, options, NULL) != ERR_OK ||
        spec_sweep_parse(s, item->text, item->n, item->file, NULL) != ERR_OK ||
        spec_sweep_close(s, NULL) != ERR_OK || !spec_sweep_varies(s))
        return false;
    if (!options->name[0])
        snprintf(options->name, sizeof options->name, "%s", item->name);
    return true;
}

uint64_t record_sweep_stamp(const char *results, const char *name)
{
    static const char *const files[] = {"ledger.csv", "sweep.csv", "sweep.ini"};
    uint64_t seen[MEM_COUNT(files)][4] = {0};
    bool any = false;

    for (size_t i = 0; i < MEM_COUNT(files); i++) {
        char *path = path_in(results, name, files[i]);
        struct stat st;

        if (io.stat(path, &st) == 0) {
            any = true;
            seen[i][0] = (uint64_t)st.st_ino;
            seen[i][1] = (uint64_t)st.st_size;
            seen[i][2] = (uint64_t)st.st_mtim.tv_sec;
            seen[i][3] = (uint64_t)st.st_mtim.tv_nsec;
        }
        free(path);
    }
    return any ? hash_quick(seen, sizeof seen) : 0;
}

/* Those at work share the lock: who gets it alone is told that there are none. */
bool record_sweep_live(const char *results, const char *name)
{
    char *path = path_in(results, name, "work");
    bool live = false;
    int fd;

    /* on a network a lock wants to write; here to read is enough */
    if (io_open_own(path, O_RDWR, &fd, NULL) == ERR_OK ||
        io_open_own(path, O_RDONLY, &fd, NULL) == ERR_OK) {
        live = io.lock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
        io.close(fd);
    }
    free(path);
    return live;
}

enum err_code record_sweep_control(const char *results, const char *name, const char *line,
                                   struct err *e)
{
    char *path = path_in(results, name, "control"), *text = mem_textf("%s\n", line);
    int fd;
    enum err_code code = io_open_own(path, O_WRONLY | O_APPEND | O_CREAT, &fd, e);

    if (code == ERR_OK) {
        code = io_write_all(fd, text, strlen(text), path, e);
        io.close(fd);
    }
    if (code != ERR_OK) {
        char *folder = io_folder_of(path);

        record_say_read_only_in(results, folder, e);
        free(folder);
    }
    free(text);
    free(path);
    return code;
}
