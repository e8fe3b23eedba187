#!/usr/bin/env python3
"""Campaigns on a real Slurm (slurm_cluster.py): pilots, one of them killed; a chain of them ended by their time; a file edited while jobs wait.

Usage: slurm_campaign.py BUILD [TEST...]. Works in a temporary folder. Ends with 77 (skipped) and says why where no Slurm can be started.
"""
import collections
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from slurm_cluster import in_jobs, run_tests

QUINTET = os.path.join(os.path.abspath(sys.argv[1]), "bin", "quintet")
PATIENCE = 120 * int(os.environ.get("QUINTET_TEST_PATIENCE", "1"))
MACHINE = """name: one_node
scheduler: {kind: slurm}
queues: [{name: cpu, nodes_max: 1, cores: CORES, walltime_max: 1 h, walltime_default: 10 min}]
launch: {command: 'mpirun -np {ranks} --oversubscribe'}
stop: {margin: MARGIN}
"""


def run(*words, code=0):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == code, f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def machine(name, cores, margin):
    pathlib.Path(f"{name}.yaml").write_text(MACHINE.replace("CORES", str(cores)).replace("MARGIN", margin))
    return ["--machine", f"./{name}.yaml", "--queue", "cpu"]


def wait_for(ready, what):
    begin = time.time()
    while not ready():
        logs = "".join(path.read_text(errors="replace") for path in pathlib.Path(".").glob("*/jobs/*/*.log"))
        assert time.time() - begin < PATIENCE, f"waited in vain for {what}\n{run('squeue')}\n{logs}"
        time.sleep(0.2)


def wait_for_end():
    wait_for(lambda: not run("squeue", "--noheader", "--format=%i").split(), "the end of all jobs")


def logs(directory):
    return "".join(path.read_text(errors="replace") for path in sorted(pathlib.Path(directory, "jobs").glob("*/*.log")))


def pilots():
    """Two at once; one loses its process by SIGKILL; items of ranks run, too; all is done, nothing twice."""
    pathlib.Path("deep.yaml").write_text("""stages:
  - {name: one, sweep: {i: [%s]}, command: [sh, -c, 'sleep 0.3; echo {i} > x; echo {i} >> {here}/done'], outputs: [x]}
  - {name: two, each: one, ranks: 2, command: ['{launch}', sh, -c, 'echo > rank.$OMPI_COMM_WORLD_RANK; : {i}'], outputs: [rank.0, rank.1]}
""" % ", ".join(map(str, range(16))))
    said = run(QUINTET, "campaign", "deep.yaml", *machine("two_cores", 2, "1 min"), "--pilot", "--jobs", "2", "--walltime", "00:10:00", "--output", "deep")
    assert "2 pilots of 1 node of cpu" in said, said
    wait_for(lambda: len(in_jobs(QUINTET, "--pilot")) == 2 and len(list(pathlib.Path("deep/store").glob("*/x"))) > 1, "two pilots")
    killed, processes = sorted(in_jobs(QUINTET, "--pilot").items())[0]
    os.kill(processes[-1], signal.SIGKILL)
    wait_for_end()
    said = run(QUINTET, "campaign", "status", "deep.yaml", "--output", "deep")
    assert "32 of 32 items are done" in said, said + logs("deep")
    times = collections.Counter(pathlib.Path("done").read_text().split())
    assert len(times) == 16 and sum(times.values()) <= 18, times  # what the killed one had may have been about to end
    assert "0 are left" in logs("deep") and pathlib.Path(f"deep/jobs/pilot/pilot_{killed}.log").exists()


def their_time():
    """A pilot ends before its limit, with 0, having begun nothing that does not fit; the next one goes on."""
    pathlib.Path("long.yaml").write_text("""stages:
  - {name: one, sweep: {i: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}, command: [sh, -c, 'echo {i} >> {here}/begun; sleep 1.5; echo > x'], outputs: [x]}
""")
    run(QUINTET, "campaign", "long.yaml", *machine("one_core", 1, "55 s"), "--pilot", "--chain", "2", "--walltime", "00:01:00", "--output", "long")
    wait_for_end()
    said = logs("long")
    assert said.count("does not fit in the") >= 1 and said.count("the time is over") >= 1, said
    states = dict(line.split("|") for line in run("squeue", "--noheader", "--states=all", "--format=%i|%T").split())
    ids = re.findall(r"[0-9]+", re.search(r"^ids: (.*)$", pathlib.Path("long/jobs.yaml").read_text(), re.M)[1])
    assert len(ids) == 2 and {states[job] for job in ids} == {"COMPLETED"}, states
    n = len(list(pathlib.Path("long/store").glob("*/x")))
    assert 2 <= n < 12 and len(pathlib.Path("begun").read_text().split()) >= n, said


def edited():
    """A file that is edited while its jobs wait: they run what was queued."""
    pathlib.Path("ed.yaml").write_text("""stages:
  - {name: gate, command: [sh, -c, 'until [ -e {here}/go ]; do sleep 0.1; done'], walltime: 5 min}
  - {name: a, needs: [gate], sweep: {x: [1, 2]}, command: [sh, -c, 'echo {x} > a'], outputs: [a], walltime: 5 min}
""")
    run(QUINTET, "campaign", "ed.yaml", *machine("edits", 2, "1 min"), "--output", "ed")
    wait_for(lambda: in_jobs(QUINTET, "--items"), "a job that runs")
    pathlib.Path("ed.yaml").write_text(pathlib.Path("ed.yaml").read_text().replace("echo", "echo new"))
    pathlib.Path("go").touch()
    wait_for_end()
    assert sorted(path.read_text() for path in pathlib.Path("ed/store").glob("*/a")) == ["1\n", "2\n"], logs("ed")
    said = run(QUINTET, "campaign", "status", "ed.yaml", "--output", "ed")
    assert "2 items were queued by an earlier state of this file" in said and "2 of them are done" in said, said


if __name__ == "__main__":
    sys.exit(run_tests([globals()[name] for name in sys.argv[2:]] or [pilots, their_time, edited]))
