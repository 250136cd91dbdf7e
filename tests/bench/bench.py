"""bench.py --spell PROGRAM --scratch FOLDER [--rows A,B] [--no-growth] [--quick]

Chorus, PyTorch and JAX.

For each row the three do the same work: the same initial weights, the same batches. First their
losses are compared; where they differ by more than the row's limit, no ratio is given. Then they
take turns, a spell each, for some rounds; medians count. A spell during which other processes used
more than a few per cent of the cores is repeated. PyTorch's configuration is the fastest of those
tried first. Evaluation is measured with the weights that chorus has learned by then, and only where
all come to the same loss with them.

The tables go to stdout and, where every row was quiet, into tests/bench/cpu-results.md, in the
section of this processor.
"""

import argparse
import datetime
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time

import growth
import programs
from programs import CORES, QUIET, Gone, Program, cpu, cpu_name, environment, say, spell

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "cpu-results.md")
IMAGES = 60000
SPELL_SECONDS = 1.2
ROUNDS = 5
PATIENCE = 60       # seconds that a row may wait for quiet
SAME = 1e-5         # part of a loss that evaluations with the same weights may differ by

CONV = "channels_last+compiled,channels_last,compiled,plain"

# name: experiment of chorus; configs: what PyTorch tries; limit: largest relative difference of the
# first losses; targets: ratio to PyTorch, ratio to JAX, share of the fp32 peak.
ROWS = {
    "lenet": dict(
        title="lenet, batch 256", spec="model=lenet optimizer=sgd lr=0.1 init=lecun batch=256",
        configs=CONV, limit=1e-4, targets=(4, 12, 1.3), evaluate=(3, 3), memory=4),
    "cnn": dict(
        title="cnn, batch 256", spec="model=cnn optimizer=momentum lr=0.02 batch=256",
        configs=CONV, limit=1e-4, targets=(2.5, 10, 1.15), evaluate=(3, 3), memory=4),
    "cnn-devices": dict(
        title="cnn, 8 devices, batch 256",
        spec="model=cnn optimizer=adam lr=0.001 loss_reduction=sum shuffle=no devices=8 batch=256",
        limit=1e-3, targets=(None, 5, None)),
    "cnn-ensemble": dict(
        title="cnn, ensemble of 8, batch 128",
        spec="model=cnn data=mnist mode=ensemble devices=8 members=8 optimizer=momentum lr=0.02 "
             "batch=128",
        configs="loop+channels_last+compiled,loop+compiled,loop+channels_last,vmap", limit=1e-4,
        targets=(2.5, 6, None), memory=4),
    "mlp": dict(
        title="mlp, batch 200", spec="model=mlp data=mnist optimizer=sgd lr=0.001 batch=200",
        configs="plain,compiled", limit=1e-4, targets=(1.25, 1.25, 0.75), memory=4),
    "resnet18": dict(
        title="resnet18, batch 256, 20 steps",
        spec="model=resnet18 optimizer=sgd lr=0.01 init=he batch=256",
        configs="channels_last,plain,channels_last+compiled", limit=1e-3,
        targets=(1.5, 1.5, 0.9), memory=3, least=4, check=2),
}
for model, ratio in ("cnn", 4), ("lenet", 4), ("mlp", 2), ("resnet18", 2):
    ROWS[f"{model}-bf16"] = dict(
        ROWS[model], title=f"{model}, bf16 with AMX", spec=ROWS[model]["spec"] + " precision=bf16",
        limit=3e-2, targets=(ratio, None, None), evaluate=None, memory=None, needs="amx_bf16")
# The kernels that are taken where there is no AMX.
WITHOUT_AMX = "avx512bf16-dot" if cpu("vendor_id") == "AuthenticAMD" else "avx512bf16"
for model in "cnn", "mlp":
    ROWS[f"{model}-bf16-plain"] = dict(
        ROWS[model], title=f"{model}, bf16 without AMX",
        spec=ROWS[model]["spec"] + " precision=bf16", limit=3e-2, targets=(1.5, None, None),
        evaluate=None, memory=None, needs="avx512_bf16",
        environment={"CHORUS_ISA": WITHOUT_AMX, "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"})

