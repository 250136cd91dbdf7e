"""job.py COMMAND...: what a shell with jobs does, without its kindness of putting a terminal's modes right: the
command has a group of its own, in front; where it stops, the modes are noted in ./stopped, and after a line
of input it goes on. ./before and ./after have the modes around it all."""
import os, signal, sys, termios

tty = os.open("/dev/tty", os.O_RDWR)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)


def note(path):
    with open(path, "w") as f:
        f.write(repr(termios.tcgetattr(tty)))


note("before")
pid = os.fork()
if pid == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(tty, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execvp(sys.argv[1], sys.argv[1:])
try:
    os.setpgid(pid, pid)
except OSError:
    pass
while True:
    status = os.waitpid(pid, os.WUNTRACED)[1]
    if not os.WIFSTOPPED(status):
        break
    os.tcsetpgrp(tty, os.getpgrp())
    note("stopped")
    os.write(tty, b"[stopped]")
    os.read(tty, 100)
    os.tcsetpgrp(tty, pid)
    os.kill(-pid, signal.SIGCONT)
os.tcsetpgrp(tty, os.getpgrp())
note("after")
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
