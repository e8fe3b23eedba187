#!/usr/bin/env python3
"""Plans beside runs: `quintet plan`, then the runs themselves, as the tables of docs/measured.md.

Time of a step: phases `steps` and those of samples of summary.json, over the steps (frames, pictures and checkpoints are not planned
as time). Memory: the peak of a rank; of a search that of a rank with its workers, pages that they share counted once, by samples of
/proc while it runs. Files: run.h5 and models. Accuracy: 1 - |plan - run|/run. Words are compared by tests, exactly.
Times need an otherwise idle machine with two cores; links come from a machine file that `quintet machine local --calibrate` has
measured here.

--choices runs each decomposition of 2 ranks and asks whether the one that is planned to be the fastest was so, wherever they differ by
more than 20 %.

--check makes no timings: small runs, whose memory and files must be as planned.

Usage: compare_plans.py --machine FILE [--build build] [--only PATTERN] [--choices | --check]
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")  # in containers

# Name, application and command, input, settings, phases of a step, files that are planned.
CASES = (
    ("two-stream, 64 x 64", "vlasov run", "inputs/vlasov/two_stream.yaml", ["time.end=10"], ("steps", "history"), ("run.h5",)),
    ("two-stream, 256 x 256", "vlasov run", "inputs/vlasov/two_stream.yaml", ["grid.cells=[256,256]", "time.steps=400"],
     ("steps", "history"), ()),
    ("Weibel, 1x2v", "vlasov run", "inputs/vlasov/weibel_1x2v.yaml", ["time.steps=100"], ("steps", "history"), ()),
    ("copper, 4000 atoms", "dpmd run", "inputs/dpmd/copper/nvt.yaml", ["time.steps=100"], ("steps",), ()),
    ("copper, 500 atoms", "dpmd run", "inputs/dpmd/copper/nvt.yaml", ["time.steps=300", "system.replicate=[5,5,5]"], ("steps",), ()),
    ("convection, ensemble", "meshfreeflow simulate", "inputs/meshfreeflow/quick_flows.yaml", ["time.steps=400"],
     ("steps", "history"), ()),
    ("convection, limit cycle", "meshfreeflow simulate", "inputs/meshfreeflow/limit_cycle.yaml", ["time.steps=400"],
     ("steps", "history"), ()),
    ("256 water molecules", "submatrix evaluate", "inputs/submatrix/water.yaml", ["method.thresholds=[1e-4,1e-5]"],
     ("orthogonalise", "submatrices", "density", "frontier"), ()),
    ("training of copper", "dpmd train", "inputs/dpmd/copper/train.yaml", ["steps=300"], ("steps",), ()),
    ("training of flows", "meshfreeflow train", "inputs/meshfreeflow/quick_train.yaml", ["steps=40"], ("steps",), ("model.h5",)),
    ("training of forecasts", "podlstm train", "inputs/podlstm/train.yaml", [], ("steps",), ("model.h5",)),
    ("modes of a sea", "podlstm fit", "inputs/podlstm/fit.yaml", ["fields.stochastic.climatology=''"], ("scan", "pod"),
     ("modes.h5", "modes.nc")),
    ("search for a network", "podlstm search", "inputs/podlstm/search.yaml",
     ["search.trials=40", "search.stopping.rule=none", "search.method=random", "search.workers.per_rank=1"], ("search",), ()),
)

# With three workers, whose memory counts.
SHORT_SEARCH = ("a short search", "podlstm search", "inputs/podlstm/search.yaml",
                ["search.trials=12", "search.stopping.rule=none", "search.method=random", "search.workers.per_rank=3",
                 "forecast.training.epochs=4", "retrain.epochs=4"], ("search",), ())

# What the inputs of trainings read: where there is none, it is made first.
MADE = (
    ("runs/quickstart/quick_flows/fields.h5", ["meshfreeflow", "simulate", "inputs/meshfreeflow/quick_flows.yaml"]),
    ("runs/fit/modes.h5", ["podlstm", "fit", "inputs/podlstm/fit.yaml"]),
)

# Name, application and command, input, settings, phases: decompositions of 2 ranks.
CHOICES = (
    ("two-stream, 128 x 128", "vlasov run", "inputs/vlasov/two_stream.yaml", ["grid.cells=[128,128]", "time.steps=1000"],
     ("steps", "history")),
    ("two-stream, 16 x 1024", "vlasov run", "inputs/vlasov/two_stream.yaml", ["grid.cells=[16,1024]", "time.steps=600"],
     ("steps", "history")),
    ("two-stream, 1024 x 16", "vlasov run", "inputs/vlasov/two_stream.yaml", ["grid.cells=[1024,16]", "time.steps=600"],
     ("steps", "history")),
    ("Weibel, 1x2v", "vlasov run", "inputs/vlasov/weibel_1x2v.yaml", ["time.steps=60"], ("steps", "history")),
)


def settings_of(settings):
    return [word for setting in settings for word in ("--set", setting)]


def make_inputs(build, cases):
    for path, words in MADE:
        readers = ("quick_train",) if "quick_flows" in path else ("podlstm/train", "podlstm/search")
        if any(reader in case[2] for case in cases for reader in readers) and not os.path.exists(path):
            subprocess.run([f"{build}/bin/{words[0]}", *words[1:], "--output", os.path.dirname(path), "--quiet"], check=True)


def plan(build, machine, case, ranks, folder):
    app, verb = case[1].split()
    path = os.path.join(folder, "plan.json")
    subprocess.run([f"{build}/bin/quintet", "plan", case[2], "--app", app, "--command", verb, "--machine", machine, "--ranks", ranks,
                    "--output", path, *settings_of(case[3])], check=True, stdout=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def read_lines(path):
    """Lines of a file of /proc, none of a process that has ended."""
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read().splitlines()
    except OSError:
        return []


def descendants(pid):
    """A process and all below it, parents first."""
    tasks = os.listdir(f"/proc/{pid}/task") if os.path.isdir(f"/proc/{pid}/task") else []
    found = [pid]
    for task in tasks:
        for line in read_lines(f"/proc/{pid}/task/{task}/children"):
            for child in line.split():
                found += descendants(int(child))
    return found


def memory_mb(pid):
    """Of a process: all that is resident, what of it is no file, and that with shared pages divided by those who share them (MB)."""
    words = [line.split() for line in read_lines(f"/proc/{pid}/smaps_rollup")]
    kilobytes = {word[0]: float(word[1]) for word in words if len(word) == 3}
    take = lambda *names: sum(kilobytes.get(name + ":", 0) for name in names) * 1.024e-3
    return take("Rss"), take("Anonymous"), take("Pss_Anon", "Pss_Shmem")


def peak_of_ranks(words, app):
    """Run a command; the largest memory of a rank of it with its workers at any time (MB). Workers are forked: what they share with their
    rank counts once, and pages of libraries those of the rank."""
    peak = 0
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            ranks = {}
            for pid in descendants(process.pid):
                if read_lines(f"/proc/{pid}/comm") != [app]:
                    continue
                parent = next((int(line.split()[1]) for line in read_lines(f"/proc/{pid}/status") if line.startswith("PPid:")), 0)
                rank = parent if parent in ranks else pid
                resident, anonymous, share = memory_mb(pid)
                ranks[rank] = ranks.get(rank, 0) + share + (resident - anonymous if rank == pid else 0)
            peak = max([peak, *ranks.values()])
            time.sleep(0.01)
    if process.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit code {process.returncode}")
    return peak


def run(build, case, ranks, folder, settings=()):
    app, verb = case[1].split()
    output = os.path.join(folder, f"run_{ranks}")
    words = [f"{build}/bin/{app}", verb, case[2], "--output", output, "--overwrite", "--quiet", "--threads", "1",
             *settings_of([*case[3], *settings])]
    if ranks > 1:
        words = ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", *words]
    peak_mb = peak_of_ranks(words, app) if verb == "search" else None
    if peak_mb is None:
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(output, "summary.json"), encoding="utf-8") as stream:
        summary = json.load(stream)
    if peak_mb is not None:
        summary["memory_peak_mb_per_rank"] = max(peak_mb, summary["memory_peak_mb_per_rank"])
    seconds = sum(summary["timings_s"].get(phase, 0) for phase in case[4])
    return output, seconds / steps_of(case, summary), summary


def steps_of(case, summary):
    """Steps of a run; podlstm fit: times of the record, search: trials."""
    own = {"podlstm fit": "n_times", "podlstm search": "trials"}.get(case[1])
    return summary[own] if own else summary.get("steps") or summary["last_step"]


def accuracy(planned, measured):
    return 1 - abs(planned - measured) / measured


def steps_a_planned_step(case, model, summary):
    """podlstm: a planned step is an epoch of every network, a step of the run one of a network on each rank."""
    return summary["last_step"] / model["steps"] if case[1] == "podlstm train" else 1


def files_of(case, output):
    return sum(os.path.getsize(os.path.join(output, name)) for name in case[5])


def compare(build, machine, case, all_ranks=(1, 2)):
    with tempfile.TemporaryDirectory() as folder:
        planned = plan(build, machine, case, ",".join(map(str, all_ranks)), folder)
        for ranks in all_ranks:
            output, step, summary = run(build, case, ranks, folder)
            row = min((row for row in planned["rows"] if row["ranks"] == ranks), key=lambda row: row["step_s"])
            if case[1] == "vlasov run":  # the decomposition that the run has chosen is the first one
                row = next(row for row in planned["rows"] if row["ranks"] == ranks)
            step *= steps_a_planned_step(case, planned["model"], summary)
            memory, files = summary["memory_peak_mb_per_rank"], files_of(case, output)
            yield {"case": case[0], "command": case[1], "ranks": ranks, "plan_ms": 1e3 * row["step_s"], "run_ms": 1e3 * step,
                   "time_accuracy": accuracy(row["step_s"], step), "plan_mb": row["memory_bytes"] / 1e6, "run_mb": memory,
                   "memory_accuracy": accuracy(row["memory_bytes"] / 1e6, memory), "sent_bytes": row["halo_bytes"],
                   **({"files_accuracy": accuracy(planned["model"]["output_bytes"], files)} if files else {})}


def line_of(row):
    return (f"| {row['case']} | {row['ranks']} | {row['plan_ms']:.3g} | {row['run_ms']:.3g} | {100 * row['time_accuracy']:.0f} % | "
            f"{row['plan_mb']:.0f} | {row['run_mb']:.0f} | {100 * row['memory_accuracy']:.0f} % | {row['sent_bytes']:.0f} |")


def mean(rows, key):
    return sum(row[key] for row in rows) / len(rows)


def compare_all(options, cases):
    rows = []
    print("| case | ranks | a step: plan, ms | run, ms | accuracy | memory: plan, MB | run, MB | accuracy | bytes sent a step |")
    print("|---|---|---|---|---|---|---|---|---|")
    for case in cases:
        for row in compare(options.build, options.machine, case):
            rows.append(row)
            print(line_of(row), flush=True)
    means = {key: mean(rows, key) for key in ("time_accuracy", "memory_accuracy")}
    print(f"\nMean accuracy: time {100 * means['time_accuracy']:.0f} %, memory {100 * means['memory_accuracy']:.0f} %.")
    print(json.dumps({"bench": "plans", **means, "cases": rows}))
    return 0


def choose(options, cases):
    """Each decomposition of two ranks: planned and run; right: the planned best is the fastest, or no more than 20 % slower."""
    rows, right = [], 0
    print("| case | shared out | a step: plan, ms | run, ms | bytes sent a step |")
    print("|---|---|---|---|---|")
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            group = [row for row in plan(options.build, options.machine, case, "2", folder)["rows"] if "step_s" in row]
            for row in group:
                grid = row["decomposition"].replace(" x ", ",")
                row["run_s"] = run(options.build, case, 2, folder, [f"parallel.ranks=[{grid}]"])[1]
                print(f"| {case[0]} | {row['decomposition']} | {1e3 * row['step_s']:.3g} | {1e3 * row['run_s']:.3g} | "
                      f"{row['halo_bytes']:.0f} |", flush=True)
        chosen, best = min(group, key=lambda row: row["step_s"]), min(group, key=lambda row: row["run_s"])
        right += chosen["run_s"] <= 1.2 * best["run_s"]
        rows.append({"case": case[0], "chosen": chosen["decomposition"], "best": best["decomposition"],
                     "chosen_over_best": chosen["run_s"] / best["run_s"]})
    print(f"\nThe planned best was the fastest, or within 20 % of it, in {right} of {len(rows)}.")
    print(json.dumps({"bench": "choices", "right": right, "of": len(rows), "cases": rows}))
    return 0


def check(options):
    """What does not depend on time: memory, of which no plan is below the run, and files."""
    failures = 0
    chosen = [(next(case for case in CASES if case[0] == name), all_ranks)
              for name, all_ranks in (("two-stream, 64 x 64", (1, 2)), ("two-stream, 256 x 256", (1,)), ("modes of a sea", (1, 2)))]
    chosen.append((SHORT_SEARCH, (1,)))
    make_inputs(options.build, [SHORT_SEARCH])
    for case, all_ranks in chosen:
        for row in compare(options.build, options.machine, case, all_ranks):
            what = f"{row['case']}, {row['ranks']} ranks"
            if row["plan_mb"] < row["run_mb"]:
                print(f"{what}: {row['run_mb']:.1f} MB, planned {row['plan_mb']:.1f}")
                failures += 1
            for key in ("memory_accuracy", "files_accuracy"):
                if row.get(key, 1) < 0.9:
                    print(f"{what}: {key} {row[key]:.3f}, expected 0.9 or more")
                    failures += 1
    print("memory and files are as planned" if failures == 0 else f"{failures} differ")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--machine", default="local")
    parser.add_argument("--build", default="build")
    parser.add_argument("--only", default="")
    parser.add_argument("--choices", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        return check(options)
    cases = [case for case in (CHOICES if options.choices else CASES) if re.search(options.only, case[0])]
    make_inputs(options.build, cases)
    return choose(options, cases) if options.choices else compare_all(options, cases)


if __name__ == "__main__":
    sys.exit(main())
