"""CPU microseconds a step, the least of the repeats, of one window through stacked nn.LSTM, and through nn.LSTMCell, on one thread.

torch_steps.py INPUTS UNITS DEPTH OUTPUTS STEPS REPEATS     (OUTPUTS 0: a linear head from the last state to STEPS x 5)
"""
import sys
import time

import torch

INPUTS, UNITS, DEPTH, OUTPUTS, STEPS, REPEATS = (int(word) for word in sys.argv[1:7])
CALLS = 20
torch.set_num_threads(1)
widths = [UNITS] * DEPTH + ([OUTPUTS] if OUTPUTS else [])
stacked = torch.nn.LSTM(INPUTS, UNITS, DEPTH)
last = torch.nn.LSTM(UNITS, OUTPUTS) if OUTPUTS else torch.nn.Linear(UNITS, STEPS * 5)
cells = [torch.nn.LSTMCell(a, b) for a, b in zip([INPUTS] + widths, widths)]
window = torch.rand(STEPS, 1, INPUTS)


def layers():
    h, _ = stacked(window)
    return last(h)[0] if OUTPUTS else last(h[-1])


def steps():
    states = [(torch.zeros(1, n), torch.zeros(1, n)) for n in widths]
    for x in window:
        for i, cell in enumerate(cells):
            states[i] = cell(x, states[i])
            x = states[i][0]
    return x if OUTPUTS else last(x)


with torch.inference_mode():
    for action in (layers, steps):
        best = float("inf")
        action()
        for _ in range(REPEATS):
            start = time.process_time()
            for _ in range(CALLS):
                action()
            best = min(best, time.process_time() - start)
        print(1e6 * best / CALLS / STEPS)
