# Sweeps with real cells: each cell once, whatever is killed, stopped, shared or diverges.
. "${BASH_SOURCE%/*}/lib.sh"

cat >plain.net <<'NET'
input   auto
dense   16
dense   classes
NET
cat >plain.ini <<'INI'
model = ./plain.net
data = synthetic
train_limit = 1200
test_limit = 300
batch = 40
epochs = 3
log_every = 4
threads = 1
INI
# Cells that take long enough to be killed in.
cat >slow.ini <<'INI'
model = ./tiny.net
data = synthetic
train_limit = 1200
test_limit = 300
epochs = 40
optimizer = momentum
log_every = 4
threads = 1
lr = 0.02, 0.05
batch = 40, 60
INI

# start ARGUMENTS...: in the background, with its talk in ./err
start()
{
    : >out >err
    env --default-signal=INT,QUIT "$CHORUS" "$@" >out 2>err </dev/null &
    pid=$!
    echo $pid >run.pid
}

# folders [RESULTS]: how many runs there are
folders()
{
    ls -d "${1:-results}"/2*/ 2>/dev/null | wc -l
}

# ledger NAME STATE: how many lines say so
ledger()
{
    grep -c ",$2," "${3:-results}/sweeps/$1/ledger.csv"
}

# run_of RESULTS CELL: the folder of a cell
run_of()
{
    local folder
    for folder in "$1"/2*/; do
        [ "$(column "${folder%/}" cell)" = "$2" ] && echo "${folder%/}"
    done
}

# same_cells A B: the same cells, each once, with the same rows and weights
same_cells()
{
    local folder other
    [ "$(folders "$1")" = "$(folders "$2")" ] || {
        echo "  $(folders "$1") and $(folders "$2") runs"
        return 1
    }
    for folder in "$1"/2*/; do
        other=$(run_of "$2" "$(column "${folder%/}" cell)")
        [ "$(echo "$other" | wc -w)" = 1 ] || {
            echo "  for ${folder%/}: '$other'"
            return 1
        }
        same_run "${folder%/}" "$other" || return 1
    done
}

# Lists, the sheet, the same command again.
exits 0 "$CHORUS" run plain.ini lr=0.005,0.01 batch=40,60
check "a sweep" test "$(folders)" = 4
check "its last line is the sheet" test "$(cat out)" = results/sweeps/plain/sweep.csv
check "a row a cell" test "$(rows results/sweeps/plain/sweep.csv)" = 4
check "the sheet says what varies" grep -q "^cell,run,state,reason,.*lr.*best_test_acc" \
    results/sweeps/plain/sweep.csv
check "a line a cell" grep -qE "^cell 3 of 4  lr=0.[0-9]+ batch=[46]0  0.[0-9]{4}  [0-9.]+ s  .* left$" err
check "the best one, and what it was picked on" grep -q "4 done; best 0.* (picked on test)" err
check "its columns of validation are empty without such data" \
    test "$(grep -c ',shared,val_acc,val_loss,listed$\|,,,yes$' results/sweeps/plain/sweep.csv)" = 5
exits 0 "$CHORUS" run plain.ini lr=0.005,0.01 repeats=2 epochs=1 --results seeds
check "of repeats it is one seed's, no mean" grep -q "4 done; best seed 0.* with lr=.* (picked on test)" err
held=held/sweeps/plain/sweep.csv
exits 0 "$CHORUS" run plain.ini lr=0.0001,0.01 epochs=1 valid=100 --results held --json
check "with valid the best cell is picked on it" grep -q "2 done; best 0.* (picked on valid: 0\." err
most=$(tail -n +2 $held | awk -F, '{ print $(NF - 2) }' | sort -g | tail -n 1)
check "as --json says" grep -q "\"best_by\": \"valid\".*\"best_val_acc\": $most" out
run=$(tail -n +2 $held | awk -F, -v most="$most" '$(NF - 2) == most { print $2; exit }')
check "and its run" grep -q "\"best_run\": \"$run\"" out
check "which is @best too" grep -q "$run" <("$CHORUS" ls @best --results held)
exits 0 "$CHORUS" resume "held/$run" epochs=2 # from another results folder
check "more epochs of a cell change what the sheet says of it" \
    grep -q ",,waiting,went on to 2 epochs: no result of this cell any more," $held
exits 0 "$CHORUS" run plain.ini valid=0,100 epochs=1 --results mixed
check "where a cell has no validation data it is picked on test" \
    grep -q "2 done; best 0.* (picked on test)" err
exits 0 "$CHORUS" run plain.ini test_limit=100,200 epochs=1 --results mixed --name apart
check "where cells were tested on different data there is no best" \
    grep -q "2 done; no best: they were tested on different data (test_limit)" err
