# What is removed while a run works, or in the moment of its end.
. "${BASH_SOURCE%/*}/lib.sh"

exits 0 "$CHORUS" run tiny.ini backend=fake epochs=8 --quiet
whole=$(cat out)
# removed NAMES...: these files (all: the folder) of a run that waits in its fourth epoch; link: ./precious
# stands for epochs.csv. Then it goes on; its exit code is in $code, the text of its two inputs in ./inputs.
removed()
{
    local name
    rm -rf gate gone
    CHORUS_FAKE_SCRIPT="stuck=100 stuck_file=$work/gate" "$CHORUS" run tiny.ini backend=fake epochs=8 --quiet \
        --results gone >out 2>err </dev/null &
    echo $! >run.pid
    until_true 60 eval 'folder=$(echo gone/2*) && has_rows "$folder/epochs.csv" 3'
    inputs >inputs
    for name; do
        case $name in
            link) ln -s "$work/precious" "$folder/epochs.csv" ;;
            all) rm -rf "$folder" ;;
            *) rm "$folder/$name" ;;
        esac
    done
    : >gate
    wait $!
    code=$?
}

# of the run in $folder
inputs()
{
    cat "$folder/experiment.ini" "$folder/model.net"
}

removed epochs.csv steps.csv devices.csv run.csv
check "rows that were removed end no run" test $code = 0
check "it says what was removed" grep -q 'removed while the run works: epochs.csv, devices.csv, steps.csv; written again' err
check "its log says so too" grep -q 'removed while the run works' "$folder/log.txt"
check "all rows are there again" same_run "$whole" "$folder"
check "nothing half is left" sh -c "! ls '$folder' | grep -q tmp"

# A link in its place.
: >precious
removed epochs.csv link
check "a link in a file's place is replaced, not followed" eval '[ ! -s precious ] && same_run "$whole" "$folder"'

removed all
check "without its folder a run fails" test $code = 1
check "in a sentence about the folder" grep -q "$folder was removed or renamed while the run worked" err

# What a run is made of, without which nothing can be done with its weights.
removed experiment.ini model.net
check "a run without its inputs goes on" test $code = 0
check "it says that they were removed" \
    grep -q 'removed while the run works: experiment.ini, model.net; written again' err
check "they are there again, byte for byte" eval 'inputs | cmp - inputs'
check "the run can be extended" exits 0 "$CHORUS" resume "$folder" epochs=9 --quiet

# A checkpoint of its own epoch, whose weights the run no longer has.
CHORUS_FAKE_SCRIPT=step_ms=5 "$CHORUS" run tiny.ini backend=fake epochs=100000 --quiet keep=all --results kept \
    >out 2>err </dev/null &
echo $! >run.pid
until_true 60 eval 'folder=$(echo kept/2*) && [ -e "$folder/epoch-0002.safetensors" ]'
rm "$folder/epoch-0002.safetensors"
kill -TERM $!
wait $!
check "a checkpoint of an epoch that is gone is named" \
    grep -q '1 checkpoint, the first epoch-0002.safetensors; chorus cannot write it again' err

# Between a run's end and its last words, which wait for on_end.
exits 0 "$CHORUS" run tiny.ini backend=fake epochs=1 --quiet on_end="$CHORUS rm @ --results '$work/results'"
check "a run that is removed as it ends has succeeded" test -d results/trash/2*
check "and it says what became of it" grep -q "it succeeded, and was removed or renamed since: results/2" err
finish
