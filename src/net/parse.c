/* The statements of a model's text, one a line. */
#include "net/net_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is(const struct net_reader *r, int word, const char *text)
{
    return word < r->words && !strcmp(r->word[word], text);
}

static enum err_code no_more_words(struct net_reader *r, int from, const char *form)
{
    if (r->words <= from)
        return ERR_OK;
    return net_refuse(r, "\"%.40s\" does not belong here; the line is: %s",
                      TEXT_CLEAN(r->word[from]), form);
}

/* "classes" or a number. */
static enum err_code read_outputs(struct net_reader *r, int *outputs)
{
    if (is(r, 1, "classes")) {
        *outputs = r->net->classes;
        return ERR_OK;
    }
    return net_read_number(r, 1, "number of outputs", 1, NET_MOST_SIZE, outputs);
}

static enum err_code read_conv(struct net_reader *r, struct net_line *l)
{
    bool stride = false, pad = false;

    TRY(read_outputs(r, &l->outputs));
    TRY(net_read_number(r, 2, "kernel", 1, NET_MOST_SIZE, &l->k));
    l->stride = 1;
    l->bias = true;
    for (int i = 3; i < r->words; i++) {
        if (is(r, i, "stride") && !stride) {
            stride = true;
            TRY(net_read_number(r, ++i, "stride", 1, NET_MOST_SIZE, &l->stride));
        } else if (is(r, i, "pad") && !pad) {
            pad = true;
            TRY(net_read_number(r, ++i, "pad", 0, NET_MOST_SIZE, &l->pad));
        } else if (is(r, i, "same") && !l->same) {
            l->same = true;
        } else if (is(r, i, "nobias") && l->bias) {
            l->bias = false;
        } else {
            return no_more_words(r, i, "conv OUTPUTS KERNEL [stride N] [pad N | same] [nobias]");
        }
    }
    if (l->same && pad)
        return net_refuse(r, "`same` and `pad` contradict each other; keep one of them");
    return ERR_OK;
}

static enum err_code read_dense(struct net_reader *r, struct net_line *l)
{
    l->bias = true;
    TRY(read_outputs(r, &l->outputs));
    return no_more_words(r, 2, "dense OUTPUTS");
}

static enum err_code read_pool(struct net_reader *r, struct net_line *l)
{
    TRY(net_read_number(r, 1, "window", 1, NET_MOST_SIZE, &l->k));
    l->stride = l->k;
    if (!is(r, 2, "stride"))
        return no_more_words(r, 2, "avgpool|maxpool WINDOW [stride N]");
    TRY(net_read_number(r, 3, "stride", 1, NET_MOST_SIZE, &l->stride));
    return no_more_words(r, 4, "avgpool|maxpool WINDOW [stride N]");
}

static enum err_code read_dropout(struct net_reader *r, struct net_line *l)
{
    if (r->words < 2 || !text_to_double(r->word[1], &l->rate) ||
        !(l->rate >= 0 && l->rate <= 0.999))
        return net_refuse(r, "the rate must be a number from 0 to 0.999, not %.40s",
                          TEXT_CLEAN(r->words < 2 ? "nothing" : r->word[1]));
    return no_more_words(r, 2, "dropout RATE");
}

static enum err_code read_plain(struct net_reader *r, struct net_line *l)
{
    (void)l;
    return no_more_words(r, 1, net_op_name(l->op));
}

/* Channels last is the order of many other programs. */
static enum err_code refuse_shape(struct net_reader *r, const struct net_shape *demanded,
                                  const struct net_shape *there)
{
    char one[48], two[48];

    net_shape_text(demanded, one);
    net_shape_text(there, two);
    if (demanded->c == there->h && demanded->h == there->w && demanded->w == there->c)
        return net_refuse(r, "the order is input CHANNELS HEIGHT WIDTH, so input %d %d %d here",
                          there->c, there->h, there->w);
    return net_refuse(r,
                      "the model demands images of %s and the data has %s (height x width x "
                      "channels)",
                      one, two);
}

