# %% [markdown]
# # Python tutorial: the sea in a few modes, and its forecast
#
# A weekly record of sea-surface temperature has thousands of points but few patterns. Proper orthogonal decomposition
# finds them: modes of space, each with a coefficient of time. A forecast continues the coefficients. Here you fit modes
# to a made-up ocean with seasons, look at them, forecast six weeks, change what was seen last, and compare.
#
# ## Run

# %%
import matplotlib.pyplot as plt
import numpy as np

import quintet

quintet.inputs.podlstm_fit(fields={"stochastic": {"climatology": "", "spacing": 6, "years": 20, "seed": 7}}, pod={"modes": 4},
                           fit_until="1995-12-31").write("fit.yaml")
fit = quintet.run("fit.yaml", progress=False, threads=1)
quintet.inputs.podlstm_train(modes="runs/fit/modes.h5", window={"in": 8, "out": 6}, forecast={"members": 0},
                             references={"lim_lag": "7 day"},
                             split={"train_until": "1995-12-31", "validation_until": "1998-12-31"}).write("train.yaml")
train = quintet.run("train.yaml", progress=False, threads=1)
print(fit.status, train.status)

# %% [markdown]
# ## Open

# %%
sea = quintet.open("runs/fit").fields
print(dict(sea.sizes))

# %% [markdown]
# ## Look
#
# The first mode is the season: warm in one hemisphere while it is cold in the other.

# %%
figure, axes = plt.subplots(1, 2, figsize=(8, 2.6))
sea.modes.isel(mode=0).plot(ax=axes[0], cmap="RdBu_r", cbar_kwargs={"label": ""})
axes[0].set(title="First mode of the sea", xlabel="longitude", ylabel="latitude")
years = sea.time.dt.year + sea.time.dt.dayofyear / 365.25
axes[1].plot(years[:150], sea.coefficients[:150, 0])
axes[1].set(title="Its coefficient", xlabel="year", ylabel="degrees Celsius")
plt.show()

# %% [markdown]
# ## Change
#
# `quintet.forecast` sees the record until a date. In a second forecast the third coefficient of the last eight weeks is
# raised by five degrees.

# %%
start = "2000-06-29"
plain = quintet.forecast("runs/train", "runs/fit", start=start, threads=1)
state = sea.coefficients.sel(time=slice(None, start))[-8:].load().copy()
state[:, 2] += 5
other = quintet.forecast("runs/train", "runs/fit", state, threads=1)
print(plain.sst.dims, plain.sst.attrs["units"])

# %% [markdown]
# ## Compare
#
# The years after 1998 were seen by no one. Which is closer to what came: the forecast, or the last week once
# more? Errors are those of maps in the space of the modes.

# %%
truth = sea.coefficients.sel(time=plain.time).transpose("mode", "time")
last = sea.coefficients.sel(time=start).squeeze()
for name, guess in (("forecast", plain.a), ("last week", last)):
    error = np.sqrt((((guess.values.reshape(4, -1) - truth.values) ** 2).sum(axis=0)) / int(sea.mask.sum()))
    print(f"{name:9}: error after 1 and 6 weeks {error[0]:.2f} and {error[-1]:.2f} degrees")
print("what the change left of its 5 degrees:", np.round((other.a - plain.a).values[2], 1))

# %% [markdown]
# ## Break it on purpose
#
# Some mistakes show only with the data. Nothing is computed then, either.

# %%
try:
    quintet.run("train.yaml", output="runs/broken", progress=False, **{"window.in": 600})
except quintet.InputError as error:
    print(str(error).partition("split: ")[2])

# %% [markdown]
# ## Restart, on two ranks
#
# A training that was stopped goes on to the same model. Ranks of MPI share out its networks, if there are any.

# %%
train = quintet.run("train.yaml", restart="auto", ranks=2, progress=False, threads=1)
print(train.status)

# %% [markdown]
# ## Plan and submit
#
# How long would the modes take on more ranks? `quintet.plan` times some steps here. `quintet.submit` makes the job of a
# cluster. With `dry_run` it queues nothing.

# %%
plan = quintet.plan("fit.yaml", [1, 2])
print(plan.rows.ranks.unique().tolist(), "ranks were planned")
job = quintet.submit("fit.yaml", "abci3", "00:30:00", output="runs/queued",
                     flags=["--account", "GROUP"], dry_run=True)
print("\n".join(line for line in job.text.splitlines() if line.startswith("#PBS -l")))

# %% [markdown]
# ## Next
#
# A record of your own goes in by `quintet.data.write_fields`, and `forecast` takes fields as well as coefficients: see
# [Python](../../python.md). The same tutorial by the terminal is [podlstm](../podlstm.md).
