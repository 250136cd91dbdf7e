#!/usr/bin/env python3
"""Makes tests/fixtures/keys.txt and keys_weights.txt from JAX and Flax on a CPU.

    python3 tests/parity/make_keys.py

Needs jax and flax from PyPI (made with jax 0.10.2 and flax 0.12.8). A line is a word and its
numbers; floats stand as the hexadecimal of their bits, arrays as their first numbers and a hash of
all their bytes, little-endian.
"""

import hashlib
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"

import flax
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "fixtures"


def key(seed):
    """The key of a seed of up to 64 bits, of which jax takes 32 unless told otherwise."""
    words = np.array([seed >> 32, seed & 0xFFFFFFFF], dtype=np.uint32)
    if seed < 2**31:
        assert (jax.random.key_data(jax.random.key(seed)) == words).all()
    else:
        with jax.enable_x64(True):
            seed_words = jax.random.key_data(jax.random.key(np.uint64(seed)))
        assert (seed_words == words).all()
    return jax.random.wrap_key_data(words)


def words(k):
    return " ".join(f"{int(w):08x}" for w in jax.random.key_data(k))


def array(x, first=6):
    """Count, SHA-256 of all, the first few."""
    x = np.ascontiguousarray(np.asarray(x))
    assert x.dtype in (np.uint32, np.int32, np.float32)
    flat = x.reshape(-1)
    head = " ".join(f"{int(b):08x}" for b in flat[:first].view(np.uint32))
    return f"{flat.size} {hashlib.sha256(flat.tobytes()).hexdigest()} {head}"


def keys(out):
    seeds = [0, 1, 42, 12345, 2**31 - 1, 2**32 - 1, 2**32, 2**33 + 7, 2**64 - 1]
    for seed in seeds:
        k = key(seed)
        out(f"key {seed} {words(k)}")
        for n, places in ((2, (0, 1)), (3, (2,)), (8, (4, 7)), (1000, (500, 999))):
            parts = jax.random.split(k, n)
            for i in places:
                out(f"split {seed} {i} {words(parts[i])}")
        for data in (0, 1, 2, 255, 65536 + 3, 2**31, 2**31 + 17, 4000000000, 2**32 - 1):
            out(f"fold_in {seed} {data} {words(jax.random.fold_in(k, np.uint32(data)))}")
        for n in (1, 5, 127, 128, 129, 10000):
            out(f"bits {seed} {array(jax.random.bits(k, (n,), dtype=jnp.uint32))}")


def numbers(out):
    for seed in (0, 7, 2**33 + 7):
        k = key(seed)
        for lo, hi in ((0.0, 1.0), (-1.0, 1.0), (-0.05, 0.3), (5.0, 5.5)):
            x = jax.random.uniform(k, (100000,), jnp.float32, lo, hi)
            ends = np.array([lo, hi], dtype=np.float32).view(np.uint32)
            out(f"uniform {seed} {ends[0]:08x} {ends[1]:08x} {array(x)}")
        for n in (4, 1000, 1000000):
            out(f"normal {seed} {array(jax.random.normal(k, (n,), jnp.float32))}")
            x = jax.random.truncated_normal(k, -2.0, 2.0, (n,), jnp.float32)
            out(f"truncated {seed} {array(x)}")


def permutations(out):
    for seed, n in [(0, n) for n in (1, 2, 3, 10, 1625, 1626, 60000, 2700000)] + [
        (1, 10), (12345, 59999), (2**33 + 7, 50000)]:
        p = np.asarray(jax.random.permutation(key(seed), n)).astype(np.uint32)
        out(f"permutation {seed} {array(p)}")
        if (seed, n) == (0, 60000):
            assert hashlib.sha1(p.tobytes()).hexdigest() == "c0762b66e30000e43332f61b46129361479a7b64"


def tree(out):
    """The keys of models and of the orders of epochs, as Flax's ensembling how-to makes them."""
    for seed in (0, 5, 2**33 + 7):
        rng, init = jax.random.split(key(seed))
        out(f"model {seed} 1 0 {words(init)}")
        for members in (2, 4, 8):
            for m, k in enumerate(jax.random.split(init, members)):
                out(f"model {seed} {members} {m} {words(k)}")
        for epoch in range(1, 8):
            rng, order = jax.random.split(rng)
            out(f"order {seed} {epoch} {words(order)}")


# The networks, each with the text of models/ or of tests/unit/net/weights_test.c beside it.

LECUN = dict()
NORMAL = dict(kernel_init=nn.initializers.normal(0.01))
NORMAL_BIAS = dict(kernel_init=nn.initializers.normal(0.1), bias_init=nn.initializers.normal(0.1))
HE = dict(kernel_init=nn.initializers.he_normal())
XAVIER = dict(kernel_init=nn.initializers.xavier_uniform())


