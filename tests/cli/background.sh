# run --background, and watch, pause, go, stop from another process.
. "${BASH_SOURCE%/*}/lib.sh"

live()
{
    ! flock -n "$1/lock" true
}

exits 0 "$CHORUS" run tiny.ini epochs=100000 --background
folder=$(cat out)
check "the folder is printed" test -d "$folder"
check "the command has returned and the run is live" live "$folder"
column "$folder" pid >run.pid
check "it is a process of its own" kill -0 "$(cat run.pid)"
check "in a session of its own" \
    test "$(cut -d ' ' -f 6 "/proc/$(cat run.pid)/stat")" = "$(cat run.pid)"
until_true 60 has_rows "$folder/epochs.csv" 1
check "it trains" has_rows "$folder/epochs.csv" 1

exits 0 "$CHORUS" pause "$folder"
check "pause" state_is "$folder" paused
check "pause says so" grep -q "is paused" err
before=$(rows "$folder/steps.csv")
sleep 0.5
check "nothing is trained while it is paused" test "$(rows "$folder/steps.csv")" = "$before"
check "a pause leaves a checkpoint" test -s "$folder/checkpoint.safetensors"
exits 0 "$CHORUS" pause "$folder"
check "pause twice" grep -q "is paused already" err
exits 0 "$CHORUS" go "$folder"
check "go" state_is "$folder" running
check "go trains on" until_true 60 has_rows "$folder/steps.csv" $((before + 5))
exits 0 "$CHORUS" go "$folder"
check "go twice" grep -q "is running already" err

# Filters choose among those that compute.
exits 0 "$CHORUS" run tiny.ini epochs=100000 batch=60 --background --quiet && second=$(cat out)
column "$second" pid >second.pid
exits 0 "$CHORUS" pause batch=60 state=running
check "a filter pauses what passes it" eval 'state_is "$second" paused && state_is "$folder" running'
exits 0 "$CHORUS" pause optimizer=momentum
check "what is paused already is no harm" eval 'state_is "$folder" paused && grep -q "is paused already" err'
refused "none that passes" "no run matches" "$CHORUS" stop batch=61
exits 0 "$CHORUS" go "$folder" "$second"
check "several names" eval 'state_is "$second" running && state_is "$folder" running'
exits 0 "$CHORUS" stop batch=60
check "stop by a filter" eval 'state_is "$second" stopped && state_is "$folder" running'
exits 0 "$CHORUS" pause "$folder" # who computes makes files
refused "of those none computes" "nobody runs ${second##*/}: it is stopped; chorus ls state=running lists what runs" \
    "$CHORUS" stop batch=60
exits 0 "$CHORUS" go "$folder"
rm -r "$second" second.pid

exits 0 "$CHORUS" stop "$folder"
check "stop" state_is "$folder" stopped
check "stop waits until nobody owns it" eval '! live "$folder"'
for verb in pause go stop; do
    refused "$verb of what nobody runs" "it is stopped" "$CHORUS" $verb "$folder"
    refused "$verb without a run" "needs a RUN" "$CHORUS" $verb
    refused "$verb of an unknown run" "nonsense" "$CHORUS" $verb nonsense
done
refused "stop in two ways" "not both" "$CHORUS" stop "$folder" --now --after-epoch

# On in the background, watched, stopped after an epoch.
exits 0 "$CHORUS" resume "$folder" --background
check "resume --background" live "$folder"
column "$folder" pid >run.pid
"$CHORUS" watch "$folder" >watched 2>talk </dev/null &
watcher=$!
until_true 60 grep -q "^epoch [0-9]*/100000 " talk
check "watch prints a line an epoch" grep -q "^epoch [0-9]*/100000 " talk
exits 0 "$CHORUS" pause "$folder"
refused "--skip of a run that is no cell" "chorus stop ${folder##*/} stops it" "$CHORUS" stop "$folder" --skip
exits 0 "$CHORUS" go "$folder"
exits 0 "$CHORUS" stop "$folder" --after-epoch
check "stop --after-epoch" until_true 60 state_is "$folder" stopped
wait $watcher
check "watch ends with the run's code" test $? = 130
check "watch prints the folder" test "$(cat watched)" = "$folder"
steps=$(tail -n 1 "$folder/epochs.csv" | cut -d, -f2)
check "it stopped at an epoch's end" test "$(tail -n 1 "$folder/steps.csv" | cut -d, -f1)" = "$steps"
check "watch printed every epoch once" \
    test "$(grep -c '^epoch ' talk)" = "$(rows "$folder/epochs.csv")"

# A stop after the epoch is taken back in the epoch, which waits until both have been heard of.
CHORUS_FAKE_SCRIPT="stuck=45 stuck_file=$PWD/gate" exits 0 "$CHORUS" run tiny.ini epochs=3 backend=fake --background --quiet && back=$(cat out)
column "$back" pid >back.pid
until_true 60 has_rows "$back/epochs.csv" 1
exits 0 "$CHORUS" stop "$back" --after-epoch
exits 0 "$CHORUS" go "$back"
check "go cancels a stop --after-epoch, and says so" grep -q "is running: the stop after this epoch is cancelled$" err
echo heard >>"$back/control"
until_true 60 grep -q "unknown: heard" "$back/log.txt"
: >gate
check "it goes on to its end" until_true 60 state_is "$back" done
rm -r "$back" back.pid gate
CHORUS_FAKE_SCRIPT="stuck=45 stuck_file=$PWD/gate" exits 0 "$CHORUS" run tiny.ini lr=0.1,0.2 epochs=3 backend=fake --name pair --background --quiet \
    --results pair
