#!/usr/bin/env python3
"""Convolution, pointwise and perturbed U-Nets at equal time, and what a shift of the input changes in what they predict.

Flows and networks of inputs/meshfreeflow/quick_*.yaml. CPU seconds of a step are timed for each kind, kinds in turn; each
is trained for as many steps as fit the same time, with three seeds (of weights, crops, points and masks). Then: the nine statistics
and the errors of the fields on the flow that none has met (meshfreeflow evaluate), and fields at random points of that flow beside those
of the same flow moved along x by 8 coarse nodes (all that three levels pool) and by 3, moved back, over their deviation.

    unet_kinds_study.py [--seconds 20] [--seeds 3] [--folder FOLDER]    from the project's folder, after a build; h5py
"""
import argparse
import csv
import json
import os
import random
import resource
import statistics
import subprocess

import h5py
import numpy

KINDS = ("convolution", "pointwise", "perturb")
NINE = ("kinetic_energy", "u_rms", "dissipation", "taylor_length", "reynolds_taylor", "kolmogorov_time",
        "kolmogorov_length", "integral_length", "turnover_time")
FIELDS = ("p", "b", "u", "w")
FACTOR, NODES, LENGTH = 4, 32, 4.0  # fine points a coarse node, coarse nodes and length of x
SHIFTS = (8, 3)


