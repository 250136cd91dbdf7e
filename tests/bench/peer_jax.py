"""peer_jax.py FOLDER KEY=VALUE...: the work of chorus by JAX and Flax: jit on one device, or pmap
over as many forced host devices as `devices` (data-parallel) or `members` (an ensemble) says."""

import os
import sys

import peer

S = peer.settings(sys.argv[2:])
MEMBERS = S.get("members", 1)
DEVICES = S.get("devices", 1) if MEMBERS == 1 else 1  # that a batch is shared out to
PLACES = max(DEVICES, MEMBERS)
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={PLACES}"

import flax.linen as nn  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402


def apply(layers, x, train):
    """Called inside a compact module: the layers made here get Flax's own names."""
    for op, *args in layers:
        if op == "residual":
            x = Residual(args[0], args[1], train)(x)
        elif op == "conv":
            o = peer.options(args[2:])
            pad = "SAME" if "same" in o else ((o.get("pad", 0),) * 2,) * 2
            x = nn.Conv(int(args[0]), (int(args[1]),) * 2, strides=o.get("stride", 1), padding=pad,
                        use_bias="nobias" not in o)(x)
        elif op == "dense":
            x = nn.Dense(10 if args[0] == "classes" else int(args[0]))(x.reshape((x.shape[0], -1)))
        elif op == "batchnorm":
            x = nn.BatchNorm(use_running_average=not train, momentum=0.9, epsilon=1e-5)(x)
        elif op in ("avgpool", "maxpool"):
            k, o = int(args[0]), peer.options(args[1:])
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

    @nn.compact
    def __call__(self, x):
        y = apply(self.body, x, self.train)
        return y + apply(self.shortcut, x, self.train)


class Net(nn.Module):
    layers: list
    train: bool = True

    @nn.compact
    def __call__(self, x):
        return apply(self.layers, x, self.train)


def tree(flat):
    out = {}
    for name, value in flat.items():
        *path, last = name.split("/")
        at = out
        for word in path:
            at = at.setdefault(word, {})
        at[last] = value
    return out


def main():
    work = peer.Work(sys.argv[1])
    batch = S["batch"]
    reduce = jnp.sum if S.get("loss_reduction") == "sum" else jnp.mean
    optim = (optax.adam(S["lr"]) if S["optimizer"] == "adam" else
             optax.sgd(S["lr"], momentum=S.get("momentum", 0.9) if S["optimizer"] == "momentum"
                       else None))
    shapes = Net(work.layers).init(jax.random.key(0), jnp.zeros((1, 28, 28, 1)))
    stats = shapes.get("batch_stats", {})
    axis = "device" if DEVICES > 1 else None

    def given():
        """The work's weights, for each place."""
        params = tree(work.weights)
        if MEMBERS == 1:
            params = jax.tree.map(lambda a: a[0], params)
        if DEVICES > 1:
            params = jax.tree.map(lambda a: jnp.stack([a] * DEVICES), params)
        return jax.tree.map(jnp.asarray, params)

    def loss(params, stats, x, y):
        logits, new = Net(work.layers).apply({"params": params, "batch_stats": stats}, x,
                                             mutable=["batch_stats"])
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, y)
        return reduce(losses), (losses.mean(), new.get("batch_stats", {}))

    def step(params, stats, state, x, y):
        grads, (mean, stats) = jax.grad(loss, has_aux=True)(params, stats, x, y)
        if axis:
            grads, mean, stats = jax.lax.pmean((grads, mean, stats), axis)
        updates, state = optim.update(grads, state, params)
        return optax.apply_updates(params, updates), stats, state, mean

    def logits(params, stats, x):
        return Net(work.layers, False).apply({"params": params, "batch_stats": stats}, x)

    if DEVICES > 1:
        run = jax.pmap(step, axis, donate_argnums=(0, 1, 2))
        stats = jax.tree.map(lambda a: jnp.stack([a] * DEVICES), stats)
    elif MEMBERS > 1:
        # All members see the whole batch, as in the how-to on ensembling.
        run = jax.pmap(step, in_axes=(0, 0, 0, None, None), donate_argnums=(0, 1, 2))
        stats = jax.tree.map(lambda a: jnp.stack([a] * MEMBERS), stats)
    else:
        run = jax.jit(step, donate_argnums=(0, 1, 2))
    init = jax.pmap(optim.init) if PLACES > 1 else optim.init
    params = given()
    held = [params, stats, init(params)]
    images, labels = work.train

    def train(n):
        losses = []
        for _ in range(n):
            at = work.places(batch)
            x, y = images[at], labels[at]
            if DEVICES > 1:
                x = x.reshape((DEVICES, -1) + x.shape[1:])
                y = y.reshape((DEVICES, -1))
            *held[:], mean = run(*held, x, y)
            losses.append(mean)
        jax.block_until_ready(held)
        return [float(np.mean(m)) for m in losses]

    answers = jax.pmap(logits, in_axes=(0, 0, None)) if MEMBERS > 1 else jax.jit(logits)

    def evaluate():
        x, y = work.test
        params, stats = held[:2]
        if DEVICES > 1:
            params, stats = (jax.tree.map(lambda a: a[0], t) for t in (params, stats))
        out = [answers(params, stats, x[i:i + 1000]) for i in range(0, len(x), 1000)]
        out = np.concatenate([np.asarray(o) for o in out], -2)
        p = out - out.max(-1, keepdims=True)
        p = p - np.log(np.exp(p).sum(-1, keepdims=True))
        return float(-np.take_along_axis(p, np.broadcast_to(y[:, None], p.shape[:-1] + (1,)),
                                         -1).mean())

    def load():
        work.load()
        held[0] = given()

    peer.serve(train, evaluate, load)


main()
