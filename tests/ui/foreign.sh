# What another program computes, from the workbench: its sweep's cells are dropped and moved.
. "${BASH_SOURCE%/*}/lib.sh"

# play RESULTS LINES...: a script of keys without a terminal
play()
{
    local results=$1
    shift
    script "$@"
    timeout 120 "$CHORUS" --results "$results" --keys script --frame 120x40 >said 2>&1 </dev/null && return
    echo "ended with $?" >>said
    cat said
    return 1
}

# Its cells come to the second of their two epochs, and wait there.
export CHORUS_FAKE_SCRIPT="stuck=40 stuck_file=$PWD/gate"
exits 0 "$CHORUS" run tiny.ini lr=0.1,0.2,0.4,0.8 epochs=2 --name board --order grid --background --results foreign
until_true 30 eval 'has_rows foreign/2*/epochs.csv 1'
check "a cell is dropped, another one moved, from another program" play foreign "keys 5" "wait board" "keys Home" \
    "wait epoch" "keys Right d" "wait Drop" "keys d" "wait has been told to drop" "keys End -" \
    "wait has been told to have this cell later" "keys + + +" "wait has been told to have this cell earlier"
check "its program has heard of it" until_true 20 eval 'grep -q ,skipped, foreign/sweeps/board/ledger.csv &&
    [[ "$(cut -d, -f1 foreign/sweeps/board/order.csv | tr "\n" " ")" =~ 3\ .*2\  ]]'
: >gate
check "the sweep ends" until_true 60 eval 'flock -n foreign/sweeps/board/work true'
# The order in which their folders were made; the dropped one has one too.
order()
{
    local folder
    for folder in foreign/2*/; do
        column "${folder%/}" lr
    done | tr '\n' ' '
}
check "the dropped one has no result" eval '[ "$(grep -c ,skipped, foreign/sweeps/board/ledger.csv)" = 1 ]'
check "the moved one came first: $(order)" eval '[[ "$(order)" =~ 0\.1.*0\.8.*0\.4 ]]'

# A cell of another program's sweep is stopped alone, long before its end: R goes on with it, and the sweep with the next.
export CHORUS_FAKE_SCRIPT='step_ms=40'
exits 0 "$CHORUS" run tiny.ini lr=0.1,0.2 epochs=400 --name pair --order grid --background --results cell
until_true 30 eval 'ls cell/2*/run.csv'
first=$(echo cell/2*)
check "K on it offers to stop it" play cell "keys 2" "wait epoch" "keys K" "wait Stop" "keys s" "wait stopping this cell"
check "it is stopped" until_true 30 state_is "$first" stopped
check "and the sweep goes on" until_true 60 eval '[ "$(ls -d cell/2* | wc -l)" = 2 ]'
"$CHORUS" stop pair --now --results cell >/dev/null 2>&1

# The line of status tells of another program's sweep as long as that lives, between two cells too.
export CHORUS_FAKE_SCRIPT='step_ms=10'
exits 0 "$CHORUS" run tiny.ini lr=step:0.1:1.2:0.1 epochs=3 on_end='sleep 0.3' --name far --background --results shown
until_true 30 eval 'ls shown/2*/run.csv'
lines=("wait sweep elsewhere")
for i in $(seq -w 60); do
    lines+=("sleep 40" "save line-$i")
done
check "the line of status follows it" play shown "${lines[@]}"
for i in $(seq -w 60); do
    tail -n 1 "line-$i"
done >told
# Where this machine is slow it may have ended before the last look.
check "it never says that nothing runs: $(grep -v 'sweep elsewhere  far  cell [0-9]* of 12' told | sort | uniq -c | head -n 3)" \
    awk '/sweep elsewhere  far  cell [0-9]+ of 12/ { if (other) exit 1; seen = 1; next } { other = 1 } END { if (!seen) exit 1 }' told
check "it counts its cells" test "$(grep -o 'cell [0-9]* of' told | sort -u | wc -l)" -ge 2
check "and says the best so far" grep -q 'best 0\.' told
check "and the time left" grep -q ' left' told
"$CHORUS" stop far --now --results shown >/dev/null 2>&1
until_true 60 flock -n shown/sweeps/far/work true
check "and is silent when it has ended" play shown "wait nothing runs" "calm" "gone sweep elsewhere"