def run(command, *words):
    """CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([f"build/bin/{command}", *words, "--threads", "1", "--quiet", "--overwrite"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def summary(folder):
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as stream:
        return json.load(stream)


def settings(given):
    return [word for key, value in given.items() for word in ("--set", f"{key}={value}")]


class Study:
    """All files of a study are in one folder."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def simulate(self):
        return run("meshfreeflow", "simulate", "inputs/meshfreeflow/quick_flows.yaml", "--output", self.path("flows"))

    def train(self, kind, seed, steps, name):
        given = {"data.files": f"[{self.path('flows', 'fields.h5')}]", "model.encoder.block": kind, "seed": seed,
                 "steps": steps, "validation.interval": max(1, steps // 4), "validation.batches": 2,
                 "learning_rate.interval": max(1, 3 * steps // 5)}
        if kind == "perturb":
            given["model.encoder.masks"] = f"{{seed: {seed}}}"
        return run("meshfreeflow", "train", "inputs/meshfreeflow/quick_train.yaml", *settings(given), "--output",
                   self.path(name))

    def step_seconds(self):
        """CPU seconds of a step by kind: 24 steps less 8, least of two, kinds in turn."""
        best = {kind: {} for kind in KINDS}
        for _ in range(2):
            for kind in KINDS:
                for steps in (8, 24):
                    spent = self.train(kind, 1, steps, "timing")
                    best[kind][steps] = min(spent, best[kind].get(steps, spent))
        return {kind: (best[kind][24] - best[kind][8]) / 16 for kind in KINDS}

    def evaluate(self, models):
        files = ", ".join(f"{{name: {name}, file: {self.path(name, 'model.h5')}}}" for name in models)
        truth = f"{{file: {self.path('flows', 'fields.h5')}, sample: 3}}"
        run("meshfreeflow", "evaluate", "inputs/meshfreeflow/quick_evaluate.yaml", "--set", f"models=[{files}]", "--set",
            f"cases=[{{name: unseen, truth: {truth}}}]", "--output", self.path("judged"))
        return summary(self.path("judged"))

    def move_flow(self, nodes):
        """The flow with all its fields moved along x."""
        name = self.path(f"moved_{nodes}.h5")
        with h5py.File(self.path("flows", "fields.h5")) as source, h5py.File(name, "w") as target:
            for key, value in source.attrs.items():
                target.attrs[key] = value
            for key in source:
                source.copy(key, target)
            for group in ("t0_fields", "t1_fields"):
                for data in target[group].values():
                    if isinstance(data, h5py.Dataset) and data.ndim >= 4:
                        data[3] = numpy.roll(data[3], FACTOR * nodes, axis=data[3].shape.index(NODES * FACTOR))
        return name

    def points(self, nodes):
        """Random points in the middle of the flow's time, moved along x."""
        drawn = random.Random(5)
        name = self.path(f"points_{nodes}.csv")
        with open(name, "w", encoding="utf-8") as stream:
            stream.write("t,z,x\n")
            for _ in range(4000):
                t, z, x = drawn.uniform(14, 36), drawn.uniform(-0.45, 0.45), drawn.uniform(0, LENGTH)
                stream.write(f"{t!r},{z!r},{(x + nodes * LENGTH / NODES) % LENGTH!r}\n")
        return name

    def fields_at(self, model, flow, nodes):
        case = self.path("points.yaml")
        with open(case, "w", encoding="utf-8") as stream:
            stream.write(f"model: {self.path(model, 'model.h5')}\ninput: {{file: {flow}, sample: 3}}\nresiduals: false\n"
                         f"low_resolution: {{factor: [{FACTOR}, {FACTOR}, {FACTOR}]}}\noutput: {{points: {self.points(nodes)}}}\n")
        run("meshfreeflow", "superresolve", case, "--output", self.path("points"))
        with open(self.path("points", "points.csv"), encoding="utf-8") as stream:
            rows = list(csv.DictReader(line for line in stream if not line.startswith("#")))
        return {field: numpy.array([float(row[field]) for row in rows]) for field in FIELDS}

    def seams(self, models, flows):
        """[shift][model] rms difference of what is predicted of a moved flow, mean over the fields."""
        found = {nodes: {} for nodes in SHIFTS}
        for model in models:
            here = self.fields_at(model, self.path("flows", "fields.h5"), 0)
            for nodes in SHIFTS:
                there = self.fields_at(model, flows[nodes], nodes)
                found[nodes][model] = statistics.mean(
                    float(numpy.sqrt(numpy.mean((there[f] - here[f]) ** 2)) / numpy.std(here[f])) for f in FIELDS)
        return found


def cell(values, digits):
    """Mean and the three values."""
    return f"{statistics.mean(values):.{digits}g} ({', '.join(f'{value:.{digits}g}' for value in values)})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20, help="CPU seconds of steps of each training")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--folder", default="runs/unet_kinds")
    arguments = parser.parse_args()
    study = Study(arguments.folder)
    study.simulate()
    step = study.step_seconds()
    seeds = range(1, arguments.seeds + 1)
    steps = {kind: round(arguments.seconds / step[kind]) for kind in KINDS}
    names = {kind: [f"{kind}_{seed}" for seed in seeds] for kind in KINDS}
    spent = {kind: [study.train(kind, seed, steps[kind], f"{kind}_{seed}") for seed in seeds] for kind in KINDS}
    models = [name for kind in KINDS for name in names[kind]]
    judged = study.evaluate(models)
    seams = study.seams(models, {nodes: study.move_flow(nodes) for nodes in SHIFTS})

    def row(title, of):
        print(f"| {title} | " + " | ".join(of(kind) for kind in KINDS) + " |")

    row("", str)
    print("|---" * (1 + len(KINDS)) + "|")
    row("parameters", lambda kind: str(summary(study.path(names[kind][0]))["parameters"]))
    row("ms a step", lambda kind: f"{1e3 * step[kind]:.1f}")
    row("steps", lambda kind: str(steps[kind]))
    row("CPU s, all of it", lambda kind: cell(spent[kind], 3))
    row("validation of values", lambda kind: cell(
        [summary(study.path(name))["validation_values"] for name in names[kind]], 3))
    for field in FIELDS:
        row(f"error of {field}", lambda kind: cell([judged[f"{name}_error_{field}"] for name in names[kind]], 3))
    for key in NINE:
        row(f"`{key}`: 100 NMAE", lambda kind: cell([judged[f"{name}_nmae100_{key}"] for name in names[kind]], 3))
        row(f"`{key}`: R²", lambda kind: cell([judged[f"{name}_r2_{key}"] for name in names[kind]], 2))
    for nodes in SHIFTS:
        row(f"moved by {nodes} nodes", lambda kind: cell([seams[nodes][name] for name in names[kind]], 2))
    print(json.dumps([{"bench": "unet_kinds_study", "case": f"error of b, {kind}", "unit": "deviations",
                       "ours": statistics.mean(judged[f"{name}_error_b"] for name in names[kind]),
                       "peer": statistics.mean(judged[f"{name}_error_b"] for name in names["convolution"])}
                      for kind in KINDS[1:]]))


if __name__ == "__main__":
    main()
