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

# What a killed report leaves is replaced, at whatever point it was killed.
mkdir early && touch "early/manifest.txt.tmp-$dead"
exits 0 "$CHORUS" report one -o early
check "a report killed before its manifest is replaced" test -s early/index.html
check "without its drafts" test -z "$(find early -name '*.tmp-*')"
for left in "tables/old.csv.tmp-$alive" tables/mine.csv "mine/old.csv.tmp-$dead" ./manifest.txt; do
    rm -rf mixed && mkdir -p "mixed/${left%/*}" && touch "mixed/$left" "mixed/index.html.tmp-$dead"
    refused "but not with $left" "no report of chorus" "$CHORUS" report one -o mixed
done

# killed CALL N COMMAND...: at its Nth call of that kind
killed()
{
    local call=$1 n=$2
    shift 2
    {
        strace -f -o "$cache/calls" -e trace="$call" -e inject="$call:signal=SIGKILL:when=$n" "$CHORUS" "$@" >out 2>err
    } 2>/dev/null # bash says who was killed
    [ $? = 137 ]
}

# files FOLDER: all that a report has
files()
{
    (cd "$1" && find . -type f | sort)
}

# is_report FOLDER LIKE: whether it is whole and has the files of another one of the same runs, and no other
is_report()
{
    (cd "$1" && grep -E '^[0-9a-f]{64}  ' manifest.txt | sha256sum --quiet -c) && cmp <(files "$1") <(files "$2")
}

if strace -o "$cache/calls" true 2>"$cache/said"; then
    for at in fdatasync:1 fdatasync:7 rename:1 rename:2 rename:7; do
        for over in nothing whole; do
            rm -rf half
            [ $over = nothing ] || cp -r early half
            check "a report over $over is killed at $at" killed ${at%:*} ${at#*:} report one -o half --title other
            check "no draft has a draft" test -z "$(find half -name '*.tmp-*.tmp-*')"
            check "the next one replaces it" exits 0 "$CHORUS" report one -o half
            check "and has its own files alone" is_report half early
        done
    done
    # Files that only the earlier report has go, though the one that replaces it is killed.
    exits 0 "$CHORUS" run "${tiny[@]}" mode=ensemble members=2 devices=1 name=two --quiet
    for n in 1 2 7; do
        rm -rf half && exits 0 "$CHORUS" report two -o half
        check "a report over another is killed at rename:$n" killed rename $n report one -o half
        exits 0 "$CHORUS" report one -o half
        check "nothing of the other stays" is_report half early
        rm -rf half
        check "another one is killed there" killed rename $n report two -o half
        exits 0 "$CHORUS" report one -o half
        check "nothing of that stays" is_report half early
    done

    one=$(echo results/*-one-*)
    for verb in "tag one +best" "note one good"; do
        check "${verb%% *} is killed" killed rename 1 $verb
        check "and leaves a draft" test -n "$(find "$one" -name 'run.csv.tmp-*')"
        exits 0 "$CHORUS" $verb
        check "which the next ${verb%% *} removes" test -z "$(find "$one" -name 'run.csv.tmp-*')"
    done
else
    skip "killed at a system call" "strace cannot trace here"
fi
drafts "$(echo results/*-one-*)/run.csv" tag one +kept

finish
