/* cli/verbs/models.c: `chorus models`: what networks there are, and one of them layer by layer. */
#include "base/err.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/args/options.h"
#include "cli/out/print.h"
#include "cli/out/table.h"
#include "cli/verbs.h"
#include "data/data.h"
#include "net/net.h"
#include "spec/spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "# lenet: two convolutions" in the first line is what a list says of a model. */
static void add_summary(struct text *out, const struct net *net)
{
    const char *s = net->text, *end;
    size_t n = strlen(net->name);

    if (*s != '#')
        return;
    s += 1 + strspn(s + 1, "# \t");
    if (!strncmp(s, net->name, n) && s[n] == ':')
        s += n + 1 + strspn(s + n + 1, " \t");
    end = s + strcspn(s, "\r\n");
    text_add_n(out, s, (size_t)(end - s));
}

static void add_row(struct cli_table *t, struct text *json, const char *model, const char *where,
                    const struct net_wants *wants)
{
    char count[TEXT_NUMBER_ROOM];
    struct text summary = {0};
    struct net *net;
    struct err e;

    if (net_open(&net, model, wants, &e) != ERR_OK) {
        net = NULL;
        text_addf(&summary, "cannot be used: %s", e.text);
    } else {
        add_summary(&summary, net);
    }
    cli_table_add(t, model);
    cli_table_add(t, where);
    cli_table_add(t, net ? text_count(count, net->parameter_count) : "");
    if (net)
        cli_table_addf(t, "%.3f", net->flops / 1e6);
    else
        cli_table_add(t, "");
    cli_table_add(t, text_str(&summary));

    text_add(json, json->n > 1 ? ",\n {" : "\n {");
    text_add_json(json, "model");
    text_add(json, ": ");
    text_add_json(json, model);
    text_add(json, ", \"where\": ");
    text_add_json(json, where);
    text_add(json, ", \"parameters\": ");
    if (net)
        text_addf(json, "%zu, \"flops_per_image\": ", net->parameter_count);
    else
        text_add(json, "null, \"flops_per_image\": ");
    text_add_json_double(json, net ? net->flops : (double)NAN);
    text_add(json, net ? ", \"summary\": " : ", \"error\": ");
    text_add_json(json, net ? text_str(&summary) : e.text);
    text_add(json, "}");
    text_free(&summary);
    net_free(net);
}

/* The files of ./models that are not the built-in ones themselves. A built-in name wins over a file,
 * so a file that differs from the built-in model of its name is shown by its path. */
static void add_folder(struct cli_table *t, struct text *json, const struct net_wants *wants)
{
    char **names;
    size_t count;
    struct err e;

    if (!io_is_folder("models") || io_list_folder("models", &names, &count, &e) != ERR_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        size_t n = text_stem(names[i], ".net");
        char *name, *path, *text = NULL;
        const char *built_in;

        if (names[i][0] == '.' || !names[i][n])
            continue;
        name = mem_text_n(names[i], n);
        path = mem_textf("models/%s", names[i]);
        built_in = net_builtin(name);
        if (!built_in)
            add_row(t, json, name, "./models", wants);
        else if (io_read_file(path, 1 << 20, &text, &n, &e) != ERR_OK || strcmp(text, built_in))
            add_row(t, json, path, "./models", wants);
        free(text);
        free(name);
        free(path);
    }
    io_free_names(names, count);
}

static int list_models(const struct net_wants *wants, bool as_json)
{
    struct text out = {0}, json = {0};
    struct cli_table t;
    int code;

    cli_table_start(&t, "model|where|-parameters|-MFLOP|summary");
    text_add(&json, "[");
    for (int i = 0; net_builtin_name(i); i++)
        add_row(&t, &json, net_builtin_name(i), "built in", wants);
    add_folder(&t, &json, wants);
    text_add(&json, "\n]\n");
    if (as_json) {
        text_add(&out, text_str(&json));
    } else {
        cli_table_fit(&t, cli_limit(STDOUT_FILENO), NULL, "summary", false);
        cli_table_text(&t, &out);
    }
    code = cli_print(&out);
    cli_table_free(&t);
    text_free(&out);
    text_free(&json);
    return code;
}

