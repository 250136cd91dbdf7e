# tests/torture/kit/calls.sh: sourced by the parts that disturb a program at a system call. strace lists the calls of a
# program that nobody disturbs; one of them is drawn, and strace disturbs another program there.
top=$PWD
. tests/torture/lib.sh

traced=$cache/traced.so
${CC:-cc} -shared -fPIC -o "$traced" "$top/tests/torture/kit/traced.c" 2>"$cache/err" || traced=

# trace LOG CALLS OPTIONS...: $with begins a command to which strace is attached, from its main on, for a minute at most
trace()
{
    with=(timeout -k 5 60 env TRACED="-f -qq -o $1 -e trace=getpgrp,$2 -e inject=getpgrp:retval=77 ${*:3}"
        LD_PRELOAD="$traced")
}

trace "$cache/log" exit_group -e inject=exit_group:signal=SIGKILL
("${with[@]}" sh -c :; [ $? = 137 ]) 2>"$cache/err" || traced=

# points CALLS AWK COMMAND...: runs it; the array $points says where it can be disturbed, as "CALL N": those lines of
# strace's log for which AWK holds. strace counts per thread. There are none where it cannot trace here.
points()
{
    local calls=$1 about=$2
    shift 2
    points=()
    if [ -z "$traced" ]; then
        "$CHORUS" "$@" >out 2>err </dev/null
        return
    fi
    trace "$cache/log" "$calls" -y
    "${with[@]}" "$CHORUS" "$@" >out 2>err </dev/null || return
    mapfile -t points < <(awk '{
        call = substr($2, 1, index($2, "(") - 1)
        if (!call || call == "getpgrp") # "": the end of a call that was there already
            next
        n = ++count[$1, call]
        if (('"$about"') && !seen[call, n]++)
            print call, n
    }' "$cache/log")
}

# any_point: one of them, in $call and $nth
any_point()
{
    read -r call nth <<<"${points[(RANDOM << 15 | RANDOM) % ${#points[@]}]}"
}

# Where a folder's checkpoints stand, as `weights --at` calls it. The one before the last depends on the time.
checkpoints()
{
    local file
    for file in "$1"/*.safetensors; do
        file=${file##*/}
        case $file in
        checkpoint.safetensors) echo last ;;
        best.safetensors) echo best ;;
        epoch-*) echo $((10#${file//[!0-9]/})) ;;
        esac
    done
}

# A checksum of each of a run's weights
weights_of()
{
    local at
    for at in $(checkpoints "$1"); do
        rm -f "$cache/weights"
        "$CHORUS" weights "$1" --at "$at" -o "$cache/weights" >/dev/null 2>"$cache/err" || cat "$cache/err"
        echo "$at $(cksum <"$cache/weights" 2>&1)"
    done
}

# Of all in the results folder, run by run, whatever must be the same: files, rows but for times, weights.
picture()
{
    local folder
    for folder in results/{.[!.],[!2]}*; do
        [ -e "$folder" ] && echo "$folder"
    done
    for folder in results/queue/*.ini results/sweeps/*/sweep.csv; do
        [ -e "$folder" ] && echo "$folder" && without_times "$folder"
    done
    for folder in results/2*/; do
        [ -d "$folder" ] || continue
        echo "a run:"
        ls -A "$folder" | grep -vF .prev.
        cat "$folder"/model.net
        grep -v "^# from the queue" "$folder/experiment.ini" # by a number of its file
        without_times "$folder"/*.csv
        weights_of "$folder"
    done
}

same_as_whole()
{
    picture >"$cache/picture" 2>&1
    cmp -s "$cache/picture" whole || {
        echo "it ends otherwise (<) than undisturbed (>):"
        diff "$cache/picture" whole
        return 1
    }
}

newest()
{
    folder=$(ls -d results/2*/ 2>/dev/null | tail -n 1)
    folder=${folder%/}
}
