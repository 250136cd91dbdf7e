/* cli/args/cpu.c: the processor that this program runs on. */
#include "cli/args/cpu.h"

#include "base/io.h"
#include "cli/args/backends.h"

#include <fcntl.h>
#include <string.h>

/* "AMD EPYC ..." from /proc/cpuinfo, which has no length of its own. */
void cli_cpu_name(struct text *out)
{
    char room[8193], *line, *colon, *end;
    int fd = io.open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC, 0);
    ssize_t n = 0;

    if (fd >= 0) {
        n = io.read(fd, room, sizeof room - 1);
        io.close(fd);
    }
    room[n > 0 ? n : 0] = 0;
    line = strstr(room, "model name");
    if (line && (colon = strchr(line, ':')) && (end = strchr(colon, '\n'))) {
        *end = 0;
        text_add_clean(out, text_trim(colon + 1));
    } else {
        text_add(out, "unknown CPU");
    }
}

enum err_code cli_check_isa(struct err *e)
{
    const struct backend_plan plan = {.precision = SPEC_FP32};

    for (const struct backend *const *b = cli_backends(); *b; b++)
        if (!strcmp((*b)->name, "cpu"))
            return (*b)->can(&plan, e);
    return ERR_OK;
}
