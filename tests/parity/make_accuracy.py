"""Makes tests/fixtures/accuracy.csv: test accuracies of PyTorch and Flax after three epochs.

    python3 tests/parity/make_accuracy.py [-f FOLDER] [-m FOLDER] [NAME...] > tests/fixtures/accuracy.csv

-f and -m: where the four gz files of Fashion-MNIST and of MNIST are. Each run below names a model and
the settings with which chorus runs it, and is trained from seeds 0 to 4. Weights come from Flax's own
init and batches from JAX's permutations, so that they are chorus's to the bit; what differs is the
order of sums, which is enough to lead single runs apart. The learning rate falls along a cosine
where it is high: at its end a run stands still, and the mean over five seeds is known to about 0.1
points. Networks of convolutions are trained by PyTorch (channels_last), whose convolutions are several
times as fast as JAX's on a CPU, the others by Flax and optax.

resnet18 is left out: as many images as a test can afford leave the mean over five seeds uncertain by
more than the limit of 0.5 points. "narrow" has its layers.
"""

import argparse
import csv
import math
import os
import sys

import jax

from make_losses import Net, parse, read

import flax.linen as nn
import jax.numpy as jnp
import numpy as np
import optax
import torch
import torch.nn.functional as F

EPOCHS, SEEDS = 3, 5
RUNS = [
    dict(name="lenet", model="lenet", data="fashion-mnist", init="lecun", batch=256, optimizer="sgd",
         lr=0.2, schedule="cosine"),
    dict(name="mlp", model="mlp", data="fashion-mnist", batch=200, optimizer="sgd", lr=0.001),
    dict(name="cnn", model="cnn", data="fashion-mnist", batch=256, optimizer="adam", lr=0.001,
         schedule="cosine"),
    dict(name="narrow", model="tests/fixtures/narrow.net", data="fashion-mnist", batch=256,
         optimizer="momentum", lr=0.1, schedule="cosine"),
    dict(name="mlp-mnist", model="mlp", data="mnist", batch=200, optimizer="sgd", lr=0.001),
    dict(name="cnn-mnist", model="cnn", data="mnist", batch=128, optimizer="momentum", lr=0.1,
         schedule="cosine"),
]


def layers_of(model):
    path = model if "/" in model else f"models/{model}.net"
    lines = [line.split("#")[0].strip() for line in open(path)]
    return parse([line for line in lines if line and line.split()[0] not in ("init", "param")])[0]


class Mlp(nn.Module):
    """models/mlp.net, whose weights and biases are drawn from N(0, 0.1)."""

    @nn.compact
    def __call__(self, x):
        draw, x = nn.initializers.normal(0.1), x.reshape((x.shape[0], -1))
        for width in (1024, 1024):
            x = jnp.tanh(nn.Dense(width, kernel_init=draw, bias_init=draw)(x))
        return nn.Dense(10, kernel_init=draw, bias_init=draw)(x)


def rate(run, step, steps):
    if run.get("schedule") == "cosine":
        return run["lr"] / 2 * (1 + math.cos(math.pi * step / steps))
    return run["lr"]


def batches(seed, batch, images):
    """(epoch, step of the run, indices of its images)"""
    rng, _ = jax.random.split(jax.random.key(seed))
    each = images // batch
    for epoch in range(EPOCHS):
        rng, key = jax.random.split(rng)
        order = np.array(jax.random.permutation(key, images))
        for i in range(each):
            yield epoch * each + i, order[i * batch:(i + 1) * batch]


def init_key(seed):
    return jax.random.split(jax.random.key(seed))[1]


