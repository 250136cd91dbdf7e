"""panel.py KEYS FIRST COMMAND...: presses FIRST on a terminal, as printf writes it, then types into the field
epochs of Setup and prints how long the picture took to be whole again behind each key: the median and the
longest, in milliseconds."""
import os, signal, statistics, sys, time

from setup_pty import listen, start

pid, fd = start(sys.argv[3:])


def last_byte(seconds):
    """When the last byte of so many seconds came; None: none did."""
    last, until = None, time.time() + seconds
    while (left := until - time.time()) > 0:
        try:
            if listen(fd, left):
                last = time.time()
        except OSError:
            break  # it has gone
    return last


def press(keys, seconds):
    begun = time.time()
    os.write(fd, keys)
    last = last_byte(seconds)
    return 1e3 * (last - begun) if last else None


if sys.argv[2]:
    press(sys.argv[2].encode().decode("unicode_escape").encode(), 2)
press(b"jjjjj\r\x7f6", 1)
took = [press(b"4" if i % 2 == 0 else b"\x7f", 0.3) for i in range(int(sys.argv[1]))]
took = [t for t in took if t is not None]
os.kill(pid, signal.SIGTERM)
last_byte(1)
print("%d %.0f %.0f" % (len(took), statistics.median(took or [999]), max(took or [999])))
