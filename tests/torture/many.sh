# Many runs in one process: sweeps of 500 cells, and a queue of up to 10,000 items (fewer where there is little time).
# Held must be: from the first tenth on memory grows by no more than what is kept of each run, descriptors stay few, and
# each run has its rows. A case is a run.
. "${BASH_SOURCE%/*}/lib.sh"

scenarios=2
most_kb=2048      # that memory may vary by, whatever runs
most_open=40      # descriptors at any moment
sweep_bytes=600   # kept of each cell: 350 were measured
queue_bytes=2300  # of each run from the queue: 1,900 were measured, 1,576 of them for its state
export CHORUS_CACHE=$cache/own
exec {never}<> <(:)

# watch_process PID: lines "RUNS KB DESCRIPTORS" in ./grown until it ends
watch_process()
{
    local key value kb open runs
    while [ -e "/proc/$1/status" ]; do
        kb=
        while read -r key value _; do
            [ "$key" = VmRSS: ] && kb=$value
        done 2>/dev/null </proc/"$1"/status
        open=(/proc/"$1"/fd/*)
        runs=(results/2*)
        [ -n "$kb" ] || break # it has ended
        echo "${#runs[@]} $kb ${#open[@]}"
        read -r -t 0.1 -u $never
    done >grown
}

# is_flat RUNS BYTES: what was seen of a process with so many runs
is_flat()
{
    awk -v runs="$1" -v bytes="$2" -v most=$most_kb -v files=$most_open '
        $3 > files { print "with " $1 " runs it has " $3 " descriptors"; bad = 1; exit }
        $1 >= runs / 10 && !from { from = $1; kb = $2 }
        from && $2 > kb + most + ($1 - from) * bytes / 1024 {
            print "memory: " kb " kB with " from " runs, " $2 " kB with " $1; bad = 1; exit }
        END { exit bad }' grown
}

# has_all RUNS: so many runs, each done and with its epoch's row
has_all()
{
    local got
    got=$(find results -path 'results/2*/epochs.csv' -exec awk 'FNR == 2 { n++ } END { print n + 0 }' {} + |
        awk '{ n += $1 } END { print n + 0 }')
    [ "$got" = "$1" ] && [ "$(cat results/2*/run.csv | grep -c ',done,')" = "$1" ] && return
    echo "$got of $1 runs have a row; done are $(cat results/2*/run.csv | grep -c ',done,')"
    return 1
}

# train RUNS BYTES ARGUMENTS...: one process makes so many runs
train()
{
    local runs=$1 bytes=$2 pid
    shift 2
    "$CHORUS" "$@" >out 2>err </dev/null &
    pid=$!
    watch_process $pid
    if ! wait $pid; then
        echo "$* failed: $(tail -n 5 err)"
        return 1
    fi
    is_flat "$runs" "$bytes" && has_all "$runs"
}

draw()
{
    settings="tiny.ini backend=fake train_limit=$((RANDOM % 3 * 40 + 80)) test_limit=40 epochs=1 threads=1 --quiet"
    ((RANDOM % 3)) || settings+=" mode=ensemble members=2"
    ((RANDOM % 3)) || settings+=" valid=10"
    rm -rf results
}

sweep()
{
    draw
    train "$1" $sweep_bytes run $settings lr=lin:0.001:0.1:"$1" --name board --jobs $((RANDOM % 3 + 1)) || return
    [ "$(grep -c ',done,' results/sweeps/board/sweep.csv) $(grep -c ,done, results/sweeps/board/ledger.csv)" = "$1 $1" ]
}

queue()
{
    local item i
    draw
    "$CHORUS" run $settings name=item --queue >out 2>err || return
    item=$(cat results/queue/*.ini)
    for ((i = 2; i <= $1; i++)); do
        echo "$item" >"results/queue/$(printf %05d $i)-item.ini"
    done
    train "$1" $queue_bytes queue run --quiet || return
    [ "$(sort -u out | wc -l)" = "$1" ] && [ "$(ls results/queue)" = "" ] && return
    echo "it named $(sort -u out | wc -l) of $1 runs, and $(ls results/queue | wc -l) wait still"
    return 1
}

# many SCENARIO RUNS: again and again until the time is over; cases are counted as runs
many()
{
    local name=$1 runs=$2 n=0 failures=0 end=$(($(now_ms) + seconds * 1000 / scenarios))
    [ -z "$CASE" ] || [ "${CASE%/*}" = "$name" ] || return 0
    while ((n == 0 || (failures == 0 && $(now_ms) < end))); do
        n=$((n + 1))
        [ -n "$CASE" ] && n=${CASE##*/}
        RANDOM=$((seed * 1000003 + n))
        if ! $name "$runs" >"$cache/why"; then
            failures=$((failures + 1))
            head -n 12 "$cache/why" | sed "s/^/  /"
            repeat "$name/$n"
        fi
        [ -n "$CASE" ] && n=1 && break
    done
    told "$name" $((n * runs)) $failures
}

# share PER_SECOND MOST: so many runs in a half of the time, at least 100
share()
{
    local runs=$((seconds * $1))
    ((runs < 100)) && runs=100
    echo $((runs < $2 ? runs : $2))
}

many sweep "$(share 40 500)"
many queue "$(share 12 10000)"
finish
