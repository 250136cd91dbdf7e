# What a terminal is owed: its modes while the program is stopped and the picture again afterwards, no word
# of anybody's over the picture, and all of it back soon after SIGTERM however much computes.
. "${BASH_SOURCE%/*}/lib.sh"

if ! has_terminals; then
    skip "everything on terminals" "$lack"
    finish
fi
prepare results

play()
{
    python3 "$here/play.py" "$@"
}

# before TEXT: of the bytes, those that came before it
before()
{
    LC_ALL=C grep -abo -F -- "$1" bytes | head -n 1 | cut -d: -f1 | xargs -I N head -c N bytes
}

play 24x80 "text:runs" modes:runs key:$'\x1a' "text:[stopped]" size:30x100 key:$'\n' "text:chorus" \
    "text:runs" sleep:0.3 modes:again key:q -- python3 "$here/job.py" "$CHORUS" --results results
check "Ctrl-Z, and back: it goes on and ends" test $? = 0
check "a terminal whose program is stopped has its modes" cmp -s before stopped
check "other ones than while it runs" test "$(cat runs)" != "$(cat stopped)"
check "which it takes again" cmp -s runs again
check "and gives back at the end" cmp -s before after
before "[stopped]" >first
check "the picture goes while it is stopped" grep -qaF '[?1049l' first
check "the mouse too" grep -qaF '1000l' first
check "and the brackets around what is pasted" grep -qaF '[?2004l' first
tail -c +"$(($(wc -c <first) + 1))" bytes >second
check "all come back" sh -c "grep -qaF '[?1049h' second && grep -qaF '1000h' second && grep -qaF '[?2004h' second"
check "in the size that the terminal has then" grep -qaF '[30;' second

# What is pasted is text: a line break in it takes no field and answers no question, a letter is no key.
play 24x80 "raw:[?2004h" "text:runs" key:$'\x1b[200~q\rq\x1b[201~' "text:What is pasted is text" \
    key:: key:$'\x15' key:$'\x1b[200~\rls\r\tgood\x01\r\x1b[201~' text:good sleep:0.2 key:$'\x1b' sleep:0.2 \
    key:q -- "$CHORUS" --results results
check "what is pasted presses nothing" test $? = 0
# Of a line that began with ls already only the rest is drawn: the picture tells, not the bytes.
{ before good && printf good; } | python3 "$here/vt.py" 24x80 >pasted
check "its line breaks and tabs are blanks" grep -q 'ls good' pasted
check "the brackets around it are taken back" sh -c "tail -c 400 bytes | grep -qaF '[?2004l'"

# Keys that come faster than they are taken are seen at work.
pictures=$(python3 "$here/held.py" 150000 jk "$CHORUS" --results none)
check "the picture moves while keys are held: $pictures times" test "$pictures" -ge 2

# Whoever is stopped by a signal that nobody can catch finds the shell's modes and picture afterwards.
rm -f stopped runs again first second
play 24x80 "text:runs" modes:runs job:STOP "text:[stopped]" size:30x100 keep:first key:$'\n' "text:chorus" \
    "text:runs" sleep:0.3 modes:again keep:second key:q -- python3 "$here/job.py" "$CHORUS" --results results
check "kill -STOP, and fg: it goes on and ends" test $? = 0
check "with its modes again" cmp -s runs again
check "given back at the end" cmp -s before after
tail -c +2 bytes | LC_ALL=C grep -aob -F '[?1049h' | wc -l >pictures
check "its picture is drawn anew" test "$(cat pictures)" -ge 2
check "all of it, in the size that the terminal has then" grep -qaF '[30;' bytes
# By one that can be caught, from somebody else, it gives the terminal back before.
rm -f stopped runs again first
play 24x80 "text:runs" modes:runs job:TSTP "text:[stopped]" key:$'\n' "text:chorus" \
    "text:runs" sleep:0.3 modes:again key:q -- python3 "$here/job.py" "$CHORUS" --results results
check "kill -TSTP, and fg: it goes on and ends" test $? = 0
check "stopped, the terminal has its modes" cmp -s before stopped
before "[stopped]" >first
check "and its own picture" grep -qaF '[?1049l' first
check "which it takes again" cmp -s runs again
rm -f again
# In its first moments, while its descriptor leads elsewhere, it would take the modes of no terminal for the shell's.
cat >early.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

