#!/usr/bin/env python3
"""plants.py SECONDS SEED CASE KIND CHORUS: plants what does not belong there into a copy of ./whole, calls one verb or
two, and looks at what they print, write and return. KIND: files (links, pipes, sockets, devices, folders, files without
permission in a file's place), bytes (those that drive a terminal, in a column or line), names (of files and folders)
or words (of the command line)."""
import csv, fcntl, os, random, re, shutil, socket, stat, subprocess, sys, time

seconds, seed, only, kind, chorus = float(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]
HANGS = 120  # seconds that a busy machine keeps

# What drives a terminal, or hides in one. CSV has a field with a newline in it between quotes.
PARTS = [b"\x1b]0;y\x07", b"\x1b[31m", b"\x9b31m", b"\xc2\x9b31m", b"\xe2\x80\xae", b"\xe2\x80\x8b", b"\r", b"\x07",
         b"\x7f", b"\xad", b"\xc2\xad", b"\x90q", b"\xef\xbb\xbf", b"\x08", b"\xff", b"\n\x1bc", b"x", b"-1", b" ", b";"]
WRONG = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")

READS = ["ls", "ls --json", "ls board", "ls model=x", "ls --sort best_test_acc", "show one", "show one --json",
         "show three", "tag one", "tag @all", "note one", "compare one three", "compare board --csv -",
         "compare one three --json", "export @all", "export board -o all.csv --force", "ensemble three", "ensemble one three",
         "ensemble three --json", "plot one", "plot three --kind prefix", "plot board --kind board",
         "plot one -o plot.svg --force", "predict three --json", "predict one --csv -", "predict one --draw --first 1",
         "watch one", "watch board", "queue", "queue --json", "run one --dry-run", "run board.ini --dry-run",
         "run tiny.ini --dry-run --json", "report one -o report", "weights one -o w.safetensors --force",] + [f"--results results --keys screen{n} --frame 80x24" for n in (2, 3, 5, 7)]
WRITES = ["resume one epochs=3", "resume one epochs=3 --quiet",
          "resume board --failed", "resume board --failed --json", "run board.ini lr=0.05,0.1,0.2 --name board",
          "run board.ini --name board", "tag one +good", "tag @all +good", "note one good", "queue run",
          "queue run --json", "queue rm 1", "queue move 1 1", "run tiny.ini name=more --queue", "rm one",
          "run one epochs=1", "run --match three", "predict one", "run tiny.ini name=new epochs=1"]


def wrong(out):
    """What drives a terminal in it; a byte from 0xa0 that is no UTF-8 does not."""
    text = out.decode("utf-8", "surrogateescape")
    found = WRONG.search(text)
    return found or next((c for c in text if 0xDC80 <= ord(c) < 0xDCA0), None)


def call(words):
    """None, or what the program did wrong."""
    shown = " ".join(repr(w)[1:] if isinstance(w, bytes) else w for w in words)
    try:
        done = subprocess.run([chorus] + words, capture_output=True, stdin=subprocess.DEVNULL, timeout=HANGS)
    except subprocess.TimeoutExpired:
        return f"{shown}: it hangs"
    if done.returncode not in (0, 1, 2, 3, 130):
        return f"{shown}: it ended with {done.returncode}: {done.stderr[-300:]!r}"
    if done.returncode and not done.stderr.strip():
        return f"{shown}: it ended with {done.returncode} without a word"
    outs = [("stdout", done.stdout), ("stderr", done.stderr)]
    if os.path.exists("frame"):  # a screen of the workbench
        outs.append(("screen", open("frame", "rb").read()))
        os.remove("frame")
    for stream, out in outs:
        if wrong(out):
            return f"{shown}: the {stream} has {wrong(out)!r}: {out[:300]!r}"
    return None


def fresh(*folders):
    for folder in ("results", "outside", "report") + folders:
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree("whole", "results", symlinks=True)
    os.mkdir("outside")


def files_of(root):
    return sorted(os.path.relpath(os.path.join(at, f), root) for at, _, files in os.walk(root) for f in files)


FILES = [f for f in files_of("whole") if ".prev." not in f]  # which there are depends on the time
RUNS = sorted(f for f in os.listdir("whole") if f[0] == "2")
NOT_YET = [f"{RUNS[0]}/.checkpoint.safetensors.tmp", f"{RUNS[0]}/control", f"{RUNS[0]}/predictions.safetensors",
           f"{RUNS[0]}/.run.csv.tmp", "sweeps/board/control", "sweeps/board/order.txt", "sweeps/board/order.csv",
           "queue/.lock", "queue/.edit", "queue/.taken", ".index", "trash"]


def plant_file(draw, path):
    """In its place; returns a word for what. What links lead to is in ./outside."""
    what = draw.choice(["link", "link", "dangling link", "link to a folder", "pipe", "pipe", "socket", "device", "folder",
                        "folder with a file", "no permission", "empty"])
    place = f"results/{path}"
    outside = os.path.abspath("outside")
    os.makedirs(os.path.dirname(place), exist_ok=True)
    if what == "no permission" and os.path.exists(place):
        os.chmod(place, 0)
        return what
    if os.path.isfile(place):
        shutil.move(place, "outside/precious")
    else:
        shutil.rmtree(place, ignore_errors=True)
        open("outside/precious", "w").write("precious\n")
    if what == "link":
        os.symlink(outside + "/precious", place)
    elif what == "dangling link":
        os.symlink(outside + "/nothing", place)
    elif what == "link to a folder":
        if path == "trash":  # the user's own: folders may be links
            return what
        os.symlink(outside, place)
    elif what == "pipe":
        os.mkfifo(place)
    elif what == "socket":
        socket.socket(socket.AF_UNIX).bind(f"/proc/self/cwd/{place}" if len(place) < 80 else place[:100])
    elif what == "device":
        try:
            os.mknod(place, 0o666 | stat.S_IFCHR, os.makedev(1, 5))  # /dev/zero
        except PermissionError:
            os.mkfifo(place)
    elif what.startswith("folder"):
        os.mkdir(place)
        if what != "folder":
            open(place + "/file", "w").close()
    else:
        open(place, "w").close()
    return what


