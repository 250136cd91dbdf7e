"""Makes tests/fixtures/losses.txt: what Flax and optax compute in float64 on Fashion-MNIST.

    python3 tests/parity/make_losses.py [FOLDER of the four gz files] > tests/fixtures/losses.txt

Each run below is a model text, made into Flax layers with the reader of tests/bench/peer.py, and the
settings of its training. Weights come from Flax's own init, in float32 as chorus draws them, then widened; a
checksum of them stands in the file, because one unit in the last place of one weight can move a loss
by 1e-3 within 40 steps. Images are bytes / 255 rounded to float32. Data-parallel runs take the mean
over devices of each device's loss, which has the gradient that pmap and pmean give.
"""

import gzip
import os
import sys
import zlib

import jax

jax.config.update("jax_enable_x64", True)

import flax
import flax.linen as nn
import jax.numpy as jnp
import numpy as np
import optax

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench"))

from peer import options, parse  # noqa: E402

CNN = """input auto
conv {a} 3 same
relu
avgpool 2
conv {b} 3 same
relu
avgpool 2
dense {d}
relu
dense classes
"""
SMALL = CNN.format(a=8, b=16, d=32)
FULL = CNN.format(a=32, b=64, d=256)
# Every layer that the CNN lacks, but dropout, whose keys are chorus's own.
NORMED = """input auto
conv 6 3 stride 2 same
batchnorm
relu
maxpool 3 stride 2
residual {
conv 8 3 stride 2 pad 1
batchnorm
tanh
conv 8 3 pad 1 nobias
batchnorm
} shortcut {
conv 8 1 stride 2
}
relu
residual {
conv 8 2 same
}
globalavgpool
dense 16
tanh
dense classes
"""

RUNS = [
    dict(name="momentum", net=FULL, batch=8, optimizer="momentum", lr=0.05),
    dict(name="momentum-32", net=SMALL, batch=32, optimizer="momentum", lr=0.05),
    dict(name="nesterov", net=SMALL, batch=32, optimizer="nesterov", lr=0.05),
    dict(name="adam", net=SMALL, batch=32, optimizer="adam", lr=0.002),
    dict(name="adamw", net=SMALL, batch=32, optimizer="adamw", lr=0.002, weight_decay=0.01),
    dict(name="clip-decay", net=SMALL, batch=32, optimizer="momentum", lr=0.1, grad_clip=0.5,
         weight_decay=0.001),
    dict(name="summed", net=SMALL, batch=64, devices=8, optimizer="adam", lr=0.001, loss_reduction="sum",
         shuffle="no"),
    dict(name="ensemble", net=SMALL, batch=16, members=4, mode="ensemble", optimizer="momentum",
         lr=0.1),
    dict(name="batchnorm", net=NORMED, batch=32, optimizer="sgd", lr=0.1, steps=10),
    dict(name="batchnorm-devices", net=NORMED, batch=32, devices=4, optimizer="sgd", lr=0.1,
         steps=10),
    dict(name="batchnorm-synchronised", net=NORMED, batch=32, devices=4, optimizer="sgd", lr=0.1,
         steps=10, sync_bn="yes"),
]


def apply(layers, x, train, axis):
    """Called inside a compact module: the layers made here get Flax's own names."""
    for op, *args in layers:
        if op == "residual":
            x = Residual(args[0], args[1], train, axis)(x)
        elif op == "conv":
            o = options(args[2:])
            pad = "SAME" if "same" in o else ((o.get("pad", 0),) * 2,) * 2
            x = nn.Conv(int(args[0]), (int(args[1]),) * 2, strides=o.get("stride", 1), padding=pad,
                        use_bias="nobias" not in o, dtype=x.dtype)(x)
        elif op == "dense":
            width = 10 if args[0] == "classes" else int(args[0])
            x = nn.Dense(width, dtype=x.dtype)(x.reshape((x.shape[0], -1)))
        elif op == "batchnorm":
            x = nn.BatchNorm(use_running_average=not train, momentum=0.9, epsilon=1e-5,
                             axis_name=axis, dtype=x.dtype)(x)
        elif op in ("avgpool", "maxpool"):
            k, o = int(args[0]), options(args[1:])
            pool = nn.avg_pool if op == "avgpool" else nn.max_pool
            x = pool(x, (k, k), strides=(o.get("stride", k),) * 2)
        elif op == "globalavgpool":
            x = x.mean(axis=(1, 2))
        else:
            x = {"relu": nn.relu, "tanh": jnp.tanh}[op](x)
    return x


class Residual(nn.Module):
    body: list
    shortcut: list
    train: bool
    axis: str | None

    @nn.compact
    def __call__(self, x):
        y = apply(self.body, x, self.train, self.axis)
        return y + apply(self.shortcut, x, self.train, self.axis)


class Net(nn.Module):
    layers: list
    train: bool = True
    axis: str | None = None

    @nn.compact
    def __call__(self, x):
        return apply(self.layers, x, self.train, self.axis)


