#!/usr/bin/env python3
"""i-PI and ASE, both from PyPI, move atoms by what `dpmd serve` answers.

ASE: energy, forces and stress through SocketIOCalculator are those of `dpmd evaluate`; the stress is the slope of the energy in a
skewed cell; a relaxation runs. i-PI: a run of NVE with two drivers conserves its energy, and its potential is that of
`dpmd evaluate`; the drivers end by themselves.

ipi_test.py SOURCE BUILD SCRATCH. The peers are looked for in QUINTET_PEERS_VENV, else SOURCE/.peers/peers. Exit code 77: not there.
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

PATIENCE_S = 120
MODEL = "tests/data/deep_potential/oneside.dp"
INPUT = """<simulation verbosity='low'>
<output prefix='water'>
<properties stride='1' filename='out'> [ step, time{{femtosecond}}, conserved{{electronvolt}}, potential{{electronvolt}} ] </properties>
<trajectory stride='1' filename='pos' cell_units='angstrom' format='xyz'> positions{{angstrom}} </trajectory>
</output>
<total_steps>20</total_steps>
<prng><seed>1</seed></prng>
<ffsocket mode='unix' name='driver' pbc='false'><address>{name}</address></ffsocket>
<system>
<initialize nbeads='2'>
<file mode='xyz' units='angstrom'>start.xyz</file>
<cell mode='abc' units='angstrom'>[9.1, 8.4, 8.8]</cell>
<velocities mode='thermal' units='kelvin'>50</velocities>
</initialize>
<forces><force forcefield='driver'/></forces>
<motion mode='dynamics'><dynamics mode='nve'><timestep units='femtosecond'>0.25</timestep></dynamics></motion>
<ensemble><temperature units='kelvin'>300</temperature></ensemble>
</system>
</simulation>
"""


def serve(build, source, name, structure):
    return subprocess.Popen([build / "bin/dpmd", "serve", "--model", source / MODEL, "--compress", "off", "--unix", name, "--wait", "60 s",
                             structure], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def end(process):
    printed = process.communicate(timeout=PATIENCE_S)[0]
    if process.returncode:
        sys.exit(f"dpmd serve ended with {process.returncode}:\n{printed}")
    return printed


def evaluated(build, source, frames):
    """What `dpmd evaluate` finds for ASE's atoms."""
    import json

    from ase.io import write
    for ending in ("xyz", "json"):
        Path(f"evaluated.{ending}").unlink(missing_ok=True)
    for atoms in frames:
        atoms.calc = None
    write("frames.xyz", frames, format="extxyz")
    subprocess.run([build / "bin/dpmd", "evaluate", "--model", source / MODEL, "--compress", "off", "--output", "evaluated", "frames.xyz"],
                   check=True, stdout=subprocess.DEVNULL)
    return json.loads(Path("evaluated.json").read_text())


def water():
    from ase import Atoms
    sys.path.insert(0, str(Path(sys.argv[1]) / "tests/cli/dpmd/ipi"))
    import server
    types, positions = server.water(8)
    return Atoms(types, positions, cell=server.CELL, pbc=True)


