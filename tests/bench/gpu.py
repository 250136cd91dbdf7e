"""gpu.py --chorus PROGRAM [--data FOLDER] [--model ROW,ROW...] [--results FILE] [--seconds N] [--within N]
[--alone | --peers] [--keep FILE]

Training on one GPU: chorus, PyTorch and JAX on the same model, batch, precision and resident data.
Seconds of an epoch of 60,000 images, the median of five after two, each in one process. The ratio is
to the fastest way of the peers. A table goes to stdout and, with --results, into that file, each row
as soon as it is measured. Rows: lenet cnn cnn-ensemble mlp resnet18-bf16 resnet18-tf32; without
--model all of them. A row takes no longer than N seconds (170): what has no answer by then is stopped,
with all that it started, and what it had found counts. --within N: nor do all rows take longer than N
seconds; those whose networks take long to compile get more of them. --alone leaves the peers out: some
seconds a row. --peers measures the peers alone, and of PyTorch its quickest way alone.

--keep FILE: each measurement is a JSON object in FILE as soon as it is known. A peer that FILE has for this
row and GPU is not measured again, since its speed does not depend on chorus. `--peers` compares it with the
last speed of chorus in FILE.
"""

import argparse
import csv
import datetime
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = os.path.join(HERE, "peers")

# name: experiment; limit in seconds by the arithmetic; must be, at most; and against the fastest peer.
ROWS = {
    "lenet": ("model=lenet optimizer=sgd lr=0.1 init=lecun batch=256 precision=tf32",
              0.0020, 0.015, 2),
    "cnn": ("model=cnn optimizer=momentum lr=0.02 batch=256 precision=tf32", 0.0041, 0.030, 1.8),
    "cnn-ensemble": ("model=cnn mode=ensemble members=8 devices=1 optimizer=momentum lr=0.02 "
                     "batch=128 precision=tf32", 0.033, 0.170, 2),
    "mlp": ("model=mlp optimizer=sgd lr=0.001 batch=200 precision=tf32", 0.0014, 0.015, 1.5),
    "resnet18-bf16": ("model=resnet18 optimizer=sgd lr=0.05 init=he batch=256 precision=bf16",
                      0.21, 0.8, 1.15),
    "resnet18-tf32": ("model=resnet18 optimizer=sgd lr=0.05 init=he batch=256 precision=tf32",
                      0.41, 1.3, 1.1),
}
PUBLISHED = {"lenet": "0.9 s on one device, 1.3 s on two (D2L in JAX, batch 256)",
             "resnet18-tf32": "19.9 s on one device, 14.4 s on two (D2L in DJL)"}
HEAVY = {"cnn-ensemble": 1.5, "resnet18-bf16": 2, "resnet18-tf32": 2}  # shares of a row's time; others: 1
LEAST = 15  # seconds that a row is given, or it is not begun
HEAD = ("| | chorus | must be | limit | images/s | fastest peer | ratio | must be | peers, s | "
        "evaluation, files | measured |\n" + "|---" * 11 + "|")


def say(text):
    print(text, file=sys.stderr, flush=True)


def column(path, name):
    with open(path, newline="") as f:
        return [row[name] for row in csv.DictReader(f)]


