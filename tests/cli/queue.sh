# results/queue: what is added is listed, moved, removed and taken, in its order and each once; also
# through Ctrl-C and a terminal that goes away.
. "${BASH_SOURCE%/*}/lib.sh"

# must CODE COMMAND...: exits, where another code is a failure of its own
must()
{
    exits "$@" || fail "exit code of ${*:3}" "see above"
}

start()
{
    : >out >err
    env --default-signal=INT,QUIT "$CHORUS" "$@" >out 2>err </dev/null &
    pid=$!
    echo $pid >run.pid
}

ended_with()
{
    wait $pid
    local got=$?
    [ $got = "$1" ] || {
        echo "  ended with $got instead of $1"
        tail -n 5 err | sed 's/^/  stderr: /'
        return 1
    }
}

# queued: "1 a,2 b" as the list shows it
queued()
{
    "$CHORUS" queue 2>/dev/null | awk 'NR > 1 { printf "%s%s %s", (NR > 2 ? "," : ""), $1, $2 }'
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

queue_is()
{
    [ "$(queued)" = "$1" ] || {
        echo "  in the queue: $(queued)"
        return 1
    }
}

names_are()
{
    [ "$(names)" = "$1" ] || {
        echo "  runs: $(names)"
        return 1
    }
}

add()
{
    "$CHORUS" run tiny.ini backend=fake "$@" --queue --quiet >/dev/null 2>err
}

# What a step takes, so that there is time to disturb it.
slow()
{
    export CHORUS_FAKE_SCRIPT="step_ms=${1:-20}"
}
fast()
{
    unset CHORUS_FAKE_SCRIPT
}

# ---- adding and listing ----

must 0 "$CHORUS" queue
check "an empty queue says how to add to it" grep -q 'nothing waits in results/queue; `chorus run --queue`' err
check "nothing is made by looking" test ! -e results
must 0 "$CHORUS" run tiny.ini name=a --queue
check "the file's path is printed" test "$(cat out)" = results/queue/0001-a.ini
check "it says who will take it" grep -q 'chorus queue run' err
must 0 "$CHORUS" run tiny.ini lr=0.1,0.2 --name board --max-cells 1 --queue
check "a sweep is named by its name" test "$(cat out)" = results/queue/0002-board.ini
check "it says what is before it" grep -q '^1 waits before it' err
refused "another sweep of the name of one that waits" \
    "the sweep board waits in the queue with batch = 40, not 50: --name" \
    "$CHORUS" run tiny.ini lr=0.1,0.2 batch=50 --name board --queue
must 0 "$CHORUS" run tiny.ini --queue --json
check "without a name it is named by its file" grep -q '"file": "0003-tiny.ini"' out
check "the list is in order" queue_is "1 a,2 board,3 tiny"
check "it says what each is" eval '"$CHORUS" queue 2>/dev/null | grep -q "sweep: 2 lr (1 of 2 cells)"'
"$CHORUS" run tiny.ini batch=20 seed=3 optimizer=adam --queue --quiet >/dev/null 2>&1
check "also in what runs of one name differ" eval '"$CHORUS" queue 2>/dev/null | grep -q "batch 20, .*, seed 3$"'
check "first, in whatever key" eval '"$CHORUS" queue 2>/dev/null | grep -q " tiny  *batch=20 [^;]*optimizer=adam[^;]*; tiny on "'
must 0 "$CHORUS" queue rm 4
check "no run has begun" test ! -e results/2*
"$CHORUS" queue --json >list.json 2>/dev/null
if command -v python3 >/dev/null; then
    check "the list as JSON" python3 -c '
import json
l = json.load(open("list.json"))
assert [i["number"] for i in l] == [1, 2, 3] and [i["kind"] for i in l] == ["run", "sweep", "run"]
assert l[1]["cells"] == 2'
fi

refused "what could not run is not added" "batch = 5000 is more than" \
    "$CHORUS" run tiny.ini batch=5000 --queue
refused "nor a sweep without a cell" "no cell of this sweep can run" \
    "$CHORUS" run tiny.ini batch=97,98 devices=4 --queue
refused "not both in the background and in the queue" "--queue and --background" \
    "$CHORUS" run tiny.ini --queue --background
refused "nor a dry run" "--queue and --dry-run" "$CHORUS" run tiny.ini --queue --dry-run

# ---- moving and removing ----

must 0 "$CHORUS" queue move 3 -1
check "where it stands now is told" grep -qE ' is now 2nd of [0-9]+, behind ' err
check "one place earlier" queue_is "1 a,2 tiny,3 board"
must 0 "$CHORUS" queue move a last
check "to the end, by name" queue_is "1 tiny,2 board,3 a"
must 0 "$CHORUS" queue move 3 up
must 0 "$CHORUS" queue move 1 +1
check "up and down" queue_is "1 a,2 tiny,3 board"
must 0 "$CHORUS" queue move board -99
check "past the end is the end" queue_is "1 board,2 a,3 tiny"
refused "a number that is not there" "nothing of number or name 7" "$CHORUS" queue move 7 1
refused "a place that is none" "by so many places" "$CHORUS" queue move 1 sideways
refused "a word that is none" "not burn" "$CHORUS" queue burn
refused "cells of a sweep that is not there" "there is no sweep nosuch" \
    "$CHORUS" queue move nosuch lr=0.2 1
refused "rm without a number" "needs a number" "$CHORUS" queue rm
refused "all or nothing" "nothing of number or name 9" "$CHORUS" queue rm 1 9
check "all are there still" queue_is "1 board,2 a,3 tiny"
must 0 "$CHORUS" queue rm 3 0002-a.ini
check "two are taken out" queue_is "1 board"
must 0 "$CHORUS" queue rm board
for name in a b c d e f; do
    "$CHORUS" run tiny.ini name=$name --queue --quiet >/dev/null 2>&1
done
must 0 "$CHORUS" queue rm 2..3 5 6.. --quiet
check "ranges are taken out" queue_is "1 a,4 d"
refused "a range in which nothing is" "nothing of a number in 2..3 waits" "$CHORUS" queue rm 4 2..3
refused "dots alone" "nothing of number or name .. waits" "$CHORUS" queue rm ..
refused "a range of names" "nothing of number or name a..d waits" "$CHORUS" queue rm a..d
check "then none is taken out" queue_is "1 a,4 d"
must 0 "$CHORUS" queue rm ..4

# ---- taking ----

add name=a
add lr=0.1,0.2 --name board
echo "speed = 9" >results/queue/0003-odd.ini
add name=z
must 1 "$CHORUS" queue run # the odd one
check "a line for each that was taken" eval 'grep -c "^results/" out | grep -qx 3'
check "a sweep's is its table" grep -qx results/sweeps/board/sweep.csv out
check "in their order" names_are "a:done :done :done z:done"
check "the odd one is beside the queue" test -e results/queue/0003-odd.ini.bad
check "and it says why" grep -q '0003-odd.ini cannot be used.*there is no key speed' err
check "the queue is empty" queue_is ""
must 0 "$CHORUS" queue run
check "nothing to do is no error" grep -q 'nothing waits in the queue' err
refused "queue run takes no names" "takes no names" "$CHORUS" queue run 3
rm -rf results

# ---- a run that fails ----

add name=a lr=2
add name=b
export CHORUS_FAKE_SCRIPT="diverge_lr=1"
must 1 "$CHORUS" queue run --quiet
fast
check "a run that diverges is told by the exit code" eval '"$CHORUS" ls name=a --json | grep -q "\"state\": \"diverged\""'
check "and the next is taken" eval '"$CHORUS" ls name=b --json | grep -q "\"state\": \"done\""'
rm -rf results

# ---- Ctrl-C, and going on ----

slow
add name=a epochs=40
for name in b c; do add name=$name epochs=3; done
start queue run
until_true 60 eval 'has_rows results/2*-a-*/steps.csv 3'
check "what runs is no longer in the queue" queue_is "2 b,3 c"
check "its owner is named" eval '"$CHORUS" queue 2>&1 >/dev/null | grep -q "process $pid takes"'
kill -INT $pid
check "Ctrl-C ends with 130" ended_with 130
check "the run is stopped" names_are "a:stopped"
check "the rest stays" queue_is "2 b,3 c"
fast
must 0 "$CHORUS" resume --queue "$(basename results/2*-a-*)"
check "resume --queue goes on with both" names_are "a:done b:done c:done"
check "a folder each is printed" test "$(wc -l <out)" = 3
rm -rf results

slow
for signal in $terms; do
    for name in a b; do add name=$name epochs=100; done
    start queue run --quiet
    until_true 60 eval 'has_rows results/2*-a-*/steps.csv 3'
    kill -$signal $pid
    check "SIG$signal ends with 143" ended_with 143
    check "nothing is lost by it" eval 'names_are "a:stopped" && queue_is "2 b"'
    rm -rf results
done

# ---- a stop by somebody else goes on to the next ----

slow
add name=a epochs=400
add name=b
start queue run
until_true 60 eval 'has_rows results/2*-a-*/steps.csv 3'
must 0 "$CHORUS" stop @
check "the next one's turn has come" until_true 60 eval 'has_rows results/2*-b-*/steps.csv 1'
check "and the queue comes to its end" ended_with 0
check "one is stopped, one done" names_are "a:stopped b:done"
rm -rf results

# ---- a sweep is stopped and gone on with ----

slow
add lr=0.1,0.2,0.4 epochs=20 --name board
add name=b
start queue run
until_true 60 eval '[ $(ls -d results/2*/ 2>/dev/null | wc -l) -ge 1 ]'
until_true 60 eval 'has_rows "$(ls -d results/2*/ | head -n 1)/steps.csv" 2'
kill -INT $pid
check "Ctrl-C stops the sweep" ended_with 130
check "b waits still" queue_is "2 b"
fast
must 0 "$CHORUS" resume --queue board
check "the sweep is whole" test "$(grep -c ',done,' results/sweeps/board/sweep.csv)" = 3
check "b is done" eval 'names | grep -q "b:done$"'
rm -rf results

# ---- in the background ----

slow
add name=a epochs=40
for name in b c; do add name=$name epochs=2; done
must 0 "$CHORUS" queue run --background
taker=$("$CHORUS" queue 2>&1 >/dev/null | sed -n 's/^process \([0-9]*\) takes.*/\1/p')
echo "$taker" >taker.pid
check "queue run --background leaves a process that takes" kill -0 "$taker"
until_true 60 eval 'has_rows results/2*-a-*/steps.csv 3'
kill -INT "$taker"
until_true 60 eval 'state_is results/2*-a-* stopped'
fast
must 0 "$CHORUS" resume --queue --background "$(basename results/2*-a-*)"
check "resume --queue --background goes on with both" until_true 60 names_are "a:done b:done c:done"
rm -rf results

# ---- numbers begin again where nothing waits ----

slow
add name=a epochs=400
start queue run
mv out first.out
mv err first.err
until_true 60 eval 'has_rows results/2*-a-*/steps.csv 1 && queue_is ""'
add name=a epochs=1
must 0 "$CHORUS" stop @
wait $pid
check "another one of the same number is told of, too" \
    test "$(grep -c '^from the queue: 0001-a.ini$' first.err)" = 2
check "and has its run" names_are "a:stopped a:done"
rm -rf results

# ---- two takers ----

slow 60
for name in a b c d; do add name=$name epochs=1; done
start queue run --quiet
first=$pid
mv out first.out
mv err first.err
until_true 60 eval 'has_rows results/2*-a-*/steps.csv 1'
must 0 "$CHORUS" queue run
wait $first
check "two takers share the queue, each one once" names_are "a:done b:done c:done d:done"
check "and one waited for the other" grep -q 'the queue waits: .*process' err first.err
rm -rf results

# ---- another chorus at work on the same results ----

slow
start run tiny.ini backend=fake name=own epochs=400
own=$pid
mv out own.out
mv err own.err
until_true 60 eval 'has_rows results/2*-own-*/steps.csv 3'
add name=a epochs=1
start queue run
check "it waits for a run that was started by hand" until_true 60 grep -q "the queue waits: process $own is at work" err
"$CHORUS" stop own >/dev/null 2>&1
check "no longer" ended_with 0
check "and comes behind it" names_are "own:stopped a:done"
wait $own
rm -rf results

# ---- another chorus at work on other results of this machine ----

usual_cache=$CHORUS_CACHE
export CHORUS_CACHE=$cache/alone # where other tests are not seen
slow
# far ARGUMENTS...: in the background, with files of its own for what it says
far()
{
    "$CHORUS" run tiny.ini backend=fake --results far "$@" >far.out 2>far.err </dev/null &
    far=$!
    echo $far >far.pid
}
far name=far epochs=400
until_true 60 eval 'has_rows far/2*/steps.csv 3'
must 0 "$CHORUS" run tiny.ini backend=fake name=beside epochs=1 --queue
check "it is noticed, and said how to wait for it" \
    grep -q "process $far computes on this machine, with results in another folder: .run --queue --alone." err
must 0 "$CHORUS" run tiny.ini backend=fake name=behind epochs=1 --queue --alone
check "or that it is waited for" grep -q "its end is waited for" err
must 0 "$CHORUS" queue
check "the list says which" eval '[ "$(grep -c ", alone on this machine$" out)" = 1 ]'
check "so does JSON" eval '"$CHORUS" queue --json 2>/dev/null | grep -q "\"name\": \"behind\".*\"alone\": true"'
start queue run
check "the one that may goes ahead of its end" until_true 60 eval 'state_is results/2*-beside-* done'
check "the other one waits for it" until_true 60 grep -q "the queue waits: process $far is at work on .*/far/2" err
"$CHORUS" stop far --results far >/dev/null 2>&1
check "no longer than to its end" ended_with 0
check "and comes behind it" eval \
    '[[ "$(column far/2* ended_utc)" < "$(column results/2*-behind-* started_utc)" ]]'
check "both are done" names_are "beside:done behind:done"
refused "--alone is for what waits" "belongs to --queue" "$CHORUS" run tiny.ini --alone
wait $far
rm -rf results far
# A sweep of many short cells is one piece of work.
fast
far lr=step:0.1:1:0.1 epochs=1 --name many
until_true 60 eval 'ls far/2*/run.csv'
add name=behind epochs=1 --alone
must 0 "$CHORUS" queue run --background
check "it outlives whoever asked for it" until_true 60 names_are "behind:done"
wait $far
check "and came behind all its cells" eval \
    '[[ "$(for f in far/2*/; do column "${f%/}" ended_utc; done | sort | tail -n 1)" < "$(column results/2* started_utc)" ]]'
rm -rf results far
export CHORUS_CACHE=$usual_cache

# ---- a terminal that goes away ----

if has_terminals; then
    slow 10
    for name in a b; do add name=$name epochs=2; done
    cat >hang.py <<'END2'
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], ["chorus", "queue", "run"])
open("taker.pid", "w").write(str(pid))
deadline = time.time() + 60
while time.time() < deadline and not any(
        n.startswith("2") and os.path.exists("results/%s/steps.csv" % n)
        and open("results/%s/steps.csv" % n).read().count("\n") > 2 for n in os.listdir("results")):
    time.sleep(0.02)
