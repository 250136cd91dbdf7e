# The results lie on a slow disk: whatever is done with the screens, the thread that has them asks it nothing.
. "${BASH_SOURCE%/*}/lib.sh"

cat >slow.c <<'C'
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile bool counting;

/* Between two files that the script writes, calls of the main thread are noted; all of them may be held up. */
static void ask(const char *what, const char *path)
{
    static int notes = -1;
    char line[4200];
    bool slow = path && strstr(path, "/results/");

    if (path && strstr(path, "counting-on"))
        counting = true;
    if (path && strstr(path, "counting-off"))
        counting = false;
    if (!slow || strstr(path, "/settings"))
        return;
    if (counting && syscall(SYS_gettid) == getpid()) {
        if (notes < 0)
            notes = (int)syscall(SYS_openat, AT_FDCWD, "asked", O_WRONLY | O_CREAT | O_APPEND, 0666);
        (void)!write(notes, line, (size_t)snprintf(line, sizeof line, "%s %s\n", what, path));
    }
    while (getenv("HANGS"))
        sleep(1000);
    if (counting && getenv("SLOW_MS"))
        usleep((useconds_t)atoi(getenv("SLOW_MS")) * 1000);
}

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))

int open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = va_arg(args, mode_t);
    va_end(args);
    ask("open", path);
    return REAL(int, open, const char *, int, mode_t)(path, flags, mode);
}

int stat(const char *path, struct stat *st)
{
    ask("stat", path);
    return REAL(int, stat, const char *, struct stat *)(path, st);
}

int lstat(const char *path, struct stat *st)
{
    ask("lstat", path);
    return REAL(int, lstat, const char *, struct stat *)(path, st);
}

int rename(const char *from, const char *to)
{
    ask("rename", to);
    return REAL(int, rename, const char *, const char *)(from, to);
}

int unlink(const char *path)
{
    ask("unlink", path);
    return REAL(int, unlink, const char *)(path);
}

int access(const char *path, int mode)
{
    ask("access", path);
    return REAL(int, access, const char *, int)(path, mode);
}

DIR *opendir(const char *path)
{
    ask("opendir", path);
    return REAL(DIR *, opendir, const char *)(path);
}

char *realpath(const char *path, char *out)
{
    ask("realpath", path);
    return REAL(char *, realpath, const char *, char *)(path, out);
}
C
if ! ${CC:-cc} -shared -fPIC -o slow.so slow.c -ldl 2>slow.err; then
    skip "what the main thread asks the disk" "no compiler here: $(head -n 1 slow.err)"
    finish
fi
prepare disk/results
export CHORUS_FAKE_SCRIPT='step_ms=40' # it is stopped before its end

script "wait runs" calm "save counting-on" \
    "keys 1 Down Down z z Tab Down Tab" "keys Down d u" "keys 2 x y m n N" \
    "keys 3 Down Space * / l e Esc Esc v v v s Esc c Esc t Esc n Esc G u" calm \
    "keys 4 x" calm "keys 5 Tab Down Enter Tab" calm "keys b a Space" "keys 6" calm "keys 7 L" calm "keys : Esc" \
    "keys 1 r" "wait img/s" "keys p" "wait paused" "keys p" "wait goes on at step" "keys K n" "wait stopped" \
    "keys 3 e" "wait what it means" "keys 2 R" "wait img/s" "keys q c" "keys K n" "wait stopped" \
    "keys :" "type show @" "keys Enter" calm "keys Esc" \
    "save counting-off" "keys q l"
rm -f asked
check "a script through all screens" env LD_PRELOAD="$work/slow.so" timeout 120 "$CHORUS" --keys script --frame 100x30 \
    --results "$work/disk/results"
check "that counts: $(head -n 3 counting-off 2>/dev/null | head -c 40)" test -s counting-off
check "the main thread asks the disk nothing" test ! -s asked
python3 "$here/play.py" 24x80 "text:7 Log" key:q key:q "text:does not come to its end: a disk may not answer" \
    signal:INT within:10 -- env LD_PRELOAD="$work/slow.so" HANGS=1 "$CHORUS" --results "$work/disk/results"
check "a disk that never answers keeps who leaves, who is told so, no longer than to Ctrl-C" test $? = 130
[ ! -s asked ] || sort asked | uniq -c | sort -rn | head -n 20
finish
