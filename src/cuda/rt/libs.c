/* cuda/rt/libs.c: where shared libraries may lie. */
#include "cuda/rt/libs.h"

#include "base/io.h"
#include "base/system/library.h"
#include "base/mem.h"
#include "base/text.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct search {
    const char *file, *package;
    char *path; /* (CUDA_LIB_ROOM) of what was found */
    void *found;
    struct text broken; /* what was there and could not be opened */
};

static void open_it(struct search *s, const char *path)
{
    struct err why;
    size_t n = strlen(path);

    if (s->found)
        return;
    s->found = library_open(path, RTLD_NOW, &why);
    if (s->found) {
        snprintf(s->path, CUDA_LIB_ROOM, "%s", path);
        return;
    }
    /* By its name alone: what the loader says where there is none. */
    static const char none[] = ": cannot open shared";
    if (!strchr(path, '/') && !strncmp(why.text, path, n) &&
        !strncmp(why.text + n, none, sizeof none - 1))
        return;
    if (!s->broken.n)
        text_add(&s->broken, why.text);
}

static void try_folder(struct search *s, const char *folder)
{
    char *path = io_path(folder, s->file);

    if (!s->found && io_exists(path))
        open_it(s, path);
    free(path);
}

/* Folders that a pattern names, each with nvidia/PACKAGE/lib in it. */
static void try_packages(struct search *s, const char *prefix, const char *below)
{
    char *pattern;
    glob_t found;

    if (s->found || !prefix || !*prefix)
        return;
    pattern = mem_textf("%s/%s/nvidia/%s/lib", prefix, below, s->package);
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            try_folder(s, found.gl_pathv[i]);
        globfree(&found);
    }
    free(pattern);
}

static void try_prefix(struct search *s, const char *prefix)
{
    try_packages(s, prefix, "lib/python3*/site-packages");
    try_packages(s, prefix, "lib/python3*/dist-packages");
    try_packages(s, prefix, "local/lib/python3*/dist-packages");
}

/* The prefix of .../bin/python3 */
static void try_python(struct search *s, const char *python)
{
    char *prefix = mem_text(python);

    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(prefix, '/');

        if (slash)
            *slash = '\0';
    }
    try_prefix(s, prefix);
    free(prefix);
}

/* The first python3 of PATH: where it stands (an environment's own) and what it is a link to. */
static void try_path(struct search *s)
{
    const char *path = getenv("PATH");
    char *copy = mem_text(path ? path : ""), *save = NULL;

    for (char *at = strtok_r(copy, ":", &save); at; at = strtok_r(NULL, ":", &save)) {
        char *python = io_path(at, "python3"), *real = NULL;
        bool there = access(python, X_OK) == 0;

        if (there) {
            try_python(s, python);
            real = realpath(python, NULL);
            if (real)
                try_python(s, real);
            free(real);
        }
        free(python);
        if (there)
            break;
    }
    free(copy);
}

static void try_python_folders(struct search *s)
{
    const char *own = getenv("PYTHONPATH"), *home = getenv("HOME");
    char *copy = mem_text(own ? own : ""), *save = NULL;

    for (char *at = strtok_r(copy, ":", &save); at; at = strtok_r(NULL, ":", &save))
        try_packages(s, at, ".");
    free(copy);
    try_prefix(s, getenv("VIRTUAL_ENV"));
    try_prefix(s, getenv("CONDA_PREFIX"));
    try_path(s);
    if (home && *home)
        try_packages(s, home, ".local/lib/python3*/site-packages");
}

/* Of a toolkit: where libraries lie in it, as make/detect.sh looks for them; conda's have no lib64, and
 * what is made for several machines has one of the others alone. */
#ifdef __aarch64__
#define TARGET "sbsa-linux"
#else
#define TARGET "x86_64-linux"
#endif
static const char *const toolkit_folders[] = {"lib64", "lib", "targets/" TARGET "/lib"};

static const char *toolkit(void)
{
    const char *home = getenv("CUDA_HOME");

    return home && *home ? home : "/usr/local/cuda";
}

void *cuda_lib_open(const char *file, const char *variable, const char *package,
                    char path[CUDA_LIB_ROOM], struct err *why)
{
    struct search s = {.file = file, .package = package, .path = path};
    const char *given = variable ? getenv(variable) : NULL;

    path[0] = '\0';
    if (given && *given) {
        if (io_is_folder(given))
            try_folder(&s, given);
        else if (io_exists(given))
            open_it(&s, given);
        if (!s.found)
            err_set(why, ERR_FAILED, "%s = %s: %s%s", variable, given,
                    s.broken.n            ? "it cannot be opened: "
                    : io_is_folder(given) ? "that folder has no "
                                          : "there is no such file",
                    s.broken.n            ? text_str(&s.broken)
                    : io_is_folder(given) ? file
                                          : "");
        text_free(&s.broken);
        return s.found;
    }
    open_it(&s, file);
    for (size_t i = 0; i < MEM_COUNT(toolkit_folders); i++) {
        char *folder = io_path(toolkit(), toolkit_folders[i]);

        try_folder(&s, folder);
        free(folder);
    }
    try_python_folders(&s);
    if (!s.found && s.broken.n)
        err_set(why, ERR_FAILED, "%s cannot be opened: %s; %s may name another", file,
                text_str(&s.broken), variable);
    else if (!s.found)
        err_set(why, ERR_INPUT,
                "%s is not on this machine: looked in the loader's path, in lib64, lib and "
                "targets/" TARGET "/lib of %s and in nvidia/%s/lib of Python's packages; %s may "
                "name it",
                file, toolkit(), package, variable);
    text_free(&s.broken);
    return s.found;
}

enum err_code cuda_lib_bind(void *library, const char *path, const struct cuda_lib_entry *entries,
                            size_t n, struct err *why)
{
    for (size_t i = 0; i < n; i++) {
        void *address = dlsym(library, entries[i].name);

        if (!address)
            return err_set(why, ERR_FAILED, "%s has no function %s", path, entries[i].name);
        memcpy(entries[i].where, &address, sizeof address);
    }
    return ERR_OK;
}