until_true 60 eval 'has_rows pair/2*/epochs.csv 1'
column pair/2* pid >back.pid
exits 0 "$CHORUS" stop pair --after-epoch --results pair
until_true 20 grep -qs '^sweep 1 0 3 ' "$CHORUS_CACHE"/working/* # it has heard of it
exits 0 "$CHORUS" go pair --results pair
check "so does that of a sweep" grep -q "^pair is running: the stop after this epoch is cancelled$" err
: >gate
check "both cells are done" until_true 60 eval '[ "$(grep -c ,done, pair/sweeps/pair/sweep.csv)" = 2 ]'
rm -r pair back.pid gate

# A paused run has to go on to reach the end of its epoch. On a slow backend, so that a pause falls into one.
exits 0 "$CHORUS" run tiny.ini epochs=100000 log_every=1 backend=ref --background --quiet && folder=$(cat out)
column "$folder" pid >run.pid
until_true 60 has_rows "$folder/epochs.csv" 1
for _ in $(seq 100); do # until it pauses in the middle of one
    "$CHORUS" pause "$folder" >/dev/null 2>&1
    before=$(tail -n 1 "$folder/steps.csv" | cut -d, -f1)
    test $((before % 30)) = 0 || break
    "$CHORUS" go "$folder" >/dev/null 2>&1
done
check "it is paused in the middle of an epoch" test $((before % 30)) != 0
check "and stands" state_is "$folder" paused
exits 0 "$CHORUS" stop "$folder" --after-epoch
check "stop --after-epoch of a paused run says that it goes on" grep -q "is no longer paused" err
check "and stops" until_true 60 state_is "$folder" stopped
steps=$(tail -n 1 "$folder/epochs.csv" | cut -d, -f2)
check "at an epoch's end" test "$(tail -n 1 "$folder/steps.csv" | cut -d, -f1)" = "$steps"
check "the one it was paused in" test "$steps" = $(((before / 30 + 1) * 30))

exits 0 "$CHORUS" resume "$folder" --background
column "$folder" pid >run.pid
exits 0 "$CHORUS" stop "$folder" --now
check "stop --now" state_is "$folder" stopped

# The whole way in the background is the same run.
exits 0 "$CHORUS" run tiny.ini --quiet && whole=$(cat out)
exits 0 "$CHORUS" run tiny.ini --background --quiet && folder=$(cat out)
check "--background --quiet says nothing" test ! -s err
exits 0 "$CHORUS" watch "$folder" --quiet
check "watch ends with 0 when it is done" state_is "$folder" done
check "in the background it is the same run" same_run "$whole" "$folder"
check "its talk is in log.txt" test -s "$folder/log.txt"
exits 0 "$CHORUS" watch "$folder" --json
check "watch --json" grep -q '"state": "done"' out
cp -r "$folder" short && printf '2,9\n' >>short/epochs.csv && tail -n 1 "$folder/epochs.csv" >>short/epochs.csv
exits 0 "$CHORUS" watch short
check "watch says once where a row is short" eval \
    '[ "$(grep -c "short/epochs.csv:[0-9]* has 2 fields, the header [0-9]*: that row is left out" err)" = 1 ]'

# Ctrl-C of a watcher leaves the run alone.
exits 0 "$CHORUS" run tiny.ini epochs=100000 --background --quiet && folder=$(cat out)
column "$folder" pid >run.pid
timeout --preserve-status -s INT 1 env --default-signal=INT "$CHORUS" watch "$folder" >out 2>err
check "Ctrl-C ends the watching" test $? = 130
check "and not the run" live "$folder"

# Killed: watchers and controls say so.
kill -9 "$(cat run.pid)"
until_true 20 eval '! live "$folder"'
exits 1 "$CHORUS" watch "$folder"
check "watch tells of a dead run" grep -q "its process is gone" err
refused "stop of a dead run" "its process is gone; chorus resume ${folder##*/} goes on" "$CHORUS" stop "$folder"

# It dies while somebody waits for it to stop.
exits 0 "$CHORUS" run tiny.ini epochs=100000 --background --quiet && folder=$(cat out)
column "$folder" pid >run.pid
kill -STOP "$(cat run.pid)"
"$CHORUS" stop "$folder" 2>told &
until_true 20 grep -q stop "$folder/control"
kill -9 "$(cat run.pid)"
wait $!
check "stop of a run that dies meanwhile names it" \
    grep -q "its process is gone; chorus resume ${folder##*/} " told

# A diverging run in the background: whoever watches gets its code.
exits 0 "$CHORUS" run synthetic epochs=1 train_limit=512 test_limit=128 batch=32 --background \
    --quiet || fail "a built-in experiment in the background" "$(cat err)"
exits 0 "$CHORUS" watch @ --quiet
check "a built-in experiment in the background" state_is "$(cat out)" done
refused "a bad experiment in the background" "batch" "$CHORUS" run tiny.ini batch=7 devices=2 \
    --background

# What is named as the next step means the same results folder.
exits 0 "$CHORUS" run tiny.ini lr=0.1,0.2 --max-cells 1 --name rates --results "else where" --quiet
exits 0 "$CHORUS" resume rates --results "else where"
check "a next step names the folder" grep -qF "chorus resume rates --results 'else where' --max-cells 2 " err
refused "of a sweep" "chorus resume rates --results 'else where' --max-cells 2 goes on" "$CHORUS" stop rates --results "else where"
refused "of a run" "chorus resume " "$CHORUS" stop @ --results "else where"
check "too" grep -qF -- "--results 'else where' epochs=N" err
exits 2 env CHORUS_RESULTS="else where" "$CHORUS" stop rates
check "not where it goes without" eval '! grep -q -- --results err'
exits 2 env CHORUS_RESULTS="else where" "$CHORUS" stop rates --results "else where"
check "nor where that says the same" eval '! grep -q -- --results err'

finish
