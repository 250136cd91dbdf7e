# Two and three programs on one results folder at the same moments. Held must be: each cell and each item is done
# exactly once, no row is mixed with another, each program ends with a code that is promised and, where that is none of
# success, a sentence; what was confirmed is there; and the folder is like one that a single program made.
. "${BASH_SOURCE%/*}/lib.sh"

scenarios=6
tiny="tiny.ini backend=fake train_limit=400 test_limit=40 valid=40 threads=1 --quiet"
run="run $tiny epochs=3"
exec {never}<> <(:)

# nap MOST: up to so many tenths of a ms
nap()
{
    local tenths=$((RANDOM % $1))
    ((tenths)) && read -r -t "$(printf 0.%04d $tenths)" -u $never
    return 0
}

# begin ARGUMENTS...: a program beside the others, after a moment; its code and what it says are looked at by all_end
begin()
{
    nap 100
    began+=("$*")
    timeout -k 5 120 "$CHORUS" "$@" >out.${#began[@]} 2>err.${#began[@]} </dev/null &
    pids+=($!)
}

# all_end CODES: each of them, with one of these codes (a pattern), and with a sentence where it is not 0
all_end()
{
    local i wrong=0
    codes=()
    for i in "${!pids[@]}"; do
        wait "${pids[i]}"
        codes[i]=$?
        # shellcheck disable=SC2254
        case ${codes[i]} in
        0) continue ;;
        $1) grep -q . err.$((i + 1)) && continue ;;
        esac
        wrong=1
        echo "${began[i]} ended with ${codes[i]}: $(cat err.$((i + 1)))"
    done
    return $wrong
}

clear_all()
{
    began=() pids=()
    rm -rf results out.* err.*
    export CHORUS_FAKE_SCRIPT=step_ms=$((RANDOM % 2))
}

# Each row of each table has as many fields as its header (no field here has a comma of its own).
whole_rows()
{
    find results -name '*.csv' -exec awk -F, '
        FNR == 1 { n = NF }
        NF != n { print FILENAME " has a row of " NF " fields, not " n ": " $0; bad = 1 }
        END { exit bad }' {} +
}

# has WHAT GOT WANTED
has()
{
    [ "$2" = "$3" ] && return
    echo "$1: $2 instead of $3"
    return 1
}

runs()
{
    ls results | grep -c '^2'
}

# What came of each cell, without the order in which they ran.
cells()
{
    without_times "$1/sweeps/board/sweep.csv" | sort
    for folder in "$1"/2*; do
        without_times "$folder/epochs.csv" | tail -n 1
    done | sort
}

reads_well()
{
    "$CHORUS" ls >out 2>err && ! grep -qE 'changed since|cannot be read' out err && return
    echo "it does not read well: $(cat out err | head -n 5)"
    return 1
}

one_sweep()
{
    clear_all
    for _ in 1 2 $((RANDOM % 2 ? 3 : 0)); do
        ((_)) && begin run $tiny epochs=1 lr=0.01,0.02 seed=1,2 --name board --jobs 1
    done
    all_end 0 && has "runs of 4 cells" "$(runs)" 4 && whole_rows && reads_well &&
        diff <(cells results) <(cells whole-board)
}

# The lists of both are done, whoever comes first.
two_sweeps()
{
    clear_all
    begin run $tiny epochs=1 lr=0.01,0.02 --name board
    begin run $tiny epochs=1 lr=0.02,0.03 --name board
    all_end '[12]' && whole_rows && reads_well || return
    if [ "${codes[*]}" = "0 0" ]; then
        has "cells done" "$(grep -c ',done,' results/sweeps/board/sweep.csv)" 3 && has runs "$(runs)" 3
    else
        has "cells done" "$(grep -c ',done,' results/sweeps/board/sweep.csv)" 2 && has runs "$(runs)" 2
    fi
}

