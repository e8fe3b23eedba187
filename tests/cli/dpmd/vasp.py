#!/usr/bin/env python3
"""VASP's output as it would be of a computation by one of our models; standard library.

vasp.py compressed MODEL OUTCAR [vasprun.xml]   a crystal of copper under pressure: energy and forces by the
    model, the stress by its definition, p = -dE/dV in kB (VASP counts pressure positive).
vasp.py raw SYSTEM FOLDER   the arrays of a DeePMD system's sets as texts of a line a frame.
"""
import ast
import glob
import os
import struct
import subprocess
import sys

EDGE = 3.45  # angstrom; copper is at rest near 3.61
SITES = [(0, 0, 0), (0, 0.5, 0.5), (0.5, 0, 0.5), (0.5, 0.5, 0)]
KB = 1602.176634  # of an eV/angstrom^3


def energies(model, edges):
    with open("scaled.xyz", "w") as file:
        for edge in edges:
            file.write(f'4\nLattice="{edge:.12f} 0 0 0 {edge:.12f} 0 0 0 {edge:.12f}" pbc="T T T" '
                       "Properties=species:S:1:pos:R:3\n")
            for site in SITES:
                file.write("Cu " + " ".join(f"{edge * s:.12f}" for s in site) + "\n")
    subprocess.run(["dpmd", "evaluate", "--model", model, "--output", "evaluated", "scaled.xyz"], check=True,
                   stdout=subprocess.DEVNULL)
    lines = open("evaluated.xyz").read().splitlines()
    return [float(line.split("energy=")[1].split()[0]) for line in lines if "energy=" in line]


def outcar(energy, pressure):
    rows = "".join(f" {EDGE * (k == 0):12.9f} {EDGE * (k == 1):12.9f} {EDGE * (k == 2):12.9f}  0.3 0.3 0.3\n"
                   for k in range(3))
    atoms = "".join("".join(f"{EDGE * s:13.5f}" for s in site) + "   " + "      0.000000" * 3 + "\n"
                    for site in SITES)
    return (" vasp.6.3.0 20Jan22\n   TITEL  = PAW_PBE Cu 05Jan2001\n   ions per type =               4\n"
            "   NELM   =     60;   NELMIN=  2; NELMDL= -5     # of ELM steps\n"
            "   ISIF   =      3    stress and relaxation\n   PSTRESS=    0.0 pullay stress\n"
            "---------- Iteration      1(   9)  ----------\n"
            "---------- aborting loop because EDIFF is reached ----------\n"
            "  FORCE on cell =-STRESS in cart. coord.  units (eV):\n"
            f"  in kB  {pressure:12.5f}{pressure:12.5f}{pressure:12.5f}     0.00000     0.00000     0.00000\n"
            f"  external pressure = {pressure:12.2f} kB  Pullay stress =        0.00 kB\n"
            "      direct lattice vectors                 reciprocal lattice vectors\n" + rows +
            " POSITION                                       TOTAL-FORCE (eV/Angst)\n ------------\n" + atoms +
            f" ------------\n  free  energy   TOTEN  = {energy:18.8f} eV\n\n"
            f"  energy  without entropy= {energy:18.8f}  energy(sigma->0) = {energy:18.8f}\n")


def vasprun(energy, pressure):
    def array(name, rows):
        return f'<varray name="{name}" >' + "".join("<v> " + " ".join(f"{x:.8f}" for x in row) + " </v>"
                                                    for row in rows) + "</varray>\n"
    unit = [[float(i == k) for k in range(3)] for i in range(3)]
    energy_tags = f'<energy><i name="e_fr_energy"> {energy:.8f} </i></energy>\n'
    return ('<?xml version="1.0" encoding="ISO-8859-1"?>\n<modeling>\n<parameters><i type="int" name="NELM"> 60</i>'
            '</parameters>\n<atominfo><array name="atoms" ><set>' + "<rc><c>Cu</c><c>   1</c></rc>" * 4 +
            "</set></array></atominfo>\n<calculation>\n<scstep>" + energy_tags + "</scstep>\n<structure><crystal>\n" +
            array("basis", [[EDGE * x for x in row] for row in unit]) + "</crystal>\n" + array("positions", SITES) +
            "</structure>\n" + array("forces", [[0.0] * 3] * 4) +
            array("stress", [[pressure * x for x in row] for row in unit]) + energy_tags +
            "</calculation>\n</modeling>\n")


def compressed(model, *paths):
    step = 1e-4
    low, here, high = energies(model, [EDGE * (1 - step), EDGE, EDGE * (1 + step)])
    pressure = -(high - low) / (EDGE**3 * ((1 + step)**3 - (1 - step)**3)) * KB
    if pressure < 100:
        sys.exit(f"the crystal is not under pressure: {pressure} kB")
    for path, text in zip(paths, (outcar(here, pressure), vasprun(here, pressure))):
        with open(path, "w") as file:
            file.write(text)


def raw(system, folder):
    for name in ("coord", "box", "energy", "force", "virial"):
        with open(os.path.join(folder, name + ".raw"), "w") as out:
            for path in sorted(glob.glob(os.path.join(system, "set.*", name + ".npy"))):
                data = open(path, "rb").read()
                length = struct.unpack("<H", data[8:10])[0]
                head = ast.literal_eval(data[10:10 + length].decode())
                kind = {"<f8": "d", "<f4": "f"}[head["descr"]]
                values = [v[0] for v in struct.iter_unpack("<" + kind, data[10 + length:])]
                columns = len(values) // head["shape"][0]
                for row in range(head["shape"][0]):
                    out.write(" ".join(repr(v) for v in values[row * columns:(row + 1) * columns]) + "\n")


if __name__ == "__main__":
    {"compressed": compressed, "raw": raw}[sys.argv[1]](*sys.argv[2:])
