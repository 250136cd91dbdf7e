# Damaged files: a flipped bit, another digit, bytes overwritten, a cut, a block that is zeros, there twice, missing or
# moved, in one file of a results folder. Nothing may crash or hang. What must hold besides, file by file:
#
#   *.safetensors            a checksum of the whole file: any change is noticed, and another checkpoint stands in
#   epochs.csv               a checksum in run.csv: any change to the rows of a run that is done is noticed
#   experiment.ini           the same values in run.csv: a change is noticed, but to keys that a resume may change
#   model.net                a checksum of its layers in run.csv: resume and predict notice other layers
#   members, devices, steps.csv, sweep.csv
#                            no checksum: a flipped digit is NOT noticed; rows in front of the damage are read as before
#   run.csv                  no checksum: a flipped bit spoils one value at most (of a column's name: that column), and
#                            a broken file its own run alone
#   ledger.csv               no checksum: a damaged line spoils its own cell alone
#   sweep.ini, queue/*.ini, control
#                            no checksum: each is read or refused, and nothing else is spoilt
. tests/torture/lib.sh

scenarios=3
for what in weights texts; do # in one process: thousands a second
    torture_program $what flips $what
done

# The program itself. A sentence with an exit code that is not 0, or what the whole run gives.
run="run tiny.ini backend=fake train_limit=400 test_limit=40 valid=40 keep=last+best+every:1 threads=1 --quiet"
victims=(checkpoint.safetensors best.safetensors epoch-0002.safetensors epoch-0004.safetensors epochs.csv model.net
    experiment.ini run.csv)

program()
{
    timeout 60 "$CHORUS" "$@" >out 2>err </dev/null
    status=$?
    if ((status >= 124)); then
        echo "chorus $* ended with $status"
        return 1
    elif ((status)) && ! grep -aq '^chorus: ' err; then
        echo "chorus $* says no sentence: $(head -n 1 err)"
        return 1
    fi
}

# Rows without their times, and the weights.
came_to()
{
    cut -d, -f1-4,8-13 "$1/epochs.csv"
    "$CHORUS" weights "$1" -o weights.safetensors >/dev/null 2>&1 && cksum <weights.safetensors
    rm -f weights.safetensors
}

a_command()
{
    local file=${victims[RANDOM % ${#victims[@]}]} at kind=
    at=$(printf 'last\nbest\n2\n' | sed -n "$((RANDOM % 3 + 1))p")
    rm -rf "$folder" && cp -r whole "$folder"
    kind=$("$programs/flips" damage "$folder/$file" "$seed" "$1")
    echo "$file has $kind"
    program ls || return
    program show "$folder" || return
    if [ $file = epochs.csv ] && ((!status)) && ! cat out err | grep -aqE "epochs.csv (was changed|cannot be read)"; then
        echo "show believes it"
        return 1
    fi
    program predict "$folder" --at $at || return
    if ((status)) && [[ $file == *.safetensors && $file != "${checkpoint_at[$at]}" ]]; then
        echo "predict --at $at does not need it, and is refused: $(cat err)"
        return 1
    fi
    if [ $file != run.csv ] && ((!status)) && ! cmp -s out predicted.$at; then
        echo "predict --at $at gives other answers: $(diff out predicted.$at | head -n 2)"
        return 1
    fi
    program resume "$folder" epochs=6 --quiet || return
    if ((status)) && [[ $file == *.safetensors ]]; then # another checkpoint stands in
        echo "resume is refused: $(cat err)"
        return 1
    fi
    if [ $file != run.csv ] && ((!status)) && [ "$(came_to "$folder")" != "$whole" ]; then
        echo "a resume comes to something else: $(diff <(came_to "$folder") <(echo "$whole") | head -n 4)"
        return 1
    fi
}

declare -A checkpoint_at=([last]=checkpoint.safetensors [best]=best.safetensors [2]=epoch-0002.safetensors)
exits 0 "$CHORUS" $run epochs=4
folder=$(ls -d results/2*)
cp -r "$folder" whole
for at in last best 2; do
    exits 0 "$CHORUS" predict "$folder" --at $at
    mv out predicted.$at
done
exits 0 "$CHORUS" resume "$folder" epochs=6 --quiet
whole=$(came_to "$folder")
torture commands a_command
finish
