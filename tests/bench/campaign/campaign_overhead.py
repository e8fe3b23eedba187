#!/usr/bin/env python3
"""What `quintet campaign` adds to each of many short tasks, beside HyperQueue, snakemake and parsl, the same graph, interleaved.

--tasks tasks, each the program /bin/sh that sleeps 10 ms and writes a file, and one that reads all files, on two slots. Overhead of a
task: (2 x time - tasks x 10 ms) / tasks, the least of --rounds rounds; CPU time of all processes beside it, which a busy machine
disturbs less. What every launcher must do, starting a shell that starts `sleep`, is measured too, as `shell`. Then two stages on one
slot each, of random times: makespan over the bound of two stages, and utilisation.

--python: a Python with hyperqueue, snakemake and parsl (pip install hyperqueue snakemake parsl) where this one has none.
"""
import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

QUINTET = "@PROJECT_BINARY_DIR@/bin/quintet"
SECONDS, SLOTS = 0.01, 2

CAMPAIGN = """slots: {cpu: %d}
stages:
  - {name: task, sweep: {i: [%s]}, command: [sh, -c, 'sleep %g; echo {i} > x'], outputs: [x]}
  - {name: all, needs: [task], command: [sh, -c, 'cat "$@" > all', sh, '{task}/x'], outputs: [all]}
"""
SNAKEFILE = """rule all:
    output: "all"
    input: expand("task_{i}", i=range(%d))
    shell: "cat {input} > {output}"
rule task:
    output: "task_{i}"
    shell: "sleep %g; echo {wildcards.i} > {output}"
"""
PARSL = """import sys
import parsl
from parsl import bash_app
from parsl.config import Config
from parsl.data_provider.files import File
from parsl.executors import HighThroughputExecutor
from parsl.executors.threads import ThreadPoolExecutor
from parsl.providers import LocalProvider

tasks, seconds, slots, kind = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
executor = ThreadPoolExecutor(max_threads=slots) if kind == "threads" else HighThroughputExecutor(
    max_workers_per_node=slots, cores_per_worker=1e-6, address="127.0.0.1", provider=LocalProvider(init_blocks=1, max_blocks=1))


@bash_app
def task(i, seconds, outputs=()):
    return f"sleep {seconds}; echo {i} > {outputs[0].filepath}"


@bash_app
def collect(inputs=(), outputs=()):
    return "cat " + " ".join(file.filepath for file in inputs) + f" > {outputs[0].filepath}"


with parsl.load(Config(executors=[executor], initialize_logging=False)):
    import os
    here = os.getcwd()
    files = [task(i, seconds, outputs=[File(f"{here}/task_{i}")]).outputs[0] for i in range(tasks)]
    collect(inputs=files, outputs=[File(f"{here}/all")]).result()
"""
HYPERQUEUE = """import pathlib
import sys
from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig

tasks, seconds, slots = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
here = pathlib.Path.cwd()
with LocalCluster() as cluster:
    cluster.start_worker(WorkerConfig(cores=slots))
    client, job = cluster.client(), Job(max_fails=0)
    files = [here / f"task_{i}" for i in range(tasks)]
    before = [job.program(["sh", "-c", f"sleep {seconds}; echo {i} > {file}"], stdout=None, stderr=None) for i, file in enumerate(files)]
    job.program(["sh", "-c", "cat " + " ".join(map(str, files)) + f" > {here}/all"], stdout=None, stderr=None, deps=before)
    client.wait_for_jobs([client.submit(job)])
"""
TWO_STAGES = """slots: {cpu: 1, gpu_like: 1}
stages:
  - {name: first, sweep: {i: [%s]}, command: [sh, -c, 'sleep %s; touch x'], cost: "%s", outputs: [x]}
  - {name: second, each: first, slot: gpu_like, command: [sh, -c, 'sleep %s; touch y'], cost: "%s", outputs: [y]}
"""


def timed(words, folder):
    """(wall s, CPU s) of a program and all that it started; programs beside a Python are on its PATH."""
    environment = dict(os.environ, PATH=os.pathsep.join([os.path.dirname(words[0]) or "/usr/bin", os.environ["PATH"]]))
    def cpu():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before, begin = cpu(), time.monotonic()
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          env=environment)
    wall = time.monotonic() - begin
    if done.returncode:
        sys.exit(f"this ended with {done.returncode}: {' '.join(words)}\n{done.stdout[-2000:]}")
    return wall, cpu() - before