class CNN(nn.Module):
    init_by: dict

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(32, (3, 3), **self.init_by)(x))
        x = nn.avg_pool(x, (2, 2), (2, 2))
        x = nn.relu(nn.Conv(64, (3, 3), **self.init_by)(x))
        x = nn.avg_pool(x, (2, 2), (2, 2))
        x = x.reshape((x.shape[0], -1))
        x = nn.relu(nn.Dense(256, **self.init_by)(x))
        return nn.Dense(10, **self.init_by)(x)


class MLP(nn.Module):
    init_by: dict

    @nn.compact
    def __call__(self, x):
        x = x.reshape((x.shape[0], -1))
        for _ in range(2):
            x = jnp.tanh(nn.Dense(1024, **self.init_by)(x))
        return nn.Dense(10, **self.init_by)(x)


class Residual(nn.Module):
    channels: int
    stride: int
    init_by: dict

    @nn.compact
    def __call__(self, x):
        conv = lambda k, s, x: nn.Conv(self.channels, (k, k), (s, s), k // 2, **self.init_by)(x)
        norm = lambda x: nn.BatchNorm(use_running_average=False)(x)
        y = norm(conv(3, 1, nn.relu(norm(conv(3, self.stride, x)))))
        if self.stride > 1:
            x = conv(1, self.stride, x)
        return x + y


class ResNet18(nn.Module):
    init_by: dict

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(64, (3, 3), padding=1, **self.init_by)(x)
        x = nn.relu(nn.BatchNorm(use_running_average=False)(x))
        for stage, channels in enumerate((64, 128, 256, 512)):
            for block in range(2):
                stride = 2 if stage and not block else 1
                x = nn.relu(Residual(channels, stride, self.init_by)(x))
        x = x.mean(axis=(1, 2))
        return nn.Dense(10, **self.init_by)(x)


def nested(level, init_by):
    """Blocks in blocks, all of them called Residual."""

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            y = nn.Conv(4, (3, 3), padding=1, use_bias=False, **init_by)(x)
            if level:
                y = nested(level - 1, init_by)()(y)
            y = nn.Conv(4, (1, 1), **init_by)(y)
            return x + y

    Block.__name__ = Block.__qualname__ = "Residual"
    return Block


class Nested(nn.Module):
    """Eleven of a kind, so that numbers have two digits, and blocks in blocks."""

    init_by: dict

    @nn.compact
    def __call__(self, x):
        for _ in range(11):
            x = nn.Conv(4, (3, 3), padding=1, **self.init_by)(x)
        x = nested(2, self.init_by)()(x)
        x = nested(0, self.init_by)()(x)
        return nn.Dense(10, **self.init_by)(x.reshape((x.shape[0], -1)))


def flatten(tree, path=()):
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from flatten(value, path + (name,))
        else:
            yield "/".join(path + (name,)), value


def weights(out):
    def one(model, init, module, seed, members, m:
        _, k = jax.random.split(key(seed))
        if members > 1:
            k = jax.random.split(k, members)[m]
        images = jnp.zeros((1, 28, 28, 1))
        variables = module.init(k, images)
        out(f"weights {model} {init} {seed} {members} {m}")
        for name, value in sorted(flatten(flax.core.unfreeze(variables["params"]))):
            out(f"tensor {name} {array(value, 4)}")
        for name, value in sorted(flatten(flax.core.unfreeze(variables.get("batch_stats", {})))):
            out(f"tensor batch_stats/{name} {array(value, 1)}")

    one("cnn", "model", CNN(LECUN), 0, 1, 0)
    one("cnn", "model", CNN(LECUN), 0, 4, 2)
    one("cnn", "model", CNN(LECUN), 42, 8, 7)
    one("cnn", "he", CNN(HE), 3, 1, 0)
    one("cnn", "xavier", CNN(XAVIER), 3, 1, 0)
    one("cnn", "normal:0.01", CNN(NORMAL), 3, 1, 0)
    one("mlp", "model", MLP(NORMAL_BIAS), 2**33 + 7, 1, 0)
    one("resnet18", "model", ResNet18(NORMAL), 1, 1, 0)
    one("nested", "lecun", Nested(LECUN), 0, 2, 1)
    one("nested", "normal:0.1:bias", Nested(NORMAL_BIAS), 0, 1, 0)


def main():
    assert jax.config.jax_threefry_partitionable
    for name, parts in (("keys.txt", (keys, numbers, permutations, tree)),
                        ("keys_weights.txt", (weights,))):
        lines = [f"# made by tests/parity/make_keys.py with jax {jax.__version__}, "
                 f"flax {flax.__version__}"]
        for part in parts:
            part(lines.append)
        (FOLDER / name).write_text("\n".join(lines) + "\n")
        print(f"{FOLDER / name}: {len(lines)} lines")


main()