MALLOC = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 32),
          "MALLOC_TOP_PAD_": str(1 << 26)}


def peer(name, words, env):
    command = [sys.executable, os.path.join(HERE, f"peer_{name}.py"), programs.SCRATCH, *words]
    return Program(name, command, env)


def start_torch(row, words, env):
    """The fastest configuration, with glibc's allocator as it is or keeping what was freed."""
    say("  PyTorch tries its configurations")
    if "," in row["configs"]:
        done = subprocess.run(
            [sys.executable, os.path.join(HERE, "peer_torch.py"), programs.SCRATCH, *words,
             "tune=" + row["configs"]], env=env, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL)
        if done.returncode:
            raise Gone("PyTorch's configurations could not be tried")
        found = {k: v for k, v in json.loads(done.stdout).items() if v}
        say("    " + ", ".join(f"{k} {v * 1000:.1f} ms" for k, v in found.items()))
        config = min(found, key=found.get)
    else:
        config = row["configs"]
    best = None
    for name, more in (config, {}), (config + "+malloc", MALLOC):
        program = peer("torch", [*words, f"config={config}"], dict(env, **more))
        program.config = name
        program.first = program.ask(f"train {row.get('check', 5)}")["losses"]
        steps = max(1, int(1.5 / min(found[config], 1.5)))
        program.speed = min(program.ask(f"train {steps}")["seconds"] for _ in range(2))
        if best is None or program.speed < best.speed * 0.98:
            if best:
                best.close()
            best = program
        else:
            program.close()
    return best


def first_losses(running, row):
    for p in running:
        if not hasattr(p, "first"):
            p.first = p.ask(f"train {row.get('check', 5)}")["losses"]


def difference(a, b):
    """Of two lists of losses; infinite where a loss is no number, or one of them has fewer."""
    if not a or len(a) != len(b) or not all(map(math.isfinite, a + b)):
        return math.inf
    return max(abs(x - y) / max(abs(y), 1e-6) for x, y in zip(a, b))


def compare(running, losses, limit):
    """What the table shows of the differences to chorus's losses; `wrong` where one is too large."""
    found, problems = {}, []
    chorus, *others = running
    for p in others:
        d = found[f"difference_{p.name}"] = difference(losses[chorus.name], losses[p.name])
        say(f"  losses of chorus and {p.name}: {d:.1e} apart")
        if not d <= limit:
            problems.append(f"losses differ from {p.name}'s by {d:.1e}, more than {limit:g}")
    return dict(found, problem="; ".join(problems), wrong=True) if problems else found


def take_turns(running, commands, rounds):
    """Median seconds of each, and the largest share of others that could not be avoided."""
    took, others, patience = {p.name: [] for p in running}, 0.0, PATIENCE
    for _ in range(rounds):
        for p in running:
            answer, share, patience = spell(p, commands[p.name], patience)
            took[p.name].append(answer["seconds"])
            others = max(others, share)
    return {name: statistics.median(v) for name, v in took.items()}, others


def evaluation(running, row, title):
    """Of all test images, with what chorus has learned."""
    result = dict(title=title, targets=(*row["evaluate"], None), others=0.0)
    running[0].ask(f"export {programs.SCRATCH}")
    for p in running[1:]:
        p.ask("load")
    losses = {p.name: [p.ask("evaluate")["loss"]] for p in running}
    result.update(compare(running, losses, SAME))
    if "wrong" not in result:
        took, result["others"] = take_turns(running, {p.name: "evaluate" for p in running}, 3)
        result.update(epoch=took, rate=10000 / took["chorus"])
    return result


def spec_words(row):
    words = row["spec"].split()
    if "data=mnist" in words and not HAVE_MNIST:
        words.remove("data=mnist")
    return words


def open_chorus(row, words):
    name = "chorus"
    return Program(name, [programs.SPELL, *words, f"threads={len(CORES)}"],
                   environment(**row.get("environment", {})))


