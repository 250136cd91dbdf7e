# chorus resume: where a run goes on, and what it says where there is nothing to do.
. "${BASH_SOURCE%/*}/lib.sh"

refused "nothing to resume" "no unfinished run" "$CHORUS" resume
refused "no such run" "nonsense" "$CHORUS" resume nonsense

exits 0 "$CHORUS" run tiny.ini --quiet && whole=$(cat out)
exits 0 "$CHORUS" resume "$whole"
check "a finished run says so" grep -q "is finished: 4 epochs" err
check "and prints its folder" test "$(cat out)" = "$whole"
exits 0 "$CHORUS" resume
check "so does the newest where all are finished" test "$(cat out)" = "$whole"
exits 0 "$CHORUS" resume "$whole" --json
check "or its row" grep -q '"state": "done"' out

# Stopped by a limit of steps is complete: but the same steps in two halves are the same run.
exits 0 "$CHORUS" run tiny.ini epochs=2 --quiet && half=$(cat out)
exits 0 "$CHORUS" resume "$half" epochs=4
check "more epochs extend a finished run" test "$(rows "$half/epochs.csv")" = 4
check "and give what a run of that many gives" same_run "$whole" "$half"
check "its experiment says so" grep -q "^epochs = 4" "$half/experiment.ini"
refused "fewer epochs" "resume can make that more" "$CHORUS" resume "$half" epochs=3
refused "epochs=many" "epochs = many" "$CHORUS" resume "$half" epochs=many
refused "epochs=0" "not 0" "$CHORUS" resume "$half" epochs=0
refused "no epochs" "epochs = ''" "$CHORUS" resume "$half" epochs=
refused "epochs beyond what the key allows" "from 0 to 1000000" "$CHORUS" resume "$half" epochs=1000001
check "leave its experiment as it was" grep -q "^epochs = 4" "$half/experiment.ini"
refused "epochs twice" "twice" "$CHORUS" resume "$half" epochs=5 epochs=6
refused "another key" "resume changes no key but epochs" "$CHORUS" resume "$half" lr=1
exits 0 "$CHORUS" run tiny.ini epochs=1 --quiet
exits 0 "$CHORUS" resume "$(cat out)"
check "one epoch" grep -q "is finished: 1 epoch; epochs=N with a larger N goes on" err
exits 0 "$CHORUS" run tiny.ini epochs=4 max_steps=2 --quiet && cut=$(cat out)
exits 0 "$CHORUS" resume "$cut"
check "more epochs are no way on behind max_steps" grep -q "ended by max_steps = 2; more epochs change nothing$" err
exits 2 "$CHORUS" stop "$cut"
check "nor where it is told to stop" eval 'grep -q "ended by max_steps = 2" err && ! grep -q epochs=N err'

# As a kill leaves it before the first new checkpoint: run.csv and experiment.ini want more, the checkpoint is old.
killed_at() # RUN NAME EPOCHS: a copy of a finished run, of which a process that is dead wanted so many epochs
{
    cp -r "$1" "results/$2"
    awk -v more="$3" -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR == 2 { $at["state"] = "running"; $at["epochs"] = more } { print }' "$1/run.csv" >"results/$2/run.csv"
}
exits 0 "$CHORUS" run tiny.ini epochs=2 --quiet && two=$(cat out)
killed_at "$two" killed 4 && sed -i "s/^epochs = .*/epochs = 4/" results/killed/experiment.ini
exits 0 "$CHORUS" resume results/killed
check "a killed extension goes on" same_run "$whole" results/killed
killed_at "$two" between 4
exits 0 "$CHORUS" resume results/between
check "also where experiment.ini was not written yet" same_run "$whole" results/between
check "which is written then" grep -q "^epochs = 4" results/between/experiment.ini

# As a kill leaves it between the files of the first epoch: best.safetensors is there, the others are not.
exits 0 "$CHORUS" run tiny.ini epochs=1 keep=last+best+every:1 --quiet && one=$(cat out)
killed_at "$one" first 2 && rm results/first/checkpoint* results/first/epoch-0001*
exits 0 "$CHORUS" resume results/first
check "all files of the first epoch are there after the resume" test "$(cd results/first && echo epoch-*)" = \
    "epoch-0001.safetensors epoch-0002.safetensors"
exits 0 "$CHORUS" weights "$one" --at 1 -o a.safetensors --force
exits 0 "$CHORUS" weights results/first --at 1 -o b.safetensors --force
check "with the same weights" cmp a.safetensors b.safetensors
rm -r results/killed results/between results/first "$one" "$two"

# Another build of the program may have other kernels.
sed -i "2s/$(column "$half" version | sed 's/[.]/[.]/g')/0.0.9/" "$half/run.csv"
exits 0 "$CHORUS" resume "$half" epochs=5
check "another version is told" grep -q "until now this run was computed by chorus 0.0.9, from here on by chorus .*: bytes may differ" err
exits 0 "$CHORUS" resume "$half" epochs=6
check "the same one is no news" eval '! grep -q "until now" err'
refused "two runs" "not both" "$CHORUS" resume "$half" "$whole"
refused "resume --jobs belongs to a later version" "--jobs" "$CHORUS" resume --jobs 2

