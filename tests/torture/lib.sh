# tests/torture/lib.sh: sourced by each part of the torture, after the lib.sh of tests/cli that it sources. A part does
# random harm for a span of time, and looks each time at what must hold. A case is repeated from three words: the
# seed, the scenario and the number of the case.
#
#   TORTURE_SECONDS   how long the part takes (4; in make check-all 60)
#   SEED              where random numbers begin (1)
#   CASE              SCENARIO/N: only that case

programs=$(realpath "${BUILD:-build}")/normal/tests/torture
. tests/cli/lib.sh

part=${0##*/} part=${part%.sh}
seconds=${TORTURE_SECONDS:-$( ((${CHORUS_TEST_ALL:-0})) && echo 60 || echo 4)}
seed=${SEED:-1}
scenarios=1 # a part that has more says how many: each has its share of the time

now_ms()
{
    echo $((${EPOCHREALTIME/[.,]/} / 1000))
}

# told SCENARIO CASES FAILED: one line for a reader and for run.sh
told()
{
    echo "torture $part/$1: $2 cases, $3 failed (seed $seed)"
    if (($3)); then
        fail "$part: $1" "$3 of $2 cases; each says how to repeat it"
    elif (($2)); then
        ok "$part: $1"
    fi
}

repeat()
{
    echo "  repeat: make torture ONLY=$part SEED=$seed CASE=$1"
}

# torture SCENARIO FUNCTION: calls it with 1, 2, 3, ... until its time is over. The function begins with RANDOM as seed
# and number say, prints why it fails and returns 1 then; 2: there is no such case, and none behind it;
# 3: the case came to nothing, and is not counted.
torture()
{
    local name=$1 end n=0 idle=0 failures=0 status
    [ -z "$CASE" ] || [ "${CASE%/*}" = "$name" ] || return 0
    end=$(($(now_ms) + seconds * 1000 / scenarios))
    while (((n == idle && n < 50) || (failures < 20 && $(now_ms) < end))); do
        n=$((n + 1))
        [ -n "$CASE" ] && n=${CASE##*/}
        RANDOM=$((seed * 1000003 + n))
        $2 $n >"$cache/why"
        status=$?
        if ((status == 2)); then
            n=$((n - 1))
            break
        elif ((status == 3)); then
            idle=$((idle + 1))
        elif ((status)); then
            failures=$((failures + 1))
            echo "$name/$n:"
            head -n 12 "$cache/why" | sed 's/^/  /'
            repeat "$name/$n"
        fi
        [ -n "$CASE" ] && n=1 && break
    done
    told "$name" $((n - idle)) $failures
}

# torture_program SCENARIO PROGRAM ARGS...: the same by a C program of this folder, or by another program with its path,
# called with seconds, seed and the case (0: all), and ARGS. It prints "failed N: WHY" for each failure, and "N cases" in
# its last line.
torture_program()
{
    local name=$1 program=$2 log=$cache/log cases failures line
    shift 2
    [[ $program == */* ]] || program=$programs/$program
    [ -z "$CASE" ] || [ "${CASE%/*}" = "$name" ] || return 0
    "$program" $((seconds / scenarios > 0 ? seconds / scenarios : 1)) $seed \
        $([ -n "$CASE" ] && echo "${CASE##*/}" || echo 0) "$@" >"$log" 2>&1
    status=$?
    failures=$(grep -c '^failed ' "$log")
    cases=$(sed -n '$s/^\([0-9][0-9]*\) cases$/\1/p' "$log")
    while read -r line; do
        echo "$line"
        line=${line#failed } && repeat "$name/${line%%:*}"
    done < <(grep '^failed ' "$log" | head -n 20)
    if [ -z "$cases" ]; then
        tail -n 40 "$log" | sed 's/^/  /'
        fail "$part: $name" "the program ended with status $status in the middle (seed $seed)"
        echo "torture $part/$name: 1 cases, 1 failed (seed $seed)"
    else
        told "$name" "$cases" "$failures"
    fi
}