def tensors(tree, path=""):
    """("Residual_0/Conv_1/kernel", array) of each."""
    for name, value in tree.items():
        if hasattr(value, "items"):
            yield from tensors(value, f"{path}{name}/")
        else:
            yield path + name, np.asarray(value)


def checksum_of(params):
    """The same in whatever order the tensors come."""
    return sum(zlib.crc32(a.astype("<f4").tobytes()) for _, a in tensors(params)) % 2**32


def read(folder, name, header):
    return np.frombuffer(gzip.open(f"{folder}/{name}.gz").read(), np.uint8, offset=header)


def optimizer(run):
    decay, kind, lr = run.get("weight_decay", 0), run["optimizer"], run["lr"]
    if kind == "adamw":
        steps = [optax.adamw(lr, b1=0.9, b2=0.999, eps=1e-8, weight_decay=decay)]
    elif kind == "adam":
        steps = [optax.add_decayed_weights(decay), optax.adam(lr, b1=0.9, b2=0.999, eps=1e-8)]
    else:
        steps = [optax.add_decayed_weights(decay),
                 optax.sgd(lr, momentum=None if kind == "sgd" else 0.9,
                           nesterov=kind == "nesterov")]
    if run.get("grad_clip"):
        steps.insert(0, optax.clip_by_global_norm(run["grad_clip"]))
    return optax.chain(*steps)


def train(run, key, batches, labels):
    """Losses (steps), final variables and the checksum of the initial ones."""
    layers, devices = parse(run["net"].splitlines())[0], run.get("devices", 1)
    axis = "device" if run.get("sync_bn") == "yes" else None
    reduce = jnp.sum if run.get("loss_reduction") == "sum" else jnp.mean
    variables = Net(layers).init(key, jnp.zeros((1, 28, 28, 1), jnp.float32))
    checksum = checksum_of(variables["params"])
    params, stats = (jax.tree.map(lambda a: a.astype(jnp.float64), variables.get(k, {}))
                     for k in ("params", "batch_stats"))
    optim = optimizer(run)

    def device_loss(params, stats, x, y):
        logits, new = Net(layers, True, axis).apply({"params": params, "batch_stats": stats}, x,
                                                    mutable=["batch_stats"])
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, y)
        return reduce(losses), (losses, new.get("batch_stats", {}))

    def loss(params, stats, x, y):
        each, (losses, stats) = jax.vmap(device_loss, (None, None, 0, 0), axis_name="device")(
            params, stats, x, y)
        return each.mean(), (losses.mean(), jax.tree.map(lambda a: a.mean(0), stats))

    @jax.jit
    def step(params, stats, state, x, y):
        grads, (mean, stats) = jax.grad(loss, has_aux=True)(params, stats, x, y)
        updates, state = optim.update(grads, state, params)
        return optax.apply_updates(params, updates), stats, state, mean

    state, losses = optim.init(params), []
    for x, y in zip(batches, labels):
        x = x.reshape((devices, -1) + x.shape[1:])
        params, stats, state, mean = step(params, stats, state, x, y.reshape((devices, -1)))
        losses.append(float(mean))
    return losses, params, stats, checksum


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/datasets/fashion-mnist"
    images = (read(folder, "train-images-idx3-ubyte", 16).reshape(-1, 28, 28, 1)
              .astype(np.float32) / np.float32(255))
    labels = read(folder, "train-labels-idx1-ubyte", 8).astype(np.int32)
    print(f"# made by tests/parity/make_losses.py with jax {jax.__version__}, flax "
          f"{flax.__version__}, optax {optax.__version__}")
    for run in RUNS:
        steps, batch, members = run.get("steps", 60), run["batch"], run.get("members", 1)
        n = steps * batch
        rng, init = jax.random.split(jax.random.key(0))
        _, order_key = jax.random.split(rng)
        order = np.arange(n)
        if run.get("shuffle", "yes") == "yes":
            order = np.asarray(jax.random.permutation(order_key, n))
        x = jnp.asarray(images[:n][order].reshape(steps, batch, 28, 28, 1), jnp.float64)
        y = jnp.asarray(labels[:n][order].reshape(steps, batch))
        keys = [init] if run.get("mode") != "ensemble" else jax.random.split(init, members)
        results = [train(run, key, x, y) for key in keys]

        print(f"run {run['name']}")
        for k, v in run.items():
            if k not in ("name", "net"):
                print(k, v)
        print("net")
        print("".join(f"  {line}\n" for line in run["net"].splitlines()), end="")
        for losses, params, stats, checksum in results:
            print(f"init {checksum:08x}")
        for i in range(steps):
            print("losses", *(repr(r[0][i]) for r in results))
        if run["net"] is NORMED:
            _, params, stats, _ = results[0]
            logits = Net(parse(run["net"].splitlines())[0], False).apply(
                {"params": params, "batch_stats": stats}, jnp.asarray(images[:2], jnp.float64))
            for path, values in tensors(stats):
                print("stat", path, *(repr(float(v)) for v in values.ravel()))
            print("logits", *(repr(float(v)) for v in np.asarray(logits).ravel()))
        print("end")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
