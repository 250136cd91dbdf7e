# What is shown on a terminal: the line that is redrawn, colours, narrow and dumb ones.
. "${BASH_SOURCE%/*}/lib.sh"

if ! has_terminals; then
    skip "everything on terminals" "$lack"
    finish
fi

# show COLUMNS COMMAND...: runs it on a terminal of that width; what it showed goes to ./screen
cat >show.py <<'END'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    rows = int(os.environ.get("ROWS", "40"))
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
seen = b""
while True:
    try:
        got = os.read(fd, 65536)
    except OSError:
        break
    if not got:
        break
    seen += got
open("screen", "wb").write(seen)
status = os.waitpid(pid, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 99)
END
show()
{
    python3 show.py "$@"
}

# The longest that stands on one line, escape sequences left out.
widest()
{
    python3 -c '
import re
text = re.sub(rb"\x1b\[[0-9;]*[A-Za-z]", b"", open("screen", "rb").read()).decode()
bars = [line for line in re.split("[\r\n]", text) if "%" in line and "epoch" in line]
print(max(map(len, bars)))'
}

# The same of every line that is no path.
widest_of_all()
{
    python3 -c '
import re
text = re.sub(rb"\x1b\[[0-9;]*[A-Za-z]", b"", open("screen", "rb").read()).decode()
print(max(len(line) for line in re.split("[\r\n]", text) if not "/2" in line))'
}

# Images enough that it lasts longer than a bar is waited for.
show 100 "$CHORUS" run tiny.ini epochs=40 train_limit=12000
check "a run on a terminal" test $? = 0
check "a bar" grep -qa "epoch [0-9]*/40 [█▏▎▍▌▋▊▉░]" screen
check "a line an epoch above it" test "$(grep -ac 'epoch [0-9]*/40  train loss' screen)" = 40
check "a table at the end" grep -qa "train loss  train acc  test loss  test acc" screen
check "the curves" grep -qa "┤" screen
check "in colours" grep -qaF $'\033[36m' screen
check "the folder comes last" test -d "$(tail -n 1 screen | tr -d '\r')"
check "nothing is wider than the terminal" test "$(widest)" -lt 100

NO_COLOR=1 show 100 "$CHORUS" run tiny.ini epochs=20
check "NO_COLOR" test "$(grep -acF $'\033[36m' screen)" = 0
check "but the curves" grep -qa "┤" screen

TERM=dumb show 100 sh -c '"$0" >elsewhere' "$CHORUS"
check "which of its sides is no terminal is told on a dumb one too" \
    grep -qa "standard output is none" screen
TERM=dumb show 100 "$CHORUS" run tiny.ini epochs=20
check "a dumb terminal gets no escapes" test "$(grep -ac $'\033' screen)" = 0
check "and no bar" test "$(grep -ac '%' screen)" = 0
check "but a line an epoch" test "$(grep -ac 'epoch [0-9]*/20  train loss' screen)" = 20

show 30 "$CHORUS" run tiny.ini epochs=40 train_limit=12000
check "a narrow terminal" test "$(widest)" -lt 30

LC_ALL=C show 100 "$CHORUS" run tiny.ini epochs=20
check "a locale without UTF-8" test "$(LC_ALL=C grep -ac $'[\x80-\xff]' screen)" = 0

show 100 "$CHORUS" run tiny.ini epochs=20 --quiet
check "--quiet on a terminal" test "$(wc -l <screen)" = 1

# What another process runs.
exits 0 "$CHORUS" run tiny.ini epochs=6000 --background --quiet && folder=$(cat out)
column "$folder" pid >run.pid
show 100 "$CHORUS" watch "$folder"
check "watch on a terminal" test $? = 0
check "with its bar" grep -qa "epoch [0-9]*/6000 [█▏▎▍▌▋▊▉░]" screen
check "loss, accuracy, images a second, time left" \
    grep -qaE "loss [0-9.]+  acc [0-9.]+  [0-9,]+ img/s  .* left" screen
check "and the curves" grep -qa "┤" screen

show 100 "$CHORUS" plot "$folder"
check "plot fills the terminal" test "$(wc -l <screen)" -ge 30

# Names from files do not drive the terminal.
show 100 "$CHORUS" run tiny.ini epochs=1 $'name=x\033[31my'
check "escapes in a name" test "$(grep -acF $'\033[31m' screen)" = 0

# 80 columns and 24 rows: nothing is wider, and what matters at the end is seen at once.
for more in "" "valid=100" "mode=ensemble members=3 devices=2"; do
    ROWS=24 show 80 "$CHORUS" run tiny.ini epochs=12 train_limit=1210 $more
    check "80 columns hold a run ($more)" test "$(widest_of_all)" -le 80
    check "what it is in two lines ($more)" test "$(grep -ac "test images.$" screen)" = 1
    check "dropped images in the second ($more)" grep -qa "^[0-9]* steps of 40 an epoch (.* dropped)" screen
    tail -n 23 screen >last
    check "24 rows hold the curves ($more)" test "$(grep -acE "(^|K)(loss|accuracy) " last)" = 2
    check "and the table behind them ($more)" \
        test "$(grep -anE "^ +epoch .*test acc" last | cut -d: -f1)" -gt "$(grep -an "┤" last | tail -n 1 | cut -d: -f1)"
    check "none of an epoch's line is lost ($more)" \
        test "$(grep -acE "epoch [0-9]+/12  .*test .*acc [0-9.]{6}" screen)" = 12
done
ROWS=14 show 80 "$CHORUS" run tiny.ini epochs=12
check "14 rows hold the loss" test "$(grep -acE "(^|K)(loss|accuracy) " screen)" = 1
ROWS=8 show 80 "$CHORUS" run tiny.ini epochs=12
check "8 rows hold no curves" test "$(grep -ac "┤" screen)" = 0
check "but the table" grep -qa "train loss  train acc" screen
exits 0 "$CHORUS" run tiny.ini mode=ensemble members=4 epochs=2 name=four
for verb in ls models "models lenet" "show @" "compare @ @2" "ensemble four" \
    "predict four --worst 2 --draw"; do
    show 80 "$CHORUS" $verb
    check "80 columns hold $verb" test "$(grep -av "^lenet: " screen >s && mv s screen && widest_of_all)" -le 80
done
show 80 "$CHORUS" ls
check "ls keeps what matters" grep -qaE "^run +state .*epochs +best acc" screen
show 40 "$CHORUS" ls
check "a run's name goes without its time" grep -qaE "^lenet-[0-9a-f]{4} |^\.\.\..*-[0-9a-f]{4} " screen
check "what has no room is told" grep -qa "^no room for " screen
exits 0 "$CHORUS" ls
check "a pipe gets all of ls" grep -qE "devices +members +batch +lr" out

finish