exits 0 "$CHORUS" resume apart --results mixed --json
check "nor in --json" grep -q '"best_run": null, "best_by": null, "best_test_acc": null' out
rm -rf held mixed
check "runs know their sweep" test "$(column "$(run_of results "$(cut -d, -f1 results/sweeps/plain/sweep.csv | sed -n 2p)")" sweep)" = plain
exits 0 "$CHORUS" run plain.ini lr=0.005,0.01 batch=40,60 --quiet
check "the same command again runs nothing" test "$(folders)" = 4
check "--quiet says nothing but the sheet" test ! -s err -a "$(wc -l <out)" = 1
exits 0 "$CHORUS" run plain.ini lr=0.005,0.01,0.02 batch=40,60 --json
check "a longer list runs what is missing" test "$(folders)" = 6
check "--json" grep -q '"state": "done", "cells": 6, "results": 6, "left": 0, "others": 0.*"done": 6.*"best_test_acc": 0\.' out
exits 0 "$CHORUS" resume plain
check "resume of what is finished" test "$(folders)" = 6
check "it says so" grep -q "^6 of 6 cells have a result already, 0 to run$" err
refused "stop of what is finished does not say that resume goes on" \
    "plain, and none of its cells is left to run" "$CHORUS" stop plain
refused "nor does dropping its cells" "none of its cells is left" "$CHORUS" stop plain --skip lr=0.02
exits 0 "$CHORUS" run plain.ini lr=0.03,0.005,0.01,0.02 batch=40,60 --order grid
check "what is there is counted before anything runs" \
    eval 'head -n 2 err | grep -qE "^6 of 8\+? cells have a result already, 2\+? to run$"'
check "though it comes later in the order" grep -qE "^cell 7 of 8\+? " err
refused "a sweep is no one run" "one is needed, such as @best sweep=plain" "$CHORUS" show plain
refused "another grid of that name" "--name gives this one" "$CHORUS" run plain.ini lr=0.005,0.01
exits 0 "$CHORUS" run plain.ini lr=0.005,0.01 name=each --dry-run --results named
check "the key name names its runs alone, which is said" \
    grep -qx "name=each names its runs; the sweep itself is plain: --name gives it another name" err
exits 0 "$CHORUS" run plain.ini lr=0.005,0.01 name=each --name all --dry-run --results named
check "not where both are named" eval '! grep -q "names its runs" err'
refused "another share of the threads" "was begun with --jobs 1, not 2" \
    "$CHORUS" run plain.ini lr=0.005,0.01,0.02 batch=40,60 --jobs 2

# Other lists under that name: their results are not those of these cells.
other="lr=0.04,0.05 batch=40,60" sheet=results/sweeps/plain/sweep.csv
exits 0 "$CHORUS" run plain.ini $other --max-cells 1 --json
check "a sweep that was cut counts its own cells" \
    grep -q '"cells": 1, "results": 1, "left": 0, .*"done": 1,' out
exits 0 "$CHORUS" resume plain --max-cells 4 --background
check "so does one that goes on in the background" \
    grep -q "^1 of 4 cells have a result already, 3 to run$" err
until_true 300 eval '"$CHORUS" ls plain 2>/dev/null | grep -c " done " | grep -qx 12'
exits 0 "$CHORUS" run plain.ini $other --json
check "the others are told apart" grep -q '"cells": 4, "results": 4, "left": 0, "others": 8, .*"done": 4,' out
check "in the sheet" eval 'test "$(grep -c ",yes$" $sheet)" = 4 && test "$(grep -c ",no$" $sheet)" = 8'
check "in a sentence" grep -q "sweep.csv has 8 cells more that were run under this name" err
best=$(sed 's/.*"best_run": "\([^"]*\)".*/\1/' out)
check "and the best is one of its own" grep -q ",$best,done,.*,yes$" $sheet
exits 0 "$CHORUS" watch plain
check "who watches is told of its own" test "$(grep -c "^cell [0-9]* of 4 " err)" = 4
rm -rf results

# What waits, and what cannot be, have their rows too.
exits 0 "$CHORUS" run plain.ini batch=40,60 devices=1,3 lr=0.005 --order grid --name mixed --max-cells 1
exits 0 "$CHORUS" ls mixed
check "ls tells of it too" grep -qF \
    "sweep mixed: 1 result; --max-cells 1 leaves out 2 of the 3 cells of its grid: chorus resume mixed --max-cells 3 takes them all" err
