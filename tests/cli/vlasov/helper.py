#!/usr/bin/env python3
"""What the cases of this folder need besides vlasov: restarts and comparisons of runs.

Standard library, h5diff and h5dump. Subcommands: see the functions at the end; each exits 0 or says what is wrong.
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE_S = float(os.environ["PATIENCE_S"])
DEVICE = os.environ["DEVICE"]
MPIEXEC = ["mpirun", "--oversubscribe", "-n"]
os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")  # more ranks than cores: waiting ones step aside


def fail(text):
    sys.exit(f"FAILED: {text}")


def run(ranks, case, output, settings=(), *flags, expect=0):
    words = ["vlasov", "run", case, "--output", output, "--quiet", *flags]
    for setting in settings:
        words += ["--set", setting]
    if int(ranks) > 1:
        words = MPIEXEC + [str(ranks)] + words
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=PATIENCE_S)
    if done.returncode != expect:
        fail(f"{output} on {ranks} ranks: exit code {done.returncode}, expected {expect}\n{done.stdout}")


def checkpoints(output):
    folder = f"{output}/checkpoints"
    return sorted(f"{folder}/{name}" for name in os.listdir(folder) if name.endswith(".h5"))


def same(a, b, group="/"):
    """Every dataset and attribute of two files equal to the bit."""
    paths = [group, group] if group != "/" else []
    done = subprocess.run(["h5diff", "-v", a, b, *paths], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = [line for line in done.stdout.splitlines()
             if line.endswith("differences found") and not line.startswith("0 ") or "Not comparable" in line]
    if done.returncode != 0 or found:
        fail(f"{a} and {b} differ in {group}:\n" + "\n".join(found or done.stdout.splitlines()[-20:]))


def dataset(path, name):
    subprocess.run(["h5dump", "-d", name, "-b", "LE", "-o", "dataset.bin", path], check=True, stdout=subprocess.DEVNULL)
    data = open("dataset.bin", "rb").read()
    return struct.unpack(f"<{len(data) // 8}d", data)


def history(path):
    """{name: column} of the history, but for the checksums of its rows: these agree to the bit or not at all."""
    text = subprocess.run(["h5dump", "-y", "-w", "0", "-m", "%.17g", "-A", "0", "-g", "/history", path], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return {name: [float(word) for word in data.split(",") if word.strip()]
            for name, data in re.findall(r'DATASET "(\w+)".*?DATA \{(.*?)\}', text, re.S) if not name.endswith("_checksum")}


def close(a, b, tolerance="1e-9"):
    """Histories agree to `tolerance`, relative to the largest value of a column (of the energy for small ones)."""
    all_ours, all_theirs = history(f"{a}/run.h5"), history(f"{b}/run.h5")
    energy = max(abs(x) for x in all_ours["energy"])
    for name, ours in all_ours.items():
        theirs = all_theirs[name]
        round_off = "_rest_" in name or name in ("gauss_error", "excess_charge")  # differences of the size of others
        scale = max([energy if round_off else 1e-6 * energy] + [abs(x) for x in theirs])
        if len(ours) != len(theirs) or len(ours) < 2:
            fail(f"{a} and {b}: {len(ours)} and {len(theirs)} rows of {name}")
        worst = max(abs(x - y) for x, y in zip(ours, theirs)) / scale
        if not worst <= float(tolerance):
            fail(f"{a} and {b}: {name} differs by {worst:.2e} relative, more than {tolerance}")


def series(data):
    """Times and values of a .gkyl time series: restarts may share them out over other records."""
    times, values, at = b"", b"", 0
    while at < len(data):
        file_type, meta = struct.unpack_from("<QQ", data, at + 13)
        if data[at:at + 5] != b"gkyl0" or file_type != 2:
            return None
        at += 29 + meta
        _, size, n = struct.unpack_from("<3Q", data, at)
        at += 24
        times += data[at:at + 8 * n]
        values += data[at + 8 * n:at + (8 + size) * n]
        at += (8 + size) * n
    return times, values


def same_gkyl(a, b):
    """The .gkyl files of two folders equal to the bit."""
    if sorted(os.listdir(a)) != sorted(os.listdir(b)):
        fail(f"{a} and {b} hold {sorted(os.listdir(a))} and {sorted(os.listdir(b))}")
    for name in os.listdir(a):
        ours, theirs = (open(f"{folder}/{name}", "rb").read() for folder in (a, b))
        if ours != theirs and (series(ours) is None or series(ours) != series(theirs)):
            fail(f"{a}/{name} and {b}/{name} differ")


# ---- subcommands -------------------------------------------------------------------------------------------------


def restart(ranks, case, *settings):
    """Restarted from its second checkpoint = uninterrupted, to the bit: state, history, frames, pictures."""
    for name in ("whole", "again"):
        shutil.rmtree(name, ignore_errors=True)
    run(ranks, case, "whole/run", settings)
    shutil.copytree("whole", "again")
    whole, again = "whole/run", "again/run"
    kept = checkpoints(again)[1]
    for path in checkpoints(again):
        if path > kept:
            os.remove(path)
    os.remove(f"{again}/summary.json")
    run(ranks, case, again, settings, "--restart", "auto")
    if len(checkpoints(whole)) != len(checkpoints(again)) or len(checkpoints(whole)) < 3:
        fail(f"checkpoints: {checkpoints(whole)} and {checkpoints(again)}")
    same(checkpoints(whole)[-1], checkpoints(again)[-1], "/kinetics")
    groups = ["/history", "/frames", "/species", "/fields", "/report"]
    if any("spectrogram" in setting for setting in settings):
        groups.append("/spectrogram")
    for group in groups:
        same(f"{whole}/run.h5", f"{again}/run.h5", group)
    if os.path.isdir(f"{whole}/gkyl"):
        same_gkyl(f"{whole}/gkyl", f"{again}/gkyl")


def ranks_agree(case, *settings):
    """1 = 4 ranks to round-off, and 3 that go on from a checkpoint of one are like it, too."""
    for ranks in (1, 4):
        run(ranks, case, f"ranks{ranks}", settings)
    close("ranks4", "ranks1")
    shutil.copytree("ranks1", "moved")
    for path in checkpoints("moved")[1:]:
        os.remove(path)
    run(3, case, "moved", settings, "--restart", "auto")
    close("moved", "ranks1")
    for name in ("ranks1", "ranks4", "moved"):
        shutil.rmtree(name)


def moves(case, *settings):
    """A run that goes on on 1, 2, 3 and 1 ranks, in the files that one rank began, is that of one to round-off."""
    run(1, case, "stays", settings)
    for ranks, steps in ((1, 6), (2, 12), (3, 18), (1, 24)):
        run(ranks, case, "moves", [*settings, f"time.steps={steps}"], *(["--restart", "auto"] if steps > 6 else []))
    close("moves", "stays")
    for name in ("stays", "moves"):
        shutil.rmtree(name)


def devices_agree(case, *settings):
    """f on a device = f on the host to round-off, and each goes on from the other's checkpoint."""
    devices = ("cpu", DEVICE)
    for device in devices:
        run(1, case, device, [*settings, f"device={device}"])
    close(DEVICE, "cpu")
    for first, second in (devices, devices[::-1]):
        shutil.copytree(first, "moved")
        for path in checkpoints("moved")[2:]:
            os.remove(path)
        run(1, case, "moved", [*settings, f"device={second}"], "--restart", "auto")
        close("moved", "cpu")
        shutil.rmtree("moved")
    for device in devices:
        shutil.rmtree(device)


