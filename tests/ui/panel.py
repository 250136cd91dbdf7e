"""panel.py KEYS FIRST COMMAND...: presses FIRST on a terminal, as printf writes it, then types into the field
epochs of Setup and prints how many keys changed the picture, and milliseconds from a key to its whole picture: of
processor the median and the longest, of the clock the shortest, which other programs hardly change."""
import os, signal, statistics, sys, time

from setup_pty import listen, start

pid, fd = start(sys.argv[3:])


def processor():
    """Seconds that all threads of the program have computed: its process's CPUCLOCK_SCHED."""
    return time.clock_gettime(~pid << 3 | 2)


def last_byte(seconds):
    """When the last byte of so many seconds came, by both clocks; None: none did."""
    last, until = None, time.time() + seconds
    while (left := until - time.time()) > 0:
        try:
            if listen(fd, left):
                last = processor(), time.time()
        except OSError:
            break  # it has gone
    return last


def press(keys, seconds):
    begun = processor(), time.time()
    os.write(fd, keys)
    last = last_byte(seconds)
    return [1e3 * (b - a) for a, b in zip(begun, last)] if last else None


if sys.argv[2]:
    press(sys.argv[2].encode().decode("unicode_escape").encode(), 2)
press(b"jjjjj\r\x7f6", 1)
took = [press(b"4" if i % 2 == 0 else b"\x7f", 0.3) for i in range(int(sys.argv[1]))]
took = [t for t in took if t is not None] or [[999, 999]]
os.kill(pid, signal.SIGTERM)
try:
    while listen(fd, 1):
        pass
except OSError:
    pass
computed, passed = zip(*took)
print("%d %.0f %.0f %.0f" % (len(took), statistics.median(computed), max(computed), min(passed)))