exits 0 "$CHORUS" resume mixed --max-cells 2
check "resume takes more of them" grep -q "^2 cells: 2 done" err
check "what --max-cells leaves for later is told" grep -q "^1 more in the grid: chorus resume mixed --max-cells 3 runs it too" err
state_of()
{
    awk -F, -v batch="$1" -v devices="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $at["batch"] == batch && $at["devices"] == devices { print $at["state"], $4 }' results/sweeps/mixed/sweep.csv
}
check "what ended" test "$(state_of 40 1)" = "done "
exits 0 "$CHORUS" run plain.ini batch=40,60 devices=1,3 lr=0.005 --order grid --name mixed --quiet
check "what cannot be, and why" eval '[[ "$(state_of 40 3)" == "skipped "?*3* ]]'
check "a row each" test "$(rows results/sweeps/mixed/sweep.csv)" = 4
rm -rf results

# A cell that diverges is a result.
exits 0 "$CHORUS" run plain.ini lr=0.01,1e9,0.02 --order grid
check "a diverged cell ends no sweep" test "$(ledger plain done)$(ledger plain diverged)" = 21
check "its reason is told" grep -q "lr=1e9  diverged: the loss is not finite" err
check "and stands in the sheet" grep -q ',diverged,"the loss is not finite' results/sweeps/plain/sweep.csv
exits 0 "$CHORUS" run plain.ini lr=0.01,1e9,0.02
check "it is not run again" test "$(folders)" = 3
exits 0 "$CHORUS" run plain.ini lr=0.01,1e9,0.02 --failed
check "but with --failed" test "$(folders)" = 4
exits 0 "$CHORUS" resume plain --failed
check "resume --failed" test "$(folders)" = 5
exits 0 "$CHORUS" rm "$(ls -d results/2*/ | sed -n 2p)"
check "a try that another one followed is no cell's run" eval '! grep -q "when it goes on" err && grep -q "undo: mv" err'
exits 0 "$CHORUS" resume plain
check "the sweep runs nothing for it" test "$(folders)" = 4
rm -rf results

# --failed that is stopped.
exits 0 env CHORUS_FAKE_SCRIPT=diverge_lr=1 "$CHORUS" run tiny.ini backend=fake lr=0.1,2,3,4 --name anew
export CHORUS_FAKE_SCRIPT=step_ms=60
start resume anew --failed
until_true 60 eval '[ "$(ledger anew running)" = 5 ]'
kill -INT $pid
wait $pid
unset CHORUS_FAKE_SCRIPT
check "what it did not reach keeps its end" grep -q "^4 cells: 1 done, 2 diverged, 1 stopped; best" err
check "and is to be had with --failed too" grep -q "^to go on: chorus resume anew.* --failed$" err
exits 0 "$CHORUS" resume anew --failed
check "which has them all" grep -q "^4 cells: 4 done; best" err
rm -rf results

# What was removed is missing.
exits 0 "$CHORUS" run plain.ini lr=0.005,0.01 batch=40,60 --quiet
exits 0 "$CHORUS" rm @
check "rm says what becomes of the cell" grep -q "the sweep plain runs what was removed again" err
exits 0 "$CHORUS" run plain.ini lr=0.005,0.01 batch=40,60 --quiet
check "the same sweep runs it again" test "$(folders)" = 4
exits 0 "$CHORUS" rm @ @2 --yes
exits 0 "$CHORUS" resume --quiet
check "so does resume, which knows that they are missing" test "$(folders)" = 4
check "each cell has one row with its result" test "$(grep -c ',done,.*,0\.' results/sweeps/plain/sweep.csv)" = 4
rm -rf results

# Data that go while it runs.
mkdir csv
awk 'BEGIN { srand(1); for (i = 0; i < 400; i++) { c = i % 4; printf "%d", c
    for (j = 0; j < 16; j++) printf ",%d", (rand() + (j % 4 == c)) * 100; print "" } }' >csv/train.csv
head -n 100 csv/train.csv >csv/test.csv
cat >gone.ini <<'INI'
model = mlp
data = csv/train.csv:csv/test.csv
backend = fake
batch = 40
epochs = 3
lr = 0.01, 0.02, 0.03
INI
export CHORUS_FAKE_SCRIPT="stuck=25 stuck_file=$PWD/gate" # the third epoch waits
start run gone.ini --order grid
until_true 60 eval 'has_rows "$(ls -d results/2*/ | head -n 1)epochs.csv" 1'
rm csv/train.csv
: >gate
wait $pid
unset CHORUS_FAKE_SCRIPT
check "data that go end no sweep" test $? = 0
check "the cells that need them fail" test "$(ledger gone done)$(ledger gone failed)" = 12
check "with the reason" grep -q "failed,.*csv/train.csv" results/sweeps/gone/ledger.csv
rm -rf results

