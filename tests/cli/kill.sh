# A run killed with -9 at any moment resumes and ends with the same rows (but times) and the same
# weights, byte for byte, as one that nobody killed.
. "${BASH_SOURCE%/*}/lib.sh"

kills=${KILLS:-$( ((${CHORUS_TEST_ALL:-0})) && echo 10 || echo 5)}

# start_run FILE: in the background; its folder goes to $folder, its process to $pid
start_run()
{
    local before
    before=$(ls -d results/*/ 2>/dev/null | wc -l)
    "$CHORUS" run "$@" --quiet >out 2>err </dev/null &
    pid=$!
    echo $pid >run.pid
    until_true 60 eval '[ "$(ls -d results/*/ 2>/dev/null | wc -l)" -gt '"$before"' ]'
    folder=$(ls -d results/*/ | tail -n 1)
    folder=${folder%/}
}

# Until $pid has ended by itself.
over() { ! kill -0 $pid; }
reached() { over || has_rows "$folder/epochs.csv" "$1"; }

torture()
{
    local name=$1 epochs=$2 begun us i j rows delay
    shift 2
    set -- "$@" epochs=$epochs
    begun=${EPOCHREALTIME/[.,]/}
    exits 0 "$CHORUS" run "$@" --quiet || {
        fail "$name" "the unbroken run failed"
        return
    }
    us=$(((${EPOCHREALTIME/[.,]/} - begun) / epochs))
    whole=$(cat out)
    for ((i = 1; i <= kills; i++)); do
        start_run "$@"
        # Some are killed several times before they may end.
        rows=0
        for ((j = 0; j <= i % 3; j++)); do
            # Some epochs further on, at any moment of one, at times before the first or behind the last.
            rows=$((rows + RANDOM % (epochs / (i % 3 + 1) + 1)))
            until_true 300 reached $rows
            delay=$((RANDOM % (2 * us + 1)))
            sleep "$(printf '%d.%06d' $((delay / 1000000)) $((delay % 1000000)))"
            kill -9 $pid 2>/dev/null
            wait $pid 2>/dev/null
            state_is "$folder" done && break
            [ -e "$folder/checkpoint.safetensors" ] && again=$((again + 1))
            "$CHORUS" resume "$folder" --quiet >out 2>err </dev/null &
            pid=$!
            echo $pid >run.pid
        done
        wait $pid
        state_is "$folder" done || exits 0 "$CHORUS" resume "$folder" --quiet || {
            fail "$name, kill $i" "it did not resume"
            continue
        }
        if same_run "$whole" "$folder"; then
            ok "$name, kill $i"
        else
            fail "$name, kill $i" "$delay us behind row $rows: $folder"
        fi
    done
}

# Long enough for several checkpoints, of which there is at most one a second. Two threads that wait for each
# other in every step take minutes where others compute; an ensemble's have members of their own.
again=0
torture "one model" 150 tiny.ini threads=1
first=$whole
kills=$(((kills + 1) / 3))
torture "an ensemble with Adam" 30 tiny.ini mode=ensemble members=3 devices=2 optimizer=adam \
    lr=0.003 augment=flip+crop:2
# Rows come fast, checkpoints seldom: most of them are cut and written again.
torture "two replicas, a row a step" 60 tiny.ini threads=1 devices=2 log_every=1 keep=last+best+every:2
torture "three devices in bf16, a cosine behind a warmup" 30 tiny.ini threads=1 batch=60 devices=3 precision=bf16 \
    optimizer=nesterov schedule=cosine warmup=2 valid=200 augment=flip+crop:2
torture "members that step down, in orders of their own" 30 tiny.ini threads=1 mode=ensemble members=3 \
    member_order=own optimizer=adamw lr=0.003 grad_clip=0.5 schedule=step step_epochs=4 step_factor=0.7

check "some of them went on from a checkpoint" test $again -gt 0

# A checkpoint that is torn is passed over for the one before it.
start_run tiny.ini threads=1 epochs=100000
until_true 60 test -s "$folder/checkpoint.prev.safetensors"
until_true 60 has_rows "$folder/epochs.csv" 1
kill -9 $pid
wait $pid 2>/dev/null
head -c 1000 "$folder/checkpoint.safetensors" >torn && mv torn "$folder/checkpoint.safetensors"
env --default-signal=INT "$CHORUS" resume "$folder" >out 2>err </dev/null &
pid=$!
echo $pid >run.pid
until_true 60 grep -q "^epoch" err
kill -INT $pid
wait $pid
check "a torn checkpoint is passed over" test $? = 130
check "it says so" grep -q "stands in for it" err
check "it went on from the one before" grep -q "goes on at step [1-9]" err

# A torn last line is cut.
for _ in 1 2 3 4 5; do # until it is killed before its end
    start_run tiny.ini threads=1 epochs=150
    until_true 60 has_rows "$folder/epochs.csv" 1
    kill -9 $pid
    wait $pid 2>/dev/null
    state_is "$folder" done || break
done
printf '3,90,36' >>"$folder/epochs.csv"
printf '999,9,0,1' >>"$folder/steps.csv"
exits 0 "$CHORUS" resume "$folder" --quiet
check "torn last lines are cut" same_run "$first" "$folder"

finish
