#!/usr/bin/env python3
"""Heads, environments and ends of jobs on a real Slurm (slurm_cluster.py) whose limits of memory the kernel enforces.

Usage: slurm_heads.py BUILD SOURCE [TEST...]. Works in a temporary folder. The program of each job is a stand-in: what is tried is what
comes before it and after it. Ends with 77 (skipped) and says why where no Slurm can be started.
"""
import json
import os
import pathlib
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from slurm_cluster import run_tests

BUILD, SOURCE = map(os.path.abspath, sys.argv[1:3])
QUINTET = os.path.join(BUILD, "bin", "quintet")
PATIENCE = int(os.environ.get("QUINTET_TEST_PATIENCE", "1"))
WAVE = os.path.join(SOURCE, "tests/cli/vlasov/wave.yaml")
MACHINE = """name: one_node
scheduler: {kind: slurm}
queues:
  - {name: cpu, nodes_max: 1, cores: 2, memory: MEMORY, walltime_max: 1 h, options: [OPTIONS]}
limits: {array_tasks: 1000}
environment: {variables: [FOO=hello]}
launch: {command: LAUNCH}
stop: {margin: 50 s}
"""
# What the program says is what job.sh believes (docs/machines.md).
LAST_WORD = """mkdir -p .quintet checkpoints
[ ! "$QUINTET_START" ] || printf 'start: %s\\ncode: 0\\n' "$QUINTET_START" > ".quintet/last_word_$QUINTET_START"
"""


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def run(*words, code=0, **environment):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env={**os.environ, **environment})
    check(done.returncode == code, f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def machine(name, launch, options="", memory="2 GB"):
    """A machine whose launch line is a program of this text."""
    program = pathlib.Path(f"{name}_launch").resolve()
    program.write_text("#!/bin/bash\n" + launch)
    program.chmod(0o755)
    text = MACHINE.replace("LAUNCH", f"'{program}'" if launch else "srun").replace("OPTIONS", options).replace("MEMORY", memory)
    pathlib.Path(f"{name}.yaml").write_text(text)
    return ["--machine", f"./{name}.yaml", "--app", "vlasov", "--no-plan", "--ranks-per-node", "1", "--threads", "1", "--walltime", "00:05:00"]


def wait_for(ready, directory):
    begin = time.time()
    while not ready():
        check(time.time() - begin < 60 * PATIENCE, f"waited in vain for {directory}\n" + logs(directory))
        time.sleep(0.2)


def status(directory):
    return json.loads(run(QUINTET, "status", directory, "--json"))


def wait_for_end(directory):
    wait_for(lambda: all(job["state"] not in ("waiting", "running") for job in status(directory)["jobs"]), directory)
    return status(directory)


def logs(directory):
    return "\n".join(f"== {path}\n{path.read_text(errors='replace')[-1500:]}" for path in pathlib.Path(directory).rglob("*.log"))


def paths():
    """Whatever Slurm or a shell would take for something else, in a name of a folder."""
    words = machine("paths", LAST_WORD + 'pwd\nprintf "%s|" "$@"\n')
    names = ["100%a %j it's", "ümlaut a:b", 'q"uote $HOME;#']
    for name in names:
        run(QUINTET, "submit", WAVE, *words, "--output", f"x/{name}/run")
    for name in names:
        told = wait_for_end(f"x/{name}/run")
        check(told["jobs"][0]["end"] == "completed", f"{name}: {told}\n" + logs(f"x/{name}/run"))
        log = pathlib.Path(f"x/{name}/run/job.log").read_text()
        check(f"/x/{name}/run\n" in log and f"/x/{name}/run|" in log, log)
        check(pathlib.Path(f"x/{name}/run/job.ended").read_text() == "exit code 0\n", log)
    said = run(QUINTET, "submit", WAVE, *words, "--output", "x/new\nline", code=2)
    check("--output DIR" in said and not pathlib.Path("x/new\nline").exists(), said)


def environment():
    """The shell's own job and options do not reach the job, whose ranks have the script's variables even with --export=NONE."""
    shell = {"SBATCH_PARTITION": "nowhere", "SBATCH_TIMELIMIT": "9-0", "SLURM_MEM_PER_CPU": "7", "SLURM_NTASKS": "77", "SLURM_JOB_ID": "4711",
             "SQUEUE_STATES": "FAILED", "SQUEUE_FORMAT": "%i", "SBATCH_MEM_PER_CPU": "5", "BAR": "mine"}
    program = LAST_WORD + 'echo "FOO=$FOO BAR=$BAR mem=$SLURM_MEM_PER_NODE/$SLURM_MEM_PER_CPU"\n'
    words = machine("shell", program, "--mem-per-cpu=900M")
    run(QUINTET, "submit", WAVE, *words, "--memory", "100 MB", "--output", "shell", **shell)
    exported = machine("exported", "", "--export=NONE")
    script = run(QUINTET, "submit", WAVE, *exported, "--output", "exported", "--dry-run")
    told = wait_for_end("shell")
    check(told["jobs"][0]["end"] == "completed", logs("shell"))
    log = pathlib.Path("shell/job.log").read_text()
    check("FOO=hello BAR=mine mem=95/" in log and "mem=95/7" not in log and "mem=95/5" not in log, log)
    check("#SBATCH --export=NONE" in script, script)
    # srun in the place of job.sh's program: does a rank see what the script has set?
    pathlib.Path("exported").mkdir()
    lines = script[script.index("#!"):script.index("export FOO=hello")] + "export FOO=hello\nsrun sh -c 'echo rank FOO=$FOO'\n"
    pathlib.Path("exported.sh").write_text(lines.replace("exec >> job.log", "exec >> ranks.log"))
    run("sbatch", "exported.sh")
    ranks = pathlib.Path("exported/ranks.log")
    wait_for(lambda: ranks.exists() and "rank FOO=" in ranks.read_text(), "exported")
    check("rank FOO=hello" in ranks.read_text(), logs("exported"))


def tasks():
    """Each task of an array has a log of its own, and status says which failed, why, and where to read."""
    program = 'mkdir -p .quintet\ncase $PWD in *1) code=3;; *) code=0;; esac\nscontrol show job "$SLURM_JOB_ID" >&2\n' \
              "printf 'start: %s\\ncode: %s\\n' \"$QUINTET_START\" $code > \".quintet/last_word_$QUINTET_START\"\nexit $code\n"
    pathlib.Path("sweep.yaml").write_text(pathlib.Path(WAVE).read_text() + "\nsweep: {time.end: [1, 2, 3]}\n")
    words = machine("tasks", program)
    run(QUINTET, "submit", "sweep.yaml", *words, "--output", "swept")
    told = wait_for_end("swept")
    check(sorted(path.name for path in pathlib.Path("swept").glob("scheduler*")) == [f"scheduler_{n}.log" for n in range(3)], os.listdir("swept"))
    ends = {task["task"]: task["end"] for task in told["jobs"][0]["tasks"]}
    check(ends == {0: "completed", 1: "failed", 2: "completed"}, told)
    check(told["runs"][1]["logs"][-1].endswith("/swept/scheduler_1.log") and "job.log" in told["runs"][1]["trouble"], told["runs"][1])
    check("0001: job" in run(QUINTET, "status", "swept"), run(QUINTET, "status", "swept"))


def memory():
    """A job that the kernel kills for want of memory: the next link asks for twice as much, within what a node has, and it is done."""
    program = LAST_WORD.replace("[ !", "python3 -c 'x = bytearray(150 << 20); print(\"held\")' || exit 137\n[ !")
    words = machine("memory", program)
    run(QUINTET, "submit", WAVE, *words, "--memory", "60 MB", "--retry", "memory=4", "--chain", "3", "--output", "grown")
    told = wait_for_end("grown")
    log = pathlib.Path("grown/job.log").read_text()
    ends = [job["end"] for job in told["jobs"]]
    check(ends[0] == "out_of_memory" and ends[1] == "completed" and ends[3] == "completed", f"{told}\n{log}")
    check("had too little memory: 0.24 GB a node are asked for in place of 0.06 GB" in log and "held" in log, log)
    check("other jobs take the place of this one" in log, log)
    check(pathlib.Path("grown/job.ended").read_text() == "exit code 0\n", log)
    check(len(told["asked_anew"]) == 1 and len(told["jobs"]) == 5, told)
    check([job["end"] for job in told["jobs"][2:3]] == ["cancelled"], told)
    # What no node has is not asked for: the chain ends by its own rule, and says why.
    few = machine("few", program, memory="65 MB")
    run(QUINTET, "submit", WAVE, *few, "--memory", "60 MB", "--chain", "2", "--retry", "memory=1", "--output", "few")
    told = wait_for_end("few")
    log = pathlib.Path("few/job.log").read_text()
    check("had too little memory (retry.memory is 1" in log, log)
    check("used more memory than it had" in run(QUINTET, "status", "few"), run(QUINTET, "status", "few"))


def memory_of_tasks():
    """One task of an array has too little: the tasks that are done stay so, the one that is not runs in an array that has more."""
    hungry = "case $PWD in *1) python3 -c 'x = bytearray(150 << 20)' || exit 137;; esac\n"
    words = machine("hungry", hungry + LAST_WORD)
    pathlib.Path("hungry_sweep.yaml").write_text(pathlib.Path(WAVE).read_text() + "\nsweep: {time.end: [1, 2, 3]}\n")
    run(QUINTET, "submit", "hungry_sweep.yaml", *words, "--memory", "60 MB", "--retry", "memory=4", "--chain", "2", "--output", "tasks")
    told = wait_for_end("tasks")
    ends = [{task["task"]: task["end"] for task in job["tasks"]} for job in told["jobs"]]
    check(ends[0] == {0: "completed", 1: "out_of_memory", 2: "completed"} and len(ends) == 3, told)
    check([run["ended"] for run in told["runs"]] == ["exit code 0"] * 3, f"{told}\n" + logs("tasks"))
    check(len(told["asked_anew"]) == 1 and "0.24 GB a node" in told["asked_anew"][0], told)


def node():
    """The only node fails under a job: the next link, once it is back, learns of it, may not leave it out, and goes on as it was."""
    program = "[ -e tried ] || { touch tried; exec sleep 60; }\n" + LAST_WORD
    words = machine("node", program, "--no-requeue")
    run(QUINTET, "submit", WAVE, *words, "--chain", "2", "--output", "lost")
    wait_for(lambda: pathlib.Path("lost/tried").exists(), "lost")
    name = subprocess.run(["sinfo", "-h", "-o", "%N"], capture_output=True, text=True).stdout.strip()
    run("scontrol", "update", f"nodename={name}", "state=down", "reason=test")
    wait_for(lambda: status("lost")["jobs"][0]["end"] == "node_failure", "lost")
    subprocess.run(["scontrol", "update", f"nodename={name}", "state=resume"], capture_output=True)  # it may be back by itself
    told = wait_for_end("lost")
    check(told["jobs"][0]["nodes"] == name and told["jobs"][0]["meaning"] == "a node of it failed", told)
    log = pathlib.Path("lost/job.log").read_text()
    check(f"lost a node: {name} is left out" in log and "the chain goes on as it was" in log, log)
    check(told["jobs"][1]["end"] == "completed" and len(told["jobs"]) == 2, f"{told}\n{log}")


if __name__ == "__main__":
    sys.exit(run_tests([globals()[name] for name in sys.argv[3:]] or [paths, environment, tasks, memory, memory_of_tasks, node], constrains_memory=True))
