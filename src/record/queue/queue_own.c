/* Who may take from the queue, whether it has changed, and the options that an experiment there may
 * have in its first line. */
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/file/disk.h"
#include "record/queue/queue_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int64_t read_owner(int fd)
{
    char bytes[32];
    ssize_t got = io.seek(fd, 0, SEEK_SET) < 0 ? 0 : io.read(fd, bytes, sizeof bytes - 1);
    int64_t pid = 0;

    bytes[got > 0 ? got : 0] = 0;
    bytes[strcspn(bytes, "\n")] = 0;
    return text_to_int(bytes, &pid) && pid > 0 ? pid : 0;
}

/* Advice for whoever does not get the lock, so that a full disk is no reason to go without it. */
static void write_owner(int fd)
{
    char line[32];
    int n = snprintf(line, sizeof line, "%ld\n", (long)getpid());

    if (io.seek(fd, 0, SEEK_SET) == 0 && io.write(fd, line, (size_t)n) == n)
        (void)!io.truncate(fd, n);
}

static enum err_code say_read_only(const char *results, struct err *e)
{
    char *folder = record_queue_folder(results);
    enum err_code code = record_say_read_only_in(results, folder, e);

    free(folder);
    return code;
}

enum err_code record_queue_own(const char *results, int *fd, int64_t *owner, struct err *e)
{
    enum err_code code = ERR_OK;
    int64_t pid = 0;

    if (record_queue_open_lock(results, ".lock", fd, e) != ERR_OK)
        return say_read_only(results, e);
    /* Who asks whether there is an owner holds it for a moment. */
    for (int tries = 0; io.lock(*fd, LOCK_EX | LOCK_NB) < 0; tries++) {
        if (tries < 5 && (errno == EWOULDBLOCK || errno == EINTR)) {
            clock_sleep_ms(2);
            continue;
        }
        if (errno != EWOULDBLOCK)
            code = err_errno(e, "cannot lock %s/queue", results);
        else if ((pid = read_owner(*fd)))
            code = err_set(e, ERR_FAILED, "process %lld takes from the queue %s/queue already",
                           (long long)pid, results);
        else
            code = err_set(e, ERR_FAILED, "another chorus takes from the queue %s/queue already",
                           results);
        io.close(*fd);
        *fd = -1;
        break;
    }
    if (code == ERR_OK)
        write_owner(*fd);
    if (owner)
        *owner = pid;
    return code;
}

void record_queue_release(int fd)
{
    record_queue_unlock(fd);
}

int64_t record_queue_owner(const char *results)
{
    char *folder = record_queue_folder(results), *path = io_path(folder, ".lock");
    int64_t pid = 0;
    int fd;

    if (io_open_own(path, O_RDONLY, &fd, NULL) == ERR_OK && io.lock(fd, LOCK_SH | LOCK_NB) < 0 &&
        errno == EWOULDBLOCK)
        pid = read_owner(fd);
    record_queue_unlock(fd);
    free(path);
    free(folder);
    return pid;
}

uint64_t record_queue_stamp(const char *results)
{
    char *folder = record_queue_folder(results);
    uint64_t stamp = 0;
    struct stat st;

    if (io.stat(folder, &st) == 0) {
        double age = clock_wall() - ((double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec * 1e-9);

        stamp = record_queue_id(&st) ^ ((uint64_t)st.st_nlink << 48);
        if (age > -2 && age < 2) /* another change may carry the same time */
            stamp += clock_ns();
        stamp = stamp ? stamp : 1;
    }
    free(folder);
    return stamp;
}

static const char options_head[] = "# options:";

void record_queue_add_options(struct text *out, const struct record_queue_options *o)
{
    text_add(out, options_head);
    if (o->name[0])
        text_addf(out, " --name %s", o->name);
    if (o->resume[0])
        text_addf(out, " --resume %s", o->resume);
    text_addf(out, " --order %s", o->grid ? "grid" : "spread");
    if (o->max_cells)
        text_addf(out, " --max-cells %lld", (long long)o->max_cells);
    if (o->jobs)
        text_addf(out, " --jobs %lld", (long long)o->jobs);
    if (o->failed)
        text_add(out, " --failed");
    if (o->alone)
        text_add(out, " --alone");
    text_add(out, "\n");
}

static bool is_name(const char *value, size_t room)
{
    return strlen(value) < room && value[0] != '.' && !strchr(value, '/');
}

static bool take_option(const char *word, const char *value, struct record_queue_options *o)
{
    if (!strcmp(word, "--name") && is_name(value, sizeof o->name))
        strcpy(o->name, value);
    else if (!strcmp(word, "--resume") && is_name(value, sizeof o->resume))
        strcpy(o->resume, value);
    else if (!strcmp(word, "--order") && (!strcmp(value, "grid") || !strcmp(value, "spread")))
        o->grid = value[0] == 'g';
    else if (!strcmp(word, "--max-cells"))
        return text_to_int(value, &o->max_cells) && o->max_cells > 0;
    else if (!strcmp(word, "--jobs"))
        return text_to_int(value, &o->jobs) && o->jobs > 0 && o->jobs <= 1024;
    else
        return false;
    return true;
}

enum err_code record_queue_read_options(const char *text, struct record_queue_options *o,
                                        struct err *e)
{
    char *line, *rest, *word, *value;
    bool fine = true;

    *o = (struct record_queue_options){0};
    if (strncmp(text, options_head, sizeof options_head - 1) != 0)
        return ERR_OK;
    line = mem_text_n(text, strcspn(text, "\r\n"));
    word = strtok_r(line + sizeof options_head - 1, " \t", &rest);
    for (; fine && word; word = strtok_r(NULL, " \t", &rest)) {
        if (!strcmp(word, "--failed") || !strcmp(word, "--alone")) {
            *(word[2] == 'f' ? &o->failed : &o->alone) = true;
            continue;
        }
        value = strtok_r(NULL, " \t", &rest);
        fine = value && take_option(word, value, o);
    }
    free(line);
    return fine ? ERR_OK : err_set(e, ERR_INPUT, "its options (line 1) cannot be read");
}
