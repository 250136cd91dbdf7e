/* cuda/dnn_api.c: opening cuDNN. */
#include "cuda/dnn_abi.h"
#include "cuda/libs.h"

#include "base/mem.h"
#include "cuda/rt.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define OLDEST 90000

static struct {
    pthread_once_t once;
    struct cuda_dnn_api api;
    bool open;
    struct err why;
} held = {.once = PTHREAD_ONCE_INIT};

static void open_library(void)
{
    struct cuda_dnn_api *a = &held.api;
    const struct cuda_lib_entry entries[] = {
        {&a->version, "cudnnGetVersion"},
        {&a->create, "cudnnCreate"},
        {&a->destroy, "cudnnDestroy"},
        {&a->set_stream, "cudnnSetStream"},
        {&a->descriptor, "cudnnBackendCreateDescriptor"},
        {&a->discard, "cudnnBackendDestroyDescriptor"},
        {&a->set, "cudnnBackendSetAttribute"},
        {&a->get, "cudnnBackendGetAttribute"},
        {&a->finalize, "cudnnBackendFinalize"},
        {&a->execute, "cudnnBackendExecute"},
        {&a->last_error, "cudnnGetLastErrorString"},
    };
    char path[CUDA_LIB_ROOM];
    void *library = cuda_lib_open("libcudnn.so.9", "CHORUS_CUDNN", "cudnn", path, &held.why);

    if (!library || cuda_lib_bind(library, path, entries, MEM_COUNT(entries), &held.why) != ERR_OK)
        return;
    if (a->version() < OLDEST) {
        err_set(&held.why, ERR_FAILED, "%s is cuDNN %zu: chorus needs 9.0 or newer", path,
                a->version());
        return;
    }
    held.open = true;
}

const struct cuda_dnn_api *cuda_dnn_api(struct err *why)
{
    const struct cuda_dnn_api *replaced = cuda_dnn_replaced();

    if (replaced)
        return replaced;
    pthread_once(&held.once, open_library);
    if (held.open)
        return &held.api;
    err_set(why, held.why.code, "%s", held.why.text);
    return NULL;
}

const struct cuda_dnn_api *cuda_dnn_usable(struct err *why)
{
    const char *given = getenv("CHORUS_CUDNN");

    if (given && !strcmp(given, "off")) {
        err_set(why, ERR_FAILED, "CHORUS_CUDNN = off: convolutions are chorus's own");
        return NULL;
    }
    if (!strcmp(cuda_rt()->name, "twin") && !cuda_dnn_replaced()) {
        err_set(why, ERR_FAILED, "the twin has no cuDNN: CHORUS_TWIN_CUDNN=1 gives it one");
        return NULL;
    }
    return cuda_dnn_api(why);
}

int cuda_dnn_version(void)
{
    const struct cuda_dnn_api *api = cuda_dnn_usable(NULL);

    return api ? (int)api->version() : 0;
}
