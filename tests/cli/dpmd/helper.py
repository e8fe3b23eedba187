#!/usr/bin/env python3
"""What the cases of this folder need besides dpmd: odd inputs, damage, comparisons.

Standard library, h5diff and h5dump. Subcommands: see the functions at the end; each exits 0 or says what is wrong.
"""
import contextlib
import json
import math
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import zipfile

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


def made_table(path="d3.npz"):
    """Write an archive as torch-dftd's, with made-up references of the first 29 elements."""
    rows, most = 30, 3
    c6, covalent, moment, radius = [-1.0] * (rows * rows * most * most * 3), [0.0] * rows, [0.0] * rows, [0.0] * rows ** 2
    for z in range(1, rows):
        covalent[z], moment[z] = 0.7 + 0.05 * z, 2 + 0.13 * z
        for y in range(1, rows):
            radius[z * rows + y] = 3.1 + 0.05 * (z + y) + 0.01 * z * y / (z + y)
            for a in range(1 + z % 3):
                for b in range(1 + y % 3):
                    at = (((z * rows + y) * most + a) * most + b) * 3
                    c6[at:at + 3] = [(8 + 2 * z - 1.5 * a) * (8 + 2 * y - 1.5 * b) / 20, 0.97 * a + 0.01 * z,
                                     0.97 * b + 0.01 * y]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, shape, values in (("c6ab", (rows, rows, most, most, 3), c6), ("rcov", (rows,), covalent),
                                    ("r2r4", (rows,), moment), ("r0ab", (rows, rows), radius)):
            header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
            header += " " * ((-len(header) - 11) % 64) + "\n"
            archive.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                             + struct.pack(f"<{len(values)}d", *values))


def case_for(ensemble):
    """The YAML file of an ensemble: a minimisation starts from atoms off their places."""
    if "dispersion" in ensemble:
        made_table()
    if not ensemble.startswith("minimise"):
        return os.path.join(HERE, "copper.yaml"), ENSEMBLES[ensemble]
    write_xyz("shaken.xyz", [("Cu", [3.6 * x + 0.2 * ((7 * i + 3 * k) % 5 - 2) / 2 for k, x in enumerate(site)])
                             for i, site in enumerate(FCC)], CELL)
    return os.path.join(HERE, "copper.yaml"), ENSEMBLES[ensemble] + ["system.file=" + os.path.abspath("shaken.xyz")]


def shaken():
    """Write shaken.xyz, four atoms of copper off their places."""
    case_for("minimise")


def strained():
    """Write strained.xyz, four atoms of copper in a cell that is stretched and sheared."""
    rows = [[3.6 * x for x in row] for row in ((1.02, 0.01, 0), (0, 0.98, 0.02), (-0.01, 0, 1.01))]
    write_xyz("strained.xyz", [("Cu", [sum(s * row[k] for s, row in zip(site, rows)) for k in range(3)]) for site in FCC],
              [x for row in rows for x in row])


def is_cubic(output, length, tolerance):
    """The last cell of a run has rows of one length at right angles, to a relative tolerance; its enthalpy has fallen."""
    table = thermo(f"{output}/run.h5")
    rows = [[table[f"cell_{row}{axis}"][-1] for axis in "xyz"] for row in "abc"]
    for i, a in enumerate(rows):
        for j, b in enumerate(rows):
            product = sum(x * y for x, y in zip(a, b)) / float(length) ** 2
            if not abs(product - (i == j)) <= 2 * float(tolerance):
                fail(f"{output}: rows {i} and {j} have the product {product}")
    if not table["potential"][-1] < table["potential"][0]:
        fail(f"{output}: the energy has not fallen")


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


# ---- files -------------------------------------------------------------------------------------------------------

FCC = [(0, 0, 0), (0, 0.5, 0.5), (0.5, 0, 0.5), (0.5, 0.5, 0)]
CELL = (3.6, 0, 0, 0, 3.6, 0, 0, 0, 3.6)


def write_xyz(name, atoms, cell=None):
    lattice = f'Lattice="{" ".join(map(str, cell))}" pbc="T T T" ' if cell else 'pbc="F F F" '
    lines = [str(len(atoms)), lattice + "Properties=species:S:1:pos:R:3"]
    lines += [" ".join([species, *map(repr, position)]) for species, position in atoms]
    open(name, "w").write("\n".join(lines) + "\n")


