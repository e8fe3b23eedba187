"""Runs of the demo that want the same directory. Commands: awaited, beside, elsewhere, ends, race,
race_after_kill, ranks."""
import filecmp
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
PATIENCE_S = float(os.environ["PATIENCE_S"])
SLOW = ["--set", "time.steps=100000", "--set", "pause_ms=10"]


def command(*more, directory="d"):
    return ["demo", "run", str(HERE / "case.yaml"), "--output", directory, *more]


def start(*more, **kw):
    return subprocess.Popen(command(*more, **kw), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_for(path):
    deadline = time.time() + PATIENCE_S
    while time.time() < deadline:
        if pathlib.Path(path).exists():
            return
        time.sleep(0.02)
    sys.exit(f"{path} did not come")


def kill(process, number=signal.SIGKILL):
    process.send_signal(number)
    return process.wait()


def owners(directory="d"):
    return sorted(pathlib.Path(directory, ".quintet").glob("owner_*"))


def check(truth, text):
    if not truth:
        sys.exit(text)


def race(n_rounds, n_starts, before=lambda: None):
    """`n_starts` at once, `n_rounds` times: one is at work, all others end with 2 and name it."""
    for _ in range(n_rounds):
        shutil.rmtree("d", ignore_errors=True)
        before()
        runs = [start("--restart", "auto", *SLOW) for _ in range(n_starts)]
        deadline = time.time() + PATIENCE_S
        while sum(run.poll() is None for run in runs) > 1 and time.time() < deadline:
            time.sleep(0.02)
        left = [run for run in runs if run.poll() is None]
        check(len(left) == 1, f"{len(left)} of {n_starts} are at work")
        wait_for("d/run.h5")
        check(left[0].poll() is None, "the one that went on has ended")
        for run in runs:
            if run is not left[0]:
                text = run.stdout.read()
                check(run.returncode == 2 and f"process {left[0].pid} " in text, f"{run.returncode}: {text}")
        kill(left[0])


def race_after_kill(n_rounds, n_starts):
    def killed():
        run = start(*SLOW)
        wait_for("d/run.h5")
        kill(run)
    race(n_rounds, n_starts, killed)


def same_trees(a, b):
    compared = filecmp.dircmp(a, b, ignore=["run.h5", "progress.json"])  # which are being written
    return not (compared.left_only or compared.right_only or compared.diff_files)


def beside():
    shutil.rmtree("d", ignore_errors=True)
    check(subprocess.run(command("--set", "time.steps=5")).returncode == 0, "no run to begin with")
    live = start("--restart", "auto", *SLOW)
    time.sleep(0.2)
    while "No checkpoint" not in (text := pathlib.Path("d/run.log").read_text()) and "restart:" not in text:
        time.sleep(0.02)
    shutil.rmtree("before", ignore_errors=True)
    shutil.copytree("d", "before")
    for flags in (["--restart", "auto"], ["--overwrite"], ["--restart", "d/checkpoints/step_000000000005.h5"]):
        other = subprocess.run(command(*flags), capture_output=True, text=True)
        check(other.returncode == 2, f"{flags}: {other.returncode}")
        for word in (f"process {live.pid} ", os.uname().nodename, "since 20"):
            check(word in other.stderr, f"{flags}: no '{word}' in {other.stderr}")
        check(same_trees("before", "d") and same_trees("before/.quintet", "d/.quintet"), f"{flags} touched something")
    check(kill(live, signal.SIGTERM) == 75, "the live run did not end as it should")


def owner_elsewhere():
    """A run whose owner's file says that it lives on another machine."""
    shutil.rmtree("d", ignore_errors=True)
    check(subprocess.run(command("--set", "time.steps=5")).returncode == 0, "no run to begin with")
    owner = owners()[-1]
    lines = [line for line in owner.read_text().splitlines() if not line.startswith(("released", "machine", "host"))]
    owner.write_text("\n".join(lines + ["machine: another one", "host: faraway", ""]))
    return owner


def awaited():
    """Under a job script a silent owner is waited for, and one that lives is no reason to end the chain."""
    start = {"env": {**os.environ, "QUINTET_START": "w"}, "capture_output": True, "text": True}
    for rest_s in (1.5, 6, 24):  # of the 120 s of silence; a busy machine may start no run in the first
        os.utime(owner_elsewhere(), (time.time() - 120 + rest_s,) * 2)
        late = subprocess.run(command("--restart", "auto"), **start)
        check(late.returncode == 0, late.stdout + late.stderr)
        if has_waited := "Waiting for its owner" in late.stdout + late.stderr:
            break
    check(has_waited, late.stdout + late.stderr)
    check("code: 0" in pathlib.Path("d/.quintet/last_word_w").read_text(), "no last word")
    owner = owner_elsewhere()
    beats = subprocess.Popen(["sh", "-c", f"while sleep 0.5; do touch {owner}; done"])
    refused = subprocess.run(command("--restart", "auto"), **start)
    beats.kill()
    word = pathlib.Path("d/.quintet/last_word_w").read_text()
    check(refused.returncode == 2 and "directory: in use" in word, refused.stderr + word)


def elsewhere():
    owner = owner_elsewhere()
    young = subprocess.run(command("--restart", "auto"), capture_output=True, text=True)
    check(young.returncode == 2 and "on faraway" in young.stderr and "120 s" in young.stderr, young.stderr)
    check(len(owners()) == 1 and owners()[0] == owner, "the refused start left something")
    os.utime(owner, (time.time() - 90,) * 2)
    check(subprocess.run(command("--restart", "auto"), capture_output=True).returncode == 2, "90 s are not enough")
    os.utime(owner, (time.time() - 130,) * 2)
    old = subprocess.run(command("--restart", "auto"), capture_output=True, text=True)
    check(old.returncode == 0, old.stderr)
    check(len(owners()) == 1 and owners()[0] != owner, "the dead owner was not taken over")


def ends():
    """Exit 0, 2, 3 and 75 release; a refused start in a new directory leaves no directory."""
    fail = ["--set", "failure.at_step=3", "--set", "failure.kind"]
    for flags, code in ((["--set", "time.steps=5"], 0), ([*fail[:3], "failure.kind=input"], 2),
                        ([*fail[:3], "failure.kind=numerical"], 3), (SLOW, 75)):
        shutil.rmtree("d", ignore_errors=True)
        run = start(*flags)
        if code == 75:
            wait_for("d/run.h5")
            time.sleep(0.3)
            run.send_signal(signal.SIGTERM)
        check(run.wait() == code, f"{flags}: {run.returncode}")
        check(len(owners()) == 1 and "released:" in owners()[0].read_text(), f"not released with {code}")
    shutil.rmtree("d")
    check(subprocess.run(command("--set", "memory_gb=1e7")).returncode == 4 and not pathlib.Path("d").exists(),
          "a directory is left")


def ranks():
    shutil.rmtree("d", ignore_errors=True)
    mpi = ["mpirun", "--oversubscribe", "-n", "2"]
    live = subprocess.Popen(mpi + command(*SLOW), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for("d/run.h5")
    for launcher in ([], mpi):
        other = subprocess.run(launcher + command("--restart", "auto"), capture_output=True, text=True)
        check(other.returncode == 2 and "is in use: demo run runs there" in other.stderr, other.stderr)
    live.send_signal(signal.SIGUSR1)
    check(live.wait() == 75, "the live run did not end as it should")
    check(len(owners()) == 1, f"{owners()}")


if __name__ == "__main__":
    globals()[sys.argv[1]](*map(int, sys.argv[2:]))
