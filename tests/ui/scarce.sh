# Where memory or threads are not to be had: the terminal is given back, one sentence says it, exit code 1,
# and a run goes on from its checkpoint.
. "${BASH_SOURCE%/*}/lib.sh"

cat >scarce.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_realloc(void *old, size_t n);
static char no_memory[20];
static int threads, most = -1;

/* What the program asks for itself, in its first thread or in another one. */
void *realloc(void *old, size_t n)
{
    Dl_info from;

    if (*no_memory && !strcmp(no_memory, "first") == (syscall(SYS_gettid) == getpid()) &&
        access("no-memory-now", F_OK) == 0 && dladdr(__builtin_return_address(0), &from) &&
        strstr(from.dli_fname, "chorus"))
        return NULL;
    return __libc_realloc(old, n);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*begin)(void *), void *user)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");

    if (most >= 0 && __sync_add_and_fetch(&threads, 1) > most)
        return EAGAIN;
    return real(thread, attr, begin, user);
}

static void __attribute__((constructor)) begin(void)
{
    if (getenv("NO_MEMORY"))
        strncpy(no_memory, getenv("NO_MEMORY"), sizeof no_memory - 1);
    if (getenv("MOST_THREADS"))
        most = atoi(getenv("MOST_THREADS"));
    unsetenv("LD_PRELOAD");
}
C
if ! ${CC:-cc} -O0 -w -shared -fPIC -pthread -o scarce.so scarce.c -ldl 2>scarce.err; then
    skip "everything" "no compiler here: $(head -n 1 scarce.err)"
    finish
fi
scarce()
{
    env LD_PRELOAD="$work/scarce.so" "$@"
}

unset CHORUS_FAKE CHORUS_FAKE_SCRIPT
ulimit -c 0

# says_one_sentence FILE: about the threads
says_one_sentence()
{
    [ "$(grep -c '^chorus: ' "$1")" = 1 ] && grep '^chorus: ' "$1" | grep -q 'thread'
}

# ---- no threads ----
for most in {0..9}; do
    scarce MOST_THREADS=$most "$CHORUS" run tiny.ini threads=2 epochs=1 --quiet --results few-$most >out 2>err </dev/null
    code=$?
    [ $code = 0 ] && break
    check "a run with $most threads fails in a sentence" eval '[ $code = 1 ] && says_one_sentence err'
    [ -d few-$most ] || continue
    exits 0 "$CHORUS" resume @ --results few-$most --quiet
    check "it goes on when there are threads" state_is "$(echo few-$most/2*)" done
done
check "with enough threads it succeeds" test $code = 0

if ! has_terminals; then
    skip "everything on terminals" "$lack"
    finish
fi
# given_back NAME: after job.py
given_back()
{
    check "$1: the terminal has its modes" cmp -s before after
    check "$1: its picture" eval '! grep -qaF "[?1049h" bytes || grep -qaF "[?1049l" bytes'
    tr -d '\r' <bytes | grep -a . | tail -n 1 >last
}
for most in {0..11}; do
    python3 "$here/play.py" 24x80 "text:r starts it" key:q within:20 -- python3 "$here/job.py" \
        env LD_PRELOAD="$work/scarce.so" MOST_THREADS=$most "$CHORUS" --results none
    code=$?
    [ $code = 0 ] && break
    check "the workbench with $most threads ends with 1" test $code = 1
    given_back "the workbench with $most threads"
    check "the workbench with $most threads says so" says_one_sentence last
done
check "with enough threads it opens" test $code = 0

# ---- no memory ----
for thread in first other; do
    rm -rf ran no-memory-now
    python3 "$here/play.py" 24x80 file:no-memory-now within:30 -- python3 "$here/job.py" \
        env LD_PRELOAD="$work/scarce.so" NO_MEMORY=$thread "$CHORUS" run tiny.ini --tui epochs=100000 --results ran &
    until_true 30 eval 'has_rows ran/2*/epochs.csv 2 && [ -s ran/2*/checkpoint.safetensors ]'
    touch no-memory-now
    wait $!
    check "no memory in the $thread thread: exit code 1" test $? = 1
    given_back "no memory in the $thread thread"
    check "it says so, last of all" grep -qa '^chorus: out of memory ([0-9]* bytes more were wanted)' last
    check "and how it goes on" grep -qaF '`chorus resume --results ran` goes on' last
    check "the log says it too" sh -c "tail -n 3 '$XDG_STATE_HOME/chorus/workbench.log' | grep -q 'out of memory'"
    timeout -s TERM 20 "$CHORUS" resume --results ran @ --quiet >said 2>&1 &
    check "and it goes on from its checkpoint" until_true 15 grep -q 'goes on at step' ran/2*/log.txt
    kill %% 2>/dev/null
    wait
done
finish
