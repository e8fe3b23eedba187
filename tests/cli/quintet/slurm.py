#!/usr/bin/env python3
"""`quintet submit`, `status` and `cancel` on a real Slurm (slurm_cluster.py): warned, killed, restarted, and bitwise the same.

Usage: slurm.py BUILD SOURCE [TEST...]; without names, all of them. Works in a temporary folder.
Ends with 77 (skipped) and says why where no Slurm can be started.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from slurm_cluster import in_jobs, run_tests

BUILD, SOURCE = map(os.path.abspath, sys.argv[1:3])
BIN = os.path.join(BUILD, "bin")
QUINTET = os.path.join(BIN, "quintet")
PATIENCE = int(os.environ.get("QUINTET_TEST_PATIENCE", "1"))
MACHINE = """name: one_node
scheduler: {kind: slurm}
queues:
  - {name: cpu, nodes_max: 1, cores: 2, walltime_max: 1 h}
limits: {array_tasks: 1000}
launch:
  command: mpirun -np {ranks} --oversubscribe
stop: {WARNING, margin: 50 s}
"""


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def run(*words, code=0):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    check(done.returncode == code, f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def machine(name, warning="grace: 5 s"):
    path = pathlib.Path(f"{name}.yaml")
    path.write_text(MACHINE.replace("WARNING", warning))
    return ["--machine", f"./{path}"]


def wait_for(ready, what, limit=120):
    """What mostly asks Slurm, a process each time: more seldom the longer it takes."""
    begin = time.time()
    while not ready():
        waited = time.time() - begin
        check(waited < limit * PATIENCE, f"waited in vain for {what}\n" + logs())
        time.sleep(min(max(0.1, waited / 10), 1))


def logs():
    return "\n".join(f"== {path}\n{path.read_text(errors='replace')[-1500:]}" for path in pathlib.Path(".").rglob("*.log")
                     if path.name in ("job.log", "scheduler.log"))


def states():
    """States of all jobs, by id."""
    lines = run("squeue", "--noheader", "--states=all", "--format=%i|%T").split()
    return dict(line.split("|") for line in lines)


def ids(directory):
    return re.findall(r"[0-9]+", re.search(r"^ids: (.*)$", pathlib.Path(directory, "jobs.yaml").read_text(), re.M).group(1))


def wait_for_end(directory, limit=300):
    def live():
        """Jobs that are in the queue; an array's tasks count as the array."""
        return run("squeue", "--noheader", "--format=%F").split()
    wait_for(lambda: not set(ids(directory)) & set(live()), f"the end of {directory}", limit)


def has_checkpoint(directory):
    """Of a step behind the start."""
    return newest(directory) > 0


def newest(directory):
    return max((int(path.stem[5:]) for path in pathlib.Path(directory, "checkpoints").glob("step_*.h5")), default=-1)


def step_told(directory):
    path = pathlib.Path(directory, "progress.json")
    return json.loads(path.read_text())["step"] if path.exists() else -1


def same(a, b, groups, file="run.h5"):
    for group in groups:
        run("h5diff", f"{a}/{file}", f"{b}/{file}", group)


def log_of(directory):
    return pathlib.Path(directory, "job.log").read_text()


def ranks_of(program):
    return [rank for ranks in in_jobs(os.path.join(BIN, program)).values() for rank in ranks]


def ask_to_stop(directory, job, program):
    """A running job that has come further is signalled, at its script alone as by --signal=B:."""
    wait_for(lambda: states()[job] == "RUNNING" and ranks_of(program), "a running job")
    before = newest(directory)
    wait_for(lambda: newest(directory) > before, "a new checkpoint")
    run("scancel", "--signal=USR1", "--batch", job)
    wait_for(lambda: states()[job] not in ("RUNNING", "COMPLETING"), "its end")


