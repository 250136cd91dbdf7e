# RUN names, filters, the order of lists, and lists of 10,000 runs.
. "${BASH_SOURCE%/*}/lib.sh"

# make_runs FOLDER N MODEL-RUN: N run folders like that one, with settings of their own: batch
# 20, 40, 60 by turns, lr 0.001 .. 0.01, seeds 0 .. N - 1, accuracies 0 .. 1, all different.
make_runs()
{
    awk -v to="$1" -v n="$2" -F, -v OFS=, '
    NR == 1 { head = $0; for (i = 1; i <= NF; i++) at[$i] = i }
    NR == 2 {
        for (k = 0; k < n; k++) {
            name[k] = sprintf("2026-11-%02d-%02d%02d%02d-%03d-many-%04x", 1 + int(k / 2400),
                int(k / 100) % 24, k % 60, int(k / 60) % 60, k % 1000, k)
            print to "/" name[k] | "xargs mkdir -p"
        }
        close("xargs mkdir -p")
        for (k = 0; k < n; k++) {
            $at["run"] = name[k]
            $at["batch"] = 20 * (1 + k % 3)
            $at["lr"] = 0.001 * (1 + k % 10)
            $at["seed"] = k
            $at["best_test_acc"] = (k * 7919 % 10007) / 10007
            $at["sweep"] = k < 12 ? "grid" : ""
            $at["started_utc"] = substr(name[k], 1, 10) "T" substr(name[k], 12, 2) ":00:00.000Z"
            file = to "/" name[k] "/run.csv"
            print head >file
            print >file
            close(file)
        }
    }' "$3/run.csv"
}

listed() # names, of the last command
{
    awk 'NR > 1 { print $1 }' out
}

count()
{
    exits 0 "$CHORUS" ls "$@"
    listed | wc -l
}

run=$("$CHORUS" run tiny.ini epochs=3 --quiet) || fail "a run" "$run"
export CHORUS_RESULTS=$work/many
mkdir many
make_runs many 60 "$run"
cp -r "$run" "many/2026-12-01-000000-000-other-ffff"
cp "$run/epochs.csv" many/2026-11-01-000000-000-many-0000

# Filters, against what awk made of the same numbers.
for case in "batch=20:20" "batch=20,40:41" "batch!=40:40" "lr=0.001:6" "lr=1e-3:6" "lr<0.003:12" \
    "lr<=0.003:18" "lr>=0.009:13" "lr=0.002..0.004:18" "seed=..9:11" "seed=50..:10" "grid:12" \
    "many:60" "other:1" "model=tiny:61" "sweep=grid:12" "sweep=:49" "started_utc=2026-11-01:60" \
    "run=2026-12-01-000000-000-other-ffff:1" "mode=ensemble:0" "nonesuch:0" "@:1" "@3:1" "@best:1" \
    "@99:0" "momentum!=0.9:0" "model.width=3:0"; do
    got=$(count "${case%:*}")
    check "ls ${case%:*}" test "$got" = "${case##*:}"
done
check "filters combine" test "$(count batch=20 lr=0.001)" = 2
check "names unite" test "$(count other grid)" = 13
check "each run once" test "$(count grid grid @60 other)" = 13
check "names among what filters leave" test "$(count grid batch=40)" = 4
check "a sweep by its path" test "$(count many/sweeps/grid/sweep.csv)" = 12
mkdir -p elsewhere/sweeps/grid
refused "a sweep by the path of other results" "is no sweep of" \
    "$CHORUS" ls elsewhere/sweeps/grid --results many
check "not one of a run's name" test "$(count many/sweeps/other/sweep.csv)" = 0
check "none is none" test "$(count batch=20 batch=40)" = 0
check "which is said" grep -q "none of the 61 runs in .*/many matches batch=20 batch=40" err
check "@best among those that pass" \
    test "$("$CHORUS" show @best batch=20 --json | grep -o '"seed": [0-9]*')" = '"seed": 24'
best=$(column "$run" best_epoch)
row=$(awk -F, -v e="$best" '$1 == e { print $8 }' "$run/epochs.csv")
check "a metric of the best epoch, from epochs.csv" test "$(count "train_loss=$row")" = 2
last=$(awk -F, 'END { print $8 }' "$run/epochs.csv")
check "of the last epoch" test "$(count "last.train_loss=$last")" = 2

