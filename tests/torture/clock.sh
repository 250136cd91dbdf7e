#!/bin/bash
# The wall clock jumps back and forth by up to decades while the program runs, in any of ten locales and in any time
# zone, and the disk is slow now and then. What must hold: runs and sweeps come to the same numbers as without all
# that, no time, rate or age is negative, CSV files have points in their numbers, commands that read results say the
# same, the workbench ends and gives its terminal back, each run has a folder of its own, and folders are in the order
# of their begin where no clock jumps.
shim=$PWD/tests/torture/shim
. tests/torture/lib.sh
. "$shim/lib.sh"
scenarios=4

# Language and charset. The machine makes one where it is first drawn, which takes a second or more each: where time is
# short the first four stand in for all.
languages=(C C.UTF-8 POSIX "de_DE ISO-8859-1" "fr_FR UTF-8" "tr_TR UTF-8" "ar_EG UTF-8" "hi_IN UTF-8" "ja_JP EUC-JP"
    "zh_CN GB18030")
((seconds < 60)) && [ -z "$CASE" ] && languages=("${languages[@]:0:4}" "${languages[@]:0:4}" C "de_DE ISO-8859-1")
zones=(UTC Europe/Berlin America/St_Johns Asia/Kathmandu Pacific/Apia Africa/Casablanca XYZ-14 XYZ+12 nonsense "")
mkdir "$cache/locale"

# locale_of "LANGUAGE CHARSET": its name, or C where there is none
locale_of()
{
    local name=${1/ /.}
    if [ "$name" != "$1" ] && ! [ -e "$cache/locale/$name" ]; then
        localedef -c -i "${1% *}" -f "${1#* }" "$cache/locale/$name" >/dev/null 2>&1 || name=C
    fi
    echo "$name"
}

# surround: draws where the program runs
surround()
{
    place=$(locale_of "${languages[RANDOM % ${#languages[@]}]}")
    where=(LOCPATH="$cache/locale" LC_ALL="$place" LANG="$place" TZ="${zones[RANDOM % ${#zones[@]}]}")
}

# draw: a clock that jumps, a slow disk, or both
draw()
{
    harm=("${where[@]}")
    ((RANDOM % 4)) && harm+=(HARM_CLOCK=$RANDOM) || harm+=(HARM_DISK=$((1 + RANDOM % 3000)))
    ((RANDOM % 4)) || harm+=(HARM_DISK=$((1 + RANDOM % 3000)))
}

# bad WORDS: with where it ran, and what it said
bad()
{
    echo "$1 (${harm[*]:1})"
    cat err
    return 1
}

# sane FILE...: rows are whole, and numbers that count or measure are neither negative nor written with a comma
sane()
{
    awk -F, '
        FNR == 1 {
            for (i = 1; i <= NF; i++)
                counts[i] = $i ~ /_seconds$|_per_second$|^images$|_images$|_bytes$|_acc$|^epoch|^step$/ && $i !~ /check$/
            fields = NF
            next
        }
        NF != fields { print FILENAME ": a row of " NF " fields, not " fields; wrong = 1 }
        {
            for (i = 1; i <= NF; i++)
                if (counts[i] && $i != "" && $i !~ /^[0-9]+([.][0-9]+)?(e[+-][0-9]+)?$/) {
                    print FILENAME ": " $i
                    wrong = 1
                }
        }
        END { exit wrong }' "$@"
}

start()
{
    local n=$((RANDOM % ${#starts[@]}))
    harm=()
    whole $n
    surround
    draw
    rm -rf results
    harmed ${starts[$n]} || bad "chorus ${starts[$n]}: it ended with $?" || return
    sane results/[12]*/*.csv && is_whole $n && return
    bad "chorus ${starts[$n]}: it ends otherwise"
}

# What is read says the same in the same language whatever the clock says; ages are never negative.
verb()
{
    local n=$((RANDOM % ${#verbs[@]}))
    surround
    harm=("${where[@]}")
    expect $n "$place"
    draw
    given
    harmed ${verbs[$n]} || bad "chorus ${verbs[$n]}: it ended with $?" || return
    came >came
    if ! diff came "$expected" || grep -E '(^| )-[0-9.]+ (s|min|h|d)\b' out || ! sane results/[12]*/*.csv; then
        bad "chorus ${verbs[$n]}"
    fi
}

# folders: in the order of their names, without results/
folders()
{
    ls -d results/[12]*/
}

# Three runs at once have three folders; three runs after each other have names in that order, in any time zone.
names()
{
    local n names
    surround
    draw
    rm -rf results
    for n in 1 2 3; do
        env LD_PRELOAD="$harm_so" "${harm[@]}" "$CHORUS" run tiny.ini $small epochs=1 </dev/null >/dev/null 2>err.$n &
    done
    wait
    cat err.[123] >err
    [ "$(folders | wc -l)" = 3 ] || bad "three runs at once have these folders: $(folders)" || return
    rm -rf results
    for n in 1 2 3; do
        surround
        env "${where[@]}" "$CHORUS" run tiny.ini $small epochs=1 name=r$n </dev/null >/dev/null 2>err
    done
    names=$(folders | sed -E 's/.*-r([123])-.*/\1/')
    [ "$names" = $'1\n2\n3' ] || bad "three runs have these folders: $(folders)"
}

# The workbench, some keys pressed in it, and beside a run.
screens=("--results results" "${starts[0]} --tui")
screen()
{
    local n=$((RANDOM % 2)) keys=
    harm=()
    surround
    draw
    ((n)) && rm -rf results || { given && keys=${walks[RANDOM % ${#walks[@]}]}; }
    python3 "$shim/screen.py" "$keys" env LD_PRELOAD="$harm_so" "${harm[@]}" "$CHORUS" ${screens[n]} || bad "keys $keys" ||
        return
    sane results/[12]*/*.csv || bad "${screens[n]}"
}
walks=(12345 $'jj\r' $'s>s' 'v?' $'2\t\tj' ' j 3' ":ls"$'\r')

torture start start
torture verb verb
torture names names
if has_terminals; then
    torture screen screen
else
    skip "screen" "$lack"
fi
finish
