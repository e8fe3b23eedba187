"""Read what CP2K writes and write DeePMD systems of 32 water molecules. Units: Angstrom, eV."""
import shutil
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parent / "data"
HARTREE, BOHR = 27.211386245988, 0.529177210903  # eV, Angstrom (CODATA 2018)
GPA_A3 = 1 / 160.2176634                         # eV in one GPa * Angstrom^3
ATOMS = 96


def forces_in(text):
    """Return the forces (96,3) in eV/Angstrom of CP2K's text."""
    rows = [line.split() for line in text.split("ATOMIC FORCES")[1].splitlines()]
    force = np.array([row[3:] for row in rows if len(row) == 6 and row[0].isdigit()][:ATOMS], float)
    return force * (HARTREE / BOHR)


def stress_in(text):
    """Return the stress (3,3) in eV/Angstrom^3; CP2K's is the pressure tensor, positive where the cell would grow."""
    rows = [line.split() for line in text.split("STRESS|")[1:]]
    return np.array([row[1:4] for row in rows if len(row) > 3 and row[0] in ("x", "y", "z")][:3], float) * GPA_A3


def read_output(path, volume):
    """Return energy, force (96,3) and virial (3,3) = -dE/d(strain) of a single point's output."""
    text = path.read_text()
    energy = float(text.split("ENERGY| Total FORCE_EVAL")[1].split(":")[1].split()[0]) * HARTREE
    assert "SCF run converged" in text and "run NOT converged" not in text, f"{path}: the SCF did not converge"
    return {"energy": energy, "force": forces_in(text), "virial": stress_in(text) * volume}


def read_run(folder):
    """Return the frames of a CP2K run: step, energy (nf), coord, force (nf,96,3), virial, box (nf,3,3)."""
    lines = (folder / "water-pos-1.xyz").read_text().splitlines()
    frames = {key: [] for key in ("step", "coord", "energy", "force", "virial", "box")}
    edge = np.array((folder / "cp2k_md.inp").read_text().split("ABC")[1].split()[:3], float)
    for k in range(0, len(lines), ATOMS + 2):
        step = int(lines[k + 1].split("i =")[1].split(",")[0])
        frames["step"].append(step)
        frames["energy"].append(float(lines[k + 1].split("E =")[1].split(",")[0]) * HARTREE)
        frames["coord"].append([line.split()[1:4] for line in lines[k + 2:k + 2 + ATOMS]])
        frames["force"].append(forces_in((folder / f"water-frc-1_{step}.xyz").read_text()))
        stress = stress_in((folder / f"water-stress-1_{step}.stress_tensor").read_text())
        frames["virial"].append(stress * edge.prod())
        frames["box"].append(np.diag(edge))
    return {key: np.array(value, int if key == "step" else float) for key, value in frames.items()}


def save(name, frames):
    """Write frames as one DeePMD system: float32, which moves atoms by 1e-6 Angstrom, but for the energies."""
    folder = DATA / name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "set.000").mkdir(parents=True)
    (folder / "type.raw").write_text("0\n1\n1\n" * (ATOMS // 3))
    (folder / "type_map.raw").write_text("O\nH\n")
    n = len(frames["energy"])
    for key in ("coord", "box", "energy", "force", "virial"):
        array = frames[key].reshape(n, -1)
        np.save(folder / "set.000" / f"{key}.npy", array.ravel() if key == "energy" else array.astype(np.float32))
    print(f"{name}: {n} frames")
