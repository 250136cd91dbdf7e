/* RUN/restarts: a line for each time that a program started itself anew because of this run. It is
 * in the folder, so that whoever goes on with the run knows of it, behind a kill too. */
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "record/record_int.h"
#include "record/run/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 65536

enum err_code record_count_restart(struct record *r, int *count, struct err *e)
{
    char *path = io_path(r->folder, "restarts"), *bytes = NULL, utc[CLOCK_UTC_ROOM + 1];
    enum err_code code = ERR_OK;
    size_t n = 0;
    int fd = -1;

    *count = 1;
    if (io_exists(path))
        code = io_read_file(path, LIMIT, &bytes, &n, e);
    for (size_t i = 0; code == ERR_OK && i < n; i++)
        *count += bytes[i] == '\n';
    free(bytes);
    clock_utc(utc, clock_wall());
    strcat(utc, "\n");
    if (code == ERR_OK)
        code = io_open_own(path, O_WRONLY | O_APPEND | O_CREAT, &fd, e);
    if (code == ERR_OK)
        code = io_write_all(fd, utc, strlen(utc), path, e);
    if (fd >= 0)
        io.close(fd);
    free(path);
    return code;
}

void record_forget_restarts(struct record *r)
{
    char *path = io_path(r->folder, "restarts");

    io.unlink(path);
    free(path);
}
