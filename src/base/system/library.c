#include "base/system/library.h"

#include "base/io.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 160 /* of a path: what is said of it has to fit behind it */

/* Where a library's file ends: its table of sections is the last in it. 0: what is there is for the loader to
 * judge. */
static uint64_t end_of(int fd)
{
    ElfW(Ehdr) head;

    if (io.read(fd, &head, sizeof head) != (ssize_t)sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return 0;
    return head.e_shoff + (uint64_t)head.e_shnum * head.e_shentsize;
}

static const char *shown(const char *path)
{
    size_t n = strlen(path);

    return n > SHOWN ? path + n - SHOWN : path;
}

static enum err_code refuse(const char *path, struct err *why, const char *words)
{
    return err_set(why, ERR_FAILED, "%s%s: %s", shown(path) == path ? "" : "...", shown(path),
                   words);
}

/* The loader maps a file beyond its end, and touches that; who opens a pipe waits for whoever writes into it. */
enum err_code library_check(const char *path, struct err *why)
{
    char words[80] = "not a regular file";
    struct stat st;
    uint64_t end;
    int fd;

    if (io.stat(path, &st) || S_ISDIR(st.st_mode))
        return ERR_OK;
    if (S_ISREG(st.st_mode)) {
        fd = io.open(path, O_RDONLY | O_CLOEXEC, 0);
        if (fd < 0)
            return ERR_OK;
        end = end_of(fd);
        io.close(fd);
        if (end <= (uint64_t)st.st_size)
            return ERR_OK;
        snprintf(words, sizeof words, "its end is missing: %llu bytes of at least %llu",
                 (unsigned long long)st.st_size, (unsigned long long)end);
    }
    return refuse(path, why, words);
}

void *library_open(const char *path, int how, struct err *why)
{
    void *library;
    const char *error;
    size_t n = strlen(path);

    if (strchr(path, '/') && library_check(path, why) != ERR_OK)
        return NULL;
    library = dlopen(path, how | RTLD_LOCAL);
    if (library)
        return library;
    error = dlerror();
    if (error && !strncmp(error, path, n) && !strncmp(error + n, ": ", 2))
        error += n + 2;
    refuse(path, why, error ? error : "the loader does not say why");
    return NULL;
}