int dup3(int from, int to, int flags)
{
    int (*real)(int, int, int) = (int (*)(int, int, int))dlsym(RTLD_NEXT, "dup3");
    static int calls;
    int fd = real(from, to, flags);

    if (!calls++)
        kill(getpid(), SIGTSTP);
    return fd;
}
C
if ! ${CC:-cc} -shared -fPIC -o early.so early.c -ldl 2>early.err; then
    skip "a stop in the first moments" "no compiler here: $(head -n 1 early.err)"
else
    rm -f after
    play 24x80 "text:runs" key:q -- python3 "$here/job.py" \
        env LD_PRELOAD="$work/early.so" "$CHORUS" --results results
    check "a stop in its first moments does not come then" test $? = 0
    check "and the terminal has its modes at the end" cmp -s before after
fi
# Behind, it draws nothing, reads no key and is not stopped for its modes.
play 24x80 "text:runs" modes:runs job:STOP "text:[stopped]" key:$'bg\n' "text:[behind]" sleep:0.3 keep:none sleep:1 \
    keep:behind key:$'\n' "text:runs" sleep:0.3 modes:again key:q \
    -- python3 "$here/job.py" "$CHORUS" --results results
check "bg, and then fg: it goes on and ends" test $? = 0
check "not a byte was drawn behind" test ! -s behind
check "and its modes come with fg" cmp -s runs again

# The picture follows the terminal's size while nothing else happens: to its new last row and column when it
# grows, and not a cell beyond when it shrinks.
esc=$(printf '\033')
# Who sees the help, which a key opens, has seen all that was drawn before; q closes it, and q ends.
play 24x80 "raw:runs" keep:began size:45x132 "raw:$esc[45" key:? "raw:closes" keep:grown size:18x64 \
    "raw:$esc[18" key:q key:q -- "$CHORUS" --results results