# A machine that computes into another folder is noticed, and the choice offered; what waits for its end
# begins then, also where the terminal has gone.
export CHORUS_FAKE_SCRIPT='step_ms=25'
one back epochs=2 name=again
exits 0 "$CHORUS" run tiny.ini epochs=100000 name=busy --background --results far
busy=$(ls -d far/2*)
until_true 30 has_rows "$busy/steps.csv" 2
asked=("calm" "keys 1" "calm" "keys r" "wait Another chorus (process" "wait results in another folder")
check "next to it, after it, or not at all" play near "${asked[@]}" "wait after it, in the queue" "wait now, next to it" \
    "wait cancel" "keys c" "calm"
check "a command that is wrong is told of, and nobody asked" play near "calm" "keys :" "keys Ctrl-U" \
    "type run tiny.ini lr=abc" "keys Enter" "wait lr = abc: it is no number" "calm" "gone Another chorus" "keys Esc" "keys 7" \
    "wait lr = abc: it is no number" "keys :" "keys Ctrl-U" "type run tiny.ini lr=0.2" "keys Enter" \
    "wait Another chorus (process" "keys c" "calm"
check "nothing was begun by that" test ! -e near/queue
check "a command that goes on with a run asks too" play back "calm" "keys :" "keys Ctrl-U" \
    "type resume again epochs=3 --queue" "keys Enter" "wait Another chorus (process" "wait now, next to it" "keys c" "calm"
# The second is typed while the first looks for others; where that was quicker, once more.
twice()
{
    rm -rf twice
    cp -r back twice
    play twice "calm" "keys :" "keys Ctrl-U" \
        "type run tiny.ini lr=0.2" "keys Enter" "keys :" "keys Ctrl-U" "type resume again epochs=3" "keys Enter" \
        "wait not begun: what is to start before" "wait now, next to it" "keys c" "calm" "keys 7" \
        "wait not begun: chorus resume again epochs=3" "wait not begun: chorus run tiny.ini lr=0.2"
}
check "a question is answered before another takes its place" eval "twice || twice || twice"
cp -r back along
check "so does one beside what this program computes, and one that lets that go on behind a pause" play along \
    "${asked[@]}" "keys n" "keys 2" "wait  running" "keys :" "keys Ctrl-U" "type resume again epochs=3" "keys Enter" \
    "wait trains here, epoch" "keys c" "keys p" "wait  paused" "keys :" "keys Ctrl-U" \
    "type go -h" "keys Enter" "wait what the command said" "keys Esc" "keys :" "keys Ctrl-U" \
    "type go @" "keys Enter" "wait Another chorus (process" "keys c" "calm" "wait  paused"
exits 0 "$CHORUS" run tiny.ini epochs=100000 name=rests --background --results rests
exits 0 "$CHORUS" pause rests --results rests
check "and one that lets go on what another program has paused" play rests "wait  paused elsewhere" "keys : Ctrl-U" \
    "type go rests" "keys Enter" "wait Another chorus (process" "wait now, next to it" "keys c" "calm" "keys : Ctrl-U" \
    "type stop @ --after-epoch" "keys Enter" "wait Another chorus (process" "keys c" "calm" "wait  paused elsewhere" \
    "keys : Ctrl-U" "type go rests" "keys Enter" "wait Another chorus (process" "keys n" "wait  running elsewhere"
"$CHORUS" stop rests --now --results rests >/dev/null 2>&1
check "a run that would go on waits for it too" play back "keys 2" "calm" "keys R" "wait go on to" "keys Enter" \
    "wait Another chorus (process" "wait after it, in the queue" "wait now, next to it" "keys a" "wait Queued: again-"