# The newest unfinished one is found by itself.
stop_it() # after some steps
{
    local steps
    steps=$(rows "$stopped/steps.csv")
    until_true 60 has_rows "$stopped/steps.csv" $((steps + 3))
    kill -INT $pid
    wait $pid
}
env --default-signal=INT "$CHORUS" run tiny.ini epochs=100000 --quiet >out 2>err </dev/null &
pid=$!
until_true 60 eval 'stopped=$(ls -d results/*/ | tail -n 1) && [ "$(column "$stopped" epochs)" = 100000 ]'
stopped=${stopped%/}
stop_it
check "stopped" state_is "$stopped" stopped
exits 0 "$CHORUS" run tiny.ini epochs=1 --quiet
env --default-signal=INT "$CHORUS" resume >out 2>err </dev/null &
pid=$!
stop_it
check "without a name, the newest unfinished" test "$(cat out)" = "$stopped"
check "and why that one" grep -q "^${stopped##*/} goes on: it is the newest run that is unfinished$" err

# Filters choose among runs, and of several the one that is unfinished.
env --default-signal=INT "$CHORUS" resume epochs!=7 optimizer=momentum >out 2>err </dev/null &
pid=$!
stop_it
check "of those that pass, the unfinished one" test "$(cat out)" = "$stopped"
exits 0 "$CHORUS" resume batch=40 state=done epochs=7 @
check "filters and a name" test "$(column "$(cat out)" epochs_done)" = 7
refused "several could go on" "one is needed" "$CHORUS" resume batch=40 state=done epochs=200
refused "none that could" "none of the " "$CHORUS" resume batch=40 state=done
refused "a filter that none passes" "no run matches" "$CHORUS" resume batch=41

# A part of the name, from another folder.
mkdir elsewhere && cd elsewhere || exit 1
exits 0 "$CHORUS" resume "${whole##*-}" --results "$work/results"
check "from another folder" grep -q "finished" err
cd ..

# Diverged would diverge again.
exits 3 "$CHORUS" run tiny.ini lr=1e30 --quiet && bad=$(cat out)
exits 3 "$CHORUS" resume "$bad"
check "a diverged run stays diverged" grep -q "diverged" err

# Owned by somebody else.
"$CHORUS" run tiny.ini epochs=100000 --quiet >out 2>err </dev/null &
echo $! >run.pid
until_true 60 eval 'folder=$(ls -d results/*/ | tail -n 1) && has_rows "$folder/steps.csv" 3'
refused_live()
{
    timeout 20 "$CHORUS" resume "$folder" >out2 2>err2
    test $? = 2 && grep -q "is run by process $(cat run.pid)" err2 && test ! -s out2
}
check "a run that somebody runs" refused_live

# The lock file is deleted: its owner keeps the run all the same.
stays()
{
    ! "$CHORUS" rm "$folder" >out2 2>err2 && grep -q "is at work and stays" err2
}
rm "$folder/lock"
check "a run whose lock file is gone has its owner" refused_live
check "it is running" test "$("$CHORUS" ls "$folder" --json 2>/dev/null | grep -c '"state": "running"')" = 1
check "and is not removed" stays
check "a tag goes through the owner" exits 0 "$CHORUS" tag "$folder" +kept
check "who makes no lock file for others" test ! -e "$folder/lock"
kill -9 "$(cat run.pid)"
wait 2>/dev/null

# Damage is named.
cp -r "$whole" results/broken && echo garbage >results/broken/run.csv
refused "a broken run.csv" "broken" "$CHORUS" resume broken
cp -r "$half" results/empty && rm results/empty/experiment.ini results/empty/checkpoint*
sed -i 's/,done,/,stopped,/' results/empty/run.csv
refused "a run without its experiment" "experiment.ini" "$CHORUS" resume results/empty

# Its copy of the network is gone.
exits 0 "$CHORUS" run tiny.ini epochs=1 --quiet && run=$(cat out)
rm "$run/model.net"
refused "a run without its network" \
    "chorus: $run/experiment.ini:1: model = model.net: there is no such file; " \
    "$CHORUS" resume "$run" epochs=2

# An experiment that was cut or edited since is another one.
cp -r "$half" results/cut && sed -i 's/,done,/,stopped,/' results/cut/run.csv
cp results/cut/experiment.ini whole.ini && cp results/cut/epochs.csv before.csv
for lines in 0 4 "$(grep -n '^lr = ' whole.ini | cut -d: -f1)"; do
    head -n "$lines" whole.ini >results/cut/experiment.ini
    refused "of $lines lines" "results/cut/experiment.ini " "$CHORUS" resume results/cut
    refused "predict says so" "results/cut/experiment.ini " "$CHORUS" predict results/cut
    refused "nor is it run again" "results/cut/experiment.ini " "$CHORUS" run results/cut seed=9
done
sed 's/^lr = .*/lr = 0.25/' whole.ini >results/cut/experiment.ini
refused "of another value" "lr is 0.25 there and $(column results/cut lr) in run.csv" "$CHORUS" resume results/cut
check "the rows stay" cmp -s results/cut/epochs.csv before.csv
sed -i 's/^lr = .*/lr = '"$(column results/cut lr)"'/; s/^log_every = .*/log_every = 7/' results/cut/experiment.ini
exits 0 "$CHORUS" resume results/cut
check "what does not determine a run may change" test "$(column results/cut state)" = "done"

finish
