"""The training images of an IDX folder as numpy arrays; made up where there is none."""

import gzip
import os

import numpy as np


def idx(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        raw = f.read()
    dims = raw[3]
    shape = [int.from_bytes(raw[4 + 4 * i:8 + 4 * i], "big") for i in range(dims)]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * dims).reshape(shape)


def find(folder, name):
    for root, _, files in os.walk(folder):
        for file in files:
            if file.replace(".", "-").startswith(name.replace(".", "-")):
                return os.path.join(root, file)
    return None


def train(folder, count=60000):
    images = find(folder, "train-images-idx3-ubyte") if folder else None
    labels = find(folder, "train-labels-idx1-ubyte") if folder else None
    if images and labels:
        return idx(images)[:count], idx(labels)[:count].astype(np.int64)
    rng = np.random.default_rng(0)
    return (rng.integers(0, 256, (count, 28, 28), dtype=np.uint8),
            rng.integers(0, 10, count).astype(np.int64))


# name: batch, optimizer, learning rate, precision, members
ROWS = {
    "lenet": (256, "sgd", 0.1, "tf32", 1),
    "cnn": (256, "momentum", 0.02, "tf32", 1),
    "cnn-ensemble": (128, "momentum", 0.02, "tf32", 8),
    "mlp": (200, "sgd", 0.001, "tf32", 1),
    "resnet18-bf16": (256, "sgd", 0.05, "bf16", 1),
    "resnet18-tf32": (256, "sgd", 0.05, "tf32", 1),
}