class Torch:
    """The network of a model text, with Flax's initial weights."""

    def __init__(self, layers, seed):
        first = Net(layers).init(init_key(seed), jnp.zeros((1, 28, 28, 1), jnp.float32))
        self.layers, self.params, self.stats = layers, {}, {}
        self.adopt(first["params"], "")
        for path, values in self.params.items():
            values.requires_grad_(True)

    def adopt(self, tree, path):
        for name, value in tree.items():
            if hasattr(value, "items"):
                self.adopt(value, f"{path}{name}/")
                continue
            value = torch.from_numpy(np.array(value))
            if value.ndim == 4:
                value = value.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
            elif value.ndim == 2:
                value = value.t().contiguous()
            self.params[path + name] = value
            if name == "scale":
                self.stats[path] = (torch.zeros_like(value), torch.ones_like(value))

    def __call__(self, x, train):
        return self.walk(self.layers, x, train, "", {})

    def walk(self, layers, x, train, path, made):
        def named(kind):
            made[kind] = made.get(kind, -1) + 1
            return f"{path}{kind}_{made[kind]}/"

        for op, *args in layers:
            if op == "residual":
                inside, own = named("Residual"), {}
                y = self.walk(args[0], x, train, inside, own)
                x = y + self.walk(args[1], x, train, inside, own)
            elif op == "conv":
                at, k = named("Conv"), int(args[1])
                pad, stride = (k - 1) // 2 if "same" in args else 0, 1
                if "pad" in args:
                    pad = int(args[args.index("pad") + 1])
                if "stride" in args:
                    stride = int(args[args.index("stride") + 1])
                x = F.conv2d(x, self.params[at + "kernel"], self.params[at + "bias"], stride, pad)
            elif op == "dense":
                at = named("Dense")
                if x.ndim == 4:
                    x = x.permute(0, 2, 3, 1).flatten(1)
                x = F.linear(x, self.params[at + "kernel"], self.params[at + "bias"])
            elif op == "batchnorm":
                at = named("BatchNorm")
                x = F.batch_norm(x, *self.stats[at], self.params[at + "scale"],
                                 self.params[at + "bias"], train, 0.1, 1e-5)
            elif op == "avgpool":
                x = F.avg_pool2d(x, int(args[0]))
            elif op == "globalavgpool":
                x = x.mean((2, 3))
            else:
                x = {"relu": F.relu, "tanh": torch.tanh}[op](x)
        return x


def by_torch(run, seed, train, test):
    images, labels = (torch.from_numpy(a) for a in train)
    images = images.permute(0, 3, 1, 2)  # channels are innermost already
    net, steps = Torch(layers_of(run["model"]), seed), EPOCHS * (len(labels) // run["batch"])
    params = list(net.params.values())
    if run["optimizer"] == "adam":
        optimizer = torch.optim.Adam(params, lr=run["lr"], eps=1e-8)
    else:
        optimizer = torch.optim.SGD(params, lr=run["lr"],
                                    momentum=0.9 if run["optimizer"] == "momentum" else 0)
    for step, chosen in batches(seed, run["batch"], len(labels)):
        chosen = torch.from_numpy(chosen).long()
        optimizer.param_groups[0]["lr"] = rate(run, step, steps)
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(net(images[chosen], True), labels[chosen]).backward()
        optimizer.step()
    right = 0
    with torch.no_grad():
        for i in range(0, len(test[1]), 1000):
            x = torch.from_numpy(test[0][i:i + 1000]).permute(0, 3, 1, 2)
            right += int((net(x, False).argmax(1).numpy() == test[1][i:i + 1000]).sum())
    return right / len(test[1])


def by_flax(run, seed, train, test):
    net, steps = Mlp(), EPOCHS * (len(train[1]) // run["batch"])
    params = net.init(init_key(seed), jnp.zeros((1, 28, 28, 1), jnp.float32))
    optimizer = optax.sgd(lambda step: run["lr"])
    state = optimizer.init(params)

    @jax.jit
    def update(params, state, x, y):
        def loss(params):
            return optax.softmax_cross_entropy_with_integer_labels(net.apply(params, x), y).mean()

        updates, state = optimizer.update(jax.grad(loss)(params), state, params)
        return optax.apply_updates(params, updates), state

    for step, chosen in batches(seed, run["batch"], len(train[1])):
        params, state = update(params, state, train[0][chosen], train[1][chosen])
    return float((jax.jit(net.apply)(params, test[0]).argmax(1) == test[1]).mean())


def main():
    options = argparse.ArgumentParser()
    options.add_argument("-f", default="/usr/share/datasets/fashion-mnist")
    options.add_argument("-m", default=os.path.expanduser("~/.local/share/chorus/mnist"))
    options.add_argument("names", nargs="*")
    options = options.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", 1)))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("name", "seed", "framework", "accuracy", "settings"))
    for run in RUNS:
        if options.names and run["name"] not in options.names:
            continue
        folder = options.m if run["data"] == "mnist" else options.f
        parts = [(read(folder, f"{part}-images-idx3-ubyte", 16).reshape(-1, 28, 28, 1)
                  .astype(np.float32) / np.float32(255),
                  read(folder, f"{part}-labels-idx1-ubyte", 8).astype(np.int64))
                 for part in ("train", "t10k")]
        flax = run["model"] == "mlp"
        words = " ".join(f"{k}={v}" for k, v in run.items() if k != "name") + f" epochs={EPOCHS}"
        for seed in range(SEEDS):
            accuracy = (by_flax if flax else by_torch)(run, seed, *parts)
            out.writerow((run["name"], seed, f"flax on jax {jax.__version__}" if flax
                          else f"torch {torch.__version__.split('+')[0]}", f"{accuracy:.4f}",
                          words))
            sys.stdout.flush()


main()
