"""play.py ROWSxCOLUMNS STEP... -- COMMAND...: the person at a terminal. Steps: text:WORDS waits until they were
shown, key:KEYS, sleep:SECONDS, signal:NAME, storm:N sizes, within:SECONDS until the end. What was shown
goes to ./bytes; the exit code is the command's, as a shell tells it."""
import fcntl, os, pty, random, re, select, signal, struct, sys, termios, time

size, rest = sys.argv[1], sys.argv[2:]
steps, command = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
rows, columns = map(int, size.split("x"))
pid, fd = pty.fork()
if pid == 0:
    time.sleep(0.05)
    os.execvp(command[0], command)
seen = b""
mark = 0


def resize(r, c):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", r, c, 0, 0))


def listen(seconds):
    """False: the other end is closed."""
    global seen
    if not select.select([fd], [], [], seconds)[0]:
        return True
    try:
        got = os.read(fd, 65536)
    except OSError:
        got = b""
    seen += got
    return bool(got)


def end(status=None, late=False):
    open("bytes", "wb").write(seen)
    if late:
        print("  it did not end in time, or never showed what was waited for")
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        sys.exit(99)
    sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


resize(rows, columns)
limit = 30.0
for step in steps:
    kind, _, word = step.partition(":")
    if kind == "text":
        until = time.time() + 30
        plain = b""
        while word.encode() not in plain:
            if not listen(0.2) or time.time() > until:
                end(late=True) if time.time() > until else end(os.waitpid(pid, 0)[1])
            plain = re.sub(rb"\x1b(\[[0-9;?]*[ -/]*[@-~]|[()][A-Z0-9]|[=>78])", b"", seen[mark:])
        mark = len(seen)
    elif kind == "key":
        os.write(fd, word.encode())
    elif kind == "sleep":
        until = time.time() + float(word)
        while time.time() < until:
            listen(0.05)
    elif kind == "signal":
        os.kill(pid, getattr(signal, "SIG" + word))
    elif kind == "storm":
        draw = random.Random(1)
        for _ in range(int(word)):
            resize(draw.choice([1, 2, draw.randint(1, 100)]), draw.choice([1, 2, draw.randint(1, 300)]))
            listen(0.02)
        resize(rows, columns)
        mark = len(seen)
    elif kind == "within":
        limit = float(word)
until = time.time() + limit
while listen(0.1):
    if time.time() > until:
        end(late=True)
end(os.waitpid(pid, 0)[1])