# A full disk is said, waited for, and a stop is heard.
mkdir small
if mount -t tmpfs -o size=60k tmpfs small 2>/dev/null; then
    start run tiny.ini lr=0.02,0.05 --results small/r
    until_true 30 grep -q "training waits until there is room" err
    check "a full disk is said, and how to go on" grep -q "chorus stop tiny --results small/r ends it, resumable" err
    check "in log.txt too" grep -q "training waits until there is room" small/r/2*/log.txt
    exits 0 "$CHORUS" stop tiny --results small/r
    wait $pid
    check "a stop is heard" test $? = 130
    check "and is no result" test "$(ledger tiny failed small/r)" = 0
    exits 1 "$CHORUS" run tiny.ini lr=0.02,0.05 --name more --results small/r
    check "a sweep that finds no room: the next step" \
        grep -qx "chorus: nothing can be written in small/r: No space left on device; make room, or --results .*" err
    check "it leaves nothing" test ! -e small/r/sweeps/more
    mount -o remount,size=4M small
    exits 0 "$CHORUS" resume tiny --results small/r --quiet
    check "with room it goes on" test "$(ledger tiny done small/r)$(folders small/r)" = 22
    umount small
else
    skip "a full disk" "no file system can be mounted here"
fi

# What cannot run.
refused "nothing but impossible cells" "divide" "$CHORUS" run plain.ini batch=41,43 devices=2
refused "nothing that can be planned" "more than the 1200 images" "$CHORUS" run plain.ini batch=1201,1202
exits 0 "$CHORUS" run plain.ini batch=40,41,1202 devices=2
check "impossible cells are listed" grep -q "batch=41: .*divide" err
check "what cannot be planned is skipped" test "$(ledger plain skipped)" = 1
check "the others run" test "$(ledger plain done)" = 1
rm -rf results

# Data that come later: the cell is named by them now, and what it came to without them is gone.
seq 0 59 | awk 'BEGIN { print "a,b,label" } { print $1 % 7 "," $1 % 5 "," $1 % 3 }' >first.csv
late()
{
    exits 0 "$CHORUS" run model=./plain.net data=first.csv,late.csv batch=6 epochs=1 threads=1 \
        --name late
    rows=$(cut -d, -f3 results/sweeps/late/sweep.csv | tail -n +2 | sort | paste -sd' ')
}
late
check "without its data a cell is skipped" test "$rows" = "done skipped"
sed 's/^\(.\),/\11,/' first.csv >late.csv
late
check "with them its row says what it came to" test "$rows" = "done done"
rm late.csv
late
sed 's/^\(.\),/\11,/' first.csv >late.csv
late
check "also where it had its result before" test "$rows" = "done done"
rm -rf results first.csv late.csv

# Side by side: a core each.
exits 0 "$CHORUS" run plain.ini threads=all epochs=30 lr=0.005,0.01,0.015,0.02 --jobs 2
check "--jobs 2" test "$(ledger plain done)" = 4
most=$(for f in results/2*/; do column "${f%/}" shared; done | sort -n | tail -n 1)
check "run.csv says how many computed beside each other" test "$most" = 2
if [ "$(nproc)" -gt 1 ]; then
    check "threads = all is a share of the cores" \
        test "$(column "$(ls -d results/2*/ | head -n 1)" threads_used)" = $(($(nproc) / 2))
fi
exits 0 "$CHORUS" run plain.ini --name alone threads=1,2 --jobs 2
check "where threads vary, one at a time" grep -q "one cell at a time" err
crowd="$(($(nproc) + 1)) threads on $(nproc) cores\?: threads = all is faster$"
exits 0 "$CHORUS" run plain.ini --name crowded threads=${crowd%% *} lr=0.01,0.02 epochs=1 --dry-run
check "more threads than cores are told of before" test "$(grep -c "^# threads  *$crowd" out)" = 1
exits 0 "$CHORUS" run plain.ini --name crowded threads=${crowd%% *} lr=0.01,0.02 --jobs 2 --dry-run
check "of two cells at the same time also" grep -q "^# threads  *2 cells of ${crowd/threads/threads each}" out
exits 0 "$CHORUS" run plain.ini --name crowded threads=${crowd%% *} lr=0.01,0.02 epochs=1
check "and where they compute, once" test "$(grep -c "^$crowd" err)" = 1
if [ "$(nproc)" -gt 1 ]; then
    two="2 cells of $(nproc) threads each on $(nproc) cores: threads = all is faster$"
    exits 0 "$CHORUS" run plain.ini --name each threads=$(nproc) lr=0.01,0.02 epochs=1 --jobs 2
    check "and of cells that have more only together, however many jobs" test "$(grep -c "^$two" err)" = 1
    check "in each cell's log" test "$(cat results/2*/log.txt | grep -c "$two")" = 2
    exits 0 "$CHORUS" run plain.ini --name many threads=$(nproc) lr=0.01,0.02 --jobs 9 --dry-run
    check "before they compute, too" grep -q "^# threads  *$two" out