def measure(key, row):
    """A dictionary of what the table shows; `problem` says why there is no figure."""
    result = dict(title=row["title"], targets=row["targets"], others=0.0)
    if row.get("needs") and row["needs"] not in cpu("flags").split():
        feature = {"amx_bf16": "AMX", "avx512_bf16": "AVX512_BF16"}[row["needs"]]
        return dict(result, problem=f"no {feature} here")
    words = spec_words(row)
    running = []
    try:
        try:
            running.append(open_chorus(row, words))
        except Gone as e:
            return dict(result, problem=f"chorus: {e}")
        chorus = running[0]
        chorus.ask(f"export {programs.SCRATCH}")
        result["flops"] = chorus.ready["flops"]
        peer_words = [w for w in words
                      if not w.startswith(("data=", "model=", "init=", "shuffle="))]
        peer_words.append(f"threads={len(CORES)}")
        env = environment(**row.get("environment", {}))
        problems = []
        if row.get("configs"):
            try:
                running.append(start_torch(row, peer_words, env))
            except Gone as e:
                problems.append(f"PyTorch: {e}")
        if "precision=bf16" not in words:
            try:
                running.append(peer("jax", peer_words, env))
            except Gone as e:
                problems.append(f"JAX: {e}")
        first_losses(running, row)
        result.update(compare(running, {p.name: p.first for p in running}, row["limit"]))
        if "wrong" in result:
            return dict(result, problem="; ".join([*problems, result["problem"]]))
        steps = {}
        for p in running:
            one = p.ask("train 1")["seconds"]
            least = row.get("least", 1) if one < 5 else 1
            steps[p.name] = max(least, min(500, int(SPELL_SECONDS / one)))
        took, others = take_turns(running, {n: f"train {k}" for n, k in steps.items()}, ROUNDS)
        batch = int(re.search(r"batch=(\d+)", row["spec"]).group(1))
        members = int((re.search(r"members=(\d+)", row["spec"]) or [0, 1])[1])
        per_epoch = IMAGES // batch
        result.update(
            epoch={n: s / steps[n] * per_epoch for n, s in took.items()},
            rate=batch * members * steps["chorus"] / took["chorus"], others=others,
            config=next((p.config for p in running if p.name == "torch"), None),
            memory={p.name: p.memory for p in running}, memory_target=row.get("memory"),
            problem="; ".join(problems) or None)
        if row.get("evaluate"):
            result["evaluation"] = dict(
                evaluation(running, row, f"evaluation of 10,000 images, {key}"),
                config=result["config"])
        return result
    except Gone as e:
        return dict(result, problem=str(e))
    finally:
        for p in running:
            p.close()


HEAD = ("| | chorus | PyTorch | JAX | x PyTorch | x JAX | images/s | share of the fp32 peak, GFLOP/s "
        "| memory, MB (chorus, PyTorch, JAX) | PyTorch's memory | losses apart | measured |\n"
        + "|---" * 12 + "|\n")


def number(x):
    return f"{x:.3g}" if x < 100 else f"{x:,.0f}"


def against(value, target, of=""):
    if value is None:
        return ""
    if not target:
        return f"{value:.2f}{of}"
    return f"**{value:.2f}**{of}, wanted {target:g}: {'met' if value >= target else 'not met'}"


def table_line(r, peak, when):
    if "epoch" not in r:
        return f"| {r['title']} | {r['problem']} |" + " |" * 9 + f" {when} |"
    epoch, (to_torch, to_jax, to_peak) = r["epoch"], r["targets"]
    ratio = {n: epoch[n] / epoch["chorus"] for n in ("torch", "jax") if n in epoch}
    share = r["rate"] * r["flops"] / peak if "flops" in r else None
    memory = r.get("memory") or {}
    more = memory.get("torch", 0) / memory["chorus"] if memory.get("torch") else None
    cells = [
        r["title"], f"{number(epoch['chorus'])} s",
        f"{number(epoch['torch'])} s ({r['config']})" if "torch" in epoch else "",
        f"{number(epoch['jax'])} s" if "jax" in epoch else "",
        against(ratio.get("torch"), to_torch), against(ratio.get("jax"), to_jax),
        f"{r['rate']:,.0f}", against(share, to_peak, f" of {peak / 1e9:,.0f}"),
        ", ".join(f"{memory[n] / 1e6:,.0f}" for n in ("chorus", "torch", "jax") if n in memory),
        "x " + against(more, r.get("memory_target")) if more else "",
        ", ".join(f"{r['difference_' + n]:.0e}" for n in ("torch", "jax")
                  if f"difference_{n}" in r),
        when + (f"; others used {r['others']:.0%}" if r["others"] > QUIET else "")]
    return "| " + " | ".join(cells) + " |"