def run(command, seconds, **more):
    """Its exit code, None where it was stopped because its time was over; stdout and stderr. more: of the
    environment."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, start_new_session=True,
                                   env=dict(os.environ, **more))
        try:
            code = process.wait(timeout=max(seconds, 1))
        except subprocess.TimeoutExpired:
            code = None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()


def chorus(program, spec, epochs, data, seconds, **more):
    """Seconds of each epoch's training, of each epoch with all that comes between two, run.csv's row."""
    with tempfile.TemporaryDirectory() as results:
        command = [program, "run", *spec.split(), f"epochs={epochs}", "backend=cuda", "--quiet",
                   "--results", results] + (["--data-dir", data] if data else [])
        code, out, err = run(command, seconds, **more)
        if code is None:
            raise RuntimeError(f"chorus: no answer within {seconds:.0f} s")
        if code:
            raise RuntimeError(f"chorus: exit {code}: {err.strip()[-300:]}")
        folder = out.strip().splitlines()[-1]
        rows = os.path.join(folder, "epochs.csv")
        total = [0.0] + [float(s) for s in column(rows, "train_seconds")]
        ended = [datetime.datetime.fromisoformat(t.rstrip("Z")) for t in column(rows, "ended_utc")]
        with open(os.path.join(folder, "run.csv"), newline="") as f:
            row = next(csv.DictReader(f))
    return ([b - a for a, b in zip(total, total[1:])],
            [(b - a).total_seconds() for a, b in zip(ended, ended[1:])], row)


def gpu_name():
    try:
        code, out, _ = run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], 30)
    except OSError:
        return "unknown"
    return out.strip().splitlines()[0] if code == 0 and out.strip() else "unknown"


class Kept:
    """What was measured: in memory, and in a file where one is named."""

    def __init__(self, path):
        self.path, self.gpu, self.all = path, gpu_name(), []
        if path and os.path.exists(path):
            with open(path) as f:
                self.all = [json.loads(line) for line in f if line.endswith("}\n")]

    def add(self, row, what, seconds):
        self.all.append({"row": row, "what": what, "seconds": seconds, "gpu": self.gpu,
                         "commit": commit()})
        if self.path:
            with open(self.path, "a") as f:
                f.write(json.dumps(self.all[-1]) + "\n")

    def of(self, row):
        """Seconds of each way; of chorus: at this commit."""
        return {k["what"]: k["seconds"] for k in self.all if (k["row"], k["gpu"]) == (row, self.gpu)
                and (k["what"] != "chorus" or k["commit"] == commit())}


def peer(name, row, data, seconds, one):
    """Seconds of an epoch by each of its ways, or by the first: the last line that it printed whole."""
    command = [sys.executable, os.path.join(PEERS, f"gpu_{name}.py"), row]
    command += ["--one"] if one and name == "torch" else []
    code, out, err = run(command + ([data] if data else []) + ["--seconds", str(seconds * 0.7)], seconds)
    if code is None:
        say(f"  {name}: stopped after {seconds:.0f} s")
    if code or err.strip():
        say("  " + err.strip()[-400:].replace("\n", "\n  "))
    found = {}
    for line in out.splitlines():
        if line.startswith("{") and line.endswith("}"):
            found = json.loads(line)
    return {f"{name} {way}": s for way, s in found.items() if s}


def commit():
    """A kit's own word for it; else git's, where there is one."""
    path = os.path.join(HERE, "..", "..", "COMMIT")
    if os.path.exists(path):
        with open(path) as f:
            return f.read().strip()
    try:
        done = subprocess.run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"],
                              capture_output=True, text=True)
    except OSError:
        return "unknown"
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def ms(seconds):
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def verdict(good):
    return "met" if good else "**not met**"


def peers_of(a, name, until):
    """Seconds of each peer's way: those that are kept, and those that are not yet."""
    for peer_name, share in () if a.alone else (("jax", 0.45), ("torch", 1)):
        left = until - time.monotonic()
        if not any(what.startswith(peer_name) for what in a.keep.of(name)):
            say(f"  {peer_name}, {left * share:.0f} s")
            for what, seconds in peer(peer_name, name, a.data, left * share, a.peers).items():
                a.keep.add(name, what, seconds)
    return {what: s for what, s in a.keep.of(name).items() if what != "chorus"}


def against(found, own, ratio):
    """Cells: the fastest peer, how much longer it takes, what must be, all peers."""
    if not found:
        return ["", "", f"{ratio}", ""]
    best = min(found, key=found.get)
    good = f"{ratio}: {verdict(found[best] / own >= ratio)}" if own else f"{ratio}"
    return [f"{best} {ms(found[best])}", f"{found[best] / own:.2f}" if own else "", good,
            ", ".join(f"{k} {v:.4f}" for k, v in found.items())]


def compare(a, name):
    """A row of the peers alone, beside what is kept of chorus."""
    found = peers_of(a, name, time.monotonic() + a.seconds)
    own = a.keep.of(name).get("chorus")
    return f"| {name} | {ms(own) if own else 'not measured'} | | | | " + " | ".join(
        against(found, own, ROWS[name][3])) + " | | |"


