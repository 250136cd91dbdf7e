# Results with 10,000 runs: the first screen costs little more than the list of `ls`, and memory stays small.
. "${BASH_SOURCE%/*}/lib.sh"

if ! command -v python3 >/dev/null; then
    skip "thousands of runs" "there is no python3"
    finish
fi
one seed name=seed epochs=2
python3 - seed/2* <<'PY'
import csv, os, shutil, sys
rows = list(csv.reader(open(sys.argv[1] + "/run.csv")))
ini = open(sys.argv[1] + "/experiment.ini").read()
at = {name: i for i, name in enumerate(rows[0])}
for k in range(10000):
    name = "2026-11-%02d-%02d%02d%02d-%03d-many-%04x" % (1 + k // 2400, k // 100 % 24, k % 60, k // 60 % 60, k % 1000, k)
    row = list(rows[1])
    for key, value in (("run", name), ("seed", k), ("lr", 0.001 * (1 + k % 10)), ("best_test_acc", k * 7919 % 10007 / 10007)):
        row[at[key]] = str(value)
    os.makedirs("thousands/" + name)
    open("thousands/%s/experiment.ini" % name, "w").write(ini)
    csv.writer(open("thousands/%s/run.csv" % name, "w"), lineterminator="\n").writerows([rows[0], row])
PY
cat >cost.py <<'PY'
"""Milliseconds of processor and MiB at most of a command, and milliseconds of the clock."""
import resource, subprocess, sys, time
start = time.monotonic()
subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
took = time.monotonic() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int(1000 * (used.ru_utime + used.ru_stime)), used.ru_maxrss // 1024, int(1000 * took))
PY
sleep 2.2 # what was just written is read again
exits 0 "$CHORUS" ls --results thousands
script "wait runs  10,000" "save screen"
# Lists and first screens take turns: what else the machine does makes both slower. The best of each counts.
for i in 1 2 3 4 5; do
    python3 cost.py "$CHORUS" ls --results thousands >>lists
    python3 cost.py "$CHORUS" --results thousands --keys script --frame 160x45 >>firsts
done
least() # least COLUMN FILE
{
    cut -d' ' -f$1 $2 | sort -n | head -n 1
}
list=$(least 1 lists) first=$(least 1 firsts) soon=$(least 3 lists) took=$(least 3 firsts)
peak=$(cut -d' ' -f2 firsts | sort -n | tail -n 1)
check "the first screen of 10,000 runs" grep -q "many" screen
check "it costs $first ms, a list $list ms" test $((first * 2)) -lt $((list * 3))
check "it stands after $took ms, a list after $soon ms" test "$took" -lt $((soon * 3))
# What a person may do with them then.
script "wait runs  10,000" "keys G v" "calm" "keys v" "calm" "keys v /" "type test_acc>0.5" "calm" "keys Enter S s Enter Esc" \
    "calm" "keys *" "wait marked" "keys Enter 2" "calm" "keys 5" "calm" "keys 6" "calm" "keys 4" "sleep 1500" "save compared"
read -r all most _ <<<"$(python3 cost.py "$CHORUS" --results thousands --keys script --frame 160x45)"
check "and the rest of the screens, $all ms" test -s compared
# Counts are told as tables tell them.
script "wait runs  10,000" "keys *" "wait 10,000 marked" "keys d" "wait 9,997 more" "save question" "keys Esc"
exits 0 "$CHORUS" --results thousands --keys script --frame 160x45
check "a question says how many" grep -q "Move the marked 10,000 runs" question
exits 2 "$CHORUS" rm --results thousands lr=0..
check "a refusal says how many" grep -q "these are 10,000 runs (" err
exits 0 "$CHORUS" ls --results thousands lr=7
check "and an empty list" grep -q "^none of the 10,000 runs in thousands matches lr=7" err
case $CHORUS in
*asan*) skip "memory" "of a sanitized program" ;;
*)
    check "memory $peak MiB" test "$peak" -lt 200
    check "and with all of them marked, $most MiB" test "$most" -lt 200
    ;;
esac
finish