static enum err_code read_input(struct net_reader *r)
{
    const struct net_shape data = r->wants->input;
    struct net_shape s;

    if (r->input_line)
        return net_refuse(r, "the input stands at line %d already", r->input_line);
    if (r->net->layers || r->depth)
        return net_refuse(r, "the input must stand in front of the first layer");
    if (r->params_used)
        return net_refuse(r, "params cannot be used here; write the numbers");
    r->input_line = r->line;
    if (is(r, 1, "auto")) {
        TRY(no_more_words(r, 2, "input auto"));
        s = data.h > 0 ? data : (struct net_shape){28, 28, 1};
        r->images_known = data.h > 0;
    } else {
        TRY(net_read_number(r, 1, "channels (or `auto`)", 1, NET_MOST_SIZE, &s.c));
        TRY(net_read_number(r, 2, "height", 1, NET_MOST_SIZE, &s.h));
        TRY(net_read_number(r, 3, "width", 1, NET_MOST_SIZE, &s.w));
        TRY(no_more_words(r, 4, "input auto, or input CHANNELS HEIGHT WIDTH"));
        if (data.h > 0 && (data.h != s.h || data.w != s.w || data.c != s.c))
            return refuse_shape(r, &s, &data);
        r->images_known = true;
    }
    if ((uint64_t)s.h * (uint64_t)s.w > NET_MOST_ELEMENTS / (uint64_t)s.c) {
        char shape[48];

        net_shape_text(&s, shape);
        return net_refuse(r, "images of %s are too large; at most %d numbers are allowed", shape,
                          NET_MOST_ELEMENTS);
    }
    r->net->input = r->shape = s;
    return ERR_OK;
}

static enum err_code read_init(struct net_reader *r)
{
    struct net *net = r->net;
    const char *form = "init normal STD [bias], or init lecun, he or xavier";

    if (r->init_line)
        return net_refuse(r, "an init stands at line %d already", r->init_line);
    r->init_line = r->line;
    if (!is(r, 1, "normal")) {
        net->init = is(r, 1, "lecun")    ? SPEC_INIT_LECUN
                    : is(r, 1, "he")     ? SPEC_INIT_HE
                    : is(r, 1, "xavier") ? SPEC_INIT_XAVIER
                                         : SPEC_INIT_MODEL;
        if (net->init == SPEC_INIT_MODEL)
            return net_refuse(r, "the line is: %s", form);
        return no_more_words(r, 2, form);
    }
    if (r->words < 3 || !text_to_double(r->word[2], &net->init_std) || !(net->init_std > 0) ||
        net->init_std > 1e6)
        return net_refuse(r, "the standard deviation must be above 0 and at most 1e6, not %.40s",
                          TEXT_CLEAN(r->words < 3 ? "nothing" : r->word[2]));
    net->init = SPEC_INIT_NORMAL;
    if (!is(r, 3, "bias"))
        return no_more_words(r, 3, form);
    net->init = SPEC_INIT_NORMAL_BIAS;
    return no_more_words(r, 4, form);
}

static enum err_code read_param(struct net_reader *r)
{
    const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    const struct spec *spec = r->wants->spec;
    const char *name, *value;

    if (r->words < 3)
        return net_refuse(r, "the line is: param NAME VALUE");
    TRY(no_more_words(r, 3, "param NAME VALUE"));
    name = r->word[1];
    value = r->word[2];
    if (name[strspn(name, letters)] || (name[0] >= '0' && name[0] <= '9') ||
        strlen(name) >= sizeof r->name[0].name)
        return net_refuse(r,
                          "a param's name has at most %zu letters, digits and _, the first of "
                          "them no digit",
                          sizeof r->name[0].name - 1);
    for (int i = 0; i < r->names; i++)
        if (!strcmp(r->name[i].name, name))
            return net_refuse(r, "the param %s stands in a line above already", name);
    if (r->names == NET_MOST_NAMES)
        return net_refuse(r, "more than %d params", NET_MOST_NAMES);
    for (int i = 0; spec && i < spec->params; i++)
        if (!strcmp(spec->param[i].name, name)) {
            value = spec->param[i].value;
        }
    strcpy(r->name[r->names].name, name);
    r->name[r->names++].value = mem_text(value);
    return ERR_OK;
}

