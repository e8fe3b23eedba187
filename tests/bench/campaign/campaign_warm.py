#!/usr/bin/env python3
"""What an item of a campaign costs where a warm program forks it, beside one that starts by itself.

--items runs each of `dpmd evaluate` (a water model with polynomials for tables), `meshfreeflow superresolve` (a small network; LibTorch)
and `vlasov run`, on one slot, cold and warm in turn, --rounds times. Printed for an item: CPU time of all processes (the campaign's
own and the warm program's load included) and wall time, the least of the rounds. A first warm item starts by itself.
"""
import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

BIN, SOURCE = "@PROJECT_BINARY_DIR@/bin", "@PROJECT_SOURCE_DIR@"
COMMANDS = {
    "dpmd evaluate": ["dpmd", "evaluate", "--model", f"{SOURCE}/inputs/dpmd/water/water.dp", f"{SOURCE}/inputs/dpmd/water/water32.xyz",
                      "--threads", "1", "--output", "{output}/e{n}"],
    "meshfreeflow superresolve": ["meshfreeflow", "superresolve", "{here}/fine.yaml", "--threads", "1", "--quiet",
                                  "--set", "input.sample=2", "--output", "{output}/run{n}"],
    "vlasov run": ["vlasov", "run", f"{SOURCE}/inputs/campaigns/two_stream_case.yaml", "--set", "time.end=0.5", "--threads", "1", "--quiet",
                   "--output", "{output}/run{n}"],
}


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def prepare():
    """A flow and a small network for superresolve."""
    here = f"{SOURCE}/tests/cli/meshfreeflow"
    run(f"{BIN}/meshfreeflow", "simulate", f"{here}/flow.yaml", "--output", "flow")
    run(f"{BIN}/meshfreeflow", "train", f"{here}/train.yaml", "--set", "steps=40", "--threads", "1", "--output", "trained")
    with open(f"{here}/superresolve.yaml", encoding="utf-8") as stream:
        text = stream.read()
    for name in ("trained/", "flow/"):
        text = text.replace(name, f"{os.getcwd()}/{name}")
    with open("fine.yaml", "w", encoding="utf-8") as stream:
        stream.write(text)


def measure(command, start, items):
    """CPU and wall time (s) of a campaign."""
    with open("c.yaml", "w", encoding="utf-8") as stream:
        words = ", ".join(f'"{word}"' for word in command)
        stream.write(f"stages: [{{name: a, start: {start}, sweep: {{n: [{', '.join(map(str, range(items)))}]}}, command: [{words}]}}]\n")
    shutil.rmtree("C", ignore_errors=True)
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run(f"{BIN}/quintet", "campaign", "c.yaml", "--output", "C")
    end, after = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, end - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="quintet_warm_") as folder:
        os.chdir(folder)
        prepare()
        print(f"load {os.getloadavg()[0]:.1f}; ms an item, least of {options.rounds} rounds of {options.items} items")
        print(f"{'':28}{'CPU cold':>10}{'warm':>8}{'wall cold':>12}{'warm':>8}")
        for name, command in COMMANDS.items():
            least = {}
            for _ in range(options.rounds):
                for start in ("cold", "warm"):
                    times = measure(command, start, options.items)
                    least[start] = [min(pair) for pair in zip(times, least.get(start, times))]
            cold, warm = ([1e3 * t / options.items for t in least[start]] for start in ("cold", "warm"))
            print(f"{name:28}{cold[0]:10.1f}{warm[0]:8.1f}{cold[1]:12.1f}{warm[1]:8.1f}", flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
