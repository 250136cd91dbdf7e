# What `make check` does with a test that fails: tests/run.sh over small trees of made-up tests. Each made-up
# test notes its tries in ./tries, and most of them pass at the second try, so that a try too many is seen.

. tests/build/lib.sh

runner=$PWD/tests/run.sh

# tree NAME...: a tree with these tests of those below, and the working directory in it
tree()
{
    local name
    cd "$work" && rm -rf tree && mkdir -p tree/tests/cli tree/make tree/build && cd tree || exit 1
    cp "$(type -P true)" build/chorus
    printf 'echo deps >>tries\necho no walls\n' >make/walls.sh
    printf 'echo fmt >>tries\necho no format\n' >make/format.sh
    printf 'echo size >>tries\necho no size\n' >make/size.sh
    for name in "$@"; do
        {
            printf 'echo %s >>tries\ntry=$(grep -c -x %s tries)\n' "$name" "$name"
            "$name"
            printf 'echo "ok all"\necho "1 passed, 0 failed, 0 skipped"\n'
        } >"tests/cli/$name.sh"
    done
}

# Fails at its first try while `beside` runs, and at any other try that it runs next to.
flaky()
{
    cat <<'SH'
for ((i = 0; i < 200 && try == 1; i++)); do
    [ -e beside ] && break
    sleep 0.05
done
if [ -e beside ]; then
    echo "FAILED a glass: it fell"
    touch fell
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
SH
}
beside()
{
    cat <<'SH'
touch beside
for ((i = 0; i < 200; i++)); do
    [ -e fell ] && break
    sleep 0.05
done
sleep 0.5
rm beside
SH
}
passes()
{
    :
}
first_try_prints() # first_try_prints WORDS
{
    printf '[ $try = 1 ] && echo "%s" && echo "0 passed, 1 failed, 0 skipped" && exit 1\n' "$1"
}
again()
{
    first_try_prints "FAILED a cup: try 1"
}
thrice()
{
    first_try_prints "FAILED a plate: try 1"
}
broken()
{
    printf 'echo "FAILED a bowl: try $try"; echo "0 passed, 1 failed, 0 skipped"; exit 1\n'
}
crash()
{
    printf '[ $try = 1 ] && ulimit -c 0 && kill -SEGV $$\n'
}
child()
{
    printf '[ $try = 1 ] && ulimit -c 0 && (kill -ABRT $BASHPID) ; [ $try = 1 ] && echo "0 passed, 1 failed, 0 skipped" && exit 1\n'
}
hang()
{
    printf '[ $try = 1 ] && exec sleep 100\n'
}
address()
{
    first_try_prints '==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x1'
}
undefined()
{
    first_try_prints 'src/main.c:1:2: runtime error: signed integer overflow'
}
threads()
{
    first_try_prints 'WARNING: ThreadSanitizer: data race (pid=7)'
}
leaks()
{
    first_try_prints '==7==ERROR: LeakSanitizer: detected memory leaks'
}

# tests VARIABLE=VALUE...: runs the tests of the tree into ./out
tests()
{
    env -u CHORUS_TEST_ALL -u CHORUS_TEST_LIMIT -u TSAN_TESTS -u TESTS BUILD=build JOBS=2 "$@" bash "$runner" >out 2>err </dev/null
    echo $? >status
}
tries() # tries TEST
{
    grep -c -x "$1" tries
}
# sums WANT: the last line, and the exit status that belongs to it
sums()
{
    check "$what: $1" "$(cat out err)" test "$(tail -n 1 out) $(cat status)" = "$1"
}
has() # has FILE WORDS
{
    check "$what: $1 has '$2'" "$(cat out)" grep -q -- "$2" "$1"
}
once() # once TEST...: each of them has one try
{
    local name
    for name in "$@"; do
        check "$what: $name has one try" "$(cat out)" test "$(tries "$name")" = 1
    done
    check "$what: nothing is flaky" "$(cat out)" test "$(grep -c flaky: out)" = 0
}

what="the tests of a list"
tree flaky passes
tests TESTS=tests/cli/passes.sh
sums "1 passed, 0 failed, 0 skipped 0"
check "$what: nothing else is tried" "$(cat tries)" test "$(cat tries)" = passes

what="a test that passes alone"
tree flaky beside passes
tests
sums "6 passed, 0 failed, 0 skipped 0"
check "$what: it has two tries, the others one" "$(cat tries)" test "$(sort tries | paste -sd' ')" = "beside deps flaky flaky fmt passes size"
sed -n '/^flaky:$/,$p' out >tail
has tail "tests/cli/flaky.sh failed first, and passed alone: build/check/tests-cli-flaky.sh.first.log"
has tail "FAILED a glass: it fell"
has build/check/tests-cli-flaky.sh.first.log "FAILED a glass: it fell"
has build/check/tests-cli-flaky.sh.log "^ok all"

what="one that fails twice, and one that does not"
tree broken again
tests
sums "4 passed, 1 failed, 0 skipped 1"
check "$what: two tries each" "$(cat tries)" test "$(tries broken) $(tries again)" = "2 2"
has out "^  tests/cli/broken.sh: build/check/tests-cli-broken.sh.log"
has build/check/tests-cli-broken.sh.first.log "a bowl: try 1"
has build/check/tests-cli-broken.sh.log "a bowl: try 2"
sed -n '/^flaky:$/,$p' out >tail
has tail again
check "$what: the other is not flaky" "$(cat tail)" test "$(grep -c broken tail)" = 0

what="three that fail"
tree again thrice broken
tests
sums "3 passed, 3 failed, 0 skipped 1"
once again thrice broken

what="a crash and a hang"
tree crash hang
tests CHORUS_TEST_LIMIT=1
sums "3 passed, 2 failed, 0 skipped 1"
once crash hang
has out "it did not end in time"

what="a sanitizer"
for pair in "address undefined" "threads leaks"; do
    # shellcheck disable=SC2086
    tree $pair
    tests
    sums "3 passed, 2 failed, 0 skipped 1"
    # shellcheck disable=SC2086
    once $pair
done

what="a crash below a test"
tree child
tests
sums "3 passed, 1 failed, 0 skipped 1"
once child

what="one beside a crash"
tree crash again
tests
sums "4 passed, 1 failed, 0 skipped 1"
check "$what: it has two tries, the crash one" "$(cat tries)" test "$(tries again) $(tries crash)" = "2 1"

what="walls and format"
tree passes
echo '[ "$(grep -c deps tries)" != 1 ]' >>make/walls.sh
echo '[ "$(grep -c fmt tries)" != 1 ]' >>make/format.sh
tests
sums "2 passed, 2 failed, 0 skipped 1"
once deps fmt

what="all of the tests"
tree again
tests CHORUS_TEST_ALL=1
sums "3 passed, 1 failed, 0 skipped 1"
once again
finish