def short_line(r):
    """For the terminal, within 80 columns."""
    if "epoch" not in r:
        return f"{r['title']:<34} {r['problem']}"
    e = r["epoch"]
    parts = [f"{r['title']:<34} {number(e['chorus']):>6} s"]
    for n, label in ("torch", "PyTorch"), ("jax", "JAX"):
        if n in e:
            parts.append(f"{label} x {e[n] / e['chorus']:.2f}")
    if r["others"] > QUIET:
        parts.append(f"disturbed {r['others']:.0%}")
    return "  ".join(parts)


def git(*words):
    done = subprocess.run(["git", "-C", HERE, *words], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


TOP = """# Speed of chorus on processors, beside PyTorch and JAX

Made by `make bench`: a section for each processor, replaced when it is measured again. Seconds are
of training alone, scaled to an epoch of 60,000 images (evaluation: the seconds themselves); medians
of spells taken in turn; ratios say how much longer the other took. In front of a ratio stands the
check that the losses of the first steps agree, and of an evaluation's that of all test images with
the weights that chorus has learned. The share of the fp32 peak counts the full direct arithmetic of
the model against multiply-adds from registers, as measured at the start of the row's own run (of 236:
of 236 GFLOP/s; a processor's clock differs between days); Winograd's algorithm and bf16 can pass 1.
Memory is the peak resident size of the process, data included. PyTorch's
configuration is the fastest of those tried; malloc: glibc told to keep what was freed.
"""


def keep(name, facts, lines, grown):
    """Lines of this run replace those of the same first cell in the processor's section."""
    text = open(RESULTS).read() if os.path.exists(RESULTS) else TOP
    head, *sections = re.split(r"^(?=## )", text, flags=re.M)
    mine = next((s for s in sections if s.startswith(f"## {name}\n")), "")
    table = mine.split(growth.HEAD, 1)[0]
    old = {s.split("|")[1].strip(): s for s in table.splitlines()
           if s.startswith("| ") and len(s.split("|")) == 14}
    old.pop("", None)
    new = {s.split("|")[1].strip(): s for s in lines}
    order = [r["title"] for r in ROWS.values()]
    merged = {**old, **new}
    merged = sorted(merged.items(), key=lambda kv: order.index(kv[0]) if kv[0] in order else 99)
    if grown is None:
        parts = mine.split(growth.HEAD, 1)
        grown = growth.HEAD + parts[1].rstrip() + "\n" if len(parts) > 1 else ""
    section = f"## {name}\n\n{facts}\n\n{HEAD}" + "\n".join(s for _, s in merged) + f"\n\n{grown}"
    sections = [s for s in sections if s is not mine] + [section.rstrip() + "\n"]
    with open(RESULTS + ".new", "w") as f:
        f.write(head.rstrip() + "\n\n" + "\n".join(s.rstrip() + "\n" for s in sections))
    os.replace(RESULTS + ".new", RESULTS)


def start_facts():
    """Of the program itself: a fresh process until its first step was made, and its memory."""
    best = None
    for _ in range(3):
        p = Program("chorus", [programs.SPELL, "model=lenet"], environment())
        done = p.ask("train 1")
        p.ask("evaluate")
        best = min(best or (9e9, 0), (done["age"], p.memory))
        p.close()
    return best


def main():
    global HAVE_MNIST
    parser = argparse.ArgumentParser()
    parser.add_argument("--spell", default="")
    parser.add_argument("--scratch", default="")
    parser.add_argument("--rows", default="")
    parser.add_argument("--no-growth", action="store_true")
    parser.add_argument("--quick", action="store_true",
                        help="of how the cost grows a few points, for a look; nothing is kept")
    parser.add_argument("--check-rows", action="store_true", help="says whether there are such")
    args = parser.parse_args()
    wanted = [w for w in re.split(r"[,\s]+", args.rows) if w]
    for w in wanted or [args.rows] * bool(args.rows):
        if w not in ROWS and w != "growth":
            raise SystemExit(f"ROWS={w}: the rows are {', '.join(ROWS)} and growth")
    if args.check_rows:
        return
    if not (args.spell and args.scratch):
        raise SystemExit("bench.py wants --spell PROGRAM and --scratch FOLDER")
    programs.SPELL, programs.SCRATCH = os.path.abspath(args.spell), os.path.abspath(args.scratch)
    os.makedirs(programs.SCRATCH, exist_ok=True)
    begin = time.monotonic()
    HAVE_MNIST = True
    try:
        Program("chorus", [programs.SPELL, "data=mnist", "model=tiny"], environment()).close()
    except Gone as e:
        HAVE_MNIST = False
        say(f"MNIST is not here ({e}): Fashion-MNIST, of the same shape, takes its place.")
    p = Program("chorus", [programs.SPELL, "model=tiny"], environment())
    peaks = p.ask(f"peak {len(CORES)}")
    p.close()
    peak = peaks["flops"][-1]
    first_step, memory = start_facts()
    import importlib.metadata as meta
    # an instruction set may be kept from this machine
    tiles = " and AMX" if "amx_bf16" in cpu("flags").split() else ""
    name = f"{cpu_name()} with {peaks['isa']}{tiles}, {len(CORES)} cores"
    facts = (
        f"{datetime.date.today()}, commit {git('rev-parse', '--short', 'HEAD')}; PyTorch "
        f"{meta.version('torch')}, JAX {meta.version('jax')}, Flax {meta.version('flax')}; "
        f"{len(CORES)} threads each.\nfp32 from registers ({peaks['isa']}): "
        + ", ".join(f"{f / 1e9:,.0f} GFLOP/s on {i + 1}" for i, f in enumerate(peaks["flops"]))
        + f". A process of chorus with lenet: first step made {first_step:.2f} s after its start "
        f"(wanted: 0.3), at most {memory / 1e6:.0f} MB resident with the data set in it "
        "(wanted: 150).")
    print(f"{name}\n{facts}\n", flush=True)
    when = f"{datetime.date.today()} {git('rev-parse', '--short', 'HEAD')}"
    if git("status", "--porcelain", "--", "../../src"):
        when += ", changed"
    lines, noisy, wrong = [], [], False
    for key, row in ROWS.items():
        if wanted and key not in wanted:
            continue
        say(f"{row['title']}")
        r = measure(key, row)
        for one in [r] + ([r["evaluation"]] if "evaluation" in r else []):
            wrong = wrong or "wrong" in one
            print(short_line(one), flush=True)
            lines.append(table_line(one, peak, when))
            if one["others"] > QUIET:
                noisy.append(one["title"])
    grown = None
    if (not wanted and not args.no_growth) or "growth" in wanted:
        say("how the cost grows")
        table, others = growth.measure(args.quick)
        grown = f"{growth.HEAD}\n\n{growth.TOP} {when}\n" + "\n".join(table) + "\n"
        if others > QUIET:
            noisy.append("how the cost grows")
    print("\n" + HEAD + "\n".join(lines) + "\n\n" + (grown or ""))
    minutes = (time.monotonic() - begin) / 60
    if args.quick:
        print("Not kept: a quick look.")
    elif noisy:
        print(f"Not kept: others used the processor meanwhile ({'; '.join(noisy)}). It took "
              f"{minutes:.0f} minutes.")
    elif wrong:
        print("Not kept: losses differ.")
    else:
        keep(name, facts, lines, grown)
        print(f"Kept in tests/bench/cpu-results.md, after {minutes:.0f} minutes.")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
