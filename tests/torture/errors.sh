# tests/torture/errors.sh: a call about a file fails, once or from then on, and the program goes on as well as it can.
# It does not crash and does not hang. Where it succeeds, it did all that it does undisturbed, or says what is missing.
# Where it fails, it says why, no row that it told is lost, and a second try without errors ends as an undisturbed one.
. "${BASH_SOURCE%/*}/kit/calls.sh"

scenarios=3
if [ -z "$traced" ]; then
    skip "errors of system calls" "strace cannot trace a program here"
    finish
fi

quick="tiny.ini backend=cpu train_limit=400 test_limit=40 valid=40 keep=last+best+every:1"
echo "threads = 1" >>tiny.ini
kept=$cache/kept # what it may keep between two commands, and would not make again
export CHORUS_CACHE=$kept

# Not close: strace would leave the file open, and locked, which no system does.
calls=openat,read,pread64,write,pwrite64,rename,fsync,fdatasync,ftruncate,unlink,mkdir,flock,newfstatat,mmap,getdents64,lseek
declare -A errors=( # FULL: one of $full
    [openat]="EIO EMFILE ENFILE ENOMEM EINTR EACCES EPERM EROFS FULL"
    [read]="EIO EINTR ENOMEM" [pread64]="EIO EINTR ENOMEM"
    [write]="EIO EINTR EROFS FULL" [pwrite64]="EIO EINTR EROFS FULL"
    [rename]="EIO EACCES EPERM EROFS FULL"
    [fsync]="EIO EINTR FULL" [fdatasync]="EIO EINTR FULL"
    [ftruncate]="EIO EINTR EPERM EROFS"
    [unlink]="EIO EACCES EPERM EROFS"
    [mkdir]="EIO EACCES EPERM EROFS FULL"
    [flock]="EINTR EAGAIN ENOMEM"
    [newfstatat]="EIO ENOMEM"
    [mmap]="ENOMEM EACCES ENFILE"
    [getdents64]="EIO ENOMEM"
    [lseek]="EIO"
)
full="ENOSPC EDQUOT EFBIG" # is waited for: a run goes on when there is room
declare -A words=(
    [EIO]="Input/output error" [EMFILE]="Too many open files" [ENFILE]="Too many open files in system"
    [ENOMEM]="Cannot allocate memory|out of memory" [EINTR]="Interrupted system call" [EACCES]="Permission denied"
    [EPERM]="Operation not permitted" [EROFS]="Read-only file system|can be written" [EAGAIN]='at work|^ *pid |"live": true'
    [ENOSPC]="No space left on device|disk is full" [EDQUOT]="Disk quota exceeded|quota is used up"
    [EFBIG]="File too large|exceeds the limit on its size"
)

reads=("ls --json" "show @" "compare @ @2" "compare alpha beta --over seed" "plot @" "plot @ @2 -o made/c.svg --force" "report alpha -o made/r"
    "predict @ --first 3" "predict @ --csv made/p.csv --force" "ensemble many" "weights @ -o made/w.safetensors --force" "data" "models"
    "models lenet" "queue" "export @all -o made/all.csv --force" "watch @" "run tiny.ini epochs=2 --dry-run")
writes=("tag @ +x" "note @ hello" "rm @2" "run tiny.ini epochs=2 --name q --queue" "queue rm 1" "queue move 1 1")
runs=("run $quick epochs=3" "run $quick epochs=2 mode=ensemble devices=2 members=3" "resume beta epochs=4"
    "run $quick epochs=1 lr=0.05,0.1 --name s" "queue run")

