#!/bin/bash
# tests/run.sh [WORD]: runs every test that `make check` built (only those whose name holds WORD; with TESTS set, those
# of these names), two at a time for each processor (JOBS=N: 2 N, N that compute and N that wait), and sums them up: its
# last line is "N passed, N failed, N skipped", and it exits 1 where anything failed. What a test printed stays in
# $BUILD/check. A test is a program or script whose last line is such a sum; one without a sum,
# one that runs for ten minutes and one that ends badly with nothing failed count as one failure.
# A failure that may be an accident gets a second try at the end, alone; if it passes, it is named flaky.
# CHORUS_TEST_ALL=1 (make check-all) runs what takes longer too, gives a test two hours, and runs nothing
# twice. CHORUS_TEST_LIMIT=N gives a test N seconds.

only=$1
BUILD=${BUILD:-build}
# In memory, where there is plenty: on a disk half of what many tests take is waiting for it to write.
in_memory()
{
    local room
    room=$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1)
    ((${room:-0} > 8000000)) && awk '/^MemAvailable/ { exit !($2 > 12000000) }' /proc/meminfo &&
        temp=$(mktemp -d -p /dev/shm) && cp "$(type -P true)" "$temp" && "$temp/true" # not noexec
}
temp=
if [ -n "$TMPDIR" ] || ! in_memory 2>/dev/null; then
    [ -n "$temp" ] && rm -rf "$temp"
    temp=$(mktemp -d) || exit 1
fi
trap 'rm -rf "$temp"' EXIT
logs=$temp/check
mkdir "$logs" || exit 1

# MNIST comes with no package: where the user has it, tests may use it.
CHORUS_TEST_DATA=${CHORUS_TEST_DATA:-${CHORUS_DATA:-${XDG_DATA_HOME:-${HOME-}/.local/share}/chorus}}
[ -d "$CHORUS_TEST_DATA" ] && export CHORUS_TEST_DATA || unset CHORUS_TEST_DATA
# The same surroundings for everybody.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES NO_COLOR CHORUS_RESULTS CHORUS_DATA
export CHORUS=$temp/chorus XDG_DATA_HOME=$temp/share
# Nothing may fall back to the user's own.
export XDG_CACHE_HOME=$temp/cache
cp "$BUILD/chorus" "$temp" || exit 1 # building meanwhile disturbs no test
# gcc puts its fake stacks where vectors of 64 bytes may not lie (its bug 110027).
export ASAN_OPTIONS=detect_stack_use_after_return=0 UBSAN_OPTIONS=print_stacktrace=1
echo leak:argz_add_sep >"$temp/leaks" # newlocale of glibc loses the words of LOCPATH
echo leak:libcudnn >>"$temp/leaks"    # cuDNN loses some of its own
# A GPU that hangs keeps what a session holds there, and so does its twin.
printf 'leak:%s\n' cuda_group_open cuda_place_open cuda_capture_all start_graph >>"$temp/leaks"
export LSAN_OPTIONS=suppressions=$temp/leaks:print_suppressions=0
export TSAN_OPTIONS=second_deadlock_stack=1

declare -A running # name by process
trap 'kill "${!running[@]}" 2>/dev/null; wait; exit 130' INT TERM HUP

log_of()
{
    echo "$logs/${1//[ \/]/-}.log"
}

# One command is one test: status 77 is a skip, and the last line says why.
single()
{
    local name=$1 status
    shift
    "$@" >"$temp/$name" 2>&1
    status=$?
    case $status in
    0) echo "ok $name: $(tail -n 1 "$temp/$name")" && echo "1 passed, 0 failed, 0 skipped" ;;
    77) echo "skipped $name: $(tail -n 1 "$temp/$name")" && echo "0 passed, 0 failed, 1 skipped" ;;
    *) cat "$temp/$name" && echo "FAILED $name" && echo "0 passed, 1 failed, 0 skipped" ;;
    esac
    return $((status == 0 || status == 77 ? 0 : 1))
}

