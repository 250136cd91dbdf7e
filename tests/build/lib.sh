# What the tests of the build share. A test calls ok or bad for each thing it looks at, skip for what
# can not be looked at here, and finish as its last act.

passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

ok()
{
    echo "ok $1" && passed=$((passed + 1))
}

bad()
{
    echo "FAILED $1: $2" && failed=$((failed + 1))
}

skip()
{
    echo "skipped $1: $2" && skipped=$((skipped + 1))
}

# check NAME WHY CONDITION...: ok where the command succeeds, else failed with why.
check()
{
    local name=$1 why=$2
    shift 2
    if "$@"; then
        ok "$name"
    else
        bad "$name" "$why"
    fi
}

finish()
{
    echo "$passed passed, $failed failed, $skipped skipped"
    ((failed == 0))
    exit
}