def dynamics():
    """dpmd: of a chain the first job loses a rank by SIGKILL, the second is signalled, the third finishes: the same bits."""
    text = pathlib.Path(SOURCE) / "inputs/dpmd/copper/nvt.yaml"
    settings = ["--set", "system.replicate=[3,3,3]", "--set", "time.steps=1500", "--set", "checkpoint_interval=20"]
    run("mpirun", "-np", "2", "--oversubscribe", f"{BIN}/dpmd", "run", text, *settings, "--output", "md_whole", "--quiet")
    words = [QUINTET, "submit", text, "--app", "dpmd", *machine("one"), "--walltime", "00:20:00", "--ranks-per-node", "2", "--threads", "1",
             "--output", "md", *settings]
    check("Queued" in run(*words, "--chain", "4"), "not queued")
    again = run(*words, "--no-plan", code=2)  # at once: the first job runs meanwhile
    check("Nothing was queued" in again or "is in use" in again, again)
    wait_for(lambda: has_checkpoint("md") and ranks_of("dpmd"), "a checkpoint of md")
    os.kill(ranks_of("dpmd")[-1], signal.SIGKILL)
    status = run(QUINTET, "status", "md")
    check(re.search(r"^md +running +[0-9]", status, re.M) and "PENDING" in status, status)
    ask_to_stop("md", ids("md")[1], "dpmd")
    wait_for_end("md")
    log = log_of("md")
    check("no last word" in log and "the next job goes on from checkpoint" in log, log)
    check("stopped early with a checkpoint (SIGUSR1)" in log, log)
    check("Nothing to do: exit code 0" in log and log.count("Goes on from step") == 2, log)
    same("md_whole", "md", ["/thermo", "/observables"])
    check(" done" in run(QUINTET, "status", "md"), run(QUINTET, "status", "md"))


def plasma():
    """vlasov: a signal to the script reaches all ranks through mpirun, as USR1, and each job goes on from the last one's state."""
    text = pathlib.Path(SOURCE) / "inputs/vlasov/two_stream.yaml"
    settings = ["--set", "time.end=18", "--set", "checkpoint_interval=200"]
    run("mpirun", "-np", "2", "--oversubscribe", f"{BIN}/vlasov", "run", text, *settings, "--output", "plasma_whole", "--quiet")
    run(QUINTET, "submit", text, "--app", "vlasov", *machine("one"), "--walltime", "00:20:00", "--chain", "4", "--ranks-per-node", "2", "--threads", "1",
        "--output", "plasma", *settings)
    for job in ids("plasma")[:2]:
        ask_to_stop("plasma", job, "vlasov")
    wait_for_end("plasma")
    log = log_of("plasma")
    check(log.count("with a checkpoint (SIGUSR1)") == 2 and log.count("Goes on from step") == 2, log)
    same("plasma_whole", "plasma", ["/coefficients", "/fields", "/history"])


def taken():
    """What takes a job from its node (requeue, scancel) tells mpirun to end, whose code is no last word: checkpoints are written, nothing is
    lost, and where the launcher fails before the program begins the next link tries again.

    A requeued job may come back before or behind the next link. So whichever link runs is taken: they get a pass one at a time, and the run
    is too long to end until the last one has its pass."""
    text = pathlib.Path(SOURCE) / "inputs/dpmd/copper/nvt.yaml"
    settings = ["--set", "system.replicate=[3,3,3]", "--set", "checkpoint_interval=1000000"]
    launcher = pathlib.Path("launch")
    launcher.write_text("#!/bin/sh\n[ -e failed ] || { touch failed; echo 'Socket timed out' >&2; exit 1; }\n"
                        "until rm pass 2> /dev/null; do sleep 0.1; done\nexec mpirun \"$@\"\n")
    launcher.chmod(0o755)
    here = machine("fails", "grace: 8 s")
    file = pathlib.Path("fails.yaml")
    file.write_text(file.read_text().replace("command: mpirun", f"command: {launcher.resolve()}"))
    run(QUINTET, "submit", text, "--app", "dpmd", *here, "--walltime", "00:20:00", "--ranks-per-node", "1", "--threads", "1", *settings,
        "--set", "time.steps=1000000", "--no-plan", "--chain", "4", "--output", "taken")
    for take in (("scontrol", "requeue"), ("scancel",), ("scancel", "--signal=TERM", "--full")):
        before = newest("taken")
        pathlib.Path("taken/pass").touch()
        wait_for(lambda: ranks_of("dpmd") and step_told("taken") > max(before, 0), "a step of a link")
        job, = in_jobs(f"{BIN}/dpmd")
        run(*take, job)
        wait_for(lambda: not ranks_of("dpmd"), f"the end of {job}")
        check(newest("taken") > before, f"no checkpoint after {take}: {before}\n" + log_of("taken"))
    input_file = pathlib.Path("taken/nvt.yaml")
    steps = newest("taken") + 100
    shorter, n = re.subn(r"\bsteps: 1000000\b", f"steps: {steps}", input_file.read_text())
    check(n == 1, input_file.read_text())
    input_file.write_text(shorter)
    pathlib.Path("taken/pass").touch()
    wait_for_end("taken")
    log = log_of("taken")
    check("no last word (code 1 of the launcher)" in log and log.count("stopped early with a checkpoint") == 3, log)
    check("Nothing to do" not in log and pathlib.Path("taken/job.ended").read_text() == "exit code 0\n", log)
    check(states()[job] == "COMPLETED", states())
    run(f"{BIN}/dpmd", "run", text, *settings, "--set", f"time.steps={steps}", "--threads", "1", "--output", "taken_whole", "--quiet")
    same("taken_whole", "taken", ["/thermo", "/observables"])