start()
{
    local name=$1 begun
    shift
    (
        trap - EXIT
        own=$(mktemp -d "$temp/XXXXXX")
        begun=${EPOCHREALTIME/[.,]/}
        # A cache of its own: who computes on this machine is seen there, and marks what computes beside it.
        TMPDIR=$own CHORUS_CACHE=$own/cache "$@" >"$(log_of "$name")" 2>&1 </dev/null &
        trap 'kill $! 2>/dev/null; wait' TERM
        wait $!
        echo "$? $(((${EPOCHREALTIME/[.,]/} - begun) / 1000))" >"$(end_of "$name")"
        rm -rf "$own"
    ) &
    running[$!]=$name
}

end_of()
{
    echo "$temp/${1//[ \/]/-}.end"
}

# wrong LOG STATUS: reads the sum of a log into p, f and s, and prints what is wrong besides.
wrong()
{
    p=0 f=1 s=0
    if ! [[ $(tail -n 1 "$1") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
        (($2 == 124 || $2 == 137)) && echo "FAILED: it did not end in time" ||
            echo "FAILED: it ended with status $2 and without its sum"
        return
    fi
    p=${BASH_REMATCH[1]} f=${BASH_REMATCH[2]} s=${BASH_REMATCH[3]}
    if (($2 != 0 && f == 0)); then
        echo "FAILED: it ended with status $2"
        f=1
    elif ((p + f + s == 0)); then
        echo "FAILED: there is no test in it"
        f=1
    fi
}

# What a log holds besides the tests that passed, moved to the right.
printed()
{
    grep -v -E '^(ok|skipped) ' "$1" | tail -n 60 | sed 's/^/    /'
}

declare -A sums # passed, failed and skipped by name
failures=()
reap()
{
    local pid name log status ms p f s
    wait -n -p pid "${!running[@]}" 2>/dev/null
    [ -n "$pid" ] || return
    name=${running[$pid]}
    unset "running[$pid]"
    log=$(log_of "$name")
    read -r status ms <"$(end_of "$name")"
    wrong "$log" "$status" >>"$log"
    sums[$name]="$p $f $s"
    printf '%-6s %4d passed %3d failed %3d skipped %4d.%d s  %s\n' "$( ((f)) && echo FAILED || echo ok)" \
        "$p" "$f" "$s" $((ms / 1000)) $((ms % 1000 / 100)) "$name"
    ((f)) && printed "$log" && failures+=("$name")
}

# What a log holds where a sanitizer, a crash or a limit of time stopped what a test started.
stopped='Sanitizer: |Sanitizer:DEADLYSIGNAL|==ABORTING|runtime error: |Segmentation fault|Aborted|Bus error'
stopped+='|Illegal instruction|Floating point exception|SIG(SEGV|ABRT|BUS|ILL|FPE)|ended with (124|13[2-9])'

# Whether a failure may be an accident.
accident()
{
    local status
    read -r status _ <"$(end_of "$1")"
    [[ $1 != *-check ]] && ((status != 124 && status < 128)) &&
        ! grep -v -E '^(ok|skipped) ' "$(log_of "$1")" | grep -q -E "$stopped"
}

flakes=
once_more()
{
    local log first
    log=$(log_of "$1") first=${log%.log}.first.log before=${sums[$1]}
    mv "$log" "$first"
    printf '\nonce more, with nothing beside it:\n'
    begin "$1"
    reap
    [[ ${sums[$1]} == [1-9]*" 0 0" || ${sums[$1]} == [1-9]*" 0 ${before##* }" ]] &&
        flakes+="  $1 failed first, and passed alone: $BUILD/check/${first##*/}"$'\n'"$(printed "$first")"$'\n'
}

# A locale with a comma as its point, where the machine can make one.
if mkdir "$temp/locale" && localedef -i de_DE -f UTF-8 "$temp/locale/de_DE.UTF-8" 2>/dev/null; then
    export LOCPATH=$temp/locale
fi

# Screens and commands mostly wait, the others compute: at each moment so many of both as there are
# processors keep these busy.
each=${JOBS:-$(nproc)}
limit="timeout -k 10 ${CHORUS_TEST_LIMIT:-$( ((${CHORUS_TEST_ALL:-0})) && echo 7200 || echo 600)}"
((${CHORUS_TEST_ALL:-0})) && export CHORUS_TEST_NETWORKS=${CHORUS_TEST_NETWORKS:-500}
# The thread sanitizer of gcc 12 knows not all places where newer kernels put memory at random.
fixed=
setarch -R true 2>/dev/null && fixed="setarch -R"

# A test by its name, which says what to run.
begin()
{
    case $1 in
    deps-check) start "$1" single "$1" sh make/walls.sh . ;;
    size-check) start "$1" single "$1" sh make/size.sh "$BUILD/normal" ;;
    fmt-check) start "$1" single "$1" sh make/format.sh --check ;;
    asan\ *) start "$1" $limit "$BUILD/asan/${1#* }" ;;
    tsan\ *) start "$1" $limit $fixed "$BUILD/tsan/${1#* }" ;;
    *.sh) start "$1" $limit bash "$1" ;;
    *) start "$1" $limit "$BUILD/normal/$1" ;;
    esac
}

