"""cost.py screen|plain RESULTS COMMAND...: one run on the first processor, on a terminal of 160x45 that reads what it
is shown or without one. Prints images a second while it trained, nanoseconds of the threads that compute for an
image, and the share of a core, in per cent, that the first thread takes while the run goes. The run ends by itself
and touches ./ended (its on_end); then q is pressed."""
import csv, fcntl, glob, os, pty, select, struct, sys, termios, time

screen, results, command = sys.argv[1] == "screen", sys.argv[2], sys.argv[3:]
if os.path.exists("ended"):
    os.unlink("ended")
pid, fd = pty.fork() if screen else (os.fork(), -1)
if pid == 0:
    if not screen:
        os.setsid()  # as on a terminal of its own: processors are shared out among sessions
        null = os.open(os.devnull, os.O_RDWR)
        for i in range(3):
            os.dup2(null, i)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.execvp(command[0], command)
if screen:
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 45, 160, 0, 0))


def first_thread():
    """Seconds on a processor, and of the clock."""
    try:
        used = int(open("/proc/%d/task/%d/schedstat" % (pid, pid)).read().split()[0]) / 1e9
    except (OSError, IndexError, ValueError):
        used = None
    return used, time.monotonic()


def listen(seconds):
    if fd < 0:
        time.sleep(seconds)
    elif select.select([fd], [], [], seconds)[0]:
        try:
            os.read(fd, 1 << 16)
        except OSError:
            pass


start = last = None
until = time.monotonic() + 120
while not os.path.exists("ended") and time.monotonic() < until:
    listen(0.02)
    now = first_thread()
    if now[0] is not None:
        last = now
    if start is None and glob.glob(results + "/2*/epochs.csv"):
        start = now
end = last
if screen:
    time.sleep(0.2)
    os.write(fd, b"q")
while True:
    done, status, used = os.wait4(pid, os.WNOHANG)
    if done:
        break
    listen(0.02)
    if time.monotonic() > until:
        os.kill(pid, 9)
run = sorted(glob.glob(results + "/2*"))[-1]
row = next(csv.DictReader(open(run + "/run.csv")))
images, seconds = float(row["images"]), float(row["train_seconds"])
computing = used.ru_utime + used.ru_stime - (end[0] or 0)
print(round(images / seconds), round(1e9 * computing / images), round(100 * (end[0] - start[0]) / (end[1] - start[1]), 2))