any_of()
{
    local words=($1)
    picked=${words[RANDOM % ${#words[@]}]}
}

# any_error: at one of $points, in $call, $nth and $error; $how is what strace calls it
any_error()
{
    any_point
    any_of "${errors[$call]}"
    [ $picked = FULL ] && any_of "$full"
    error=$picked lasts=
    # Nobody is interrupted forever.
    [ $error = EINTR ] || ((RANDOM % 2)) || lasts=+
    how="$call:error=$error:when=$nth$lasts"
}

# disturbed COMMAND...: ends with $status. One that waits for room that never comes is stopped.
disturbed()
{
    stopped=0
    any_error
    : >err
    trace "$cache/hit" "$call" -y -e inject="$how"
    "${with[@]}" "$CHORUS" "$@" >out 2>err </dev/null &
    while [ -n "$lasts" ] && kill -0 $! 2>/dev/null; do
        ((stopped)) || { grep -q "wait" err && kill -TERM $! 2>/dev/null && stopped=1; }
        sleep 0.02
    done
    wait $!
    status=$?
    ((status == 143 && stopped)) && status=1 # as it should
    cat out err >"$cache/said"
}

bad()
{
    echo "chorus $command"
    echo "$how, at $(grep INJECTED "$cache/hit" | sed -n 2p | cut -c 1-160)"
    echo "status $status: $(tail -n 3 "$cache/said")"
    echo "$*"
    return 1
}

# It names the error, in what it prints or on stderr. Where libc finds no locale it prints in ASCII.
says_why()
{
    grep -qE "${words[$error]}|broken: " "$cache/said" || grep -qE "(locale|gconv|zoneinfo).*INJECTED" "$cache/hit"
}

# What holds of every command
ends_well()
{
    if ((status >= 124)); then
        bad "it crashes or hangs"
    elif ((status && stopped == 0)) && ! grep -q "^chorus: [^ ]" err && ! says_why && ! grep -q "write(2<.*INJECTED" "$cache/hit"; then
        bad "it fails and does not say why"
    fi
}

again()
{
    "$CHORUS" "$@" >out 2>err </dev/null || bad "chorus $* fails then: $(cat err)"
}

# contents FOLDER...: of all files but what predictions leave for the next ones, and locks
contents()
{
    find "$@" -type f ! -name 'predictions.*' ! -name '.edit' ! -name '.lock' -exec cksum {} + 2>/dev/null | sort
}

fresh()
{
    rm -rf results made "$kept"
    mkdir made
    [ ! -d before ] || cp -r before results
}

# any_command OUTCOME COMMANDS...: one of them in $command, and $points, and in ./want what OUTCOME prints behind it
any_command()
{
    local outcome=$1 which at
    shift
    which=$((1 + RANDOM % $#)) command=${!which} at=$cache/$outcome.$which
    if [ ! -e "$at.points" ]; then
        fresh
        points $calls 1 $command || bad "undisturbed, chorus $command fails: $(cat out err)" || return
        $outcome >"$at.want"
        printf '%s\n' "${points[@]}" >"$at.points"
    fi
    mapfile -t points <"$at.points"
    cp "$at.want" want
    fresh
}

what_was_read()
{
    grep -v '^# expected time' out
    contents made | grep -v manifest.txt # with the time when it was made
}

# Right or not at all: nothing half, and the results as they were.
read_badly()
{
    any_command what_was_read "${reads[@]}" || return
    disturbed $command
    ends_well || return
    what_was_read >got
    if ((status == 0)); then
        cmp -s got want || says_why || bad "it succeeds, and prints otherwise: $(diff got want)" || return
    else
        contents made | grep -v manifest.txt | grep -vxFf want >got && bad "it leaves what is not whole: $(cat got)" && return 1
    fi
    contents results >got
    cmp -s got contents || bad "it changes the results: $(diff got contents)" || return
    again $command || return
    what_was_read >got
    cmp -s got want || bad "then it prints otherwise: $(diff got want)"
}

what_is_written()
{
    contents results | sed 's/\(trash.*\)-2\//\1\//' # where it cannot see that the name is free
}

same_items()
{
    sed -E 's/[0-9]+-([a-z]+\.ini)$/\1/' "$1" | sort
}

# Done or not done, and it says which.
write_badly()
{
    any_command what_is_written "${writes[@]}" || return
    disturbed $command
    ends_well || return
    what_is_written >got
    cmp -s got want && return # also where the error came behind the deed, and is told
    ((status)) || bad "it succeeds, and left: $(diff got want)" || return
    # A move is several renames.
    [[ $command == "queue move"* && $(same_items got) == "$(same_items contents)" ]] && return
    cmp -s got contents || bad "it fails, and changed: $(diff got contents)" || return
    again $command || return
    what_is_written >got
    cmp -s got want || bad "then it leaves: $(diff got want)"
}

# In no order: a cell that failed is begun once more, behind the others.
what_is_run()
{
    picture | sort
}

drop_others()
{
    local folder
    for folder in results/2*/; do
        state_is "$folder" done || rm -r "$folder"
    done
}

take_up()
{
    local folder file
    for file in results/queue/*.bad; do # whose network could not be read: it is put back
        [ ! -e "$file" ] || mv "$file" "${file%.bad}"
    done
    case $command in
    *--name*) again $command --failed && drop_others ;;
    queue* | resume*) again $command ;;
    esac || return
    for folder in results/2*/; do
        state_is "$folder" done || again resume "$folder" --quiet || return
    done
    # Where nothing had begun it begins now.
    [[ $command != run* || $(ls results | wc -l) != $(ls before | wc -l) ]] || again $command
}

run_badly()
{
    local told
    any_command what_is_run "${runs[@]}" || return
    disturbed $command
    ends_well || return
    told=$(grep -c '^epoch ' err)
    newest
    if [[ $command != *--name* && $command != queue* ]] && (($(rows "$folder/epochs.csv") < told)); then
        bad "it told $told rows and left $(cat "$folder/epochs.csv")" || return
    fi
    what_is_run >got
    cmp -s got want && return
    # A sheet of a sweep is made from its runs: what cannot be read is empty there, until it is made again.
    ((status)) || says_why || [[ $command == *--name* ]] ||
        bad "it succeeds, and ends otherwise (<): $(diff got want)" || return
    take_up || return
    what_is_run >got
    cmp -s got want || bad "then it ends otherwise (<): $(diff got want)"
}

exits 0 "$CHORUS" run $quick epochs=2 name=beta seed=1
for name in gamma delta; do
    exits 0 "$CHORUS" run $quick epochs=1 name=$name --queue
done
rm -f results/queue/.edit
cp -r results before
torture runs run_badly

fresh
exits 0 "$CHORUS" run $quick epochs=2 name=alpha
exits 0 "$CHORUS" run $quick epochs=2 name=many mode=ensemble devices=2 members=2
rm -rf before && cp -r results before
contents results >contents
torture reads read_badly
torture writes write_badly

finish
