#!/usr/bin/env python3
"""Plans beside runs: `quintet plan` for 1 and 2 ranks, then the runs themselves, as the table of docs/planning.md.

Time of a step: phases `steps` and those of samples of summary.json, over the steps (frames, pictures and checkpoints are not planned
as time). Memory: the peak of a rank. Accuracy: 1 - |plan - run|/run. Words are compared by tests, exactly. Times need an
otherwise idle machine with two cores; links come from a machine file that `quintet machine local --calibrate` has measured here.

Usage: compare_plans.py --machine FILE [--build build] [--only NAME] [--markdown]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

# Name, application and command, input, settings, phases of a step.
CASES = (
    ("two-stream, 64 x 64", "vlasov run", "inputs/vlasov/two_stream.yaml", ["time.end=10"], ("steps", "history")),
    ("two-stream, 256 x 256", "vlasov run", "inputs/vlasov/two_stream.yaml", ["grid.cells=[256,256]", "time.steps=400"],
     ("steps", "history")),
    ("Weibel, 1x2v", "vlasov run", "inputs/vlasov/weibel_1x2v.yaml", ["time.steps=100"], ("steps", "history")),
    ("copper, 4000 atoms", "dpmd run", "inputs/dpmd/copper/nvt.yaml", ["time.steps=200"], ("steps",)),
    ("copper, 500 atoms", "dpmd run", "inputs/dpmd/copper/nvt.yaml", ["time.steps=500", "system.replicate=[5,5,5]"], ("steps",)),
    ("convection, ensemble", "meshfreeflow simulate", "inputs/meshfreeflow/quick_flows.yaml", ["time.steps=400"],
     ("steps", "history")),
    ("convection, limit cycle", "meshfreeflow simulate", "inputs/meshfreeflow/limit_cycle.yaml", ["time.steps=400"],
     ("steps", "history")),
    ("training of copper", "dpmd train", "inputs/dpmd/copper/train.yaml", ["steps=300"], ("steps",)),
)


def settings_of(settings):
    return [word for setting in settings for word in ("--set", setting)]


def plan(build, machine, case, folder):
    name, command, given, settings, _ = case
    app, verb = command.split()
    path = os.path.join(folder, "plan.json")
    subprocess.run([f"{build}/bin/quintet", "plan", given, "--app", app, "--command", verb, "--machine", machine, "--ranks", "1,2",
                    "--output", path, *settings_of(settings)], check=True, stdout=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as stream:
        rows = json.load(stream)["rows"]
    return {ranks: next(row for row in rows if row["ranks"] == ranks) for ranks in (1, 2)}


def run(build, case, ranks, folder):
    _, command, given, settings, phases = case
    app, verb = command.split()
    output = os.path.join(folder, f"run_{ranks}")
    words = [f"{build}/bin/{app}", verb, given, "--output", output, "--quiet", "--threads", "1", *settings_of(settings)]
    if ranks > 1:
        words = ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", *words]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(output, "summary.json"), encoding="utf-8") as stream:
        summary = json.load(stream)
    seconds = sum(summary["timings_s"].get(phase, 0) for phase in phases)
    return seconds / summary["steps"], summary["memory_peak_mb_per_rank"]


def accuracy(planned, measured):
    return 1 - abs(planned - measured) / measured


def compare(build, machine, case):
    with tempfile.TemporaryDirectory() as folder:
        planned = plan(build, machine, case, folder)
        for ranks in (1, 2):
            step, memory = run(build, case, ranks, folder)
            row = planned[ranks]
            yield {"case": case[0], "command": case[1], "ranks": ranks, "plan_ms": 1e3 * row["step_s"], "run_ms": 1e3 * step,
                   "time_accuracy": accuracy(row["step_s"], step), "plan_mb": row["memory_bytes"] / 1e6, "run_mb": memory,
                   "memory_accuracy": accuracy(row["memory_bytes"] / 1e6, memory), "sent_bytes": row["halo_bytes"]}


def line_of(row):
    return (f"| {row['case']} | {row['ranks']} | {row['plan_ms']:.3g} | {row['run_ms']:.3g} | {100 * row['time_accuracy']:.0f} % | "
            f"{row['plan_mb']:.0f} | {row['run_mb']:.0f} | {100 * row['memory_accuracy']:.0f} % | {row['sent_bytes']:.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--machine", required=True)
    parser.add_argument("--build", default="build")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    rows = []
    print("| case | ranks | a step: plan, ms | run, ms | accuracy | memory: plan, MB | run, MB | accuracy | bytes sent a step |")
    print("|---|---|---|---|---|---|---|---|---|")
    for case in CASES:
        if options.only not in case[0]:
            continue
        for row in compare(options.build, options.machine, case):
            rows.append(row)
            print(line_of(row), flush=True)
    mean = {key: sum(row[key] for row in rows) / len(rows) for key in ("time_accuracy", "memory_accuracy")}
    print(f"\nMean accuracy: time {100 * mean['time_accuracy']:.0f} %, memory {100 * mean['memory_accuracy']:.0f} %.")
    print(json.dumps({"bench": "plans", **mean, "cases": rows}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
