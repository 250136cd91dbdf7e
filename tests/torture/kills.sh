# tests/torture/kills.sh: a program is killed where it makes a random one of the calls that change something, or at a
# random moment, and what it did is taken up again. Nothing is lost and nothing is done twice: the results end as those
# of a program that nobody killed, the same but for times. In between no reader takes them for damaged.
. "${BASH_SOURCE%/*}/kit/calls.sh"

scenarios=7
calls=openat,write,rename,fsync,fdatasync,ftruncate,unlink,mkdir,flock
changes='/results\// && !(call == "openat" && /O_RDONLY/)'
quick="tiny.ini backend=cpu train_limit=400 test_limit=40 valid=40 keep=last+best+every:1"
echo "threads = 1" >>tiny.ini

# fresh: the results as they were before
fresh()
{
    rm -rf results
    [ ! -d before ] || cp -r before results
}

# undisturbed COMMAND...: what is killed from now on
undisturbed()
{
    local begun
    command=("$@")
    fresh
    begun=$(now_ms)
    points $calls "$changes" "$@" || fail "the whole one" "$(cat out err)"
    ms=$(($(now_ms) - begun))
    picture >whole
}

# killed COMMAND...: at a point where there are some, else at a moment
killed()
{
    local call nth moment
    if ((${#points[@]})); then
        any_point
        at="$call $nth"
        trace /dev/null "$call" -e inject="$call:signal=SIGKILL:when=$nth"
        ("${with[@]}" "$CHORUS" "$@"; [ $? != 137 ])
    else
        moment=$((1 + RANDOM % (ms + ms / 8 + 1)))
        at="$moment ms"
        (timeout -s KILL "$((moment / 1000)).$(printf %03d $((moment % 1000)))" "$CHORUS" "$@"; [ $? != 137 ])
    fi >"$cache/out" 2>"$cache/err" </dev/null || hits=$((hits + 1)) # the shells inside say "Killed"
}

# counted FUNCTION: a case in which nothing was killed is none
counted()
{
    hits=0
    $1 || return
    ((hits)) || return 3
}

bad()
{
    echo "killed at $at: $*"
    return 1
}

# No reader takes for damaged what is there.
reads_well()
{
    "$CHORUS" "$@" >out 2>err && ! grep -qE "changed since|cannot be read|damaged" out err ||
        bad "chorus $* says: $(cat out err)"
}

ends_whole()
{
    "$CHORUS" "$@" >out 2>err </dev/null || bad "chorus $* fails: $(cat err)" || return
    same_as_whole >differs || bad "$(cat differs)"
}

# No epoch that it told of is lost.
keeps_told()
{
    local told
    told=$(grep -c '^epoch ' "$cache/err")
    (($(rows "$folder/epochs.csv") >= told)) || bad "it told of $told epochs, and left $(cat "$folder/epochs.csv")"
}

# A run that is not there yet is begun again.
take_up()
{
    newest
    if [ -z "$folder" ]; then
        ends_whole "${command[@]}"
    elif state_is "$folder" done; then
        ends_whole show @
    else
        reads_well show @ && ends_whole resume @ --quiet
    fi
}

kill_run()
{
    fresh
    killed "${command[@]}"
    newest
    [ -z "$folder" ] || keeps_told || return
    take_up
}

# The resume too is killed, at another point, and the resume after it.
kill_resumes()
{
    local again
    fresh
    killed "${command[@]}"
    newest
    for again in 1 2; do
        [ -z "$folder" ] || state_is "$folder" done || killed resume @ --quiet
    done
    take_up
}

# Its name alone takes it up again, from the moment on that anybody was told of the extension.
kill_extension()
{
    local said
    fresh
    killed "${command[@]}"
    said=$(grep -c "extended from" "$cache/err")
    reads_well show @ || return
    "$CHORUS" resume @ --quiet >out 2>err </dev/null || bad "no resume: $(cat err)" || return
    newest
    if [ "$(column "$folder" epochs)" = 2 ]; then
        ((said == 0)) || bad "it said that it is extended, and is finished" || return
        ends_whole resume @ epochs=4 --quiet
    else
        ends_whole show @
    fi
}

# Either of two commands takes a sweep up again.
kill_sweep()
{
    fresh
    killed "${command[@]}"
    ((RANDOM % 2)) && killed "${command[@]}"
    if [ -e results/sweeps/s/sweep.csv ]; then
        reads_well ls || return
        ((RANDOM % 2)) && ends_whole resume s --quiet && return
    fi
    ends_whole "${command[@]}"
}

# added NAME: it waits once, and whoever was told so finds it
added()
{
    local times
    times=$("$CHORUS" queue 2>err | awk -v name="$1" '$2 == name { n++ } END { print n + 0 }')
    if ((times > 1)) || { ((times == 0)) && grep -q "results/queue/" "$cache/out"; }; then
        bad "$1 waits $times times in the queue"
    elif ((times == 0)); then
        "$CHORUS" "${add[@]}" --name "$1" >out 2>err </dev/null || bad "$1 cannot be added: $(cat err)"
    fi
}

# Of those that are added each waits once or not at all. At most the one that was at work must be resumed.
kill_queue()
{
    local name
    fresh
    points=("${add_points[@]}")
    for name in a b; do
        killed "${add[@]}" --name $name
        added $name || return
    done
    points=("${run_points[@]}")
    killed "${command[@]}"
    reads_well queue && "$CHORUS" "${command[@]}" >out 2>err </dev/null || bad "$(cat out err)" || return
    for folder in results/2*/; do
        state_is "$folder" done || "$CHORUS" resume "$folder" --quiet >out 2>err || bad "no resume: $(cat err)" || return
    done
    ends_whole queue
}

# Several threads, of which one waits for another at any moment.
threaded=(
    "threads=2 devices=2 log_every=1"
    "threads=3 mode=ensemble devices=2 members=3 optimizer=adam lr=0.003 augment=flip+crop:2"
    "threads=2 batch=60 devices=3 precision=bf16 optimizer=nesterov schedule=cosine warmup=1"
    "threads=2 mode=ensemble members=3 member_order=own optimizer=adamw grad_clip=0.5 schedule=step step_epochs=1"
)
kill_threads()
{
    local which=$((RANDOM % ${#threaded[@]}))
    if [ ! -e whole.$which ]; then
        undisturbed run $quick epochs=6 ${threaded[which]}
        mv whole whole.$which
        took[which]=$ms
    fi
    command=(run $quick epochs=6 ${threaded[which]})
    ms=${took[which]}
    cp whole.$which whole
    kill_resumes
}

is_wanted()
{
    [ -z "$CASE" ] || [ "${CASE%/*}" = "$1" ]
}

is_wanted run || is_wanted resumes && undisturbed run $quick epochs=3
torture run "counted kill_run"
torture resumes "counted kill_resumes"

is_wanted ensemble && undisturbed run $quick epochs=2 mode=ensemble devices=2 members=3
torture ensemble "counted kill_run"

# A cosine that was bent on its way to another end is marked in run.csv, also after a kill.
if is_wanted extension; then
    fresh
    exits 0 "$CHORUS" run $quick epochs=2 schedule=cosine && cp -r results before
    undisturbed resume @ epochs=4
    check "the whole extension is marked as bent" grep -q "+extended" whole
    torture extension "counted kill_extension"
    rm -rf before
fi

is_wanted sweep && undisturbed run $quick epochs=1 lr=0.05,0.1,0.2 --name s
torture sweep "counted kill_sweep"

if is_wanted queue; then
    add=(run $quick epochs=1 --queue)
    fresh
    exits 0 "$CHORUS" "${add[@]}" --name a
    points $calls "$changes" "${add[@]}" --name b && add_points=("${points[@]}")
    mv results before
    undisturbed queue run --quiet
    run_points=("${points[@]}")
    rm -rf before
    torture queue "counted kill_queue"
fi

traced= points=()
torture threads "counted kill_threads"

finish
