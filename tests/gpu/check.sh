# check.sh [NAME...]: every test that needs a GPU, or those programs of them, and one table, a line as
# soon as it is known. KIT: a folder made by `make gpu-kit`, else BUILD. LOG: a file for all that the tests
# print. SANITIZER: compute-sanitizer; empty: none is asked. Who sees nothing but the end finds there what
# failed, in few lines each, and the table once more. Its last line is "N passed, N failed, N skipped".

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
if [ -e "$tests/gpu_tests" ] && ! programs=$(timeout -k 5 60 "$tests/gpu_tests" 2>&1); then
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
CHORUS_CUDA='' timeout -k 5 60 "$CHORUS" devices

# All of it takes no longer than LIMIT seconds, a program of tests than MOST of them; behind one that was
# stopped the others have less time. `program`, the last, has all that is left. Who gets no time has failed,
# but for the sanitizer's, which begin nothing when the half is over.
LIMIT=${LIMIT:-480} MOST=${MOST:-200}
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
passed=0 failed=0 skipped=0
# cuDNN's plans are built once for all programs, and kept plans are tried besides.
export CHORUS_TEST_CACHE=$temp/cache
say() # a line of the table
{
    echo "$1" | tee -a "$temp/table"
}
left_out() # left_out SENTENCE
{
    skipped=$((skipped + 1))
    say "$1"
}
# What went wrong stands in front, what comes behind it is often no more than its echo.
first_lines() # first_lines HOW_MANY
{
    grep -vE '^(ok |skipped )' "$temp/log" | cut -c 1-400 |
        awk -v most="$1" 'NR <= most { print } END { if (NR > most) print "  ... " NR - most " lines more" }'
}
one() # one NAME COMMAND...
{
    local name=$1 begun=$SECONDS sum p f s code seconds=$((LIMIT - SECONDS))
    shift
    if [ $seconds -lt 5 ]; then
        failed=$((failed + 1))
        say "no time is left for $name" | tee -a "$temp/failures"
        return
    fi
    [ "$name" = "the program" ] || [ $seconds -lt $MOST ] || seconds=$MOST
    timeout -k 5 $seconds "$@" >"$temp/log" 2>&1
    code=$?
    [ -z "${LOG-}" ] || { echo "== $name: ended with $code" && cat "$temp/log"; } >>"$LOG"
    sum=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$temp/log" | tail -n 1)
    read -r p f s <<<"$(echo "$sum" | tr -dc '0-9 ')"
    p=${p:-$(grep -c '^ok ' "$temp/log")} f=${f:-0} s=${s:-0}
    if [ $code = 124 ] || [ $code = 137 ]; then
        if [[ $name = compute-sanitizer* ]] && found_nothing; then
            left_out "$name had no end within $seconds s, and had found nothing"
            return
        fi
        MOST=$((MOST < 60 ? MOST : 60))
        echo "$name was stopped after $seconds s" >>"$temp/log"
    fi
    if [ -z "$sum" ] || { [ $code != 0 ] && [ "$f" = 0 ]; }; then
        f=$((f + 1))
    fi
    if [ "$f" != 0 ]; then
        echo "$name ended with $code$(last_begun)" | tee -a "$temp/failures"
        first_lines 60
        first_lines 8 >>"$temp/failures"
    fi
    grep '^skipped ' "$temp/log" | cut -c 1-200 | head -n 8
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    say "$(printf '%-40s %5d passed %4d failed %4d skipped %5d s' "$name" "$p" "$f" "$s" $((SECONDS - begun)))"
}
# Whether the sanitizer's own lines are nothing but its name.
found_nothing()
{
    ! grep '^========= ' "$temp/log" | grep -qvE '= (COMPUTE-SANITIZER|ERROR SUMMARY)'
}
# Behind which of its tests it was when it ended before its end.
last_begun()
{
    local last
    last=$(grep -E '^(ok|FAILED|skipped) ' "$temp/log" | tail -n 1 | cut -c 1-100)
    [ -z "$last" ] || echo ", behind: $last"
}

echo
for program in $programs; do
    if [ "$program" = program ]; then
        one "the program" bash tests/gpu/cli.sh
    else
        one "$program" "$tests/gpu_tests" "$program"
    fi
done
# To the sanitizer a query that is answered with "not yet" is an error: what calls answer is the program's
# own business.
sanitizer=$(command -v "${SANITIZER-compute-sanitizer}")
[ -n "$sanitizer" ] || [ -z "${SANITIZER-compute-sanitizer}" ] || left_out "compute-sanitizer is not here"
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
            one "compute-sanitizer $program" "$sanitizer" --report-api-errors no --error-exitcode 9 \
                "$tests/gpu_tests" "$program" $words
        fi
        ;;
    esac
done
if [ $failed != 0 ]; then
    printf '\nWhat failed:\n'
    head -c 8000 "$temp/failures"
    printf '\n\n'
    cat "$temp/table"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