os.close(fd)  # SIGHUP
os.waitpid(pid, 0)
END2
    python3 hang.py "$CHORUS"
    check "without its terminal the queue goes on to its end" names_are "a:done b:done"
    rm -rf results
else
    skip "a terminal that goes away" "$lack"
fi

# ---- files that cannot be written ----

if [ "$(id -u)" != 0 ]; then
    mkdir -p results/queue && chmod 555 results/queue
    must 1 "$CHORUS" run tiny.ini --queue
    check "an unwritable folder is one sentence" eval '[ "$(wc -l <err)" = 1 ] && grep -q "cannot open results/queue" err'
    chmod 755 results/queue
    rm -rf results
fi
mkdir small
if mount -t tmpfs -o size=1M tmpfs small 2>/dev/null; then
    must 0 "$CHORUS" run tiny.ini lr=0.1,0.2 --queue --results small/r
    mount -o remount,ro small
    must 1 timeout 20 "$CHORUS" queue run --results small/r
    check "what can only be read is one sentence, and no wait" eval '[ "$(wc -l <err)" = 1 ] &&
        grep -qx "chorus: nothing is taken from the queue: nothing can be written in small/r: Read-only file system" err'
    mount -o remount,rw,size=20k small # no room for what a sweep begins with
    head -c 4k /dev/zero >small/more
    start queue run --results small/r
    check "a full disk is waited for" until_true 30 grep -q "the queue waits" err
    check "the sweep stays in the queue" test -e small/r/queue/0001-tiny.ini
    check "and nothing of it is left" test ! -e small/r/sweeps/tiny
    kill -INT $pid
    wait $pid
    mount -o remount,size=4M small
    must 0 "$CHORUS" queue run --results small/r
    check "with room it has its turn" grep -q "^2 cells: 2 done" err
    umount small
else
    skip "results that can only be read" "no file system can be mounted here"
fi
touch file
must 1 "$CHORUS" run tiny.ini --queue --results file
check "results that are no folder are one sentence" eval '[ "$(wc -l <err)" = 1 ] && grep -q "^chorus: .*file" err'
must 0 "$CHORUS" run tiny.ini --queue --results apart
must 0 "$CHORUS" queue --results apart
check "who takes from another folder's is told with that folder" grep -q '`chorus queue run --results apart` does' err
must 2 "$CHORUS" queue rm 7 --results apart
check "and what waits there" grep -q '`chorus queue --results apart` lists' err
finish