fi
exits 0 "$CHORUS" run plain.ini --name shares threads=all lr=0.01,0.02 epochs=1 --jobs 2
check "not of equal shares" test "$(grep -c "is faster" err)" = 0
rm -rf results

exits 0 "$CHORUS" run slow.ini --results whole --quiet # tests/torture/kills.sh kills it

# What killed programs left half written is taken away by the next one alone on it.
sleep 0 &
gone=$(mark $!)
wait $!
exits 0 "$CHORUS" run slow.ini --quiet
touch results/sweeps/slow/{sweep.csv,sweep.ini}.tmp-$gone results/sweeps/slow/my.tmp-notes
touch "results/sweeps/slow/sweep.csv.tmp-$(mark $$)"
flock -o -s results/sweeps/slow/work "$CHORUS" run slow.ini --quiet >out 2>err </dev/null
check "where others are at work, nothing that they may be writing" test -e results/sweeps/slow/sweep.csv.tmp-$gone
exits 0 "$CHORUS" run slow.ini --quiet
check "drafts of programs that are gone go too" test "$(ls results/sweeps/slow | grep -c "tmp-$gone")" = 0
check "not those of one that lives, nor other files" test "$(ls results/sweeps/slow | grep -c tmp-)" = 2
rm -rf results

# Two programs, one sweep.
"$CHORUS" run slow.ini >out2 2>err2 </dev/null &
other=$!
exits 0 "$CHORUS" run slow.ini
wait $other
check "the other of two programs" test $? = 0
check "they number their cells together" \
    test "$(sed -n 's/^cell \([0-9]*\) of .*/\1/p' err err2 | sort | paste -sd' ')" = "1 2 3 4"
check "two programs share it: each cell once" same_cells whole results
check "each cell was claimed once" test "$(ledger slow running)" = 4
rm -rf results

# One of them dies: the other takes its cell over.
start run slow.ini --quiet
until_true 60 test -s results/sweeps/slow/ledger.csv
"$CHORUS" run slow.ini --quiet >out2 2>err2 </dev/null &
other=$!
until_true 60 eval '[ "$(ledger slow running)" -ge 2 ]'
kill -9 $pid
wait $pid 2>/dev/null
wait $other
check "what a dead program began is taken over" same_cells whole results
rm -rf results

# Ctrl-C stops all resumably, and says how to go on. No cell ends before this is done with them.
sed '/^epochs/d' slow.ini >held.ini && printf 'epochs = 3\nbackend = fake\n' >>held.ini
exits 0 "$CHORUS" run held.ini --results whole-held --name slow --quiet
export CHORUS_FAKE_SCRIPT="stuck=45 stuck_file=$PWD/held"
start run held.ini --name slow --jobs 2
until_true 60 eval 'ls results/2*/checkpoint.safetensors'
kill -INT $pid
wait $pid
check "Ctrl-C ends with 130" test $? = 130
check "it says how to go on" grep -q "chorus resume slow" err
check "the sheet is printed all the same" test "$(cat out)" = results/sweeps/slow/sweep.csv
for folder in results/2*/; do
    check "every cell is stopped or done" \
        eval 'state_is "${folder%/}" stopped || state_is "${folder%/}" done'
done
for signal in $terms; do
    before=$(ledger slow running)
    start resume --quiet
    until_true 60 eval '[ "$(ledger slow running)" -gt '"$before"' ]'
    kill -$signal $pid
    sleep 0.01
    kill -TERM $pid 2>/dev/null # when the cell that the first one stops may have ended
    wait $pid
    check "SIG$signal ends with 143" test $? = 143
done
start resume slow --quiet
until_true 60 eval '! flock -n results/sweeps/slow/work true'
kill -HUP $pid
: >held
wait $pid
check "SIGHUP ends nothing" test $? = 0
check "stopped so often, the same cells" same_cells whole-held results
unset CHORUS_FAKE_SCRIPT
rm -rf results

