# Ctrl-C once and twice, SIGTERM and what counts as it, limits of processes, a terminal that goes away.
. "${BASH_SOURCE%/*}/lib.sh"

# A shell without job control starts background jobs with SIGINT ignored.
start()
{
    : >out >err # what is waited for in them must be new
    env --default-signal=INT,QUIT "$CHORUS" "$@" >out 2>err </dev/null &
    pid=$!
    echo $pid >run.pid
}

newest()
{
    folder=$(ls -d results/*/ | tail -n 1)
    folder=${folder%/}
}

# After some steps of a run that would take long.
start_long()
{
    local before
    before=$(ls -d results/*/ 2>/dev/null | wc -l)
    start run tiny.ini epochs=100000 "$@"
    until_true 60 eval '[ "$(ls -d results/*/ 2>/dev/null | wc -l)" -gt '"$before"' ]'
    newest
    until_true 60 has_rows "$folder/steps.csv" 3
}

ended_with()
{
    wait $pid
    local got=$?
    [ $got = "$1" ] || {
        echo "  ended with $got instead of $1"
        return 1
    }
}

start_long
kill -INT $pid
check "Ctrl-C ends with 130" ended_with 130
check "state stopped" state_is "$folder" stopped
check "its log says so once" test "$(grep -c 'stopped' "$folder/log.txt") $(grep -c 'stopped: stopped' "$folder/log.txt")" = "1 0"
check "it says how to go on" grep -q "chorus resume $folder" err
check "the folder is printed all the same" test "$(cat out)" = "$folder"
check "there is a checkpoint" test -s "$folder/checkpoint.safetensors"
check "of the very last step" test "$(tail -n 1 "$folder/steps.csv" | cut -d, -f1)" -gt 0

start_long
kill -INT $pid
kill -INT $pid
check "Ctrl-C twice ends with 130" ended_with 130
start resume "$folder"
until_true 60 grep -q "goes on" err
kill -INT $pid
check "it can be resumed" ended_with 130

for signal in $terms; do
    start_long
    kill -$signal $pid
    check "SIG$signal ends with 143" ended_with 143
    check "state stopped by SIG$signal" state_is "$folder" stopped
    last=$(tail -n 1 "$folder/steps.csv" | cut -d, -f1)
    exits 0 "$CHORUS" resume "$folder" --background --quiet
    until_true 10 grep -q "goes on at step" "$folder/log.txt"
    at=$(sed -n 's/.*goes on at step \([0-9]*\).*/\1/p' "$folder/log.txt")
    check "a resume repeats no row" test "${at:-0}" -ge "$last"
    column "$folder" pid >run.pid
    kill -$signal "$(cat run.pid)"
    check "SIG$signal stops a run in the background" until_true 60 state_is "$folder" stopped
done
start_long
kill -USR1 $pid
kill -USR2 $pid
kill -USR1 $pid
check "a notice that comes again ends with 143" ended_with 143
check "and with a checkpoint of the last step" eval '! grep -q "without a checkpoint" err'
refused "what is not at work says what goes on" "it is stopped; chorus resume ${folder##*/} goes on with it" \
    "$CHORUS" stop "$folder"

# Behind a limit on processor time SIGXCPU comes every second: it is no second wish.
CHORUS_FAKE_SCRIPT='step_ms=200' start run tiny.ini backend=fake log_every=1
until_true 60 eval 'newest; [ "$(column "$folder" pid)" = $pid ] && has_rows "$folder/steps.csv" 1'
for i in {1..40}; do kill -XCPU $pid 2>/dev/null; done
check "SIGXCPU again and again ends with 143" ended_with 143
check "with a checkpoint of its last step" sh -c "! grep -q 'without a checkpoint' '$folder/log.txt'"

# A limit on the size of files is waited out as a full disk is.
if command -v prlimit >/dev/null; then
    exits 0 "$CHORUS" run tiny.ini epochs=200 log_every=1 --quiet
    whole=$(cat out)
    start run tiny.ini epochs=200 log_every=1
    prlimit --pid $pid --fsize=65536:unlimited
    until_true 60 grep -q 'File too large: training waits until there is room' err
    newest
    check "a file that is too large does not end a run" kill -0 $pid
    prlimit --pid $pid --fsize=unlimited
    check "it goes on when the limit is gone" ended_with 0
    check "to the same end" same_run "$whole" "$folder"
else
    skip "a limit on the size of files" "there is no prlimit"
fi

# Without a checkpoint a resume begins it again, and no epoch is called done.
start_long
kill -INT $pid
wait $pid
for file in "$folder"/*.safetensors; do echo damaged >"$file"; done
exits 130 "$CHORUS" watch "$folder"
check "a damaged checkpoint is not called none" \
    grep -q "has nothing to go on from: .*remove it to begin at step 0" err
rm "$folder"/*.safetensors
exits 130 "$CHORUS" watch "$folder"
check "what no checkpoint keeps is begun again" \
    grep -q "; it has no checkpoint yet: chorus resume $folder begins it again" err

# While a large model is being opened, or in a first step that takes many seconds.
# It is the program, not yet this script before its exec, and SIGINT has its handler, which comes with all.
hears()
{
    [ "$(readlink -f /proc/$pid/exe)" = "$(readlink -f "$CHORUS")" ] &&
        ((0x$(sed -n 's/^SigCgt:[[:space:]]*//p' /proc/$pid/status) >> $(kill -l INT) - 1 & 1))
}
for signal in $terms; do
    start run model=resnet18 data=synthetic train_limit=2048 test_limit=64 batch=2048 epochs=1
    until_true 60 hears
    kill -$signal $pid
    check "SIG$signal while a run is opened" ended_with 143
    check "is told" grep -qE "stopped (before|at step 0)" err