def measure(a, name):
    spec, limit, most, ratio = ROWS[name]
    until = time.monotonic() + a.seconds
    say(f"{name}: chorus")
    share, without = a.seconds / (1 if a.alone else 2), ""
    try:
        epochs, between, row = chorus(a.chorus, spec, 7, a.data, share)
    except RuntimeError as e:
        why = f"| {name} | {e} |" + " |" * 9
        share -= time.monotonic() - until + a.seconds
        if not name.startswith("resnet18") or share < 5:
            return why
        say(f"  {e}; once more without cuDNN")
        try:
            epochs, between, row = chorus(a.chorus, spec, 7, a.data, share, CHORUS_CUDNN="off")
        except RuntimeError:
            return why
        without = f" without cuDNN (with it {e})"
    own = statistics.median(epochs[2:])
    a.keep.add(name, "chorus", own)
    found = peers_of(a, name, until)
    members = 8 if name == "cnn-ensemble" else 1
    batch = int(re.search(r"batch=(\d+)", spec).group(1))
    rate = 60000 // batch * batch * members / own
    compared = against(found, own, ratio)
    cells = [name + (f" (published: {PUBLISHED[name]})" if name in PUBLISHED else ""), ms(own) + without,
             f"{ms(most)}: {verdict(own <= most)}", ms(limit), f"{rate:,.0f}",
             *compared,
             f"an epoch with both takes {statistics.median(between[1:]) / own:.2f} x its training",
             f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}, {commit()}, {row['isa']}"]
    return "| " + " | ".join(cells) + " |"


def overhead(a):
    """Ten epochs of lenet with evaluation, rows and checkpoints against their training alone."""
    try:
        epochs, _, row = chorus(a.chorus, ROWS["lenet"][0], 10, a.data, min(30, a.seconds))
    except RuntimeError as e:
        return str(e)
    whole = float(row["wall_seconds"]) / sum(epochs)
    return (f"Ten epochs of lenet with evaluation take {whole:.2f} times their training "
            f"(at most 2: {verdict(whole <= 2)}).")


def rows_of(text):
    names = text.split(",")
    for name in names:
        if name not in ROWS:
            raise argparse.ArgumentTypeError(f"{name} is none of {' '.join(ROWS)}")
    return names


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and what runs is stopped with it
    parser = argparse.ArgumentParser()
    parser.add_argument("--chorus", required=True)
    parser.add_argument("--data")
    parser.add_argument("--model", type=rows_of, default=list(ROWS))
    parser.add_argument("--results")
    parser.add_argument("--seconds", type=float, default=170)
    parser.add_argument("--within", type=float, default=1e9)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--keep", type=Kept, default=None)
    a = parser.parse_args()
    a.keep = a.keep or Kept(None)
    # nvidia-smi decides: chorus opens libraries of gigabytes, which may take long. Else chorus says why not.
    code, out, _ = run([a.chorus, "devices", "--json"], 60) if a.keep.gpu == "unknown" else (1, "", "")
    if code == 0 and not json.loads(out)["cuda_devices"]:
        print(f"skipped: no CUDA device ({json.loads(out)['cuda']['reason']}); {len(a.model)} rows")
        return

    def tell(text):
        print(text, flush=True)
        if a.results:
            with open(a.results, "a") as f:
                f.write(text + "\n")

    tell("\n" + HEAD)
    most, end = a.seconds, time.monotonic() + a.within
    for i, name in enumerate(a.model):
        left = end - time.monotonic()
        share = left * HEAVY.get(name, 1) / sum(HEAVY.get(n, 1) for n in a.model[i:])
        a.seconds = min(most, left, max(share, LEAST))
        row = compare if a.peers else measure
        tell(row(a, name) if left >= min(most, LEAST) else f"| {name} | no time was left |" + " |" * 9)
    if "lenet" in a.model and not a.peers and end - time.monotonic() > 2 * LEAST:
        tell("\n" + overhead(a))


main()
