/* cli/devices.c: chorus devices */
#include "cli/cli.h"

#include "base/io.h"
#include "base/mem.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cli_usage usage = {
    "devices", "What there is to compute on: the CPU, its cores, the backends and what they use.",
    NULL};

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

/* Cores that this process may use, which a container or taskset may have cut. */
static int usable_cores(void)
{
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return online > 0 ? (int)online : 1;
}

static void add_json(struct text *out, const char *cpu, int cores, uint64_t memory)
{
    text_add(out, "{\"cpu\": ");
    text_add_json(out, cpu);
    text_addf(out, ", \"cores\": %d, \"memory_bytes\": %llu, \"cuda_devices\": 0, \"backends\": [",
              cores, (unsigned long long)memory);
    for (const struct backend *const *b = cli_backends(); *b; b++) {
        text_add(out, b == cli_backends() ? "{\"name\": " : ", {\"name\": ");
        text_add_json(out, (*b)->name);
        text_add(out, ", \"isa\": ");
        text_add_json(out, (*b)->isa());
        text_add(out, "}");
    }
    text_add(out, "]}\n");
}

static void add_lines(struct text *out, const char *cpu, int cores, uint64_t memory)
{
    char bytes[TEXT_NUMBER_ROOM];

    text_addf(out, "CPU      %s, %d core%s, %s of memory\n", cpu, cores, cores == 1 ? "" : "s",
              text_bytes(bytes, memory));
    text_add(out, "CUDA     no CUDA device\n");
    for (const struct backend *const *b = cli_backends(); *b; b++)
        text_addf(out, "%s %-8s %s\n", b == cli_backends() ? "backends" : "        ", (*b)->name,
                  (*b)->isa());
    text_addf(out, "backend = auto takes %s; devices = N makes N virtual devices on the CPU\n",
              cli_backends()[0]->name);
}

int cli_devices(int argc, char **argv)
{
    bool json = false;
    const struct cli_option options[] = {{"--json", NULL, "as an object", &json},
                                         {NULL, NULL, NULL, NULL}};
    struct text cpu = {0}, out = {0};
    uint64_t memory;
    int code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (argc > 1)
        return cli_refuse("devices takes no name");
    cli_cpu_name(&cpu);
    memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (json)
        add_json(&out, text_str(&cpu), usable_cores(), memory);
    else
        add_lines(&out, text_str(&cpu), usable_cores(), memory);
    code = cli_print(&out);
    text_free(&cpu);
    text_free(&out);
    return code;
}
