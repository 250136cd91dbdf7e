#!/bin/bash
# tests/torture/run.sh: tortures the program for HOURS (1), shared by the parts of this folder or by those that ONLY
# names (ONLY=kills,flips), as many at a time as there are processors. What they did is added to counts.csv, where the
# tree is as it was committed, and the figures of docs/manual.md are made from there.

counts=tests/torture/counts.csv
page=docs/manual.md
BUILD=${BUILD:-build}

# In that page a line that links to tests/torture/PART.sh ends with a cell of how it went. Cases are counted from the
# last run in which one failed.
figures()
{
    awk -F, '
    function thousands(n) { return n < 1000 ? n : thousands(int(n / 1000)) "," sprintf("%03d", n % 1000) }
    FNR == NR {
        if (FNR > 1) {
            cases[$4] = $8 ? 0 : cases[$4] + $7
            newest[$4] = $1 ", " $2 ", " $3
            bad[$4] = $8 ? $8 " of " $7 " cases failed" : ""
        }
        next
    }
    match($0, /\((\.\.\/)?tests\/torture\/[a-z]+\.sh\)/) && /^\|.*\|$/ {
        part = substr($0, RSTART, RLENGTH - 4)
        sub(/.*\//, "", part)
        n = split($0, cell, "|")
        figure = bad[part] ? bad[part] : thousands(cases[part] + 0) " cases, none failed"
        $0 = substr($0, 1, length($0) - length(cell[n - 1]) - 1) " " \
             (part in newest ? figure " (" newest[part] ")" : "not counted yet") " |"
    }
    { print }' $counts $page
}

if [ "$1" = --figures ]; then # for the test that they are true
    figures
    exit
fi

all=() parts=()
for part in tests/torture/*.sh; do
    part=${part##*/} part=${part%.sh}
    [[ $part == @(lib|run) ]] || all+=("$part")
done
for part in ${ONLY//,/ }; do
    if [[ " ${all[*]} " != *" $part "* ]]; then
        echo "torture: there is no part $part; the parts are: ${all[*]}" >&2
        exit 2
    fi
    parts+=("$part")
done
((${#parts[@]})) || parts=("${all[@]}")
hours=${HOURS:-1}
refuse()
{
    echo "torture: $1" >&2
    exit 2
}
[[ $hours =~ ^([0-9]+\.?[0-9]*|\.[0-9]+)$ && $hours =~ [1-9] ]] ||
    refuse "HOURS=$hours is no number of hours; 0.1 is six minutes"
[[ $SEED =~ ^[0-9]*$ ]] || refuse "SEED=$SEED is no whole number"
[[ -z $CASE || $CASE =~ ^[a-z]+/[1-9][0-9]*$ ]] || refuse "CASE=$CASE names no case; run/17 is one"
seed=${SEED:-$((RANDOM + 1))}
jobs=$(nproc)
((jobs > ${#parts[@]})) && jobs=${#parts[@]}
each=$(awk -v hours="$hours" -v jobs=$jobs -v parts=${#parts[@]} \
    'BEGIN { s = hours * 3600 * jobs / parts; print s < 1 ? 1 : int(s) }')
# In memory, where there is plenty and programs may start there: on a disk most of a case is waiting for it to write.
room=$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1)
if [ -z "$TMPDIR" ] && ((${room:-0} > 8000000)) && ! findmnt -no OPTIONS /dev/shm | grep -qw noexec; then
    export TMPDIR=/dev/shm
fi
logs=$(mktemp -d) || exit 1
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$logs"; echo "Interrupted: nothing is counted."; exit 130' INT TERM HUP
cp "$BUILD/chorus" "$logs" # building meanwhile disturbs nothing
export CHORUS=$logs/chorus BUILD

machine=$(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo | tr , ' ')
commit=$(git rev-parse --short=8 HEAD 2>/dev/null)
clean=$([ -z "$CASE" ] && git diff --quiet HEAD -- . ":!$counts" ":!$page" 2>/dev/null && echo 1 || echo 0)
echo "seed $seed, $each s for each of: ${parts[*]}"
for part in "${parts[@]}"; do
    while (($(jobs -pr | wc -l) >= jobs)); do
        wait -n
    done
    (
        begun=$SECONDS
        # timeout also hands a signal on to all that the part has started
        SEED=$seed TORTURE_SECONDS=$each timeout -k 10 $((4 * each + 600)) bash "tests/torture/$part.sh" >"$logs/$part.log" 2>&1 </dev/null &
        trap 'kill $!; wait; exit' TERM
        wait $!
        echo $((SECONDS - begun)) >"$logs/$part.seconds"
        grep -vE '^(ok|FAILED) |passed, .* skipped$' "$logs/$part.log"
    ) &
done
wait

status=0
for part in "${parts[@]}"; do
    read -r cases failures < <(awk '/^torture / { n += $3; bad += $5 } END { print n + 0, bad + 0 }' "$logs/$part.log")
    if ! tail -n 1 "$logs/$part.log" | grep -q '^[1-9][0-9]* passed, 0 failed, '; then
        status=1
        ((failures)) || { failures=1 cases=$((cases + 1)); tail -n 20 "$logs/$part.log"; } # it ended in the middle
    fi
    printf '%-10s %9d cases %4d failed %6d s\n' "$part" "$cases" "$failures" "$(cat "$logs/$part.seconds")"
    ((clean && cases)) &&
        echo "$(date -u +%F),$commit,$machine,$part,$seed,$(cat "$logs/$part.seconds"),$cases,$failures" >>$counts
done
rm -rf "$logs"
if ((clean)); then
    page_now=$(figures) && printf '%s\n' "$page_now" >$page
    echo "Added to $counts; the figures of $page are made from there."
else
    echo "Not counted: the tree has changes, or it was one case."
fi
exit $status