def devices_share(case, *settings, grids=("", "")):
    """f of 2 and 3 ranks, each on its device = f of one on the host to round-off."""
    run(1, case, "cpu", settings)
    for ranks, grid in zip((2, 3), grids):
        run(ranks, case, "shared", [*settings, f"device={DEVICE}", *([f"parallel.ranks={grid}"] if grid else [])])
        close("shared", "cpu")
        shutil.rmtree("shared")
    shutil.rmtree("cpu")


def devices_share_velocity(case, two, three, *settings):
    """The same with these grids of ranks."""
    devices_share(case, *settings, grids=(two, three))


def has(path, *keys):
    """summary.json is flat and holds these keys."""
    summary = json.load(open(path))
    missing = [key for key in keys if key not in summary]
    if missing:
        fail(f"{path} lacks {', '.join(missing)}: {', '.join(summary)}")


def langmuir(path, tolerance="0.005"):
    """The spectrum of the field has its peak where the dispersion relation has its root, to 0.5 %."""
    summary = json.load(open(path))
    found, root = summary["spectrum_peak_frequency"], summary["frequency_theory"]
    if not abs(found / root - 1) < float(tolerance):
        fail(f"the peak is at {found}, the root at {root}")


def fluid(path):
    """Density, velocity, pressure tensor, temperatures and heat flux of fluid.yaml against the sums that they are."""
    m, beams = 2, [(1.2, (0.5, -0.4, 0.2), (1, 1.2, 0.9)), (0.4, (-0.6, 0.8, 0.3), (0.8, 1, 1.1))]
    n = sum(b[0] for b in beams)
    u = [sum(b[0] * b[1][i] for b in beams) / n for i in range(3)]

    def p(i, j):
        return m * sum(b[0] * ((b[1][i] - u[i]) * (b[1][j] - u[j]) + (i == j) * b[2][i] ** 2) for b in beams)

    def q(i):
        return m / 2 * sum(b[0] * (b[1][i] - u[i]) * (sum((b[1][j] - u[j]) ** 2 + b[2][j] ** 2 for j in range(3))
                                                      + 2 * b[2][i] ** 2) for b in beams)
    expected = {"density": n, "temperature": sum(p(i, i) for i in range(3)) / (3 * n)}
    for i in range(3):
        x = "xyz"[i]
        expected.update({f"velocity_{x}": u[i], f"temperature_{x}": p(i, i) / n, f"heat_flux_{x}": q(i)})
        expected.update({f"pressure_{x}{'xyz'[j]}": p(i, j) for j in range(i, 3)})
    for name, value in expected.items():
        for found in dataset(path, f"/fields/gas_{name}"):
            if not abs(found - value) <= 1e-4:
                fail(f"{name} is {found}, expected {value}")


