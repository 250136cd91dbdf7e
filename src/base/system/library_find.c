/* base/system/library_find.c: where the loader would look for a library by its name alone. */
#include "base/system/library_find.h"

#include "base/io.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_MOST ((size_t)64 << 20)

/* What ldconfig writes, glibc's sysdeps/generic/dl-cache.h: strings lie behind the entries, and offsets
 * count from the head's begin. */
struct cache_head {
    char magic[20];
    uint32_t entries, strings;
    uint8_t flags, unused[3];
    uint32_t extension, reserved[3];
};
struct cache_entry {
    int32_t flags;
    uint32_t name, path, version;
    uint64_t wants; /* of the processor; 0: any will do */
};
static const char cache_magic[] = "glibc-ld.so.cache1.1";

static const char *string_at(const char *bytes, size_t n, uint32_t at)
{
    return at < n && memchr(bytes + at, 0, n - at) ? bytes + at : NULL;
}

bool library_cached(const char *cache, const char *name, library_is *is, void *user)
{
    char *bytes = NULL, *begin;
    struct cache_head head;
    bool found = false;
    size_t n = 0, left;

    if (io_read_file(cache, CACHE_MOST, &bytes, &n, NULL) != ERR_OK)
        return false;
    begin =
        memmem(bytes, n, cache_magic, sizeof cache_magic - 1); /* an older one may lie in front */
    left = begin ? n - (size_t)(begin - bytes) : 0;
    head.entries = 0;
    if (left >= sizeof head)
        memcpy(&head, begin, sizeof head);
    for (size_t i = 0; i < head.entries && !found; i++) {
        size_t at = sizeof head + i * sizeof(struct cache_entry);
        struct cache_entry e;
        const char *of, *path;

        if (at + sizeof e > left)
            break;
        memcpy(&e, begin + at, sizeof e);
        of = e.wants ? NULL : string_at(begin, left, e.name);
        path = string_at(begin, left, e.path);
        found = of && path && strcmp(of, name) == 0 && is(path, user);
    }
    free(bytes);
    return found;
}

static bool in_folder(const char *folder, const char *name, library_is *is, void *user)
{
    char *path = io_path(folder, name);
    bool found = is(path, user);

    free(path);
    return found;
}

static bool of_the_system(const char *folder)
{
    return !strncmp(folder, "/lib", 4) || !strncmp(folder, "/usr/lib", 8);
}

/* The folders in which the loader looks, freed by the caller; NULL: it does not say. */
static Dl_serinfo *folders(void)
{
    void *self = dlopen(NULL, RTLD_LAZY);
    Dl_serinfo size, *all = NULL;

    if (self && dlinfo(self, RTLD_DI_SERINFOSIZE, &size) == 0) {
        all = mem_new(1, size.dls_size);
        if (dlinfo(self, RTLD_DI_SERINFOSIZE, all) || dlinfo(self, RTLD_DI_SERINFO, all)) {
            free(all);
            all = NULL;
        }
    }
    if (self)
        dlclose(self);
    return all;
}

/* LD_LIBRARY_PATH's, ldconfig's, then the system's, which are the last that the loader names. */
bool library_each(const char *name, library_is *is, void *user)
{
    Dl_serinfo *all = folders();
    unsigned n = all ? all->dls_cnt : 0, own = n;
    bool found = false;

    while (own > 0 && of_the_system(all->dls_serpath[own - 1].dls_name))
        own--;
    for (unsigned i = 0; i < own && !found; i++)
        found = in_folder(all->dls_serpath[i].dls_name, name, is, user);
    found = found || library_cached("/etc/ld.so.cache", name, is, user);
    for (unsigned i = own; i < n && !found; i++)
        found = in_folder(all->dls_serpath[i].dls_name, name, is, user);
    free(all);
    return found;
}
