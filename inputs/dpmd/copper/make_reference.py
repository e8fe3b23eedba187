#!/usr/bin/env python3
"""Write reference.yaml and melt_rdf_eam.csv: what Mishin's EAM gives (LAMMPS), and what copper.dp gives (DeePMD-kit).

Run it with the Python that has deepmd-kit (see train.sh). Units: Angstrom, eV, eV/atom, GPa, K.
"""
import os
import tempfile
from pathlib import Path

import numpy as np

import eam

HERE = Path(__file__).resolve().parent
MELT = {"atoms": 500, "temperature": 1600, "volume_per_atom": 13.8}  # K, Angstrom^3; 7.65 g/cm^3, near zero pressure
RDF = {"bins": 160, "cutoff": 8.0, "equilibrate_ps": 20, "sample_ps": 60}
MELT_RUN = """\
comm_modify cutoff 10.0
velocity all create 6000 4711
fix hot all nvt temp 3000 3000 0.1
run 3000
unfix hot
velocity all scale {temperature}
fix bath all nvt temp {temperature} {temperature} 0.1
run {equilibrate}
reset_timestep 0
compute g all rdf {bins} cutoff {cutoff}
fix g all ave/time 20 {samples} {sample} c_g[1] c_g[2] mode vector file rdf.txt
fix p all ave/time 20 {samples} {sample} c_thermo_press c_thermo_pe file press.txt
run {sample}
shell cp rdf.txt press.txt {out}
"""


def cohesive(energy_of):
    """Return lattice constant (Angstrom), energy (eV/atom) and bulk modulus (GPa) of fcc copper.

    Static energies of 11 lattice constants within 1 % of 3.615 (3 % in volume), third-order Birch-Murnaghan: energy
    is a cubic polynomial in x = V^(-2/3).
    """
    a = 3.615 * np.linspace(0.99, 1.01, 11)
    energy = np.array([energy_of(*eam.lattice("fcc", value, (2, 2, 2))) for value in a]) / 32
    x = (a**3 / 4) ** (-2 / 3)
    fit = np.polynomial.Polynomial.fit(x, energy, 3).convert()
    roots = [r.real for r in fit.deriv().roots() if abs(r.imag) < 1e-9 and fit.deriv(2)(r.real) > 0]
    x0 = min(roots, key=lambda r: abs(r - x.mean()))
    # B = V d2E/dV2 with dx/dV = -2/3 x/V: at the minimum V (2/3 x/V)^2 E''(x).
    v0 = x0 ** -1.5
    return (4 * v0) ** (1 / 3), fit(x0), v0 * (2 / 3 * x0 / v0) ** 2 * fit.deriv(2)(x0) * eam.GPA


def melt(name):
    """Write the radial distribution function of the melt as CSV and return mean pressure (GPa) and energy (eV/atom)."""
    steps = {k.split("_")[0]: int(RDF[k] / 0.002) for k in ("equilibrate_ps", "sample_ps")}
    with tempfile.TemporaryDirectory() as out:
        eam.run(*eam.lattice("fcc", (4 * MELT["volume_per_atom"]) ** (1 / 3), (5, 5, 5)),
                MELT_RUN.format(out=out, samples=steps["sample"] // 20, **MELT, **RDF, **steps) + eam.FRAME)
        table = np.loadtxt(Path(out) / "rdf.txt", skiprows=4)
        _, pressure, energy = np.loadtxt(Path(out) / "press.txt")
    np.savetxt(HERE / name, table[:, 1:3], fmt=["%.3f", "%.5f"], delimiter=",", header="r_angstrom,g", comments="")
    return pressure / 1e4, energy / MELT["atoms"]


def errors(evaluate):
    """Return held-out rmse: energy (meV/atom), force (eV/Angstrom), virial (meV/atom), by part of the data and total."""
    rows, total = {}, []
    for folder in sorted((HERE / "data").glob("valid_*")):
        f = {k: np.load(folder / "set.000" / f"{k}.npy").astype(float)
             for k in ("coord", "box", "energy", "force", "virial")}
        n = f["coord"].shape[1] // 3
        e, force, virial = evaluate(f["coord"], f["box"], n)[:3]
        d = [1e3 * (e.ravel() - f["energy"]) / n, (force.reshape(len(e), -1) - f["force"]).ravel(),
             1e3 * (virial.reshape(len(e), 9) - f["virial"]).ravel() / n]
        rows[folder.name] = [np.sqrt(np.mean(x**2)) for x in d]
        total.append(d)
    rows["all"] = [np.sqrt(np.mean(np.concatenate(x) ** 2)) for x in zip(*total)]
    return rows


def main():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from deepmd.entrypoints.convert_backend import convert_backend
    from deepmd.infer import DeepPot
    a, e, b = cohesive(lambda coord, box: eam.run(coord, box)["energy"][0])
    print(f"EAM: a {a:.5f} Angstrom, E {e:.5f} eV, B {b:.2f} GPa")
    with tempfile.TemporaryDirectory() as folder:
        convert_backend(INPUT=str(HERE / "copper.dp"), OUTPUT=f"{folder}/copper.pb")
        model = DeepPot(f"{folder}/copper.pb")
        evaluate = lambda coord, box, n: model.eval(coord, box, [0] * n)  # noqa: E731
        ma, me, mb = cohesive(lambda coord, box: evaluate(coord.reshape(1, -1), box.reshape(1, 9),
                                                          len(coord))[0].item())
        rmse = errors(evaluate)
    print(f"copper.dp: a {ma:.5f} Angstrom, E {me:.5f} eV, B {mb:.2f} GPa; rmse {rmse['all']}")
    pressure, energy = melt("melt_rdf_eam.csv")
    lines = ["# Made by make_reference.py. Angstrom, eV per atom, GPa, K.",
             "fit: static energies, 11 lattice constants 3.615 +- 1 %, third-order Birch-Murnaghan",
             "eam: # Mishin et al., Phys. Rev. B 63, 224106 (2001), evaluated by LAMMPS",
             f"  lattice_constant: {a:.6f}", f"  cohesive_energy: {e:.6f}", f"  bulk_modulus: {b:.3f}",
             "  melt: # NVT, g(r) in melt_rdf_eam.csv",
             *(f"    {k}: {v}" for k, v in {**MELT, **RDF}.items()),
             f"    box_edge: {(MELT['atoms'] * MELT['volume_per_atom']) ** (1 / 3):.6f}",
             f"    pressure: {pressure:.3f}", f"    potential_energy: {energy:.5f}",
             "model: # copper.dp, evaluated by DeePMD-kit 3.2.0 (TensorFlow)",
             f"  lattice_constant: {ma:.6f}", f"  cohesive_energy: {me:.6f}", f"  bulk_modulus: {mb:.3f}",
             "  held_out_rmse: # energy meV/atom, force eV/Angstrom, virial meV/atom",
             *(f"    {k}: [{v[0]:.3f}, {v[1]:.4f}, {v[2]:.2f}]" for k, v in rmse.items())]
    (HERE / "reference.yaml").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
