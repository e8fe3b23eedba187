#!/usr/bin/env python3
"""The figures of a GPU from what run_on_gpu has left: figures.py RESULTS writes RESULTS/figures.json and prints a table.

Of each line of README's table: what was measured, and its share of a floor that was measured or is an H200's (bench.hpp). Then where
kernels are under the roof of bytes and operations (Williams et al. 2009, CACM 52, 65), by ncu. A figure that is not there is said
to be missing, with the outcome of its step. Standard library only.
"""
import csv
import glob
import io
import json
import os
import re
import sys


def rows_of(results, step):
    """The JSON lines of a step."""
    rows = []
    for line in text_of(os.path.join(results, step + ".jsonl")).splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows


def text_of(path):
    return open(path, encoding="utf-8", errors="replace").read() if os.path.exists(path) else ""


def of(row, key):
    return row.get(key) if isinstance(row.get(key), (int, float)) else None


def quotient(a, b):
    return a / b if a is not None and b else None


# step, pattern of the case (the last that fits counts: sizes grow), what it is, value, unit, share of the floor, the floor
def of_steps(dims):
    return ("time_vlasov", f"^{dims} ser p2, automatic", f"vlasov, whole steps in {dims}, 10^7 cells, p2", "step_dof_per_s", "DOF a second and stage",
            lambda r: of(r, "step_share_of_copy"), "a copy of what a step must read and write")


def of_atoms(precision, what):
    return (f"time_dpmd_{precision}_943296", "atoms$", f"dpmd run, 10^6 atoms of water, {what}", "atoms_per_s", "atoms a second", None, "")


def of_training(precision, atoms):
    return ("time_train", f"^{precision} {atoms} atoms", f"dpmd train, a step of {atoms} atoms, {precision} precision", "ms_least", "ms", None, "")


FIGURES = [
    of_atoms("double", "float64"), of_atoms("mixed", "mixed precision"),
    ("time_dpmd_repulsion_943296", "atoms$", "dpmd run, mixed precision with repulsion", "atoms_per_s", "atoms a second", None, ""),
    *map(of_steps, ("1x1v", "1x2v", "2x2v", "2x3v")),
    ("time_collisions", "^1x2v ser p2 LBO", "vlasov, Lenard-Bernstein collisions in 1x2v", "ns_per_cell", "ns a cell and stage",
     lambda r: of(r, "share_of_copy"), "a copy"),
    ("time_flows", "^32 x 512 x 256, periodic", "meshfreeflow simulate, 32 flows of 512 x 256 cells", "us_per_step", "us a step",
     lambda r: of(r, "share_of_copy"), "a copy"),
    ("time_flows", "^1 x 128 x 64, periodic", "meshfreeflow simulate, a flow of 128 x 64 cells", "us_per_step", "us a step",
     lambda r: of(r, "share_of_copy"), "a copy"),
    ("time_submatrix", "rows.*float64", "submatrix evaluate, Chebyshev series, largest submatrices", "gflops", "GFLOP/s",
     lambda r: of(r, "share_of_streaming_blocks"), "streaming the blocks"),
    ("time_dense", "^Newton-Schulz, n = 1000", "submatrix evaluate, Newton-Schulz, 1000 rows", "matrices_per_s", "a second",
     lambda r: quotient(of(r, "matrices_per_s"), of(r, "h200_floor_matrices_per_s")), "an H200's matrix units"),
    ("time_dense", "^eigenpairs, n = 504", "submatrix evaluate, eigenpairs, 504 rows", "matrices_per_s", "a second", None, ""),
    ("time_rebuild", "^1000000 atoms", "dpmd run, atoms change hands, 10^6 atoms", "ns_per_atom", "ns an atom", None, ""),
    of_training("double", 96), of_training("double", 1536), of_training("single", 96), of_training("single", 1536),
    ("run_flow_training", "meshfreeflow train", "meshfreeflow train, quick_train.yaml", "steps_per_s", "steps a second", None, ""),
    ("run_vlasov", "vlasov run", "vlasov run, weibel_2x2v.yaml, 24 x 24 x 48 x 48 cells", "steps_per_s", "steps a second", None, ""),
]


def case_of(row):
    if "ms_least" in row:  # of device_train
        return f"{row.get('precision')} {row.get('atoms')} atoms"
    return str(row.get("case", row.get("program", "")))