# From another process.
exits 0 "$CHORUS" run slow.ini epochs=100000 --background
check "--background returns with the sheet's path" test "$(cat out)" = results/sweeps/slow/sweep.csv
until_true 60 eval 'ls results/2*/run.csv'
folder=$(ls -d results/2*/) && folder=${folder%/}
column "$folder" pid >run.pid
until_true 60 state_is "$folder" running
exits 0 "$CHORUS" pause slow
check "pause of a sweep" state_is "$folder" paused
exits 0 "$CHORUS" go slow
check "go of a sweep" state_is "$folder" running
exits 0 "$CHORUS" pause @
check "pause of a cell" state_is "$folder" paused
check "says that it is a cell's" grep -q "^a cell of the sweep slow: this holds this cell alone" err
check "and how the sweep is paused" grep -q "The whole sweep: chorus pause slow$" err
exits 0 "$CHORUS" go @
check "go of a cell" state_is "$folder" running
check "says the same" grep -q "lets this cell alone go on. The whole sweep: chorus go slow$" err
exits 0 "$CHORUS" pause slow
exits 0 "$CHORUS" go @
check "a cell that goes on leaves its sweep paused" grep -q "^the sweep stays paused: no further cell begins before chorus go slow$" err
stands()
{
    "$CHORUS" ls slow 2>&1 >/dev/null | grep -qE "^sweep slow: paused: no further cell begins; cell 1 of 4(, [0-9:]*( s)? left)?$"
}
check "ls says how it stands" until_true 20 stands
exits 0 "$CHORUS" stop slow --after-cells
until_true 20 grep -qs '^sweep 1 0 2 ' "$CHORUS_CACHE"/working/* # it has heard of it
exits 0 "$CHORUS" go slow
check "go cancels a stop after the cells" grep -q "^slow is running: the stop after the running cells is cancelled$" err
exits 0 "$CHORUS" stop slow --after-cells
exits 0 "$CHORUS" pause slow
check "a pause forgets it" grep -q "^slow is paused$" err
exits 0 "$CHORUS" go slow
check "so that go has none to cancel" grep -q "^slow is running$" err
refused "go has no option --no-stop any more" "go has no option --no-stop" "$CHORUS" go slow --no-stop
# Its first epoch has no end before ./epoch is there.
exits 0 env CHORUS_FAKE_SCRIPT="stuck=5 stuck_file=$PWD/epoch" "$CHORUS" run held.ini --name back --results back --background
until_true 60 eval '[ "$(cat back/2*/run.csv | grep -c ,running,)" = 1 ]'
ends()
{
    grep -qsE '^sweep [0-9]+ [0-9]+ 3 .* back$' "$CHORUS_CACHE"/working/*
}
goes_on()
{
    ! ends
}
exits 0 "$CHORUS" stop back --after-epoch --results back
check "a stop after the epoch is heard" until_true 20 ends
exits 0 "$CHORUS" go back --results back
check "and one after the epoch" grep -q "^back is running: the stop after this epoch is cancelled$" err
check "which is heard, too, however busy the machine is" until_true 20 goes_on
: >epoch
check "so that all its cells are done" until_true 60 eval '[ "$(grep -c ,done, back/sweeps/back/ledger.csv)" = 4 ]'
exits 0 "$CHORUS" stop "$folder" --skip
check "a skipped cell" state_is "$folder" skipped
check "is a result" test "$(ledger slow skipped)" = 1
check "it is said that the sweep goes on" grep -q "drops this cell, .*the sweep goes on. The whole sweep: chorus stop slow$" err
exits 0 "$CHORUS" stop @ # at once: the next one is meant
second=$(ls -d results/2*/ | sed -n 2p) && second=${second%/}
check "stop @ of a cell stops that alone" eval 'state_is "$second" stopped && ! flock -n results/sweeps/slow/work true'
check "and says so" grep -q "stops this cell alone; the sweep goes on with its others, and with this one when it is resumed" err
check "the next one begins" until_true 60 eval '[ "$(folders)" = 3 ]'
exits 2 "$CHORUS" stop "$second" # the next cell writes meanwhile
check "what has ended names its sweep" grep -qF "is one cell: chorus stop slow is for the sweep" err
exits 0 "$CHORUS" stop slow --skip lr=0.02
check "waiting cells are dropped by their values" test "$(ledger slow skipped)" -ge 2
check "and it is said how many" grep -q '^dropped: [12] of 2 cells' err
exits 0 "$CHORUS" queue move slow lr=0.05 -1
check "where a moved cell stands is told" grep -qE '^lr=0.05 batch=[46]0 (is now 1st of [12] that wait$|does not wait any more)' err
check "and kept" grep -q '^number,cell,waits$' results/sweeps/slow/order.csv
"$CHORUS" watch slow >watched 2>talk </dev/null &
watcher=$!
until_true 60 grep -q "skipped" talk
exits 0 "$CHORUS" stop slow slow
check "named twice is stopped once" test "$(grep -c "^slow is stopped$" err)" = 1
check "stop of a sweep" test "$(ledger slow stopped)" = 2 # and the one before
wait $watcher
check "watch of a sweep ends with it" test $? = 130
check "it says what ended, as run does" grep -qE "^cell [0-9] of [0-9]  lr=0.0[25] batch=[46]0  skipped" talk
check "and how to go on" grep -q "^to go on: chorus resume slow" talk
check "nobody works on it" until_true 20 eval '! kill -0 "$(cat run.pid)"'
refused "stop of what nobody runs" "nobody works on the sweep slow" "$CHORUS" stop slow
before=$(wc -c <results/sweeps/slow/control)
flock -s results/sweeps/slow/work bash -c "until [ \$(wc -c <results/sweeps/slow/control) -gt $before ]; do :; done" &
until_true 20 eval '! flock -n results/sweeps/slow/work true'
exits 0 "$CHORUS" queue move slow lr=0.05 -1
check "who leaves does not move cells" \
    grep -q "not moved: nobody works on the sweep any more; chorus resume slow" err