static enum err_code read_residual(struct net_reader *r)
{
    if (!is(r, 1, "{"))
        return net_refuse(r, "the line is: residual {");
    TRY(no_more_words(r, 2, "residual { (and one layer a line below it)"));
    return net_open_block(r);
}

static enum err_code read_brace(struct net_reader *r)
{
    if (r->words == 1)
        return net_close_block(r);
    if (!is(r, 1, "shortcut") || !is(r, 2, "{"))
        return net_refuse(r, "the line is: }, or } shortcut {");
    TRY(no_more_words(r, 3, "} shortcut {"));
    return net_open_shortcut(r);
}

static const struct statement {
    const char *word;
    enum err_code (*layer)(struct net_reader *r, struct net_line *l);
    enum net_op op;
    enum err_code (*other)(struct net_reader *r);
} statements[] = {
    {"conv", read_conv, NET_CONV, NULL},
    {"dense", read_dense, NET_DENSE, NULL},
    {"relu", read_plain, NET_RELU, NULL},
    {"tanh", read_plain, NET_TANH, NULL},
    {"avgpool", read_pool, NET_AVGPOOL, NULL},
    {"maxpool", read_pool, NET_MAXPOOL, NULL},
    {"globalavgpool", read_plain, NET_GLOBALAVGPOOL, NULL},
    {"batchnorm", read_plain, NET_BATCHNORM, NULL},
    {"dropout", read_dropout, NET_DROPOUT, NULL},
    {"residual", NULL, NET_ADD, read_residual},
    {"}", NULL, NET_ADD, read_brace},
    {"input", NULL, NET_ADD, read_input},
    {"init", NULL, NET_ADD, read_init},
    {"param", NULL, NET_ADD, read_param},
};

static enum err_code refuse_word(struct net_reader *r)
{
    const char *known[MEM_COUNT(statements) + 1] = {0}, *near;

    for (size_t i = 0; i < MEM_COUNT(statements); i++)
        known[i] = statements[i].word;
    near = text_nearest(r->word[0], known);
    if (near)
        return net_refuse(r, "no such layer; did you mean %s?", near);
    return net_refuse(r, "no such layer; there are conv, dense, relu, tanh, avgpool, maxpool, "
                         "globalavgpool, batchnorm, dropout and residual");
}

static enum err_code read_statement(struct net_reader *r)
{
    for (size_t i = 0; i < MEM_COUNT(statements); i++) {
        struct net_line l = {.op = statements[i].op};

        if (!is(r, 0, statements[i].word))
            continue;
        if (statements[i].other)
            return statements[i].other(r);
        TRY(statements[i].layer(r, &l));
        return net_add_layer(r, &l);
    }
    return refuse_word(r);
}

/* Reads up to and including the input line where only that is asked for. */
static enum err_code read_lines(struct net_reader *r, const char *text, size_t n, bool input_only)
{
    if (n > NET_TEXT_BYTES)
        return net_refuse_line(r, 0, "the text has %zu bytes; at most %d are allowed", n,
                               NET_TEXT_BYTES);
    for (size_t from = 0; from < n && !(input_only && r->input_line);) {
        const char *end = memchr(text + from, '\n', n - from);
        size_t length = end ? (size_t)(end - text) - from : n - from;
        char *line = mem_text_n(text + from, length);
        enum err_code code;

        r->line++;
        from += length + 1;
        code = net_read_words(r, line, length);
        if (code == ERR_OK && r->words)
            code = read_statement(r);
        free(line);
        TRY(code);
    }
    return ERR_OK;
}

/* model.NAME of the experiment must be a param of this text. */
static enum err_code check_params(struct net_reader *r)
{
    const struct spec *spec = r->wants->spec;