# On 80 columns what differs stays.
if has_terminals; then
    cat >narrow.py <<'PY'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.execv(sys.argv[1], sys.argv[1:])
seen = b""
while True:
    try:
        got = os.read(fd, 4096)
    except OSError:
        break
    if not got:
        break
    seen += got
print(seen.decode().replace("\r", ""), end="")
PY
    python3 narrow.py "$CHORUS" ls >narrow
    check "80 columns" test "$(wc -L <narrow)" -le 80
    check "what differs stays" grep -qE "^run .* batch  +lr .* best acc  picked on" narrow
    check "what is the same goes" eval '! grep -qE "data-parallel|synthetic" narrow'
    check "and is named" grep -q "^no room for .*data.*: a pipe shows all" narrow
    check "names go without their time" grep -qE "^[a-z][a-z0-9]*-[0-9a-f]{4} " narrow
    for batch in 20 40; do
        exits 0 "$CHORUS" run tiny.ini lr=0.0$batch batch=$batch train_limit=4$batch epochs=1 --results long --quiet \
            --name what-came-of-a-long-evening-with-many-ideas-and-one-name
    done
    python3 narrow.py "$CHORUS" ls --results long >narrow
    check "80 columns of long names" test "$(wc -L <narrow)" -le 80
    check "they are cut before what differs goes" grep -qE "^run .* batch  +lr  +train_limit .* best acc  picked on" narrow
    check "their hash stays" test "$(grep -oE '[.][.][.][a-z-]*-[0-9a-f]{4} ' narrow | sort -u | wc -l)" = 2
    python3 narrow.py "$CHORUS" compare "$run" @ --results "${run%/*}" >narrow
    check "80 columns of compare" test "$(wc -L <narrow)" -le 80
    check "the result stays" grep -qE "^run .* test_acc" narrow
    check "what has no room is named" grep -qE "^no room for .*: --cols chooses, a pipe shows all" narrow
else
    skip "80 columns" "$lack"
fi

refused "an unknown column" "did you mean batch?" "$CHORUS" ls bach=20
refused "an unknown state" "did you mean done?" "$CHORUS" ls state=doen
refused "no number" "'x' is no number" "$CHORUS" ls 'lr<x'
refused "one of many" "'grid' is the sweep of 12 runs: " "$CHORUS" show grid
exits 0 "$CHORUS" run tiny.ini lr=0.02,0.03 epochs=1 --name both --results apart --quiet
exits 0 "$CHORUS" run tiny.ini epochs=1 --name both --results apart --quiet
refused "a run that has the name of a sweep is none of its cells" "'both' is the name of 3 runs: " \
    "$CHORUS" show both --results apart
refused "one of none" "no run matches 'batch=20 batch=40'" "$CHORUS" show batch=20 batch=40
refused "one where many match" "matches 20 runs: " "$CHORUS" weights batch=20 -o w
check "plot takes several" exits 0 "$CHORUS" plot seed=0 other
refused "a word that no name holds" "there is no run 'typo'" "$CHORUS" plot other typo

# Order.
exits 0 "$CHORUS" ls many --sort -best_test_acc -n 3
check "--sort -COLUMN -n: the best three" test "$(listed | sed 's/.*-//' | xargs)" = \
    "$(for k in {0..59}; do echo "$((k * 7919 % 10007)) $(printf %04x "$k")"; done |
        sort -rn | head -n 3 | cut -d ' ' -f 2 | xargs)"
