"""pieces.py ROWSxCOLUMNS KEYS -- COMMAND...: the same keys one by one, each when the screen has come to rest, in pieces
of any length, and all at once: what is shown in the end is the same. KEYS: words as below, or a number: twelve
random ones of that seed. What was not the same goes to ./one ./pieces ./once; the exit code is 1 then."""
import fcntl, os, pty, random, select, shutil, struct, subprocess, sys, termios, time

size, word, command = sys.argv[1], sys.argv[2], sys.argv[4:]
rows, columns = map(int, size.split("x"))
NAMED = {"up": "\x1bOA", "down": "\x1bOB", "right": "\x1bOC", "left": "\x1bOD", "home": "\x1b[H", "end": "\x1b[F",
         "pgup": "\x1b[5~", "pgdn": "\x1b[6~", "enter": "\r", "tab": "\t", "space": " "}


def mouse(button, column, row):
    press = "\x1b[<%d;%d;%dM" % (button, column, row)
    return press + (press[:-1] + "m" if button == 0 else "")


def random_keys(seed):
    draw = random.Random(seed)
    keys = []
    for _ in range(12):
        kind = draw.random()
        at = draw.randint(1, columns), draw.randint(1, rows - 3) # below, something would be started
        if kind < 0.3:
            keys.append(draw.choice(list(NAMED.values())))
        elif kind < 0.45:
            keys.append(mouse(0, *at) * draw.choice([1, 1, 2]))
        elif kind < 0.55:
            keys.append(mouse(draw.choice([64, 65]), *at) * draw.randint(1, 3))
        elif kind < 0.6:
            keys.append("\x1b[200~" + draw.choice(["lr=0.1", "ab\ncd", "世界"]) + "\x1b[201~")
        elif kind < 0.8:
            keys.append(draw.choice("12345"))
        else:
            keys.append(draw.choice("jkhlsmfFcgGabeuvzn/?é世"))
    return keys


def shown(pieces, rests):
    """The picture behind them."""
    home = os.environ["HOME"]
    shutil.rmtree(home, ignore_errors=True)
    os.mkdir(home)
    pid, fd = pty.fork()
    if pid == 0:
        time.sleep(0.05)
        os.execvp(command[0], command)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    seen = b""

    def rest(seconds):
        nonlocal seen
        last = time.time()
        while time.time() - last < seconds:
            if not select.select([fd], [], [], 0.02)[0]:
                continue
            try:
                got = os.read(fd, 65536)
            except OSError:
                return
            if not got:
                return
            seen += got
            last = time.time()

    while b"\x1b[?1049h" not in seen:
        rest(0.1)
    rest(0.4)
    for piece in pieces:
        os.write(fd, piece)
        if rests:
            rest(0.25)
        else:
            time.sleep(0.001)
    rest(0.4)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    os.close(fd)
    vt = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vt.py")
    return subprocess.run([sys.executable, vt, size], input=seen, stdout=subprocess.PIPE).stdout


keys = random_keys(int(word)) if word.isdigit() else [NAMED.get(w, w) for w in word.split()]
flat = "".join(keys).encode()
draw = random.Random(word)
pieces, at = [], 0
while at < len(flat):
    n = draw.randint(1, 12)
    pieces.append(flat[at : at + n])
    at += n
one = shown([k.encode() for k in keys], True)
bad = 0
for name, parts in ("pieces", pieces), ("once", [flat]):
    got = shown(parts, False)
    if got != one:
        open("one", "wb").write(one)
        open(name, "wb").write(got)
        print("  %s differ: %r" % (name, keys))
        bad = 1
sys.exit(bad)
