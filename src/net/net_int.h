/* net/net_int.h: what the files of this room share while a text becomes a net. */
#ifndef CHORUS_NET_INT_H
#define CHORUS_NET_INT_H

#include "net/net.h"

enum {
    NET_TEXT_BYTES = 1 << 20,
    NET_LINE_BYTES = 1 << 16,
    NET_MOST_LAYERS = 4096,
    NET_MOST_SIZE = 1 << 20,     /* of every number in a layer's line */
    NET_MOST_ELEMENTS = 1 << 30, /* of an image between two layers */
    NET_MOST_DEPTH = 5,          /* residual blocks in residual blocks */
    NET_MOST_NAMES = 64,         /* param lines */
    NET_MOST_WORDS = 16,         /* on a line */
};
#define NET_MOST_PARAMETERS ((uint64_t)1 << 40)

/* A residual block, or the whole net: layers of a kind are numbered within it. */
struct net_scope {
    char path[64]; /* "Residual_0/", or empty */
    int convs, denses, batchnorms, residuals;
    int line; /* of its opening brace */
    bool shortcut;
    int from, body; /* layers: what the block reads, where its body ends */
    struct net_shape from_shape, body_shape;
};

struct net_reader {
    struct net *net;
    const struct net_wants *wants;
    struct err *e;
    struct text file; /* the file's name, safe to show */
    int line;
    struct text shown; /* the statement as written, safe to show, cut to a readable length */
    char *word[NET_MOST_WORDS];
    int words;
    bool params_used; /* in this statement */
    struct {
        char name[32], *value; /* model.NAME of the experiment, else as the text says */
    } name[NET_MOST_NAMES];
    int names;
    int input_line, init_line; /* 0: not seen yet */
    bool images_known;         /* the input's shape is the data's, or the text's own */
    struct net_scope scope[NET_MOST_DEPTH + 1];
    int depth;
    int at; /* the layer whose output the next one reads */
    struct net_shape shape;
    int dropouts;
    size_t layer_room, param_room, stat_room;
};

/* What a layer's line says, before shapes are known. */
struct net_line {
    enum net_op op;
    int outputs, k, stride, pad;
    bool same, bias;
    double rate;
};

/* "FILE:LINE: STATEMENT: ..." */
enum err_code net_refuse(struct net_reader *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same without a statement: for the text as a whole. */
enum err_code net_refuse_line(struct net_reader *r, int line, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

/* One line split into words, params put in: lines.c. A line without words has r->words 0. */
enum err_code net_read_words(struct net_reader *r, char *line, size_t n) MUST_USE;
enum err_code net_read_number(struct net_reader *r, int word, const char *what, int64_t least,
                              int64_t most, int *value) MUST_USE;

/* Appends a layer that reads the one before it: shapes, names, tensors: layer.c */
enum err_code net_add_layer(struct net_reader *r, const struct net_line *line) MUST_USE;
enum err_code net_open_block(struct net_reader *r) MUST_USE;
enum err_code net_open_shortcut(struct net_reader *r) MUST_USE;
enum err_code net_close_block(struct net_reader *r) MUST_USE;
void net_count_flops(struct net *net);

#endif