check "in the queue, alone on this machine" grep -q "^# options: --resume .* --alone" back/queue/0001-again-*.ini
if has_terminals; then
    script "${asked[@]}" "keys a" "wait 1 waits until process" "sleep 1000000"
    python3 "$here/play.py" 40x120 "text:until process" gone -- "$CHORUS" --results near --keys script
    check "a terminal that goes leaves one who takes" until_true 20 kill -0 "$(cat gone.pid)"
    sleep 1 # of which it must make nothing
    check "it waits" eval '[ -z "$(ls -d near/2* 2>/dev/null)" ] && kill -0 "$(cat gone.pid)"'
    exits 0 "$CHORUS" stop @ --now --results far
    check "and begins" until_true 60 eval 'state_is near/2* running || state_is near/2* done'
    check "when the other one has ended" eval '[[ "$(column "$busy" ended_utc)" < "$(column near/2* started_utc)" ]]'
    "$CHORUS" stop @ --results near >/dev/null 2>&1
    check "then it is gone" until_true 30 eval '! kill -0 "$(cat gone.pid)"'
else
    skip "a terminal that goes while something waits" "$lack"
    exits 0 "$CHORUS" stop @ --now --results far
fi

# Runs of other programs appear by themselves, and one whose process dies is shown as dead.
mkdir -p live
(until_true 60 test -e none && CHORUS_FAKE_SCRIPT='step_ms=25' "$CHORUS" run tiny.ini name=elsewhere epochs=400 --background --quiet \
    --results live >started && column "$(cat started)" pid >run.pid) &
(until_true 60 eval 'test -e runs && test -s run.pid && has_rows live/2*/epochs.csv 1' && kill -9 "$(cat run.pid)") &
check "a run that begins elsewhere appears, runs, and is dead" play live "keys 3" "wait No runs yet" "save none" "wait elsewhere" \
    "wait running" "save runs" "wait dead" "keys Home Enter" "wait elsewhere" "wait its process is gone"
wait
CHORUS_FAKE_SCRIPT='step_ms=25' "$CHORUS" run tiny.ini lr=0.1,0.2 epochs=400 --background --quiet --results swept >started
check "a sweep is at work" until_true 60 eval 'column swept/2* pid >run.pid 2>/dev/null && [ -s run.pid ]'
(until_true 60 test -e sweeping && kill -9 "$(cat run.pid)") &
check "it is dead with its process" play swept "wait sweep elsewhere" "save sweeping" "wait sweep dead" "keys 5" "wait its process is gone"
wait

# What another program has paused leaves the screen at rest, and is seen to go on.
export CHORUS_FAKE_SCRIPT='step_ms=20'
exits 0 "$CHORUS" run tiny.ini epochs=100000 name=held --background --results held
until_true 30 eval 'has_rows held/2*/steps.csv 2'
exits 0 "$CHORUS" pause @ --results held
(until_true 60 test -e rested && "$CHORUS" go @ --results held >/dev/null 2>&1) &
check "what another program has paused comes to rest" play held "keys 2" "wait paused" "calm" "save rested" "gone paused"
wait
"$CHORUS" stop @ --now --results held >/dev/null 2>&1
unset CHORUS_FAKE_SCRIPT

# A run that another program removes while it is looked at: each screen says so, and no key acts as if it were there.
for name in kept lost; do
    one gone epochs=2 name=$name
done
mv "$(echo gone/2*-lost-*)" removed
# remove: moved away as soon as the script has saved ./looked; it comes back for the next look
removing()
{
    rm -f looked
    mv removed "gone/2026-11-20-100000-000-lost-a000"
    (until_true 60 test -e looked && mv "gone/2026-11-20-100000-000-lost-a000" removed) &
}
removing
check "Run says that it is removed, and offers nothing of it" play gone "keys 3" "wait lost" "keys End Enter" "wait lost-a000" \
    "wait again" "save looked" "wait removed" "gone again" "keys e" "calm" "save of-e" "keys x r" "calm" "save of-r" "keys x P" \
    "calm" "save of-P"
for key in e r P; do
    check "$key says so, too" test "$(grep -c 'its folder is not there any more' of-$key)" = 2
done
wait
removing
check "Compare says which curve has gone" play gone "keys 3" "wait lost" "keys *" "keys 4" "wait 2 runs" "save looked" \
    "wait lost-a000 is not there any more"
wait
removing
check "Predict says whose images these were" play gone "keys 3" "wait lost" "keys End P" "wait all in order" "save looked" \
    "wait the run is removed" "wait all in order"
wait
finish
