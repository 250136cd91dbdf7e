/* cuda/dnn/dnn_api.c: opening cuDNN. Its library is a shell that opens its parts when they are needed, and
 * ends the process where one of two is missing: the part that all its functions lie in, and cublasLt. Both
 * are opened here first. (Without any other part it has no plans, and says so.) */
#include "cuda/dnn/dnn_abi.h"
#include "cuda/rt/libs.h"

#include "base/io.h"
#include "base/system/library.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cuda/rt/rt.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OLDEST 90000
#define GRAPH  "libcudnn_graph.so.9"

static struct {
    pthread_once_t once;
    struct cuda_dnn_api api;
    bool open;
    struct err why;
} held = {.once = PTHREAD_ONCE_INIT};

/* The part in the folder of a file; path becomes the part's where it is there. */
static void *open_beside(const char *library, char path[CUDA_LIB_ROOM], struct err *why)
{
    const char *slash = strrchr(library, '/');
    char *file =
        mem_textf("%.*s/" GRAPH, slash ? (int)(slash - library) : 1, slash ? library : ".");
    void *graph = library_open(file, RTLD_NOW, why);

    if (graph)
        snprintf(path, CUDA_LIB_ROOM, "%s", file);
    free(file);
    return graph;
}

/* Beside the library, or beside what it is a link to. */
static void *open_graph(void *library, char path[CUDA_LIB_ROOM])
{
    struct link_map *map;
    struct err why;
    char *target;
    void *graph;

    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
        snprintf(path, CUDA_LIB_ROOM, "%s", map->l_name);
    target = realpath(path, NULL);
    graph = open_beside(path, path, &why);
    if (!graph)
        err_set(&held.why, ERR_FAILED, "%s is not usable without its part " GRAPH ": %s", path,
                why.text);
    if (!graph && target)
        graph = open_beside(target, path, &why);
    free(target);
    return graph;
}

/* It opens the others by itself, and takes them for whole. */
static bool parts_are_whole(const char *graph)
{
    char *folder = mem_text_n(graph, (size_t)(strrchr(graph, '/') - graph)), **names;
    bool whole = true;
    size_t n;

    if (io_list_folder(folder, &names, &n, NULL) == ERR_OK) {
        for (size_t i = 0; i < n && whole; i++) {
            char *path = io_path(folder, names[i]);

            if (!strncmp(names[i], "libcudnn_", 9) && text_ends_with(names[i], ".so.9"))
                whole = library_check(path, &held.why) == ERR_OK;
            free(path);
        }
        io_free_names(names, n);
    }
    free(folder);
    return whole;
}

/* By the loader's path, where cuDNN's parts look besides, and where other libraries are looked for: one
 * that is open is found by its name alone. */
static bool open_cublas(const char *graph, int cuda)
{
    char name[32], own[32], package[16], unused[CUDA_LIB_ROOM];
    const char *const folders[] = {"", "/../../cublas/lib", own};
    int length = (int)(strrchr(graph, '/') - graph);
    bool found;

    snprintf(name, sizeof name, "libcublasLt.so.%d", cuda);
    snprintf(own, sizeof own, "/../../cu%d/lib", cuda);
    snprintf(package, sizeof package, "cu%d", cuda);
    found = library_open(name, RTLD_LAZY, NULL);
    for (size_t i = 0; i < MEM_COUNT(folders) && !found; i++) {
        char *path = mem_textf("%.*s%s/%s", length, graph, folders[i], name);

        found = library_open(path, RTLD_LAZY, NULL);
        free(path);
    }
    found = found || cuda_lib_open(name, NULL, "cublas", unused, NULL) ||
            cuda_lib_open(name, NULL, package, unused, NULL);
    if (!found)
        err_set(&held.why, ERR_FAILED,
                "%s is not usable without %s, which is neither in the loader's path nor beside it, "
                "in $CUDA_HOME or in Python's packages",
                graph, name);
    return found;
}

static bool open_all(char path[CUDA_LIB_ROOM])
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
    size_t (*toolkit)(void); /* 13000 */
    const struct cuda_lib_entry version_of[] = {{&toolkit, "cudnnGetCudartVersion"}};
    void *library = cuda_lib_open("libcudnn.so.9", "CHORUS_CUDNN", "cudnn", path, &held.why);

    if (!library || !(library = open_graph(library, path)) || !parts_are_whole(path) ||
        cuda_lib_bind(library, path, entries, MEM_COUNT(entries), &held.why) != ERR_OK ||
        cuda_lib_bind(library, path, version_of, 1, &held.why) != ERR_OK)
        return false;
    if (a->version() < OLDEST) {
        err_set(&held.why, ERR_FAILED, "%s is cuDNN %zu: chorus needs 9.0 or newer", path,
                a->version());
        return false;
    }
    return open_cublas(path, (int)(toolkit() / 1000));
}

static void open_library(void)
{
    char path[CUDA_LIB_ROOM] = "";

    held.open = open_all(path);
    /* Who named one, or has one that is of no use, would wonder why all is slow. */
    if (!held.open && held.why.code != ERR_INPUT)
        log_say(LOG_WARN, "%s; convolutions are chorus's own", held.why.text);
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
