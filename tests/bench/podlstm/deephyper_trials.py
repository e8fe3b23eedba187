"""Architecture search by DeepHyper with PyTorch: trials an hour in the SC20 paper's space, one thread a worker.

deephyper_trials.py FILE WEEKS METHOD SECONDS WORKERS EPOCHS BATCH     FILE: modes.h5, its first weeks; METHOD: random, evolution

A trial builds one network (five nodes, each the identity or an LSTM; nine skips; a last LSTM; a skip adds, projected where widths differ, then relu),
trains it on four fifths of the windows of 8 + 8 weeks, scaled to [0, 1], and validates it on the others. A line of numbers: trials, seconds from the
first end of a trial to the last, trials in that time, CPU seconds of a trial, share of the workers' time in trials, mean parameters with one bias a
gate, best validation R2 (pooled).
"""
import json
import logging
import os
import sys
import tempfile
import time

os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
import numpy as np  # noqa: E402  (the number of threads comes first)

NODES, REACH, WINDOW, UNITS = 5, 2, 8, [0, 16, 32, 48, 64, 80, 96]


def candidates(node):
    """What a skip to this node may add: the two before it."""
    return range(max(0, node - REACH), node)


def network(genes, modes):
    import torch

    class Chain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            widths = [modes]
            self.nodes, self.projections = torch.nn.ModuleList(), torch.nn.ModuleDict()
            for node in range(1, NODES + 1):
                units = genes[f"node_{node}"]
                self.nodes.append(torch.nn.LSTM(widths[-1], units, batch_first=True) if units else torch.nn.Identity())
                widths.append(units or widths[-1])
                for source in candidates(node):
                    if genes[f"skip_{source}_{node}"] and widths[source] != widths[node]:
                        self.projections[f"{source}_{node}"] = torch.nn.Linear(widths[source], widths[node])
            self.head = torch.nn.LSTM(widths[-1], modes, batch_first=True)

        def forward(self, x):
            h = [x]
            for node in range(1, NODES + 1):
                y = self.nodes[node - 1](h[-1])
                y = y[0] if isinstance(y, tuple) else y
                added = [h[source] if f"{source}_{node}" not in self.projections else self.projections[f"{source}_{node}"](h[source])
                         for source in candidates(node) if genes[f"skip_{source}_{node}"]]
                h.append(torch.relu(sum(added, y)) if added else y)
            return self.head(h[-1])[0]

    return Chain()


def trial(job):
    import h5py
    import torch
    torch.set_num_threads(1)
    begin, cpu = time.time(), time.process_time()
    settings = json.loads(os.environ["TRIALS"])
    with h5py.File(settings["file"]) as file:
        series = file["coefficients"][:settings["weeks"]]
    series = (series - series.min(0)) / (series.max(0) - series.min(0))
    n = len(series) - 2 * WINDOW + 1
    windows = torch.tensor(np.stack([series[i:i + 2 * WINDOW] for i in range(n)]), dtype=torch.float32)
    windows = windows[torch.tensor(np.random.default_rng(1).permutation(n))]
    n_train = round(0.8 * n)
    x, y = windows[:n_train, :WINDOW], windows[:n_train, WINDOW:]
    torch.manual_seed(0)
    model = network({name: int(value) for name, value in job.parameters.items()}, series.shape[1])
    optimiser = torch.optim.Adam(model.parameters(), 1e-3, eps=1e-7, fused=True)
    for _ in range(settings["epochs"]):
        for batch in torch.randperm(n_train).split(settings["batch"]):
            optimiser.zero_grad()
            torch.nn.functional.mse_loss(model(x[batch]), y[batch]).backward()
            optimiser.step()
    with torch.no_grad():
        truth = windows[n_train:, WINDOW:]
        r2 = 1 - float(((model(windows[n_train:, :WINDOW]) - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())
    parameters = sum(value.numel() for name, value in model.named_parameters() if "bias_hh" not in name)
    return {"objective": r2, "metadata": {"begin": begin, "end": time.time(), "cpu": time.process_time() - cpu, "parameters": parameters}}


def main():
    file, weeks, method, seconds, workers, epochs, batch = sys.argv[1:]
    os.environ["TRIALS"] = json.dumps({"file": file, "weeks": int(weeks), "epochs": int(epochs), "batch": int(batch)})
    logging.disable(logging.WARNING)
    from deephyper.evaluator import Evaluator
    from deephyper.hpo import HpProblem, RandomSearch, RegularizedEvolution
    problem = HpProblem()
    for node in range(1, NODES + 1):
        problem.add_hyperparameter(UNITS, f"node_{node}")
    for node in range(1, NODES + 1):
        for source in candidates(node):
            problem.add_hyperparameter([0, 1], f"skip_{source}_{node}")
    with tempfile.TemporaryDirectory() as folder:
        common = {"random_state": 1, "log_dir": folder, "verbose": 0}
        search = (RandomSearch(problem, **common) if method == "random" else
                  RegularizedEvolution(problem, population_size=100, sample_size=10, **common))
        table = search.search(Evaluator.create(trial, method="process", method_kwargs={"num_workers": int(workers)}), timeout=int(seconds))
    table = table[table["objective"].apply(lambda value: not str(value).startswith("F"))]
    ends = np.sort(table["m:end"].to_numpy(float))
    first = ends[int(workers) - 1]  # by then every worker has started and imported what it needs
    span = ends[-1] - first
    begins = np.maximum(table["m:begin"].to_numpy(float), first)
    busy = np.maximum(table["m:end"].to_numpy(float) - begins, 0).sum()
    print(len(table), span, (ends > first).sum(), table["m:cpu"].mean(), busy / span / int(workers), table["m:parameters"].mean(),
          table["objective"].astype(float).max())


if __name__ == "__main__":
    main()