def lines_of(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as stream:
        return len(stream.readlines())


def tools(options):
    """Name: (words, where the end's file is)."""
    python = options.python or sys.executable
    numbers = [str(options.tasks), str(SECONDS), str(SLOTS)]
    script = f"for i in $(seq {options.tasks // SLOTS}); do sh -c 'sleep {SECONDS}; echo > x'; done & " \
             f"for i in $(seq {options.tasks // SLOTS}); do sh -c 'sleep {SECONDS}; echo > y'; done; wait"
    all_tools = {"shell": ["sh", "-c", script], "quintet": [QUINTET, "campaign", "c.yaml", "--output", "C"]}
    has = lambda module: subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0
    if has("hyperqueue"):
        all_tools["hyperqueue"] = [python, "hyperqueue_tasks.py", *numbers]
    if has("snakemake"):
        all_tools["snakemake"] = [python, "-m", "snakemake", "--cores", str(SLOTS), "--quiet", "all", "--", "all"]
    if has("parsl"):
        all_tools["parsl_threads"] = [python, "parsl_tasks.py", *numbers, "threads"]
        all_tools["parsl_htex"] = [python, "parsl_tasks.py", *numbers, "htex"]
    return all_tools


def overheads(options):
    best = {}
    for _ in range(options.rounds):
        for name, words in tools(options).items():
            folder = tempfile.mkdtemp(prefix="campaign_bench_")
            for file, text in (("c.yaml", CAMPAIGN % (SLOTS, ", ".join(map(str, range(options.tasks))), SECONDS)),
                               ("Snakefile", SNAKEFILE % (options.tasks, SECONDS)), ("parsl_tasks.py", PARSL), ("hyperqueue_tasks.py", HYPERQUEUE)):
                with open(os.path.join(folder, file), "w", encoding="utf-8") as stream:
                    stream.write(text)
            wall, cpu = timed(words, folder)
            if name not in ("shell", "quintet") and lines_of(folder, "all") != options.tasks:
                sys.exit(f"{name} has not done all tasks")
            shutil.rmtree(folder)
            overhead = 1e3 * (SLOTS * wall - options.tasks * SECONDS) / options.tasks
            row = {"overhead_ms": overhead, "cpu_ms": 1e3 * cpu / options.tasks, "wall_s": wall}
            old = best.setdefault(name, row)
            best[name] = {key: min(value, old[key]) for key, value in row.items()}
    return best


def two_stages(options):
    rng = random.Random(options.seed)
    a, b = ([round(1 + rng.lognormvariate(-0.5, 0.7), 2) for _ in range(options.items)] for _ in range(2))
    pick = lambda times: "".join(f"i == {i} ? {time} : (" for i, time in enumerate(times)) + "1" + ")" * len(times)
    shell = lambda times: f"$(echo {' '.join(map(str, times))} | cut -d \" \" -f $(({{i}} + 1)))"
    folder = tempfile.mkdtemp(prefix="campaign_bench_")
    with open(os.path.join(folder, "c.yaml"), "w", encoding="utf-8") as stream:
        stream.write(TWO_STAGES % (", ".join(map(str, range(options.items))), shell(a), pick(a), shell(b), pick(b)))
    timed([QUINTET, "campaign", "c.yaml", "--output", "C"], folder)
    with open(os.path.join(folder, "C", "summary.json"), encoding="utf-8") as stream:
        summary = json.load(stream)
    shutil.rmtree(folder)
    bound = max(sum(a) + min(b), sum(b) + min(a), max(x + y for x, y in zip(a, b)))
    return {"items": options.items, "bound_s": bound, "makespan_s": summary["makespan_s"], "over_bound": summary["makespan_s"] / bound,
            "busy_over_bound": max(sum(a), sum(b)) / summary["makespan_s"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--items", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--python", default="")
    options = parser.parse_args()
    results = overheads(options)
    for name, row in results.items():
        print(f"{name:14} {row['wall_s']:7.2f} s  overhead {row['overhead_ms']:7.2f} ms a task  CPU {row['cpu_ms']:7.2f} ms a task")
    stages = two_stages(options)
    print(f"two stages: {stages['makespan_s']:.2f} s, {stages['over_bound']:.4f} of the bound; the busier slot works {100 * stages['busy_over_bound']:.1f} %")
    print(json.dumps({"tasks": options.tasks, "load": os.getloadavg()[0], "tools": results, "two_stages": stages}))


if __name__ == "__main__":
    main()
