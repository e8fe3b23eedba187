"""Run LAMMPS with Mishin's EAM potential of copper. Units: Angstrom, eV, ps, K; virial in eV.

Potential: Y. Mishin, M. J. Mehl, D. A. Papaconstantopoulos, A. F. Voter, J. D. Kress, Phys. Rev. B 63, 224106 (2001),
the file Cu_mishin1.eam.alloy of LAMMPS' own potentials folder (cut-off 5.507 Angstrom). That folder is looked for in
$LAMMPS_POTENTIALS, then where Debian's package lammps-data puts it.
"""
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

BAR_A3 = 6.241509074e-7  # eV in one bar * Angstrom^3
GPA = 160.2176634        # GPa in one eV / Angstrom^3
POTENTIAL = Path(os.environ.get("LAMMPS_POTENTIALS", "/usr/share/lammps/potentials")) / "Cu_mishin1.eam.alloy"
ONE_PROCESS = {"OMP_NUM_THREADS": "1", "OMPI_MCA_ess_singleton_isolated": "1"}  # no MPI daemon: it takes seconds

HEAD = """\
units metal
boundary p p p
atom_style atomic
atom_modify map array
box tilt large
read_data start.lmp
mass 1 63.546
pair_style eam/alloy
pair_coeff * * {potential} Cu
neighbor 1.5 bin
neigh_modify every 1 delay 0 check yes
timestep 0.002
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


def write_start(path, coord, box):
    """Write atoms (N,3) in a lower-triangular box (3,3), rows a b c, as a LAMMPS data file."""
    lines = ["copper", "", f"{len(coord)} atoms", "1 atom types"]
    lines += [f"0 {float(box[k, k])!r} {x}lo {x}hi" for k, x in enumerate("xyz")]
    lines += [f"{float(box[1, 0])!r} {float(box[2, 0])!r} {float(box[2, 1])!r} xy xz yz", "", "Atoms # atomic", ""]
    lines += [f"{i + 1} 1 {x!r} {y!r} {z!r}" for i, (x, y, z) in enumerate(coord.tolist())]
    path.write_text("\n".join(lines) + "\n")


def run(coord, box, commands="run 0\n" + FRAME):
    """Run LAMMPS commands from a start cell and return its frames as a dict of arrays with DeePMD's names.

    coord (nf,3N) and box (nf,9) in Angstrom, energy (nf) eV, force (nf,3N) eV/Angstrom and virial (nf,9) in eV:
    -dE/d(strain), the configurational part of the pressure times the volume.
    """
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        write_start(work / "start.lmp", coord, box)
        (work / "in.lmp").write_text(HEAD.format(potential=POTENTIAL) + commands)
        done = subprocess.run(["lmp", "-in", "in.lmp", "-log", "none"], cwd=work, capture_output=True, text=True,
                              env=dict(os.environ, **ONE_PROCESS))
        if done.returncode:
            raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
        cells = np.loadtxt(work / "frames.txt", ndmin=2)
        n = len(coord)
        text = (work / "atoms.txt").read_text().splitlines()
        atoms = np.array([[line.split() for line in text[k + 9:k + 9 + n]] for k in range(0, len(text), 9 + n)], float)
    lx, ly, lz, xy, xz, yz, energy = cells[:, :7].T
    zero = np.zeros_like(lx)
    p = cells[:, 7:] * (BAR_A3 * lx * ly * lz)[:, None]
    return {"coord": atoms[:, :, :3].reshape(len(cells), -1), "force": atoms[:, :, 3:].reshape(len(cells), -1),
            "box": np.stack([lx, zero, zero, xy, ly, zero, xz, yz, lz], 1), "energy": energy,
            "virial": p[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]]}


def lattice(kind, a, repeat):
    """Return atoms (N,3) and box (3,3) of repeated orthogonal cells: fcc, bcc, or hcp of the same volume as fcc(a)."""
    basis = {"fcc": [[0, 0, 0], [0, .5, .5], [.5, 0, .5], [.5, .5, 0]], "bcc": [[0, 0, 0], [.5, .5, .5]],
             "hcp": [[0, 0, 0], [.5, .5, 0], [.5, 5 / 6, .5], [0, 1 / 3, .5]]}[kind]
    d = a / 2**.5
    edge = {"fcc": [a, a, a], "bcc": [a, a, a], "hcp": [d, d * 3**.5, d * (8 / 3)**.5]}[kind]
    shift = np.array([(i, j, k) for i in range(repeat[0]) for j in range(repeat[1]) for k in range(repeat[2])])
    return ((shift[:, None] + basis) * edge).reshape(-1, 3), np.diag(edge) * repeat


def strained(coord, box, strain):
    """Return the cell under an upper-triangular strain (3,3): with that, a stays along x and b in the xy plane, as in LAMMPS."""
    deform = np.eye(3) + strain
    return coord @ deform.T, box @ deform.T
