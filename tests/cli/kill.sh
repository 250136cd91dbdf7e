# A run whose files are torn, as a machine that stops leaves them, resumes and ends with the same rows (but times) and
# the same weights, byte for byte, as a whole one. tests/torture/kills.sh kills at any moment.
. "${BASH_SOURCE%/*}/lib.sh"

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

exits 0 "$CHORUS" run tiny.ini threads=1 epochs=150 --quiet
first=$(cat out)

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
