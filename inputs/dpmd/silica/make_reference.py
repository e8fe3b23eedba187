#!/usr/bin/env python3
"""Write melt.xyz (a start) and rdf_vashishta_2000k.csv (g(r) between Si and O): the potential's own melt, with LAMMPS.

72 SiO2 in a cube of 2.30 g/cm^3, NVT: 10 ps at 6000 K, 10 ps of cooling and 10 ps at 2000 K, then 30 ps of samples.
"""
import tempfile
from pathlib import Path

import numpy as np

import vashishta

HERE = Path(__file__).resolve().parent
EDGE = (72 * 60.083 / 0.602214 / 2.30) ** (1 / 3)  # Angstrom
TEMPERATURE = 2000                                 # K
RUN = """\
comm_modify cutoff 10.0
velocity all create 12000 1997
fix bath all nvt temp 6000 6000 0.1
run 10000
unfix bath
fix bath all nvt temp 6000 {t} 0.1
run 10000
unfix bath
fix bath all nvt temp {t} {t} 0.1
run 10000
reset_timestep 0
compute g all rdf 70 1 2 cutoff 7.0
fix g all ave/time 20 1500 30000 c_g[1] c_g[2] mode vector file rdf.txt
fix p all ave/time 20 1500 30000 c_thermo_press c_thermo_pe file press.txt
run 30000
shell cp rdf.txt press.txt {out}
"""


def main():
    types, coord, box = vashishta.repeated(vashishta.cristobalite(), (3, 3, 2))
    cube = types, coord / np.diag(box) * EDGE, np.eye(3) * EDGE
    with tempfile.TemporaryDirectory() as out:
        frame = vashishta.run(cube, RUN.format(out=out, t=TEMPERATURE) + vashishta.FRAME)
        table = np.loadtxt(Path(out) / "rdf.txt", skiprows=4)
        _, pressure, energy = np.loadtxt(Path(out) / "press.txt")
    np.savetxt(HERE / "rdf_vashishta_2000k.csv", table[:, 1:3], fmt=["%.3f", "%.4f"], delimiter=",",
               header="r_angstrom,Si_O", comments="")
    lines = [f"{('Si', 'O')[t]} {x:.5f} {y:.5f} {z:.5f}" for t, (x, y, z) in zip(types, frame["coord"].reshape(-1, 3))]
    lattice = " ".join(f"{x:.6f}" for x in frame["box"].ravel())
    head = f'Lattice="{lattice}" pbc="T T T" Properties=species:S:1:pos:R:3'
    (HERE / "melt.xyz").write_text("\n".join([str(len(types)), head, *lines]) + "\n")
    print(f"pressure {pressure / 1e4:.3f} GPa, potential energy {energy / len(types):.5f} eV/atom")


if __name__ == "__main__":
    main()
