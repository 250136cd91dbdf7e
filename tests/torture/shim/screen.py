"""screen.py KEYS COMMAND...: starts the command on a terminal, presses the keys once a screen has come, one after
the other, and ends it with a SIGTERM if it does not end before. Exit code 1, and why, where the terminal is not as
it was before, or where the command fails without one sentence after its last screen."""
import fcntl, os, pty, re, select, signal, struct, sys, termios, time

keys, command = list(sys.argv[1]), sys.argv[2:]
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
before = termios.tcgetattr(slave)
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in range(3):
        os.dup2(slave, fd)
    os.execvp(command[0], command)

seen, ended, told = b"", None, False
begun = time.monotonic()
turn = 0  # when the next key comes
while ended is None:
    if select.select([master], [], [], 0.02)[0]:
        seen += os.read(master, 65536)
    now = time.monotonic()
    whole = b"filter" in seen or b"img/s" in seen or now > begun + 3  # the first screen
    if whole and now > turn:
        turn = now + 0.03
        if keys:
            os.write(master, keys.pop(0).encode())
        elif not told:
            os.kill(pid, signal.SIGTERM)  # not waited for yet: the number is still its own
            told = True
    done, status = os.waitpid(pid, os.WNOHANG)
    ended = status if done else None
    if now > begun + 60:
        os.kill(pid, signal.SIGKILL)
        ended = os.waitpid(pid, 0)[1]
        print("it did not end in a minute: %s%r" % ("after a SIGTERM, " if told else "", seen[-300:]))
while select.select([master], [], [], 0)[0]:
    seen += os.read(master, 65536)
code = os.WEXITSTATUS(ended) if os.WIFEXITED(ended) else 128 + os.WTERMSIG(ended)
sequence = rb"\x1b(\[[0-9;?]*[ -/]*[@-~]|[()][A-Z0-9]|[=>78])"
shown = re.sub(sequence, b" ", seen)
words = re.sub(sequence, b"", seen[seen.rfind(b"\x1b[?1049l") + 1 :])
wrong = []
if code not in (0, 1, 143):
    wrong.append("it ended with %d" % code)
if termios.tcgetattr(slave) != before:
    wrong.append("the terminal has other modes than before")
if seen.rfind(b"\x1b[?1049h") > seen.rfind(b"\x1b[?1049l"):
    wrong.append("the terminal shows the alternate screen")
if re.search(rb"[^0-9a-z]-[0-9.]+ (s|min|h|d|img/s)\b", shown):
    wrong.append("it shows a negative time or speed")
if code == 1 and words.count(b"chorus: ") != 1:
    wrong.append("it failed, and said: %r" % words[-300:])
for line in wrong:
    print(line)
sys.exit(bool(wrong))