done
rm -rf results

# What was stopped, and resumed, ends as if it had not been.
exits 0 "$CHORUS" run tiny.ini epochs=30 --quiet
whole=$(cat out)
start run tiny.ini epochs=30
until_true 60 eval 'newest; [ "$folder" != "$whole" ] && has_rows "$folder/steps.csv" 3'
for signal in INT $terms; do
    kill -$signal $pid 2>/dev/null
    wait $pid
    start resume "$folder"
    sleep 0.2
done
ended_with 0
check "stopped so often, the same run" same_run "$whole" "$folder"

# A terminal that goes away: the run goes on to its end.
start run tiny.ini epochs=60
until_true 60 eval 'newest; [ "$(column "$folder" epochs)" = 60 ] && has_rows "$folder/steps.csv" 3'
kill -HUP $pid
check "SIGHUP does not end a run" ended_with 0
check "it is done after SIGHUP" state_is "$folder" done

if has_terminals; then
    # The real thing: a session leader's terminal is closed under the run.
    cat >hangup.py <<'END'
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "run", "tiny.ini", "epochs=200", "--name", "hangup"])
seen = b""
while b"img/s" not in seen:
    seen += os.read(fd, 4096)
os.close(fd)
status = os.waitpid(pid, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 99)
END
    python3 hangup.py "$CHORUS"
    check "a closed terminal does not end a run" test $? = 0
    newest
    check "it is done all the same" state_is "$folder" done

    # Ctrl-C as a key, and what the terminal shows.
    cat >keys.py <<'END'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    modes = termios.tcgetattr(0)
    modes[3] |= termios.NOFLSH # else Ctrl-C drops what nobody has read yet, and with it half a character
    termios.tcsetattr(0, termios.TCSANOW, modes)
    os.execv(sys.argv[1], [sys.argv[1], "run", "tiny.ini", "epochs=2000"])
seen = b""
sent = False
while True:
    try:
        got = os.read(fd, 4096)
    except OSError:
        break
    if not got:
        break
    seen += got
    if b" left" in seen and b"epoch 5/" in seen and not sent:
        os.write(fd, b"\x03")
        sent = True
open("screen", "wb").write(seen)
status = os.waitpid(pid, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 99)
END
    python3 keys.py "$CHORUS"
    check "Ctrl-C on a terminal ends with 130" test $? = 130
    check "a bar is drawn on a terminal" grep -qa "░" screen
    check "with loss, accuracy, images a second and the time left" \
        grep -qaE "loss [0-9.]+  acc [0-9.]+  [0-9,]+ img/s  .* left" screen
    check "and taken away" grep -qa $'\r\033\[K' screen
    check "at the end the curves" grep -qa "┤" screen
    check "the echo of Ctrl-C stays on the line" python3 -c '
import re
seen = open("screen", "rb").read().replace(b"^C", b"") # it may stand in the middle of a character
text = re.sub(rb"\x1b\[[0-9;]*[A-Za-z]", b"", seen).decode()
assert max(len(line) for line in re.split("[\r\n]", text) if "%" in line) <= 97'
else
    skip "a closed terminal" "$lack"
fi

# Ctrl-Z is no training. A job of its own, as a shell in front has it: what nobody could let go on is never stopped.
set -m
start_long
set +m
is_stopped()
{
    [[ $(cut -d' ' -f3 /proc/$pid/stat) = T ]]
}
kill -TSTP $pid
check "Ctrl-Z stops it" until_true 30 is_stopped
hear=0 # threads that SIGTSTP, number 20, may come to
for blocked in $(sed -n 's/^SigBlk:[[:space:]]*//p' /proc/$pid/task/*/status); do
    hear=$((hear + (0x$blocked >> 19 & 1 ^ 1)))
done
check "by one thread's handler" test "$hear" = 1
sleep 2
kill -CONT $pid
check "it goes on" until_true 30 has_rows "$folder/steps.csv" $(($(wc -l <"$folder/steps.csv") + 50))
kill -INT $pid
check "to its end" ended_with 130
check "what it was stopped for is no training time" awk -v all="$(column "$folder" wall_seconds)" \
    -v train="$(column "$folder" train_seconds)" 'BEGIN { exit !(train > 0 && all - train > 1.9) }'
check "nor is it input, computing, reducing or waiting" awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { train = $at["train_seconds"]
      parts = $at["input_seconds"] + $at["compute_seconds"] + $at["reduce_seconds"] + $at["wait_seconds"] }
    END { exit !(parts > 0 && parts <= train + 0.1) }' "$folder/epochs.csv"

# SIGINT that the shell turned off stays off.
"$CHORUS" run tiny.ini epochs=40 --quiet >out 2>err </dev/null &
pid=$!
until_true 60 eval 'newest; [ "$(column "$folder" epochs)" = 40 ] && has_rows "$folder/steps.csv" 3'
kill -INT $pid
check "a background job of a shell does not hear Ctrl-C" ended_with 0

finish