def write_npy(name, shape, values):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                           + struct.pack(f"<{len(values)}d", *values))


def write_deepmd(folder, types, coordinates, box, names=("Cu",), shape=None):
    os.makedirs(f"{folder}/set.000", exist_ok=True)
    open(f"{folder}/type.raw", "w").write("\n".join(map(str, types)) + "\n")
    open(f"{folder}/type_map.raw", "w").write("\n".join(names) + "\n")
    write_npy(f"{folder}/set.000/coord.npy", shape or (1, len(coordinates)), coordinates)
    if box:
        write_npy(f"{folder}/set.000/box.npy", (1, 9), box)
    else:
        open(f"{folder}/nopbc", "w").close()


def inputs():
    """Write the odd inputs that bad_input.txt names."""
    fcc = [("Cu", [3.6 * x for x in site]) for site in FCC]
    write_xyz("good.xyz", fcc, CELL)
    write_xyz("nan.xyz", fcc[:3] + [("Cu", [1.8, float("nan"), 0.0])], CELL)
    write_xyz("overlap.xyz", fcc + [("Cu", [1.8, 1.85, 0.0])], CELL)
    write_xyz("across.xyz", fcc + [("Cu", [3.59, 0.0, 0.0])], CELL)
    write_xyz("gold.xyz", [("Au", position) for _, position in fcc], CELL)
    write_xyz("empty.xyz", [], CELL)
    write_xyz("inverted.xyz", fcc, (3.6, 0, 0, 0, 0, 3.6, 0, 3.6, 0))
    write_xyz("flat.xyz", fcc, (3.6, 0, 0, 0, 3.6, 0, 3.6, 3.6, 0))
    write_xyz("tiny.xyz", fcc[:1], (0.05, 0, 0, 0, 0.05, 0, 0, 0, 0.05))
    write_xyz("cluster.xyz", [("Cu", [2.55 * x, 2.55 * y, 2.55 * z]) for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    write_xyz("far.xyz", [("Cu", [0.0, 0.0, 0.0]), ("Cu", [2.4, 0.0, 0.0]), ("Cu", [90.0, 0.0, 0.0])])
    flat = [x for _, position in fcc for x in position]
    write_deepmd("good_npy", [0] * 4, flat, CELL)
    write_deepmd("bad_npy", [0] * 4, flat, CELL, shape=(2, 6))
    write_deepmd("short_npy", [0] * 5, flat, CELL)
    write_deepmd("gold_npy", [0] * 4, flat, CELL, names=("Au",))


def evaluation_inputs():
    """The configurations of peer_reference.json in all formats, and what evaluate must say to them."""
    for case in json.load(open(f"{COPPER}/peer_reference.json"))["cases"]:
        name, x, box = case["name"], case["coord"], case["box"]
        atoms = [("Cu", x[i:i + 3]) for i in range(0, len(x), 3)]
        write_xyz(f"{name}.xyz", atoms, box)
        write_deepmd(f"{name}_npy", case["type"], x, box)
        if not box:
            continue
        rows = [box[i:i + 3] for i in (0, 3, 6)]
        with open(f"{name}.poscar", "w") as file:
            print(name, "1.0", *(" ".join(map(repr, row)) for row in rows), "Cu", len(atoms), "Cartesian", sep="\n",
                  file=file)
            print(*(" ".join(map(repr, position)) for _, position in atoms), sep="\n", file=file)
        if rows[0][1] == rows[0][2] == rows[1][2] == 0:
            with open(f"{name}.data", "w") as file:
                print(f"{name}\n\n{len(atoms)} atoms\n1 atom types\n", file=file)
                for k, axis in enumerate("xyz"):
                    print(f"0 {rows[k][k]!r} {axis}lo {axis}hi", file=file)
                print(f"{rows[1][0]!r} {rows[2][0]!r} {rows[2][1]!r} xy xz yz\n\nMasses\n\n1 63.546\n\nAtoms # atomic\n",
                      file=file)
                # In no order: results must come in the order of the identities.
                for i in reversed(range(len(atoms))):
                    print(i + 1, 1, *map(repr, atoms[i][1]), file=file)


def water_inputs():
    """Three atoms of water in files that number their types; exchanged_npy has the other element first."""
    x = [0.0, 0.0, 0.0, 0.96, 0.0, 0.0, -0.3, 0.9, 0.0]
    box = (12.0, 0, 0, 0, 12.0, 0, 0, 0, 12.0)
    write_deepmd("water_npy", [0, 1, 1], x, box, names=("O", "H"))
    write_deepmd("exchanged_npy", [1, 0, 0], x, box, names=("H", "O"))
    mixed = [x + [5.0, 5.0, 5.0], x[3:6] + [7.0, 7.0, 7.0] + x[6:] + x[:3]]  # with an atom that is none
    write_deepmd("mixed_npy", [0] * 4, mixed[0] + mixed[1], None, names=("O", "H"), shape=(2, 12))
    write_npy("mixed_npy/set.000/real_atom_types.npy", (2, 4), [0, 1, 1, -1, 1, -1, 1, 0])
    write_deepmd("unnamed_npy", [0, 1, 1], x, box, names=("TYPE_0", "TYPE_1"))
    atoms = [(name, x[3 * i:3 * i + 3]) for i, name in enumerate("OHH")]
    write_xyz("water.xyz", atoms, box)
    write_xyz("open.xyz", atoms)
    # The head and the remark behind Atoms are those of DeePMD-kit's own example.
    head = "# LAMMPS data\n3 atoms\n2 atom types\n0 12 xlo xhi\n0 12 ylo yhi\n0 12 zlo zhi\n0.0 0.0 0.0 xy xz yz\n\n"
    atoms = "Atoms # metal\n\n" + "".join(f"{i + 1} {1 if i == 0 else 2} {x[3 * i]} {x[3 * i + 1]} {x[3 * i + 2]}\n"
                                          for i in range(3))
    for name, masses in (("water", ""), ("massive", "Masses\n\n1 15.999\n2 1.008\n\n"),
                         ("heavy", "Masses\n\n1 15.999 # O\n2 2.014 # H\n\n"),
                         ("contradictory", "Masses\n\n1 1.008 # O\n2 15.999 # H\n\n")):
        open(f"{name}.data", "w").write(head + masses + atoms)


def same_energy(*names):
    """All energies in all NAME.json are the same number."""
    energies = {(name, i): result["energy_ev"] for name in names
                for i, result in enumerate(json.load(open(f"{name}.json")))}
    if max(energies.values()) - min(energies.values()) > 1e-12 * abs(max(energies.values())):
        fail(f"energies differ: {energies}")


def atom_virials(one, other):
    """Virials of atoms sum to the virial, and are the same in ONE.json and OTHER.json."""
    for a, b in zip(json.load(open(f"{one}.json")), json.load(open(f"{other}.json"))):
        w = a["atom_virials_ev"]
        scale = max(map(abs, w))
        if len(w) != 9 * a["atoms"] or any(abs(sum(w[k::9]) - a["virial_ev"][k]) > 1e-11 * scale for k in range(9)):
            fail(f"{a['file']}: virials of atoms do not sum to the virial")
        if max(abs(x - y) for x, y in zip(w, b["atom_virials_ev"])) > 1e-11 * scale:
            fail(f"{a['file']}: {one} and {other} differ")


# ---- subcommands -------------------------------------------------------------------------------------------------


def damage(how, path):
    """truncate FILE | flip FILE (one bit in the middle) | zero FILE."""
    data = bytearray(open(path, "rb").read())
    if how == "truncate":
        del data[len(data) * 2 // 3:]
    elif how == "flip":
        data[len(data) // 2] ^= 0x10
    elif how == "zero":
        data.clear()
    open(path, "wb").write(data)


def swap(path, old, new, target):
    """Copy PATH to TARGET with OLD (same length) for NEW in its bytes."""
    data = open(path, "rb").read()
    if len(old) != len(new) or old.encode() not in data:
        fail(f"cannot put {new} for {old} in {path}")
    open(target, "wb").write(data.replace(old.encode(), new.encode()))


def fuzz(path, n, *words):
    """Run WORDS on copies of PATH (named 'fuzzed' there) with one bit flipped: exit 0 or 2, never another end."""
    whole = open(path, "rb").read()
    refused = 0
    chosen = random.Random(5)
    for i in range(int(n)):
        data = bytearray(whole)
        # Half of the flips in the first 4 kB: headers decide more than numbers.
        place = chosen.randrange(4096 if i % 2 else len(data))
        data[place] ^= 1 << chosen.randrange(8)
        open("fuzzed", "wb").write(data)
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=PATIENCE_S)
        if done.returncode not in (0, 2):
            fail(f"bit of byte {place} of {path} flipped: exit code {done.returncode}\n{done.stdout}")
        refused += done.returncode == 2
    print(f"{refused} of {n} refused")


def restart(ensemble, ranks, *more):
    """Killed after the checkpoint of step 20 and restarted = uninterrupted, to the bit."""
    ranks = int(ranks)
    case, settings = case_for(ensemble)
    settings = settings + OBSERVED + list(more)
    run(ranks, case, "whole", settings)
    shutil.copytree("whole", "again")
    os.remove(checkpoint("again", 40))
    os.remove("again/summary.json")
    with open("again/trajectory.xyz", "a") as file:  # a kill in the middle of a frame
        file.write("32\nstep=50 Properties=species:S:1:pos:R:3\nCu 1.0")
    run(ranks, case, "again", settings, "--restart", "auto")
    same(checkpoint("whole", 40), checkpoint("again", 40), "/state")
    for group in ("/thermo", "/observables"):
        same("whole/run.h5", "again/run.h5", group)
    same("whole/trajectory.h5", "again/trajectory.h5", "/particles")
    if open("whole/trajectory.xyz").read() != open("again/trajectory.xyz").read():
        fail("trajectory.xyz of the restarted run is another")
    shutil.rmtree("whole")
    shutil.rmtree("again")


def numbers(path, dataset):
    """All numbers of a dataset."""
    done = subprocess.run(["h5dump", "-d", dataset, "-y", "-m", "%.17g", path], stdout=subprocess.PIPE, check=True, text=True)
    return [float(x) for x in re.search(r"DATA \{(.*?)\}", done.stdout, re.S).group(1).replace(",", " ").split()]


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


def sides():
    """A run goes through under limits just above what it comes to, and ends with 3 under limits just below."""
    case, every = os.path.join(HERE, "copper.yaml"), ["thermo_interval=1"]
    run(1, case, "free", every)
    table = thermo("free/run.h5")
    drift = max(abs(x - table["conserved"][0]) for x in table["conserved"]) / 32
    for key, value, unit in (("energy_drift", drift, "eV"), ("temperature", max(table["temperature"]), "K")):
        for factor, code in ((1 + 1e-6, 0), (1 - 1e-6, 3)):
            run(1, case, f"{key}_{code}", [*every, f"limits.{key}={value * factor:.12g} {unit}"], expect=code)


def bent():
    """Copper with an atom off its place, and its primitive cell."""
    a, h = 3.6124, 1.8062
    cubic, primitive = f"{a} 0 0 0 {a} 0 0 0 {a}", f"0 {h} {h} {h} 0 {h} {h} {h} 0"
    for name, cell, places in (("bent", cubic, [(0.02, 0, 0), (h, h, 0), (h, 0, h), (0, h, h)]), ("primitive", primitive, [(0, 0, 0)])):
        with open(f"{name}.xyz", "w") as file:
            file.write(f'{len(places)}\nLattice="{cell}" Properties=species:S:1:pos:R:3\n')
            file.writelines(f"Cu {x} {y} {z}\n" for x, y, z in places)


    with open("held.poscar", "w") as file:  # an atom off its place and a neighbour do not move, the others do
        print("held", 1.0, f"{a} 0 0", f"0 {a} 0", f"0 0 {a}", "Cu", 4, "Selective dynamics", "Cartesian", "0.02 0 0 F F F", f"{h} {h} 0 F F F", sep="\n", file=file)
        print(*(f"{x} {y} {z} T T T" for x, y, z in ((h, 0, h), (0, h, h))), sep="\n", file=file)
    d = a / 2 ** 0.5
    write_xyz("close_packed.xyz", [("Cu", [0.0, 0.0, 0.0]), ("Cu", [d / 2, d / 12 ** 0.5, 0.5 * 1.60 * d])],
              (d, 0, 0, -d / 2, d * 0.75 ** 0.5, 0, 0, 0, 1.60 * d))


def relaxed():
    """Alpha-cristobalite (P4_1 2_1 2; Downs & Palmer 1994, Am. Mineral. 79, 9): relaxed energies lie below those of scaled positions at the
    same volumes, and the minimum is the same from starts off their places."""
    a, c, u, (x, y, z) = 4.971, 6.928, 0.3003, (0.2392, 0.1044, 0.1787)
    silicon = [(u, u, 0), (-u, -u, .5), (.5 - u, .5 + u, .25), (.5 + u, .5 - u, .75)]
    oxygen = [(x, y, z), (-x, -y, z + .5), (.5 - y, .5 + x, z + .25), (.5 + y, .5 - x, z + .75), (.5 - x, .5 + y, .25 - z),
              (.5 + x, .5 - y, .75 - z), (y, x, -z), (-y, -x, .5 - z)]
    case, chosen = os.path.join(HERE, "../../../inputs/dpmd/copper/equation_of_state.yaml"), random.Random(3)
    model = os.path.abspath(os.path.join(HERE, "../../../inputs/dpmd/silica/silica.dp"))
    found = {}
    for name, shift, relax in (("scaled", 0, "false"), ("rest", 0, "true"), ("one", 0.1, "true"), ("other", 0.1, "true")):
        atoms = [(kind, [q * s + chosen.uniform(-shift, shift) for q, s in zip(place, (a, a, c))])
                 for kind, places in (("Si", silicon), ("O", oxygen)) for place in places]
        write_xyz(f"{name}.xyz", atoms, (a, 0, 0, 0, a, 0, 0, 0, c))
        subprocess.run(["dpmd", "equation_of_state", case, "--quiet", "--output", name] + [word for setting in (
            f"system.file={name}.xyz", "system.replicate=[1, 1, 1]", f"potential.model={model}", "reference={}", "range=0.02",
            f"relax={relax}", "force_tolerance=0.02 eV/angstrom" if relax == "true" else "force_tolerance=10 eV/angstrom")
            for word in ("--set", setting)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        volumes, energies = (numbers(f"{name}/run.h5", f"/equation_of_state/{key}") for key in ("volume", "energy"))
        summary = json.load(open(f"{name}/summary.json"))
        found[name] = volumes, energies, summary["energy_ev_per_atom"], summary["volume_per_atom_angstrom3"]
    volumes, energies, energy, volume = found["rest"]
    for v, e in zip(*found["scaled"][:2]):  # of the curves' common part, by linear interpolation: above a convex curve
        for i in range(len(volumes) - 1):
            if volumes[i] <= v <= volumes[i + 1]:
                share = (v - volumes[i]) / (volumes[i + 1] - volumes[i])
                if not (1 - share) * energies[i] + share * energies[i + 1] < e - 1e-4:
                    fail(f"at {v} the relaxed energy is not below {e}")
    if not energy < found["scaled"][2] - 1e-3:
        fail(f"relaxed {energy}, scaled {found['scaled'][2]} eV per atom")
    for name in ("one", "other"):
        if not (abs(found[name][2] - energy) < 1e-5 and abs(found[name][3] / volume - 1) < 1e-3):
            fail(f"from {name}: {found[name][2:]}, from the crystal {energy}, {volume}")


def parseval(group, parts, width, hop):
    """The integral of the spectrum is the mean square of the signals without their means, under Hann's window."""
    spectrum, frequency = (numbers("whole/run.h5", f"/{group}/{name}") for name in ("spectrum", "frequency"))
    window = [math.sin(math.pi * j / width) ** 2 for j in range(width)]
    squares = []
    for part in parts:
        mean = sum(part) / len(part)
        for first in range(0, len(part) - width + 1, hop):
            squares.append(sum((w * (x - mean)) ** 2 for w, x in zip(window, part[first:])) / sum(w * w for w in window))
    expected, found = sum(squares) / len(squares), sum(spectrum) * frequency[1]
    if not abs(found - expected) < 1e-9 * expected:
        fail(f"{group}: the integral is {found}, the mean square {expected}")


def spectra(ranks):
    """What spectrogram and spectrum sample is what thermo table and trajectory hold; a restart is the uninterrupted run. On several
    ranks the sums over atoms and an atom that may change its rank are sampled; to gather a row of the thermo table is one way."""
    case = os.path.join(HERE, "copper.yaml")
    common = ["system.replicate=[2, 2, 3]", "thermo_interval=2", "trajectory={interval: 2, format: xyz, velocities: true}"]
    def atom_of(frame):
        return frame[5][1]
    def three_of(frame):
        return [frame[i][2] for i in (1, 17, 33)]
    def current_of(frame):
        return sum(1.5 * v[2] for v in frame.values())
    signals = [("spectrogram", "signal: pressure_xy", None), ("spectrum", "signal: temperature", None),
               ("spectrogram", "signal: velocity, atom: 5, component: y", atom_of),
               ("spectrum", "signal: velocity, type: Cu, atoms: 3, component: z", three_of),
               ("spectrum", "signal: current, charges: {Cu: 1.5 e}, component: z", current_of)]
    for group, words, of in signals if ranks == "1" else signals[2:]:
        settings = common + [f"observe={{{group}: {{{words}, every: 2, window: 8, hop: 3}}}}"]
        run(int(ranks), case, "whole", settings)
        samples = numbers("whole/run.h5", f"/{group}/signal")
        expected = [of(frame) for frame in velocities("whole/trajectory.xyz")] if of else \
            thermo("whole/run.h5")[words.split()[1]]
        if not len(expected) == 21:
            fail(f"{words}: {len(expected)} samples expected")
        expected = [x if isinstance(x, list) else [x] for x in expected]
        n = 1 + len(expected[0])  # time, and values
        if len(samples) != n * len(expected):
            fail(f"{words}: {len(samples) // n} samples, {len(expected)} expected")
        parts = [[samples[i] for i in range(1 + p, len(samples), n)] for p in range(n - 1)]
        scale = max(abs(x) for row in expected for x in row) if of is not current_of else 1
        worst = max(abs(x - row[p]) for p, part in enumerate(parts) for x, row in zip(part, expected)) / scale
        if not worst < 1e-12:
            fail(f"{words}: off by {worst:.1e} of the largest")
        if of is current_of:  # of one type it is the total momentum: rounding, which has no frequencies
            if "/spectrum/spectrum" in subprocess.check_output(["h5ls", "-r", "whole/run.h5"], text=True):
                fail("the spectrum of a current that is rounding")
        else:
            parseval(group, parts, 8, 3)
        shutil.copytree("whole", "again")
        os.remove(checkpoint("again", 40))
        run(int(ranks), case, "again", settings, "--restart", "auto")
        same("whole/run.h5", "again/run.h5", f"/{group}")
        if ("frames" in subprocess.check_output(["h5ls", f"whole/run.h5/{group}"], text=True)) != (group == "spectrogram"):
            fail(f"{group}: frames")
        shutil.rmtree("whole")
        shutil.rmtree("again")


def ranks_agree(ensemble, *settings):
    """1 rank = 3 that go on from its checkpoint in the middle; the hardest ensemble and the plainest also on 2, and from the start on:
    thermo to 1e-9."""
    case, own = case_for(ensemble)
    settings = own + ["system.replicate=[2, 2, 3]", *settings]
    others = (2, 3) if ensemble in ("nve", "npt_anisotropic") else ()
    run(1, case, "ranks1", settings)
    for ranks in others:
        run(ranks, case, f"ranks{ranks}", settings)
        close(f"ranks{ranks}", "ranks1", 1e-9)
        shutil.rmtree(f"ranks{ranks}")
    shutil.copytree("ranks1", "moved")
    for ranks in others or (3,):
        os.remove(checkpoint("moved", 40))
        run(ranks, case, "moved", settings, "--restart", "auto")
        close("moved", "ranks1", 1e-9)
    for name in ("ranks1", "moved"):
        shutil.rmtree(name)


def relaxed_ranks_agree():
    """Copper off its places comes to the same rest on 1, 2 and 3 ranks, whose bricks of 2.4 angstrom are far thinner than the cutoff."""
    a, h, chosen = 3.6124, 1.8062, random.Random(5)
    atoms = [("Cu", [q * a + x + chosen.uniform(-0.25, 0.25) for q, x in zip((i, j, k), place)])
             for i in (0, 1) for j in (0, 1) for k in (0, 1) for place in ((0, 0, 0), (h, h, 0), (h, 0, h), (0, h, h))]
    write_xyz("far.xyz", atoms, (2 * a, 0, 0, 0, 2 * a, 0, 0, 0, 2 * a))
    found = {}
    for ranks in (1, 2, 3):
        words = ["dpmd", "equation_of_state", f"{COPPER}/equation_of_state.yaml", "--quiet", "--output", f"rest{ranks}"]
        for setting in ("system.file=far.xyz", f"potential.model={COPPER}/copper.dp", "system.replicate=[1, 1, 1]", "relax=true", "points=5",
                        "range=0.02", "reference={}", f"domain.ranks=[{ranks}, 1, 1]"):
            words += ["--set", setting]
        done = subprocess.run(words if ranks == 1 else MPIEXEC + [str(ranks)] + words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=PATIENCE_S)
        if done.returncode != 0:
            fail(f"{ranks} ranks: exit code {done.returncode}\n{done.stdout}")
        found[ranks] = json.load(open(f"rest{ranks}/summary.json"))
        for key in ("energy_ev_per_atom", "volume_per_atom_angstrom3", "bulk_modulus_gpa", "relaxation_steps"):
            if abs(found[ranks][key] / found[1][key] - 1) > 1e-8:
                fail(f"{ranks} ranks: {key} is {found[ranks][key]}, on one rank {found[1][key]}")
    if not found[1]["relaxation_steps"] > 20:
        fail(f"nothing was relaxed: {found[1]}")


def devices_agree(ensemble, *settings):
    """A device = the cpu, on 1 and 2 ranks, and a checkpoint of one goes on on the other: thermo to 1e-9."""
    case, own = case_for(ensemble)
    settings = own + ["system.replicate=[2, 2, 3]", *settings]
    there = settings + [f"device={DEVICE}"]
    run(1, case, "cpu", settings)
    for ranks in (1, 2):
        run(ranks, case, f"device{ranks}", there)
        close(f"device{ranks}", "cpu", 1e-9)
    for moved, kept, on in (("cpu", "there", there), ("device1", "back", settings)):
        shutil.copytree(moved, kept)
        os.remove(checkpoint(kept, 40))
        run(1, case, kept, on, "--restart", "auto")
        close(kept, "cpu", 1e-9)
    for name in ("cpu", "device1", "device2", "there", "back"):
        shutil.rmtree(name)


def messages_agree():
    """Messages from the memory of the device and through the host: the same run, to the bit."""
    case, settings = case_for("frozen")
    settings = settings + [f"device={DEVICE}", "system.replicate=[2, 2, 3]"]
    run(2, case, "direct", settings)
    os.environ["QUINTET_GPU_AWARE_MPI"] = "0"
    run(2, case, "staged", settings)
    same("direct/run.h5", "staged/run.h5", "/thermo")
    same(checkpoint("direct", 40), checkpoint("staged", 40), "/state")
    direct = "; MPI" if DEVICE == "gpu" else "; MPI reads its memory"  # not every MPI reads that of a GPU
    for name, words in (("direct", direct), ("staged", "; MPI does not read its memory (QUINTET_GPU_AWARE_MPI=0)")):
        if words not in json.load(open(f"{name}/summary.json"))["device"]:
            fail(f"{name}/summary.json does not say: {words}")
        shutil.rmtree(name)


def children(pid):
    try:
        return [int(word) for word in open(f"/proc/{pid}/task/{pid}/children").read().split()]
    except OSError:
        return []


def kill(ranks, times, steps):
    """kill -9 at random moments, --restart auto after each: the end is that of a run left alone."""
    ranks, case = int(ranks), os.path.join(HERE, "copper.yaml")
    settings = [*ENSEMBLES["langevin"], f"time.steps={steps}", "checkpoint_interval=25", "trajectory={interval: 100}"]
    run(ranks, case, "whole", settings)
    chosen = random.Random(7)
    kills = 0
    while kills < int(times):
        before = newest("killed")
        process = subprocess.Popen(command(ranks, case, "killed", settings, "--restart", "auto"),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while newest("killed") == before and process.poll() is None:
            time.sleep(0.01)
        time.sleep(chosen.uniform(0, 0.3))
        if process.poll() is not None:
            break
        for pid in children(process.pid) if ranks > 1 else [process.pid]:
            with contextlib.suppress(ProcessLookupError):  # the end of another may have ended it
                os.kill(pid, signal.SIGKILL)
        process.wait()
        kills += 1
    if kills == 0:
        fail("the run was too short to be killed")
    run(ranks, case, "killed", settings, "--restart", "auto")
    print(f"{kills} kills")
    same(checkpoint("whole", int(steps)), checkpoint("killed", int(steps)), "/state")
    # A kill within the flush of a file may leave it unreadable: it is put aside, and rows before the checkpoint are lost (docs/reliability.md).
    for name, group in (("run.h5", "/thermo"), ("trajectory.h5", "/particles")):
        if not [other for other in os.listdir("killed") if other.startswith(name[:-3] + ".damaged")]:
            same(f"whole/{name}", f"killed/{name}", group)


def newest(output):
    names = os.listdir(f"{output}/checkpoints") if os.path.isdir(f"{output}/checkpoints") else []
    return max((name for name in names if name.endswith(".h5")), default="")


def peer(evaluation, tolerance="1e-10"):
    """EVALUATION.json equals peer_reference.json; energies, forces, virials, atomic energies."""
    cases = {case["name"]: case for case in json.load(open(f"{COPPER}/peer_reference.json"))["cases"]}
    results = json.load(open(evaluation))
    for result in results:
        case = cases[re.sub(r"(_npy|\.\w+)$", "", os.path.basename(result["file"]))]
        for ours, theirs in (("energy_ev", "energy"), ("virial_ev", "virial"), ("forces_ev_per_angstrom", "force"),
                             ("atom_energies_ev", "atom_energy")):
            a, b = ([x] if isinstance(x, float) else x for x in (result[ours], case[theirs]))
            scale = max(abs(y) for y in b)
            worst = max(abs(x - y) for x, y in zip(a, b)) / scale
            if len(a) != len(b) or not worst <= float(tolerance):
                fail(f"{result['file']}: {ours} is off by {worst:.1e}")
    print(f"{len(results)} configurations agree")


def experts(mixed, *names):
    """Each frame of MIXED.json is its expert's alone (NAME.json), to the last bit."""
    for frame, name in zip(json.load(open(mixed)), names, strict=True):
        alone = json.load(open(f"{name}.json"))[0]
        if not frame["expert"] or any(frame[key] != alone[key] for key in alone if key not in ("file", "frame")):
            sys.exit(f"frame {frame['frame']} of {frame['expert']} is not as in {name}.json")


def steep():
    """steep.yaml: copper.dp with a first fitting layer so steep that bfloat16 cannot carry it."""
    subprocess.run(["dpmd", "convert", f"{COPPER}/copper.dp", "steep.yaml"], check=True, stdout=subprocess.DEVNULL)
    model = json.load(open("steep.yaml"))
    weight = model["model"]["fitting"]["nets"]["networks"][0]["layers"][0]["@variables"]["w"]
    weight["value"] = [[3000 * w for w in row] for row in weight["value"]]
    json.dump(model, open("steep.yaml", "w"))


def summarised(path, key, least, most):
    """A number of summary.json lies between two others."""
    value = json.load(open(f"{path}/summary.json"))[key]
    if not float(least) <= value <= float(most):
        fail(f"{path}: {key} is {value}, expected {least} to {most}")


def held(trajectory, poscar):
    """The atoms that a POSCAR holds have not moved from the first to the last frame of an extended XYZ trajectory, and others have."""
    lines = open(poscar).read().splitlines()
    flags = [line.split()[3:6] for line in lines if line.split()[3:6] and set(line.split()[3:6]) <= {"T", "F"}]
    frames = open(trajectory).read().splitlines()
    n = len(flags)
    first, last = ([line.split()[1:4] for line in part] for part in (frames[2:n + 2], frames[-n:]))
    moved = [a != b for a, b in zip(first, last, strict=True)]
    if any(m and f == ["F"] * 3 for m, f in zip(moved, flags)) or not any(moved):
        fail(f"{sum(moved)} atoms moved, some of them held")


def starts_at(output, least, most):
    """The first temperature of a run lies between two others."""
    first = numbers(f"{output}/run.h5", "/thermo/temperature")[0]
    if not float(least) <= first <= float(most):
        fail(f"{output}: begins at {first} K, expected {least} to {most}")


def times(one, other, factor):
    """The potential energies of two runs, a factor apart."""
    a, b = (numbers(f"{path}/run.h5", "/thermo/potential")[0] for path in (one, other))
    if abs(b - float(factor) * a) > 1e-12 * abs(b):
        fail(f"energies of {one} and {other} are {a} and {b} eV; expected {factor} times")


def parse_json(path):
    json.load(open(path))


globals()[sys.argv[1]](*sys.argv[2:])
