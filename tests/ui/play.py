"""play.py ROWSxCOLUMNS STEP... -- COMMAND...: the person at a terminal. Steps: text:WORDS waits until they were
shown since the text before, key:KEYS, sleep:SECONDS, signal:NAME, job:NAME (a signal to job.py's command), size:ROWSxCOLUMNS, storm:N sizes, modes:FILE
takes the terminal's modes, raw:BYTES as text: but with the escape sequences, like:FILE waits for half a minute that the
picture is the file's, keep:FILE writes what came since, file:PATH waits for one, touch:PATH makes one, without:WORDS
were not shown since the text before, within:SECONDS until the end, gone: the terminal is, and
./gone.pid says who it leaves, which gone:SECONDS ends with a SIGTERM so soon behind it. What was shown goes to ./bytes; the exit code is the command's, as a shell
tells it; 99 where something was not so."""
import fcntl, os, pty, random, re, select, signal, struct, subprocess, sys, termios, time

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


def end(status=None, wrong=None):
    open("bytes", "wb").write(seen)
    if wrong:
        print("  " + wrong)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        sys.exit(99)
    sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


resize(rows, columns)
def shown(end=None):
    return re.sub(rb"\x1b(\[[0-9;?]*[ -/]*[@-~]|[()][A-Z0-9]|[=>78])", b"", seen[mark:end])


def behind(word):
    """Where the words end: what came with them in one piece is still to be looked at."""
    low, high = mark, len(seen)
    while low < high:
        middle = (low + high) // 2
        if word in shown(middle):
            high = middle
        else:
            low = middle + 1
    return low


def picture():
    vt = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vt.py")
    return subprocess.run([sys.executable, vt, size], input=seen[mark:], stdout=subprocess.PIPE).stdout


limit = 30.0
for step in steps:
    kind, _, word = step.partition(":")
    until = time.time() + 90
    if kind == "text":
        while word.encode() not in shown():
            if not listen(0.2):
                end(os.waitpid(pid, 0)[1])
            if time.time() > until:
                end(wrong="it never showed " + word)
        mark = behind(word.encode())
    elif kind == "raw":
        while word.encode() not in seen[mark:]:
            if not listen(0.2):
                end(os.waitpid(pid, 0)[1])
            if time.time() > until:
                end(wrong="it never sent " + repr(word))
    elif kind == "like":
        tried = -1
        while time.time() < until - 60:
            before = len(seen)
            if not listen(0.1):
                end(os.waitpid(pid, 0)[1])
            if len(seen) == before != tried: # nothing more comes, for now
                if picture() == open(word, "rb").read():
                    break
                tried = before
    elif kind == "keep":
        open(word, "wb").write(seen[mark:])
        mark = len(seen)
    elif kind == "without":
        if word.encode() in shown():
            end(wrong="it showed " + word)
    elif kind == "file":
        while not os.path.exists(word):
            listen(0.05)
            if time.time() > until:
                end(wrong="there never was " + word)
    elif kind == "touch":
        open(word, "w").close()
    elif kind == "modes":
        open(word, "w").write(repr(termios.tcgetattr(fd)))
    elif kind == "size":
        resize(*map(int, word.split("x")))
    elif kind == "key":
        os.write(fd, word.encode())
    elif kind == "sleep":
        until = time.time() + float(word)
        while time.time() < until:
            listen(0.05)
    elif kind == "signal":
        os.kill(pid, getattr(signal, "SIG" + word))
    elif kind == "job":
        os.kill(int(open("job.pid").read()), getattr(signal, "SIG" + word))
    elif kind == "storm":
        draw = random.Random(1)
        for _ in range(int(word)):
            resize(draw.choice([1, 2, draw.randint(1, 100)]), draw.choice([1, 2, draw.randint(1, 300)]))
            listen(0.02)
        resize(rows, columns)
        mark = len(seen)
    elif kind == "gone":
        open("gone.pid", "w").write(str(pid))
        os.close(fd)
        if word:
            time.sleep(float(word))
            os.kill(pid, signal.SIGTERM)
        sys.exit(0)
    elif kind == "within":
        limit = float(word)
until = time.time() + limit
while listen(0.1):
    if time.time() > until:
        end(wrong="it did not end in time")
end(os.waitpid(pid, 0)[1])
