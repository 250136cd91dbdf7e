# What a run or a sweep was told last is what becomes of it, whatever it was told before: pairs of words by
# the verbs, while a step waits that heeds none of them. What ends a process is no such word.
. "${BASH_SOURCE%/*}/lib.sh"

export CHORUS_FAKE=only
number=0
declare -A line=([go]="go" [pause]="pause" [cells]="stop cells" [epoch]="stop epoch" [stop]="stop step" [now]="stop now")
declare -A state=([go]=0 [pause]=1 [cells]=2 [epoch]=3 [stop]=4 [now]=5)
declare -A verb=([go]="go" [pause]="pause" [cells]="stop --after-cells" [epoch]="stop --after-epoch" [stop]="stop"
    [now]="stop --now")

# told LINE PATTERN: the program that works tells so in that line of its file
told()
{
    sed -n "$1p" "$CHORUS_CACHE"/working/* 2>/dev/null | grep -qE "$2"
}

# say WORD NAME: heard when it returns; by a process of its own, since the verb waits for more
say()
{
    if [ "$1 $2" = "go @" ] && told 4 "^go$"; then
        "$CHORUS" go "$2" --results "$dir" >>said 2>&1 </dev/null
        return
    fi
    "$CHORUS" ${verb[$1]} "$2" --results "$dir" >>said 2>&1 </dev/null &
    if [ "$2" = @ ]; then
        until_true 30 told 4 "^${line[$1]}$"
    else
        until_true 30 told 5 "^sweep [0-9]+ [0-9]+ ${state[$1]} .* $2$"
    fi
}

# begin ARGUMENTS...: its fifth step waits for $dir/gate
begin()
{
    dir=r$((number += 1))
    mkdir $dir
    : >said
    CHORUS_FAKE_SCRIPT="stuck=5 stuck_file=$PWD/$dir/gate held_file=$PWD/$dir/held" \
        env --default-signal=INT "$CHORUS" run tiny.ini "$@" --results $dir >talk 2>&1 </dev/null &
    pid=$!
    until_true 60 test -e $dir/held
}

# end CODE: lets the step go on; the program ends so
end()
{
    : >$dir/gate
    wait $pid
    code=$?
    [ $code = "$1" ] || echo "  it ended with $code instead of $1: $(tail -n 1 talk)"
    [ $code = "$1" ]
    local same=$?
    wait
    return $same
}

# paused CONDITION: lets the step go on, and stops what pauses then
paused()
{
    : >$dir/gate
    until_true 30 eval "$1" || return 1
    "$CHORUS" stop ${2-@} --results $dir >/dev/null 2>&1
    end 130
}

folder()
{
    ls -d $dir/2*/ | sed -n "${1-1}p" | sed 's:/$::'
}

# ended STATE WORDS: the first run, and why
ended()
{
    [ "$(column "$(folder)" state)" = "$1" ] && grep -q "$2" "$(folder)/run.csv"
}

run_becomes()
{
    case $1 in
    go) end 0 && ended done "" ;;
    pause) paused 'state_is "$(folder)" paused' ;;
    epoch) end 130 && ended stopped "stopped after epoch 1" ;;
    stop) end 130 && ended stopped "stopped at step 5" && test -e "$(folder)/checkpoint.safetensors" ;;
    now) end 130 && ended stopped "stopped at step 5 without a checkpoint" ;;
    esac
}

for first in go pause epoch stop now; do
    for last in go pause epoch stop now; do
        [ $first = $last ] && [ $first != epoch ] && continue
        begin epochs=2
        say $first @
        say $last @
        check "a run: $first, then $last" run_becomes $last
    done
done
check "what has obeyed a stop is no more told to go" exits 2 "$CHORUS" go @ --results $dir
check "which names resume" grep -q "it is stopped; chorus resume 2.* goes on with it" err

cells_of()
{
    echo "$(grep -c ,done, $dir/sweeps/s/sweep.csv) $(ls -d $dir/2*/ | wc -l)"
}

sweep_becomes()
{
    case $1 in
    go) end 0 && [ "$(cells_of)" = "2 2" ] ;;
    pause) paused '"$CHORUS" ls s --results $dir 2>&1 >/dev/null | grep -q "^sweep s: paused; "' s && [ "$(cells_of)" = "0 1" ] ;;
    cells) end 130 && [ "$(cells_of)" = "1 1" ] && ended done "" ;;
    epoch) end 130 && [ "$(cells_of)" = "0 1" ] && ended stopped "stopped after epoch 1" ;;
    stop) end 130 && [ "$(cells_of)" = "0 1" ] && ended stopped "stopped at step 5" ;;
    esac
}

for pair in "pause go" "cells go" "epoch go" "stop go" "cells pause" "epoch pause" "stop pause" "pause cells" \
    "epoch cells" "stop cells" "cells epoch" "pause epoch" "stop epoch" "cells stop" "epoch stop"; do
    first=${pair% *} last=${pair#* }
    begin epochs=2 lr=0.1,0.2 --name s
    say $first s
    say $last s
    check "a sweep: $first, then $last" sweep_becomes $last
done

# A word to a cell is for that cell, until its sweep is told something.
begin epochs=2 lr=0.1,0.2 --name s
say cells s
say pause @
check "a cell alone: cells, then pause of the cell" \
    paused '"$CHORUS" ls s --results $dir 2>&1 >/dev/null | grep -q "^sweep s: paused, then stops; "' s
begin epochs=2 lr=0.1,0.2 --name s
say epoch @
say go s
until_true 30 told 4 "^go$"
check "a cell alone: epoch, then go of the sweep" sweep_becomes go
begin epochs=2 lr=0.1,0.2 --name s
say pause s
say go @
check "a cell alone: pause of the sweep, then go of the cell, after which no other begins" \
    paused '[ "$(cells_of)" = "1 1" ] && told 5 "^sweep 2 0 1 "' s

# What ends the process changes no wish, and no word undoes it.
for signal in INT TERM; do
    begin epochs=2 lr=0.1,0.2 --name s
    say cells s
    kill -$signal $pid
    check "SIG$signal leaves the wish as it was" until_true 30 told 5 "^sweep 1 1 2 .* s$"
    say go s
    check "and go does not undo it" eval 'end $([ $signal = INT ] && echo 130 || echo 143) && ended stopped "stopped at step 5"'
    check "which go says" grep -q "nobody works on the sweep s; chorus resume s.* goes on" said
done
finish