wait $!
refused "more epochs of a sweep" "not a sweep" "$CHORUS" resume slow epochs=50
refused "--skip of a whole sweep" "one run of a sweep" "$CHORUS" stop slow --skip
refused "cells of a sweep that nobody runs" "nobody works on" "$CHORUS" stop slow --skip lr=0.02
refused "cells by a key that does not vary" "no such key" "$CHORUS" stop slow --skip epochs=3
refused "cells by a value that none has" "no cell" "$CHORUS" queue move slow lr=7 -1
refused "--after-cells of a run" "is none" "$CHORUS" stop "$folder" --after-cells
rm -rf results
exits 0 "$CHORUS" run slow.ini epochs=150 --background --quiet
exits 0 "$CHORUS" stop slow --after-cells
until_true 120 flock -n results/sweeps/slow/work true
check "after the cells that run" eval '[ "$(ledger slow stopped)" = 0 ] && [ "$(folders)" -lt 4 ] &&
    [ "$(ledger slow done)" = "$(folders)" ]'
rm -rf results

# Several sweeps by their names, beside a run.
names="long other"
for name in $names; do
    exits 0 "$CHORUS" run slow.ini epochs=100000 --background --quiet --name $name
    until_true 60 eval '[ "$(column "$(ls -d results/2*/ | tail -n 1)" sweep)" = $name ]'
done
exits 0 "$CHORUS" run slow.ini lr=0.01 batch=40 epochs=100000 --background --quiet && single=$(cat out)
for folder in results/2*/; do column "$folder" pid; done | sort -u >three.pid
until_true 60 state_is "$single" running
exits 0 "$CHORUS" pause $names "$single" # who computes makes files
check "pause of several sweeps" test "$(grep -c "^\(long\|other\) is paused$" err)" = 2
check "--after-cells takes sweeps alone" eval 'refused "of a run beside them" "${single##*/} is none" \
    "$CHORUS" stop $names "${single##*/}" --after-cells'
refused "--skip takes none" "one run of a sweep" "$CHORUS" stop $names --skip
exits 0 "$CHORUS" stop other --after-cells
check "a stop to which a paused sweep goes on says so" \
    grep -q "^other is no longer paused: its running cells go on to their ends, and no further one begins$" err
exits 0 "$CHORUS" go $names "$single"
exits 0 "$CHORUS" stop $names --after-cells
check "after the cells of both" test "$(grep -c "^\(long\|other\) will stop after the running cells$" err)" = 2
exits 0 "$CHORUS" stop $names "$single"
check "stop of several sweeps stops them whole" eval 'flock -n results/sweeps/long/work true &&
    flock -n results/sweeps/other/work true && [ "$(grep -c "^\(long\|other\) is stopped$" err)" = 2 ]'
check "and the run beside them" state_is "$single" stopped
check "of no cell alone" eval '! grep -q "cell alone" err'
rm -rf results

# What its own program tells of a sweep, as long as that lives.
mkdir -p results/sweeps/told "$CHORUS_CACHE/working"
echo "lr = 0.1, 0.2" >results/sweeps/told/sweep.ini
: >results/sweeps/told/ledger.csv
owner=$CHORUS_CACHE/working/$(mark 1)-1
flock -F -s results/sweeps/told/work flock -F "$owner" sleep 100 &
owner_pid=$!
echo $owner_pid >told.pid
until_true 20 eval '! flock -n "$owner" true'
standing() # STATE...: the numbers of its line
{
    printf '%s\n\n1\n\nsweep %s told\n' "$PWD/results" "$*" >"$owner"
    "$CHORUS" ls told 2>err >out
}
standing 2 0 1 0 0 6 4 1 0 0 0 1 0 0 0 0 0 41
check "a pause in which a cell runs" grep -qxF "sweep told: paused: no further cell begins; cell 2 of 6, 41 s left" err
standing 1 0 2 0 0 6 4 1 0 0 0 1 0 0 0 0 0 7
check "a stop after its cells" grep -qxF "sweep told: stopping: no further cell begins; cell 2 of 6, 7 s left" err
standing 1 0 0 1 1 6 4 1 0 0 0 1 0 0 0 0 0 7
check "no room" grep -qxF "sweep told: waits for room; cell 2 of 6+" err
exits 0 "$CHORUS" go told
check "go does not wait for that" grep -qx "told waits for room" err
standing 2 0 1 1 0 6 4 1 0 0 0 1 0 0 0 0 0 7
check "a pause without room" grep -qxF "sweep told: waits for room, then pauses; cell 2 of 6" err
exits 0 "$CHORUS" pause told
check "is what a pause is answered by" grep -qx "told waits for room, then pauses" err
standing 1 0 2 0 0 6 4 1 1 0 0 1 0 0 0 0 0 7
check "no time is left of what is paused, though it stops too" \
    grep -qxF "sweep told: paused, then stops; cell 2 of 6" err
