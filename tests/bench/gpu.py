"""gpu.py --chorus PROGRAM [--data FOLDER] [--model ROW] [--results FILE]

Training on one GPU: chorus, PyTorch and JAX on the same model, batch, precision and resident data.
Seconds of an epoch of 60,000 images, the median of five after two, each in one process. The ratio is
to the fastest way of the peers. A table goes to stdout and, with --results, its lines into that file.
Rows: lenet cnn cnn-ensemble mlp resnet18-bf16 resnet18-tf32; without --model all of them, and the
overhead of evaluation, rows and checkpoints.
"""

import argparse
import csv
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

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
HEAD = ("| | chorus | must be | limit | images/s | fastest peer | ratio | must be | peers, s | "
        "evaluation, files | measured |\n" + "|---" * 11 + "|")


def say(text):
    print(text, file=sys.stderr, flush=True)


def column(path, name):
    with open(path, newline="") as f:
        return [float(row[name]) for row in csv.DictReader(f) if row[name]]


def chorus(program, spec, epochs, data):
    """Seconds of each epoch's training, and run.csv's row."""
    with tempfile.TemporaryDirectory() as results:
        command = [program, "run", *spec.split(), f"epochs={epochs}", "backend=cuda", "--quiet",
                   "--results", results] + (["--data-dir", data] if data else [])
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise RuntimeError(f"chorus: exit {done.returncode}: {done.stderr.strip()[-300:]}")
        run = done.stdout.strip().splitlines()[-1]
        total = column(os.path.join(run, "epochs.csv"), "train_seconds")
        with open(os.path.join(run, "run.csv"), newline="") as f:
            row = next(csv.DictReader(f))
    return [b - a for a, b in zip([0] + total, total)], row


def peer(name, row, data):
    command = [sys.executable, os.path.join(PEERS, f"gpu_{name}.py"), row] + ([data] if data else [])
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=150)
    except subprocess.TimeoutExpired:
        say(f"  {name}: no answer within 150 s")
        return {}
    if done.returncode:
        say(f"  {name}: {done.stderr.strip()[-400:]}")
        return {}
    if done.stderr.strip():
        say("  " + done.stderr.strip()[-400:].replace("\n", "\n  "))
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    return {f"{name} {way}": s for way, s in answer.items() if s}


def commit():
    done = subprocess.run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"], capture_output=True,
                          text=True)
    path = os.path.join(HERE, "..", "..", "COMMIT")
    if done.returncode == 0:
        return done.stdout.strip()
    return open(path).read().strip() if os.path.exists(path) else "unknown"


def ms(seconds):
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def verdict(good):
    return "met" if good else "**not met**"


def measure(a, name):
    spec, limit, most, ratio = ROWS[name]
    say(f"{name}: chorus")
    try:
        epochs, row = chorus(a.chorus, spec, 7, a.data)
    except RuntimeError as e:
        return f"| {name} | {e} |" + " |" * 9
    own = statistics.median(epochs[2:])
    wall = float(row["wall_seconds"])
    train = float(row["train_seconds"])
    found = {}
    for peer_name in ("torch", "jax"):
        say(f"  {peer_name}")
        found.update(peer(peer_name, name, a.data))
    members = 8 if name == "cnn-ensemble" else 1
    batch = int(re.search(r"batch=(\d+)", spec).group(1))
    rate = 60000 // batch * batch * members / own
    best = min(found, key=found.get) if found else None
    cells = [name + (f" (published: {PUBLISHED[name]})" if name in PUBLISHED else ""), ms(own),
             f"{ms(most)}: {verdict(own <= most)}", ms(limit), f"{rate:,.0f}",
             f"{best} {ms(found[best])}" if best else "",
             f"{found[best] / own:.2f}" if best else "",
             f"{ratio}: {verdict(found[best] / own >= ratio)}" if best else f"{ratio}",
             ", ".join(f"{k} {v:.4f}" for k, v in found.items()),
             f"whole run {wall / train:.2f} x its training",
             f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}, {commit()}, {row['isa']}"]
    return "| " + " | ".join(cells) + " |"


def overhead(a):
    """Ten epochs of lenet with evaluation, rows and checkpoints against their training alone."""
    try:
        epochs, row = chorus(a.chorus, ROWS["lenet"][0], 10, a.data)
    except RuntimeError as e:
        return str(e)
    between = float(row["wall_seconds"]) / sum(epochs)
    return (f"Ten epochs of lenet with evaluation take {between:.2f} times their training "
            f"(at most 2: {verdict(between <= 2)}).")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--chorus", required=True)
    parser.add_argument("--data")
    parser.add_argument("--model", choices=ROWS)
    parser.add_argument("--results")
    a = parser.parse_args()
    devices = json.loads(subprocess.run([a.chorus, "devices", "--json"], capture_output=True,
                                        text=True, check=True).stdout)
    if not devices["cuda_devices"]:
        print(f"skipped: no CUDA device ({devices['cuda']['reason']}); {len(ROWS)} rows")
        return
    lines = [measure(a, name) for name in ([a.model] if a.model else ROWS)]
    text = HEAD + "\n" + "\n".join(lines) + "\n"
    if not a.model or a.model == "lenet":
        text += "\n" + overhead(a) + "\n"
    print(text)
    if a.results:
        with open(a.results, "a") as f:
            f.write("\n" + text)


main()
