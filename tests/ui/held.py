"""held.py COUNT KEYS COMMAND...: presses KEYS so many times on Setup, as fast as the terminal takes them, and
prints how often something of the picture came before the last of them was taken."""
import os, signal, sys, threading, time

from setup_pty import listen, start

pid, fd = start(sys.argv[3:])


def hold(keys):
    while keys:
        keys = keys[os.write(fd, keys[:4096]) :]


held = threading.Thread(target=hold, args=(sys.argv[2].encode() * int(sys.argv[1]),))
held.start()
pictures, last = 0, 0
while held.is_alive():
    if listen(fd, 0.02):  # one picture may come in pieces
        pictures += time.time() - last > 0.01
        last = time.time()
os.kill(pid, signal.SIGTERM)
try:
    while listen(fd, 10):
        pass
except OSError:
    pass  # it has gone
print(pictures)
