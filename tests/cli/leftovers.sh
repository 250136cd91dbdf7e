# What killed programs left half made is removed by the next one that meets it; what a living program
# still needs, what another machine's may need, and what is the user's stays.
. "${BASH_SOURCE%/*}/lib.sh"

sleep 0 &
gone=$!
wait $gone
dead=$(mark $gone) alive=$(mark $$) elsewhere=other_machine-$gone
tiny=(tiny.ini train_limit=200 test_limit=100 epochs=1)

# Runs that were begun.
mkdir -p results/.2026-a.tmp-{"$dead","$alive","$elsewhere"} results/.mine outside
touch results/.2026-a.tmp-{"$dead","$alive","$elsewhere"}/{run.csv,lock} results/.mine/run.csv outside/run.csv
ln -s "$work/outside" "results/.2026-b.tmp-$dead"
exits 0 "$CHORUS" run "${tiny[@]}" name=one --quiet
check "the folder of a run that was begun goes" test ! -e "results/.2026-a.tmp-$dead"
check "that of a living program stays" test -e "results/.2026-a.tmp-$alive/run.csv"
check "that of another machine too" test -e "results/.2026-a.tmp-$elsewhere/run.csv"
check "and any other" test -e results/.mine/run.csv
check "nothing is removed through a link" test -e outside/run.csv
exits 0 "$CHORUS" ls
check "ls does not list them" test "$(wc -l <out)" = 2

# Who waits for the queue.
mkdir -p "$cache/taking" "$cache/working"
touch "$cache"/{taking,working}/{"$dead","$elsewhere"}-0
exits 0 "$CHORUS" run "${tiny[@]}" name=later --queue
exits 0 "$CHORUS" queue run --quiet
check "a taker that is dead goes" test ! -e "$cache/taking/$dead-0" -a ! -e "$cache/working/$dead-0"
check "one of another machine stays" test -e "$cache/taking/$elsewhere-0" -a -e "$cache/working/$elsewhere-0"

# drafts NAME COMMAND...: of the file that it writes
drafts()
{
    local name=$1 at=${1%/*}
    [ "$at" = "$name" ] && at=.
    shift
    touch "$name".tmp-{"$dead","$alive","$elsewhere",notes} "$at/other.tmp-$dead"
    exits 0 "$CHORUS" "$@"
    check "${name##*/}: a draft goes" test ! -e "$name.tmp-$dead"
    check "${name##*/}: others stay" test -e "$name.tmp-$alive" -a -e "$name.tmp-$elsewhere" \
        -a -e "$name.tmp-notes" -a -e "$at/other.tmp-$dead"
}
drafts all.csv export one -o all.csv
mkdir there
drafts there/acc.svg plot one -o there/acc.svg
drafts .w.safetensors weights one -o w.safetensors
drafts "$(echo results/*-one-*)/.predictions.safetensors" predict one

# A report waits under such names until all of it is there.
exits 0 "$CHORUS" report one -o report
touch "report/index.html.tmp-$dead" "report/tables/old.csv.tmp-$dead" "report/index.html.tmp-$alive"
exits 0 "$CHORUS" report one -o report
check "a report has no drafts of the dead" test -z "$(find report -name "*.tmp-$dead")"
check "but those of the living" test -e "report/index.html.tmp-$alive"
check "and none of its own" test "$(find report -name '*.tmp-*' -o -name '*.new' | wc -l)" = 1

finish