# may_begin WAITS: whether one that waits, or computes, has room beside those that run
may_begin()
{
    local name waits=0
    for name in "${running[@]}"; do
        [[ $name == tests/@(ui|cli|torture)/* ]] && waits=$((waits + 1))
    done
    if (($1)); then
        ((${#running[@]} < 2 * each && (waits < each || ${#computing[@]} == 0)))
    else
        ((${#running[@]} - waits < each + (${#waiting[@]} == 0)))
    fi
}

tsan=($TSAN_TESTS)
mapfile -t unit < <(find tests/unit -name '*_test.c' | LC_ALL=C sort)

# names WORDS...: those that are asked for. lib.sh is what the tests of a folder share, run.sh begins them.
names()
{
    local name
    for name in "$@"; do
        [[ $name == *"$only"* && $name != */lib.sh && $name != tests/torture/run.sh && $name != *"*"* ]] && echo "${name%.c}"
    done
}
# The slow ones first, so that nobody waits for the last.
mapfile -t waiting < <(names tests/ui/*.sh tests/cli/*.sh tests/torture/*.sh)
mapfile -t computing < <(names tests/build/*.sh tests/parity/*.sh tests/parity/*_test.c deps-check fmt-check size-check \
    "${tsan[@]/#/tsan }" "${unit[@]/#/asan }" "${unit[@]}")
[ -n "$TESTS" ] && waiting=() computing=($TESTS)
all=("${waiting[@]}" "${computing[@]}")
while ((${#waiting[@]} + ${#computing[@]})); do
    if ((${#waiting[@]})) && may_begin 1; then
        begin "${waiting[0]}"
        waiting=("${waiting[@]:1}")
    elif ((${#computing[@]})) && may_begin 0; then
        begin "${computing[0]}"
        computing=("${computing[@]:1}")
    else
        reap
    fi
done
while ((${#running[@]})); do
    reap
done

# More than two failures are no accident.
if ((!${CHORUS_TEST_ALL:-0} && ${#failures[@]} <= 2)); then
    for name in "${failures[@]}"; do
        accident "$name" && once_more "$name"
    done
fi

passed=0 failed=0 skipped=0
skips= fails=
for name in "${all[@]}"; do
    log=$(log_of "$name")
    read -r p f s <<<"${sums[$name]}"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    ((f)) && fails+="  $name: $BUILD/check/${log##*/}"$'\n'
    while read -r line; do
        skips+="  $name: ${line#skipped }"$'\n'
    done < <(grep '^skipped ' "$log")
done
rm -rf "$BUILD/check" && cp -r "$logs" "$BUILD/check"
[ -n "$skips" ] && printf '\nskipped:\n%s' "$skips"
[ -n "$fails" ] && printf '\nfailed, and what was printed:\n%s' "$fails"
[ -n "$flakes" ] && printf '\nflaky:\n%s' "$flakes"
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0 && passed > 0))
