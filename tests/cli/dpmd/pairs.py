"""Claims about runs that belong together: stopped and whole, on other ranks and devices, from other starts."""
import contextlib
import json
import math
import os
import random
import shutil
import signal
import subprocess
import time

from runs import COPPER, DEVICE, ENSEMBLES, HERE, MPIEXEC, OBSERVED, PATIENCE_S, checkpoint, close, command, fail, numbers, run, same, thermo, velocities
from structures import case_for, write_xyz


def restart(ensemble, ranks, *more):
    """Killed after the checkpoint of step 20 and restarted = uninterrupted, to the bit."""
    ranks = int(ranks)
    case, settings = case_for(ensemble)
    settings = settings + OBSERVED + list(more)
    run(ranks, case, "whole", settings)
    shutil.copytree("whole", "again")
    os.remove(checkpoint("again", 40))
    os.remove("again/summary.json")
    with open("again/trajectory.xyz", "a") as file:  # a kill in the middle of a frame
        file.write("32\nstep=50 Properties=species:S:1:pos:R:3\nCu 1.0")
    run(ranks, case, "again", settings, "--restart", "auto")
    same(checkpoint("whole", 40), checkpoint("again", 40), "/state")
    for group in ("/thermo", "/observables"):
        same("whole/run.h5", "again/run.h5", group)
    same("whole/trajectory.h5", "again/trajectory.h5", "/particles")
    if open("whole/trajectory.xyz").read() != open("again/trajectory.xyz").read():
        fail("trajectory.xyz of the restarted run is another")
    shutil.rmtree("whole")
    shutil.rmtree("again")


def sides():
    """A run goes through under limits just above what it comes to, and ends with 3 under limits just below."""
    case, every = os.path.join(HERE, "copper.yaml"), ["thermo_interval=1"]
    run(1, case, "free", every)
    table = thermo("free/run.h5")
    drift = max(abs(x - table["conserved"][0]) for x in table["conserved"]) / 32
    for key, value, unit in (("energy_drift", drift, "eV"), ("temperature", max(table["temperature"]), "K")):
        for factor, code in ((1 + 1e-6, 0), (1 - 1e-6, 3)):
            run(1, case, f"{key}_{code}", [*every, f"limits.{key}={value * factor:.12g} {unit}"], expect=code)


