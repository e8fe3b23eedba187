"""The inputs of all programs, made once in one folder, from which every run starts."""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.abspath(os.path.join(HERE, "../.."))
CASES = os.path.join(SOURCE, "tests/cli")
COPPER = os.path.join(SOURCE, "inputs/dpmd/copper")

LOOP = """
data: few/labelled.xyz
iterations: 2
models: 2
train: {input: loop_train.yaml}
explore: [{input: loop_run.yaml}]
selection: {force_low: 0 eV/angstrom, force_high: 1e9 eV/angstrom, most: 2, method: farthest}
label: {with: lammps, template: eam.in, command: python3 %s lammps}
"""
CAMPAIGN = """
slots: {cpu: 2}
stages:
  - {name: square, sweep: {n: [1, 2, 3, 4, 5, 6, 7, 8]}, command: [sh, -c, 'sleep 0.05; echo $(({n} * {n})) > square.txt'], outputs: [square.txt]}
  - {name: double, each: square, command: [sh, -c, 'echo $((2 * $(cat {input}/square.txt))) > double.txt'], outputs: [double.txt]}
  - {name: sum, needs: [double], command: [sh, -c, 'cat "$@" | sort -n > sum.txt', sh, '{double}/double.txt'], outputs: [sum.txt]}
"""


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if done.returncode:
        sys.exit(f"inputs: {' '.join(words)}: exit code {done.returncode}\n{done.stdout}")


def helper(*words):
    """A subcommand of the helper of dpmd's cases: models that differ, frames, a loop of active learning."""
    run(sys.executable, os.path.join(CASES, "dpmd/learn.py"), *words)


def copper():
    shutil.copy(os.path.join(COPPER, "copper.dp"), "copper.dp")
    helper("models")


def loop():
    with open("eam.in", "w", encoding="utf-8") as stream:
        stream.write("units metal\nread_data {{data_file}}\n{{label}}\n")
    helper("loop")
    with open("loop.yaml", "w", encoding="utf-8") as stream:
        stream.write(LOOP % os.path.join(CASES, "dpmd/learn.py"))


def flow():
    run("meshfreeflow", "simulate", "--threads", "1", "--quiet", os.path.join(CASES, "meshfreeflow/flow.yaml"), "--output", "flow")


def ocean():
    run("podlstm_case", "weekly", "weekly.h5")
    run("podlstm_case", "pacific", "pacific.nc")


def campaign():
    with open("campaign.yaml", "w", encoding="utf-8") as stream:
        stream.write(CAMPAIGN)


MAKERS = {"copper": copper, "loop": loop, "flow": flow, "ocean": ocean, "campaign": campaign}


def make(folder, names):
    """Make what is not there yet; a maker that is needed by another comes first."""
    os.makedirs(folder, exist_ok=True)
    former = os.getcwd()
    os.chdir(folder)
    try:
        for name in MAKERS:
            if name in names and not os.path.exists(f".{name}"):
                MAKERS[name]()
                open(f".{name}", "w", encoding="utf-8").close()
    finally:
        os.chdir(former)
