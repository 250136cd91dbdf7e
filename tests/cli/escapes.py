"""Plants bytes that drive a terminal in files of a results folder and in arguments, and looks for them in what the
program prints. escapes.py CHORUS RESULTS"""
import csv, fcntl, json, os, pty, re, select, shutil, subprocess, sys

chorus, whole = sys.argv[1:3]
passed = failed = 0

# ESC, BEL, C1 raw and in UTF-8, a turn of direction, CR; then without those that no value may hold.
PLANTS = [b"x\x1b]0;y\x07\x1b[31m\x9b31m\xc2\x9b31m\xe2\x80\xae\ry", b"x\xc2\x9b31m\xe2\x80\xae\x9b31my"]
WRONG = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def wrong(out):
    """What drives a terminal in it; a byte from 0xa0 that is no UTF-8 does not."""
    text = out.decode("utf-8", "surrogateescape")
    return WRONG.search(text) or next((c for c in text if 0xDC80 <= ord(c) < 0xDCA0), None)


def run(args):
    try:
        done = subprocess.run([chorus] + args, capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
    except subprocess.TimeoutExpired:
        return b"", b"\x1b it hangs"
    if done.returncode < 0:
        return b"", b"\x1b it died of signal %d" % -done.returncode
    return done.stdout, done.stderr


def verdict(name, why):
    global passed, failed
    if why:
        failed += 1
        print(f"FAILED {name}: {why}")
    else:
        passed += 1


def silent(args):
    """None, or what it printed that it must not."""
    for stream, out in zip(("stdout", "stderr"), run(args)):
        if wrong(out):
            return f"{args} {stream}: {out[:300]!r}"
    return None


def fresh():
    shutil.rmtree("results", ignore_errors=True)
    shutil.copytree(whole, "results", symlinks=True)


def field(path, column):
    """The plant without what no value may hold, in that column of each row."""
    path = os.path.join("results", path)
    with open(path, newline="", encoding="latin-1") as f:
        rows = list(csv.reader(f))
    for row in rows[1:]:
        row[rows[0].index(column)] = PLANTS[1].decode("latin-1")
    with open(path, "w", newline="", encoding="latin-1") as f:
        csv.writer(f, lineterminator="\n").writerows(rows)


def line(path):
    with open(os.path.join("results", path), "ab") as f:
        f.write(PLANTS[0] + b"\n")


def on_terminal(args):
    """What it prints on a terminal with colours."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(chorus, [chorus] + args)
    out = b""
    while select.select([fd], [], [], 120)[0]:
        try:
            more = os.read(fd, 65536)
        except OSError:
            break
        if not more:
            break
        out += more
    os.waitpid(pid, 0)
    return out


one = next(f for f in os.listdir(whole) if "-one-" in f)
item = "queue/" + next(f for f in os.listdir(f"{whole}/queue") if f.endswith(".ini"))
# Each column, line and word with each verb: tests/torture/plants.sh.
for plant, verbs in ((lambda: field(f"{one}/run.csv", "data_hash"), (["show", "one"], ["predict", "one"])),
                     (lambda: field(f"{one}/run.csv", "note"), (["ls"], ["note", "one"], ["show", "one", "--json"])),
                     (lambda: field("sweeps/board/sweep.csv", "reason"), (["ls", "board"],)),
                     (lambda: line(f"{one}/log.txt"), (["watch", "one"],)),
                     (lambda: line(f"{one}/experiment.ini"), (["run", "one", "--dry-run"],)),
                     (lambda: line(item), (["queue"], ["queue", "run"]))):
    fresh()
    plant()
    for args in verbs:
        verdict(f"{args}", silent(args))

# Words of the command line; the lock of a run that another holds, and its owner's name.
for n, word in enumerate(PLANTS):
    fresh()
    os.makedirs(word, exist_ok=True)
    for before, after in (([], []), (["show"], []), (["tag", "one", b"+"], []), (["run", "tiny.ini", b"name="], ["epochs=1"]),
                          (["run", "tiny.ini", b"lr="], []), (["export", "one", "-o", b"a/b"], [])):
        args = [a.encode() if isinstance(a, str) else a for a in before]
        glued = args[:-1] + [args[-1] + word] if args and isinstance(before[-1], bytes) else args + [word]
        verdict(f"{before} {n}", silent(glued + after))
    with open(f"results/{one}/lock", "wb") as lock:
        lock.write(b"process 1 on " + word + b"\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        for args in (["resume", "one", "epochs=3"], ["rm", "one"], ["ls"]):
            verdict(f"{args} of a held run {n}", silent(args))

# A tag that cannot be seen is refused. JSON has what stands in a file, escaped.
fresh()
verdict("a tag with U+202E", b"" if b"cannot be seen" in run(["tag", "one", "+a\u202eb"])[1] else "it is taken")
run(["note", "one", "a\u202eb\u009bc\U000e0001"])
out = run(["show", "one", "--json"])[0]
verdict("JSON escapes", None if b"a\\u202eb\\u009bc\\udb40\\udc01" in out and
        json.loads(out).get("note") == "a\u202eb\u009bc\U000e0001" else out)

# On a terminal drawings keep their colours, and nothing else gets out.
path = f"results/{one}/run.csv"
with open(path, newline="") as f:
    rows = list(csv.reader(f))
rows[1][rows[0].index("data_hash")] = "x\x1b[8m\x1b]0;y\x07z\u202e"
with open(path, "w", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows(rows)
out = on_terminal(["predict", "one", "--draw", "--first", "1"])
verdict("colours of a drawing", None if b"\x1b[38;5;" in out else out[:300])
verdict("nothing else on a terminal",
        out[:600] if re.search(rb"\x1b\[8m|\x1b\]|\x07|\xe2\x80\xae", out) or b"data_hash was x^[[8m" not in out else None)
out = on_terminal(["run", "tiny.ini", "epochs=2", "name=a\u202eb\u009bc"])
verdict("nor as a run is followed", out[:600] if re.search("\u202e|\u009b".encode(), out) else None)

print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed > 0)
