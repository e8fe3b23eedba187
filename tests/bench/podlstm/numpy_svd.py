"""CPU seconds (least of the repeats) of the ways in which numpy and scipy give the leading singular triplets of a tall matrix, on one thread.

numpy_svd.py FILE ROWS COLUMNS MODES REPEATS WAY...     FILE: float64, row-major; WAY: svd, svds, propack, eigh, eigsh

A line for each: way, seconds, singular values. eigh and eigsh take the product X^T X, its eigenvectors V, and U = X V / s.
"""
import sys
import time

try:
    import numpy as np
    import scipy.linalg
    import scipy.sparse.linalg
except ModuleNotFoundError as error:
    sys.exit(f"the peer is not here: {error}; pip install numpy scipy")

FILE, ROWS, COLUMNS, MODES, REPEATS = sys.argv[1], *(int(word) for word in sys.argv[2:6])


def svd(x):
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    return u[:, :MODES], s[:MODES], vt[:MODES]


def svds(x, solver="arpack"):
    u, s, vt = scipy.sparse.linalg.svds(x, k=MODES, solver=solver, rng=1)
    order = np.argsort(-s)
    return u[:, order], s[order], vt[order]


def propack(x):
    return svds(x, "propack")


def from_products(x, values, vectors):
    s = np.sqrt(values[::-1])
    v = vectors[:, ::-1]
    return x @ v / s, s, v.T


def eigh(x):
    n = x.shape[1]
    return from_products(x, *scipy.linalg.eigh(x.T @ x, subset_by_index=[n - MODES, n - 1]))


def eigsh(x):
    return from_products(x, *scipy.sparse.linalg.eigsh(x.T @ x, k=MODES, v0=np.ones(x.shape[1])))


matrix = np.fromfile(FILE, dtype=np.float64).reshape(ROWS, COLUMNS)
for way in sys.argv[6:]:
    best = float("inf")
    for _ in range(1 if way == "svd" else REPEATS):
        start = time.process_time()
        values = globals()[way](matrix)[1]
        best = min(best, time.process_time() - start)
    print(way, best, *(f"{value:.15g}" for value in values), flush=True)
