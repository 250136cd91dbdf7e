# tests/ui/cost.sh [PAIRS [SECONDS]]: what the screens cost the run behind them. A run with the screen and one without
# it compute at the same time on one processor: what else the machine does makes both slower. Only time on a processor
# is judged. Few pairs and wide limits here; `make check-all` takes more of them: less than 1 % of a core for the
# screen, and the work for an image as without it, but for what the threads of a run take from each other's caches.
. "${BASH_SOURCE%/*}/lib.sh"

if ! has_terminals; then
    skip "everything on terminals" "$lack"
    finish
fi
strict=${CHORUS_TEST_ALL:-0}
pairs=${1:-$((strict ? 10 : 3))} seconds=${2:-2}
unset CHORUS_FAKE
minutes=$(awk -v s=$seconds 'BEGIN { printf "%.5f", s / 60 }')

# Counts how often curses is asked to draw, the most of any second, and the most system calls that a picture
# takes to the terminal; written when these grow.
cat >draws.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double at[64];
static int drawn, most, writes, most_writes;

static void note(const char *path, int n)
{
    FILE *f = fopen(path, "w");

    fprintf(f, "%d\n", n);
    fclose(f);
}

static void count(void)
{
    struct timespec t;
    double now;
    int n = 0;

    clock_gettime(CLOCK_MONOTONIC, &t);
    now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    at[drawn++ % 64] = now;
    for (int i = 0; i < 64; i++)
        n += at[i] > now - 1;
    if (n > most)
        note("draws", most = n);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    static ssize_t (*real)(int, const void *, size_t);

    real = real ? real : (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    writes += isatty(fd);
    return real(fd, bytes, n);
}

int doupdate(void)
{
    int (*real)(void) = (int (*)(void))dlsym(RTLD_NEXT, "doupdate");
    int before = writes, code;

    count();
    code = real();
    if (writes - before > most_writes)
        note("writes", most_writes = writes - before);
    return code;
}

int wrefresh(void *window)
{
    int (*real)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "wrefresh");

    count();
    return real(window);
}
C
draws=
if ${CC:-cc} -shared -fPIC -w -o draws.so draws.c -ldl 2>draws.err; then
    draws=$work/draws.so
fi

# turn screen|plain: a run in a folder of that name, and a line of cost.py's more beside it. Threads that wait for
# each other spin, the longer the more others compute here: one has nobody to wait for.
turn()
{
    local show=--quiet
    [ $1 = screen ] && show=--tui
    mkdir -p $1 && cd $1 && rm -rf turned || return
    python3 "$here/cost.py" $1 turned env LD_PRELOAD=$draws "$CHORUS" run ../tiny.ini $show model=lenet batch=128 \
        train_limit=12000 test_limit=1000 epochs=100000 max_minutes=$minutes "on_end=touch $PWD/ended" threads=1 \
        --results turned >>../$1.costs
    cd ..
}

for i in $(seq $pairs); do
    turn screen &
    turn plain
    wait
done
# of FILE COLUMN: its median
of()
{
    cut -d' ' -f$2 "$1" | sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# ratio COLUMN: the median of the pairs' ratios
ratio()
{
    paste -d' ' screen.costs plain.costs | awk -v c=$1 '{ printf "%.4f\n", $c / $(c + 3) }' >ratios
    of ratios 1
}
times=$(ratio 2) core=$(of screen.costs 3)
echo "images a second with the screen and without: $(ratio 1); work for an image: $times; of a core: $core %"
check "the screen takes $core % of a core" awk -v c=$core "BEGIN { exit !(c < $((strict ? 1 : 5))) }"
check "an image takes $times times the work" awk -v w=$times "BEGIN { exit !(w < $( ((strict)) && echo 1.05 || echo 1.2)) }"
if [ -s screen/draws ]; then
    check "$(cat screen/draws) frames in a second" test "$(cat screen/draws)" -le 21
    check "$(cat screen/writes) system calls for a picture" test "$(cat screen/writes)" -le 20
else
    skip "frames in a second" "nothing counts them here: $(head -n 1 draws.err)"
fi
finish
