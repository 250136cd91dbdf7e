# chorus run: what it prints where, its files, its exit codes.
. "${BASH_SOURCE%/*}/lib.sh"

exits 0 "$CHORUS" run tiny.ini && folder=$(tail -n 1 out)
check "a run ends well" test -d "$folder"
check "its folder is all of stdout" test "$(cat out)" = "$folder"
check "the folder lies in ./results" test "${folder%/*}" = results
check "a line an epoch on stderr" test "$(grep -c '^epoch [1-4]/4 ' err)" = 4
check "no line is redrawn where there is no terminal" test "$(grep -c $'[\r\033]' err)" = 0
check "state done" state_is "$folder" done
check "a row an epoch" test "$(rows "$folder/epochs.csv")" = 4
for file in experiment.ini model.net run.csv steps.csv devices.csv checkpoint.safetensors \
    best.safetensors log.txt; do
    check "$file is there" test -s "$folder/$file"
done

exits 0 "$CHORUS" run tiny.ini --quiet
check "--quiet says nothing" test ! -s err
check "--quiet prints the folder" test -d "$(cat out)"
check "the same run twice gives the same bytes" same_run "$folder" "$(cat out)"
exits 0 "$CHORUS" run tiny.ini
check "an equal earlier run is noted, once" \
    test "$(grep -c "earlier run has the same settings" err)" = 1
check "one line of what it computes with" grep -q "test images, 30 steps of 40 an epoch" err

exits 0 "$CHORUS" run tiny.ini epochs=2 --json
check "--json is one line" test "$(wc -l <out)" = 1
if command -v python3 >/dev/null; then
    check "--json holds run.csv's values" python3 -c '
import csv, json, sys
run = json.load(open("out"))
row = next(csv.DictReader(open("results/" + run["run"] + "/run.csv")))
assert list(run) == list(row), "names"
for name, text in row.items():
    value = run[name]
    if value is None:
        assert text == "", name
    elif isinstance(value, str):
        assert value == text, name
    else:
        assert float(text) == value, name
assert run["state"] == "done" and run["epochs"] == 2 and run["lr"] == 0.05'
else
    skip "--json holds run.csv's values" "there is no python3"
fi

# A run's own files run again as they stand.
exits 0 "$CHORUS" run "$folder" --quiet
check "RUN runs again with the same numbers" same_run "$folder" "$(cat out)"
exits 0 "$CHORUS" run "$folder/experiment.ini" --quiet
check "its experiment.ini does too" same_run "$folder" "$(cat out)"
exits 0 "$CHORUS" run "$folder" seed=1 --quiet
check "a key over a run" test "$(column "$(cat out)" seed)" = 1
exits 0 "$CHORUS" run --quiet model=./tiny.net data=synthetic train_limit=600 test_limit=100 epochs=1 \
    --name try
check "without FILE the defaults, and --name" test "$(column "$(cat out)" optimizer)" = sgd
case $(cat out) in
*-try-*) ok "--name is in the folder's name" ;;
*) fail "--name is in the folder's name" "$(cat out)" ;;
esac

# A file of experiments/ goes before what is built in.
mkdir experiments
sed 's/^lr = .*/lr = 0.03/; s|^model = ./|model = ../|' tiny.ini >experiments/first.ini
sed 's|^model = ./|model = ../|' tiny.ini >experiments/mine.ini
exits 0 "$CHORUS" run first --dry-run
check "the file is what runs" grep -q "^lr = 0.03$" out
check "which is said" grep -qx "experiments/first.ini is taken, not the built-in experiment of that name" err
exits 0 "$CHORUS" run first --dry-run --quiet
check "but not to who wants no words" test ! -s err
exits 0 "$CHORUS" run mine lr=0.1,0.2 --dry-run
check "what has a file alone" grep -q "results/sweeps/mine$" out
rm -r experiments
exits 0 "$CHORUS" run first data=synthetic --dry-run
check "without it the built-in one" eval '! grep -q taken err && grep -q "^epochs = 2$" out'
exits 2 "$CHORUS" run first train_limit=100 data=synthetic --dry-run
check "it is no file of which a line is named" \
    grep -q '^chorus: built-in experiment first:9: batch = 128 is more than the 100 images left' err
exits 0 "$CHORUS" run --help
check "help tells the rule" grep -q "experiments/NAME.ini is what NAME means" out

