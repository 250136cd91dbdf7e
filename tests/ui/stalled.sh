# A terminal that takes nothing, because its other end is never read or because of Ctrl-S, keeps nobody from
# obeying a signal.
. "${BASH_SOURCE%/*}/lib.sh"

if ! has_terminals; then
    skip "everything" "$lack"
    finish
fi
cat >stall.py <<'END'
"""stall.py unread|stopped SIGNAL COMMAND...: COMMAND on a terminal that takes nothing once a run has been shown
on it. Then the signal is sent. The exit code is the command's, 99 where it does not end, and
98 where it left the terminal with other modes."""
import fcntl, os, select, signal, struct, sys, termios, time

how, name, *command = sys.argv[1:]
master, slave = os.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
modes = termios.tcgetattr(slave)
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in range(3):
        os.dup2(slave, fd)
    os.execvp(command[0], command)
seen = b""
until = time.time() + 60
while b"img/s" not in seen and b"epoch 2/" not in seen and time.time() < until:
    if select.select([master], [], [], 0.2)[0]:
        seen += os.read(master, 65536)
if how == "stopped":
    os.write(master, b"\x13")
else:
    own = os.open(os.ttyname(slave), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)


def fill():
    try:
        while how == "unread":
            os.write(own, b"x" * 100)
    except BlockingIOError:
        pass


def writes():
    """Whether its first thread waits in a write."""
    return open("/proc/%d/syscall" % pid).read().split()[0] == "1"


def waits():
    for _ in range(10):
        fill()
        if not writes():
            return False
        time.sleep(0.02)
    return True


until = time.time() + 60
while not waits():
    if time.time() > until:
        sys.exit("it never waited for its terminal")
os.kill(pid, getattr(signal, "SIG" + name))
until = time.time() + 30
while True:
    ended, status = os.waitpid(pid, os.WNOHANG)
    if ended:
        break
    if time.time() > until:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        sys.exit(99)
    time.sleep(0.02)
if termios.tcgetattr(slave) != modes:
    sys.exit(98)
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
END
if [ ! -r /proc/self/syscall ] || ! command -v awk >/dev/null; then
    skip "everything" "the system does not show where a process waits"
    finish
fi

# stalled NAME HOW SIGNAL CODE STATE ARGUMENTS...: a run
stalled()
{
    local name=$1 how=$2 signal=$3 code=$4 state=$5
    shift 5
    rm -rf results
    python3 stall.py $how $signal "$CHORUS" run tiny.ini "$@"
    local got=$?
    check "$name, SIG$signal: exit code $code" test $got = $code
    check "$name, SIG$signal: the run is $state" state_is "$(echo results/2*)" $state
    [ $state = done ] || check "$name, SIG$signal: with a checkpoint" test -s "$(echo results/2*/checkpoint.safetensors)"
}
export CHORUS_FAKE_SCRIPT='step_ms=2'
for how in unread stopped; do
    stalled "a command, $how" $how TERM 143 stopped epochs=100000
    stalled "a command, $how" $how INT 130 stopped epochs=100000
    stalled "a command, $how" $how HUP 0 'done' epochs=40
done
stalled "the workbench" unread TERM 143 stopped epochs=100000 --tui
stalled "the workbench" unread INT 130 stopped epochs=100000 --tui
stalled "the workbench" unread HUP 0 'done' epochs=40 --tui
finish
