#!/usr/bin/env python3
"""CPU time that the deviation of four models adds to whole runs of dpmd, by interval and precision.

Crystalline copper, 256 atoms, one thread. The further models are the same file again, which costs what others cost. The sides
take turns; the least of the repeats counts, less the time of a run without steps.

    dpmd_deviation                     each 1, 10, 20 and 100 steps, in double and mixed precision
    dpmd_deviation --quick             under a minute
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path("@PROJECT_SOURCE_DIR@")
DPMD = Path("@PROJECT_BINARY_DIR@") / "bin/dpmd"
INPUT = SOURCE / "inputs/dpmd/copper"


def seconds(folder, interval, precision, steps):
    """Return the user time of a run; without an interval it has one model."""
    words = [f"time.steps={steps}", "system.replicate=[4,4,4]", "trajectory.interval=1000000", "observables.rdf.interval=1000000"]
    if interval:
        words += [f"potential.model=[{','.join(4 * [str(INPUT / 'copper.dp')])}]",
                  f"deviation={{interval: {interval}, precision: {precision}}}"]
    command = [DPMD, "run", INPUT / "nvt.yaml", "--quiet", "--output", tempfile.mkdtemp(dir=folder)]
    command += [part for word in words for part in ("--set", word)]
    process = subprocess.Popen(list(map(str, command)), env={**os.environ, "OMP_NUM_THREADS": "1"}, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command} ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quick", action="store_true")
    p.add_argument("--repeats", type=int, help="[4; quick: 1]")
    a = p.parse_args()
    steps, repeats = (20, a.repeats or 1) if a.quick else (200, a.repeats or 4)
    cases = [(0, ""), *((interval, precision) for precision in ("double", "mixed") for interval in (1, 10, 20, 100) if interval <= steps)]
    least = {}
    with tempfile.TemporaryDirectory(prefix="dpmd_deviation_") as folder:
        for _ in range(repeats):
            for case in cases:
                for n in (0, steps):
                    least[case, n] = min(least.get((case, n), 1e300), seconds(folder, *case, n))
    took = {case: least[case, steps] - least[case, 0] for case in cases}
    alone = took[cases[0]]
    print(f"load {os.getloadavg()[0]:.0f}; {steps} steps without: {alone:.2f} s")
    print(json.dumps([{"bench": "dpmd_deviation", "case": f"every {interval} steps, {precision}", "ours": took[interval, precision],
                       "peer": alone, "ratio": took[interval, precision] / alone, "unit": "s"} for interval, precision in cases[1:]]))


if __name__ == "__main__":
    main()