# From another folder, with the models and experiments inside the program.
mkdir elsewhere
(cd elsewhere && exits 0 "$CHORUS" run synthetic epochs=1 train_limit=256 test_limit=100 batch=64 \
    --results "$work/far" --quiet && test -d "$(cat out)")
check "from another folder" test $? = 0
check "--results" test -n "$(ls far)"
check "nothing in the folder it ran from" test "$(ls elsewhere | sort | xargs)" = "err out"
(export CHORUS_RESULTS=$work/env && exits 0 "$CHORUS" run tiny.ini epochs=1 --quiet)
check "CHORUS_RESULTS" test -n "$(ls env)"

# Nobody reads stdout, or the disk is full: the run is not lost.
(
    trap '' PIPE
    "$CHORUS" run tiny.ini 2>err | true
)
check "a closed pipe" test "$(column "$(ls -d results/* | tail -n 1)" state)" = done
"$CHORUS" run tiny.ini >&- 2>err
check "a closed stdout ends with 1" test $? = 1
check "a closed stdout is told, once" test "$(grep -c "stdout could not be written" err)" = 1
check "a closed stdout" test "$(column "$(ls -d results/* | tail -n 1)" state)" = done
"$CHORUS" run tiny.ini >&- 2>&- <&-
check "everything closed" test "$(column "$(ls -d results/* | tail -n 1)" state)" = done
check "nothing of it went into a file of the run" \
    test -z "$(grep -l '^epoch ' "$(ls -d results/* | tail -n 1)"/*.csv)"
if [ -w /dev/full ]; then
    "$CHORUS" run tiny.ini >/dev/full 2>err
    check "a full stdout ends with 1" test $? = 1
    check "but the run is done and kept" \
        test "$(column "$(ls -d results/* | tail -n 1)" state)" = done
    check "a full stdout is told" grep -q "stdout could not be written" err
    "$CHORUS" run tiny.ini >out 2>/dev/full
    check "a full stderr" test -d "$(cat out)"
else
    skip "a full stdout" "there is no /dev/full"
fi

exits 3 "$CHORUS" run tiny.ini lr=1e30
check "a run that diverges ends with 3" test $? = 0
check "it says so" grep -q "diverged" err
check "state diverged" state_is "$(cat out)" diverged
diverged=$(cat out)
for verb in "predict $diverged" "weights $diverged -o none.safetensors"; do
    refused "${verb%% *} of it" "has no weights: it diverged before its first (" "$CHORUS" $verb
done
exits 0 "$CHORUS" plot "$diverged"
check "plot says why it draws nothing" grep -q "^${diverged##*/} diverged in its first epoch, which left no point to draw: the loss" err

exits 0 "$CHORUS" run tiny.ini mode=ensemble members=1 epochs=1
check "one member" grep -q "^1 member of " err
exits 0 "$CHORUS" run tiny.ini mode=ensemble members=2 devices=2 epochs=1 train_limit=1201
check "virtual devices are told once" test "$(grep -c virtual err)" = 1
check "and one image left over" grep -q "(1 image dropped)" err
crowd="$(($(nproc) + 1)) threads on $(nproc) cores\?: threads = all is faster$"
exits 0 "$CHORUS" run tiny.ini threads=${crowd%% *} --dry-run
check "more threads than cores are told of before" grep -q ", $crowd" out
exits 0 "$CHORUS" run tiny.ini threads=${crowd%% *} epochs=1
check "and where they compute, once" test "$(grep -c "^$crowd" err)" = 1
exits 0 "$CHORUS" run tiny.ini backend=ref threads=${crowd%% *} --dry-run
check "but not of a backend that trains without them" test "$(grep -c "threads on" out)" = 0
exits 0 "$CHORUS" run tiny.ini backend=ref threads=${crowd%% *} epochs=0
check "neither there where it computes" test "$(grep -c "threads on" err)" = 0
# threads_reach N PID: so many live in the process before 20 s are over
threads_reach()
{
    for _ in {1..200}; do
        [ "$(awk '$1 == "Threads:" { print $2 }' "/proc/$2/status")" -ge "$1" ] && return
        sleep 0.1
    done
    return 1
}
"$CHORUS" run tiny.ini threads=300 epochs=100000 --quiet --results crowd >out 2>err &
check "as many threads as run.csv says" threads_reach 300 $!
kill -TERM $!
wait $!
exits 0 "$CHORUS" run tiny.ini threads=all epochs=1
check "as many as there are need no word" test "$(grep -c " threads on " err)" = 0
exits 0 "$CHORUS" run tiny.ini mode=ensemble members=3 --quiet && folder=$(cat out)
check "an ensemble" test "$(rows "$folder/members.csv")" = 12
exits 0 "$CHORUS" run tiny.ini epochs=0 --quiet
check "epochs = 0 keeps the initial weights" \
    exits 0 "$CHORUS" weights "$(cat out)" -o initial.safetensors

