# A sweep of 20,000 cells that all have a result is gone through again: what is done a cell must not take
# all cells.
. "${BASH_SOURCE%/*}/lib.sh"

case $CHORUS in
*asan* | *tsan*) skip "copies of a sweep" "of a sanitized program" && finish ;;
esac
cat >copies.c <<'C'
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often a MiB or more was copied at once, into the file COPIES at the end. */
static atomic_long copies;

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    if (n >= 1 << 20)
        atomic_fetch_add(&copies, 1);
    return memmove(to, from, n);
}

static void __attribute__((destructor)) tell(void)
{
    FILE *out = getenv("COPIES") ? fopen(getenv("COPIES"), "w") : NULL;

    if (out && fprintf(out, "%ld\n", atomic_load(&copies)) > 0)
        fclose(out);
}
C
if ! ${CC:-cc} -O1 -fno-builtin -w -shared -fPIC -o copies.so copies.c 2>copies.err; then
    skip "copies of a sweep" "no compiler here: $(head -n 1 copies.err)"
    finish
fi

cells=20000
many()
{
    "$CHORUS" run tiny.ini backend=fake epochs=0 lr=lin:0.001:0.1:$((cells / 20)) repeats=20 --name many --quiet
}
told() { [ "$(wc -l <results/sweeps/many/sweep.csv)" -gt $cells ]; }
# Their names stand in its table while it runs; the ends that most of them never had are written by hand.
many >out 2>err </dev/null &
echo $! >many.pid
check "all cells of a sweep are known" until_true 60 told
kill -9 "$(cat many.pid)"
wait "$(cat many.pid)" 2>/dev/null
awk -F, '$3 == "waiting" { print "2026-11-28T17:00:00.000Z," $1 ",,failed,no reason" }' \
    results/sweeps/many/sweep.csv >>results/sweeps/many/ledger.csv
export COPIES=$PWD/copied
from=$(date +%s%N)
exits 0 env LD_PRELOAD="$PWD/copies.so" "$CHORUS" run tiny.ini backend=fake epochs=0 \
    lr=lin:0.001:0.1:$((cells / 20)) repeats=20 --name many --quiet
check "each has its end" test "$(grep -c ',failed,no reason,' results/sweeps/many/sweep.csv)" -gt $((cells / 2))
# A copy of all cells is 1.9 MB; there is one per look, at most 20 looks per second, and each writing of
# sweep.csv copies too. One per cell would be 20,000.
most=$((($(date +%s%N) - from) / 25000000 + 20))
check "all of them are copied $(cat copied) times, which $most looks and writings may do" test "$(cat copied)" -le $most
finish
