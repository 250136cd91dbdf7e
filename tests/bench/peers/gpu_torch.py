"""gpu_torch.py ROW DATA [--device cuda] [--images N] [--seconds N] [--one]: seconds of an epoch of
training by PyTorch, the median of five after two, images resident on the device, for each way that
PyTorch has; on stdout, behind each way, a JSON object of all so far: {"captured": 0.05, "eager": 0.1, ...},
null where a way failed. No way is begun once N seconds are over. --one: only the first way, as a CUDA
graph."""

import argparse
import json
import statistics
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

import gpu_data


class Residual(nn.Module):
    def __init__(self, inside, out, stride):
        super().__init__()
        self.a = nn.Conv2d(inside, out, 3, stride, 1)
        self.b = nn.Conv2d(out, out, 3, 1, 1)
        self.c = nn.Conv2d(inside, out, 1, stride) if stride > 1 else nn.Identity()
        self.n, self.m = nn.BatchNorm2d(out), nn.BatchNorm2d(out)

    def forward(self, x):
        return F.relu(self.c(x) + self.m(self.b(F.relu(self.n(self.a(x))))))


def model(name):
    if name == "lenet":
        return nn.Sequential(nn.Conv2d(1, 20, 3), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(20, 50, 5),
                             nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(800, 128), nn.ReLU(),
                             nn.Linear(128, 10))
    if name == "cnn":
        return nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2),
                             nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(),
                             nn.Linear(3136, 256), nn.ReLU(), nn.Linear(256, 10))
    if name == "mlp":
        return nn.Sequential(nn.Flatten(), nn.Linear(784, 1024), nn.Tanh(), nn.Linear(1024, 1024),
                             nn.Tanh(), nn.Linear(1024, 10))
    stages = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1),
              (256, 512, 2), (512, 512, 1)]
    return nn.Sequential(nn.Conv2d(1, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
                         *[Residual(*s) for s in stages], nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(512, 10))


class Job:
    def __init__(self, row, folder, device, images):
        self.batch, self.kind, self.lr, self.precision, self.members = gpu_data.ROWS[row]
        self.device = device
        x, y = gpu_data.train(folder, images)
        self.x = torch.from_numpy(x.copy()).to(device)[:, None]
        self.y = torch.from_numpy(y).to(device)
        self.last = row.startswith("resnet")
        torch.manual_seed(0)
        self.models = []
        for _ in range(self.members):
            m = model(row.split("-")[0]).to(device)
            self.models.append(m.to(memory_format=torch.channels_last) if self.last else m)
        self.optimizers = [self.optimizer(m.parameters()) for m in self.models]
        self.steps = len(self.x) // self.batch
        self.at = torch.zeros(self.batch, dtype=torch.long, device=device)
        self.loss = torch.zeros((), device=device)

    def optimizer(self, parameters):
        return torch.optim.SGD(parameters, self.lr, momentum=0.9 if self.kind == "momentum" else 0,
                               fused=True)

    def images(self, at):
        x = self.x[at].float() / 255
        if self.last:
            x = x.contiguous(memory_format=torch.channels_last)
        return x, self.y[at]

    def forward_loss(self, m, x, y):
        with torch.autocast(self.device, torch.bfloat16, enabled=self.precision == "bf16"):
            z = m(x)
        return F.cross_entropy(z.float(), y)

    def one(self, m, optimizer, x, y):
        optimizer.zero_grad(set_to_none=True)
        loss = self.forward_loss(m, x, y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    def sync(self):
        if self.device != "cpu":
            torch.cuda.synchronize()

    # ---- ways: each returns a function of the places of a batch ----

    def eager(self):
        def step(at):
            x, y = self.images(at)
            for m, o in zip(self.models, self.optimizers):
                self.loss = self.one(m, o, x, y)
        return step

    def captured(self, streams=False):
        """A step as a CUDA graph; members on streams of their own."""
        def body():
            x, y = self.images(self.at)
            if not streams:
                for m, o in zip(self.models, self.optimizers):
                    self.one(m, o, x, y)
                return
            main = torch.cuda.current_stream()
            for s, m, o in zip(side, self.models, self.optimizers):
                s.wait_stream(main)
                with torch.cuda.stream(s):
                    self.one(m, o, x, y)
            for s in side:
                main.wait_stream(s)
        side = [torch.cuda.Stream() for _ in self.models]
        warm = torch.cuda.Stream()
        warm.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(warm):
            for _ in range(3):
                body()
        torch.cuda.current_stream().wait_stream(warm)
        graph = torch.cuda.CUDAGraph()
        for o in self.optimizers:
            o.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            body()

        def step(at):
            self.at.copy_(at)
            graph.replay()
        return step

    def streams(self):
        return self.captured(streams=True)

    def compiled(self, mode="reduce-overhead"):
        """Compiled with CUDA graphs; the optimizer's step is captured by itself."""
        losses = [torch.compile(lambda x, y, m=m: self.forward_loss(m, x, y), mode=mode)
                  for m in self.models]

        def step(at):
            x, y = self.images(at)
            for loss, o in zip(losses, self.optimizers):
                o.zero_grad(set_to_none=True)
                if hasattr(torch.compiler, "cudagraph_mark_step_begin"):
                    torch.compiler.cudagraph_mark_step_begin()
                loss(x, y).backward()
                o.step()
        return step

    def compiled_captured(self):
        """Compiled by Inductor, the whole step captured as one CUDA graph by hand."""
        self.forward_loss = torch.compile(self.forward_loss)
        return self.captured()

    def vmap(self):
        stacked = torch.func.stack_module_state(self.models)
        params = {k: v.detach().requires_grad_() for k, v in stacked[0].items()}
        base = self.models[0]

        def loss(p, x, y):
            return F.cross_entropy(torch.func.functional_call(base, p, (x,)), y)
        grads = torch.func.vmap(torch.func.grad(loss), in_dims=(0, None, None))
        optimizer = self.optimizer(params.values())

        def body(at):
            x, y = self.images(at)
            for v, g in zip(params.values(), grads(params, x, y).values()):
                v.grad = g
            optimizer.step()
        if self.device == "cpu":
            return body
        warm = torch.cuda.Stream()
        with torch.cuda.stream(warm):
            for _ in range(3):
                body(self.at)
        torch.cuda.current_stream().wait_stream(warm)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            body(self.at)

        def step(at):
            self.at.copy_(at)
            graph.replay()
        return step

    def epochs(self, step):
        took = []
        for epoch in range(7):
            order = torch.randperm(len(self.x), device=self.device)
            self.sync()
            begin = time.perf_counter()
            for i in range(self.steps):
                step(order[i * self.batch:(i + 1) * self.batch])
            self.sync()
            took.append(time.perf_counter() - begin)
        return statistics.median(took[2:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("row", choices=gpu_data.ROWS)
    parser.add_argument("data", nargs="?")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--images", type=int, default=60000)
    parser.add_argument("--seconds", type=float, default=80)
    parser.add_argument("--one", action="store_true")
    a = parser.parse_args()
    precision = gpu_data.ROWS[a.row][3]
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision != "fp32"
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.benchmark = True
    ways = ["captured", "compiled_captured", "eager", "compiled"]  # the quickest first
    if gpu_data.ROWS[a.row][4] > 1:
        ways = ["vmap", "streams", "captured", "eager"]
    if a.device == "cpu":  # which has no graphs
        ways = [w for w in ways if w not in ("captured", "compiled_captured", "streams")]
    ways = ways[:1] if a.one else ways
    found, begin = {}, time.perf_counter()
    for way in ways:
        if found and time.perf_counter() - begin > a.seconds:
            print(f"{way}: no time left", file=sys.stderr)
            continue
        try:
            job = Job(a.row, a.data, a.device, a.images)
            found[way] = job.epochs(getattr(job, way)())
        except Exception as e:  # whatever a compiler may say: this way is none
            found[way] = None
            print(f"{way}: {type(e).__name__}: {str(e)[:300]}", file=sys.stderr)
        job = None
        print(json.dumps(found), flush=True)


main()