# An estimate writes nothing.
mkdir dry && cp tiny.* dry && cd dry || exit 1
exits 0 "$CHORUS" run tiny.ini --dry-run
check "--dry-run" test $? = 0
check "--dry-run writes nothing" test "$(ls | sort | xargs)" = "err out tiny.ini tiny.net"
check "--dry-run shows what follows" grep -q "^# steps an epoch *30$" out
check "--dry-run does not know how long before anything ran" grep -q "^# expected time *unknown" out
exits 0 "$CHORUS" run tiny.ini --dry-run --results ../results
check "and expects what runs took before" grep -qE "^# expected time *(about )?[0-9.:]+ " out
exits 0 "$CHORUS" run tiny.ini --dry-run
cp out dry.ini
exits 0 "$CHORUS" run dry.ini --dry-run
check "what it prints is an experiment" cmp dry.ini out
rm dry.ini
refused "--dry-run of a bad one" "batch" "$CHORUS" run tiny.ini batch=7 devices=2 --dry-run
cd ..

refused "an unknown experiment" "did you mean first?" "$CHORUS" run frist
refused "an unknown experiment like no other" "nope; \`chorus help run\`" "$CHORUS" run nope
check "without a list of all" test "$(grep -c flax-ensemble err)" = 0
exits 0 "$CHORUS" help run
check "help run lists the built-in experiments" grep -q "flax-ensemble" out
refused "a part of several runs' names" "is part of the names of" "$CHORUS" run 2
printf 'dense classes\n' >LOUD.NET
refused "a model in capitals" "chorus run model=./LOUD.NET takes it" "$CHORUS" run LOUD.NET
rm LOUD.NET
refused "weights in capitals" "chorus run weights=./W.SAFETENSORS" "$CHORUS" run W.SAFETENSORS
refused "a model that is not there" "chorus run model=quiet.net" "$CHORUS" run quiet.net
refused "a file that is not there" "there is no file nosuch.csv; a data set goes by its key" \
    "$CHORUS" run nosuch.csv
refused "an empty experiment" "an empty word ('') is no experiment" "$CHORUS" run ''
refused "no key" "no key in front of" "$CHORUS" run tiny.ini =3
refused "a key in capitals" "did you mean lr?" "$CHORUS" run tiny.ini LR=3
refused "a key with a dash" "did you mean log_every?" "$CHORUS" run tiny.ini log-every=3
refused "a key like no other" "\`chorus help keys\` lists them" "$CHORUS" run tiny.ini qqqq=3
refused "an empty value" "lr = ''" "$CHORUS" run tiny.ini lr=
refused "name as option and as key" "twice" "$CHORUS" run tiny.ini --name x name=y
refused "no such file" "missing.ini" "$CHORUS" run missing.ini
refused "no such run" "@99" "$CHORUS" run @99
refused "an unknown key" "epoch" "$CHORUS" run tiny.ini epoch=3
refused "a key twice" "twice" "$CHORUS" run tiny.ini lr=1 lr=2
refused "two experiments" "not both" "$CHORUS" run tiny.ini first
refused "an unknown option" "--bakground" "$CHORUS" run tiny.ini --bakground
refused "an option without its value" "--name" "$CHORUS" run tiny.ini --name
refused "a switch with a value" "--quiet" "$CHORUS" run tiny.ini --quiet=yes
refused "run --tui belongs to a later version" "--tui" "$CHORUS" run tiny.ini --tui
for option in --failed "--jobs 2" "--order grid" "--max-cells 5"; do
    refused "run ${option%% *} is for sweeps" "${option%% *} is for a sweep" \
        "$CHORUS" run tiny.ini $option
done
"$CHORUS" run tiny.ini --results /proc/x >out 2>err
check "a place where no folder can be: the next step" grep -q -- "; --results DIR keeps runs in another" err
refused "results in a file" "is no folder" "$CHORUS" run tiny.ini --results tiny.ini
for verb in ls queue "show @" "tag @ +x"; do
    refused "${verb%% *} of such results" "results cannot lie in tiny.ini: it is no folder" \
        "$CHORUS" $verb --results tiny.ini