def relaxed():
    """Alpha-cristobalite (P4_1 2_1 2; Downs & Palmer 1994, Am. Mineral. 79, 9): relaxed energies lie below those of scaled positions at the
    same volumes, and the minimum is the same from starts off their places."""
    a, c, u, (x, y, z) = 4.971, 6.928, 0.3003, (0.2392, 0.1044, 0.1787)
    silicon = [(u, u, 0), (-u, -u, .5), (.5 - u, .5 + u, .25), (.5 + u, .5 - u, .75)]
    oxygen = [(x, y, z), (-x, -y, z + .5), (.5 - y, .5 + x, z + .25), (.5 + y, .5 - x, z + .75), (.5 - x, .5 + y, .25 - z),
              (.5 + x, .5 - y, .75 - z), (y, x, -z), (-y, -x, .5 - z)]
    case, chosen = os.path.join(HERE, "../../../inputs/dpmd/copper/equation_of_state.yaml"), random.Random(3)
    model = os.path.abspath(os.path.join(HERE, "../../../inputs/dpmd/silica/silica.dp"))
    found = {}
    for name, shift, relax in (("scaled", 0, "false"), ("rest", 0, "true"), ("one", 0.1, "true"), ("other", 0.1, "true")):
        atoms = [(kind, [q * s + chosen.uniform(-shift, shift) for q, s in zip(place, (a, a, c))])
                 for kind, places in (("Si", silicon), ("O", oxygen)) for place in places]
        write_xyz(f"{name}.xyz", atoms, (a, 0, 0, 0, a, 0, 0, 0, c))
        subprocess.run(["dpmd", "equation_of_state", case, "--quiet", "--output", name] + [word for setting in (
            f"system.file={name}.xyz", "system.replicate=[1, 1, 1]", f"potential.model={model}", "reference={}", "range=0.02",
            f"relax={relax}", "force_tolerance=0.02 eV/angstrom" if relax == "true" else "force_tolerance=10 eV/angstrom")
            for word in ("--set", setting)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        volumes, energies = (numbers(f"{name}/run.h5", f"/equation_of_state/{key}") for key in ("volume", "energy"))
        summary = json.load(open(f"{name}/summary.json"))
        found[name] = volumes, energies, summary["energy_ev_per_atom"], summary["volume_per_atom_angstrom3"]
    volumes, energies, energy, volume = found["rest"]
    for v, e in zip(*found["scaled"][:2]):  # of the curves' common part, by linear interpolation: above a convex curve
        for i in range(len(volumes) - 1):
            if volumes[i] <= v <= volumes[i + 1]:
                share = (v - volumes[i]) / (volumes[i + 1] - volumes[i])
                if not (1 - share) * energies[i] + share * energies[i + 1] < e - 1e-4:
                    fail(f"at {v} the relaxed energy is not below {e}")
    if not energy < found["scaled"][2] - 1e-3:
        fail(f"relaxed {energy}, scaled {found['scaled'][2]} eV per atom")
    for name in ("one", "other"):
        if not (abs(found[name][2] - energy) < 1e-5 and abs(found[name][3] / volume - 1) < 1e-3):
            fail(f"from {name}: {found[name][2:]}, from the crystal {energy}, {volume}")


def parseval(group, parts, width, hop):
    """The integral of the spectrum is the mean square of the signals without their means, under Hann's window."""
    spectrum, frequency = (numbers("whole/run.h5", f"/{group}/{name}") for name in ("spectrum", "frequency"))
    window = [math.sin(math.pi * j / width) ** 2 for j in range(width)]
    squares = []
    for part in parts:
        mean = sum(part) / len(part)
        for first in range(0, len(part) - width + 1, hop):
            squares.append(sum((w * (x - mean)) ** 2 for w, x in zip(window, part[first:])) / sum(w * w for w in window))
    expected, found = sum(squares) / len(squares), sum(spectrum) * frequency[1]
    if not abs(found - expected) < 1e-9 * expected:
        fail(f"{group}: the integral is {found}, the mean square {expected}")


def spectra(ranks):
    """What spectrogram and spectrum sample is what thermo table and trajectory hold; a restart is the uninterrupted run. On several
    ranks the sums over atoms and an atom that may change its rank are sampled; to gather a row of the thermo table is one way."""
    case = os.path.join(HERE, "copper.yaml")
    common = ["system.replicate=[2, 2, 3]", "thermo_interval=2", "trajectory={interval: 2, format: xyz, velocities: true}"]
    def atom_of(frame):
        return frame[5][1]
    def three_of(frame):
        return [frame[i][2] for i in (1, 17, 33)]
    def current_of(frame):
        return sum(1.5 * v[2] for v in frame.values())
    signals = [("spectrogram", "signal: pressure_xy", None), ("spectrum", "signal: temperature", None),
               ("spectrogram", "signal: velocity, atom: 5, component: y", atom_of),
               ("spectrum", "signal: velocity, type: Cu, atoms: 3, component: z", three_of),
               ("spectrum", "signal: current, charges: {Cu: 1.5 e}, component: z", current_of)]
    for group, words, of in signals if ranks == "1" else signals[2:]:
        settings = common + [f"observe={{{group}: {{{words}, every: 2, window: 8, hop: 3}}}}"]
        run(int(ranks), case, "whole", settings)
        samples = numbers("whole/run.h5", f"/{group}/signal")
        expected = [of(frame) for frame in velocities("whole/trajectory.xyz")] if of else \
            thermo("whole/run.h5")[words.split()[1]]
        if not len(expected) == 21:
            fail(f"{words}: {len(expected)} samples expected")
        expected = [x if isinstance(x, list) else [x] for x in expected]
        n = 1 + len(expected[0])  # time, and values
        if len(samples) != n * len(expected):
            fail(f"{words}: {len(samples) // n} samples, {len(expected)} expected")
        parts = [[samples[i] for i in range(1 + p, len(samples), n)] for p in range(n - 1)]
        scale = max(abs(x) for row in expected for x in row) if of is not current_of else 1
        worst = max(abs(x - row[p]) for p, part in enumerate(parts) for x, row in zip(part, expected)) / scale
        if not worst < 1e-12:
            fail(f"{words}: off by {worst:.1e} of the largest")
        if of is current_of:  # of one type it is the total momentum: rounding, which has no frequencies
            if "/spectrum/spectrum" in subprocess.check_output(["h5ls", "-r", "whole/run.h5"], text=True):
                fail("the spectrum of a current that is rounding")
        else:
            parseval(group, parts, 8, 3)
        shutil.copytree("whole", "again")
        os.remove(checkpoint("again", 40))
        run(int(ranks), case, "again", settings, "--restart", "auto")
        same("whole/run.h5", "again/run.h5", f"/{group}")
        if ("frames" in subprocess.check_output(["h5ls", f"whole/run.h5/{group}"], text=True)) != (group == "spectrogram"):
            fail(f"{group}: frames")
        shutil.rmtree("whole")
        shutil.rmtree("again")


def ranks_agree(ensemble, *settings):
    """1 rank = 3 that go on from its checkpoint in the middle; the hardest ensemble and the plainest also on 2, and from the start on:
    thermo to 1e-9."""
    case, own = case_for(ensemble)
    settings = own + ["system.replicate=[2, 2, 3]", *settings]
    others = (2, 3) if ensemble in ("nve", "npt_anisotropic") else ()
    run(1, case, "ranks1", settings)
    for ranks in others:
        run(ranks, case, f"ranks{ranks}", settings)
        close(f"ranks{ranks}", "ranks1", 1e-9)
        shutil.rmtree(f"ranks{ranks}")
    shutil.copytree("ranks1", "moved")
    for ranks in others or (3,):
        os.remove(checkpoint("moved", 40))
        run(ranks, case, "moved", settings, "--restart", "auto")
        close("moved", "ranks1", 1e-9)
    for name in ("ranks1", "moved"):
        shutil.rmtree(name)


def relaxed_ranks_agree():
    """Copper off its places comes to the same rest on 1, 2 and 3 ranks, whose bricks of 2.4 angstrom are far thinner than the cutoff."""
    a, h, chosen = 3.6124, 1.8062, random.Random(5)
    atoms = [("Cu", [q * a + x + chosen.uniform(-0.25, 0.25) for q, x in zip((i, j, k), place)])
             for i in (0, 1) for j in (0, 1) for k in (0, 1) for place in ((0, 0, 0), (h, h, 0), (h, 0, h), (0, h, h))]
    write_xyz("far.xyz", atoms, (2 * a, 0, 0, 0, 2 * a, 0, 0, 0, 2 * a))
    found = {}
    for ranks in (1, 2, 3):
        words = ["dpmd", "equation_of_state", f"{COPPER}/equation_of_state.yaml", "--quiet", "--output", f"rest{ranks}"]
        for setting in ("system.file=far.xyz", f"potential.model={COPPER}/copper.dp", "system.replicate=[1, 1, 1]", "relax=true", "points=5",
                        "range=0.02", "reference={}", f"domain.ranks=[{ranks}, 1, 1]"):
            words += ["--set", setting]
        done = subprocess.run(words if ranks == 1 else MPIEXEC + [str(ranks)] + words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=PATIENCE_S)
        if done.returncode != 0:
            fail(f"{ranks} ranks: exit code {done.returncode}\n{done.stdout}")
        found[ranks] = json.load(open(f"rest{ranks}/summary.json"))
        for key in ("energy_ev_per_atom", "volume_per_atom_angstrom3", "bulk_modulus_gpa", "relaxation_steps"):
            if abs(found[ranks][key] / found[1][key] - 1) > 1e-8:
                fail(f"{ranks} ranks: {key} is {found[ranks][key]}, on one rank {found[1][key]}")
    if not found[1]["relaxation_steps"] > 20:
        fail(f"nothing was relaxed: {found[1]}")


def devices_agree(ensemble, *settings):
    """A device = the cpu, on 1 and 2 ranks, and a checkpoint of one goes on on the other: thermo to 1e-9."""
    case, own = case_for(ensemble)
    settings = own + ["system.replicate=[2, 2, 3]", *settings]
    there = settings + [f"device={DEVICE}"]
    run(1, case, "cpu", settings)
    for ranks in (1, 2):
        run(ranks, case, f"device{ranks}", there)
        close(f"device{ranks}", "cpu", 1e-9)
    for moved, kept, on in (("cpu", "there", there), ("device1", "back", settings)):
        shutil.copytree(moved, kept)
        os.remove(checkpoint(kept, 40))
        run(1, case, kept, on, "--restart", "auto")
        close(kept, "cpu", 1e-9)
    for name in ("cpu", "device1", "device2", "there", "back"):
        shutil.rmtree(name)


def messages_agree():
    """Messages from the memory of the device and through the host: the same run, to the bit."""
    case, settings = case_for("frozen")
    settings = settings + [f"device={DEVICE}", "system.replicate=[2, 2, 3]"]
    run(2, case, "direct", settings)
    os.environ["QUINTET_GPU_AWARE_MPI"] = "0"
    run(2, case, "staged", settings)
    same("direct/run.h5", "staged/run.h5", "/thermo")
    same(checkpoint("direct", 40), checkpoint("staged", 40), "/state")
    direct = "; MPI" if DEVICE == "gpu" else "; MPI reads its memory"  # not every MPI reads that of a GPU
    for name, words in (("direct", direct), ("staged", "; MPI does not read its memory (QUINTET_GPU_AWARE_MPI=0)")):
        if words not in json.load(open(f"{name}/summary.json"))["device"]:
            fail(f"{name}/summary.json does not say: {words}")
        shutil.rmtree(name)


def children(pid):
    try:
        return [int(word) for word in open(f"/proc/{pid}/task/{pid}/children").read().split()]
    except OSError:
        return []


def kill(ranks, times, steps):
    """kill -9 at random moments, --restart auto after each: the end is that of a run left alone."""
    ranks, case = int(ranks), os.path.join(HERE, "copper.yaml")
    settings = [*ENSEMBLES["langevin"], f"time.steps={steps}", "checkpoint_interval=25", "trajectory={interval: 100}"]
    run(ranks, case, "whole", settings)
    chosen = random.Random(7)
    kills = 0
    while kills < int(times):
        before = newest("killed")
        process = subprocess.Popen(command(ranks, case, "killed", settings, "--restart", "auto"),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while newest("killed") == before and process.poll() is None:
            time.sleep(0.01)
        time.sleep(chosen.uniform(0, 0.3))
        if process.poll() is not None:
            break
        for pid in children(process.pid) if ranks > 1 else [process.pid]:
            with contextlib.suppress(ProcessLookupError):  # the end of another may have ended it
                os.kill(pid, signal.SIGKILL)
        process.wait()
        kills += 1
    if kills == 0:
        fail("the run was too short to be killed")
    run(ranks, case, "killed", settings, "--restart", "auto")
    print(f"{kills} kills")
    same(checkpoint("whole", int(steps)), checkpoint("killed", int(steps)), "/state")
    # A kill within the flush of a file may leave it unreadable: it is put aside, and rows before the checkpoint are lost (docs/reliability.md).
    for name, group in (("run.h5", "/thermo"), ("trajectory.h5", "/particles")):
        if not [other for other in os.listdir("killed") if other.startswith(name[:-3] + ".damaged")]:
            same(f"whole/{name}", f"killed/{name}", group)


def newest(output):
    names = os.listdir(f"{output}/checkpoints") if os.path.isdir(f"{output}/checkpoints") else []
    return max((name for name in names if name.endswith(".h5")), default="")
