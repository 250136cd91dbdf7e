"""gpu_jax.py ROW DATA [--images N] [--seconds N]: seconds of an epoch of training by JAX, the median of
five after two: images resident, the whole epoch one jitted scan, parameters donated; members by vmap.
JSON objects on stdout, as gpu_torch.py's, one behind each epoch that counts."""

import argparse
import functools
import json
import os
import statistics
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

import gpu_data  # noqa: E402


def conv(p, x, stride=1, pad="VALID"):
    y = jax.lax.conv_general_dilated(x, p[0].astype(x.dtype), (stride, stride), pad,
                                     dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return y + p[1].astype(x.dtype)


def dense(p, x):
    return x.reshape(len(x), -1) @ p[0].astype(x.dtype) + p[1].astype(x.dtype)


def pool(x):
    n, h, w, c = x.shape
    return x[:, :h // 2 * 2, :w // 2 * 2].reshape(n, h // 2, 2, w // 2, 2, c).mean((2, 4))


def norm(p, x):
    y = x.astype(jnp.float32)
    mean, var = y.mean((0, 1, 2)), y.var((0, 1, 2))
    return ((y - mean) * jax.lax.rsqrt(var + 1e-5) * p[0] + p[1]).astype(x.dtype)


def weights(key, *shape):
    fan = 1
    for s in shape[:-1]:
        fan *= s
    return jax.random.normal(key, shape) * (2 / fan) ** 0.5, jnp.zeros(shape[-1])


STAGES = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1),
          (256, 512, 2), (512, 512, 1)]


def shapes(name):
    if name == "lenet":
        return [(3, 3, 1, 20), (5, 5, 20, 50), (800, 128), (128, 10)]
    if name == "cnn":
        return [(3, 3, 1, 32), (3, 3, 32, 64), (3136, 256), (256, 10)]
    if name == "mlp":
        return [(784, 1024), (1024, 1024), (1024, 10)]
    out = [(3, 3, 1, 64), "norm"]
    for a, b, s in STAGES:
        out += [(3, 3, a, b), "norm", (3, 3, b, b), "norm"] + ([(1, 1, a, b)] if s > 1 else [])
    return out + [(512, 10)]


def make(name, key):
    out, last = [], 0
    for s in shapes(name):
        key, k = jax.random.split(key)
        out.append((jnp.ones(last), jnp.zeros(last)) if s == "norm" else weights(k, *s))
        last = last if s == "norm" else s[-1]
    return out


def forward(name, p, x):
    if name == "lenet":
        x = pool(jax.nn.relu(conv(p[0], x)))
        x = pool(jax.nn.relu(conv(p[1], x)))
        return dense(p[3], jax.nn.relu(dense(p[2], x)))
    if name == "cnn":
        x = pool(jax.nn.relu(conv(p[0], x, pad="SAME")))
        x = pool(jax.nn.relu(conv(p[1], x, pad="SAME")))
        return dense(p[3], jax.nn.relu(dense(p[2], x)))
    if name == "mlp":
        return dense(p[2], jnp.tanh(dense(p[1], jnp.tanh(dense(p[0], x)))))
    one = ((1, 1), (1, 1))
    x = jax.nn.relu(norm(p[1], conv(p[0], x, pad=one)))
    at = iter(p[2:])
    for _, _, s in STAGES:
        kernel, scale = next(at), next(at)
        y = jax.nn.relu(norm(scale, conv(kernel, x, s, one)))
        kernel, scale = next(at), next(at)
        y = norm(scale, conv(kernel, y, 1, one))
        x = jax.nn.relu(y + (conv(next(at), x, s) if s > 1 else x))
    return dense(next(at), x.mean((1, 2)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("row", choices=gpu_data.ROWS)
    parser.add_argument("data", nargs="?")
    parser.add_argument("--images", type=int, default=60000)
    parser.add_argument("--seconds", type=float)  # there is one way, which is never left out
    a = parser.parse_args()
    batch, kind, lr, precision, members = gpu_data.ROWS[a.row]
    name = a.row.split("-")[0]
    if precision == "tf32":
        jax.config.update("jax_default_matmul_precision", "tensorfloat32")
    x, y = gpu_data.train(a.data, a.images)
    x, y = jnp.asarray(x)[..., None], jnp.asarray(y)
    steps = len(x) // batch
    half = jnp.bfloat16 if precision == "bf16" else jnp.float32
    momentum = 0.9 if kind == "momentum" else 0.0

    def loss(p, images, labels):
        z = forward(name, p, images).astype(jnp.float32)
        return -jnp.take_along_axis(jax.nn.log_softmax(z), labels[:, None], 1).mean()

    def update(p, v, images, labels):
        g = jax.grad(loss)(p, images, labels)
        if momentum:
            v = jax.tree.map(lambda m, d: momentum * m + d, v, g)
            g = v
        return jax.tree.map(lambda w, d: w - lr * d, p, g), v

    if members > 1:
        update = jax.vmap(update, in_axes=(0, 0, None, None))

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def epoch(p, v, order):
        def step(state, at):
            images = (x[at] / 255).astype(half)
            return update(*state, images, y[at]), None
        state, _ = jax.lax.scan(step, (p, v), order[:steps * batch].reshape(steps, batch))
        return state

    key = jax.random.key(0)
    if members > 1:
        p = jax.vmap(lambda k: make(name, k))(jax.random.split(key, members))
    else:
        p = make(name, key)
    v = jax.tree.map(jnp.zeros_like, p) if momentum else ()
    took = []
    for i in range(7):
        order = jax.random.permutation(jax.random.fold_in(key, i), len(x))
        order.block_until_ready()
        begin = time.perf_counter()
        p, v = epoch(p, v, order)
        jax.block_until_ready(p)
        took.append(time.perf_counter() - begin)
        if i >= 2:
            way = "scan+vmap" if members > 1 else "scan"
            print(json.dumps({way: statistics.median(took[2:])}), flush=True)


main()
