#!/bin/bash
# Memory, threads and what else a process may use run out at a random moment: an allocation fails, once or from then
# on, no thread can be made, or a limit is set. What must hold: the command does what it was to do, or it says why not
# in one sentence and exits with 1. It never crashes. The terminal is as it was, results can be read, and what was cut
# short can be resumed to the same end as if nothing had happened.
shim=$PWD/tests/torture/shim
. tests/torture/lib.sh
. "$shim/lib.sh"
scenarios=4

# draw NAME: what is to go wrong, with what has that name
draw()
{
    local allocations threads once
    read -r allocations threads <<<"${asked[$1]}"
    ((RANDOM % 2)) && once= || once=+
    if ((threads && RANDOM % 8 == 0)); then
        harm=(HARM_THREADS=$((1 + RANDOM % threads))$once)
    else
        harm=(HARM_MEMORY=$((1 + (RANDOM * 32768 + RANDOM) % allocations))$once)
    fi
}

# ---- what must hold ----
# behaves CODE: the code is 0, or 1 with a sentence, or 143 where a run waits for room until it is stopped
behaves()
{
    (($1 == 0)) && return
    (($1 == 1)) && grep -qE '^chorus: |: the (run|sweep) ends here|^[^ ]* cannot be used .*: [^ ]' err && return
    (($1 == 2)) && grep -q '^chorus: .*: Too many open files' err && return # of a file that the command names
    (($1 == 143)) && grep -q 'waits until there is room' err && return
    # What the kernel or the loader ended before the program began is not the program's.
    (($1 >= 126)) && [[ ${harm[*]} == --* ]] && ! prlimit "${harm[@]}" "$CHORUS" --version >/dev/null 2>&1 && return
    echo "${harm[*]}: it ended with $1"
    cat err
    return 1
}

readable()
{
    "$CHORUS" ls >out 2>err && ! grep -v '^no runs in ' err && return
    echo "${harm[*]}: results cannot be read"
    cat err
    return 1
}

# ends_whole WHICH: what is in results goes on, where it has not ended, and then is as it is without harm
ends_whole()
{
    local resumed=@
    [ -e results/sweeps/tiny/sweep.csv ] && resumed="tiny --failed"
    ls -d results/[12]*/ >/dev/null 2>&1 || [ -e results/sweeps/tiny/sweep.csv ] || return 0 # it had not begun
    if [ "$(numbers)" != "$(cat "$cache/whole.$1")" ] && ! "$CHORUS" resume $resumed --quiet >out 2>err </dev/null; then
        echo "${harm[*]}: it cannot be resumed"
        cat err
        return 1
    fi
    is_whole $1 && return
    echo "${harm[*]}: it ends otherwise"
    return 1
}

start()
{
    local which=$((RANDOM % ${#starts[@]})) code
    harm=()
    whole $which
    draw "start $which"
    rm -rf results
    harmed ${starts[$which]}
    code=$?
    behaves $code && readable || return
    if ((code == 0)) && [[ ${starts[$which]} != *lr=* ]] && ! is_whole $which; then # a sweep has failed cells as results
        echo "${harm[*]}: it succeeds, and ends otherwise"
        return 1
    fi
    ends_whole $which
}

# does N CODE: as expect says, where the code is 0
does()
{
    (($2)) && return
    came >came
    # What could not be looked at is named, and why.
    diff came "$expected" >differs || grep -qE 'no memory|Cannot allocate|Too many open' out err && return
    echo "${harm[*]}: it differs"
    cat differs
    return 1
}

verb()
{
    local n=$((RANDOM % ${#verbs[@]})) code
    harm=()
    expect $n
    draw "verb $n"
    given
    harmed ${verbs[$n]}
    code=$?
    behaves $code && does $n $code && readable && return
    echo "chorus ${verbs[$n]}"
    return 1
}

limits=(--as=$((60 << 20)):$((400 << 20)) --data=$((1 << 20)):$((200 << 20)) --nofile=3:40 --nproc=1:20 --fsize=0:20000
    --stack=$((512 << 10)):$((16 << 20)) --memlock=0:65536)

# bound: draws a limit
bound()
{
    local range=${limits[RANDOM % ${#limits[@]}]}
    local from=${range#*=}
    local to=${from#*:}
    from=${from%:*}
    harm=("${range%%=*}=$((from + (RANDOM * 32768 + RANDOM) % (to - from)))")
}

limit()
{
    local n code
    harm=()
    if ((RANDOM % 2)); then
        n=$((RANDOM % ${#starts[@]}))
        whole $n
        bound
        rm -rf results
        limited ${starts[$n]}
        code=$?
        behaves $code && readable && ends_whole $n && return
        echo "chorus ${starts[$n]}"
    else
        n=$((RANDOM % ${#verbs[@]}))
        expect $n
        bound
        given
        limited ${verbs[$n]}
        code=$?
        behaves $code && does $n $code && readable && return
        echo "chorus ${verbs[$n]}"
    fi
    return 1
}

# limited COMMAND...: under the limit that harm says; its words go through pipes, which no limit on files cuts
limited()
{
    {
        {
            timeout --preserve-status -k 60 $([[ ${harm[0]} == --fsize* ]] && echo 2 || echo 60) prlimit "${harm[@]}" "$CHORUS" "$@" </dev/null
            echo $? >code
        } 2>&1 >&3 3>&- | cat >err
    } 3>&1 | cat >out
    return "$(cat code)"
}

# The workbench over results, or beside a run.
screens=("--results results" "${starts[0]} --tui")
screen()
{
    local n=$((RANDOM % 2)) keys= key
    harm=()
    for key in {1..6}; do
        keys+=${walk:RANDOM % ${#walk}:1}
    done
    ((n)) && keys= && whole 0
    if [ -z "${asked[screen $n]}" ]; then
        ((n)) && rm -rf results || given
        python3 "$shim/screen.py" "$keys" env LD_PRELOAD="$harm_so" HARM_TALLY=tally "$CHORUS" ${screens[n]}
        asked[screen $n]=$(cat tally)
    fi
    draw "screen $n"
    ((n)) && rm -rf results || given
    if ! python3 "$shim/screen.py" "$keys" env LD_PRELOAD="$harm_so" "${harm[@]}" "$CHORUS" ${screens[n]}; then
        echo "${harm[*]}, keys $keys: chorus ${screens[n]}"
        return 1
    fi
    readable && { ((n == 0)) || ends_whole 0; }
}
walk=$'12345?jkl\t\r '

torture start start
torture verb verb
torture limit limit
export HOME=$work/home CHORUS_FAKE=only XDG_CONFIG_HOME= XDG_STATE_HOME= XDG_DATA_HOME=
if has_terminals; then
    torture screen screen
else
    skip "screen" "$lack"
fi
finish