def by_ase(build, source):
    import numpy as np
    from ase.calculators.socketio import SocketIOCalculator
    from ase.optimize import FIRE
    from ase.stress import voigt_6_to_full_3x3_stress as full
    atoms = water()
    atoms.write("start.xyz", format="extxyz")
    name = f"quintet_ase_{os.getpid()}"
    with SocketIOCalculator(unixsocket=name, timeout=PATIENCE_S) as calculator:
        process = serve(build, source, name, "start.xyz")
        atoms.calc = calculator
        found = atoms.get_potential_energy(), atoms.get_forces(), full(atoms.get_stress())
        step, slopes = 1e-4, np.zeros((3, 3))
        cell, scaled, volume = atoms.cell.copy(), atoms.get_scaled_positions(), atoms.get_volume()
        for k in range(3):
            for l in range(3):
                energies = []
                for sign in (1, -1):
                    strain = np.eye(3)
                    strain[k, l] += sign * step / 2
                    strain[l, k] += sign * step / 2
                    atoms.set_cell(cell @ strain)
                    atoms.set_scaled_positions(scaled)
                    energies.append(atoms.get_potential_energy())
                slopes[k, l] = (energies[0] - energies[1]) / (2 * step) / volume
        atoms.set_cell(cell)
        atoms.set_scaled_positions(scaled)
        before = atoms.get_potential_energy()
        FIRE(atoms, logfile=None).run(steps=10)
        after = atoms.get_potential_energy()
    end(process)
    wanted = evaluated(build, source, [water()])[0]
    np.testing.assert_allclose(found[0], wanted["energy_ev"], rtol=1e-7)
    np.testing.assert_allclose(found[1].ravel(), wanted["forces_ev_per_angstrom"], atol=1e-6)
    np.testing.assert_allclose(found[2].ravel(), -np.array(wanted["virial_ev"]) / volume, atol=1e-6)
    np.testing.assert_allclose(slopes, found[2], atol=1e-5 * abs(found[2]).max())
    if not after < before:
        sys.exit(f"FIRE went from {before} eV to {after} eV")
    return f"ASE: stress {found[2][0][0]:.6f} eV/A^3 is the slope, FIRE from {before:.4f} to {after:.4f} eV"


def by_ipi(build, source, venv):
    import numpy as np
    from ase.io import read
    atoms = water()
    atoms.set_cell([9.1, 8.4, 8.8])
    atoms.write("start.xyz", format="extxyz")
    Path("plain.xyz").write_text(f"{len(atoms)}\n\n" + "".join(f"{s} {x:.17g} {y:.17g} {z:.17g}\n" for s, (x, y, z)
                                                              in zip(atoms.get_chemical_symbols(), atoms.positions)))
    shutil.move("start.xyz", "structure.xyz")
    shutil.move("plain.xyz", "start.xyz")
    name = f"quintet_ipi_{os.getpid()}"
    Path("input.xml").write_text(INPUT.format(name=name))
    log = open("ipi.log", "w")
    server = subprocess.Popen([venv / "bin/python", venv / "bin/i-pi", "input.xml"], stdout=log, stderr=log)
    drivers = [serve(build, source, name, "structure.xyz") for _ in range(2)]
    if server.wait(timeout=PATIENCE_S):
        sys.exit("i-pi failed:\n" + Path("ipi.log").read_text()[-3000:])
    said = [end(driver) for driver in drivers]
    rows = np.loadtxt("water.out")
    spread = np.ptp(rows[:, 2]) / len(atoms)
    beads = [read(path, ":", format="xyz") for path in sorted(map(str, Path(".").glob("water.pos_*.xyz")))]
    frames = [bead[-1] for bead in beads]
    for frame in frames:
        frame.set_cell([9.1, 8.4, 8.8])
        frame.set_pbc(True)
    mean = np.mean([one["energy_ev"] for one in evaluated(build, source, frames)])
    if len(beads) != 2 or abs(mean - rows[-1, 3]) > 1e-5 * abs(mean):  # positions have five digits in the file
        sys.exit(f"{len(beads)} beads: i-PI says {rows[-1, 3]} eV, dpmd evaluate {mean} eV")
    if not spread < 1e-5 < np.ptp(rows[:, 3]) / len(atoms):
        sys.exit(f"the conserved energy of {len(atoms)} atoms moves by {spread} eV an atom, the potential by {np.ptp(rows[:, 3])} eV")
    if not all("evaluation" in text for text in said):
        sys.exit(f"a driver did nothing: {said}")
    return f"i-PI: 20 steps of 2 beads by 2 drivers, conserved energy within {spread:.1e} eV an atom"


def main():
    source, build, scratch = map(Path, sys.argv[1:4])
    venv = Path(os.environ.get("QUINTET_PEERS_VENV", source / ".peers/peers")).absolute()
    if not (venv / "bin/i-pi").exists():
        print(f"skipped: no i-PI and ASE in {venv} (pip install ipi ase; QUINTET_PEERS_VENV)")
        sys.exit(77)
    if Path(sys.prefix) != venv:
        os.execv(venv / "bin/python", [str(venv / "bin/python"), *sys.argv])
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    os.chdir(scratch)
    print(by_ase(build, source))
    print(by_ipi(build, source, venv))
    os.chdir("/")
    shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
