"""Seconds (CPU, least of the repeats) of a window in the training of podlstm_graph's network in PyTorch, on one thread.

torch_graph.py EDGES WINDOWS REPEATS

By sparse products (torch.sparse, CSR) in float64 and float32 and, where PyTorch Geometric is installed, by its GCNConv.
"""
import sys
import time

import numpy
import torch

torch.set_num_threads(1)
with open(sys.argv[1], "rb") as file:
    N, EDGES = numpy.fromfile(file, numpy.int64, 2)
    ROW_BEGIN = numpy.fromfile(file, numpy.int64, N + 1)
    COLUMN = numpy.fromfile(file, numpy.int32, EDGES).astype(numpy.int64)
WINDOWS, REPEATS = int(sys.argv[2]), int(sys.argv[3])
IN, FEATURES, LAYERS, OUT = 13, 64, 3, 8
ROW = numpy.repeat(numpy.arange(N), numpy.diff(ROW_BEGIN))
LOOPS = numpy.arange(N)
I, J = numpy.concatenate([ROW, LOOPS]), numpy.concatenate([COLUMN, LOOPS])
FACTOR = 1 / numpy.sqrt(numpy.bincount(I, minlength=N))


def matrix(dtype):
    values = torch.tensor(FACTOR[I] * FACTOR[J], dtype=dtype)
    return torch.sparse_coo_tensor(torch.tensor(numpy.stack([I, J])), values, (N, N)).coalesce().to_sparse_csr()


class Product(torch.autograd.Function):
    """A h, A symmetric: its gradient is A times that of the product."""

    @staticmethod
    def forward(ctx, a, h):
        ctx.a = a
        return a @ h

    @staticmethod
    def backward(ctx, gradient):
        return None, ctx.a @ gradient


class Network(torch.nn.Module):
    def __init__(self, dtype, conv=None):
        super().__init__()
        self.lift = torch.nn.Linear(IN, FEATURES, dtype=dtype)
        self.conv = conv
        make = conv or (lambda: torch.nn.Linear(FEATURES, FEATURES, dtype=dtype))
        self.layers = torch.nn.ModuleList(make() for _ in range(LAYERS))
        self.head = torch.nn.Linear(FEATURES, OUT, dtype=dtype)

    def forward(self, x, a):
        h = torch.nn.functional.silu(self.lift(x))
        for layer in self.layers:
            z = layer(h, *a) if self.conv else layer(Product.apply(a, h))
            h = h + torch.nn.functional.silu(z)
        return self.head(h)


def seconds(network, dtype, a):
    x, target = torch.rand(N, IN, dtype=dtype), torch.rand(N, OUT, dtype=dtype)
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.process_time()
        for _ in range(WINDOWS):
            ((network(x, a) - target) ** 2).mean().backward()
        best = min(best, (time.process_time() - begin) / WINDOWS)
    return best


for dtype in (torch.float64, torch.float32):
    taken = seconds(Network(dtype), dtype, matrix(dtype))
    print(f"torch {torch.__version__}, sparse CSR products, {dtype}: {taken:.3f} s CPU a window", flush=True)
try:
    import torch_geometric
    from torch_geometric.nn import GCNConv
except ImportError:
    print("PyTorch Geometric is not installed")
    sys.exit()
for dtype in (torch.float64, torch.float32):
    torch.set_default_dtype(dtype)
    edges = torch.tensor(numpy.stack([COLUMN, ROW]))
    network = Network(dtype, lambda: GCNConv(FEATURES, FEATURES, cached=True))
    taken = seconds(network, dtype, (edges,))
    print(f"PyTorch Geometric {torch_geometric.__version__}, GCNConv, {dtype}: {taken:.3f} s CPU a window", flush=True)
