#include "base/system/library.h"

#include "base/io.h"
#include "base/system/library_find.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 160 /* of a path: what is said of it has to fit behind it */

static bool read_at(int fd, uint64_t at, void *to, size_t n)
{
    return io.seek(fd, (off_t)at, SEEK_SET) == (off_t)at && io.read(fd, to, n) == (ssize_t)n;
}

/* How far the parts of a library reach in its file, which the loader maps unseen; 0: what is there is for
 * the loader to judge. */
static uint64_t end_of_parts(int fd)
{
    ElfW(Ehdr) head;
    uint64_t end = 0;

    if (!read_at(fd, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return 0;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        ElfW(Phdr) part;

        if (!read_at(fd, head.e_phoff + (uint64_t)i * head.e_phentsize, &part, sizeof part))
            return 0;
        if (part.p_type == PT_LOAD && part.p_offset + part.p_filesz > end)
            end = part.p_offset + part.p_filesz;
    }
    return end;
}

static const char *shown(const char *path)
{
    size_t n = strlen(path);

    return n > SHOWN ? path + n - SHOWN : path;
}

static void refuse(const char *path, struct err *why, const char *words)
{
    err_set(why, ERR_FAILED, "%s%s: %s", shown(path) == path ? "" : "...", shown(path), words);
}

/* What is seen of a file. NONE: there is none, or none for this machine, or the loader says what is wrong. */
enum look { NONE, WHOLE, REFUSED };

/* Who opens a pipe waits for whoever writes into it. */
static enum look look_at(const char *path, struct err *why)
{
    struct stat st;
    uint64_t end;
    char words[80];
    int fd;

    if (io.stat(path, &st) || S_ISDIR(st.st_mode))
        return NONE;
    if (!S_ISREG(st.st_mode)) {
        refuse(path, why, "not a regular file");
        return REFUSED;
    }
    fd = io.open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return NONE;
    end = end_of_parts(fd);
    io.close(fd);
    if (end <= (uint64_t)st.st_size)
        return end ? WHOLE : NONE;
    snprintf(words, sizeof words, "its end is missing: %llu bytes of at least %llu",
             (unsigned long long)st.st_size, (unsigned long long)end);
    refuse(path, why, words);
    return REFUSED;
}

struct search {
    struct err *why;
    enum look look;
};

static bool is_it(const char *path, void *user)
{
    struct search *s = user;

    s->look = look_at(path, s->why);
    return s->look != NONE;
}

static bool is_open(const char *name)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);

    if (library)
        dlclose(library);
    return library != NULL;
}

enum err_code library_check(const char *path, struct err *why)
{
    struct search s = {why, NONE};

    if (strchr(path, '/'))
        return look_at(path, why) == REFUSED ? ERR_FAILED : ERR_OK;
    if (!is_open(path))
        (void)library_each(path, is_it, &s);
    return s.look == REFUSED ? ERR_FAILED : ERR_OK;
}

void *library_open(const char *path, int how, struct err *why)
{
    void *library;
    const char *error;
    size_t n = strlen(path);

    if (library_check(path, why) != ERR_OK)
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
