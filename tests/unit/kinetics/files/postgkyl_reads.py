"""postgkyl_reads.py PROGRAM [all]: files of write_gkyl_samples as postgkyl reads and interpolates them.

Needs `pip install postgkyl`; exits with 77 (skipped) without it.
"""

import os
import subprocess
import sys
import tempfile

try:
    import matplotlib

    matplotlib.use("Agg")
    import numpy as np
    import postgkyl
    from postgkyl.data import GData, GInterpModal
except ImportError as missing:
    print(f"skipped: {missing}; pip install postgkyl to have the files read by it")
    sys.exit(77)


def interpolated(path):
    """Every component on p + 1 points a cell and direction."""
    data = GData(path)
    assert data.ctx["time"] == 1.25 and data.ctx["frame"] == 0, data.ctx
    dg = GInterpModal(data)
    components = int(round(data.get_num_comps() / dg.num_nodes))
    _, values = dg.interpolate(tuple(range(components)))
    return values


def check_fields(folder, name):
    for what in ("elc", "field"):
        stem = f"{folder}/{name}-{what}_0"
        found = interpolated(stem + ".gkyl")
        expected = np.fromfile(stem + ".values").reshape(found.shape)
        error = np.abs(found - expected).max() / np.abs(expected).max()
        print(f"{name} {what} {list(found.shape)}: largest relative difference {error:.1e}", flush=True)
        assert error < 1e-13, f"{name} {what}: postgkyl interpolates to other values"


def check_series(folder):
    data = GData(f"{folder}/series-field-energy.gkyl")
    time, values = np.squeeze(data.get_grid()), data.get_values()
    n = np.arange(10)
    assert np.array_equal(time, 0.5 * n), time
    assert np.array_equal(values[:, 0], 1.0 * n) and np.allclose(values[:, 1], np.exp(-0.1 * n), rtol=1e-15)


def try_plot(folder):
    """The command that users know. What it needs beside our file may be missing: PyPI's postgkyl 1.7.6 lacks
    output/postgkyl.mplstyle, and does not plot with matplotlib 3.10 or later; that is said, not failed."""
    pgkyl = os.path.join(os.path.dirname(sys.executable), "pgkyl")
    picture = f"{folder}/f.png"
    if not os.path.exists(pgkyl):
        return "no pgkyl beside python"
    run = subprocess.run([pgkyl, f"{folder}/ser_p2_1x1v-elc_0.gkyl", "interp", "plot", "--no-show",
                          "--saveas", picture], capture_output=True, text=True)
    if run.returncode != 0:
        return "pgkyl plot: " + (run.stderr.strip().splitlines() or ["failed"])[-1]
    return f"pgkyl plot: {os.path.getsize(picture)} bytes"


def main():
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([sys.argv[1], folder, *sys.argv[2:]], check=True, capture_output=True, text=True)
        for name in run.stdout.split():
            check_fields(folder, name)
        check_series(folder)
        print(try_plot(folder))


if __name__ == "__main__":
    main()