def figures(results):
    outcomes = dict(line.split(None, 1) for line in text_of(os.path.join(results, "steps.txt")).splitlines() if " " in line)
    found = []
    for step, pattern, what, key, unit, share, floor in FIGURES:
        fits = [row for row in rows_of(results, step) if re.search(pattern, case_of(row)) and of(row, key) is not None]
        one = {"figure": what, "value": of(fits[-1], key) if fits else None, "unit": unit, "step": step}
        if fits and of(fits[-1], "cells") is not None:
            one["cells"] = fits[-1]["cells"]
        if fits and not re.search(r" s  passed", outcomes.get(step, "")):  # what it would have measured next is not here
            one["outcome"] = " ".join(outcomes.get(step, "was not run").split())
        if fits and share and share(fits[-1]) is not None:
            one.update(share=share(fits[-1]), share_of=floor)
        if not fits:
            one["missing"] = " ".join(outcomes.get(step, "was not run").split())
        found.append(one)
    return found + walls(results)


def walls(results):
    """What two walls add to a whole step on the largest grids."""
    found = []
    for dims in ("1x1v", "1x2v", "2x2v", "2x3v"):
        with_walls, without = ([row for row in rows_of(results, step) if case_of(row).startswith(dims) and of(row, "step_ns_per_cell")][-1:]
                               for step in ("time_vlasov_walls", "time_vlasov"))
        if with_walls and without and with_walls[0]["cells"] == without[0]["cells"]:
            more = 100 * (with_walls[0]["step_ns_per_cell"] / without[0]["step_ns_per_cell"] - 1)
            found.append({"figure": f"vlasov, two walls in {dims}", "value": more, "unit": "% of a step", "step": "time_vlasov_walls"})
    return found


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return 0.0


def peaks(results):
    """Bytes a second of a copy, as measured, and operations a second of an H200 in double precision."""
    copy = vector = None
    for path in sorted(glob.glob(os.path.join(results, "*.jsonl"))):
        for row in rows_of(results, os.path.basename(path)[:-6]):
            copy = of(row, "copy_bytes_per_s") or copy
            vector = of(row, "h200_vector_flops_per_s") or vector
    return copy or 4.3e12, vector or 34e12


def kernels(results):
    """Of each kernel that ncu has counted: time, shares of peak, and its place under the roof."""
    bandwidth, operations = peaks(results)
    found = []
    for path in sorted(glob.glob(os.path.join(results, "share_*.jsonl"))):
        text = text_of(path)
        begin = text.find('"ID"')
        if begin < 0:
            found.append({"step": os.path.basename(path)[:-6], "missing": "ncu counted nothing: " + " ".join(text.split())[-160:]})
            continue
        for row in list(csv.DictReader(io.StringIO(text[begin:])))[1:]:  # the first has units
            counts = {key: number(row[key] or "") for key in row if key and "__" in key}
            one = {"step": os.path.basename(path)[:-6],
                   "kernel": re.sub(r"quintet::|Kokkos::|Impl::", "", row.get("Kernel Name", ""))[:70],
                   "us": 1e-3 * counts.get("gpu__time_duration.sum", 0)}
            for name, key in (("dram_%", "dram__throughput"), ("fp64_%", "sm__inst_executed_pipe_fp64"), ("warps_%", "sm__warps_active")):
                one[name] = next((value for metric, value in counts.items() if metric.startswith(key)), None)
            instructions = {name: counts.get(f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum") for name in ("dadd", "dmul", "dfma")}
            moved = counts.get("dram__bytes.sum")
            if one["us"] and moved and None not in instructions.values():
                done = instructions["dadd"] + instructions["dmul"] + 2 * instructions["dfma"]
                roof = min(operations, done / moved * bandwidth)
                one.update(gb_per_s=1e-3 * moved / one["us"], gflops=1e-3 * done / one["us"], flops_per_byte=done / moved,
                           share_of_roof=quotient(1e6 * done / one["us"], roof))
            found.append(one)
    return found


def line_of(one):
    if "kernel" not in one and "figure" not in one:
        return f"{one['step']} | {one['missing']}"
    if "kernel" in one:
        return f"{one['step']} | {one['kernel']} | " + ", ".join(
            f"{key} {value:.4g}" for key, value in one.items() if isinstance(value, float))
    value = f"{one['value']:.4g} {one['unit']}" if one["value"] is not None else f"missing: {one['missing']}"
    return (f"{one['figure']} | {value}" + (f" | {100 * one['share']:.0f} % of {one['share_of']}" if "share" in one else "")
            + (f" | {one['cells']:.4g} cells" if "cells" in one else "") + (f" | its step: {one['outcome']}" if "outcome" in one else ""))


def main():
    results = sys.argv[1]
    device = next((row["on"] for path in sorted(glob.glob(os.path.join(results, "*.jsonl")))
                   for row in rows_of(results, os.path.basename(path)[:-6]) if row.get("case") == "device"), "no device was told")
    everything = {"device": device, "figures": figures(results), "kernels": kernels(results)}
    with open(os.path.join(results, "figures.json"), "w", encoding="utf-8") as file:
        json.dump(everything, file, indent=1)
    print(device)
    for one in everything["figures"] + everything["kernels"]:
        print(line_of(one))


if __name__ == "__main__":
    main()
