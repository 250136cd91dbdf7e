# The documents name what there is: every key, command, column and variable, no file that is not in the tree, no function
# that is not in the source; and the commands of the first hour do what they say.
tree=$PWD
. "${BASH_SOURCE%/*}/lib.sh"
design=$tree/docs/design.md
export CHORUS_FAKE=only

# section HEADING [PAGE]: the lines from a heading to the next one; # in a block of commands begins a comment
section()
{
    awk -v heading="$1" '/^ *```/ { block = !block }
        /^#/ && !block { inside = $0 ~ "^#+ " heading "$" } inside' "${2:-$design}"
}

# all_named NAME SECTION WORD...: each word stands in the section in backquotes, alone or first
all_named()
{
    local name=$1 text missing="" word
    text=$(section "$2")
    shift 2
    (($# > 2)) || missing=" no words"
    for word; do
        grep -qE "\`$word[\` ]" <<<"$text" || missing+=" $word"
    done
    if [ -z "$missing" ]; then ok "$name"; else fail "$name" "missing:$missing"; fi
}

all_named "every key of an experiment" Keys $("$CHORUS" help keys | sed -nE 's/^  ([a-z_0-9]+) .*/\1/p' | grep -v chorus)
all_named "every command" Commands $("$CHORUS" help | sed -nE 's/^  ([a-z]+) .*/\1/p') go stop note

# columns FILE NAME [CUT]: the header of a file is the block below "NAME:", or "then:" for sweep.csv
columns()
{
    local want got
    want=$(sed -n "/^$2/,\$p" "$design" | awk '/^```/ { if (inside) exit; inside = 1; next } inside' | tr -d '\n')
    got=$(head -n 1 "$1" | tr -d '\r')
    if [ "$want" = "${got#"$3"}" ]; then ok "the columns of ${1##*/}"; else fail "the columns of ${1##*/}" "$got"; fi
}
exits 0 "$CHORUS" run tiny.ini mode=ensemble members=2 epochs=1 --quiet
run=$(cat out)
for file in run epochs members devices steps; do
    columns "$run/$file.csv" "$file.csv:"
done
exits 0 "$CHORUS" run tiny.ini lr=0.1,0.2 epochs=1 --name two --quiet
columns results/sweeps/two/sweep.csv "sweep.csv has" "cell,run,state,reason,lr,"
all_named "every state" States waiting running paused stopped done diverged oom failed skipped dead broken

# Links to files of the tree, and to headings of them.
slug()
{
    sed -nE 's/^#+ //p' "$1" | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}
cd "$tree" || exit 1
broken="" links=0
for page in *.md docs/*.md experiments/*.md results/*.md tests/*.md tests/gpu/*.md; do
    while read -r link; do
        file=${link%%#*} anchor=""
        [[ $link == *'#'* ]] && anchor=${link#*#}
        target=$(realpath -m --relative-to=. "$(dirname "$page")/$file")
        [ -z "$file" ] && target=$page
        links=$((links + 1))
        [[ $target != ..* && -e $target ]] || broken+=" $page:$link"
        [ -z "$anchor" ] || slug "$target" | grep -qx -- "$anchor" || broken+=" $page:$link"
    done < <(grep -oE '\]\([^)]+\)' "$page" | sed -E 's/^\]\(//; s/\)$//' | grep -vE '^[a-z]+://')
done
if [ -z "$broken" ] && ((links > 20)); then ok "links lead somewhere"; else fail "links lead somewhere" "$links:$broken"; fi

# The two walks name functions.
missing="" functions=0
for name in $(section "The way of a.*" | grep -oE '`[a-z]+(_[a-z]+)*`' | tr -d '`' | sort -u); do
    functions=$((functions + 1))
    grep -rqE "[ *(>]$name\(|\b$name\)\(" src ui || missing+=" $name"
done
if [ -z "$missing" ] && ((functions > 40)); then
    ok "the functions of the walks"
else
    fail "the functions of the walks" "$functions:$missing"
fi
missing=""
for name in $(grep -oE '`[a-z]+\.h`' docs/design.md | tr -d '`' | sort -u); do
    find src ui -name "$name" | grep -q . || missing+=" $name"
done
if [ -z "$missing" ]; then ok "the headers of the rooms"; else fail "the headers of the rooms" "missing:$missing"; fi

# ---- the first hour ----

hacking=$tree/docs/hacking.md
# In backquotes outside of blocks; a block of commands without its backquotes.
named=$(awk '/^ *```/ { block = !block; next } !block' "$hacking" | tr '\n' ' ' | grep -oE '`[^`]+`' | tr -d '`')
blocks=$(awk '/^ *```/ { block = !block && /sh$/; next } block' "$hacking")
missing="" files=0
for file in $(grep -xE '(src|ui|tests|docs|make)/[^ ]+' <<<"$named" | grep -vE 'NAME|hello' | sort -u) \
    $(grep -oE 'bash tests/[^ ]+' <<<"$named $blocks" | grep -v hello | cut -d ' ' -f 2 | sort -u); do
    files=$((files + 1))
    [ -e "$file" ] || missing+=" $file"
done
if [ -z "$missing" ] && ((files > 80)); then
    ok "the files of hacking.md"
else
    fail "the files of hacking.md" "$files:$missing"
fi

# Functions stand there as name(); tables, types and constants by their words. greeting is the example's own.
missing="" functions=0 words=0
grep -rhoE --include=*.[chS] --include=*.cu --include=*.cpp --include=*.inc '[A-Za-z0-9_]+\(?' src ui tests | sort -u >"$work/source"
for name in $(grep -oxE '[a-z_0-9]+\(\)' <<<"$named" | tr -d '()' | sort -u); do
    functions=$((functions + 1))
    grep -qxF "$name(" "$work/source" || missing+=" $name()"
done
for name in $(grep -oxE '((enum|struct) )?[A-Za-z0-9]+(_[A-Za-z0-9]+)+' <<<"$named" | sed 's/.* //' | sort -u); do
    words=$((words + 1))
    [ "$name" = KEY_GREETING ] || grep -qxE "$name\(?" "$work/source" || missing+=" $name"
done
if [ -z "$missing" ] && ((functions > 40 && words > 30)); then
    ok "the functions and tables of hacking.md"
else
    fail "the functions and tables of hacking.md" "$functions, $words:$missing"
fi

missing="" rooms=0
for target in $(grep -oE 'make [a-z][a-z -]+' <<<"$named
$blocks" | cut -d ' ' -f 2- | sed 's/ -.*//' | tr ' ' '\n' | grep -vx build | sort -u); do
    grep -qE "^([a-z]+ )*$target( [a-z]+)*:" Makefile || missing+=" make $target"
done
while read -r room only; do
    rooms=$((rooms + 1))
    ls tests/unit/"${room#ROOM=}"/*"${only#ONLY=}"*_test.c tests/parity/"${room#ROOM=}"_*"${only#ONLY=}"*_test.c 2>/dev/null |
        grep -q . || missing+=" $room $only"
done < <(grep -oE 'ROOM=[a-z/]+( ONLY=[a-z]+)?' "$hacking" | sort -u)
for program in $(grep -oE 'build/tests/[a-z_/]+' <<<"$blocks" | sort -u); do
    [ -e "${program#build/}.c" ] || missing+=" $program"
done
if [ -z "$missing" ] && ((rooms > 10)); then
    ok "what hacking.md makes and tests"
else
    fail "what hacking.md makes and tests" "$rooms:$missing"
fi

mkdir "$work/hour"
{
    echo "set -e"
    section "Run without mathematics" "$hacking" | awk '/^```/ { block = !block; next } block'
    section "See what happens" "$hacking" | awk '/^```/ { block = !block; next } block'
} | sed -E 's#build/chorus#"$CHORUS"#g' >"$work/hour/commands"
cd "$work/hour" || exit 1
unset CHORUS_FAKE
CHORUS=$CHORUS TMPDIR=$work/hour timeout 100 bash commands >out 2>err </dev/null || fail "the commands of hacking.md" "$(tail -n 5 err)"
results=$(ls -d tmp.*)
check "a run that failed" grep -q '^exit code 1$' out
check "a sweep" test -s "$results/sweeps/two/sweep.csv"
check "a frame" grep -q '^╭ log ' out
check "a trace" grep -qE '^[0-9:.]+ [0-9/]+ engine' err
check "a trace of a screen" grep -qE '^[0-9:.]+ [0-9/]+ ui' out
until_true 60 state_is "$(ls -d "$results"/2* | tail -n 1)" done
cd "$tree" || exit 1

# ---- variables ----

# Those that C reads stand there as words, those of scripts behind $; what a macro is called is none.
kind='(CHORUS|HARM|FUZZ)_[A-Z_]+'
variables()
{
    grep -rhoE --include=*.c --include=*.h --include=*.cpp --include=*.py "[\"']$kind[\"'=]" src ui tests | grep -oE "$kind"
    grep -rhoE --include=*.sh "\\$\{?$kind" tests make | grep -oE "$kind"
}
# The first cell of a row may have two.
tables=$({
    section Environment
    section "Variables of tests" tests/README.md
} | grep '^|' | cut -d '|' -f 2 | grep -oE "$kind" | sort)
read_there=$(variables | sort -u)
check "variables are in one table" test -z "$(uniq -d <<<"$tables")"
check "and there are many" test "$(wc -l <<<"$read_there")" -gt 40
check "every variable that is read is in a table" test -z "$(comm -13 <(uniq <<<"$tables") - <<<"$read_there" | tr '\n' ' ')"
check "every variable of the tables is read" test -z "$(comm -23 <(uniq <<<"$tables") - <<<"$read_there" | tr '\n' ' ')"
cd "$work" || exit 1
finish
