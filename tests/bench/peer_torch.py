"""peer_torch.py FOLDER KEY=VALUE...: the work of chorus by PyTorch. `config` says how, words joined
by "+": channels_last, compiled; of an ensemble vmap (torch.func) or loop. With `tune=A,B,...` it
only tries these configurations and answers the seconds a step of each."""

import json
import os
import sys
import time
import warnings

import peer

S = peer.settings(sys.argv[2:])
os.environ["OMP_NUM_THREADS"] = str(S["threads"])

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

torch.set_num_threads(S["threads"])
warnings.filterwarnings("ignore")
BF16 = S.get("precision") == "bf16"
LAST = torch.channels_last


class Model:
    """The layers of a model's text as a function of a list of tensors. Under channels_last a
    picture is flattened as (h, w, c), which costs nothing there and is Flax's order; else as (c, h, w)."""

    def __init__(self, work, last):
        self.layers, self.last = work.layers, last
        self.names, self.made = [], {}

    def of(self, weights, member):
        """The tensors of a member, in the order of names."""
        self.names, tensors = [], []
        for name, value in weights.items():
            value = torch.from_numpy(value[member].copy())
            if value.dim() == 4:
                value = value.permute(3, 2, 0, 1).contiguous()
                value = value.to(memory_format=LAST) if self.last else value
            elif name.endswith("kernel"):
                value = value.t()
                if name in self.made:
                    h, w, c = self.made[name]
                    value = value.reshape(-1, h, w, c).permute(0, 3, 1, 2).reshape(len(value), -1)
                value = value.contiguous()
            self.names.append(name)
            tensors.append(value)
        return tensors

    def look(self, weights):
        """Learns which dense layers read pictures, by a forward pass without values."""
        shapes = {k: v[0] for k, v in weights.items()}
        with torch.device("meta"):
            x = torch.zeros(1, 1, 28, 28)
            self.names = list(shapes)
            fake = []
            for name, v in shapes.items():
                v = torch.empty(v.shape)
                fake.append(v.permute(3, 2, 0, 1) if v.dim() == 4 else v.t() if v.dim() == 2 else v)
            self.watch = True
            self.forward(fake, x, True)
            self.watch = False
        if self.last:
            self.made = {}

    watch = False

    def forward(self, tensors, x, train):
        self.at = dict(zip(self.names, tensors))
        return self.apply(self.layers, x, "", {}, train, {})

    def apply(self, layers, x, path, ignored, train, count):
        def number(kind):
            count[kind] = count.get(kind, -1) + 1
            return f"{path}{kind}_{count[kind]}"

        for op, *args in layers:
            if op == "residual":
                name, inner = number("Residual") + "/", {}
                y = self.apply(args[0], x, name, None, train, inner)
                x = y + self.apply(args[1], x, name, None, train, inner)
            elif op == "conv":
                o, name = peer.options(args[2:]), number("Conv")
                pad = int(args[1]) // 2 if "same" in o else o.get("pad", 0)
                x = F.conv2d(x, self.at[name + "/kernel"], self.at.get(name + "/bias"),
                             o.get("stride", 1), pad)
            elif op == "dense":
                name = number("Dense")
                if x.dim() == 4:
                    if self.watch:
                        self.made[name + "/kernel"] = (x.shape[2], x.shape[3], x.shape[1])
                    x = (x.permute(0, 2, 3, 1) if self.last else x).flatten(1)
                x = F.linear(x, self.at[name + "/kernel"], self.at[name + "/bias"])
            elif op == "batchnorm":
                name = number("BatchNorm")
                x = F.batch_norm(x, None, None, self.at[name + "/scale"], self.at[name + "/bias"],
                                 True, 0.1, 1e-5)
            elif op in ("avgpool", "maxpool"):
                k, o = int(args[0]), peer.options(args[1:])
                x = (F.avg_pool2d if op == "avgpool" else F.max_pool2d)(x, k, o.get("stride", k))
            elif op == "globalavgpool":
                x = x.mean((2, 3))
            else:
                x = torch.relu(x) if op == "relu" else torch.tanh(x)
        return x


