/* tests/unit/record/help.h: what the tests of the room record share. */
#ifndef CHORUS_TESTS_UNIT_RECORD_HELP_H
#define CHORUS_TESTS_UNIT_RECORD_HELP_H

#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "record/run/run.h"
#include "record/run/writer.h"
#include "tests/test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static inline char *help_folder(void)
{
    const char *base = getenv("TMPDIR");
    char *folder = mem_textf("%s/chorus-test-XXXXXX", base && *base ? base : "/tmp");

    if (!mkdtemp(folder)) {
        perror(folder);
        exit(1);
    }
    return folder;
}

static inline void help_empty(const char *folder)
{
    char **names;
    size_t n;

    if (io_list_folder(folder, &names, &n, NULL) != ERR_OK)
        return;
    for (size_t i = 0; i < n; i++) {
        char *path = io_path(folder, names[i]);
        struct stat st;
        if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            help_empty(path);
            rmdir(path);
        } else {
            unlink(path);
        }
        free(path);
    }
    io_free_names(names, n);
}

static inline void help_remove(char *folder)
{
    help_empty(folder);
    rmdir(folder);
    free(folder);
}

/* The text of RUN/name, NULL where there is none. Freed by free(). */
static inline char *help_text(const char *folder, const char *name)
{
    char *path = io_path(folder, name), *bytes = NULL;
    size_t n;

    if (io_read_file(path, 1 << 26, &bytes, &n, NULL) != ERR_OK)
        bytes = NULL;
    free(path);
    return bytes;
}

static inline void help_put(const char *folder, const char *name, const void *bytes, size_t n)
{
    char *path = io_path(folder, name);
    int fd = open(path, O_WRONLY | O_CREAT, 0666);

    if (fd < 0 || pwrite(fd, bytes, n, 0) != (ssize_t)n || ftruncate(fd, (off_t)n) || close(fd)) {
        perror(path);
        exit(1);
    }
    free(path);
}

/* How many names in the folder hold the part; part "" counts all. */
static inline size_t help_count(const char *folder, const char *part)
{
    char **names;
    size_t n, found = 0;

    if (io_list_folder(folder, &names, &n, NULL) != ERR_OK)
        return 0;
    for (size_t i = 0; i < n; i++)
        found += strstr(names[i], part) != NULL;
    io_free_names(names, n);
    return found;
}

/* A run as an engine would describe it; freed by free(). */
static inline struct record_run *help_run(void)
{
    struct record_run *run = mem_new(1, sizeof *run);

    spec_default(&run->spec);
    run->state = WIRE_RUNNING;
    snprintf(run->version, sizeof run->version, "0.1.0");
    snprintf(run->backend_used, sizeof run->backend_used, "cpu");
    run->lr_used = 0.1;
    run->parameters = 129068;
    run->best_test_acc = run->best_test_loss = run->last_test_acc = run->last_test_loss =
        RECORD_EMPTY;
    run->target_seconds = run->peak_memory_bytes = RECORD_EMPTY;
    return run;
}

#endif
