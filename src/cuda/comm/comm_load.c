/* cuda/comm/comm_load.c: NCCL's functions out of its shared library. They are declared here by hand, so
 * that the program is built where its header is not. */
#include "cuda/comm/comm.h"
#include "cuda/rt/libs.h"

#include "base/mem.h"

#include <stdio.h>

#define OLDEST 21800 /* 2.18: the first whose configuration is laid out as ours */

static int (*init_by_value)(void **comm, int ranks, struct cuda_nccl_id id, int rank, void *config);

static int init(void **comm, int ranks, const struct cuda_nccl_id *id, int rank, void *config)
{
    return init_by_value(comm, ranks, *id, rank, config);
}

void cuda_nccl_version_text(int version, char out[16])
{
    snprintf(out, 16, "%d.%d.%d", version / 10000 % 100, version / 100 % 100, version % 100);
}

bool cuda_nccl_fits(const struct cuda_nccl *nccl, const char *path, struct err *why)
{
    char text[16];
    int version = 0;

    if (nccl->version(&version) == 0 && version >= OLDEST)
        return true;
    /* Up to 2.8 thousands were the first number. */
    if (version < 10000)
        version = version / 1000 * 10000 + version % 1000;
    cuda_nccl_version_text(version, text);
    err_set(why, ERR_FAILED,
            "%s is NCCL %s, chorus needs 2.18 or newer: CHORUS_NCCL may name another", path, text);
    return false;
}

const struct cuda_nccl *cuda_nccl_load(struct err *why)
{
    static struct cuda_nccl table;
    const struct cuda_lib_entry entries[] = {
        {&table.version, "ncclGetVersion"},
        {&table.text, "ncclGetErrorString"},
        {&table.unique_id, "ncclGetUniqueId"},
        {&init_by_value, "ncclCommInitRankConfig"},
        {&table.async_error, "ncclCommGetAsyncError"},
        {&table.all_reduce, "ncclAllReduce"},
        {&table.finalize, "ncclCommFinalize"},
        {&table.destroy, "ncclCommDestroy"},
        {&table.abort, "ncclCommAbort"},
    };
    char path[CUDA_LIB_ROOM];
    struct err lacks;
    void *library = cuda_lib_open("libnccl.so.2", "CHORUS_NCCL", "nccl", path, why);

    /* The version first: an old library may lack what comes behind it. */
    if (!library)
        return NULL;
    if (cuda_lib_bind(library, path, entries, 1, &lacks) == ERR_OK &&
        !cuda_nccl_fits(&table, path, why))
        return NULL;
    if (cuda_lib_bind(library, path, entries, MEM_COUNT(entries), &lacks) != ERR_OK) {
        err_set(why, ERR_FAILED, "%s: CHORUS_NCCL may name another", lacks.text);
        return NULL;
    }
    table.init = init;
    return &table;
}
