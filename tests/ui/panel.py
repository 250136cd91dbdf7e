"""panel.py KEYS FIRST COMMAND...: presses FIRST on a terminal, as printf writes it, then types into the field
epochs of Setup and prints how long the picture took to be whole again behind each key: the median and the
longest, in milliseconds."""
import fcntl, os, pty, select, signal, statistics, struct, sys, termios, time

pid, fd = pty.fork()
if pid == 0:
    time.sleep(0.05)
    os.execvp(sys.argv[3], sys.argv[3:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 42, 160, 0, 0))
seen = b""


def last_byte(seconds):
    """When the last byte of so many seconds came; None: none did."""
    global seen
    last, until = None, time.time() + seconds
    while (left := until - time.time()) > 0:
        if select.select([fd], [], [], left)[0]:
            try:
                seen += os.read(fd, 65536)
            except OSError:
                break  # it has gone
            last = time.time()
    return last


def press(keys, seconds):
    begun = time.time()
    os.write(fd, keys)
    last = last_byte(seconds)
    return 1e3 * (last - begun) if last else None


until = time.time() + 30
while b"what it means" not in seen and time.time() < until:
    last_byte(0.3)
if sys.argv[2]:
    press(sys.argv[2].encode().decode("unicode_escape").encode(), 2)
press(b"jjjjj\r\x7f6", 1)
took = [press(b"4" if i % 2 == 0 else b"\x7f", 0.3) for i in range(int(sys.argv[1]))]
took = [t for t in took if t is not None]
os.kill(pid, signal.SIGTERM)
last_byte(1)
print("%d %.0f %.0f" % (len(took), statistics.median(took or [999]), max(took or [999])))
