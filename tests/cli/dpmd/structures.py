"""Files of atoms that cases read, odd ones among them."""
import json
import os
import struct
import subprocess
import zipfile

from runs import COPPER, ENSEMBLES, HERE

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


def steep():
    """steep.yaml: copper.dp with a first fitting layer so steep that bfloat16 cannot carry it."""
    subprocess.run(["dpmd", "convert", f"{COPPER}/copper.dp", "steep.yaml"], check=True, stdout=subprocess.DEVNULL)
    model = json.load(open("steep.yaml"))
    weight = model["model"]["fitting"]["nets"]["networks"][0]["layers"][0]["@variables"]["w"]
    weight["value"] = [[3000 * w for w in row] for row in weight["value"]]
    json.dump(model, open("steep.yaml", "w"))
