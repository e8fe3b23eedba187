#!/usr/bin/env python3
"""What the cases of learn.txt need besides dpmd: models that differ, stand-ins for programs, comparisons.

Standard library and h5dump. Subcommands: the functions; each exits 0 or says what is wrong.
"""
import glob
import itertools
import json
import math
import os
import random
import re
import signal
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, "../../../inputs/dpmd/copper/copper.dp")
FCC = [(0, 0, 0), (0, 0.5, 0.5), (0.5, 0, 0.5), (0.5, 0.5, 0)]


def fail(text):
    sys.exit(f"FAILED: {text}")


def models():
    """a.dp (copper.dp), b.dp, c.dp (other biases in one layer), nickel.dp (other types), short.dp (other cutoff)."""
    data = open(MODEL, "rb").read()
    open("a.dp", "wb").write(data)
    layout = subprocess.run(["h5dump", "-H", "-p", "-d", "/variable_0003", MODEL], stdout=subprocess.PIPE, text=True,
                            check=True).stdout
    size, offset = (int(re.search(rf"{name} (\d+)", layout).group(1)) for name in ("SIZE", "OFFSET"))
    for name, seed in (("b.dp", 1), ("c.dp", 2)):
        rng = random.Random(seed)
        values = struct.unpack(f"<{size // 8}d", data[offset:offset + size])
        changed = struct.pack(f"<{size // 8}d", *(x + rng.gauss(0, 0.002) for x in values))
        open(name, "wb").write(data[:offset] + changed + data[offset + size:])
    open("nickel.dp", "wb").write(data.replace(b'["Cu"]', b'["Ni"]'))
    open("short.dp", "wb").write(data.replace(b'"rcut":6.0', b'"rcut":5.5'))