done

# What it has of addresses depends on its libraries: so does a limit on them.
"$CHORUS" run tiny.ini backend=cpu threads=1 model=mlp optimizer=adam --quiet >out 2>err </dev/null &
while has=$(sed -n 's/^VmPeak:[^0-9]*\([0-9]*\).*/\1/p' /proc/$!/status 2>/dev/null) && [ -n "$has" ]; do
    most=$has
done
wait $!
for limit in $((most * 8 / 5)) $((most * 7 / 4)); do
    check "a limit on addresses that is well above what it has of them is enough, $limit kB" eval \
        '(ulimit -v $limit && exits 0 "$CHORUS" run tiny.ini backend=cpu threads=1 model=mlp optimizer=adam epochs=1)'
done

# meminfo TOTAL FREE: a machine of so many kB
meminfo()
{
    printf 'MemTotal: %s kB\nMemAvailable: %s kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n' "$@" >meminfo
}
export CHORUS_MEMINFO=$work/meminfo
meminfo 1000000 900000
before=$(ls results)
for dry in "" --dry-run; do
    exits 1 "$CHORUS" run tiny.ini mode=ensemble members=2000 model=mlp $dry
    check "more than the machine can hold is refused${dry:+, }$dry" grep -qE \
        '^chorus: 2000 models of mlp with batch 40 take [0-9.]+ GB of memory, .*the machine has 1.0 GB: members=[0-9]+ would fit$' err
    check "with nothing else${dry:+, }$dry" test "$(wc -l <err)" = 1 -a ! -s out -a "$(ls results)" = "$before"
done
fitting=$(sed 's/.*members=\([0-9]*\) .*/\1/' err)
exits 0 "$CHORUS" run tiny.ini mode=ensemble members="$fitting" model=mlp --dry-run
check "what is said to fit is not refused" grep -q "^# memory " out
exits 1 "$CHORUS" run tiny.ini mode=ensemble members=$((fitting + 1)) model=mlp --dry-run
exits 1 "$CHORUS" run tiny.ini model=mlp backend=cpu threads=1024 --dry-run
check "where threads take the memory, how many would fit" grep -qE ' 1.0 GB: threads=[0-9]+ would fit$' err
exits 0 "$CHORUS" run tiny.ini model=mlp backend=cpu threads="$(sed 's/.*threads=\([0-9]*\) .*/\1/' err)" --dry-run
exits 0 "$CHORUS" run tiny.ini model=./tiny.net,mlp optimizer=sgd epochs=1 batch=1200 --name large --dry-run
meminfo 30000 20000
exits 0 "$CHORUS" run tiny.ini model=./tiny.net,mlp epochs=1 --name large
check "a cell that has no room is one, and the others run" \
    test "$(cut -d, -f3 results/sweeps/large/sweep.csv | sort | tr '\n' ' ')" = "done oom state "
exits 0 "$CHORUS" ls large state=oom
check "it has a folder with its state" grep -qE " oom +mlp .* 0/1 " out
check "and its reason" grep -q ',oom,"mlp with batch .* of memory, ' results/*/run.csv
exits 0 "$CHORUS" plot large --kind board --down model
check "and a place on the board" grep -qE "^ *mlp +oom" out
exits 0 "$CHORUS" run tiny.ini model=./tiny.net,mlp epochs=1 --name large --failed --dry-run
check "a dry run counts it as the run does" grep -q "^# with a result     1 of 2: not run again; 1 would run$" out
check "with its reason" grep -qE "^#       1  mlp with batch .* of memory, " out
check "and without time" grep -qE "^# expected time     none: no cell fits into the memory$" out
exits 0 "$CHORUS" run tiny.ini model=./tiny.net,mlp epochs=1 --name large --failed
check "it is tried again" grep -q "^1 of 2 cells have a result already, 1 to run$" err
exits 1 "$CHORUS" resume @
check "alone too, and it has its name" grep -q "^chorus: mlp with batch .* of memory, " err
refused "it is not unfinished" "the newest ended as out of memory; chorus resume " "$CHORUS" resume
printf '%s\n' "input auto" "param width 16" 'dense $width' relu "dense classes" >wide.net
exits 0 "$CHORUS" run tiny.ini model=./wide.net model.width=16,200000 lr=0.1,0.2 epochs=1 --name wide
check "cells that have no room take no time" grep -qE "^cell 3 of 4 .* 1 s left$" err
meminfo 1000000 10
exits 0 "$CHORUS" run tiny.ini epochs=1
check "too little that is free now is told, and tried" \
    grep -q "with batch 40 takes .* and now there are free 10.2 kB: " err
unset CHORUS_MEMINFO

# What is told before a run is what its process takes: from 0.8 to 1.25 of it, checkpoints among it.
while read -r keys; do
    exits 0 "$CHORUS" run tiny.ini epochs=2 train_limit=128 test_limit=64 batch=64 $keys --dry-run --json
    told=$(sed -n 's/.*"memory_bytes": \([0-9]*\).*/\1/p' out)
    exits 0 "$CHORUS" run tiny.ini epochs=2 train_limit=128 test_limit=64 batch=64 $keys --quiet
    run=$(tail -n 1 out) peak=$(column "$(tail -n 1 out)" peak_memory_bytes)
    echo "  $keys: ${told:-no} bytes told, ${peak:-none} taken"
    check "the run's own files tell the same: $keys" awk -F, -v told="${told:-0}" \
        'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } END { exit !($at["memory_bytes"] == told) }' "$run/devices.csv"
    check "the memory told is what is taken: $keys" \
        test $((${told:-0} * 100)) -ge $((${peak:-0} * 80)) -a $((${told:-0} * 100)) -le $((${peak:-0} * 125))