queue()
{
    local added=0 i
    clear_all
    for i in 1 2; do
        exits 0 "$CHORUS" run $tiny epochs=1 name=early$i --queue || return
    done
    begin queue run --quiet
    begin queue run --quiet
    for i in 1 2; do
        begin run $tiny epochs=1 name=late$i --queue
    done
    all_end 0 || return
    exits 0 "$CHORUS" queue run --quiet || return # what was added after both had left
    has names "$(ls results | grep ^2 | sed 's/^[^a-z]*-\([a-z]*[0-9]\)-.*/\1/' | sort | paste -sd ' ')" \
        "early1 early2 late1 late2" && has "in the queue" "$(ls results/queue)" "" &&
        has done "$(grep -l ',done,' results/2*/run.csv | wc -l)" 4 && whole_rows && reads_well
}

resume()
{
    clear_all
    mkdir results && cp -r stopped "results/$(sed -n '2s/,.*//p' stopped/run.csv)"
    begin resume @ --quiet
    begin resume @ --quiet
    ((RANDOM % 3)) || begin resume @ --quiet
    all_end '[12]' && has "who went on" "$(grep -l . out.* | wc -l)" "$(printf '%s\n' "${codes[@]}" | grep -c '^0$')" &&
        whole_rows && reads_well || return
    folder=$(echo results/2*)
    state_is "$folder" done || {
        echo "it is $(column "$folder" state); codes: ${codes[*]}"
        return 1
    }
    diff <(without_times "$folder/epochs.csv") <(without_times whole/epochs.csv) &&
        diff <(without_times "$folder/steps.csv") <(without_times whole/steps.csv)
}

# Where a run lies now.
found()
{
    folder=$(echo results/2* results/trash/2*)
    folder=${folder#results/2\* }
    folder=${folder% results/trash/2\*}
}

# What was confirmed is there, in results or in the trash.
labels()
{
    clear_all
    CHORUS_FAKE_SCRIPT=step_ms=$((RANDOM % 3)) begin $run
    until_true 60 eval 'found; [ -e "$folder/run.csv" ]' || return
    nap 400
    begin tag @ +red
    begin tag @ +blue
    begin note @ word
    ((RANDOM % 2)) && begin rm @
    all_end '[12]' || return
    found
    has "the run's code" "${codes[0]}" 0 && state_is "$folder" done || return
    has_label 1 tags '(^|;| )red($|;| )' && has_label 2 tags '(^|;| )blue($|;| )' && has_label 3 note word || return
    [[ -z ${codes[4]} || ${codes[4]} != 0 || $folder == results/trash/* ]] || {
        echo "it was removed, and is there"
        return 1
    }
    whole_rows && reads_well
}

# has_label I COLUMN PATTERN: where the I-th program succeeded
has_label()
{
    ((codes[$1])) || [[ $(column "$folder" $2) =~ $3 ]] && return
    echo "${began[$1]} was confirmed, and there is '$(column "$folder" $2)'"
    return 1
}

# Readers see a run, or do not.
readers()
{
    clear_all
    cp -r pair results
    begin rm one
    begin ls
    begin show one
    begin compare one two
    begin ls --json
    begin rm one
    all_end '[12]' && has "what is left" "$(ls -d results/2*-two-* results/trash/2*-one-* | wc -l)" 2 || return
    has "who removed it" "$(printf '%s\n' "${codes[0]}" "${codes[5]}" | grep -c '^0$')" 1 &&
        has "ls" "${codes[1]}" 0 && has "ls --json" "${codes[4]}" 0 && reads_well
}

exits 0 "$CHORUS" $run && mv results/2* whole
rm -rf results
exits 0 "$CHORUS" run $tiny epochs=1 lr=0.01,0.02 seed=1,2 --name board --jobs 1 && mv results whole-board
until mv results/2* stopped && state_is stopped stopped; do # a run that hit.c stopped before its end
    rm -rf results stopped
    CHORUS_FAKE_SCRIPT=step_ms=5 "$programs/hit" 200:INT "$CHORUS" $run >out 2>err
done 2>/dev/null
exits 0 "$CHORUS" run $tiny epochs=1 name=one && exits 0 "$CHORUS" run $tiny epochs=1 name=two && mv results pair

torture sweep one_sweep
torture sweeps two_sweeps
torture queue queue
torture resume resume
torture labels labels
torture readers readers
finish
