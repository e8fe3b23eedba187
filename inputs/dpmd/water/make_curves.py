#!/usr/bin/env python3
"""Write rdf_330k.csv and spectrum_330k.csv from the run.h5 of run.yaml: make_curves.py RUN. Needs h5py."""
import sys
from pathlib import Path

import h5py
import numpy as np

HERE = Path(__file__).resolve().parent


def save(name, table, columns, formats, rows=slice(None)):
    """Write columns of a table of run.h5 as CSV."""
    values = np.stack([table[column][rows] for column in columns], 1)
    np.savetxt(HERE / name, values, fmt=formats, delimiter=",", header=",".join(columns), comments="")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with h5py.File(Path(sys.argv[1]) / "run.h5") as file:
        observables = file["observables"]
        save("rdf_330k.csv", observables["rdf/rdf"], ["r", "O_O", "O_H", "H_H"], ["%.3f"] + ["%.4f"] * 3)
        spectrum = observables["vacf/spectrum"]
        rows = slice(0, np.searchsorted(spectrum["wavenumber"][:], 4500), 4)  # the window is wider than 4 lines
        save("spectrum_330k.csv", spectrum, ["wavenumber", "O", "H"], ["%.1f"] + ["%.5g"] * 2, rows)


if __name__ == "__main__":
    main()