check "a terminal that grows, then shrinks" test $? = 0
# From where it is cleared for its new size on: the end of the larger picture may have come late.
tail -c +"$(($(cat began grown | wc -c) + 1))" bytes >rest
tail -c +"$(($(LC_ALL=C grep -aobF "$esc[2J" rest | head -n 1 | cut -d: -f1) + 1))" rest >shrunk
# most FILE d|G: the largest row (d) or column (G) that the cursor was sent to
most()
{
    LC_ALL=C grep -ao -e "$esc\[[0-9]*;[0-9]*H" -e "$esc\[[0-9]*$2" "$1" | tr -c '0-9\n' ' ' |
        awk -v which="$2" '{ n = NF > 1 && which == "G" ? $2 : $1 } n + 0 > most { most = n + 0 }
                           END { print most + 0 }'
}
check "is drawn to its last row: $(most grown d)" test "$(most grown d)" = 45
check "and as wide as it is: $(most grown G)" test "$(most grown G)" -gt 80
check "then not below it: $(most shrunk d)" test "$(most shrunk d)" = 18
check "nor beside it: $(most shrunk G)" test "$(most shrunk G)" -le 64

cat >says.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *say(void *path)
{
    while (access("say-now", F_OK) != 0)
        usleep(20000);
    printf("said with printf\n"); /* and not flushed */
    if (write(2, "written to 2\nwith\033[31m a colour", 31) == 31)
        fclose(fopen(path, "w"));
    return NULL;
}

static void __attribute__((constructor)) begin(void)
{
    pthread_t thread;

    unsetenv("LD_PRELOAD");
    pthread_create(&thread, NULL, say, "has-said");
}
C
if ! ${CC:-cc} -shared -fPIC -pthread -o says.so says.c 2>says.err; then
    skip "what libraries print" "no compiler here: $(head -n 1 says.err)"
else
    play 24x80 "text:runs" touch:say-now file:has-said sleep:0.7 "without:said with" "without:written to" key:7 \
        "text:written to 2" key:q -- \
        env LD_PRELOAD="$work/says.so" "$CHORUS" --results results
    check "what a library prints stands on the Log screen, not over the picture" test $? = 0
    check "what it did not flush too" grep -qa "said with printf" bytes
    check "its end of a line that never came too, with its control characters made visible" sh -c \
        "grep -qa 'a colour' home/state/chorus/workbench.log && ! grep -qaF '$(printf 'with\033[31m')' bytes"
fi

export CHORUS_FAKE_SCRIPT='step_ms=20'
play 24x80 "text:img/s" key:q \
    "text:after this epoch" key:a "text:leaving after" -- \
    "$CHORUS" run tiny.ini --tui epochs=50 --results left
check "run --tui opens on its run; leaving after this epoch ends as stopped" test $? = 130
run=$(echo left/2*)
check "with what was stopped: $(column "$run" state)" state_is "$run" stopped
check "and how to go on with it" grep -qa "chorus resume.*${run##*/}" bytes

play 24x80 "text:img/s" key:q "text:after this epoch" key:a "text:leaving after" -- \
    "$CHORUS" run tiny.ini --tui mode=ensemble members=3 epochs=50 --results left-ens
check "so does an ensemble" test $? = 130
run=$(echo left-ens/2*) epochs=$(($(rows "$run/epochs.csv")))
check "all its members are of the same epoch: $epochs" eval \
    '((epochs > 0 && $(rows "$run/members.csv") == 3 * epochs)) && state_is "$run" stopped'
CHORUS_FAKE_SCRIPT='' "$CHORUS" resume "$run" --quiet >/dev/null 2>&1
check "and it goes on to its end" eval 'state_is "$run" done && (($(rows "$run/epochs.csv") == 50))'

# What Ctrl-C stops ends so in the workbench too, as it does where it comes as a signal.
play 24x80 "text:r starts it" key:r "text:img/s" key:$'\x03' "text:How do you want" key:$'\x03' -- \
    "$CHORUS" --results twice
check "Ctrl-C twice ends with 130" test $? = 130
check "what ran is stopped" state_is "$(echo twice/2*)" stopped

# What is paused waits headless, for ever if need be, and is seen. Its second epoch has no end before it is let go.
export CHORUS_FAKE_SCRIPT="step_ms=20 stuck=50 stuck_file=$PWD/paused-gate"
play 24x80 "text:img/s" key:p "text:paused" gone: -- "$CHORUS" run tiny.ini --tui --results paused
run=$(echo paused/2*)
check "a paused run whose terminal goes says so in its log" \
    until_true 10 grep -q "stays paused: chorus go ${run##*/}" "$run/log.txt"
check "it is seen as paused" sh -c "'$CHORUS' ls --results paused | grep -q ' paused '"
check "somebody works on it" kill -0 "$(cat gone.pid)"
: >paused-gate
"$CHORUS" go --results paused @ >go.out 2>&1
check "and it goes on to its end" until_true 30 state_is "$run" done

# An experiment of the queue that cannot start is not passed over in silence.
mkdir -p stuck/queue
sed 's/^batch.*/batch = 99999/' tiny.ini >stuck/queue/0001-toolarge.ini
play 24x80 "text:cannot be used" key:q -- "$CHORUS" --results stuck
check "what the queue holds and cannot start is said" test $? = 0

unset CHORUS_FAKE_SCRIPT CHORUS_FAKE
play 24x80 "text:img/s" sleep:2 signal:TERM within:5 -- "$CHORUS" run tiny.ini --tui model=resnet18 \
    batch=64 epochs=50 train_limit=6400 --results real
check "SIGTERM while the processor trains ends with 143 in 5 s" test $? = 143
check "the terminal is given back" grep -qaF '[?1049l' bytes
run=$(echo real/2*)
check "a run that can go on: $(column "$run" state) at $(column "$run" backend_used)" \
    test "$(column "$run" state) $(column "$run" backend_used)" = "stopped cpu"
check "with a checkpoint" test -s "$run/checkpoint.safetensors"
check "and a word about how" grep -qa "chorus resume" bytes

# The folder that it prepares is its own, though the list of runs shows it first.
play 24x80 "text:heavy-" sleep:2 signal:TERM within:20 -- "$CHORUS" run tiny.ini --tui \
    name=heavy model=resnet18 batch=1024 train_limit=2048 --results real
check "a run has its name while it is prepared" test $? = 143
check "and is nobody else's" sh -c "! grep -qa elsewhere bytes"
finish
