# An error that a process cannot clear (of a GPU; here the fake backend and the twin give it): the
# program starts itself anew and goes on from the last checkpoint, three times for a run.
home=$(realpath "${BUILD:-build}")
. "${BASH_SOURCE%/*}/lib.sh"

twin=$home/normal/chorus-cuda-twin.so

# left N: that often it shall be so; what has come so far waits until this is said
left()
{
    printf '%*s' "$1" '' >left.new && mv left.new left
}

stuck()
{
    CHORUS_FAKE_SCRIPT="$1 stuck_file=$PWD/left" "${@:2}"
}

only()
{
    local folders=(results/2*/)
    [ ${#folders[@]} = 1 ] && echo "${folders%/}"
}

lines_are()
{
    [ "$(cat out)" = "$1" ] || {
        echo "  stdout: $(cat out)"
        return 1
    }
}

exits 0 "$CHORUS" run tiny.ini backend=fake --results whole --quiet
whole=$(cat out)

# One time.
left 1
check "the run ends well" exits 0 stuck "stuck=70" "$CHORUS" run tiny.ini backend=fake
check "in one folder, whose name is all of stdout" lines_are "$(only)"
check "it is told" grep -q "from step 70 on; restart 1 of 3 goes on from the last checkpoint$" err
check "as if nothing had been" same_run "$whole" "$(only)"
check "in its log too" grep -q "restart 1 of 3 goes on" "$(only)/log.txt"
check "the count is gone" test ! -e "$(only)/restarts"
rm -rf results

# The same process, with its options; what follows is run once, behind the end.
left 2
cat >wait.ini <<END
$(cat tiny.ini)
on_end = echo x >>$PWD/ended
END
check "--json" exits 0 stuck "stuck=70" "$CHORUS" run wait.ini backend=fake --json
check "one object" grep -q '^{.*"state": "done"' out
check "on_end once" test "$(wc -l <ended)" = 1
check "two restarts are told" grep -q "restart 2 of 3" err
rm -rf results ended

# Before there is a checkpoint, and where a run is given more epochs.
left 1
check "in the first epoch" exits 0 stuck "stuck=3" "$CHORUS" run tiny.ini backend=fake epochs=2
left 1
check "while it is extended" exits 0 stuck "stuck=100" "$CHORUS" resume @ epochs=4
check "as if it had run in one go" same_run "$whole" "$(only)"
rm -rf results

# Always.
left 99
check "it is given up" exits 1 stuck "stuck=70" "$CHORUS" run tiny.ini backend=fake
check "after three restarts" test "$(wc -c <left)" = 95
check "as failed" state_is "$(only)" failed
check "with one sentence" test "$(grep -c '; given up after 3 restarts$' err)" = 1
check "rows stay" has_rows "$(only)/epochs.csv" 1
check "which resume takes up again, with three more" exits 1 stuck "stuck=70" "$CHORUS" resume @
check "four times" test "$(wc -c <left)" = 91
left 0
check "and to its end" exits 0 stuck "stuck=70" "$CHORUS" resume @
check "as if nothing had been wrong" same_run "$whole" "$(only)"
rm -rf results

# A kill does not make it forget.
left 99
exits 1 stuck "stuck=70" "$CHORUS" run tiny.ini backend=fake --quiet
printf 'one\ntwo\n' >"$(only)/restarts"
left 99
check "the count is the folder's" exits 1 stuck "stuck=70" "$CHORUS" resume @
check "so that one more is the last" test "$(wc -c <left)" = 97
rm -rf results

# A sweep: the cell fails, the others are done, those beside it too.
left 99
check "a sweep goes on" exits 0 stuck "stuck=20 stuck_batch=60" "$CHORUS" run tiny.ini backend=fake \
    batch=30,60,120 --name three
check "two cells are done" test "$(grep -c ',done,' results/sweeps/three/sweep.csv)" = 2
check "one has failed" grep -q ',failed,.*given up after 3 restarts' results/sweeps/three/sweep.csv
check "each in one folder" test "$(ls -d results/2*/ | wc -l)" = 3
check "the sheet is all of stdout" lines_are results/sweeps/three/sweep.csv
check "--failed does not have anew what it had itself" exits 0 stuck "stuck=20 stuck_batch=60" \
    "$CHORUS" resume three --failed
check "that was tried four times more" test "$(wc -c <left)" = 91
left 1
check "--failed mends it" exits 0 stuck "stuck=20 stuck_batch=60" "$CHORUS" resume three --failed
check "all cells are done" test "$(grep -c ',done,' results/sweeps/three/sweep.csv)" = 3
rm -rf results
left 2
check "side by side" exits 0 stuck "stuck=20 stuck_batch=60 step_ms=5" "$CHORUS" run tiny.ini \
    backend=fake batch=30,60,120 epochs=2 --jobs 3
check "all are done" test "$(grep -c ',done,' results/sweeps/tiny/sweep.csv)" = 3
rm -rf results
rm left
CHORUS_FAKE_SCRIPT="stuck=70 stuck_file=$PWD/left" "$CHORUS" run tiny.ini backend=fake \
    lr=0.1,0.2 --name board >board.out 2>board.err &
sweep=$!
until_true 30 eval '[ -e results/2*/steps.csv ]'
exits 0 "$CHORUS" stop board --after-cells
until_true 30 grep -qs '^sweep 1 0 2 ' "$CHORUS_CACHE"/working/* # it has heard of it
left 1
wait $sweep
check "stopped after its running cell: it ends" test $? = 130
check "its cell goes on alone" until_true 30 eval 'state_is "$(only)" done'
check "which is said" grep -q "goes on in a process of its own" board.err
check "no other begins" test "$(cat results/sweeps/board/ledger.csv | grep -c ',done,')" = 1
rm -rf results

# The queue.
left 1
for batch in 60 30 40; do
    exits 0 "$CHORUS" run tiny.ini backend=fake batch=$batch --queue
done
check "the queue goes on" exits 0 stuck "stuck=20 stuck_batch=30" "$CHORUS" queue run
check "three runs" test "$(wc -l <out)" = 3 -a "$(ls -d results/2*/ | wc -l)" = 3
check "all done" test "$(grep -l ,done, results/2*/run.csv | wc -l)" = 3
rm -rf results
left 99
for batch in 60 30 40; do
    exits 0 "$CHORUS" run tiny.ini backend=fake batch=$batch --queue
done
check "the queue says that one failed" exits 1 stuck "stuck=20 stuck_batch=30" "$CHORUS" queue run --quiet
check "the others are done" test "$(grep -l ,done, results/2*/run.csv | wc -l)" = 2
check "nothing waits" test -z "$("$CHORUS" queue --quiet)"
rm -rf results

# In the background, and Ctrl-C.
left 1
check "--background" exits 0 stuck "stuck=70 step_ms=10" "$CHORUS" run tiny.ini backend=fake --background
check "goes on there" until_true 30 state_is "$(only)" done
check "as if nothing had been" same_run "$whole" "$(only)"
rm -rf results

# The twin of the CUDA runtime.
if [ -e "$twin" ]; then
    export CHORUS_CUDA="$twin"
    small=(tiny.ini backend=cuda train_limit=240 test_limit=60 epochs=3)
    exits 0 "$CHORUS" run "${small[@]}" --results whole --quiet
    whole=$(cat out)
    left 1
    check "a kernel fails once" exits 0 env CHORUS_TWIN="fail=kernel:300:700,left=$PWD/left" "$CHORUS" run \
        "${small[@]}"
    check "it was so" grep -q "illegal memory access.*restart 1 of 3" err
    check "the rows are those of an undisturbed run" same_run "$whole" "$(only)"
    rm -rf results
    left 99
    check "it fails always" exits 1 env CHORUS_TWIN="fail=kernel:100:700,left=$PWD/left" "$CHORUS" run \
        "${small[@]}"
    check "four times" test "$(wc -c <left)" = 95
    check "and one sentence says so" test "$(grep -c '^chorus: \|given up' err)" = 1
else
    skip "the twin" "it was not built: is there a g++?"
fi

finish
