/* A model: a text is refused in a sentence that names its file, or becomes a sound net. */
#include "tests/torture/fuzz/fuzz.h"

#include "net/net.h"

#include <string.h>

static void check(const struct net *net)
{
    size_t parameters = 0;

    for (int i = 0; i < net->params; i++) {
        MUST(net->param[i].offset == parameters);
        parameters += net->param[i].count;
    }
    MUST(parameters == net->parameter_count);
    MUST(net->layers > 0 && net->classes > 0 && net->flops >= 0);
    for (int i = 0; i < net->layers; i++) {
        const struct net_layer *l = &net->layer[i];

        MUST(l->src < i && l->src2 < i);
        MUST(l->out.h > 0 && l->out.w > 0 && l->out.c > 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct net_shape demanded;
    struct net *net;
    struct err e = {0};

    if (fuzz_taken(net_parse(&net, (const char *)bytes, n, "t.net", NULL, &e), &e)) {
        check(net);
        MUST(!memcmp(net->text, bytes, n));
        MUST(net_read_demands((const char *)bytes, n, "t.net", &demanded, &e) == ERR_OK);
        MUST(!demanded.h || !memcmp(&demanded, &net->input, sizeof demanded));
        net_free(net);
    } else {
        MUST(e.code == ERR_INPUT && !net && !strncmp(e.text, "t.net:", 6));
        (void)!net_read_demands((const char *)bytes, n, "t.net", &demanded, &e);
    }
    return 0;
}
