# tests/torture/shim/lib.sh: sourced by the parts that preload harm.so: commands to harm, and what comes of them without
# harm. A part says in the array harm what is to go wrong, and draws that after it has made what is to be compared.

harm_so=$programs/harm.so
if ! [ -e "$harm_so" ]; then
    skip "everything" "harm.so is not built here"
    finish
fi
ulimit -c 0

small="backend=fake train_limit=400 test_limit=40 valid=40 threads=1 --quiet"
starts=("run tiny.ini $small epochs=2 max_minutes=9"
    "run tiny.ini $small epochs=2 mode=ensemble devices=2 members=3"
    "run tiny.ini $small epochs=1 lr=0.01,0.1"
    "run tiny.ini train_limit=400 test_limit=40 epochs=1 threads=2 --quiet")
verbs=("ls" "ls --json" "ls --since 2000-01-01" "ls tiny" "show @" "show one" "watch @" "compare @all" "plot @all"
    "plot @all -o out.svg" "plot one -o out.pdf" "export @all -o out.csv" "report one eight -o page" "predict eight"
    "ensemble eight" "weights one -o out.safetensors" "tag one +best" "note one text" "rm one"
    "resume one epochs=3 --quiet" "run --queue tiny.ini $small" "queue" "queue run --quiet" "data" "models"
    "models lenet" "help" "help lr" "help run" "devices" "run first lr=0.1,0.2 --dry-run"
    "bench backend=fake model=mlp --seconds 0.01")

# harmed COMMAND...: the program with that harm; its words are in out and err
harmed()
{
    env LD_PRELOAD="$harm_so" "${harm[@]}" timeout -s KILL 60 "$CHORUS" "$@" >out 2>err </dev/null
}

# done_runs: the folders of runs that have come to their end; a cell that found no memory stays beside its next try
done_runs()
{
    grep -l ',done,' results/[12]*/run.csv 2>/dev/null | sed 's/run\.csv$//'
}

# numbers: all that results say, but for times
numbers()
{
    local run files=()
    for run in $(done_runs); do
        files+=($(ls "$run"{run,epochs,members,steps,devices}.csv 2>/dev/null))
    done
    without_times "${files[@]}" </dev/null | sort
    ls results/queue 2>/dev/null
}

weights()
{
    local run
    for run in $(done_runs); do
        "$CHORUS" weights "$run" -o weights.safetensors --force >/dev/null 2>err || cat err
        cksum <weights.safetensors
    done | sort
}

# whole N: makes what the start N comes to, once
whole()
{
    [ -e "$cache/whole.$1" ] && return
    rm -rf results
    asks "start $1" ${starts[$1]}
    numbers >"$cache/whole.$1"
    weights >"$cache/weights.$1"
}

# is_whole N: results are as if there had been no harm
is_whole()
{
    diff <(numbers) "$cache/whole.$1" && diff <(weights) "$cache/weights.$1"
}

# given: results for the verbs, so old that their age stays
given()
{
    if ! [ -d "$cache/given" ]; then
        rm -rf results
        "$CHORUS" run tiny.ini $small epochs=2 name=one
        "$CHORUS" run tiny.ini $small epochs=2 lr=0.01,0.1
        "$CHORUS" run tiny.ini $small epochs=2 mode=ensemble devices=2 members=2 name=eight
        "$CHORUS" run --queue tiny.ini $small epochs=1
        sed -i 's/,20[0-9][0-9]-[0-9-]*T/,2001-01-01T/g' results/2*/run.csv
        cp -r results "$cache/given"
    fi >/dev/null 2>&1
    rm -rf results out.* page && cp -r "$cache/given" results
}

# came: what a verb printed, wrote and changed
came()
{
    sed -E 's/ *[0-9]+ (s|min|h|d)\b/ AGE/; s/[0-9,.]+ img/N img/; s/^fake .*/fake/; s/[1-9][0-9]* (GFLOP|on )/N \1/g
        s/results\/[12][^ ]*/RUN/; /^busy machine/d; /^run /s/ +/ /g' out # a head is as wide as the ages are
    cat out.* 2>/dev/null | cksum
    numbers
}

# expect N [NAME]: what the verb N does without harm, once for each name of surroundings
expect()
{
    expected=$cache/came.$1.$2
    [ -e "$expected" ] && return
    given
    asks "verb $1" ${verbs[$1]}
    came >"$expected"
}

# asks NAME COMMAND...: does it without harm, and notes how many allocations and threads it asks for
declare -A asked
asks()
{
    local name=$1
    shift
    harm+=(HARM_TALLY=tally)
    harmed "$@" || fail "chorus $* without harm" "it ended with $?: $(cat err)"
    asked[$name]=$(cat tally)
}