def between(output, name, low, high):
    """A number of the summary lies between two others."""
    value = json.load(open(f"{output}/summary.json"))[name]
    if not float(low) <= value <= float(high):
        fail(f"{output}: {name} is {value}, expected {low} to {high}")


def mixture(output, drift, nu, mass):
    """Electrons and ions of one density 1 follow du/dt, dE/dt of Haack, Hauck & Murillo (2017) in one velocity direction."""
    nu, m = float(nu), (1.0, float(mass))
    rates = (nu, nu / m[1])

    def slopes(p, e):
        u = [p[s] / m[s] for s in (0, 1)]
        t = [2 * e[s] - m[s] * u[s] ** 2 for s in (0, 1)]
        k = [m[s] * rates[s] for s in (0, 1)]
        mean = (k[0] * u[0] + k[1] * u[1]) / (k[0] + k[1])
        hot = (sum(rates[s] * t[s] + k[s] * (u[s] ** 2 - mean ** 2) for s in (0, 1))) / sum(rates)
        return ([k[s] * (mean - u[s]) for s in (0, 1)],
                [rates[s] * 0.5 * (hot + m[s] * mean ** 2 - t[s] - m[s] * u[s] ** 2) for s in (0, 1)])

    p, e = [float(drift), 0.0], [0.5 * (1 + float(drift) ** 2), 0.5]
    table = history(f"{output}/run.h5")
    n = 5000
    h = table["time"][-1] / n
    for _ in range(n):
        dp, de = slopes(p, e)
        dp, de = slopes([p[s] + 0.5 * h * dp[s] for s in (0, 1)], [e[s] + 0.5 * h * de[s] for s in (0, 1)])
        p, e = [p[s] + h * dp[s] for s in (0, 1)], [e[s] + h * de[s] for s in (0, 1)]
    for s, name in enumerate(("electrons", "ions")):
        for column, expected in (("momentum_x", p[s]), ("kinetic_energy", e[s])):
            if abs(table[f"{name}_{column}"][-1] - expected) > 2e-6:
                fail(f"{output}: {name}_{column} is {table[f'{name}_{column}'][-1]}, expected {expected}")


def cells(output, finest, ratio):
    """Velocity cells are narrowest at a velocity, the widest so many times as wide, and smooth between."""
    finest, ratio = float(finest), float(ratio)
    edges = dataset(f"{output}/run.h5", "species/electrons/edges_vx")
    widths = [b - a for a, b in zip(edges, edges[1:])]
    i = widths.index(min(widths))
    if not edges[i] - 1e-9 <= finest <= edges[i + 1] + 1e-9 and abs(widths[i] - widths[i - 1]) > 1e-9 * widths[i]:
        fail(f"{output}: cells are narrowest from {edges[i]} to {edges[i + 1]}, not at {finest}")
    if edges[0] != -6 or edges[-1] != 6 or abs(max(widths) / min(widths) / ratio - 1) > 1e-9:
        fail(f"{output}: edges {edges}, widths from {min(widths)} to {max(widths)}; expected a ratio of {ratio}")


def silent(folder):
    """The shipped inputs start, and go on for some steps, without a warning."""
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".yaml"):
            continue
        words = ["vlasov", "run", f"{folder}/{name}", "--output", name[:-5], "--set", "time.steps=12",
                 "--set", "history_interval=3"]
        if name.startswith("lower_hybrid"):  # made for many ranks
            words += ["--set", "grid.cells=[4, 48, 8, 8]"]
        if name.startswith(("two_stream", "landau")):  # the rates need the whole run
            words += ["--set", "theory=null"]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S)
        told = [line for line in done.stdout.splitlines() if "warning" in line and "could be fitted" not in line]
        if done.returncode != 0 or told:
            fail(f"{name}: exit code {done.returncode}\n" + "\n".join(told or [done.stdout]))


globals()[sys.argv[1]](*sys.argv[2:])
