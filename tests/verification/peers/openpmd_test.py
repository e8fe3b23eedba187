#!/usr/bin/env python3
"""openPMD-api, openPMD-viewer and yt, all from PyPI, read what `vlasov` writes with output.openpmd: the numbers of run.h5.

openpmd_test.py SOURCE BUILD SCRATCH. The peers are looked for in QUINTET_PEERS_VENV, else SOURCE/.peers/peers. Exit code 77: not there.
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

RUN = """basis: {order: 1}
grid: {lower: [0, -1], upper: [2*pi, 3], cells: [8, 3, 8, 8]}
species:
  - name: electrons
    velocity: {lower: [-0.7, -0.7], upper: [0.7, 0.7]}
    initial: [{maxwellian: {density: 1 + 0.01*cos(x), thermal_speed: 0.1, drift: [0.05, 0]}}]
field: {model: maxwell, background_charge: 1, initial: {magnetic: [0, 0, 0.01*cos(x)]}}
time: {end: 1, steps: 4}
output: {openpmd: true, distribution: false}
"""


def by_api(files, run, np):
    import openpmd_api as io
    series = io.Series(f"{files}/data_%T.h5", io.Access.read_only)
    steps = sorted(series.iterations)
    times = run["frames/time"][:]
    assert steps == list(run["frames/step"][:]), steps
    for n, step in enumerate(steps):
        iteration = series.iterations[step]
        assert iteration.time == times[n] and iteration.time_unit_SI == 1
        density = iteration.meshes["electrons_density"]
        assert density.axis_labels == ["y", "x"] and density.unit_dimension[0] == -3, density.axis_labels
        chunk, b_z = density.load_chunk(), iteration.meshes["B"]["z"].load_chunk()
        series.flush()
        np.testing.assert_array_equal(chunk, run["fields/electrons_density"][n])
        np.testing.assert_array_equal(b_z, run["fields/b_z"][n])
        axes = [np.array(offset) + (np.arange(size) + 0.5) * spacing
                for offset, size, spacing in zip(density.grid_global_offset, chunk.shape, density.grid_spacing)]
        np.testing.assert_allclose(axes[0], run["fields/y"][:], atol=1e-13)
        np.testing.assert_allclose(axes[1], run["fields/x"][:], atol=1e-13)
    return f"openPMD-api {io.__version__}: {len(steps)} iterations of {len(series.iterations[0].meshes)} meshes"


def by_viewer(files, run, np):
    from importlib.metadata import version

    from openpmd_viewer import OpenPMDTimeSeries
    series = OpenPMDTimeSeries(str(files), check_all_files=True)
    last = int(series.iterations[-1])
    values, info = series.get_field("E", "x", iteration=last)
    np.testing.assert_array_equal(values, run["fields/e_x"][-1])
    np.testing.assert_allclose(info.x, run["fields/x"][:], atol=1e-13)
    np.testing.assert_allclose(info.y, run["fields/y"][:], atol=1e-13)
    return f"openPMD-viewer {version('openpmd-viewer')}: {sorted(series.avail_fields)}"


def by_yt(files, run, np):
    import yt
    yt.set_log_level(50)
    data = yt.load(f"{files}/data_{run['frames/step'][-1]}.h5")
    names = [name for kind, name in data.field_list if kind == "openPMD"]
    found = data.all_data()[("openPMD", "E_x")]
    np.testing.assert_allclose(np.sort(np.array(found).ravel()), np.sort(run["fields/e_x"][-1].ravel()))
    return f"yt {yt.__version__}: {len(names)} fields of {data.domain_dimensions} points"


def main():
    source, build, scratch = map(Path, sys.argv[1:4])
    venv = Path(os.environ.get("QUINTET_PEERS_VENV", source / ".peers/peers")).absolute()
    if not list(venv.glob("lib/python3*/site-packages/openpmd_viewer")):
        print(f"skipped: no openPMD-viewer in {venv} (pip install openpmd-api openpmd-viewer yt h5py; QUINTET_PEERS_VENV)")
        sys.exit(77)
    if Path(sys.prefix) != venv:
        os.execv(venv / "bin/python", [str(venv / "bin/python"), *sys.argv])
    import h5py
    import numpy as np
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    (scratch / "run.yaml").write_text(RUN)
    done = subprocess.run([build / "bin/vlasov", "run", "run.yaml", "--output", "run"], cwd=scratch, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(done.stdout)
    with h5py.File(scratch / "run/run.h5") as run:
        for read in (by_api, by_viewer, by_yt):
            print(read(scratch / "run/openpmd", run, np))
    shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
