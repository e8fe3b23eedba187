"""Seconds (CPU, least of the repeats) of an epoch of stacked LSTMs and LSTM(5) in PyTorch, on one thread.

torch_epochs.py DEPTH UNITS WINDOWS BATCH REPEATS float32|float64|bf16

bf16: float32 under torch.autocast.
"""
import sys
import time

import torch

DEPTH, UNITS, WINDOWS, BATCH, REPEATS = (int(word) for word in sys.argv[1:6])
STEPS, MODES = 8, 5
torch.set_num_threads(1)
ROUNDS = sys.argv[6] == "bf16"
torch.set_default_dtype(torch.float32 if ROUNDS else getattr(torch, sys.argv[6]))


class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        widths = [MODES] + [UNITS] * DEPTH + [MODES]
        self.layers = torch.nn.ModuleList(torch.nn.LSTM(a, b, batch_first=True) for a, b in zip(widths, widths[1:]))

    def forward(self, x):
        for layer in self.layers:
            x, _ = layer(x)
        return x


inputs, targets = torch.rand(WINDOWS, STEPS, MODES), torch.rand(WINDOWS, STEPS, MODES)
network = Stack()
optimiser = torch.optim.Adam(network.parameters(), 1e-3, fused=True)
best = float("inf")
for _ in range(REPEATS):
    start = time.process_time()
    order = torch.randperm(WINDOWS)
    for first in range(0, WINDOWS, BATCH):
        some = order[first:first + BATCH]
        optimiser.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=ROUNDS):
            outputs = network(inputs[some])
        loss = torch.nn.functional.mse_loss(outputs.to(targets.dtype), targets[some])
        loss.backward()
        optimiser.step()
    best = min(best, time.process_time() - start)
print(best)
