# Signals of all kinds at random moments, several per program, to whatever trains, watches or shows. Held must be: the
# program ends with the code that `chorus help` promises, never by a crash; a terminal is left as it was; and what was
# stopped goes on to the same end as what nobody disturbed. hit.c sends them.
. "${BASH_SOURCE%/*}/lib.sh"

scenarios=5
export CHORUS_CACHE=$cache/own # nobody else is seen to compute
tiny="tiny.ini backend=fake train_limit=400 test_limit=40 valid=40 threads=1 --quiet"
run="run $tiny keep=last+best+every:1 epochs=3"
ends=($terms INT)
passing=(HUP PIPE CHLD CONT WINCH XFSZ URG "TSTP CONT")

# draw_plan: signals and moments in $plan, for the next 60 ms, or all of them before anything has begun
draw_plan()
{
    local n=$((RANDOM % 4 + 1)) span=$((RANDOM % 3 ? 400 : 4)) name
    plan=
    while ((n-- > 0)); do
        name=${passing[RANDOM % ${#passing[@]}]}
        ((RANDOM % 2)) && name=${ends[RANDOM % ${#ends[@]}]}
        for name in $name; do
            plan+="$((RANDOM % 2 ? RANDOM % span : RANDOM % 4)):$name "
        done
    done
    export CHORUS_FAKE_SCRIPT=step_ms=$((RANDOM % 3))
}

# hit ARGUMENTS...: the program with these signals; its code is in $code, what came is in ./out and ./err
hit()
{
    local on_terminal=
    [ "$1" = -t ] && on_terminal=-t && shift
    "$programs/hit" $on_terminal "$plan" "$CHORUS" "$@" >out 2>err </dev/null
    read -r code state sent <<<"$(tail -n 1 out)"
    sed -i '$d' out
    unset CHORUS_FAKE_SCRIPT
    [ "$state" = same ] && return
    echo "the terminal is spoiled or it hangs ($code $state); plan $plan: $*"
    return 1
}

# Whether the code is promised for the signals that came.
fine_code()
{
    case " $sent " in
    *" INT "*) ((code == 130)) && return ;;
    esac
    [[ " $sent " =~ \ (${terms// /|})\  ]] && ((code == 143)) && return
    ((code == 0)) && return
    echo "$* ended with $code after: $sent (plan $plan)"
    cat err
    return 1
}

newest()
{
    folder=$(ls -d results/2*/ 2>/dev/null | tail -n 1)
    folder=${folder%/}
}

weights_of()
{
    local at
    for at in last best; do
        "$CHORUS" weights "$1" --at $at -o weights.safetensors >/dev/null 2>err || cat err
        cksum <weights.safetensors
        rm -f weights.safetensors
    done
}

files_of()
{
    (cd "$1" && echo *) | sed 's/checkpoint.prev.safetensors//'
}

# like_whole RUN WHOLE: the same files, rows and weights as one that was not disturbed
like_whole()
{
    local file
    if [ "$(files_of "$1")" != "$(files_of "$2")" ]; then
        echo "it has $(files_of "$1")"
        return 1
    fi
    for file in epochs steps run; do
        diff <(without_times "$1/$file.csv") <(without_times "$2/$file.csv") || return
    done
    diff <(weights_of "$1") $2.weights
}

# go_on ARGUMENTS...: until it has succeeded, with signals at first
go_on()
{
    local tries
    for tries in 1 2 3; do
        ((code == 0)) && return
        [ $tries = 3 ] && plan= || draw_plan
        hit "$@" && fine_code "$@" || return
    done
    ((code == 0)) && return
    echo "$* does not succeed: $code"
    cat err
    return 1
}

one_run()
{
    local terminal=
    rm -rf results
    draw_plan
    if [ "$1" = -t ]; then
        terminal=-t
        plan+=" $((RANDOM % 400)):${ends[RANDOM % ${#ends[@]}]}" # a workbench does not end by itself
    fi
    hit $terminal $run ${terminal:+--tui} && fine_code run || return
    newest
    if [ -z "$folder" ]; then
        ((code)) && return
        echo "it succeeded without a folder"
        return 1
    fi
    if ((code == 0)) && ! state_is "$folder" done; then
        echo "it ended with 0 and is $(column "$folder" state); plan $plan"
        return 1
    fi
    state_is "$folder" done && code=0
    go_on resume @ --quiet && like_whole "$folder" whole
}

workbench()
{
    one_run -t
}

sweep()
{
    local board="$tiny epochs=1 lr=0.01,0.02 seed=1,2 --name board --jobs $((RANDOM % 2 + 1))"
    rm -rf results
    code=1
    if (($1 % 2)); then # twice before it begins: the second one finds nothing to stop
        plan="$((RANDOM % 4)):INT $((RANDOM % 7)):${terms##* }"
        hit run $board && fine_code run || return
    fi
    go_on run $board || return
    [ "$(ls -d results/2* | wc -l)" = 4 ] || {
        echo "there are $(ls -d results/2* | wc -l) runs of 4 cells"
        return 1
    }
    diff <(cells results) <(cells whole-board)
}

# What came of each cell, without the order in which they ran.
cells()
{
    without_times "$1/sweeps/board/sweep.csv" | sort
    for folder in "$1"/2*; do
        without_times "$folder/epochs.csv" | tail -n 1
    done | sort
}

queue()
{
    rm -rf results
    cp -r waiting results
    code=1
    go_on queue run --quiet || return
    [ "$(ls results/queue)" = "" ] && [ "$(ls -d results/2* | wc -l)" = 3 ] || {
        echo "of three items there are $(ls -d results/2* | wc -l) runs, and in the queue: $(ls results/queue)"
        return 1
    }
    for folder in results/2*; do
        state_is "$folder" done || "$CHORUS" resume "$folder" --quiet >out 2>err || cat err
        cmp <(without_times "$folder/epochs.csv") <(without_times whole/epochs.csv) || return
    done
}

# Who watches may come and go, also with the terminal: the run does not notice.
watch()
{
    local pid
    rm -rf results
    CHORUS_FAKE_SCRIPT=step_ms=$((RANDOM % 3 + 1)) "$CHORUS" $run >ran 2>&1 </dev/null &
    pid=$!
    until_true 60 eval 'newest; [ -e "$folder/run.csv" ]'
    draw_plan
    hit watch @ --quiet && sent=${sent//HUP/INT} && fine_code watch || {
        wait $pid
        return 1
    }
    wait $pid || {
        echo "the run ended with $?: $(cat ran)"
        return 1
    }
    like_whole "$folder" whole
}

exits 0 "$CHORUS" $run && newest && mv "$folder" whole
weights_of whole >whole.weights
rm -rf results
exits 0 "$CHORUS" run $tiny epochs=1 lr=0.01,0.02 seed=1,2 --name board && mv results whole-board
for name in a b c; do
    exits 0 "$CHORUS" $run name=$name --queue
done
mv results waiting

torture run one_run
torture workbench workbench
torture sweep sweep
torture queue queue
torture watch watch
finish
