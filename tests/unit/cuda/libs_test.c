/* Finding shared libraries where they may be, and what is said of those that are not. */
#include "tests/test.h"

#include "base/io.h"
#include "base/system/library.h"
#include "cuda/comm/comm.h"
#include "cuda/rt/libs.h"
#include "cuda/load.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the mathematical library is. */
static bool some_library(char out[4096])
{
    bool found = false, open = dlopen("libm.so.6", RTLD_NOW) != NULL;
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[5000];

    while (open && maps && !found && fgets(line, sizeof line, maps))
        found = strstr(line, "/libm.so") && sscanf(strchr(line, '/'), "%4095s", out) == 1;
    if (maps)
        fclose(maps);
    return found;
}

static void make_folder(const char *folder)
{
    struct err e;

    if (io_make_folders(folder, &e) != ERR_OK)
        TEST_FAILED("%s", e.text);
}

static char top[64], library[4096];

static bool begin_search(void)
{
    snprintf(top, sizeof top, "/tmp/chorus-libs-XXXXXX");
    unsetenv("VIRTUAL_ENV");
    unsetenv("CONDA_PREFIX");
    unsetenv("PYTHONPATH");
    unsetenv("CHORUS_ANY");
    setenv("HOME", "/nowhere", 1);
    setenv("PATH", "/nowhere", 1);
    return some_library(library) && mkdtemp(top);
}

static char *below(char out[512], const char *path)
{
    snprintf(out, 512, "%s/%s", top, path);
    return out;
}

static void end_search(void)
{
    char command[128];

    snprintf(command, sizeof command, "/bin/rm -rf %s", top);
    if (system(command) != 0)
        TEST_FAILED("%s", command);
}

/* Puts the library there, opens it as `any`, and compares where it was found. */
static void check_found(const char *folder)
{
    char at[512], file[600], path[CUDA_LIB_ROOM];
    struct err e = {0};

    below(at, folder);
    make_folder(at);
    snprintf(file, sizeof file, "%s/libany.so.1", at);
    CHECK_INT(symlink(library, file), 0);
    if (cuda_lib_open("libany.so.1", "CHORUS_ANY", "any", path, &e))
        CHECK_STR(path, file);
    else
        TEST_FAILED("%s: %s", folder, e.text);
    unlink(file);
}

TEST(libraries_are_found_where_they_may_be)
{
    char at[512], path[CUDA_LIB_ROOM], link[512];
    struct err e = {0};

    REQUIRE(begin_search());
    setenv("CUDA_HOME", below(at, "toolkit"), 1);
    CHECK(!cuda_lib_open("libany.so.1", "CHORUS_ANY", "any", path, &e));
    CHECK_INT(e.code, ERR_INPUT);
    CHECK_HAS(e.text,
              "libany.so.1 is not on this machine: looked in the loader's path, in lib64, ");
    CHECK_HAS(e.text,
              "/toolkit and in nvidia/any/lib of Python's packages; CHORUS_ANY may name it");
    check_found("toolkit/lib64");
    check_found("toolkit/lib");
#ifdef __x86_64__
    check_found("toolkit/targets/x86_64-linux/lib");
#endif
    setenv("VIRTUAL_ENV", below(at, "venv"), 1);
    check_found("venv/lib/python3.11/site-packages/nvidia/any/lib");
    unsetenv("VIRTUAL_ENV");
    setenv("HOME", below(at, "home"), 1);
    check_found("home/.local/lib/python3.9/site-packages/nvidia/any/lib");
    setenv("PYTHONPATH", below(at, "mine"), 1);
    check_found("mine/./nvidia/any/lib");
    /* python3 on PATH is a link into another prefix: both are looked through. */
    make_folder(below(at, "prefix/bin"));
    make_folder(below(at, "system/bin"));
    below(at, "system/bin/python3");
    below(link, "prefix/bin/python3");
    CHECK_INT(symlink("/bin/sh", at), 0);
    CHECK_INT(symlink("/bin/sh", link), 0);
    setenv("PATH", below(at, "prefix/bin"), 1);
    check_found("prefix/lib/python3.12/site-packages/nvidia/any/lib");
    check_found("prefix/local/lib/python3.12/dist-packages/nvidia/any/lib");
    end_search();
}

