#!/usr/bin/env python3
"""Draw the picture at the top of README.md from what ./quickstart has run.

Usage: .venv/bin/python docs/pictures/front.py runs/quickstart docs/pictures/front.png
Needs h5py and matplotlib (set-up installs both).
"""
import base64
import io
import re
import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

runs, target = sys.argv[1:3]
plt.rcParams.update({"font.size": 8, "axes.titlesize": 9, "axes.titleweight": "bold", "axes.spines.top": False,
                     "axes.spines.right": False})
figure = plt.figure(figsize=(11, 4.6), dpi=110, layout="constrained")
grid = figure.add_gridspec(2, 12)


def panel(row, columns, title):
    axes = figure.add_subplot(grid[row, columns])
    axes.set_title(title, loc="left")
    return axes


def pictures_of(report):
    """The PNG fields of a report by their captions."""
    text = open(report).read()
    found = re.findall(r"<figcaption>([^<]*)</figcaption><svg.*?class=\"field\".*?image/png;base64,([A-Za-z0-9+/=]+)", text)
    return {name: plt.imread(io.BytesIO(base64.b64decode(data))) for name, data in found}


axes = panel(0, slice(0, 4), "dpmd: structure of liquid copper, 1600 K")
with h5py.File(f"{runs}/melt/run.h5") as run:
    rdf = run["observables/rdf/rdf"]
    axes.plot(rdf["r"][:], rdf["Cu_Cu"][:], color="#b5541c")
axes.set(xlabel="r (Å)", ylabel="g(r)", xlim=(1.5, None))

axes = panel(0, slice(4, 8), "vlasov: vortices of two electron beams")
with h5py.File(f"{runs}/two_stream/run.h5") as run:
    f = run["pictures/electrons_x_vx"]
    middle = slice(f.shape[1] // 4, 3 * f.shape[1] // 4)  # faster electrons are few
    axes.imshow(f[-1, middle], origin="lower", aspect="auto", cmap="magma")
axes.set(xlabel="x", ylabel="v", xticks=[], yticks=[])

axes = panel(0, slice(8, 12), "submatrix: error of D against the threshold")
with h5py.File(f"{runs}/water/run.h5") as run:
    table = run["thresholds"]
    axes.loglog(table["threshold"][:], table["density_error"][:], "o-", color="#2a6f97", label="density matrix")
    axes.loglog(table["threshold"][:], table["energy_error"][:], "s--", color="#61a5c2", label="energy (hartree)")
axes.set(xlabel="filter threshold", ylabel="estimated error")
axes.legend(frameon=False)

flows = pictures_of(f"{runs}/quick_evaluate/report.html")
rows = grid[1, :6].subgridspec(3, 1, hspace=0.05)
for row, (name, label) in zip(rows, {"low resolution": "coarse", "ours": "super-\nresolved", "truth": "truth"}.items()):
    axes = figure.add_subplot(row)
    if name == "low resolution":
        axes.set_title("meshfreeflow: super-resolution of convection", loc="left")
    axes.imshow(flows[name], aspect="auto")
    axes.set(xticks=[], yticks=[])
    axes.set_ylabel(label, rotation=0, ha="right", va="center")

axes = panel(1, slice(6, 12), "podlstm: sea-surface temperature, forecast four weeks ahead (°C)")
with h5py.File(f"{runs}/podlstm_fit/modes.h5") as modes, h5py.File(f"{runs}/podlstm_evaluate/run.h5") as run:
    sea = modes["mask"][:] > 0
    field = modes["mean"][:] + run["forecasts/ours"][-1, 3] @ modes["modes"][:]
    lat, lon = modes["lat"][:], modes["lon"][:]
picture = field.min() + 0 * sea.astype(float)
picture[~sea] = float("nan")
picture[sea] = field
shown = axes.pcolormesh(lon, lat, picture, cmap="viridis", shading="nearest", rasterized=True)
figure.colorbar(shown, ax=axes, shrink=0.9)
axes.set(xlabel="longitude", ylabel="latitude")

figure.savefig(target, pil_kwargs={"optimize": True})