def limit_begins():
    """The scheduler's own warning, its end of a job that does not heed it, and the next job after that.

    Slurm's shortest limit is a minute, and it looks at limits twice a minute: other tests run meanwhile. The program only notes USR1; in
    the second job it is done at once."""
    program = pathlib.Path("waits")
    program.write_text("#!/bin/bash\n[ -e asked ] && { printf 'start: %s\\ncode: 0\\n' $QUINTET_START > .quintet/last_word_$QUINTET_START; exit 0; }\n"
                       "mkdir checkpoints; touch checkpoints/step_1.h5\n"
                       "trap 'touch asked' USR1\nwhile :; do sleep 0.2; done\n")
    program.chmod(0o755)
    pathlib.Path("warned").mkdir()
    script = run(QUINTET, "submit", pathlib.Path(SOURCE) / "inputs/vlasov/two_stream.yaml", "--app", "vlasov", *machine("warns", "warning: 40 s"),
                 "--walltime", "00:01:00", "--margin", "1 s", "--ranks-per-node", "1", "--output", "warned", "--dry-run", "--no-plan")
    script = script[script.index("#!"):script.rindex("exit $code") + len("exit $code\n")]
    script, n = re.subn(r"^mpirun .*\n.*&$", f"{program.resolve()} &", script, flags=re.M)
    check(n == 1 and "#SBATCH --signal=B:USR1@40" in script, script)
    pathlib.Path("warned.sh").write_text(script)
    first = run("sbatch", "--parsable", "warned.sh").strip()
    second = run("sbatch", "--parsable", f"--dependency=afterany:{first}", "warned.sh").strip()
    pathlib.Path("warned.ids").write_text(f"{first} {second}")


def limit_ends():
    """What has become of the jobs of limit_begins()."""
    first, second = pathlib.Path("warned.ids").read_text().split()
    wait_for(lambda: states()[second] not in ("PENDING", "RUNNING", "COMPLETING"), "the job after the warned one", 180)
    check(states()[first] == "TIMEOUT" and pathlib.Path("warned/asked").exists(), str(states()))
    check(pathlib.Path("warned/job.ended").read_text() == "exit code 0\n", log_of("warned"))


def training():
    """podlstm train: a job stops by its --walltime, a new submission goes on from there, and the model has the same bits."""
    run(f"{BUILD}/tests/podlstm_case", "weekly", "weekly.h5")
    text = pathlib.Path(SOURCE) / "tests/cli/podlstm/train.yaml"
    settings = ["--set", "modes=weekly.h5", "--set", "forecast.members=3", "--set", "forecast.training.epochs=300",
                "--set", 'forecast.network.nodes=["48"]', "--set", "checkpoint_interval=20"]
    run(f"{BIN}/podlstm", "train", text, *settings, "--threads", "1", "--output", "trained_whole", "--quiet")
    words = [QUINTET, "submit", text, "--app", "podlstm", *machine("one"), "--ranks-per-node", "1", "--threads", "1", "--output", "trained", *settings]
    run(*words, "--walltime", "00:01:00", "--margin", "57 s")
    wait_for_end("trained")
    log = log_of("trained")
    check("stopped early with a checkpoint" in log and "is nearly used" in log, log)
    check("already holds a run" in run(*words, "--walltime", "00:20:00", code=2), "went on unasked")
    run(*words, "--walltime", "00:20:00", "--restart", "auto")
    wait_for_end("trained")
    names = [line.split()[0] for line in run("h5ls", "trained/model.h5").splitlines()]
    check(names, "an empty model")
    same("trained_whole", "trained", [f"/{name}" for name in names], "model.h5")  # the root has date and run, which differ


