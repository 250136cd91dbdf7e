#!/bin/bash
# tests/torture/fuzz.sh: gives each parser the files of its corpus and random changes of them, under the address and
# undefined behaviour sanitizers. What must hold besides stands at the head of each target, tests/torture/fuzz/*.c.
# In `make check` main.c of that folder changes the files. In `make torture` and `make fuzz` libFuzzer does, where clang
# is: it keeps what reaches new code in build/fuzz/corpus and begins there the next time.

top=$PWD/tests/torture/fuzz
build=$(realpath "${BUILD:-build}")
if [ -n "$HOURS" ]; then # by hand; run.sh says seconds and seed
    TORTURE_SECONDS=${TORTURE_SECONDS:-$(awk "BEGIN { print int($HOURS * 3600) }")}
    SEED=${SEED:-$((RANDOM + 1))}
fi
. tests/torture/lib.sh
read -ra targets <<<"${TARGET:-$(cd "$top/corpus" && echo *)}"
scenarios=${#targets[@]}
found=$build/fuzz-found # bytes of the cases that failed
mkdir -p "$found"

by_main()
{
    export FUZZ_FAILED=$found/$1
    rm -f "$FUZZ_FAILED"
    torture_program "$1" "$1" "$top/corpus/$1" "$top/words/$1"
    [ -e "$FUZZ_FAILED" ] && echo "  repeat: $programs/$1 $FUZZ_FAILED"
}

# One round: so many cases of a target, or what it can do in the time. As many of each, not as long: some are ten times
# as fast as others.
declare -A cases failures
by_libfuzzer()
{
    local name=$1 log=$cache/log kept=$build/fuzz/corpus/$1 left=$(((end - $(now_ms)) / 1000))
    ((failures[$name] || left < 1)) && return
    mkdir -p "$kept"
    "$programs/$name" -seed=$((seed + round)) -runs=$((seconds * 200)) -max_total_time=$left -max_len=4096 \
        -timeout=60 -rss_limit_mb=4096 -print_final_stats=1 -dict="$top/words/$name" \
        -artifact_prefix="$found/$name-" "$kept" "$top/corpus/$name" >"$log" 2>&1
    if (($? != 0)); then
        failures[$name]=1
        grep -v '^#[0-9]' "$log" | tail -n 60 | sed 's/^/  /'
        echo "  repeat: $programs/$name FILE"
    fi
    cases[$name]=$((cases[$name] + $(sed -n 's/^stat::number_of_executed_units: *//p' "$log")))
}

if [ -n "$TORTURE_SECONDS" ] && [ -z "$CASE" ] && [ -x "$build/fuzz/tests/torture/fuzz/${targets[0]}" ]; then
    programs=$build/fuzz/tests/torture/fuzz
    end=$(($(now_ms) + seconds * 1000))
    for ((round = 0; $(now_ms) < end; round++)); do
        for target in "${targets[@]}"; do
            by_libfuzzer "$target"
        done
        ((${#failures[@]} == scenarios)) && break
    done
    for target in "${targets[@]}"; do
        told "$target" "${cases[$target]:-0}" "${failures[$target]:-0}"
    done
else
    programs=$build/asan/tests/torture/fuzz
    seconds=$((seconds * 1000)) # the programs count in milliseconds
    for target in "${targets[@]}"; do
        by_main "$target"
    done
fi
finish