done <<'END'
backend=cpu model=mlp optimizer=adam lr=0.001
backend=cpu model=cnn mode=ensemble members=8 optimizer=sgd
END
# Nor is it less, however many threads.
for threads in 1 8 64; do
    keys="model=lenet data=synthetic train_limit=512 test_limit=256 batch=256 epochs=1 backend=cpu threads=$threads"
    exits 0 "$CHORUS" run $keys --dry-run --json
    told=$(sed -n 's/.*"memory_bytes": \([0-9]*\).*/\1/p' out)
    exits 0 "$CHORUS" run $keys --quiet
    peak=$(column "$(tail -n 1 out)" peak_memory_bytes)
    echo "  $threads threads: ${told:-no} bytes told, ${peak:-none} taken"
    check "what $threads threads take is told" test "${told:-0}" -ge "${peak:-1}" -a "${told:-0}" -le $((${peak:-0} * 5 / 4))
done

# ---- cells that can never be, that --max-cells leaves out, that were removed ----
sweep="tiny.ini model=./wide.net epochs=1"
exits 0 "$CHORUS" run $sweep model.width=16,40000000 --name huge --quiet
exits 0 "$CHORUS" run $sweep model.width=16,40000000 --name huge --failed
check "one count for all lines" test "$(grep -oE " of [0-9]+" err | sort | uniq -c | tr -s ' ')" = " 2 of 2"
exits 0 "$CHORUS" resume huge
check "what was skipped may be tried again" grep -q "^1 of 2 cells have a result already, 1 skipped (--failed tries it again), 0 to run$" err
exits 0 "$CHORUS" run $sweep lr=0.1,0.2,0.3 --name cut --quiet
exits 0 "$CHORUS" run $sweep lr=0.1,0.2,0.3 --name cut --max-cells 1
check "its first line says how far it goes" grep -q "^sweep cut: .*3 lr, --max-cells 1$" err
check "those beyond --max-cells have their results" grep -q "^2 more in the grid have ended already: " err
exits 0 "$CHORUS" rm "$(sed -n 2p results/sweeps/cut/sweep.csv | cut -d, -f2)"
check "what was removed waits in the sheet" test "$(sed -n 2p results/sweeps/cut/sweep.csv | cut -d, -f2-5)" = \
    ",waiting,its run was removed,0.1"
undo=$(sed -n 's/.*undo: mv //p' err)
mv ${undo% *} "${undo#* }"
exits 0 "$CHORUS" resume cut --max-cells 3
check "moved back it is the cell's again" grep -q "^3 of 3 cells have a result already, 0 to run$" err
check "in the sheet too" eval '! grep -q waiting results/sweeps/cut/sweep.csv'

(export CHORUS_ISA=AVX2 CHORUS_FAKE= && exits 2 "$CHORUS" run tiny.ini backend=auto)
check "an unknown CHORUS_ISA is refused" grep -q "CHORUS_ISA=AVX2" err
check "with what helps" grep -q "without CHORUS_ISA the best that is here is taken\$" err
refused "also where devices are listed" "CHORUS_ISA=AVX2: this processor" \
    env CHORUS_ISA=AVX2 "$CHORUS" devices

finish
