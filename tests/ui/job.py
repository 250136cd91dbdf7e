"""job.py COMMAND...: what a shell with jobs does: the command has a group of its own, in front, and its process
id in ./job.pid; where it stops, the modes that it left are noted in ./stopped, the shell's own are set, and
after a line of input it goes on in front: first behind, until the next line, where that is "bg". ./before and
./after have the modes around it all: at the end nobody puts them right."""
import os, signal, sys, termios

tty = os.open("/dev/tty", os.O_RDWR)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)


def note(path):
    with open(path, "w") as f:
        f.write(repr(termios.tcgetattr(tty)))


note("before")
own = termios.tcgetattr(tty)
pid = os.fork()
if pid == 0:
    with open("job.pid", "w") as f: # before the command shows anything
        f.write(str(os.getpid()))
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
    termios.tcsetattr(tty, termios.TCSADRAIN, own)
    os.write(tty, b"[stopped]")
    if os.read(tty, 100).startswith(b"bg"):
        os.kill(-pid, signal.SIGCONT)
        os.write(tty, b"[behind]")
        os.read(tty, 100)
    os.tcsetpgrp(tty, pid)
    os.kill(-pid, signal.SIGCONT)
os.tcsetpgrp(tty, os.getpgrp())
note("after")
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
