# Every test that needs a GPU, and one table of them. KIT: a folder made by `make gpu-kit`, else BUILD.
# Its last line is "N passed, N failed, N skipped".

if [ -n "${KIT-}" ]; then
    export CHORUS=$KIT/chorus GPU_DATA=$KIT/data
    tests=$KIT/tests/gpu
else
    BUILD=${BUILD:-build}
    export CHORUS=$PWD/$BUILD/chorus GPU_DATA=${CHORUS_DATA-}
    tests=$PWD/$BUILD/normal/gpu
fi
programs=$("$tests/gpu_tests" 2>/dev/null)
count=$(($(echo "$programs" | wc -w) + 2))
devices=$(CHORUS_CUDA='' "$CHORUS" devices --json 2>&1)
case $devices in
*'"cuda_devices": 0'*)
    echo "skipped: no CUDA device: $(echo "$devices" | sed 's/.*"reason": "\([^"]*\)".*/\1/')"
    echo "0 passed, 0 failed, $count skipped"
    exit 0
    ;;
*'"cuda_devices":'*) ;;
*)
    echo "chorus devices does not answer: $devices"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
    ;;
esac
CHORUS_CUDA='' "$CHORUS" devices

# All of it takes no longer than this; what has not begun when the half is over is the sanitizer's.
LIMIT=${LIMIT:-480}
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
passed=0 failed=0 skipped=0 table=
one() # one NAME COMMAND...
{
    local name=$1 begun=$SECONDS sum p f s
    shift
    timeout $((LIMIT > SECONDS + 200 ? 200 : LIMIT > SECONDS + 5 ? LIMIT - SECONDS : 5)) "$@" \
        >"$temp/log" 2>&1
    local code=$?
    sum=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$temp/log" | tail -n 1)
    read -r p f s <<<"$(echo "$sum" | tr -dc '0-9 ')"
    if [ -z "$sum" ] || { [ $code != 0 ] && [ "$f" = 0 ]; }; then
        p=${p:-0} f=$((${f:-0} + 1)) s=${s:-0}
        echo "$name ended with $code"
    fi
    if [ "$f" != 0 ]; then
        grep -vE '^ok ' "$temp/log" | tail -n 60
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    table+=$(printf '%-40s %5d passed %4d failed %4d skipped %5d s' "$name" "$p" "$f" "$s" $((SECONDS - begun)))$'\n'
}

for program in $programs; do
    one "$program" "$tests/gpu_tests" "$program"
done
one "the program" bash tests/gpu/cli.sh
sanitizer=$(command -v compute-sanitizer)
if [ -n "$sanitizer" ]; then
    for program in $programs; do
        case $program in
        *parity*) words=layers ;;
        *) words= ;;
        esac
        case $program in
        *conv_test | *steps_test | *parity*)
            if [ $SECONDS -gt $((LIMIT / 2)) ]; then
                skipped=$((skipped + 1))
                table+="no time is left for compute-sanitizer $program"$'\n'
                continue
            fi
            one "compute-sanitizer $program" "$sanitizer" --error-exitcode 9 "$tests/gpu_tests" "$program" $words
            ;;
        esac
    done
else
    skipped=$((skipped + 1))
    table+="compute-sanitizer is not here"$'\n'
fi
printf '\n%s\n' "$table"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