/* What the layer is, without its outputs: "conv 3x3 stride 2 pad 1", "dropout 0.5". */
static void add_kind(struct text *out, const struct net *net, const struct net_layer *l)
{
    char number[TEXT_NUMBER_ROOM];

    text_add(out, l->op == NET_ADD ? "add" : net_op_name(l->op));
    if (l->op == NET_DROPOUT)
        text_addf(out, " %s", text_double(number, l->rate));
    if (l->op == NET_ADD)
        text_addf(out, " %s", l->src2 < 0 ? "the images" : net->layer[l->src2].name);
    if (l->k == 0)
        return;
    text_addf(out, " %dx%d", l->k, l->k);
    if (l->stride != (l->op == NET_CONV ? 1 : l->k))
        text_addf(out, " stride %d", l->stride);
    if (l->pad_top != l->pad_bottom || l->pad_left != l->pad_right || l->pad_top != l->pad_left)
        text_addf(out, " pad %d+%d %d+%d", l->pad_top, l->pad_bottom, l->pad_left, l->pad_right);
    else if (l->pad_top)
        text_addf(out, " pad %d", l->pad_top);
    if (l->op == NET_CONV && l->bias < 0)
        text_add(out, " nobias");
}

static size_t layer_parameters(const struct net *net, const struct net_layer *l)
{
    return (l->kernel < 0 ? 0 : net->param[l->kernel].count) +
           (l->bias < 0 ? 0 : net->param[l->bias].count);
}

static void add_table(struct text *out, const struct net *net)
{
    static const char *const drop[] = {"line", "input", "MFLOP", NULL};
    char in[48], of[48], count[TEXT_NUMBER_ROOM], bytes[TEXT_NUMBER_ROOM];
    struct text kind = {0};
    struct cli_table t;

    cli_table_start(&t, "-line|layer|kind|-input|-output|-parameters|-MFLOP");
    for (int i = 0; i < net->layers; i++) {
        const struct net_layer *l = &net->layer[i];
        size_t parameters = layer_parameters(net, l);

        text_clear(&kind);
        add_kind(&kind, net, l);
        net_shape_text(&l->in, in);
        net_shape_text(&l->out, of);
        cli_table_addf(&t, "%d", l->line);
        cli_table_add(&t, l->kernel >= 0 || l->op == NET_ADD ? l->name : "");
        cli_table_add(&t, text_str(&kind));
        cli_table_add(&t, in);
        cli_table_add(&t, of);
        cli_table_add(&t, parameters ? text_count(count, parameters) : "");
        if (l->flops > 0)
            cli_table_addf(&t, "%.3f", l->flops / 1e6);
        else
            cli_table_add(&t, "");
    }
    cli_table_fit(&t, cli_limit(STDOUT_FILENO), drop, "kind", false);
    cli_table_text(&t, out);
    cli_table_free(&t);
    text_free(&kind);
    text_addf(out, "\n%s parameters, %s in fp32", text_count(count, net->parameter_count),
              text_bytes(bytes, 4 * (uint64_t)net->parameter_count));
    if (net->stat_count)
        text_addf(out, ", and %s running statistics", text_count(count, net->stat_count));
    text_addf(out, "\n%.2f MFLOP an image forward and backward, %.2f of them forward\n",
              net->flops / 1e6, net->flops_forward / 1e6);
}

static void add_json_shape(struct text *out, const char *name, struct net_shape s)
{
    text_addf(out, "\"%s\": [%d, %d, %d]", name, s.h, s.w, s.c);
}

static void add_json(struct text *out, const struct net *net, const char *model)
{
    struct text kind = {0};

    text_add(out, "{\"model\": ");
    text_add_json(out, model);
    text_add(out, ", ");
    add_json_shape(out, "input", net->input);
    text_addf(out, ", \"classes\": %d, \"parameters\": %zu, \"flops_per_image\": ", net->classes,
              net->parameter_count);
    text_add_json_double(out, net->flops);
    text_add(out, ",\n \"layers\": [");
    for (int i = 0; i < net->layers; i++) {
        const struct net_layer *l = &net->layer[i];

        text_clear(&kind);
        add_kind(&kind, net, l);
        text_addf(out, "%s\n  {\"line\": %d, \"layer\": ", i ? "," : "", l->line);
        text_add_json(out, l->name);
        text_add(out, ", \"kind\": ");
        text_add_json(out, text_str(&kind));
        text_add(out, ", ");
        add_json_shape(out, "input", l->in);
        text_add(out, ", ");
        add_json_shape(out, "output", l->out);
        text_addf(out, ", \"parameters\": %zu, \"flops_per_image\": ", layer_parameters(net, l));
        text_add_json_double(out, l->flops);
        text_add(out, "}");
    }
    text_add(out, "\n ]}\n");
    text_free(&kind);
}