def exchanged():
    """two.dp (types O, H), exchanged.dp (its numbers with the names exchanged), and frames of both types."""
    data = open(os.path.join(HERE, "../../data/deep_potential/oneside.dp"), "rb").read()
    open("two.dp", "wb").write(data)
    open("exchanged.dp", "wb").write(data.replace(b'["O","H"]', b'["H","O"]'))
    rng = random.Random(8)
    with open("both_types.xyz", "w") as file:
        for _ in range(2):
            print(27, 'Lattice="9 0 0 0 9 0 0 0 9" pbc="T T T" Properties=species:S:1:pos:R:3', sep="\n", file=file)
            for i in range(27):
                print("OHH"[i % 3], *(3 * cell + rng.uniform(0.3, 1.9) for cell in (i % 3, i // 3 % 3, i // 9)),
                      file=file)


def frames(name="frames.xyz", n="3", repeat="1"):
    """Displaced and sheared fcc cells of 4 repeat^3 atoms."""
    rng, r = random.Random(4), int(repeat)
    sites = [tuple((c + x) / r for c, x in zip(corner, site)) for corner in itertools.product(range(r), repeat=3)
             for site in FCC]
    with open(name, "w") as file:
        for _ in range(int(n)):
            cell = [r * x for x in (3.7, 0.1, -0.2, 0.3, 3.6, 0.1, -0.1, 0.2, 3.8)]
            print(len(sites), f'Lattice="{" ".join(map(str, cell))}" pbc="T T T" Properties=species:S:1:pos:R:3',
                  sep="\n", file=file)
            for site in sites:
                print("Cu", *(sum(site[k] * cell[3 * k + l] for k in range(3)) + rng.gauss(0, 0.1)
                              for l in range(3)), file=file)


def table(path):
    return [[float(word) for word in line.split()] for line in open(path) if not line.startswith("#")]


def header(path):
    expected = "step max_devi_v min_devi_v avg_devi_v max_devi_f min_devi_f avg_devi_f devi_e".split()
    found = open(path).readline().lstrip("#").split()[:8]
    if found != expected:
        fail(f"{path}: columns {found}")


def steps(path, *expected):
    found = [int(row[0]) for row in table(path)]
    if found != list(map(int, expected)):
        fail(f"{path}: steps {found}")


def close(a, b, tolerance="2e-6", least="1e-12"):
    """Two deviation files agree (six digits are written)."""
    ours, theirs = table(a), table(b)
    if len(ours) != len(theirs) or not ours:
        fail(f"{len(ours)} and {len(theirs)} rows")
    for x, y in zip(ours, theirs):
        for i, (p, q) in enumerate(zip(x, y)):
            # Round-off of the least components is their noise.
            if abs(p - q) > float(tolerance) * abs(q) + float(least):
                fail(f"step {x[0]}, column {i}: {p} and {q}")


def std(values):
    mean = sum(values) / len(values)
    return math.sqrt(sum((x - mean)**2 for x in values) / len(values))


def by_evaluate(deviation, *evaluations):
    """A deviation file is what the definitions make of separate evaluations by each model."""
    results = [json.load(open(path)) for path in evaluations]
    for row, models in zip(table(deviation), zip(*results), strict=True):
        n = models[0]["atoms"]
        force = [math.sqrt(sum(std([m["forces_ev_per_angstrom"][3 * i + k] for m in models])**2 for k in range(3)))
                 for i in range(n)]
        virial = [std([m["virial_ev"][k] / n for m in models]) for k in range(9)]
        expected = [max(virial), min(virial), math.sqrt(sum(v * v for v in virial) / 9), max(force), min(force),
                    sum(force) / n, std([m["energy_ev"] / n for m in models])]
        for i, (ours, theirs) in enumerate(zip(row[1:], expected)):
            if abs(ours - theirs) > 2e-6 * theirs + 1e-10:
                fail(f"column {i + 1}: {ours}, expected {theirs}")
        if max(force) < 1e-4:
            fail("the models do not differ")


def alike(ours, theirs, tolerance):
    """Deviation files agree to `tolerance`, relative to the largest value of a column."""
    a, b = table(ours), table(theirs)
    if len(a) != len(b) or len(a) < 2:
        fail(f"{len(a)} and {len(b)} rows")
    for i, (x, y) in enumerate(zip(zip(*a), zip(*b), strict=True)):
        worst = max(abs(p - q) for p, q in zip(x, y)) / max(1e-9, *map(abs, y))
        if worst > float(tolerance):
            fail(f"column {i + 1} differs by {worst:.1e} relative")


def atomic(path, n):
    """Behind the eight columns one number an atom, whose extremes and mean are the columns."""
    for row in table(path):
        values = row[8:]
        if len(values) != int(n) or max(values) != row[4] or min(values) != row[5]:
            fail(f"{len(values)} atoms, largest {max(values)}, column {row[4]}")
        if abs(sum(values) / len(values) - row[6]) > 1e-5 * row[6]:
            fail("the mean is another")


def count(path, n):
    """An extended XYZ file has n frames."""
    found = sum(line.startswith(tuple("0123456789")) and len(line.split()) == 1 for line in open(path))
    if found != int(n):
        fail(f"{path}: {found} frames")


def selected(path, n, *counts):
    tree = json.load(open(path))
    found = [tree["accurate"], tree["candidates"], tree["failed"]]
    if len(tree["selected"]) != int(n) or (counts and found != list(map(int, counts))):
        fail(f"{path}: {len(tree['selected'])} selected, {found}")


def levels(path):
    """Limits between which the second to fourth largest deviation of a file lie, as words for --set or flags."""
    found = sorted((row[4] for row in table(path)), reverse=True)
    print(f"{(found[4] + found[3]) / 2:.9f} {(found[1] + found[0]) / 2:.9f}")


# ---- stand-ins for LAMMPS and CP2K: run in a frame's folder --------------------------------------------------------


def lammps(*tricks):
    """Forces towards the first atom, from frame.data; energy 1.5 eV; tricks spoil a frame by its number."""
    if os.environ.get("NOBODY_LABELS"):
        sys.exit("ERROR: nobody was to be asked")
    number = int(os.path.basename(os.getcwd())[6:])
    trick = dict(word.split("=") for word in tricks).get(str(number), "")
    lines = open("frame.data").read().split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("Atoms")) + 2
    atoms = [line.split() for line in lines[start:] if line.strip()]
    n = int(next(line for line in lines if line.endswith(" atoms")).split()[0])
    atoms = sorted(atoms[:n], key=lambda words: int(words[0]))
    size = [float(x) for line in lines if line.endswith(("xlo xhi", "ylo yhi", "zlo zhi")) for x in line.split()[:2]]
    volume = (size[1] - size[0]) * (size[3] - size[2]) * (size[5] - size[4])
    if trick.startswith(("killed", "crashes")):  # so many times
        wanted, seen = int(re.search(r"[0-9]+", trick).group()), f"../tries_{number}"
        before = os.path.getsize(seen) if os.path.exists(seen) else 0
        with open(seen, "a") as file:
            file.write("x")
        if before < wanted:
            os.kill(os.getpid(), signal.SIGKILL if trick.startswith("killed") else signal.SIGSEGV)
    if trick == "ends_the_caller" and not os.path.exists(os.environ["STAMP"]):  # once: dpmd label, whose shell we are in
        open(os.environ["STAMP"], "w").close()
        with open(f"/proc/{os.getppid()}/stat") as file:
            os.kill(int(file.read().rsplit(")", 1)[1].split()[1]), signal.SIGKILL)
    if trick == "dies":
        sys.exit("ERROR: Lost atoms: original 4 current 3")
    values = ["1.5", repr(volume), "100", "200", "300", "10", "20", "30"]
    if trick == "nan":
        values[0] = "nan"
    with open("label.txt", "w") as file:
        print("quintet", *(values[:4] if trick == "cut" else values + ["end"]), file=file)
    with open("forces.txt", "w") as file:
        print("ITEM: ATOMS id type fx fy fz", file=file)
        for words in atoms[:2] if trick == "short" else atoms:
            print(words[0], words[1], *(float(words[2 + k]) - float(atoms[0][2 + k]) for k in range(3)), file=file)


CP2K = """ CP2K| version string: CP2K version 2023.1
 *** SCF run converged in 9 steps ***

 ENERGY| Total FORCE_EVAL ( QS ) energy [a.u.]:               -1.500000000000000

 ATOMIC FORCES in [a.u.]

 # Atom   Kind   Element          X              Y              Z
      1      1      Cu          0.01000000     0.02000000    -0.03000000
      2      1      Cu         -0.01000000     0.00000000     0.03000000
      3      1      Cu          0.00000000    -0.02000000     0.00000000
      4      1      Cu          0.00000000     0.00000000     0.00000000
 SUM OF ATOMIC FORCES           0.00000000     0.00000000     0.00000000     0.00000000

 STRESS| Analytical stress tensor [GPa]
 STRESS|                        x                   y                   z
 STRESS|      x        1.00000000000E+00   1.00000000000E-01   2.00000000000E-01
 STRESS|      y        1.00000000000E-01   2.00000000000E+00   3.00000000000E-01
 STRESS|      z        2.00000000000E-01   3.00000000000E-01   3.00000000000E+00
 STRESS| 1/3 Trace                                             2.00000000000E+00

  **** **** ******  **  PROGRAM ENDED AT                 2026-11-21 18:27:03.573
"""


def cp2k(*tricks):
    """Print what CP2K prints; tricks spoil a frame by its number."""
    number = int(os.path.basename(os.getcwd())[6:])
    trick = dict(word.split("=") for word in tricks).get(str(number), "")
    if "Cu" not in open("cp2k.inp").read():
        sys.exit("no atoms in the input")
    text = CP2K
    if trick == "scf":
        text = text.replace("*** SCF run converged in 9 steps ***", "*** WARNING in qs_scf.F:601 :: SCF run NOT converged ***")
    if trick == "cut":
        text = text[:text.index("3      1")]
    if trick == "nan":
        text = text.replace("0.02000000    -0.03", "NaN    -0.03")
    if trick == "element":
        text = text.replace("2      1      Cu", "2      1      Zn")
    if trick == "noforces":
        text = text[:text.index(" ATOMIC")] + text[text.index(" STRESS"):]
    print(text)


def cp2k_labels(path):
    """labelled.xyz has CP2K's numbers in eV and angstrom."""
    lines = open(path).read().splitlines()
    hartree, bohr = 27.211386245988, 0.529177210903
    comment = lines[1]
    energy = float(re.search(r'energy="?([-\d.e+]+)', comment).group(1))
    if abs(energy + 1.5 * hartree) > 1e-9:
        fail(f"energy {energy}")
    force = [float(x) for x in lines[2].split()[-3:]]
    if max(abs(f - g * hartree / bohr) for f, g in zip(force, (0.01, 0.02, -0.03))) > 1e-9:
        fail(f"force {force}")
    cell = [float(x) for x in re.search(r'Lattice="([^"]*)"', comment).group(1).split()]
    a, b, c = cell[:3], cell[3:6], cell[6:]
    volume = (a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
              + a[2] * (b[0] * c[1] - b[1] * c[0]))
    virial = [float(x) for x in re.search(r'virial="([^"]*)"', comment).group(1).split()]
    if abs(virial[0] - volume / 160.2176634) > 1e-9 or abs(virial[5] - 0.3 * volume / 160.2176634) > 1e-9:
        fail(f"virial {virial}")


def consistent(path):
    """Labels by LAMMPS's EAM of frames.xyz: forces sum to zero; the virial of an atom pair is symmetric."""
    lines = open(path).read().splitlines()
    n = int(lines[0])
    forces = [[float(x) for x in line.split()[-3:]] for line in lines[2:2 + n]]
    if max(abs(sum(f[k] for f in forces)) for k in range(3)) > 1e-8 or max(abs(x) for f in forces for x in f) < 0.1:
        fail(f"forces {forces}")


def differences(path):
    """Frame 0 of labelled.xyz against frames 1 to 4, in which one atom is moved and the cell strained by 1e-4."""
    lines = open(path).read().splitlines()
    n = int(lines[0])
    comments = lines[1::n + 2]
    energies = [float(re.search(r'energy="?([-\d.e+]+)', comment).group(1)) for comment in comments]
    force = [float(x) for x in lines[3].split()[-3:]]  # of the second atom
    virial = [float(x) for x in re.search(r'virial="([^"]*)"', comments[0]).group(1).split()]
    found = -(energies[2] - energies[1]) / 2e-4
    if abs(found - force[1]) > 1e-4:
        fail(f"force {force[1]}, difference {found}")
    found = -(energies[4] - energies[3]) / 2e-4
    if abs(found - virial[2]) > 1e-3:
        fail(f"virial xz {virial[2]}, difference {found}")


def moved():
    """moved.xyz: a cell LAMMPS must turn; atom 1 moved along y by -+1e-4, then strain xz of -+1e-4."""
    frames("one.xyz", "1")
    lines = open("one.xyz").read().splitlines()
    cell = [float(x) for x in re.search(r'Lattice="([^"]*)"', lines[1]).group(1).split()]
    atoms = [[float(x) for x in line.split()[1:]] for line in lines[2:]]
    h = 1e-4

    def write(file, cell, atoms):
        print(4, f'Lattice="{" ".join(map(repr, cell))}" pbc="T T T" Properties=species:S:1:pos:R:3', sep="\n", file=file)
        for x in atoms:
            print("Cu", *map(repr, x), file=file)

    with open("moved.xyz", "w") as file:
        write(file, cell, atoms)
        for s in (-h, h):
            write(file, cell, [[x, y + s * (i == 1), z] for i, (x, y, z) in enumerate(atoms)])
        for s in (-h, h):  # x += s z: strain xz
            write(file, [c + s * cell[i - i % 3 + 2] * (i % 3 == 0) for i, c in enumerate(cell)],
                  [[x + s * z, y, z] for x, y, z in atoms])


def loop():
    """loop.yaml and what it names: two tiny models, ten steps of training, twenty of dynamics, labels by lammps()."""
    frames("few.xyz", "4", "2")
    script = os.path.abspath(__file__)
    subprocess.run(["dpmd", "label", "few.xyz", "--with", "lammps", "--template", "eam.in", "--output", "few",
                    "--command", f"python3 {script} lammps"], check=True, stdout=subprocess.DEVNULL)
    open("loop_train.yaml", "w").write("""
model:
  type_map: [Cu]
  descriptor: {rcut: 4 angstrom, rcut_smooth: 2 angstrom, sel: [60], neurons: [4, 8], axis_neurons: 2}
  fitting: {neurons: [8, 8]}
data: {training: {systems: [few/labelled.xyz]}}
steps: 10
""")
    open("loop_run.yaml", "w").write("""
system: {file: few.xyz}
potential: {model: a.dp, compress: off}
time: {dt: 1 fs, steps: 20}
velocities: {temperature: 100 K}
deviation: {interval: 5}
limits: {energy_drift: 1e6 eV, temperature: 1e9 K}
""")
    open("loop.yaml", "w").write(f"""
data: few/labelled.xyz
iterations: 2
models: 2
train: {{input: loop_train.yaml}}
explore: [{{input: loop_run.yaml}}]
selection: {{force_low: 0 eV/angstrom, force_high: 1e9 eV/angstrom, most: 2, method: farthest}}
label: {{with: lammps, template: eam.in, command: python3 {script} lammps}}
""")


def learnt(folder, n):
    """Each stage of n iterations has left its files, two frames labelled in each, and all are learnt from at the end."""
    for i in range(int(n)):
        for name in ("train/model_0/model.dp", "train/model_1/model.dp", "run/explore_0_start_0/model_devi.out", "select/selected.json"):
            if not os.path.exists(f"{folder}/iteration_{i:02}/{name}"):
                fail(f"iteration {i}: {name} is not there")
        count(f"{folder}/iteration_{i:02}/label/labelled.xyz", 2)
    summary = json.load(open(f"{folder}/summary.json"))
    if summary["iterations"] != int(n) or summary["frames_labelled"] != 2 * int(n):
        fail(f"summary: {summary}")
    used = open(f"{folder}/iteration_{int(n):02}/train/model_0/run.log").read()
    if not os.path.exists(f"{folder}/iteration_{int(n):02}/train/model_1/model.dp") or not used:
        fail("the last training is not there")


def killed(kills, seed, *words):
    """Run a loop, kill -9 it at random moments so often, let it end; what is whole is never made again."""
    rng, seen = random.Random(int(seed)), {}
    for kill in range(int(kills) + 1):
        loop = subprocess.Popen([*words] + (["--restart", "auto"] if kill else []), stdout=subprocess.DEVNULL)
        if kill == int(kills):
            sys.exit(loop.wait())
        n_done, patience = len(seen), time.monotonic() + float(os.environ["PATIENCE_S"])
        while len(seen) < n_done + 2 and loop.poll() is None and time.monotonic() < patience:  # some way on
            time.sleep(0.02)
            for path in glob.glob("*/store/*/campaign_item.yaml"):
                if path.startswith(words[words.index("--output") + 1] + "/"):
                    made = os.stat(path).st_mtime_ns
                    if seen.setdefault(path, made) != made:
                        fail(f"{path} was made again")
        time.sleep(rng.uniform(0, 0.3))
        if loop.poll() is not None:
            fail("it ended before it was killed")
        loop.kill()
        loop.wait()


globals()[sys.argv[1]](*sys.argv[2:])
