#!/usr/bin/env python3
"""CPU milliseconds (median) of torch.jit.load and one call of a scripted network of PARAMETERS weights, and of the call alone.

Usage: torch_load.py PARAMETERS ROUNDS. Prints two numbers.
"""
import os
import statistics
import sys
import tempfile
import time

import torch

torch.set_num_threads(1)
parameters, rounds = int(sys.argv[1]), int(sys.argv[2])
width = int((parameters / 3) ** 0.5)
network = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.Tanh(), torch.nn.Linear(width, width), torch.nn.Tanh(),
                              torch.nn.Linear(width, width)).double()
rows = torch.randn(27, width, dtype=torch.float64)
with tempfile.TemporaryDirectory() as folder, torch.no_grad():
    path = os.path.join(folder, "network.pt")
    torch.jit.script(network).save(path)
    loading, calling = [], []
    loaded = torch.jit.load(path)
    for _ in range(5):
        loaded(rows)
    for _ in range(rounds):
        begin = time.process_time()
        torch.jit.load(path)(rows)
        loading.append(1e3 * (time.process_time() - begin))
        begin = time.process_time()
        loaded(rows)
        calling.append(1e3 * (time.process_time() - begin))
print(statistics.median(loading), statistics.median(calling))
