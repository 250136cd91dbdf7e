"""The workbench on a terminal of 160x42, whose first screen is Setup: for what presses keys there."""
import fcntl, os, pty, select, struct, termios, time


def listen(fd, seconds):
    """What came; nothing where nothing did so long. OSError: it has gone."""
    return os.read(fd, 65536) if select.select([fd], [], [], seconds)[0] else b""


def start(command):
    """Its process and terminal, once the panel of what the form means is shown and nothing more comes."""
    pid, fd = pty.fork()
    if pid == 0:
        time.sleep(0.05)
        os.execvp(command[0], command)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 42, 160, 0, 0))
    seen, until = b"", time.time() + 30
    while b"what it means" not in seen and time.time() < until:
        seen += listen(fd, 0.3)
    while listen(fd, 0.3):
        pass
    return pid, fd
