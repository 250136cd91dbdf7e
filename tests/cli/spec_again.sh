#!/bin/bash
# An experiment as a run's folder keeps it means the same from any folder and at any time: paths are
# whole, and a run that was named by @ keeps its own name.
set -u
CHORUS=$(realpath "${CHORUS:?the path of the program}") || exit 1
top=$(mktemp -d "${TMPDIR:-/tmp}/chorus-again-XXXXXX") || exit 1
trap 'rm -rf "$top"' EXIT
cd "$top" || exit 1
unset CHORUS_DATA CHORUS_FAKE
export CHORUS_RESULTS=$top/results XDG_DATA_HOME=$top/share CHORUS_CACHE=off LC_ALL=C

passed=0 failed=0
check() # NAME COMMAND...
{
    local name=$1
    shift
    if "$@" >last 2>&1; then
        passed=$((passed + 1))
        echo "ok $name"
    else
        failed=$((failed + 1))
        echo "FAILED $name: $*"
        sed 's/^/    /' last | head -20
    fi
}
has() # FILE LINE
{
    grep -q -x -F -e "$2" "$1" || { cat "$1"; return 1; }
}
lacks() # FILE PATTERN
{
    ! grep -n "$2" "$1"
}
chorus() # the run's folder, or what went wrong
{
    "$CHORUS" "$@" --quiet 2>&1
}
same() # the columns of two epochs.csv that are no times
{
    diff <(cut -d, -f1-4,8-20 "$1/epochs.csv") <(cut -d, -f1-4,8-20 "$2/epochs.csv")
}

mkdir -p exp/nets exp/data other
printf 'param width 8\ninput auto\ndense $width\ntanh\ndense classes\n' >exp/nets/my.net
{
    echo label,a,b,c
    for ((i = 0; i < 60; i++)); do echo "$((i % 3)),$((i % 7)),$((i % 5)),$((i * i % 11))"; done
} >"exp/data/a, b.csv"
cat >exp/x.ini <<'INI'
# in a folder of its own, with paths of its own
model = ./nets/my.net
model.width = 16
data = "data/a, b.csv"
batch = 10 # of 50
epochs = 3
optimizer = nesterov
seed = 7
INI

first=$(chorus run exp/x.ini)
check 'a file with paths relative to itself runs' test -f "$first/epochs.csv"
check 'the data is recorded with its whole path' has "$first/experiment.ini" "data = \"$top/exp/data/a, b.csv\""
check 'the model is recorded as the copy beside it' has "$first/experiment.ini" 'model = model.net'
check 'a parameter of the model is recorded' has "$first/experiment.ini" 'model.width = 16'
check 'keys that do not apply are left out' lacks "$first/experiment.ini" '^\(beta1\|members\|lr_batch\|step_factor\)'

rm exp/nets/my.net # the run has a copy
cd other || exit 1
second=$(chorus run "$first/experiment.ini")
cd .. || exit 1
check 'the record runs again from another folder' test -f "$second/epochs.csv"
check 'and gives the same numbers' same "$first" "$second"
check 'and is recorded as the same experiment' diff "$first/experiment.ini" "$second/experiment.ini"
third=$(chorus run "$(basename "$first")")
check 'a run runs again by its name' same "$first" "$third"

start=$(chorus run "$first" weights=@2 epochs=2)
check 'weights = @2 is recorded as that run' has "$start/experiment.ini" "weights = $second"
again=$(chorus run "$start/experiment.ini")
check 'and means it still when newer runs are there' same "$start" "$again"

lapsed=$(chorus run "$first" optimizer=adam)
check 'a key of the record lapses with its optimizer' lacks "$lapsed/experiment.ini" '^momentum'
ensemble=$(chorus run "$first" mode=ensemble devices=2 epochs=1)
single=$(chorus run "$ensemble" mode=data-parallel)
check 'a key of the record lapses with its mode' lacks "$single/experiment.ini" '^member'

built_in=$("$CHORUS" help run | sed -n '/^built-in experiments:/,/^$/p' | sed '1d; s/,//g')
check 'experiments are built in' test "$(echo $built_in | wc -w)" -ge 13
for name in $built_in; do
    if "$CHORUS" run "$name" --dry-run >last 2>&1; then
        passed=$((passed + 1))
        echo "ok built-in $name"
    elif grep -q 'chorus data fetch' last && [ "$(wc -l <last)" -eq 1 ]; then
        passed=$((passed + 1))
        echo "ok built-in $name says how to get its data"
    else
        failed=$((failed + 1))
        echo "FAILED built-in $name: $(cat last)"
    fi
done

echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
