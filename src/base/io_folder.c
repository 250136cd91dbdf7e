/* base/io_folder.c: folders, and paths through them. */
#include "base/io.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum err_code io_sync_folder(const char *path, struct err *e)
{
    int fd = io.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

    if (fd < 0)
        return err_errno(e, "cannot open folder %s", path);
    enum err_code code = ERR_OK;
    /* some file systems cannot sync a folder and say so; that is no failure of ours */
    if (io.sync(fd) && errno != EINVAL)
        code = err_errno(e, "cannot sync folder %s", path);
    io.close(fd);
    return code;
}

/* What is written in a new folder is lost with its name where power is lost. */
static enum err_code sync_name(const char *path, struct err *e)
{
    char *folder = io_folder_of(path);
    enum err_code code = io_sync_folder(folder, e);

    free(folder);
    return code;
}

enum err_code io_make_folders(const char *path, struct err *e)
{
    char *part = mem_text(path);
    enum err_code code = ERR_OK;
    struct stat st;

    for (char *p = part + 1; !code; p++) {
        char held = *p;
        if (held && held != '/')
            continue;
        *p = 0;
        if (io.mkdir(part, 0777) == 0)
            code = sync_name(part, e);
        else if (errno != EEXIST)
            code = err_errno(e, "cannot make folder %s", part);
        else if (!held && io.stat(part, &st) < 0)
            code = err_errno(e, "cannot look at %s", part);
        else if (!held && !S_ISDIR(st.st_mode))
            code = err_set(e, ERR_IO, "cannot make folder %s: a file of that name is there", part);
        *p = held;
        if (!held)
            break;
    }
    free(part);
    return code;
}

static int io_compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

enum err_code io_list_folder(const char *path, char ***names, size_t *count, struct err *e)
{
    size_t room = 0, n = 0;
    char **list = NULL;
    struct dirent *entry;
    DIR *folder = opendir(path);

    *names = NULL;
    *count = 0;
    if (!folder)
        return err_errno(e, "cannot open folder %s", path);
    while (errno = 0, (entry = readdir(folder))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        list = mem_grow(list, &room, n + 1, sizeof *list);
        list[n++] = mem_text(entry->d_name);
    }
    if (errno) {
        enum err_code code = err_errno(e, "cannot read folder %s", path);
        closedir(folder);
        io_free_names(list, n);
        return code;
    }
    closedir(folder);
    if (n)
        qsort(list, n, sizeof *list, io_compare_names);
    *names = list;
    *count = n;
    return ERR_OK;
}

enum err_code io_list_if_there(const char *path, char ***names, size_t *count, struct err *e)
{
    struct err why = {0};
    enum err_code code = io_list_folder(path, names, count, &why);

    if (code != ERR_OK && why.sys == ENOENT)
        return ERR_OK;
    if (code != ERR_OK && e)
        *e = why;
    return code;
}

void io_free_names(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

char *io_path(const char *folder, const char *name)
{
    if (*name == '/' || !*folder)
        return mem_text(name);
    return mem_textf("%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
}

char *io_home_path(const char *path)
{
    const char *home = getenv("HOME");

    return home && *home && path[0] == '~' && path[1] == '/' ? mem_textf("%s%s", home, path + 1)
                                                             : mem_text(path);
}

const char *io_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

char *io_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return mem_text(".");
    return mem_text_n(path, slash == path ? 1 : (size_t)(slash - path));
}

char *io_cache_folder(void)
{
    const char *own = getenv("CHORUS_CACHE"), *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");

    if (own && own[0])
        return strcmp(own, "off") ? mem_text(own) : NULL;
    if (xdg && xdg[0] == '/')
        return mem_textf("%s/chorus", xdg);
    if (home && home[0] == '/')
        return mem_textf("%s/.cache/chorus", home);
    return NULL;
}
