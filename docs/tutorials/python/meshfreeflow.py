# %% [markdown]
# # Python tutorial: convection, and a network that refines it
#
# Fluid that is heated from below rises in plumes, and cold fluid sinks. The Rayleigh number Ra says how strongly it is
# driven. The Nusselt number Nu is the heat that is carried, divided by what conduction alone would carry. Here you
# simulate convection, look at it, and train a small network that makes a fine flow of a coarse one. You compare it
# with interpolation.
#
# ## Run
#
# Three flows from different starts, at Ra = 20000.

# %%
import matplotlib.pyplot as plt
import numpy as np

import quintet

flows = quintet.inputs.meshfreeflow_simulate(
    rayleigh=2e4, prandtl=1, aspect_ratio=2, grid={"cells": [64, 24]}, start={"roll": 0.1, "noise": 1e-2},
    seeds=[1, 2, 3], time={"end": 16}, output={"frame_interval": 0.25}).write("flows.yaml")
run = quintet.run(flows, progress=False, threads=1)
run.status

# %% [markdown]
# ## Open

# %%
run = quintet.open("runs/flows")
flow = run.fields
print(dict(flow.sizes))
print(f"Ra = {flow.attrs['Ra']:.0f}, Pr = {flow.attrs['Pr']:.0f}; b is the buoyancy, u and w are velocities, p is the pressure")

# %% [markdown]
# ## Look
#
# Plumes leave the plates, and heat flows faster: the Nusselt number rises from 1.

# %%
figure, axes = plt.subplots(1, 2, figsize=(8, 2.6))
flow.b.isel(sample=0).sel(time=6).plot(ax=axes[0], cmap="RdBu_r")
axes[0].set_title("Buoyancy at t = 6")
history = run.table("history")
axes[1].plot(history.time, history.nusselt_volume_0)
axes[1].set(xlabel="time", ylabel="Nu")
plt.show()

# %% [markdown]
# ## Change
#
# A network learns from two of the flows how coarse nodes (2 x 4 x 4 times fewer) become fine ones. It starts as
# interpolation, and 200 steps of training correct it.

# %%
quintet.inputs.meshfreeflow_train(
    data={"files": ["runs/flows/fields.h5"], "crop": [16, 24, 64], "points": 512, "low_resolution": {"factor": [2, 4, 4]},
          "split": {"by": "sample", "validation": 0.34, "test": 0.33}},
    model={"latents": 8, "encoder": {"width": 8, "widest": 32, "padding": ["replicate", "zeros", "circular"]},
           "decoder": {"widths": [32, 32, 16], "base": "interpolation"}},
    equations={"constants": {}, "interior": {"continuity": "dx(u) + dz(w)"}},
    loss={"gamma": 0.01}, learning_rate={"start": 5e-3}, validation={"interval": 100}, steps=200, batch=2).write("train.yaml")
trained = quintet.run("train.yaml", "meshfreeflow", "train", progress=False, threads=1)
trained.status

# %% [markdown]
# ## Compare
#
# The third flow is new to the network. Its coarse fields are means over 4 x 4 cells of every second frame, and
# `quintet.superresolve` refines them.

# %%
fine = flow.isel(sample=2).load()
coarse = fine.isel(time=slice(None, 64, 2)).coarsen(z=4, x=4).mean(keep_attrs=True)