def outside_now():
    return {f: (open(f"outside/{f}", "rb").read(), os.stat(f"outside/{f}").st_mode) for f in files_of("outside")}


def files(draw):
    path = draw.choice(FILES + NOT_YET)
    fresh()
    what = plant_file(draw, path)
    before = outside_now()
    for words in [draw.choice(WRITES), draw.choice(READS)][:: draw.choice((1, -1))]:
        why = call(words.split())
        if not why and outside_now() != before:
            why = f"{words}: what lies outside has changed: {sorted(outside_now())}"
        if why:
            return f"a {what} as {path}: {why}"
    return None


def draw_bytes(draw, without=b""):
    out = b"x" + b"".join(draw.choice(PARTS) for _ in range(draw.randint(1, 6)))
    return bytes(c for c in out if c not in without) or b"\x1b"


def bytes_in(draw):
    path = draw.choice([f for f in FILES if not f.endswith(".safetensors")])
    planted = draw_bytes(draw)
    fresh()
    if path.endswith(".csv"):
        with open("results/" + path, newline="", encoding="latin-1") as f:
            rows = list(csv.reader(f))
        column, at = draw.randrange(len(rows[0])), draw.randint(draw.randint(0, 1), len(rows) - 1)
        where = f"{path}, column {rows[0][column]} of row {at}"
        for row in rows[at:] if draw.randrange(2) and at else rows[at : at + 1]:
            row[column] = planted.decode("latin-1")
        with open("results/" + path, "w", newline="", encoding="latin-1") as f:
            csv.writer(f, lineterminator="\n").writerows(rows)
    else:
        lines = open("results/" + path, "rb").read().split(b"\n")
        at = draw.randrange(len(lines))
        where = f"{path}, line {at + 1}"
        lines[at] = draw.choice([lines[at].split(b"=")[0] + b"= ", lines[at], b""]) + planted
        open("results/" + path, "wb").write(b"\n".join(lines))
    with open("results/" + path, "rb") as file:
        if path.endswith("/lock") and draw.randrange(2): # of a run that is at work, and says whose
            fcntl.flock(file, fcntl.LOCK_EX)
        return calls(draw, f"{planted!r} in {where}")


def calls(draw, where):
    for words in [draw.choice(READS), draw.choice(READS), draw.choice(WRITES)][: draw.randint(1, 3)]:
        why = call(words.split())
        if why:
            return f"{where}: {why}"
    return None


def names(draw):
    """A run, a sweep, an item of the queue or a file gets a name, or there is one more."""
    name = draw_bytes(draw, b"/\0")
    fresh()
    at = draw.randrange(4)
    run = os.fsencode(draw.choice(RUNS))
    if at == 0:
        os.rename(b"results/" + run, b"results/" + draw.choice([run[:24] + name, name]))
    elif at == 1:
        os.rename(b"results/sweeps/board", b"results/sweeps/" + name)
    elif at == 2:
        item = os.fsencode(next(f for f in os.listdir("results/queue") if f.endswith(".ini")))
        os.rename(b"results/queue/" + item, b"results/queue/0001-" + name + b".ini")
    else:
        open(b"results/" + draw.choice([b"", run + b"/", b"queue/", b"sweeps/", b"sweeps/board/"]) + name, "w").close()
    return calls(draw, f"{name!r} as a name ({at})")


WORDS = ["W", "help W", "show W", "ls W", "tag one +W", "tag one -W", "note one W", "run tiny.ini name=W epochs=1",
         "run W", "run tiny.ini model=W", "run tiny.ini data=W", "run tiny.ini lr=W", "run tiny.ini W", "queue rm W",
         "export one -o W", "export one -o a/bW", "plot one -o pW", "report one -o W", "ls --results W",
         "ls --results noW", "run tiny.ini epochs=1 --results W", "data --data-dir W", "data check W", "models W",
         "predict one W", "ls model=W", "run tiny.ini name=W --queue", "run board.ini --name W", "compare W one",
         "plot one --metric W", "plot one --kind W", "ls --sort W", "weights one --at W -o w.safetensors", "rm W",
         "resume W", "watch W", "stop W --skip W", "queue move W W", "ensemble W", "--theme W", "W W W"]


def words(draw):
    word = draw_bytes(draw, b"\0")
    fresh("made")
    os.makedirs("made")
    args = [os.fsencode(w).replace(b"W", word) for w in draw.choice(WORDS).split()]
    here = os.getcwd()
    os.chdir("made")  # what it makes under such a name lies in a folder that goes
    for name in ("results", "tiny.ini", "tiny.net", "board.ini"):
        os.symlink("../" + name, name)
    try:
        return call(args) or call(draw.choice(READS[:-4]).split())
    finally:
        os.chdir(here)


todo = {"files": files, "bytes": bytes_in, "names": names, "words": words}[kind]
end = time.monotonic() + seconds
n = failed = 0
while (n == 0 or time.monotonic() < end) and failed < 20:
    n += 1
    if only and n > 1:
        n -= 1
        break
    at = only or n
    why = todo(random.Random(f"{seed}/{kind}/{at}"))
    if why:
        failed += 1
        print(f"failed {at}: {why}", flush=True)
print(f"{n} cases")
