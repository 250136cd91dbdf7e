# A run that is killed at a system call and resumed ends like a run that nobody killed: the same files, and in each
# of them the same but for times. strace kills it, at every call that changes something in the results folder.
. "${BASH_SOURCE%/*}/lib.sh"

calls=openat,write,rename,fsync,fdatasync,ftruncate,unlink,mkdir,flock
each=${KILLS:-$( ((${CHORUS_TEST_ALL:-0})) && echo 100000 || echo 10)} # points that a scenario tries
run="run tiny.ini backend=fake train_limit=400 test_limit=40 valid=40 keep=last+best+every:1 threads=1 --quiet"
tried=0

if ! strace -f -qq -o log -e inject=getppid:signal=SIGKILL true 2>/dev/null; then
    skip "kills at system calls" "strace cannot trace a program here"
    finish
fi

# points COMMAND...: the points at which it can be killed, a "CALL N" per line. strace counts per thread.
points()
{
    strace -f -qq -y -o log -e trace=$calls "$CHORUS" "$@" >out 2>err </dev/null || return
    awk '{
        call = substr($2, 1, index($2, "(") - 1)
        n = ++count[$1, call]
        if (/results\// && !(call == "openat" && /O_RDONLY/) && !seen[call, n]++)
            print call, n
    }' log
}

# Some of the lines that are read, evenly spread; from CHORUS_TEST_ALL=1 on all of them.
some()
{
    awk -v each=$each -v from=$RANDOM '{ line[NR] = $0 } END {
        step = NR > each ? NR / each : 1
        for (at = from / 32768 * step; at < NR; at += step)
            print line[int(at) + 1]
    }'
}

# killed CALL N COMMAND...: is killed where it makes that call for the N-th time, if it comes to it
killed()
{
    local call=$1 n=$2
    shift 2
    (strace -f -qq -o /dev/null -e trace="$call" -e inject="$call:signal=SIGKILL:when=$n" \
        "$CHORUS" "$@"; :) >out 2>err </dev/null # the shell inside says "Killed"
    tried=$((tried + 1))
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

# weights_of RUN: a checksum of the weights of each
weights_of()
{
    local at
    for at in $(checkpoints "$1"); do
        rm -f weights.safetensors
        "$CHORUS" weights "$1" --at "$at" -o weights.safetensors >/dev/null 2>err || cat err
        echo "$at $(cksum <weights.safetensors)"
    done
}

# whole_is RUN: what the others must be like
whole_is()
{
    rm -rf whole && cp -r "$1" whole
    weights_of whole >whole.weights
}

files_of()
{
    (cd "$1" && echo *) | sed 's/checkpoint.prev.safetensors//'
}

same_folder()
{
    local file
    if [ "$(files_of "$1")" != "$(files_of whole)" ]; then
        echo "  it has $(files_of "$1")"
        return 1
    fi
    for file in experiment.ini model.net; do
        cmp "$1/$file" whole/$file || return
    done
    for file in epochs members steps devices run; do
        [ -e whole/$file.csv ] && ! diff <(without_times "$1/$file.csv") <(without_times whole/$file.csv) && return 1
    done
    diff <(weights_of "$1") whole.weights
}

newest()
{
    folder=$(ls -d results/*/ 2>/dev/null | tail -n 1)
    folder=${folder%/}
}

# Between a kill and the resume no reader may take it for damaged.
reads_well()
{
    "$CHORUS" show "$folder" >out 2>err && ! grep -qE "changed since|cannot be read" out err
}

bad()
{
    failures=$((failures + 1))
    echo "  $name, killed at $at: $1"
}

# scenario NAME FUNCTION: the function is called with each point
scenario()
{
    local at count=0
    name=$1 failures=0
    while read -r at; do
        count=$((count + 1))
        $2 $at
    done < <(some <all_points)
    if ((failures)); then
        fail "$name" "$failures of $count kills of $(wc -l <all_points) points"
    else
        ok "$name: $count kills of $(wc -l <all_points) points"
    fi
}

kill_run()
{
    rm -rf results
    killed "$@" $run $settings
    newest
    [ -n "$folder" ] || return # it was not there yet
    reads_well || bad "it cannot be read: $(grep -hE 'changed|cannot' out err)"
    state_is "$folder" done || "$CHORUS" resume @ --quiet >out 2>err </dev/null || bad "no resume: $(cat err)"
    same_folder "$folder" >differs || bad "it ends otherwise: $(cat differs)"
}

# The resume too is killed, at another point, and the resume after it.
kill_thrice()
{
    local again
    rm -rf results
    killed "$@" $run $settings
    newest
    [ -n "$folder" ] || return
    for again in 1 2; do
        state_is "$folder" done || killed $(shuf -n 1 all_points) resume @ --quiet
    done
    state_is "$folder" done || "$CHORUS" resume @ --quiet >out 2>err </dev/null || bad "no resume: $(cat err)"
    same_folder "$folder" >differs || bad "it ends otherwise: $(cat differs)"
}

# The name alone takes it up again, from the moment on that anybody was told of the extension.
kill_extension()
{
    rm -rf results && cp -r finished results
    newest
    killed "$@" resume @ epochs=4
    grep -q "extended from" err && told=1 || told=0
    reads_well || bad "it cannot be read: $(grep -hE 'changed|cannot' out err)"
    "$CHORUS" resume @ --quiet >out 2>err </dev/null || bad "no resume: $(cat err)"
    if [ "$(column "$folder" epochs)" = 2 ]; then
        ((told)) && bad "it was told, and is finished"
        "$CHORUS" resume @ epochs=4 --quiet >out 2>err </dev/null || bad "no extension: $(cat err)"
    fi
    same_folder "$folder" >differs || bad "it ends otherwise: $(cat differs)"
}

settings="epochs=3"
points $run $settings >all_points
newest && whole_is "$folder"
scenario "a run" kill_run
scenario "a run, and its resumes" kill_thrice

settings="epochs=3 mode=ensemble devices=2 members=3"
rm -rf results
points $run $settings >all_points
newest && whole_is "$folder"
scenario "an ensemble" kill_run

# A cosine that was bent on its way to another end is marked in run.csv, also after a kill.
rm -rf results
exits 0 "$CHORUS" $run epochs=2 schedule=cosine && cp -r results finished
points resume @ epochs=4 --quiet >all_points
newest && whole_is "$folder"
check "the whole extension is marked as bent" grep -q "+extended" whole/run.csv
scenario "an extension of a finished run" kill_extension

echo "$tried kills"
finish