static int show_model(const char *model, const struct net_wants *wants, bool as_json)
{
    struct text out = {0}, about = {0};
    struct net *net;
    struct err e;
    int code;

    if (net_open(&net, model, wants, &e) != ERR_OK)
        return cli_fail(&e);
    if (as_json) {
        add_json(&out, net, model);
    } else {
        add_summary(&about, net);
        text_add_clean(&out, model);
        if (about.n) {
            text_add(&out, ": ");
            text_add_clean(&out, text_str(&about));
        }
        text_add(&out, "\n\n");
        add_table(&out, net);
    }
    code = cli_print(&out);
    text_free(&out);
    text_free(&about);
    net_free(net);
    return code;
}

/* "28x28x1", as the tables write it. */
static bool read_shape(const char *text, struct net_shape *s)
{
    char copy[48], *rest = copy, *word;
    int *to[] = {&s->h, &s->w, &s->c};
    size_t n = 0;

    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    for (; (word = strsep(&rest, "x")); n++) {
        int64_t value;

        if (n == MEM_COUNT(to) || !text_to_int(word, &value) || value < 1 || value > 1 << 20)
            return false;
        *to[n] = (int)value;
    }
    return n == MEM_COUNT(to);
}

/* model.NAME=VALUE operands, which go through the experiment's own parser. */
static enum err_code read_params(struct spec *spec, int argc, char **argv, struct err *e)
{
    for (int i = 2; i < argc; i++) {
        char *equals = strchr(argv[i], '=');

        if (!equals || strncmp(argv[i], "model.", 6) != 0)
            return err_set(e, ERR_INPUT,
                           "models takes one model and its model.NAME=VALUE, not %.200s too",
                           TEXT_CLEAN(argv[i]));
        *equals = 0;
        TRY(spec_set(spec, argv[i], equals + 1, "command line", NULL, e));
    }
    return ERR_OK;
}

int cli_models(int argc, char **argv)
{
    static const struct cli_usage usage = {
        "models [NAME [model.PARAM=VALUE...]] [--json]",
        "Lists the networks there are, or prints one of them layer by layer.",
        "NAME is a built-in model, a file of ./models, or a path (with a slash, or ending in .net).\n"
        "MFLOP: an image, forward and backward.\n",
    };
    const char *shape = NULL, *classes = NULL;
    bool as_json = false;
    const struct cli_option options[] = {
        {"--shape", "HxWxC", "of the images, where the model takes any (28x28x1)", &shape},
        {"--classes", "N", "of the data, where the model takes any (10)", &classes},
        {"--json", NULL, "objects instead of a table", &as_json},
        {NULL, NULL, NULL, NULL},
    };
    struct net_wants wants = {0};
    struct spec *spec;
    struct err e = {0};
    int64_t count = 0;
    int code = cli_options(&usage, options, &argc, argv);

    if (code != CLI_ON)
        return code;
    if (shape && !read_shape(shape, &wants.input))
        return cli_refuse("--shape %.100s is not a shape like 28x28x1: height, width, channels",
                          TEXT_CLEAN(shape));
    if (!cli_number("--classes", classes, 1, 1 << 20, &count))
        return err_exit_code(ERR_INPUT);
    wants.classes = (int)count;
    if (argc < 2)
        return list_models(&wants, as_json);
    spec = mem_new(1, sizeof *spec);
    spec_default(spec);
    wants.spec = spec;
    code = read_params(spec, argc, argv, &e) == ERR_OK ? show_model(argv[1], &wants, as_json)
                                                       : cli_fail(&e);
    free(spec);
    return code;
}
