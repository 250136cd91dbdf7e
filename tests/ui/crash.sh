# What crashes while a run trains gives the terminal back and says where the log is, in whichever thread, and
# the run is gone on with from its checkpoint. SIGTERM in the middle of an evaluation is obeyed in 5 s.
. "${BASH_SOURCE%/*}/lib.sh"

if ! has_terminals; then
    skip "everything on terminals" "$lack"
    finish
fi
cat >crashes.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *volatile nothing;
static pthread_t first;
static volatile int own;

static int deeper(volatile char *above)
{
    volatile char here[4096];

    here[0] = *above;
    return deeper(here) + here[1];
}

static void crash(int number)
{
    const char *how = getenv("CRASH");
    void *block = malloc(100);
    int n = 0;

    (void)number;
    if (!strcmp(how, "said")) { /* a line that the program took, and waits for the end of */
        for (n = write(2, "an unfinished word", 18); n > 0;)
            ioctl(2, FIONREAD, &n);
        abort();
    }
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "free")) { /* seen by malloc, which says so on stderr */
        free(block);
        free(block);
    }
    if (!strcmp(how, "deep"))
        deeper((char *)block);
    *nothing = 1;
}

/* A page of guard is not enough: what a handler is given may come to lie below it, in others' memory. */
static void widen_guard(void)
{
    pthread_attr_t attributes;
    size_t bytes;
    void *low;

    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &bytes);
    mprotect(low, 256 * 1024, PROT_NONE);
}

/* In a thread that the program itself has started. */
ssize_t write(int fd, const void *from, size_t n)
{
    if (own && syscall(SYS_gettid) != getpid() && access("crash-now", F_OK) == 0) {
        own = 0;
        widen_guard();
        crash(0);
    }
    return syscall(SYS_write, fd, from, n);
}

static void *wait_for_it(void *user)
{
    while (access("crash-now", F_OK) != 0)
        usleep(20000);
    if (getenv("CRASH_FIRST"))
        pthread_kill(first, SIGRTMIN + 5);
    else
        crash(0);
    for (;;)
        pause();
    return user;
}

static void __attribute__((constructor)) begin(void)
{
    pthread_t thread;

    unsetenv("LD_PRELOAD");
    own = getenv("CRASH_OWN") != NULL;
    if (own)
        return;
    first = pthread_self();
    signal(SIGRTMIN + 5, crash);
    pthread_create(&thread, NULL, wait_for_it, NULL);
}
C
if ! ${CC:-cc} -O0 -w -shared -fPIC -pthread -o crashes.so crashes.c 2>crashes.err; then
    skip "crashes" "no compiler here: $(head -n 1 crashes.err)"
    finish
fi

unset CHORUS_FAKE CHORUS_FAKE_SCRIPT
ulimit -c 0
# crashed NAME SIGNAL VARIABLES...: a real run that crashes so behind its first epochs
crashed()
{
    local name=$1 signal=$2
    shift 2
    rm -rf ran crash-now
    env "$@" python3 "$here/play.py" 24x80 file:crash-now within:30 -- python3 "$here/job.py" \
        env LD_PRELOAD="$work/crashes.so" "$CHORUS" run tiny.ini --tui epochs=100000 --results ran &
    until_true 30 eval 'has_rows ran/2*/epochs.csv 2 && [ -s ran/2*/checkpoint.safetensors ]'
    touch crash-now
    wait $!
    check "$name: it ends by that signal" test $? = $((128 + signal))
    check "$name: the terminal has its modes" cmp -s before after
    check "$name: its picture" grep -qaF '[?1049l' bytes
    check "$name: its cursor" grep -qaE '[[?](12l.\[\?)?25h' bytes
    check "$name: and no mouse" grep -qaF '[?1000l' bytes
    tail -c 500 bytes | tr -d '\r' >last
    check "$name: it says so, last of all" sh -c "tail -n 1 last | grep -qa 'the program crashed'"
    check "$name: and where the log is" grep -qaF "$XDG_STATE_HOME/chorus/workbench.log" last
    check "$name: and how it goes on" grep -qaF '`chorus resume --results ran` goes on' last
    check "$name: whose last words are the signal" sh -c \
        "tail -n 3 '$XDG_STATE_HOME/chorus/workbench.log' | grep -qx 'the program crashed: SIG[A-Z]*'"
    check "$name: the run is dead" sh -c "'$CHORUS' ls --results ran | grep -q ' dead '"
}
crashed "a fault in a thread" 11 CRASH=fault
crashed "a fault in the first thread" 11 CRASH=fault CRASH_FIRST=1
crashed "abort in a thread" 6 CRASH=abort
crashed "what malloc notices" 6 CRASH=free
check "what it said is in the log" grep -q 'free.*double' "$XDG_STATE_HOME/chorus/workbench.log"
crashed "words in the middle of a line" 6 CRASH=said
check "they are in the log" sh -c "tail -n 2 '$XDG_STATE_HOME/chorus/workbench.log' | grep -qx 'an unfinished word'"
crashed "a full stack of a thread" 11 CRASH=deep CRASH_OWN=1
crashed "a stack that is full" 11 CRASH=deep CRASH_FIRST=1
timeout -s TERM 20 "$CHORUS" resume --results ran @ --quiet >said 2>&1 &
check "and it goes on from its checkpoint" until_true 15 grep -q 'goes on at step' ran/2*/log.txt
kill %% 2>/dev/null
wait

# Test images that take longer than 5 s, behind an epoch of one step.
python3 "$here/play.py" 24x80 file:test-now sleep:0.5 signal:TERM within:5 -- "$CHORUS" run tiny.ini --tui \
    model=resnet18 train_limit=64 batch=64 test_limit=10000 epochs=3 --results tested &
until_true 60 eval 'has_rows tested/2*/steps.csv 1'
touch test-now
wait $!
check "SIGTERM in an evaluation ends with 143 in 5 s" test $? = 143
check "with the terminal given back" grep -qaF '[?1049l' bytes
check "the run can go on" state_is "$(echo tested/2*)" stopped
finish
