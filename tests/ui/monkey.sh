# tests/ui/monkey.sh [KEYS [SEED]]: random keys, clicks and sizes in the program with sanitizers, on results
# of every kind; without KEYS for half a minute. What goes wrong is told with the seed that does it again; without
# SEED it is the program's own, another one for each program.
# Each round begins with fresh results, a home of its own and a seed one higher.
. "${BASH_SOURCE%/*}/lib.sh"

keys=${1:-0}
round=$((keys == 0 ? 2000 : keys < 5000 ? keys : 5000))
sane=$build/asan/chorus
if [ ! -x "$sane" ]; then
    skip "the monkey" "there is no $sane; \`make asan\` builds it"
    finish
fi
sum=$(cksum <"$sane")
seed=${2:-$((${sum%% *} % 1000000))}
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export CHORUS_FAKE_SCRIPT='step_ms=1 evaluate_ms=3'
if [ -z "$LSAN_OPTIONS" ]; then
    echo leak:argz_add_sep >leaks
    export LSAN_OPTIONS=suppressions=$work/leaks:print_suppressions=0
fi

prepare prepared
listing()
{
    find "$work" -path "$work/round" -prune -o -path "$work/home" -prune -o -type f -printf '%p %s %T@\n' | sort
}

sizes=(80x24 160x45 60x16 100x30 237x70 61x17)
began=$SECONDS done=0
listing >"$cache/before"
while ((keys ? done < keys : SECONDS - began < 30)); do
    rm -rf round home
    mkdir -p round/experiments home
    cp -r prepared round/results
    cp tiny.ini tiny.net round
    cp tiny.ini round/experiments/small.ini
    size=${sizes[seed % ${#sizes[@]}]}
    echo "monkey $round $seed" >round/script
    (cd round && timeout -k 5 600 "$sane" --results results --keys script --frame "$size" >../said 2>&1 </dev/null)
    status=$?
    if [ $status != 0 ]; then
        tail -n 60 said
        fail "a monkey of seed $seed at $size" "it ended with $status; replay: make monkey N=$round SEED=$seed"
        [ "$failed" -ge 5 ] && break
    fi
    done=$((done + round)) seed=$((seed + 1))
done
rm -f said
listing >"$cache/after"
if [ "$failed" = 0 ]; then
    ok "$done keys, the last seed $((seed - 1))"
fi
if diff "$cache/before" "$cache/after" >"$cache/changed"; then
    ok "nothing outside its folders was touched"
else
    fail "something outside its folders was touched" "$(head -n 5 "$cache/changed")"
fi
finish
