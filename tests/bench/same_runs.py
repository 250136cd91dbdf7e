"""Runs ten experiments with two programs and compares what they write, but for times:
python3 tests/bench/same_runs.py OLD NEW. For whoever rebuilds the inside: `git worktree` has an old tree."""
import csv
import os
import subprocess
import sys
import tempfile

SMALL = "data=synthetic train_limit=640 test_limit=320 batch=32 epochs=3 backend=cpu threads=1"
EXPERIMENTS = [
    ("run", "model=tiny"),
    ("run", "model=lenet optimizer=adam lr=0.001 valid=20%"),
    ("run", "model=tiny mode=ensemble members=3 devices=2"),
    ("run", "model=tiny devices=4 optimizer=momentum log_every=1"),
    ("run", "model=small precision=bf16 augment=flip+crop:2"),
    ("run", "model=tiny lr=1e30"),
    ("run", "model=tiny max_steps=25 keep=all schedule=cosine warmup=1"),
    ("run", "model=tiny patience=1 target_acc=0.2"),
    ("sweep", "model=tiny lr=0.1,0.2 optimizer=momentum momentum=0.5,0.9 repeats=2 --name grid"),
    ("sweep", "model=tiny lr=0.1,0.2,1e30 devices=1,7 --name odd"),
]
TIMES = ("seconds", "utc", "_per_second", "percent", "celsius", "watts")
OWN = ("run", "pid", "host", "version", "epochs_check", "peak_memory_bytes", "shared", "name", "sweep")


def table(path):
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    return [{k: v for k, v in r.items() if k not in OWN and not any(t in k for t in TIMES)} for r in rows]


def folder(program, path):
    """What stands in a run's folder, as values that two programs must have alike."""
    out = {"files": sorted(n for n in os.listdir(path) if n not in ("control", "wish"))}
    for name in out["files"]:
        if name.endswith(".csv"):
            out[name] = table(os.path.join(path, name))
        elif name.endswith((".ini", ".net")):
            out[name] = open(os.path.join(path, name)).read()
    weights = os.path.join(path, "..", "w.safetensors")
    if "best.safetensors" in out["files"]:
        subprocess.run([program, "weights", path, "-o", weights, "--at", "best"], check=True, capture_output=True)
        out["weights"] = open(weights, "rb").read()
        os.remove(weights)
    return out


def results(program, words, root):
    subprocess.run([program, "run", *words.split(), *SMALL.split(),
                    "--results", root, "--quiet"], capture_output=True)
    out = {}
    runs = sorted(n for n in os.listdir(root) if n.startswith("2"))
    for at, name in enumerate(runs):
        out[f"run {at}"] = folder(program, os.path.join(root, name))
    for sweep in os.listdir(os.path.join(root, "sweeps")) if os.path.isdir(os.path.join(root, "sweeps")) else []:
        path = os.path.join(root, "sweeps", sweep)
        out["files of the sweep"] = sorted(n for n in os.listdir(path) if n not in ("control", "wish"))
        out["sweep.csv"] = table(os.path.join(path, "sweep.csv"))
        out["sweep.ini"] = open(os.path.join(path, "sweep.ini")).read()
        out["ledger"] = [(r["cell"], r["state"], r["reason"]) for r in table(os.path.join(path, "ledger.csv"))]
    return out


def differences(a, b, at=""):
    if type(a) is not type(b):
        yield f"{at}: {a!r} and {b!r}"
    elif isinstance(a, dict):
        for k in sorted(set(a) | set(b), key=str):
            yield from differences(a.get(k), b.get(k), f"{at}/{k}")
    elif isinstance(a, list):
        if len(a) != len(b):
            yield f"{at}: {len(a)} and {len(b)} entries"
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, f"{at}[{i}]")
    elif a != b:
        yield f"{at}: {str(a)[:80]!r} and {str(b)[:80]!r}"


def main():
    old, new = (os.path.abspath(p) for p in sys.argv[1:3])
    failed = 0
    for kind, words in EXPERIMENTS:
        with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
            was, now = results(old, words, a), results(new, words, b)
            found = list(differences(was, now)) or ([] if was else ["nothing was written"])
        failed += bool(found)
        print(("FAILED " if found else "ok ") + f"{kind} {words}")
        for line in found[:10]:
            print("   ", line)
    print(f"{len(EXPERIMENTS) - failed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
