"""Runs of copper.yaml: how they are started, and what they have written. Standard library, h5diff and h5dump."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE_S = float(os.environ["PATIENCE_S"])
DEVICE = os.environ["DEVICE"]
COPPER = os.path.join(HERE, "../../../inputs/dpmd/copper")
MPIEXEC = ["mpirun", "--oversubscribe", "-n"]
ENSEMBLES = {
    "nve": ["integrator.ensemble=nve"],
    "langevin": ["integrator.ensemble=langevin", "integrator.temperature=600 K"],
    "velocity_rescaling": ["integrator.ensemble=velocity_rescaling", "integrator.temperature=600 K"],
    "nose_hoover": ["integrator.ensemble=nose_hoover", "integrator.temperature=600 K"],
    "npt_isotropic": ["integrator.ensemble=npt", "integrator.temperature=600 K"],
    "npt_anisotropic": ["integrator.ensemble=npt", "integrator.temperature=600 K",
                        "integrator.barostat={coupling: anisotropic, thermostat: langevin}"],
    "nph_triclinic": ["integrator.ensemble=nph", "integrator.temperature=600 K",
                      "integrator.barostat={coupling: triclinic, relaxation_time: 0.2 ps, "
                      "pressure_tensor: 1000 0 0 2000 0 -1000 bar}"],
    "npt_mtk": ["integrator.ensemble=npt", "integrator.temperature=600 K",
                "integrator.barostat={coupling: triclinic, thermostat: nose_hoover, relaxation_time: 0.2 ps}"],
    "npt_nose_hoover_rescaling": ["integrator.ensemble=npt", "integrator.temperature=600 K",
                                  "integrator.barostat={thermostat: nose_hoover, method: cell_rescaling}"],
    "bf16": ["integrator.ensemble=langevin", "integrator.temperature=600 K", "potential.precision=bf16"],
    "frozen": ["integrator.ensemble=langevin", "integrator.temperature=600 K",
               "frozen={ids: [1, 7], z: [-1 angstrom, 1 angstrom]}"],
    "minimise": ["integrator.ensemble=minimise"],
    "minimise_cell": ["integrator.ensemble=minimise", "integrator.minimiser.cell={pressure: 1000 bar}"],
    "npt_dispersion": ["integrator.ensemble=npt", "integrator.temperature=600 K",
                       "potential.dispersion={functional: pbe, s9: 1, table: d3.npz, cutoff: 8.5 angstrom, "
                       "triple_cutoff: 5 angstrom, coordination_cutoff: 7 angstrom, switch: 1 angstrom}",
                       "potential.pairs=[{formula: morse, types: [Cu, Cu], depth: 0.02 eV, length: 2.9 angstrom, "
                       "stiffness: 1.5 1/angstrom, cutoff: 7 angstrom}]"],
}
OBSERVED = ["observables={rdf: {interval: 5, r_max: 5 angstrom}, bonds: {interval: 5, cutoff: 3.1 angstrom}, "
            "msd: {interval: 2, length: 10, origin_interval: 5}, vacf: {interval: 2, length: 10, origin_interval: 5}}", "trajectory={interval: 10, format: both, unwrapped: true}"]
os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")  # three ranks on two cores: a third of the time


def fail(text):
    sys.exit(f"FAILED: {text}")


def command(ranks, case, output, settings, *flags):
    words = ["dpmd", "run", case, "--output", output, "--quiet", *flags]
    for setting in settings:
        words += ["--set", setting]
    return words if ranks == 1 else MPIEXEC + [str(ranks)] + words


def run(ranks, case, output, settings, *flags, expect=0):
    done = subprocess.run(command(ranks, case, output, settings, *flags), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=PATIENCE_S)
    unconverged = "integrator.ensemble=minimise" in settings and done.returncode == 3 and "Not converged" in done.stdout
    if done.returncode != expect and not (expect == 0 and unconverged):
        fail(f"{output} on {ranks} ranks: exit code {done.returncode}, expected {expect}\n{done.stdout}")
    return done.stdout


def checkpoint(output, step):
    return f"{output}/checkpoints/step_{step:012}.h5"


def same(a, b, group="/"):
    """Every dataset and attribute of two files equal to the bit."""
    paths = [group, group] if group != "/" else []
    done = subprocess.run(["h5diff", "-v", a, b, *paths], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = [line for line in done.stdout.splitlines()
             if line.endswith("differences found") and not line.startswith("0 ") or "Not comparable" in line]
    found = [line for line in found if "is an empty dataset" not in line]
    if done.returncode not in (0, 1) or found or done.returncode == 1 and "empty dataset" not in done.stdout:
        fail(f"{a} and {b} differ in {group}:\n" + "\n".join(found or done.stdout.splitlines()[-20:]))


def numbers(path, dataset):
    """All numbers of a dataset."""
    done = subprocess.run(["h5dump", "-d", dataset, "-y", "-m", "%.17g", path], stdout=subprocess.PIPE, check=True, text=True)
    return [float(x) for x in re.search(r"DATA \{(.*?)\}", done.stdout, re.S).group(1).replace(",", " ").split()]


def thermo(path):
    """{name: column} of the thermo table."""
    text = subprocess.run(["h5dump", "-y", "-w", "0", "-m", "%.17g", "-A", "0", "-g", "/thermo", path], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return {name: [float(word) for word in data.split(",") if word.strip()]
            for name, data in re.findall(r'DATASET "(\w+)".*?DATA \{(.*?)\}', text, re.S)}


def close(a, b, tolerance):
    """Thermo tables agree to `tolerance`, relative to the largest value of a column."""
    all_ours, all_theirs = thermo(f"{a}/run.h5"), thermo(f"{b}/run.h5")
    for name in ("step", "potential", "kinetic", "conserved", "temperature", "pressure", "pressure_xy", "volume",
                 "cell_ax"):
        ours, theirs = all_ours[name], all_theirs[name]
        scale = max([1e-3] + [abs(x) for x in theirs])
        if len(ours) != len(theirs) or len(ours) < 2:
            fail(f"{a} and {b}: {len(ours)} and {len(theirs)} rows of {name}")
        worst = max(abs(x - y) for x, y in zip(ours, theirs)) / scale
        if not worst <= float(tolerance):
            fail(f"{a} and {b}: {name} differs by {worst:.2e} relative, more than {tolerance}")


def velocities(path):
    """[frame] {id: velocity} of an extended XYZ file."""
    frames, lines = [], open(path).read().splitlines()
    while lines:
        n = int(lines[0])
        columns = [triple.split(":") for triple in
                   re.findall(r"\w+:[A-Z]:\d+", re.search(r"Properties=(\S+)", lines[1]).group(1))]
        def begin(name):
            return sum(int(count) for _, _, count in columns[:[column for column, _, _ in columns].index(name)])
        number, first = begin("id"), begin("velocities")
        rows = [line.split() for line in lines[2:2 + n]]
        frames.append({int(row[number]): [float(x) for x in row[first:first + 3]] for row in rows})
        lines = lines[2 + n:]
    return frames
