"""How chorus's images per second change with the batch, devices, members and threads.

All points of an axis and model take turns, a spell each, for some rounds; what is compared is the
median over rounds of the ratio within a round. A fall, and more threads that do not help, get a
reason from what was measured beside: which part of an image's time grew, and whether a cause whose
size is known makes up for at least half of it. Where none does, the table says that no reason is
known.
"""

import statistics

import programs
from programs import CORES, Program, cpu, environment, say, spell

HEAD = "### How the cost grows"
TOP = """Images per second of all members, sgd, the median of spells taken in turn; batch 256 along
devices, 128 along members. Falls: by more than 3 % against the best value before, in the median of
ratios within a round, where all of the nine rounds but one agree; beside it what changed in the time
of an image, in per cent of that time, as the first thread reports it. Held: the session's memory by
its estimate, data apart."""
AXES = {
    "batch": [16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
    "devices": [1, 2, 4, 8, 16],
    "members": [1, 2, 4, 8, 16],
}
FALL = 0.97
MOST = 0.5      # of a growth that a known cause must make up for
# Images that a thread works on together, at least: fewer groups than threads leave some idle. As
# cpu_halves_pay in src/cpu/isa.c has it.
LANES = 16 if "avx512f" in cpu("flags").split() and cpu("cpu family") != "25" else 8
PARTS = "input", "compute", "reduce", "wait"  # in the order of spell's ns
PATIENCE = 60   # seconds that the points of an axis may wait for quiet


def middle(values):
    return statistics.median(values)


class Point:
    def __init__(self, model, axis, value, threads, seconds):
        self.value, self.threads, self.batch = value, threads, 128 if axis == "members" else 256
        words = [f"model={model}", "optimizer=sgd", "lr=0.01", f"threads={threads}",
                 "train_limit=8192"]
        if axis == "batch":
            self.batch = value
        elif axis == "devices":
            words.append(f"devices={value}")
        else:
            words += ["mode=ensemble", f"members={value}"]
        self.members = value if axis == "members" else 1
        self.images = self.batch * self.members  # a step
        self.program = Program(f"{model}-{axis}-{value}-{threads}",
                               [programs.SPELL, *words, f"batch={self.batch}"], environment())
        one = min(self.program.ask("train 1")["seconds"] for _ in range(2))
        self.steps = max(2, min(5000, int(seconds / one)))
        self.time, self.part, self.touch = [], {k: [] for k in (*PARTS, "other")}, []

    def take(self, patience):
        """One spell; others' share of the cores and the patience that is left."""
        self.program.ask("train 1")  # the others had the caches
        answer, share, patience = spell(self.program, f"train {self.steps}", patience)
        images, ns = self.images * self.steps, answer["seconds"] * 1e9
        self.time.append(ns / images)
        # Members of an ensemble are trained at once, by a thread each.
        at_once = max(1, round(sum(answer["ns"]) / ns))
        for name, part in zip(PARTS, answer["ns"]):
            self.part[name].append(part / at_once / images)
        self.part["other"].append(max(0, ns - sum(answer["ns"]) / at_once) / images)
        answer = self.program.ask("touch")
        self.held = answer["held"]
        self.touch.append(answer["ns_a_byte"])
        return share, patience

    def rate(self):
        return 1e9 / middle(self.time)


def ratios(p, q):
    """Of p's images a second to q's, of each round, in their order."""
    return sorted(b / a for a, b in zip(p.time, q.time))


def ratio(p, q):
    return middle(ratios(p, q))


def falls(p, q):
    """By enough, and not by chance: of nine rounds without a difference, two in a hundred agree so."""
    return ratio(p, q) < FALL and ratios(p, q)[-2] < 1


def growth_of(p, q, scale, values):
    """The median over rounds of p's value over scale times q's, in parts of that time of q."""
    return middle((a - scale * b) / (scale * t)
                  for a, b, t in zip(values(p), values(q), q.time))


def percent(x):
    return f"{x:+.0%}".replace("%", " %")


def megabytes(n):
    return f"{n / 1e6:,.0f} MB" if n >= 1e7 else f"{n / 1e6:.1f} MB"


def touched(p, q):
    """Bytes that a model's step goes through, by what the session holds: of members one's own, and what
    all share."""
    own = (p.held - q.held) / (p.members - q.members) if p.members > q.members else 0
    return p.held - own * (p.members - 1)


def reason(p, q):
    """Why an image takes longer at p than q's time, shared out to p's threads, lets expect."""
    scale = q.threads / p.threads
    grew = growth_of(p, q, scale, lambda x: x.time)
    part = {k: growth_of(p, q, scale, lambda x, k=k: x.part[k]) for k in p.part}
    text = ", ".join(f"{k} {percent(v)}" for k, v in sorted(part.items(), key=lambda kv: -kv[1])
                     if abs(v) >= max(0.01, 0.1 * grew))
    causes, explained = [], 0.0
    groups = -(-p.batch // LANES)
    if p.threads > 1 and groups < p.threads and part["wait"] >= 0.25 * grew:
        causes.append(f"{p.batch} images are {groups} group{'s' if groups > 1 else ''} of {LANES}, "
                      f"so {p.threads - groups} of {p.threads} threads has nothing to do: wait "
                      f"{middle(a / t for a, t in zip(p.part['wait'], p.time)):.0%} of the time"
                      .replace("%", " %"))
        explained += part["wait"]
    work = sum(max(0, part[k]) for k in ("input", "compute", "reduce"))
    if p.threads == q.threads and p.held > q.held and work > 0:
        # The cost of a byte is what differs: an image's share is the same on both sides.
        share = touched(p, q) / p.batch
        slower = growth_of(p, q, scale, lambda x: [share * ns for ns in x.touch])
        if slower > 0.01:
            causes.append(f"held are {megabytes(p.held / p.threads)} a thread, not "
                          f"{megabytes(q.held / q.threads)}: writing and reading an image's share "
                          f"of so much, measured alone, takes {percent(slower)}")
            explained += min(slower, work)
    if explained >= MOST * grew:
        return f"{text}: {'; '.join(causes)}"
    return f"{text}: no reason is known"


def take_turns(points, rounds, patience):
    """The largest share of others that could not be avoided."""
    others = 0.0
    for i in range(rounds):
        for p in points[::-1] if i % 2 else points:
            share, patience = p.take(patience)
            others = max(others, share)
    return others


def remarks(points, one_thread):
    """Of the points of a line; one_thread: those of the line with one thread, or None."""
    said = []
    for i, p in enumerate(points):
        if i:
            best = max(points[:i], key=Point.rate)
            if falls(p, best):
                said.append(f"{p.value:,}: {1 - ratio(p, best):.0%} below {best.value:,}; "
                            .replace("%", " %") + reason(p, best))
        if one_thread and ratio(p, one_thread[i]) < 2 - FALL:
            said.append(f"{p.value:,}: {ratio(p, one_thread[i]):.2f} times one thread's, not "
                        f"{p.threads}; of the time expected " + reason(p, one_thread[i]))
    return "; ".join(said) or "nowhere"


def lines_of(model, axis, values, seconds, rounds, patience):
    """Lines of the table, and others' share."""
    points, opened = {}, []
    try:
        for t in sorted({1, len(CORES)}):
            points[t] = []
            for v in values:
                points[t].append(Point(model, axis, v, t, seconds))
                opened.append(points[t][-1].program)
        others = take_turns([p for row in zip(*points.values()) for p in row], rounds,
                            patience)
    finally:
        for program in opened:
            program.close()
    lines = []
    for t, row in points.items():
        rates = " | ".join(f"{p.rate():,.0f}" for p in row)
        say(f"  {model}, {axis}, threads {t}: {rates.replace(' | ', ' ')}")
        lines.append(f"| {model} | {t} | {rates} | {remarks(row, points[1] if t > 1 else None)} |")
    held = " | ".join(megabytes(p.held) for p in row)
    return [*lines, f"| {model} | {t}, held | {held} | |"], others


def measure(quick=False):
    """Lines of a table for each axis, and the largest share of others."""
    lines, others = [], 0.0
    for axis, values in AXES.items():
        values = values[:3:2] if quick else values
        lines += [f"\n| {axis} | threads | " + " | ".join(f"{v:,}" for v in values)
                  + " | where it falls, or threads do not help |",
                  "|---|---|" + "---|" * (len(values) + 1)]
        for model in ("lenet",) if quick else ("lenet", "cnn"):
            more, share = lines_of(model, axis, values,
                                   *((0.02, 2, 0) if quick else (0.3, 9, PATIENCE)))
            lines += more
            others = max(others, share)
    return lines, others
