"""The programs that bench.py measures: started, told what to do, and watched for whose the cores
were."""

import json
import os
import re
import subprocess
import sys
import time

CORES = sorted(os.sched_getaffinity(0))
QUIET = 0.05        # share of the cores that others may use during a spell
TRIES = 4           # of a spell that others disturbed

SPELL, SCRATCH = "", ""  # chorus's program, a folder for logs and caches: set by bench.py


def say(text):
    print(text, file=sys.stderr, flush=True)


def cpu(key):
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith(key):
                return line.split(":", 1)[1].strip()
    return ""


def cpu_name():
    """AMD calls several generations by one name: with which of them it is."""
    if cpu("vendor_id") != "AuthenticAMD":
        return cpu("model name")
    family, model = int(cpu("cpu family")), int(cpu("model"))
    zen4 = 0x10 <= model < 0x20 or model >= 0x60
    zen = {25: "Zen 4" if zen4 else "Zen 3", 26: "Zen 5"}.get(family, f"family {family}")
    return f"{cpu('model name')} ({zen})"


def busy():
    """Seconds that this process's cores were not idle, time taken by other guests included."""
    total = 0
    with open("/proc/stat") as f:
        for line in f:
            word = line.split()
            if re.fullmatch(r"cpu\d+", word[0]) and int(word[0][3:]) in CORES:
                values = [int(v) for v in word[1:9]]
                total += sum(values) - values[3] - values[4]
    return total / os.sysconf("SC_CLK_TCK")


def used(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            words = f.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return sum(int(v) for v in words[11:15]) / os.sysconf("SC_CLK_TCK")


class Watch:
    """Whose the cores' time was between start and share(): others' part of it."""

    def __init__(self, pids):
        self.pids = [os.getpid(), *pids]
        self.at = (time.monotonic(), busy(), [used(p) for p in self.pids])

    def share(self):
        begin, was, own = self.at
        passed = (time.monotonic() - begin) * len(CORES)
        mine = sum(used(p) - o for p, o in zip(self.pids, own))
        # The kernel counts in hundredths of a second.
        return max(0.0, (busy() - was - mine - 0.02) / passed)


def wait_for_quiet(left):
    """Seconds that it took, at most left."""
    begin = time.monotonic()
    while time.monotonic() - begin < left:
        watch = Watch([])
        time.sleep(0.5)
        if watch.share() < QUIET:
            break
    return time.monotonic() - begin


class Gone(Exception):
    pass


class Program:
    def __init__(self, name, command, environment):
        self.name = name
        self.log = open(os.path.join(SCRATCH, f"{name}.log"), "w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True, env=environment)
        self.ready = self.read()
        self.memory = self.ready["memory"]

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.log.seek(0)
            lines = [s for s in self.log.read().splitlines() if s.strip()]
            lines = [s for s in lines if "Error: " in s] or lines
            raise Gone(lines[-1] if lines else f"{self.name} ended with {self.process.returncode}")
        return json.loads(line)

    def ask(self, command):
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.read()
        self.memory = answer["memory"]
        return answer

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def environment(**more):
    return dict(os.environ, TORCHINDUCTOR_CACHE_DIR=os.path.join(SCRATCH, "inductor"), **more)


def spell(program, command, patience):
    """The answer to one spell, others' share of the cores, and the patience that is left."""
    best = None
    for _ in range(TRIES):
        watch = Watch([program.process.pid])
        answer = program.ask(command)
        share = watch.share()
        if best is None or share < best[1]:
            best = (answer, share)
        if share <= QUIET or patience <= 0:
            break
        patience -= answer["seconds"] + wait_for_quiet(patience)
    return (*best, patience)
