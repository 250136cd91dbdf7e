# What was changed since a run wrote it: of epochs.csv whoever reads it says so, and a resume has the rows of its
# checkpoint; of model.net nothing is predicted. tests/torture/flips.sh damages files at random.
. "${BASH_SOURCE%/*}/lib.sh"

run="run tiny.ini backend=fake train_limit=400 test_limit=40 valid=40 threads=1 --quiet"
words="epochs.csv was changed since it was written"

says()
{
    cat out err | grep -qF "$words"
}

told_by() # NAME COMMAND...
{
    local name=$1
    shift
    exits 0 "$CHORUS" "$@" && says && ok "$name" || fail "$name" "it is believed: $(cat err)"
}

silent() # NAME COMMAND...
{
    local name=$1
    shift
    exits 0 "$CHORUS" "$@" && ! says && ok "$name" || fail "$name" "$(cat err)"
}

exits 0 "$CHORUS" $run epochs=5 && folder=$(cat out)
other=$("$CHORUS" $run epochs=5 seed=2)
cp -r "$folder" whole
file=$folder/epochs.csv

silent "show of a whole run" show "$folder"
silent "ls" ls
silent "compare" compare "$folder" "$other"

# flip N: the digit at the N-th place where one stands becomes another digit
flip()
{
    awk -v at="$1" '{
        for (i = 1; i <= length($0); i++) {
            c = substr($0, i, 1)
            if (NR > 1 && c ~ /[0-9]/ && ++n == at)
                c = (c + 1) % 10
            printf "%s", c
        }
        print ""
    }' whole/epochs.csv >"$file"
}

flip 70
told_by "a flipped digit is not believed" show "$folder"
head -n 3 whole/epochs.csv >"$file"
told_by "nor is a cut at the end of a line" show "$folder"
(cat whole/epochs.csv; tail -n 1 whole/epochs.csv) >"$file"
told_by "nor is a row more than a finished run has" show "$folder"

flip 70
told_by "ls says so" ls
cp -r "$folder" results/twin
told_by "of two" ls
check "in one line" grep -q "^chorus: .* and 1 more: $words$" err
told_by "compare of two" compare "$folder" twin
check "in one line" test "$(grep -c "$words" err)" = 1
told_by "export of two" export "$folder" twin -o e.csv
check "in one line" test "$(grep -c "$words" err)" = 1
rm -r results/twin
told_by "compare" compare "$folder" "$other"
check "of one run" test "$(grep -c "$words" err)" = 1
told_by "plot" plot "$folder" -o p.svg
told_by "export" export "$folder" -o e.csv --force
told_by "export --wide" export --wide "$folder" -o e.csv --force
told_by "report" report "$folder" "$other" -o page

# A resume has the rows that its checkpoint knows, whatever became of the file.
resumed() # NAME
{
    if exits 0 "$CHORUS" resume "$folder" epochs=6 && head -n 6 "$file" | cmp -s - whole/epochs.csv &&
        has_rows "$file" 6; then
        ok "$1: its rows are there after a resume"
    else
        fail "$1" "$(diff "$file" whole/epochs.csv)"
    fi
    check "$1: it is said" says
    silent "$1: and all is well then" show "$folder"
    rm -rf "$folder" && cp -r whole "$folder"
}
flip 70
resumed "a flipped digit"
head -n 3 whole/epochs.csv >"$file"
resumed "a cut file"
sed '1s/step/stop/' whole/epochs.csv >"$file"
resumed "a changed header"
sed '3s/^2/two/' whole/epochs.csv >"$file"
resumed "a row that is no row"
rm "$file"
resumed "a file that is gone"
exits 0 "$CHORUS" resume "$folder" epochs=6
check "of a file that is whole a resume says nothing" eval '! says'
check "it goes on with its rows" eval 'head -n 6 "$file" | cmp - whole/epochs.csv'

# What an older version wrote has no checksum, and is taken as it is.
rm -rf "$folder" && cp -r whole "$folder"
unchecked "$folder"
check "a run.csv without a checksum" test -z "$(column "$folder" epochs_check)"
flip 70
silent "of an older version nothing is said" show "$folder"
silent "nor by ls" ls

# The layers that the weights are of.
rm -rf "$folder" && cp -r whole "$folder"
sed -i 's/^relu/tanh/' "$folder/model.net"
exits 2 "$CHORUS" predict "$folder"
check "predict refuses another network" grep -q 'model.net has changed since that run began' err
exits 2 "$CHORUS" predict "$folder" --at best
check "for its best weights too" grep -q 'model.net has changed since that run began' err

# A run that is done has its rows back without more epochs.
exits 0 "$CHORUS" run tiny.ini backend=fake train_limit=400 test_limit=40 valid=40 threads=1 name=mended --quiet
mended=$(ls -d results/*-mended-*)
cp "$mended/epochs.csv" rows
sed -i '$s/,0\.[0-9]/,0.7/' "$mended/epochs.csv"
exits 0 "$CHORUS" resume mended --quiet
check "resume of a finished run gives it its rows back" cmp rows "$mended/epochs.csv"
check "and it is done as before" state_is "$mended" done
finish
