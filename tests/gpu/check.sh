# check.sh [NAME...]: every test that needs a GPU, or those programs of them, and one table, a line as
# soon as it is known. KIT: a folder made by `make gpu-kit`, else BUILD. LOG: a file for all that the tests
# print. Its last line is "N passed, N failed, N skipped".

if [ -n "${KIT-}" ]; then
    export CHORUS=$KIT/chorus GPU_DATA=$KIT/data
    tests=$KIT/tests/gpu
else
    BUILD=${BUILD:-build}
    export CHORUS=$PWD/$BUILD/chorus GPU_DATA=${CHORUS_DATA-}
    tests=$PWD/$BUILD/normal/gpu
fi
# What stops it before a test: SENTENCE FAILED SKIPPED.
stop()
{
    printf '%s\n0 passed, %d failed, %d skipped\n' "$1" "$2" "$3"
    exit "$2"
}
# gpu_tests is not there where there is no toolkit, and then no GPU is to be expected.
programs=
if [ -e "$tests/gpu_tests" ] && ! programs=$("$tests/gpu_tests" 2>&1); then
    stop "gpu_tests does not start: $programs" 1 0
fi
programs=${*:-$programs program}
count=$(echo "$programs" | wc -w)
devices=$(CHORUS_CUDA='' timeout -k 5 60 "$CHORUS" devices --json 2>&1)
case $devices in
*'"cuda_devices": 0'*)
    reason=${devices#*'"reason": "'}
    stop "skipped: no CUDA device: ${reason%%\"*}" 0 "$count"
    ;;
*'"cuda_devices":'*) ;;
*) stop "chorus devices does not answer: $devices" 1 0 ;;
esac
CHORUS_CUDA='' "$CHORUS" devices

# All of it takes no longer than this; what has not begun when the half is over is the sanitizer's.
LIMIT=${LIMIT:-480}
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
passed=0 failed=0 skipped=0
one() # one NAME COMMAND...
{
    local name=$1 begun=$SECONDS sum p f s
    shift
    timeout -k 5 $((LIMIT > SECONDS + 200 ? 200 : LIMIT > SECONDS + 5 ? LIMIT - SECONDS : 5)) "$@" \
        >"$temp/log" 2>&1
    local code=$?
    [ -z "${LOG-}" ] || { echo "== $name: ended with $code" && cat "$temp/log"; } >>"$LOG"
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
    printf '%-40s %5d passed %4d failed %4d skipped %5d s\n' "$name" "$p" "$f" "$s" $((SECONDS - begun))
}
left_out() # left_out SENTENCE
{
    skipped=$((skipped + 1))
    echo "$1"
}

echo
for program in $programs; do
    if [ "$program" = program ]; then
        one "the program" bash tests/gpu/cli.sh
    else
        one "$program" "$tests/gpu_tests" "$program"
    fi
done
sanitizer=$(command -v compute-sanitizer)
[ -n "$sanitizer" ] || left_out "compute-sanitizer is not here"
for program in ${sanitizer:+$programs}; do
    case $program in
    *parity*) words=layers ;;
    *) words= ;;
    esac
    case $program in
    *conv_test | *steps_test | *update_test | *parity*)
        if [ $SECONDS -gt $((LIMIT / 2)) ]; then
            left_out "no time is left for compute-sanitizer $program"
        else
            one "compute-sanitizer $program" "$sanitizer" --error-exitcode 9 "$tests/gpu_tests" \
                "$program" $words
        fi
        ;;
    esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
