/* cli/verbs/devices.c: chorus devices */
#include "base/err.h"
#include "base/text.h"
#include "cli/args/backends.h"
#include "cli/args/cpu.h"
#include "cli/args/options.h"
#include "cli/out/print.h"
#include "cli/verbs.h"
#include "cuda/load.h"
#include "engine/backend.h"
#include "spec/spec.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

static const struct cli_usage usage = {
    "devices", "What there is to compute on: the CPU, its cores, the backends and what they use.",
    NULL};

static const char *isa_in(const struct backend *b, enum spec_precision precision)
{
    return b->isa_in ? b->isa_in(precision) : b->isa();
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

static void add_json_gpus(struct text *out, const struct cuda_survey *s)
{
    text_addf(out, ", \"cuda_devices\": %d, \"cuda\": {\"reason\": ", cuda_usable(NULL));
    text_add_json(out, s->reason);
    text_addf(out, ", \"driver\": %d, \"runtime\": %d, \"cudnn\": %d, \"nccl\": %d, \"no_cudnn\": ",
              s->driver, s->runtime, s->cudnn, s->nccl);
    text_add_json(out, s->no_cudnn);
    text_add(out, ", \"no_nccl\": ");
    text_add_json(out, s->no_nccl);
    text_add(out, ", \"devices\": [");
    for (int i = 0; i < s->gpus; i++) {
        const struct cuda_gpu *g = &s->gpu[i];

        text_add(out, i ? ", {\"name\": " : "{\"name\": ");
        text_add_json(out, g->name);
        text_addf(out,
                  ", \"capability\": \"%d.%d\", \"memory_bytes\": %zu, \"usable\": %s, \"why\": ",
                  g->major, g->minor, g->memory, g->usable ? "true" : "false");
        text_add_json(out, g->why);
        text_add(out, "}");
    }
    text_add(out, "]}");
}

static void add_json(struct text *out, const char *cpu, int cores, uint64_t memory)
{
    text_add(out, "{\"cpu\": ");
    text_add_json(out, cpu);
    text_addf(out, ", \"cores\": %d, \"memory_bytes\": %llu", cores, (unsigned long long)memory);
    add_json_gpus(out, cuda_survey());
    text_add(out, ", \"backends\": [");
    for (const struct backend *const *b = cli_backends(); *b; b++) {
        text_add(out, b == cli_backends() ? "{\"name\": " : ", {\"name\": ");
        text_add_json(out, (*b)->name);
        text_add(out, ", \"isa\": ");
        text_add_json(out, isa_in(*b, SPEC_FP32));
        text_add(out, ", \"isa_bf16\": ");
        text_add_json(out, isa_in(*b, SPEC_BF16));
        text_add(out, "}");
    }
    text_add(out, "]}\n");
}

/* "13.0", "9.19.0", "2.28.9", "none". */
static void add_version(struct text *out, const char *name, int version, int thousand, int ten)
{
    if (!version)
        text_addf(out, ", no %s", name);
    else if (ten > 1)
        text_addf(out, ", %s %d.%d", name, version / thousand, version % thousand / ten);
    else
        text_addf(out, ", %s %d.%d.%d", name, version / thousand, version % thousand / 100,
                  version % 100);
}

/* One that is not there, why, and what lacks then. */
static void add_lacking(struct text *out, const char *name, const char *why, const char *then)
{
    if (*why)
        text_addf(out, "         no %s: %s; %s\n", name, TEXT_CLEAN(why), then);
}

static void add_gpus(struct text *out, const struct cuda_survey *s)
{
    char bytes[TEXT_NUMBER_ROOM];

    if (!s->gpus) {
        text_addf(out, "CUDA     no CUDA device: %s\n", TEXT_CLEAN(s->reason));
        return;
    }
    for (int i = 0; i < s->gpus; i++) {
        const struct cuda_gpu *g = &s->gpu[i];

        text_addf(out, "%s %d  %s, %s of memory, compute capability %d.%d",
                  i ? "         GPU" : "CUDA     GPU", i, TEXT_CLEAN(g->name),
                  text_bytes(bytes, g->memory), g->major, g->minor);
        if (!g->usable)
            text_addf(out, "; not usable: %s", g->why);
        text_add(out, "\n");
    }
    text_addf(out, "         driver %s (CUDA %d.%d)",
              *s->nvidia_driver ? s->nvidia_driver : "unknown", s->driver / 1000,
              s->driver % 1000 / 10);
    add_version(out, "runtime", s->runtime, 1000, 10);
    add_version(out, "cuDNN", s->cudnn, 10000, 1);
    add_version(out, "NCCL", s->nccl, 10000, 1);
    text_add(out, "\n");
    add_lacking(out, "cuDNN", s->no_cudnn, "without it convolutions are chorus's own");
    add_lacking(out, "NCCL", s->no_nccl, "without it a data-parallel run has one GPU");
}

static void add_lines(struct text *out, const char *cpu, int cores, uint64_t memory)
{
    const struct backend *const *b = cli_backends();
    char bytes[TEXT_NUMBER_ROOM];
    int usable = cuda_usable(NULL);

    text_addf(out, "CPU      %s, %d core%s, %s of memory\n", cpu, cores, text_s(cores),
              text_bytes(bytes, memory));
    add_gpus(out, cuda_survey());
    for (int i = 0; b[i]; i++) {
        const char *isa = isa_in(b[i], SPEC_FP32), *bf16 = isa_in(b[i], SPEC_BF16);

        text_addf(out, "%s %-8s %s", i ? "        " : "backends", b[i]->name, isa);
        if (strcmp(isa, bf16) != 0)
            text_addf(out, "; with precision = bf16: %s", bf16);
        text_add(out, "\n");
    }
    while (*b && (*b)->gpus && !usable)
        b++;
    if (usable)
        text_addf(out,
                  "backend = auto takes cuda; devices = N above %d makes virtual devices on the "
                  "GPU%s\n",
                  usable, text_s(usable));
    else
        text_addf(out, "backend = auto takes %s; devices = N makes N virtual devices on the CPU\n",
                  *b ? (*b)->name : "none");
}

int cli_devices(int argc, char **argv)
{
    bool json = false;
    const struct cli_option options[] = {{"--json", NULL, "as an object", &json},
                                         {NULL, NULL, NULL, NULL}};
    struct text cpu = {0}, out = {0};
    uint64_t memory;
    struct err e;
    int code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (argc > 1)
        return cli_refuse("devices takes no name");
    if (cli_check_isa(&e) != ERR_OK)
        return cli_fail(&e);
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
