# tests/ui/cost.sh [PAIRS [SECONDS]]: what the screens cost the run behind them. Runs with the screen and without it
# take turns; what turns without it differ by among themselves is the noise of the machine. Short and with
# wide limits here; `make check-all` wants what is promised: less than 1 % of the images a second, less than 5 % of a
# core. Where the machine is noisier than that the share of a core says it, which is counted and not timed.
. "${BASH_SOURCE%/*}/lib.sh"

if ! has_terminals; then
    skip "everything on terminals" "$lack"
    finish
fi
strict=${CHORUS_TEST_ALL:-0}
pairs=${1:-$((strict ? 5 : 2))} seconds=${2:-$((strict ? 8 : 1))}
unset CHORUS_FAKE
minutes=$(awk -v s=$seconds 'BEGIN { printf "%.5f", s / 60 }')
# Threads that wait for each other spin, the longer the more others compute here: one has nobody to wait for.
threads=$( ((strict)) || echo threads=1)

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

# turn screen|plain FILE: a line of cost.py's more in it
turn()
{
    local show=--quiet
    [ "$1" = screen ] && show=--tui
    rm -rf turned
    python3 "$here/cost.py" $1 turned env LD_PRELOAD=$draws "$CHORUS" run tiny.ini $show model=lenet batch=128 train_limit=12000 \
        test_limit=1000 epochs=100000 max_minutes=$minutes "on_end=touch $work/ended" $threads --results turned >>"$2"
}

turn plain warm
for i in $(seq $pairs); do
    ((strict)) && turn plain plain.0
    if ((i % 2)); then
        turn screen screen.1 && turn plain plain.1
    else
        turn plain plain.1 && turn screen screen.1
    fi
done
# of FILE COLUMN: its median
of()
{
    cut -d' ' -f$2 "$1" | sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# ratio COLUMN A B: the median of the pairs' ratios; they stay in ./ratios
ratio()
{
    paste -d' ' "$2" "$3" | awk -v c=$1 '{ printf "%.4f\n", $c / $(c + 3) }' >ratios
    of ratios 1
}
speed=$(ratio 1 screen.1 plain.1) work=$(ratio 2 screen.1 plain.1) core=$(of screen.1 3)
echo "images a second with the screen and without: $speed; work for an image: $work; of a core: $core %"
# What it computes for an image is the same whoever else computes here; how soon it does that is not.
check "the screen takes $core % of a core" test "${core%.*}" -lt $((strict ? 5 : 15))
check "an image takes $work times the work" awk -v w=$work "BEGIN { exit !(w < $( ((strict)) && echo 1.02 || echo 1.3)) }"
if [ -s draws ]; then
    check "$(cat draws) frames in a second" test "$(cat draws)" -le 21
    check "$(cat writes) system calls for a picture" test "$(cat writes)" -le 20
else
    skip "frames in a second" "nothing counts them here: $(head -n 1 draws.err)"
fi
if ((strict)); then
    # Threads that train and wait for the one whose core was taken lose as much time together, and no more.
    check "so of the images a second the screen takes at most $core %" awk -v c=$core 'BEGIN { exit !(c < 1) }'
    # Of two medians of the same thing.
    ratio 1 plain.0 plain.1 >/dev/null
    noise=$(sort -g ratios | awk '{ v[NR] = $1 } END { printf "%.4f", (v[int(3 * (NR - 1) / 4) + 1] - v[int((NR + 3) / 4)]) / 2 }')
    echo "images a second without it, twice: $(paste -sd' ' ratios)"
    if awk -v n=$noise 'BEGIN { exit !(n > 0.01) }'; then
        skip "images a second" "without the screen they differ by $noise already: this machine is too busy"
    else
        check "$speed of the images a second" awk -v s=$speed "BEGIN { exit !(s > 0.99) }"
    fi
fi
finish