TEST(a_library_that_is_named_is_the_only_one)
{
    char at[512], path[CUDA_LIB_ROOM], file[600];
    struct err e = {0};
    FILE *f;

    REQUIRE(begin_search());
    setenv("CHORUS_ANY", below(at, "gone"), 1);
    CHECK(!cuda_lib_open("libany.so.1", "CHORUS_ANY", "any", path, &e));
    CHECK_INT(e.code, ERR_FAILED);
    CHECK_HAS(e.text, "/gone: there is no such file");
    make_folder(below(at, "empty"));
    setenv("CHORUS_ANY", at, 1);
    CHECK(!cuda_lib_open("libany.so.1", "CHORUS_ANY", "any", path, &e));
    CHECK_HAS(e.text, "/empty: that folder has no libany.so.1");
    check_found("empty");
    make_folder(below(at, "broken"));
    setenv("CHORUS_ANY", at, 1);
    snprintf(file, sizeof file, "%s/libany.so.1", at);
    f = fopen(file, "w");
    REQUIRE(f);
    fputs("this is no library\n", f);
    fclose(f);
    CHECK(!cuda_lib_open("libany.so.1", "CHORUS_ANY", "any", path, &e));
    CHECK_HAS(e.text, "/broken: it cannot be opened: ");
    setenv("CHORUS_ANY", library, 1);
    CHECK(cuda_lib_open("libany.so.1", "CHORUS_ANY", "any", path, &e));
    CHECK_STR(path, library);
    end_search();
}

/* The first bytes of a library, so many of n: a copy that came to its end too early. */
static void cut_library(const char *file, long n, long of)
{
    FILE *from = fopen(library, "r"), *to = fopen(file, "w");

    REQUIRE(from && to && fseek(from, 0, SEEK_END) == 0);
    long left = ftell(from) / of * n;
    rewind(from);
    while (left-- > 0)
        putc(getc(from), to);
    fclose(from);
    fclose(to);
}

/* The loader maps what it takes to be there; who touches it then is gone. */
TEST(a_library_that_was_cut_is_refused)
{
    char at[512], path[CUDA_LIB_ROOM], deep[600];
    struct err e = {0};

    REQUIRE(begin_search());
    setenv("CHORUS_ANY", below(at, "cut.so"), 1);
    for (long n = 1; n < 8; n++) {
        cut_library(at, n, 8);
        CHECK(!cuda_lib_open("libany.so.1", "CHORUS_ANY", "any", path, &e));
        CHECK_HAS(e.text, "/cut.so: it cannot be opened: ");
        CHECK_HAS(e.text, "/cut.so: its end is missing: ");
    }
    for (long n = 0; n < 300; n += 20) { /* in its head */
        cut_library(at, 0, 8);
        CHECK_INT(truncate(at, n), 0);
        CHECK(!cuda_lib_open("libany.so.1", "CHORUS_ANY", "any", path, &e));
        CHECK_HAS(e.text, "/cut.so: it cannot be opened: ");
    }
    /* A pipe, at which the loader would wait; a path that would take all the room for words. */
    unlink(at);
    CHECK_INT(mkfifo(at, 0600), 0);
    CHECK(!cuda_lib_open("libany.so.1", "CHORUS_ANY", "any", path, &e));
    CHECK_HAS(e.text, "/cut.so: not a regular file");
    CHECK(!library_open(below(deep, "a/b/c/d/e"), RTLD_NOW, &e));
    CHECK_HAS(e.text, "/a/b/c/d/e: cannot open shared object file");
    memset(deep, 'd', sizeof deep - 1);
    deep[0] = '/';
    deep[sizeof deep - 1] = '\0';
    CHECK(!library_open(deep, RTLD_NOW, &e));
    CHECK(!strncmp(e.text, "...ddd", 6) && strlen(e.text) < 250);
    CHECK_HAS(e.text, "d: cannot open shared object file: File name too long");
    end_search();
}

/* This test once more, in a process that has the folders in its loader's path, which is read when a
 * process starts. */
static void again_with(const char *test, const char *folders)
{
    char command[9000], me[4096] = "";

    REQUIRE(readlink("/proc/self/exe", me, sizeof me - 1) > 0);
    snprintf(command, sizeof command,
             "CHORUS_LIBS_TOP=%s LD_LIBRARY_PATH=%s '%s' %s >%s/said 2>&1 || "
             "{ /bin/cat %s/said; exit 1; }",
             top, folders, me, test, top, top);
    CHECK_INT(system(command), 0);
}

