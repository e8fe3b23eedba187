#!/usr/bin/env python3
"""Draw the picture at the top of README.md from what ./quickstart has run.

Usage: .venv/bin/python docs/pictures/front.py runs/quickstart docs/pictures/front.png
Needs h5py and matplotlib (set-up installs both).
"""
import base64
import glob
import io
import re
import sys

import h5py
import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from PIL import Image

runs, target = sys.argv[1:3]
plt.rcParams.update({"font.size": 8, "axes.titlesize": 9, "axes.titleweight": "bold", "axes.spines.top": False,
                     "axes.spines.right": False})
figure = plt.figure(figsize=(11, 5), dpi=110, layout="constrained")
above, below = figure.subfigures(2, 1, height_ratios=(1.12, 1))
atoms_part, plasma_part, matrix_part = above.subfigures(1, 3, width_ratios=(4.3, 3.4, 3.3))
flow_part, sea_part = below.subfigures(1, 2)


def panel(part, title):
    axes = part.add_subplot()
    axes.set_title(title, loc="left")
    return axes


def pictures_of(report):
    """The PNG fields of a report by their captions."""
    text = open(report).read()
    found = re.findall(r"<figcaption>([^<]*)</figcaption><svg.*?class=\"field\".*?image/png;base64,([A-Za-z0-9+/=]+)", text)
    return {name: plt.imread(io.BytesIO(base64.b64decode(data))) for name, data in found}


def atoms_of(run):
    """Positions at the newest checkpoint of a run, in a cube of five cells of the crystal, the deepest first."""
    with h5py.File(sorted(glob.glob(f"{run}/checkpoints/*.h5"))[-1]) as file:
        state = file["state"]
        half_layer = 0.9  # angstrom, so that no layer is cut
        atoms = (state["position"][:] - state["origin"][:] + half_layer) % numpy.diag(state["box"][:])
    atoms = atoms[(atoms < 18.06).all(1)]
    return atoms[numpy.argsort(atoms[:, 2])].T


for axes, (run, label) in zip(atoms_part.subplots(1, 2), {"nvt": "crystal, 300 K", "melt": "liquid, 1600 K"}.items()):
    axes.set_title("dpmd: atoms of copper" if run == "nvt" else "", loc="left")
    x, y, depth = atoms_of(f"{runs}/{run}")
    axes.scatter(x, y, c=depth, s=55, cmap="copper", edgecolors="#3a2010", linewidths=0.4)
    axes.set(xlabel=label, xticks=[], yticks=[], aspect="equal")
    axes.spines[["top", "right"]].set_visible(True)

axes = panel(plasma_part, "vlasov: vortices of two electron beams")
with h5py.File(f"{runs}/two_stream/run.h5") as run:
    f = run["pictures/electrons_x_vx"]
    middle = slice(f.shape[1] // 4, 3 * f.shape[1] // 4)  # faster electrons are few
    axes.imshow(f[-1, middle], origin="lower", aspect="auto", cmap="magma")
axes.set(xlabel="x", ylabel="v", xticks=[], yticks=[])

axes = panel(matrix_part, "submatrix: density matrix of water")
with h5py.File(f"{runs}/water/density.h5") as file:
    row, column, value = (file[name][:] for name in ("row", "column", "value"))
molecules = numpy.full((256, 256), 1e-12)
numpy.add.at(molecules, (row // 6, column // 6), value**2)
shown = axes.imshow(numpy.log10(molecules) / 2, cmap="Blues", vmin=-6, vmax=0)
matrix_part.colorbar(shown, ax=axes, shrink=0.9, label="log10 |D|")
axes.set(xlabel="molecule", ylabel="molecule")

flows = pictures_of(f"{runs}/quick_evaluate/report.html")
captions = {"low resolution": "coarse", "ours": "super-\nresolved", "truth": "truth"}
for axes, (name, label) in zip(flow_part.subplots(3, 1), captions.items()):
    if name == "low resolution":
        axes.set_title("meshfreeflow: super-resolution of convection", loc="left")
    axes.imshow(flows[name], aspect="auto")
    axes.set(xticks=[], yticks=[])
    axes.set_ylabel(label, rotation=0, ha="right", va="center")

axes = panel(sea_part, "podlstm: sea-surface temperature, forecast four weeks ahead (°C)")
with h5py.File(f"{runs}/podlstm_fit/modes.h5") as modes, h5py.File(f"{runs}/podlstm_evaluate/run.h5") as run:
    sea = modes["mask"][:] > 0
    field = modes["mean"][:] + run["forecasts/ours"][-1, 3] @ modes["modes"][:]
    lat, lon = modes["lat"][:], modes["lon"][:]
picture = field.min() + 0 * sea.astype(float)
picture[~sea] = float("nan")
picture[sea] = field
shown = axes.pcolormesh(lon, lat, picture, cmap="viridis", shading="nearest", rasterized=True)
sea_part.colorbar(shown, ax=axes, shrink=0.9)
axes.set(xlabel="longitude", ylabel="latitude")

figure.savefig(target)
with Image.open(target) as picture:
    picture.convert("RGB").quantize(256).save(target, optimize=True)
