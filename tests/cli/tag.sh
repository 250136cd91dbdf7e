# chorus tag, note and rm, of runs that rest and of one that is at work.
. "${BASH_SOURCE%/*}/lib.sh"

says()
{
    grep -qE -- "$1" err
}

tags()
{
    column "$1" tags
}

first=$("$CHORUS" run tiny.ini epochs=1 name=one --quiet)
second=$("$CHORUS" run tiny.ini epochs=1 name=two --quiet)
third=$("$CHORUS" run tiny.ini epochs=1 name=three --quiet)

# Tags
check "a tag" exits 0 "$CHORUS" tag @ +paper
check "stands in run.csv" test "$(tags "$third")" = paper
check "two of several" exits 0 "$CHORUS" tag one two +draft +v2
check "in both" test "$(tags "$first")/$(tags "$second")" = "draft v2/draft v2"
check "one on, one off" exits 0 "$CHORUS" tag one -draft +paper
check "in their order" test "$(tags "$first")" = "v2 paper"
check "once more" exits 0 "$CHORUS" tag one +v2
check "is no change" test "$(tags "$first")" = "v2 paper"
check "by a filter" exits 0 "$CHORUS" tag tags=paper -paper +final
check "of both" test "$(tags "$first")/$(tags "$third")" = "v2 final/final"
exits 0 "$CHORUS" tag one
check "tag alone prints them" test "$(cat out)" = $'v2\nfinal'
exits 0 "$CHORUS" ls tags=final
check "ls finds and shows them" test "$(grep -c "final$" out)" = 2
exits 0 "$CHORUS" ls tags!=final
check "and those without" test "$(wc -l <out)" = 2
exits 0 "$CHORUS" show one
check "show tells them" grep -q "^  tags  *v2 final$" out
check "nothing else changed" test "$(column "$first" state)/$(rows "$first/run.csv")" = done/1
refused "no tag" "has a name behind its sign" "$CHORUS" tag @ +
refused "two words" "one word" "$CHORUS" tag @ "+a b"
refused "a tag that drives a terminal" "it holds a control character; a tag is one word" "$CHORUS" tag @ $'+\033[31m'
refused "on and off" "either put on or taken away" "$CHORUS" tag @ +a -a
refused "no run" "needs a RUN" "$CHORUS" tag +a
refused "a part of several runs' names" "give a longer part, or a filter" \
    "$CHORUS" tag 20 +a
refused "which takes none away either" "is part of the names of 3 runs" "$CHORUS" rm 20
refused "a word without its sign" "there is no run 'paper'" "$CHORUS" tag @ paper
check "says what a tag would be" grep -q "If it is a tag: chorus tag @ +paper$" err
if [ "$(id -u)" != 0 ]; then
    chmod a-w "$third" "$third/lock"
    exits 1 "$CHORUS" note "$third" "seen"
    check "a note that cannot be written says so" grep -q "^chorus: the note is not written: " err
    chmod u+w "$third" "$third/lock"
else
    skip "a note that cannot be written" "root may write everywhere"
fi
refused "too long" "more than 255 bytes" "$CHORUS" tag @ "+$(printf 'x%.0s' {1..300})"
check "which changed nothing" test "$(tags "$third")" = final
check "--help" exits 0 "$CHORUS" tag --help

# Notes
check "a note" exits 0 "$CHORUS" note one "lr too high, \"again\""
check "is printed" test "$("$CHORUS" note one)" = "lr too high, \"again\""
check "is found" test "$("$CHORUS" ls note=TOO | wc -l)" = 2
exits 0 "$CHORUS" note one two words
check "words are joined" test "$("$CHORUS" note one)" = "two words"
check "an empty one" exits 0 "$CHORUS" note one ""
check "removes it" test -z "$(column "$first" note)"
exits 0 "$CHORUS" note one
check "which is said" says "has no note"
refused "two lines" "one line" "$CHORUS" note one $'a\nb'
refused "too long a note" "more than 511 bytes" "$CHORUS" note one "$(printf 'x%.0s' {1..600})"
check "a note of 511 bytes" exits 0 "$CHORUS" note one "$(printf 'x%.0s' {1..511})"

# A run at work: its owner writes run.csv all the time, and keeps what users write.
exits 0 "$CHORUS" run tiny.ini epochs=100000 keep=last name=long --background --quiet && live=$(cat out)
column "$live" pid >run.pid
before=$(column "$live" epochs_done)
check "a tag on a run at work" exits 0 "$CHORUS" tag long +live +kept
check "is there at once" test "$(tags "$live")" = "live kept"
check "and a note" exits 0 "$CHORUS" note long "while it ran"
further()
{
    [ "$(column "$live" epochs_done)" -gt $((before + 2)) ]
}
check "it goes on" until_true 20 further
check "and keeps them" test "$(tags "$live")/$(column "$live" note)" = "live kept/while it ran"
for i in 1 2 3 4 5 6; do
    "$CHORUS" tag long "+t$i" 2>/dev/null &
done
for job in $(jobs -p); do
    wait "$job"
done
check "six at once lose nothing" test "$(tags "$live" | tr ' ' '\n' | grep -c '^t[1-6]$')" = 6
check "rm of a run at work" exits 1 "$CHORUS" rm long
check "is refused" says "stays where it is: chorus stop .* comes first"
check "and leaves it" test -e "$live/run.csv"
check "paused" exits 0 "$CHORUS" pause long
check "a tag while paused" exits 0 "$CHORUS" tag long -kept
check "is taken away" test "$(tags "$live" | grep -c kept)" = 0
kill -9 "$(cat run.pid)"
dead()
{
    "$CHORUS" ls state=dead 2>/dev/null | grep -q long
}
check "a killed run" until_true 5 dead
check "a tag on a dead run" exits 0 "$CHORUS" tag long +dead
check "and it goes on with it" exits 124 timeout -s INT 2 "$CHORUS" resume long
check "with all of them" test "$(tags "$live" | tr ' ' '\n' | grep -cE '^(live|t[1-6]|dead)$')" = 8
check "and its note" test "$(column "$live" note)" = "while it ran"

# rm
exits 0 "$CHORUS" rm two
check "rm moves to the trash" test -e "results/trash/${second#results/}/run.csv" -a ! -e "$second"
check "prints where" test "$(cat out)" = "results/trash/${second#results/}"
check "and says how to undo it" says "undo: mv results/trash/${second#results/} $second"
eval "$(sed 's/.*undo: //' err)"
check "which undoes it" test "$(column "$second" state)" = done
cp -r "$second" elsewhere
exits 0 "$CHORUS" rm two
cp -r elsewhere "$second"
check "a name that is taken there" exits 0 "$CHORUS" rm two
check "gets a number" test -e "results/trash/${second#results/}-2/run.csv"
refused "what is in the trash" "in the trash already" "$CHORUS" rm "results/trash/${second#results/}"
check "is still a run" exits 0 "$CHORUS" show "results/trash/${second#results/}"
check "but not listed" test "$("$CHORUS" ls two 2>/dev/null | wc -l)" = 0
refused "several" "these are 2 runs" "$CHORUS" rm one three
check "--yes" exits 0 "$CHORUS" rm one three --yes
check "moves them all" test ! -e "$first" -a ! -e "$third"
refused "rm without a run" "needs a RUN" "$CHORUS" rm
refused "rm of none" "there is no run 'two'" "$CHORUS" rm two

finish
