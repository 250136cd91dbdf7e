"""What the peers of chorus share: the work as tests/bench/spell.c exported it, a model's text, and
the conversation: commands on stdin, answers in JSON on stdout, the same as spell's.

    train N    N steps; seconds of these alone, each step's mean loss
    evaluate   all test images; seconds, the mean loss over images and members
    load       takes the weights that spell exported last
"""

import json
import sys
import time

import numpy as np


def settings(arguments):
    given = dict(a.split("=", 1) for a in arguments)
    kinds = dict(batch=int, devices=int, members=int, threads=int, lr=float, momentum=float)
    return {k: kinds.get(k, str)(v) for k, v in given.items()}


def options(words):
    """stride 2 pad 1 same nobias, as a dictionary."""
    found, i = {}, 0
    while i < len(words):
        if words[i] in ("stride", "pad"):
            found[words[i]] = int(words[i + 1])
            i += 1
        else:
            found[words[i]] = True
        i += 1
    return found


def parse(lines, params=None):
    """The layers up to a closing brace, and the words behind it: each layer is (word, ...), a block
    ("residual", body, shortcut)."""
    layers, params = [], {} if params is None else params
    while lines:
        words = lines.pop(0).split("#")[0].split()
        if not words:
            continue
        if words[0] == "}":
            return layers, words[1:]
        if words[0] == "param":
            params[words[1]] = words[2]
        elif words[0] == "residual":
            body, rest = parse(lines, params)
            shortcut = parse(lines, params)[0] if rest == ["shortcut", "{"] else []
            layers.append(("residual", body, shortcut))
        elif words[0] not in ("input", "init"):
            layers.append(tuple(params[w[1:]] if w[0] == "$" else w for w in words))
    return layers, []


class Work:
    """images: (n, 28, 28, 1) floats; weights: name -> (members, ...) in Flax's layouts."""

    def __init__(self, folder):
        self.folder = folder
        with open(f"{folder}/model.net") as f:
            self.layers = parse(f.read().splitlines())[0]
        self.load()
        table = np.fromfile(f"{folder}/table.f32", "<f4")
        self.order = np.fromfile(f"{folder}/order.u32", "<u4").astype(np.int64)
        for part in "train", "test":
            images = np.fromfile(f"{folder}/{part}.images", "u1").reshape(-1, 28, 28, 1)
            labels = np.fromfile(f"{folder}/{part}.labels", "<u2").astype(np.int32)
            setattr(self, part, (table[images], labels))
        self.step = 0

    def load(self):
        with open(f"{self.folder}/weights.safetensors", "rb") as f:
            head = json.loads(f.read(int.from_bytes(f.read(8), "little")))
            data = f.read()
        head.pop("__metadata__", None)
        self.weights = {
            name: np.frombuffer(data[t["data_offsets"][0]:t["data_offsets"][1]], "<f4")
            .reshape(t["shape"]).copy() for name, t in head.items()}

    def places(self, batch):
        """Of the next batch's images, in chorus's order; behind an epoch's end it starts again."""
        steps = len(self.order) // batch
        at = self.step % steps * batch
        self.step += 1
        return self.order[at:at + batch]


def age():
    with open("/proc/self/stat") as f:
        start = int(f.read().rsplit(")", 1)[1].split()[19])
    with open("/proc/uptime") as f:
        return float(f.read().split()[0]) - start / 100


def peak_memory():
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def answer(**values):
    print(json.dumps(dict(values, age=age(), memory=peak_memory())), flush=True)


def serve(train, evaluate, load):
    """train(n) does n steps and gives losses, one a step; evaluate() gives the loss; load() takes
    the weights that lie there now."""
    answer()
    for line in sys.stdin:
        words = line.split()
        begin = time.perf_counter()
        if words[0] == "train":
            losses = train(int(words[1]))
            answer(seconds=time.perf_counter() - begin, losses=losses)
        elif words[0] == "evaluate":
            loss = evaluate()
            answer(seconds=time.perf_counter() - begin, loss=loss)
        elif words[0] == "load":
            load()
            answer()
        else:
            raise SystemExit(f"{line.strip()} is no command")
