#!/usr/bin/env python3
"""graph_convolution.json: losses of a two-layer graph network in PyTorch Geometric, full batch, plain gradient descent.

Two graphs of 14 nodes, one undirected, one directed with weights (and a loop); features, labels and first weights drawn here
with fixed seeds and rounded, so that the file holds all there is. Needs torch and torch-geometric (2.8); made with float64.
"""
import json

import numpy as np
import torch
import torch_geometric
from torch_geometric.nn import GCNConv

N, FEATURES, HIDDEN, CLASSES, STEPS, RATE = 14, 5, 8, 3, 12, 0.8


def graph(directed):
    rng = np.random.default_rng(5 + directed)
    edges = {}
    for i, j in rng.integers(0, N, (22, 2)):
        if i == j:
            continue
        value = round(float(rng.uniform(0.2, 2)), 3) if directed else 1.0
        edges[int(i), int(j)] = value
        if not directed:
            edges[int(j), int(i)] = value
    if directed:
        edges[3, 3] = 0.7
    return sorted(edges.items())


def case(directed):
    rng = np.random.default_rng(50 + directed)
    drawn = lambda *shape: np.round(rng.standard_normal(shape), 3)
    edges = graph(directed)
    x, labels = drawn(N, FEATURES), rng.integers(0, CLASSES, N)
    trained = [i for i in range(N) if i % 3 != 1]
    weights = [drawn(FEATURES, HIDDEN), drawn(HIDDEN), drawn(HIDDEN, CLASSES), drawn(CLASSES)]

    layers = [GCNConv(FEATURES, HIDDEN).double(), GCNConv(HIDDEN, CLASSES).double()]
    with torch.no_grad():
        for layer, (w, b) in zip(layers, (weights[:2], weights[2:])):
            layer.lin.weight.copy_(torch.tensor(w).T)
            layer.bias.copy_(torch.tensor(b))
    parameters = [p for layer in layers for p in layer.parameters()]
    optimiser = torch.optim.SGD(parameters, lr=RATE)
    index = torch.tensor([edge for edge, _ in edges]).T
    value = torch.tensor([v for _, v in edges], dtype=torch.float64)
    inputs, targets = torch.tensor(x), torch.tensor(labels)
    losses = []
    for _ in range(STEPS):
        optimiser.zero_grad()
        h = torch.tanh(layers[0](inputs, index, value))
        loss = torch.nn.functional.cross_entropy(layers[1](h, index, value)[trained], targets[trained])
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return {"directed": bool(directed), "from": [e[0] for e, _ in edges], "to": [e[1] for e, _ in edges],
            "weight": [v for _, v in edges], "x": x.ravel().tolist(), "label": labels.tolist(), "trained": trained,
            "parameters": np.concatenate([w.ravel() for w in weights]).tolist(), "losses": losses}


torch.manual_seed(0)
result = {"nodes": N, "features": FEATURES, "hidden": HIDDEN, "classes": CLASSES, "rate": RATE,
          "made_with": f"torch-geometric {torch_geometric.__version__}", "cases": [case(0), case(1)]}
text = json.dumps(result).replace('"cases": [', '"cases": [\n ').replace("}, {", "},\n {")
open("graph_convolution.json", "w").write(text + "\n")