exits 0 "$CHORUS" ls many --sort batch,-lr -n 4 # k % 3 = 0, k % 10 = 9 and then 8
check "several columns" test "$(listed | sed 's/.*-//' | xargs)" = "0009 0027 0012 0030"
exits 0 "$CHORUS" ls --sort last.train_loss
check "what has no value comes last" test "$(listed | head -n 2 | sed 's/.*-//' | xargs)" = "0000 ffff"
check "the column is shown" grep -q "last.train_loss" out
exits 0 "$CHORUS" ls many --sort -train_seconds -n 3
check "in few digits" test "$(grep -cE "[.]0*[1-9][0-9]{6}" out)" = 0
exits 0 "$CHORUS" ls -n 2
check "the newest are the last" test "$(listed | tail -n 1)" = 2026-12-01-000000-000-other-ffff
exits 0 "$CHORUS" ls --sort -started_utc -n 3
listed >a.txt
exits 0 "$CHORUS" ls --sort age -n 3
check "--sort age: the newest first" eval 'listed | cmp -s - a.txt'
exits 0 "$CHORUS" ls --sort -age -n 3
check "--sort -age: the oldest first" eval '! listed | cmp -s - a.txt'
refused "--sort of nothing" "did you mean best_test_acc?" "$CHORUS" ls --sort best_test_ac
check "seeds and sweeps are shown" grep -q "lr  seed .* sweep$" <<<"$("$CHORUS" ls)"

# Since when.
since()
{
    sed -i "2s/\(,\)[^,]*Z\(,[^,]*Z,\)/\1$(date -u -d "$2" +%Y-%m-%dT%H:%M:%S).000Z\2/" "$1/run.csv"
}
since many/2026-12-01-000000-000-other-ffff '2 hours ago'
for case in "3h:1" "90min:0" "1d:1" "2026-01-01:61" "2026-11-01T00:00:01Z:1" "1w:1"; do
    got=$(count --since "${case%:*}")
    check "--since ${case%:*}" test "$got" -ge "${case##*:}" -a "$got" -le $((${case##*:} + 60 * (${case##*:} > 0)))
done
until # midnight did not pass between them
    day=$(date -u +%F)
    since many/2026-12-01-000000-000-other-ffff "$day - 1 day 00:00:01"
    yesterday=$(count --since yesterday other) today=$(count --since today other)
    [ "$day" = "$(date -u +%F)" ]
do
    :
done
check "--since yesterday" test "$yesterday" = 1
check "not today" test "$today" = 0
refused "--since of nothing" "is no time: today" "$CHORUS" ls --since soon

# Names and tags that would drive a terminal.
cp -r "$run" $'many/x\033[31m' && sed -i $'2s/,,*$/,\033[32mtag,/' $'many/x\033[31m/run.csv'
exits 0 "$CHORUS" ls
check "control characters are shown" test "$(grep -c $'\033' out)" = 0
rm -r $'many/x\033[31m'

# Runs by the thousand. The index is made by the first list and gone by hand.
cpu() # milliseconds of both clocks of a list
{
    local TIMEFORMAT='%U %S'
    { time "$CHORUS" ls --results thousands >out 2>err; } 2>&1 | awk '{ print ($1 + $2) * 1000 }'
}
make_runs thousands 10000 "$run"
sleep 2.2 # what was just written is read again
cold=$(cpu)
check "10,000 runs" test "$(listed | wc -l)" = 10000
cp out cold
check "an index is made" test -s thousands/.index
warm=$(cpu)
for i in 1 2 3 4; do
    again=$(cpu)
    warm=$((again < warm ? again : warm))
done
check "the same list" test "$(cut -c1-100 cold | cksum)" = "$(cut -c1-100 out | cksum)"
check "warm $warm ms, cold $cold ms" test $((warm * 3)) -lt $((cold * 2))
# Half a second; a machine that does other things too, or a sanitized program, has more.
check "warm in time" test "${warm%.*}" -lt $((${CHORUS_TEST_ALL:-0} ? 500 : 3000))
if command -v python3 >/dev/null; then
    peak=$(python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' \
        "$CHORUS" ls --results thousands)
    case $CHORUS in
    *asan*) skip "memory" "of a sanitized program" ;;
    *) check "memory $peak MiB" test "$peak" -lt 200 ;;
    esac
else
    skip "memory" "there is no python3"
fi
printf 'damaged' >thousands/.index
check "a damaged index" exits 0 "$CHORUS" ls --results thousands
check "changes nothing" test "$(cut -c1-100 cold | cksum)" = "$(cut -c1-100 out | cksum)"
check "and is made anew" test "$(wc -c <thousands/.index)" -gt 100000
cp -r "$run" thousands/2026-12-01-000000-000-new-0000
exits 0 "$CHORUS" ls --results thousands
check "a new run appears" test "$(tail -n 1 out | cut -d ' ' -f 1)" = 2026-12-01-000000-000-new-0000

finish
