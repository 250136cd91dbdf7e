/* cli/verbs/weights.c: `chorus weights RUN -o FILE`: a model to go on with in Python. */
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/print.h"
#include "cli/out/report/averaged.h"
#include "cli/verbs.h"
#include "data/data.h"
#include "record/find.h"
#include "record/run/export.h"
#include "record/run/reader.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_usage usage = {
    "weights RUN -o FILE [--at best, last or N] [--member M] [--layout torch]",
    "Writes a run's models as a safetensors file: parameters and running statistics.",
    "Tensors are F32, or F64 where the run was trained in fp64, under Flax's names and in its\n"
    "layouts: Conv_0/kernel (h, w, in, out), Dense_0/kernel (in, out), Conv_0/bias,\n"
    "BatchNorm_0/scale, batch_stats/BatchNorm_0/mean; Residual_0/Conv_1/kernel inside blocks.\n"
    "The members of an ensemble are the first axis of every tensor, unless --member takes one.\n"
    "\n"
    "--layout torch gives PyTorch's: Conv_0.weight (out, in, h, w), Dense_0.weight (out, in),\n"
    "Conv_0.bias, BatchNorm_0.weight, .bias, .running_mean, .running_var; the columns of a dense\n"
    "layer that reads a feature map stand in PyTorch's order (c, h, w), as Flatten gives them.\n"
    "\n"
    "The bytes depend on the model and its weights alone: two runs that ended with the same\n"
    "weights give the same file.\n"};

static enum err_code read_and_pack(const char *folder, const char *at, int member, bool torch,
                                   struct safetensors *s, struct record_pack *p, struct err *e)
{
    struct net *net = NULL;
    enum err_code code;

    TRY(record_read_at(folder, at, s, e));
    if (torch)
        TRY(record_read_net(folder, s, &net, e));
    code = record_export(p, s, member, torch, net, e);
    net_free(net);
    return code;
}

static void say_written(const char *file, const struct safetensors *s, const struct record_pack *p)
{
    struct text where = {0};
    char bytes[TEXT_NUMBER_ROOM];
    int64_t epoch, step;
    uint64_t size = 0;

    for (size_t i = 0; i < p->tensors; i++)
        size += p->tensor[i].size;
    if (record_unpack_int(s, RECORD_NOTE_EPOCH, &epoch) &&
        record_unpack_int(s, RECORD_NOTE_STEP, &step))
        text_addf(&where, " after %lld epoch%s, %lld step%s", (long long)epoch, text_s(epoch),
                  (long long)step, text_s(step));
    cli_talk("%s: the weights%s, %zu tensors, %s", TEXT_CLEAN(file), text_str(&where), p->tensors,
             text_bytes(bytes, size));
    text_free(&where);
}

int cli_weights(int argc, char **argv)
{
    const char *file = NULL, *at = NULL, *member_text = NULL, *layout = NULL;
    const struct cli_option options[] = {
        {"-o", cli_written, "the file to write", &file},
        {"--at", "WHEN", "best, last, or the number of an epoch (last)", &at},
        {"--member", "M", "one member of an ensemble, from 0", &member_text},
        {"--layout", "LAYOUT", "flax or torch (flax)", &layout},
        {NULL, NULL, NULL, NULL},
    };
    int64_t member = RECORD_ALL_MEMBERS;
    struct record_entry entry;
    struct safetensors s = {0};
    struct record_pack p = {0};
    struct err e = {0};
    char *target = NULL;
    bool torch;
    int code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (argc < 2)
        return cli_refuse("weights needs one RUN, such as @ for the newest, and -o FILE");
    if (!file)
        return cli_refuse("weights needs -o FILE, the file to write");
    if (!strcmp(file, "-"))
        return cli_refuse("weights cannot be written to stdout: name a file with -o");
    if (!cli_ends_in(file, ".safetensors"))
        return cli_refuse(
            "weights writes safetensors, and %s is named for another form: -o "
            "NAME.safetensors (in PyTorch: safetensors.torch.load_file, --layout torch)",
            file);
    torch = layout && !strcmp(layout, "torch");
    if (layout && !torch && strcmp(layout, "flax") != 0)
        return cli_refuse("--layout must be flax or torch");
    if (!cli_number("--member", member_text, 0, 1 << 20, &member))
        return err_exit_code(ERR_INPUT);
    if (record_find_one(cli_results(), argv + 1, (size_t)argc - 1, &entry, &e) != ERR_OK)
        return cli_fail(&e);
    if (record_check_whole(&entry, &e) != ERR_OK) {
        record_free_entry(&entry);
        return cli_fail(&e);
    }
    code = 0;
    if (averaged_check_at(&entry, at, &e) != ERR_OK ||
        read_and_pack(entry.folder, at, (int)member, torch, &s, &p, &e) != ERR_OK ||
        io_real_target(file, &target, &e) != ERR_OK ||
        safetensors_write(target, p.tensor, p.tensors, NULL, 0, &e) != ERR_OK)
        code = cli_fail(&e);
    else
        say_written(file, &s, &p);
    record_pack_free(&p);
    safetensors_free(&s);
    record_free_entry(&entry);
    free(target);
    return code;
}