def cancelled():
    """A running job leaves a checkpoint, waiting ones never begin, and a new chain goes on from there."""
    text = pathlib.Path(SOURCE) / "inputs/dpmd/copper/nvt.yaml"
    words = [QUINTET, "submit", text, "--app", "dpmd", *machine("one"), "--walltime", "00:05:00", "--ranks-per-node", "1", "--threads", "1",
             "--output", "stopped", "--set", "checkpoint_interval=20"]
    run(*words, "--chain", "3", "--set", "time.steps=1000000")
    wait_for(lambda: has_checkpoint("stopped"), "a checkpoint")
    first = ids("stopped")
    said = run(QUINTET, "cancel", "stopped")
    check("asked for a checkpoint" in said and said.count("removed from the queue") == 2, said)
    wait_for_end("stopped")
    check("stopped early with a checkpoint" in log_of("stopped"), log_of("stopped"))
    final = states()
    check([final[job] for job in first[1:]] == ["CANCELLED", "CANCELLED"], str(final))
    check("cancelled" in run(QUINTET, "status", "stopped"), run(QUINTET, "status", "stopped"))
    run(*words, "--set", "time.steps=200", "--restart", "auto", code=0)
    run(QUINTET, "cancel", "stopped", "--now")
    wait_for_end("stopped")


def array():
    """A sweep is an array: one table, a folder a point."""
    case = pathlib.Path("sweep.yaml")
    text = (pathlib.Path(SOURCE) / "inputs/vlasov/two_stream.yaml").read_text()
    case.write_text(text + "\nsweep: {time.end: [1, 2, 3]}\n")
    run(QUINTET, "submit", case, *machine("one"), "--walltime", "00:02:00", "--ranks-per-node", "1", "--threads", "1", "--output", "swept")
    wait_for_end("swept")
    table = run(QUINTET, "status", "swept")
    check(len(re.findall(r"^000[0-2] +done .*time.end=[1-3]$", table, re.M)) == 3, table)
    check("0002/report.html" in pathlib.Path("swept/index.html").read_text(), "no report of the sweep")


def campaign():
    """Stages are arrays that wait for each other, tasks of like arrays for their own (the last of `square` ends when the first of
    `after` has begun); an item that is stopped before its limit goes on in the next link."""
    pathlib.Path("stopped.py").write_text((pathlib.Path(SOURCE) / "tests/cli/quintet/campaign_stopped.py").read_text())
    pathlib.Path("campaign.yaml").write_text("""stages:
  - {name: square, sweep: {n: [1, 2, 3]}, outputs: [x], walltime: 60 s,
     command: [sh, -c, 'until [ {n} != 3 -o -e {here}/after.1 ]; do sleep 0.1; done; echo $(({n} * {n})) > x']}
  - {name: after, each: square, command: [sh, -c, 'touch {here}/after.{n}'], walltime: 60 s}
  - {name: long, command: [python3, '{here}/stopped.py'], again: [more], walltime: 60 s}
  - {name: sum, needs: [square, long], command: [sh, -c, 'cat "$@" > all', sh, '{square}/x', '{long}/words'], outputs: [all], walltime: 60 s}
""")
    said = run(QUINTET, "campaign", "campaign.yaml", *machine("one"), "--chain", "2", "--output", "many")
    check("8 jobs are queued" in said, said)
    wait_for_end("many")
    said = run(QUINTET, "campaign", "status", "campaign.yaml", "--output", "many")
    check("8 of 8 items are done" in said, said + "".join(path.read_text() for path in pathlib.Path("many/jobs").glob("*/*.log")))
    lines = next(pathlib.Path("many/store").glob("*/all")).read_text().split()
    check(lines == ["1", "4", "9", "begin", "ready", "more"], lines)
    said = run(QUINTET, "campaign", "campaign.yaml", *machine("one"), "--output", "many")
    check("0 jobs are queued" in said, said)


if __name__ == "__main__":
    sys.exit(run_tests([globals()[name] for name in sys.argv[3:]] or
                       [limit_begins, dynamics, plasma, training, cancelled, array, campaign, taken, limit_ends]))
