#!/usr/bin/env python3
"""Least milliseconds of processor time of scipy's A @ H, A the 27-point stencil of spmm.cpp. Usage: scipy_spmm.py SIDE REPEATS COLUMNS..."""
import sys
import time

import numpy as np
import scipy.sparse as sp

side, repeats = int(sys.argv[1]), int(sys.argv[2])
line = sp.diags([np.ones(side - 1), np.ones(side), np.ones(side - 1)], [-1, 0, 1])
a = sp.kron(sp.kron(line, line), line).tocsr()
a.data[:] = np.random.default_rng(1).standard_normal(a.nnz)
for f in map(int, sys.argv[3:]):
    h = np.random.default_rng(2).standard_normal((a.shape[0], f))
    best = 1e9
    for _ in range(repeats):
        start = time.process_time()
        z = a @ h
        best = min(best, time.process_time() - start)
    print(f, 1e3 * best)