    for (int i = 0; spec && i < spec->params; i++) {
        const char *bad = TEXT_CLEAN(spec->param[i].name);
        struct text names = {0};
        enum err_code code;
        bool known = false;

        for (int j = 0; j < r->names; j++) {
            known |= !strcmp(r->name[j].name, spec->param[i].name);
            text_addf(&names, "%s%s", j ? ", " : "", r->name[j].name);
        }
        code = known ? ERR_OK
                     : net_refuse_line(r, 0, "model.%s: the model has no param %s%s%s", bad,
                                       r->names ? bad : "at all", r->names ? "; it has " : "",
                                       text_str(&names));
        text_free(&names);
        TRY(code);
    }
    return ERR_OK;
}

static enum err_code check_whole(struct net_reader *r)
{
    struct net *net = r->net;
    const struct net_layer *last;
    char shape[48];

    if (r->depth)
        return net_refuse_line(r, r->scope[r->depth].line,
                               "the residual block that opens here is never closed; write }");
    if (!net->layers)
        return net_refuse_line(r, 0, "there is no layer in the text");
    last = &net->layer[net->layers - 1];
    net_shape_text(&last->out, shape);
    if (last->out.h != 1 || last->out.w != 1)
        return net_refuse_line(r, last->line,
                               "the last layer, %s, gives %s, and a number a class is wanted; "
                               "write dense classes behind it",
                               net_op_name(last->op), shape);
    if (last->out.c < r->wants->classes)
        return net_refuse_line(r, last->line,
                               "the last layer, %s, gives %d outputs and the data has %d classes; "
                               "write dense classes",
                               net_op_name(last->op), last->out.c, r->wants->classes);
    net->classes = last->out.c;
    return ERR_OK;
}

static void reader_free(struct net_reader *r)
{
    for (int i = 0; i < r->names; i++)
        free(r->name[i].value);
    text_free(&r->file);
    text_free(&r->shown);
    net_free(r->net);
    free(r);
}

/* The name that stands in tables: the file's without its folder and .net. */
static void name_net(struct net *net, const char *file)
{
    const char *slash = strrchr(file, '/');
    size_t n;

    if (slash && slash[1])
        file = slash + 1;
    n = text_stem(file, ".net");
    if (n >= sizeof net->name)
        n = sizeof net->name - 1;
    memcpy(net->name, file, n);
}

static struct net_reader *reader_new(const char *file, const struct net_wants *wants, struct err *e)
{
    struct net_reader *r = mem_new(1, sizeof *r);

    r->wants = wants;
    r->e = e;
    r->at = NET_IMAGES;
    text_add_clean(&r->file, file);
    r->net = mem_new(1, sizeof *r->net);
    r->net->init = SPEC_INIT_LECUN;
    r->net->classes = wants->classes ? wants->classes : 10;
    name_net(r->net, file);
    return r;
}

enum err_code net_parse(struct net **out, const char *text, size_t n, const char *file,
                        const struct net_wants *wants, struct err *e)
{
    static const struct net_wants nothing;
    struct net_reader *r = reader_new(file, wants ? wants : &nothing, e);
    enum err_code code = read_lines(r, text, n, false);

    *out = NULL;
    if (code == ERR_OK)
        code = check_params(r);
    if (code == ERR_OK)
        code = check_whole(r);
    if (code == ERR_OK) {
        net_count_flops(r->net);
        r->net->text = mem_text_n(text, n);
        *out = r->net;
        r->net = NULL;
    }
    reader_free(r);
    return code;
}

enum err_code net_read_demands(const char *text, size_t n, const char *file,
                               struct net_shape *shape, struct err *e)
{
    static const struct net_wants nothing;
    struct net_reader *r = reader_new(file, &nothing, e);
    enum err_code code = read_lines(r, text, n, true);

    *shape = (struct net_shape){0};
    if (code == ERR_OK && r->images_known)
        *shape = r->net->input;
    reader_free(r);
    return code;
}

void net_free(struct net *net)
{
    if (!net)
        return;
    free(net->text);
    free(net->layer);
    free(net->param);
    free(net->stat);
    free(net);
}
