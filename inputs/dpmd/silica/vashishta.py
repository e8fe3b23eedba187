"""Run LAMMPS with the short-ranged Vashishta potential of silica. Units: Angstrom, eV, ps, K; virial in eV.

Potential: pairs and triples, cut off at 5.5 Angstrom: J. Q. Broughton, C. A. Meli, P. Vashishta, R. K. Kalia, Phys.
Rev. B 56, 611 (1997), the file SiO.1997.vashishta of LAMMPS' own potentials folder. That folder is looked for in
$LAMMPS_POTENTIALS, then where Debian's package lammps-data puts it. Type 0 is Si, type 1 is O.
"""
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

BAR_A3 = 6.241509074e-7  # eV in one bar * Angstrom^3
POTENTIAL = Path(os.environ.get("LAMMPS_POTENTIALS", "/usr/share/lammps/potentials")) / "SiO.1997.vashishta"
ONE_PROCESS = {"OMP_NUM_THREADS": "1", "OMPI_MCA_ess_singleton_isolated": "1"}  # no MPI daemon: it takes seconds
DT = 0.001               # ps

HEAD = """\
units metal
boundary p p p
atom_style atomic
atom_modify map array
box tilt large
read_data start.lmp
mass 1 28.085
mass 2 15.999
pair_style vashishta
pair_coeff * * {potential} Si O
neighbor 1.0 bin
neigh_modify every 1 delay 0 check yes
timestep {dt}
compute vir all pressure NULL virial
thermo_style custom step temp pe vol c_vir[1] c_vir[2] c_vir[3] c_vir[4] c_vir[5] c_vir[6]
thermo_modify norm no flush no
"""
# One frame: cell, energy and virial pressure (bar; xx yy zz xy xz yz) in frames.txt, atoms in atoms.txt.
FRAME = """\
print "$(lx:%.17g) $(ly:%.17g) $(lz:%.17g) $(xy:%.17g) $(xz:%.17g) $(yz:%.17g) $(pe:%.17g) $(c_vir[1]:%.17g) \
$(c_vir[2]:%.17g) $(c_vir[3]:%.17g) $(c_vir[4]:%.17g) $(c_vir[5]:%.17g) $(c_vir[6]:%.17g)" append frames.txt screen no
write_dump all custom atoms.tmp x y z fx fy fz modify sort id format float %.17g
shell cat atoms.tmp >> atoms.txt
"""

# Asymmetric units (fractional): alpha-quartz, P3(1)21, Levien, Prewitt and Weidner, Am. Mineral. 65, 920 (1980);
# alpha-cristobalite, P4(1)2(1)2, Downs and Palmer, Am. Mineral. 79, 9 (1994).
QUARTZ = {"a": 4.916, "c": 5.4054, "si": 0.4697, "o": (0.4135, 0.2669, 0.2142)}
CRISTOBALITE = {"a": 4.9717, "c": 6.9223, "si": 0.3003, "o": (0.2392, 0.1044, 0.1787)}


def quartz():
    """Return types, fractional coordinates (9,3) and cell (3,3), rows a b c, a along x, of alpha-quartz."""
    u, (x, y, z), a, c = QUARTZ["si"], QUARTZ["o"], QUARTZ["a"], QUARTZ["c"]
    si = [(u, 0, 1 / 3), (0, u, 2 / 3), (-u, -u, 0)]
    o = [(x, y, z), (-y, x - y, z + 1 / 3), (y - x, -x, z + 2 / 3), (y, x, -z), (x - y, -y, 2 / 3 - z),
         (-x, y - x, 1 / 3 - z)]
    return [0] * 3 + [1] * 6, np.array(si + o), np.array([[a, 0, 0], [-a / 2, a * 0.75**0.5, 0], [0, 0, c]])


def cristobalite():
    """Return types, fractional coordinates (12,3) and cell (3,3) of alpha-cristobalite."""
    u, (x, y, z), a, c = CRISTOBALITE["si"], CRISTOBALITE["o"], CRISTOBALITE["a"], CRISTOBALITE["c"]

    def orbit(x, y, z):
        return [(x, y, z), (-x, -y, z + .5), (.5 - y, .5 + x, z + .25), (.5 + y, .5 - x, z + .75),
                (.5 - x, .5 + y, .25 - z), (.5 + x, .5 - y, .75 - z), (y, x, -z), (-y, -x, .5 - z)]

    si = np.unique(np.round(np.array(orbit(u, u, 0)) % 1, 6), axis=0)  # a special position: each one twice
    return [0] * 4 + [1] * 8, np.concatenate([si, orbit(x, y, z)]), np.diag([a, a, c])


def repeated(crystal, repeat):
    """Return types (N), atoms (N,3) in Angstrom and box (3,3) of a crystal repeated along the rows of its cell."""
    types, fractional, box = crystal
    shift = np.array([(i, j, k) for i in range(repeat[0]) for j in range(repeat[1]) for k in range(repeat[2])])
    coord = ((shift[:, None] + fractional % 1) @ box).reshape(-1, 3)
    return np.tile(types, len(shift)), coord, box * np.array(repeat)[:, None]


def strained(cell, strain):
    """Return the cell under an upper-triangular strain (3,3): a stays along x and b in the xy plane, as in LAMMPS."""
    types, coord, box = cell
    deform = np.eye(3) + strain
    return types, coord @ deform.T, box @ deform.T


def write_start(path, cell):
    """Write a cell, lower-triangular box with rows a b c, as a LAMMPS data file."""
    types, coord, box = cell
    lines = ["silica", "", f"{len(coord)} atoms", "2 atom types"]
    lines += [f"0 {float(box[k, k])!r} {x}lo {x}hi" for k, x in enumerate("xyz")]
    lines += [f"{float(box[1, 0])!r} {float(box[2, 0])!r} {float(box[2, 1])!r} xy xz yz", "", "Atoms # atomic", ""]
    lines += [f"{i + 1} {t + 1} {x!r} {y!r} {z!r}" for i, (t, (x, y, z)) in enumerate(zip(types, coord.tolist()))]
    path.write_text("\n".join(lines) + "\n")


def run(cell, commands="run 0\n" + FRAME):
    """Run LAMMPS commands from a start cell and return its frames as a dict of arrays with DeePMD's names.

    coord (nf,3N) and box (nf,9) in Angstrom, energy (nf) eV, force (nf,3N) eV/Angstrom and virial (nf,9) in eV:
    -dE/d(strain), the configurational part of the pressure times the volume.
    """
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        write_start(work / "start.lmp", cell)
        (work / "in.lmp").write_text(HEAD.format(potential=POTENTIAL, dt=DT) + commands)
        done = subprocess.run(["lmp", "-in", "in.lmp", "-log", "none"], cwd=work, capture_output=True, text=True,
                              env=dict(os.environ, **ONE_PROCESS))
        if done.returncode:
            raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
        cells = np.loadtxt(work / "frames.txt", ndmin=2)
        n = len(cell[1])
        text = (work / "atoms.txt").read_text().splitlines()
        atoms = np.array([[line.split() for line in text[k + 9:k + 9 + n]] for k in range(0, len(text), 9 + n)], float)
    lx, ly, lz, xy, xz, yz, energy = cells[:, :7].T
    zero = np.zeros_like(lx)
    p = cells[:, 7:] * (BAR_A3 * lx * ly * lz)[:, None]
    return {"coord": atoms[:, :, :3].reshape(len(cells), -1), "force": atoms[:, :, 3:].reshape(len(cells), -1),
            "box": np.stack([lx, zero, zero, xy, ly, zero, xz, yz, lz], 1), "energy": energy,
            "virial": p[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]]}
