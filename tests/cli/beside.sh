# Two programs at once: on one sweep whose seconds are compared, and on one machine.
. "${BASH_SOURCE%/*}/lib.sh"
export CHORUS_CACHE=$cache/own # where other tests are not seen to compute

fake="backend=fake model=./tiny.net data=synthetic train_limit=400 test_limit=40 batch=40"
export CHORUS_FAKE_SCRIPT="step_ms=20"

# shared FOLDER...: what run.csv says, in order
shared()
{
    local folder
    for folder in "$@"; do column "${folder%/}" shared; done | sort | xargs
}

# ---- a sweep over threads: its cells run one at a time, whoever computes them ----

# Their second steps are made once ./gate is there.
gate="CHORUS_FAKE_SCRIPT=step_ms=20 stuck=2 stuck_file=$PWD/gate"
env "$gate" "$CHORUS" run $fake epochs=12 threads=1,2,3 --name alone >out1 2>err1 </dev/null &
first=$!
until_true 60 eval 'grep -q ",running," results/sweeps/alone/ledger.csv'
env "$gate" "$CHORUS" run $fake epochs=12 threads=1,2,3 --name alone >out2 2>err2 </dev/null &
second=$!
until_true 60 grep -q "waits for 2" err2
: >gate
wait $first
check "a program that shares such a sweep" test $? = 0
wait $second
check "and the other" test $? = 0
check "each cell is run once" test "$(ls -d results/2*/ | wc -l)$(grep -c ,running, results/sweeps/alone/ledger.csv)" = 33
check "one at a time" test "$(shared results/2*/)" = "1 1 1"
check "and is not called slower by the one that it helps" eval '! grep -q "another chorus" err2'
check "the other says what it waits for, once" test "$(grep -c "waits for 2.*, which another program computes: .* one at a time" err2)" = 1
rm -rf results gate

env "$gate" "$CHORUS" run $fake epochs=12 threads=1,2,3 --name alone --jobs 2 >out1 2>err1 </dev/null &
first=$!
until_true 60 eval 'grep -q ",running," results/sweeps/alone/ledger.csv'
env "$gate" "$CHORUS" run $fake epochs=12 threads=1,2,3 --name alone --jobs 2 >out2 2>err2 </dev/null &
second=$!
check "with --jobs it does not wait" until_true 60 eval '[ "$(cat results/2*/run.csv | grep -c ,running,)" = 2 ]'
: >gate
wait $first
check "for the first" test $? = 0
wait $second
check "nor says so" eval 'test $? = 0 && ! grep -q "waits for" err2 && [[ "$(shared results/2*/)" == *2* ]]'
rm -rf results

"$CHORUS" run $fake epochs=400 threads=1,2,3 --name alone >out1 2>err1 </dev/null &
first=$!
until_true 60 eval 'grep -q ",running," results/sweeps/alone/ledger.csv'
"$CHORUS" run $fake epochs=400 threads=1,2,3 --name alone >out2 2>err2 </dev/null &
second=$!
until_true 60 grep -q "waits for 2" err2
# what it has to write before it waits may come late
rests()
{
    local written
    written=$(stat -c '%i %y' results/sweeps/alone/sweep.csv)
    sleep 2.5
    [ "$(stat -c '%i %y' results/sweeps/alone/sweep.csv)" = "$written" ]
}
check "who waits leaves the sheet as it is" eval 'rests || rests || rests || rests'
kill -TERM $second $first
wait $second $first
rm -rf results

# ---- two runs on one machine ----

"$CHORUS" run $fake epochs=4000 --name one >out1 2>err1 </dev/null &
first=$!
until_true 60 eval 'state_is results/2*-one-* running'
exits 0 "$CHORUS" run $fake epochs=2 --name two --results other
beside="another chorus (process [0-9]*) computes 2.*-one-.* on this machine: beside each other both are slower"
check "who comes second is told of the first" grep -q "^$beside; --queue --alone waits" err
exits 0 "$CHORUS" resume @ epochs=3 --results other --background
check "also where it resumes, elsewhere too" grep -q "^$beside\$" err
check "which ends" until_true 60 eval 'state_is other/2* done && [ "$(rows other/2*/epochs.csv)" = 3 ]'
exits 0 "$CHORUS" run $fake epochs=1 --name two --results other --json
check "but not where the output is read" eval '! grep -q "computes" err && ! grep -q "another chorus" err1'
"$CHORUS" stop one >/dev/null 2>&1
wait $first
check "both say that they were not alone" test "$(shared results/2*/ other/2*/)" = "2 2 2"
exits 0 "$CHORUS" ls
check "ls shows it" grep -q "shared" out
exits 0 "$CHORUS" run $fake epochs=2 --name three
check "a run alone" test "$(shared results/2*-three-*/)" = 1
exits 0 "$CHORUS" compare @ @2
check "compare shows it" grep -q "^shared: how many runs computed at once" out
rm -rf results other

"$CHORUS" run $fake epochs=4000 lr=0.1,0.2 --jobs 2 --name pair >out1 2>err1 </dev/null &
first=$!
until_true 60 eval '[ "$(cat results/2*/run.csv | grep -c ,running,)" = 2 ]'
exits 0 "$CHORUS" run $fake epochs=2 --name two --results other
"$CHORUS" stop pair >/dev/null 2>&1
wait $first
check "each run of another program counts" test "$(shared other/2*/)" = 3
finish