standing 1 0 0 1 1 6 4 1
check "a line that is not whole tells nothing" eval '! grep -q "sweep told" err'
standing 2 0 1 0 0 6 4 1 0 0 0 1 0 0 0 0 0 41
kill -9 $owner_pid
wait $owner_pid 2>/dev/null
until_true 20 flock -n "$owner" true
"$CHORUS" ls told 2>err >out
check "nor does one that is dead" eval '! grep -q "sweep told" err'
rm -rf results

# on_end: of each cell, with what it needs to know; its failure is a warning.
exits 0 "$CHORUS" run plain.ini lr=0.01,1e9 --order grid \
    on_end='"echo ""$CHORUS_STATE $(basename ""$CHORUS_RUN"")"" >>'"$work"'/ends; echo said; exit 3"'
check "on_end is run for each cell" test "$(cut -d ' ' -f 1 ends | tr '\n' ' ')" = "done diverged "
check "and knows its run" test -d "results/$(head -n 1 ends | cut -d ' ' -f 2)"
check "its output is in log.txt" grep -q "^said$" "results/$(head -n 1 ends | cut -d ' ' -f 2)/log.txt"
check "its failure is a warning" grep -q "on_end: the command ended with exit code 3" err
exits 0 "$CHORUS" run plain.ini on_end='echo one >>'"$work"'/single' --background --quiet
exits 0 "$CHORUS" watch "$(cat out)" --quiet
check "a hand-over is no end" until_true 20 test "$(cat single)" = one
start run plain.ini epochs=1 on_end="sleep 60"
until_true 60 grep -q "still ending: .* on_end, is at work" err
kill -INT $pid
wait $pid
check "a second signal ends the command, not the result" state_is "$(cat out)" done
rm -rf results

# A line for each cell that runs, and one for the sweep.
if has_terminals; then
    cat >screen.py <<'PY'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 90, 0, 0))
    os.execv(sys.argv[1], sys.argv[1:])
seen = b""
while True:
    try:
        got = os.read(fd, 4096)
    except OSError:
        break
    if not got:
        break
    seen += got
open("screen", "wb").write(seen)
status = os.waitpid(pid, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 99)
PY
    python3 screen.py "$CHORUS" run slow.ini train_limit=12000 --jobs 2 # long enough to be drawn
    check "a sweep on a terminal" test $? = 0
    check "a line for a cell that runs" grep -qaE "lr=0.0[25] batch=[46]0  epoch [0-9]+/40 .* %" screen
    check "one for the sweep" grep -qaE "^([^c]*)[0-9] of 4 cells  .* left" screen
    check "no line is wider" python3 -c '
import re
text = re.sub(rb"\x1b\[[0-9;]*[A-Za-z]", b"", open("screen", "rb").read()).decode()
assert max(len(line) for line in re.split("[\r\n]", text) if "/2" not in line) <= 90'
else
    skip "a sweep on a terminal" "$lack"
fi

# ---- tables of the same numbers ----
for i in $(seq 20); do
    echo "$((i % 2 ? 1 : 0)),$i,$((i * 7 % 20)),3,4"
done >numbers
{ echo label,a,b,c,d && sed 's/^0/x/; s/^1/y/' numbers; } >words.csv
{ echo label,a,b,c,d && sed 's/^0/-1/; s/^1/2/' numbers; } >signed.csv
{ echo label,e,f,g,h && sed 's/^0/x/; s/^1/y/' numbers; } >headed.csv
cp words.csv copy.csv
exits 0 "$CHORUS" run model=./plain.net data=words.csv,signed.csv,headed.csv,copy.csv epochs=1 batch=2 \
    --name tables
check "other classes and other columns are other data" grep -q "^3 cells: 3 done" err
check "the same twice is said" grep -q "^1 cell comes to the same as another one" err

# What was skipped is no result.
printf '%s\n' 0,1,2 1,3,4 0,1,3 1,3,5 >rows.csv
exits 0 "$CHORUS" run model=tiny data=rows.csv:rows.csv,gone.csv batch=2 epochs=1 --name gaps --quiet
exits 0 "$CHORUS" resume gaps
check "and is counted apart" grep -q "^1 of 2 cells have a result already, 1 skipped (--failed tries it again), 0 to run$" err

finish
