# Leaving the workbench: what runs is stopped and can be resumed, or goes on without the terminal, and
# what waits in the queue is done once.
. "${BASH_SOURCE%/*}/lib.sh"
export CHORUS_CACHE=$cache/own # where nobody else is seen to compute

if ! has_terminals; then
    skip "leaving the workbench" "$lack"
    finish
fi

# play ACTION... -- ARGUMENT...: the program on a terminal. Actions: "until COMMAND" (60 s at most), "shows
# WORDS" since the last key, "key KEYS", "leave" (q, again and again: it may not know yet that nothing
# runs), "hammer" (Ctrl-C, again and again), "signal NAME", "close" the terminal. Exits with the program's code; ./screen is what it showed
# behind its screens, ./tty how it left the terminal, ./seconds how long it took to end.
cat >play.py <<'END'
import fcntl, os, pty, re, select, signal, struct, subprocess, sys, termios, time

at = sys.argv.index("--")
actions, arguments = sys.argv[1:at], sys.argv[at + 1:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    os.execv(os.environ["CHORUS"], ["chorus"] + arguments)
open("played.pid", "w").write(str(pid))
seen, mark, pressed, closed, code = b"", 0, 0, False, None


def look(seconds):
    global seen, code
    if not closed and select.select([fd], [], [], seconds)[0]:
        try:
            seen += os.read(fd, 65536)
        except OSError:
            time.sleep(seconds)
    elif closed:
        time.sleep(seconds)
    if code is None:
        got, status = os.waitpid(pid, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status) if got else None


def until(true, what):
    deadline = time.time() + 60
    while not true():
        if time.time() > deadline:
            os.kill(pid, signal.SIGKILL)
            sys.exit("in vain: " + what)
        look(0.05)


def shows(words):
    return words.encode() in re.sub(rb"\x1b(\[[0-9;?]*[ -/]*[@-~]|[()][A-Z0-9]|[=>78])", b"", seen[mark:])


def key(keys):
    global mark
    mark = len(seen)
    os.write(fd, keys.encode())


def leaves():
    global pressed
    if code is None and time.time() - pressed > (3 if shows("looking whether something waits") else 0.5):
        key("q")
        pressed = time.time()
    return code is not None


def hammers():
    if code is None:
        key("\x03")
    return code is not None


for action in actions:
    verb, _, rest = action.partition(" ")
    if verb == "until":
        until(lambda: subprocess.run(["bash", "-c", rest]).returncode == 0, rest)
    elif verb == "shows":
        until(lambda: shows(rest) or code is not None, action)
        if not shows(rest):
            sys.exit("it ended without: " + action)
    elif verb == "key":
        key(rest)
    elif verb == "leave":
        until(leaves, action)
    elif verb == "hammer":
        until(hammers, action)
    elif verb == "signal":
        os.kill(pid, getattr(signal, "SIG" + rest))
    elif verb == "close":
        os.close(fd)
        closed = True
began = time.time()
until(lambda: code is not None, "the end of the program")
open("seconds", "w").write("%.2f\n" % (time.time() - began))
while not closed and select.select([fd], [], [], 0)[0]:
    try:
        got = os.read(fd, 65536)
    except OSError:
        break
    if not got:
        break
    seen += got
behind = seen.rfind(b"\x1b[?1049l")
open("screen", "wb").write(seen[behind:] if behind >= 0 else b"")
if not closed:
    echo = termios.tcgetattr(fd)[3]
    fine = behind >= 0 and echo & termios.ECHO and echo & termios.ICANON
    open("tty", "w").write("fine\n" if fine else "spoiled\n")
sys.exit(code)
END
play()
{
    rm -f screen tty seconds
    python3 play.py "$@"
    got=$?
    rm -f played.pid
}

# ended CODE: so did the last one, with the terminal as it was
ended()
{
    [ "$got" = "$1" ] && [ "$(cat tty)" = fine ] || {
        echo "  ended with $got, the terminal is $(cat tty)"
        return 1
    }
}

add()
{
    "$CHORUS" run tiny.ini backend=fake "$@" --queue --quiet >/dev/null 2>err || cat err
}

# names: of all runs in the order of their starts, with their states
names()
{
    local folder list=
    for folder in results/2*/; do
        [ -e "$folder/run.csv" ] && list="$list $(column "${folder%/}" name):$(column "${folder%/}" state)"
    done
    echo "${list# }"
}

names_are()
{
    [ "$(names)" = "$1" ]
}

# become NAMES: they are so before a minute is over
become()
{
    until_true 60 names_are "$1" || {
        echo "  runs: $(names)"
        return 1
    }
}

# waits NUMBER: so many are left in the queue
waits()
{
    [ "$(find results/queue -name '*.ini' | wc -l)" = "$1" ]
}

# Who took from the queue has ended: his file is gone.
no_taker()
{
    [ -z "$(ls "$CHORUS_CACHE/taking" 2>/dev/null)" ]
}

# Nobody is at work any more, neither on the queue nor on a run.
nobody()
{
    ! "$CHORUS" queue 2>&1 >/dev/null | grep -q '^process' && ! "$CHORUS" ls live --quiet 2>/dev/null | grep -q .
}

fresh()
{
    rm -rf results
    export CHORUS_FAKE_SCRIPT="step_ms=10"
}

# Behind fresh: what trains waits in its second epoch, and shorter runs do not, until go_on.
held()
{
    rm -f held
    export CHORUS_FAKE_SCRIPT="step_ms=10 stuck=40 stuck_file=$PWD/held"
}

go_on()
{
    : >held
}

fast()
{
    unset CHORUS_FAKE_SCRIPT
}

asks="shows leave it running"
keeps="shows keep it for later"
trains='until [ "$(cat results/2*/steps.csv 2>/dev/null | wc -l)" -gt 2 ]'

# ---- stopped, resumable ----

fresh
add name=a epochs=400
add name=b epochs=1
play "$trains" "key q" "$asks" "key n" --
check "q, n: it ends well and gives the terminal back" ended 0
check "it says how to go on" grep -qa 'to go on: chorus resume .*-a-' screen
check "the run is stopped, the next one waits" eval 'names_are a:stopped && waits 1'
check "there is a checkpoint" test -s results/2*-a-*/checkpoint.safetensors
fast
check "it can be resumed" exits 0 "$CHORUS" resume --quiet
check "and comes to its end" names_are a:done

# A step takes longer than it takes to press that some times more.
fresh
CHORUS_FAKE_SCRIPT=step_ms=400
add name=a epochs=400
play "$trains" "hammer" --
check "Ctrl-C, again and again: it ends, and gives the terminal back" ended 130
check "the run is stopped" names_are a:stopped
last=$(tail -n 1 results/2*/steps.csv | cut -d, -f1)
fast
exits 0 "$CHORUS" resume --quiet
check "no step is lost: it goes on at step $last" grep -q "goes on at step $last\b" results/2*/log.txt

fresh
add name=a epochs=400
add name=b epochs=1
play "$trains" "key q" "$asks" "key a" --
check "q, a: it leaves after the epoch" ended 0
check "at the end of one" test "$(tail -n 1 results/2*-a-*/epochs.csv | cut -d, -f2)" = \
    "$(tail -n 1 results/2*-a-*/steps.csv | cut -d, -f1)"
check "the run is stopped and nothing more was taken" eval 'names_are a:stopped && waits 1'

fresh
add lr=0.1,0.2,0.4 epochs=400 --name board
add name=b epochs=1
play "$trains" "key q" "$asks" "key a" --
check "q, a: a sweep ends with the epoch of its cell" ended 0
check "none of its others begins, nothing more is taken" eval 'names_are :stopped && waits 1'

fresh
add name=a epochs=400
play "$trains" "key q" "$asks" "key c" "signal INT" --
check "a cancelled q leaves nothing behind; SIGINT ends with 130" ended 130
check "resumable" eval 'names_are a:stopped && grep -qa "chorus resume" screen'

for what in run sweep; do
    fresh
    held
    if [ $what = run ]; then add name=a epochs=400; else add lr=0.1,0.2,0.4 epochs=3 --name a; fi
    add name=b epochs=1
    play "$trains" "signal TERM" --
    check "SIGTERM in a $what ends with 143" ended 143
    check "in less than 5 seconds" eval '[ "$(cut -d. -f1 seconds)" -lt 5 ]'
    check "b waits still" waits 1
    check "there is a checkpoint of the $what" test -s results/2*/checkpoint.safetensors
    fast
    if [ $what = run ]; then
        check "the run goes on" exits 0 "$CHORUS" resume --quiet
        check "to its end" names_are a:done
    else
        check "the sweep goes on" exits 0 "$CHORUS" resume a --quiet
        check "to its end, each cell once" names_are ":done :done :done"
    fi
done

# ---- left to a process of its own ----

fresh
held
add name=a epochs=4
add name=b epochs=1
play "$trains" "key q" "$asks" "key l" --
check "q, l: it leaves at once" ended 0
check "it says that the run goes on" grep -qa -e '-a-.* goes on without this terminal' screen
go_on
check "the run and the queue come to their end, each once" become "a:done b:done"
check "nobody is left" until_true 30 nobody
check "nothing is left" waits 0

fresh
held
add lr=0.1,0.2,0.4 epochs=3 --name board
add name=b epochs=1
play "$trains" "key q" "$asks" "key l" --
check "q, l: a sweep" ended 0
check "it goes on as one" eval '[ "$(grep -ca "goes on without" screen)" = 1 ] && grep -qa "board goes on" screen'
go_on
check "each cell once, then the queue" become ":done :done :done b:done"
check "nobody is left behind it" until_true 30 nobody

fresh
held
add lr=0.1,0.2,0.4 epochs=3 --name board
play "$trains" "until $CHORUS stop board --after-cells 2>err" "until grep -qs '^sweep 1 0 2 ' $CHORUS_CACHE/working/*" "key q" "$asks" "key l" --
check "q, l: a sweep that stops after its cells" ended 0
check "its cell goes on alone" eval '[ "$(grep -ca "goes on without" screen)" = 1 ] && ! grep -qa "board goes on" screen'
go_on
check "to its end, and no other begins" eval 'become ":done" && until_true 30 nobody && names_are ":done"'
check "the sweep knows it" grep -q ',done,$' results/sweeps/board/ledger.csv
fast
check "the rest is for another day" exits 0 "$CHORUS" resume board --quiet
check "each cell once" names_are ":done :done :done"

# Who goes on with it has heard of a stop that is still to come.
for lists in "" "lr=0.1,0.2 --name board"; do
    fresh
    held
    add epochs=4 $lists
    name=${lists##* }
    play 'until [ "$(cat results/2*/epochs.csv 2>/dev/null | wc -l)" -gt 1 ]' "until $CHORUS stop ${name:-@} --after-epoch 2>err" "key q" "$asks" "key l" --
    check "q, l: what stops after this epoch" ended 0
    check "does so in the process that goes on with it" until_true 30 grep -qsE "^stop epoch$" "$CHORUS_CACHE"/working/*
    go_on
    check "and nothing begins after it" eval 'become ":stopped" && until_true 30 nobody && grep -q "stopped after epoch 2" results/2*/run.csv'
done

# A cell that is still being prepared has no folder that another program could go on with.
fresh
add lr=0.1,0.2 epochs=1 --name board
printf . >gate # through which the first cell goes when cells are counted, and none when it is prepared
export CHORUS_FAKE_SCRIPT="step_ms=10 plan_file=$PWD/gate"
play "until '$CHORUS' stop board --after-cells 2>err" "until grep -qs '^sweep 1 0 2 ' $CHORUS_CACHE/working/*" \
    "key q" "$asks" "key l" "shows still being prepared" "until rm gate" --
check "q, l: a sweep that stops after a cell that is being prepared" ended 0
check "which goes on alone, too" eval 'become ":done" && until_true 30 nobody && names_are ":done"'

fresh
held
add name=b epochs=1
play "until [ -e results/2*-own-*/run.csv ]" "key q" "$asks" "key l" -- run tiny.ini backend=fake name=own epochs=4 --tui
check "q, l in the first moments of a run" ended 0
go_on
check "it goes on, then the queue" become "own:done b:done"

fresh
held
add name=a epochs=4
add name=b epochs=1
play "$trains" "key 2" "shows img/s" "key p" "shows p goes on" "key q" "shows let it go on" "key l" --
check "q, l: a run that is paused" ended 0
go_on
check "goes on" become "a:done b:done"
check "and lets go of the queue" until_true 30 no_taker

# What is queued behind another program's run waits for this one alone: leaving asks, and hands it over.
fresh
"$CHORUS" run tiny.ini backend=fake name=other epochs=400 --background --quiet >/dev/null 2>err || cat err
add name=b epochs=1
"$CHORUS" queue >/dev/null 2>said
check "queue says that nobody takes from it" grep -q '^nobody takes from it now' said
will_take='^process [0-9]* takes from it when process [0-9]* has ended'
play "until '$CHORUS' queue 2>&1 >/dev/null | grep -q '$will_take'" "shows Setup" "key q" "$keeps" "key l" --
check "q, l with nothing but a queue behind another's run" ended 0
check "it says who goes on" grep -qa 'the queue goes on without this terminal' screen
"$CHORUS" queue >/dev/null 2>said
check "a process is left that takes from it" \
    grep -q "$will_take" said
play "shows Setup" "leave" --
check "who leaves then is not asked" ended 0
"$CHORUS" stop other >/dev/null 2>&1
check "it does, behind the other's run" become "other:stopped b:done"
check "and ends" until_true 30 eval 'nobody && no_taker'

fresh
"$CHORUS" run tiny.ini backend=fake name=other epochs=400 --background --quiet >/dev/null 2>err || cat err
add name=b epochs=1
play "shows Setup" "key q" "$keeps" "key k" --
check "q, k keeps it for later" eval 'ended 0 && waits 1'
"$CHORUS" queue >/dev/null 2>said
check "and nobody takes from it" grep -q '^nobody takes from it now' said
"$CHORUS" stop other >/dev/null 2>&1

# ---- run --tui: it ends as the run does ----

# tui CODE WHAT ACTION... -- ARGUMENT...
tui()
{
    local code=$1 what=$2
    shift 2
    play "$@" --tui
    check "run --tui $what: $code" ended "$code"
}
has_state='until grep -qs ,$state, results/2*/run.csv'
stops=("$trains" "shows img/s" "key K" "shows now; R goes on" "key n" "$has_state")

fresh
CHORUS_FAKE_SCRIPT='step_ms=10 diverge=5'
state=diverged
export state
tui 3 "of a run that diverges" "$has_state" "leave" -- run tiny.ini backend=fake epochs=3
fresh
state=done
tui 0 "of one that ends" "$has_state" "leave" -- run tiny.ini backend=fake epochs=1
fresh
state=stopped
tui 130 "of one that was stopped" "${stops[@]}" "leave" -- \
    run tiny.ini backend=fake epochs=400
fresh
tui 130 "left with q, n" "$trains" "key q" "$asks" "key n" -- run tiny.ini backend=fake epochs=400
fresh
tui 130 "of a sweep, left with q, n" "$trains" "key q" "$asks" "key n" -- run tiny.ini backend=fake epochs=400 lr=0.1,0.2
fresh
"$CHORUS" run tiny.ini backend=cuda devices=gpu:7 >/dev/null 2>&1
tui $? "of one that cannot start, as without it" "shows no CUDA device" "leave" -- \
    run tiny.ini backend=cuda devices=gpu:7
fresh
held
tui 0 "of one that goes on without it" "$trains" "key q" "$asks" "key l" -- run tiny.ini backend=fake name=own epochs=4
go_on
check "it does, to its end" become own:done
check "and lets go of the queue" until_true 30 no_taker

fresh
state=stopped
tui 0 "of one that was stopped, goes on, and does so without it" "${stops[@]}" "shows stopped" \
    "key R" "until grep -qs ,running, results/2*/run.csv" "key q" "$asks" "key l" -- \
    run tiny.ini backend=fake name=own epochs=400
exits 0 "$CHORUS" stop own --now

# ---- a terminal that goes away ----

fresh
held
add name=a epochs=4
add lr=0.1,0.2 epochs=1 --name board
add name=b epochs=1
play "$trains" "close" "until : >held" --
check "without its terminal it goes on to the end of the queue and ends" test $got = 0
check "each one once" names_are "a:done :done :done b:done"
check "nothing is left of it" eval 'waits 0 && nobody'

fresh
held
add name=b epochs=1
play "$trains" "signal HUP" "until : >held" -- run tiny.ini backend=fake lr=0.1,0.2 name=own epochs=2 --name own --tui
check "SIGHUP in a sweep" test $got = 0
check "the sweep, then the queue" names_are "own:done own:done b:done"

fresh
add name=a epochs=400
add name=b epochs=1
play "$trains" "close" "until sleep 1" "signal TERM" --
check "SIGTERM behind that ends with 143" test $got = 143
check "with everything resumable" eval 'names_are a:stopped && waits 1'

play "shows Setup" "signal HUP" -- --results nothing
check "SIGHUP where nothing runs" ended 0
# ---- this process can compute no more: another one goes on, with the queue ----

stuck()
{
    rm -rf results
    printf ' ' >left
    export CHORUS_FAKE_SCRIPT="step_ms=5 stuck=70 stuck_file=$PWD/left"
}
both_done='until [ "$(cat results/2*/run.csv 2>/dev/null | grep -c ,done,)" = 2 ]'

stuck
add name=a epochs=4
add name=b epochs=1
play "$both_done" "leave" --
check "a run that is stuck leaves the workbench to itself" ended 0
check "and both come to their end elsewhere" eval 'names_are "a:done b:done" && waits 0'
check "it goes on once" test "$(grep -c 'goes on at step' results/2*-a-*/log.txt)" = 1
check "of which nothing is left to say" eval '! grep -qa "to go on" screen'

stuck
add lr=0.1,0.2 epochs=4 --name board
play "$both_done" "leave" --
check "a sweep too" eval 'ended 0 && waits 0 && grep -c ,done, results/sweeps/board/sweep.csv | grep -qx 2'

stuck
rm left
add name=a epochs=4
add name=b epochs=1
play "$trains" close "until printf . >one && mv one left" --
check "without its terminal it starts itself anew" become "a:done b:done"
check "it goes on from the checkpoint once" test "$(grep -c 'goes on at step' results/2*-a-*/log.txt)" = 1
check "nobody is left" until_true 30 nobody
fast

finish