class Trainer:
    def __init__(self, work, config):
        words = config.split("+")
        members = S.get("members", 1)
        self.model = Model(work, "channels_last" in words)
        self.model.look(work.weights)
        self.work, self.members = work, members
        self.vmap = "vmap" in words
        images, labels = work.train
        self.images = torch.from_numpy(images).permute(0, 3, 1, 2)
        self.labels = torch.from_numpy(labels).long()
        self.sets = [[t.requires_grad_() for t in tensors] for tensors in self.given()]
        every = [t for tensors in self.sets for t in tensors]
        kind, lr = S["optimizer"], S["lr"]
        if kind == "adam":
            self.optimizer = torch.optim.Adam(every, lr, fused=True)
        else:
            self.optimizer = torch.optim.SGD(
                every, lr, momentum=S.get("momentum", 0.9) if kind == "momentum" else 0, fused=True)
        self.sum = S.get("loss_reduction") == "sum"

        def loss(tensors, x, y):
            with torch.autocast("cpu", torch.bfloat16, enabled=BF16):
                logits = self.model.forward(tensors, x, True)
            return F.cross_entropy(logits.float(), y, reduction="sum" if self.sum else "mean")

        def logits(tensors, x):
            with torch.autocast("cpu", torch.bfloat16, enabled=BF16):
                return self.model.forward(tensors, x, False).float()

        if self.vmap:
            loss = torch.func.vmap(torch.func.grad_and_value(loss), in_dims=(0, None, None))
        if "compiled" in words:
            loss, logits = torch.compile(loss), torch.compile(logits)
        self.loss, self.logits = loss, logits
        self.portion = None  # images at a time when evaluating; the better of two

    def given(self):
        """The work's weights: the tensors of each member, or of all in one."""
        sets = [self.model.of(self.work.weights, m) for m in range(self.members)]
        return [[torch.stack(t) for t in zip(*sets)]] if self.vmap else sets

    @torch.no_grad()
    def load(self):
        self.work.load()
        for tensors, given in zip(self.sets, self.given()):
            for t, g in zip(tensors, given):
                t.copy_(g)

    def train(self, n):
        losses, batch = [], S["batch"]
        for _ in range(n):
            at = torch.from_numpy(self.work.places(batch))
            x, y = self.images[at], self.labels[at]
            if self.model.last:
                x = x.contiguous(memory_format=LAST)
            if self.vmap:
                grads, values = self.loss(self.sets[0], x, y)
                for t, g in zip(self.sets[0], grads):
                    t.grad = g
                losses.append(values.mean().detach())
            else:
                self.optimizer.zero_grad(set_to_none=True)
                values = []
                for tensors in self.sets:
                    value = self.loss(tensors, x, y)
                    value.backward()
                    values.append(value.detach())
                losses.append(torch.stack(values).mean())
            self.optimizer.step()
        return [float(v) / (batch if self.sum else 1) for v in losses]

    def run_test(self, portion):
        x, y = self.work.test
        total = 0.0
        with torch.no_grad():
            for tensors in self.sets:
                for i in range(0, len(x), portion):
                    part = torch.from_numpy(x[i:i + portion]).permute(0, 3, 1, 2)
                    if self.model.last:
                        part = part.contiguous(memory_format=LAST)
                    out = self.logits(tensors, part)
                    total += float(F.cross_entropy(out, torch.from_numpy(y[i:i + portion]).long(),
                                                   reduction="sum"))
        return total / len(x) / len(self.sets)

    def evaluate(self):
        if not self.portion:
            took = {}
            for portion in 1000, 250:
                self.run_test(portion)
                begin = time.perf_counter()
                self.run_test(portion)
                took[portion] = time.perf_counter() - begin
            self.portion = min(took, key=took.get)
        return self.run_test(self.portion)


def tune(work, configs):
    """Seconds a step of each, the best within about two seconds; null where PyTorch cannot."""
    found = {}
    for config in configs:
        try:
            trainer = Trainer(work, config)
            trainer.train(2)
            best, until = None, time.perf_counter() + 2
            while best is None or time.perf_counter() < until:
                begin = time.perf_counter()
                trainer.train(1)
                took = time.perf_counter() - begin
                best = took if best is None else min(best, took)
            found[config] = best
        except Exception as e:  # whatever a compiler may say: this configuration is none
            found[config] = None
            print(f"{config}: {type(e).__name__}: {str(e)[:300]}", file=sys.stderr)
        trainer = None
        torch._dynamo.reset()
    print(json.dumps(found), flush=True)


def main():
    work = peer.Work(sys.argv[1])
    if "tune" in S:
        tune(work, S["tune"].split(","))
        return
    trainer = Trainer(work, S["config"])
    peer.serve(trainer.train, trainer.evaluate, trainer.load)


main()