/* One that the loader finds by its name, and that wants another which is gone. */
TEST(a_library_without_what_it_wants_is_there)
{
    char command[9000], path[CUDA_LIB_ROOM];
    struct err e = {0};

    if (getenv("CHORUS_LIBS_TOP")) {
        CHECK(!cuda_lib_open("libany.so.1", "CHORUS_ANY", "any", path, &e));
        CHECK_INT(e.code, ERR_FAILED);
        CHECK_HAS(e.text, "libany.so.1: libgone.so.9: cannot open shared object file");
        return;
    }
    REQUIRE(begin_search());
    snprintf(
        command, sizeof command,
        "cd %s && echo 'int gone;' >a.c && /usr/bin/cc -shared -fPIC a.c -o libgone.so.9 && "
        "/usr/bin/cc -shared -fPIC a.c -o libany.so.1 -Wl,--no-as-needed -L. -l:libgone.so.9 && "
        "/bin/rm libgone.so.9",
        top);
    setenv("PATH", "/usr/bin:/bin", 1);
    if (system(command) != 0)
        SKIP("there is no compiler at /usr/bin/cc");
    again_with("a_library_without", top);
    end_search();
}

TEST(functions_that_a_library_lacks_are_named)
{
    double (*cosine)(double) = NULL;
    void (*none)(void) = NULL;
    const struct cuda_lib_entry entries[] = {{&cosine, "cos"}, {&none, "no_such_function"}};
    char path[CUDA_LIB_ROOM];
    struct err e = {0};
    void *handle;

    REQUIRE(begin_search());
    setenv("CHORUS_ANY", library, 1);
    handle = cuda_lib_open("libany.so.1", "CHORUS_ANY", "any", path, &e);
    REQUIRE(handle);
    CHECK_INT(cuda_lib_bind(handle, path, entries, 1, &e), ERR_OK);
    CHECK_NEAR(cosine(0), 1, 0);
    CHECK_INT(cuda_lib_bind(handle, path, entries, 2, &e), ERR_FAILED);
    CHECK_HAS(e.text, " has no function no_such_function");
    end_search();
}

TEST(why_nccl_cannot_be_had_is_said_with_what_to_do)
{
    char at[512];
    struct err e = {0};

    REQUIRE(begin_search());
    setenv("CHORUS_NCCL", library, 1); /* of which nothing is wrong but that it is another */
    CHECK(!cuda_nccl_load(&e));
    CHECK_INT(e.code, ERR_FAILED);
    CHECK_HAS(e.text, " has no function ncclGetVersion: CHORUS_NCCL may name another");
    setenv("CHORUS_NCCL", below(at, "gone"), 1);
    CHECK(!cuda_nccl_load(&e));
    CHECK_HAS(e.text, "/gone: there is no such file");
    setenv("CHORUS_NCCL", below(at, "cut.so"), 1);
    cut_library(at, 1, 2);
    CHECK(!cuda_nccl_load(&e));
    CHECK_HAS(e.text, "/cut.so: its end is missing: ");
    unsetenv("CHORUS_NCCL");
    end_search();
}

TEST(the_library_of_this_machine)
{
    const struct cuda_nccl *nccl;
    struct err e = {0};
    int version = 0;

    unsetenv("CHORUS_NCCL");
    unsetenv("CUDA_HOME");
    nccl = cuda_nccl_load(&e);
    if (!nccl)
        SKIP("there is no NCCL here");
    CHECK_INT(nccl->version(&version), 0);
    CHECK(version >= 21800);
    CHECK_STR(nccl->text(CUDA_NCCL_OK), "no error");
    CHECK_STR(nccl->text(CUDA_NCCL_BUSY), "NCCL operation in progress");
}

TEST(the_order_of_sums_is_pinned_where_nobody_chose)
{
    unsetenv("NCCL_ALGO");
    cuda_pin_order();
    CHECK_STR(getenv("NCCL_ALGO"), "^NVLS,NVLSTree");
    setenv("NCCL_ALGO", "Ring", 1);
    cuda_pin_order();
    CHECK_STR(getenv("NCCL_ALGO"), "Ring");
    unsetenv("NCCL_ALGO");
}
