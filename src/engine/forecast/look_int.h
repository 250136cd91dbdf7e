/* engine/forecast/look_int.h: what the files of a look share. */
#ifndef CHORUS_ENGINE_FORECAST_LOOK_INT_H
#define CHORUS_ENGINE_FORECAST_LOOK_INT_H

#include "engine/forecast/look.h"

/* look_nets.c: models as their files say now, and the nets that were made of them. */
struct look_nets {
    struct look_model *model; /* a list */
    size_t nets, layers;      /* that are kept */
    size_t parsed;
    uint64_t freed; /* grows where nets go: another may stand where one was */
};
void look_nets_free(struct look_nets *n);
/* Those are let go that make too many; only while no plan has one. */
void look_nets_trim(struct look_nets *n);
/* As net_demands and net_open; a file is read once in each look, whose serial number `look` is. */
enum err_code look_demands(struct look_nets *n, uint64_t look, const char *model,
                           struct net_shape *shape, struct err *e) MUST_USE;
enum err_code look_net(struct look_nets *n, uint64_t look, const char *model,
                       const struct net_wants *wants, struct net **out, struct err *e) MUST_USE;

#endif
