#!/usr/bin/env python3
"""METG(50 %) of `quintet bench metg` beside Stanford's Task Bench, its MPI implementation (mpi/nonblock), interleaved.

Both compute the same tasks (64 numbers, n multiply-adds each, in registers) in pieces of --steps steps; of each size the least
time of many pieces counts, and of its own best rate each side needs half. The peer is built from a checkout of
StanfordLegion/task-bench (--peer or TASK_BENCH, with core/ and mpi/) in a temporary folder, with its loop of two runs made one
of many that keeps the least, and its clock started behind its own preparations, as ours is. Its authors ask to be contacted before
numbers are published.

Ours sends a rank all that it needs in one message (by_rank, as our applications do); by_edge sends a message for each edge of
the graph, as the peer does. Leave the machine alone meanwhile: wall times.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

QUINTET = "@PROJECT_BINARY_DIR@/bin/quintet"
SIZES = (0, 8, 16, 32, 64, 128, 256, 512, 1024, 4096)
PATTERNS = ("stencil_1d", "nearest", "fft", "all_to_all")
# Where the peer's source is changed: text, and what stands in its place.
CHANGES = (
    ("double elapsed_time = 0.0;", 'const int repeats = atoi(getenv("REPEATS")); double elapsed_time = 0.0;'),
    ("iter < 2;", "iter < repeats;"),
    ("      for (long timestep = 0;", "      MPI_Barrier(MPI_COMM_WORLD);\n      start_time = MPI_Wtime();\n      for (long timestep = 0;"),
    ("elapsed_time = stop_time - start_time;",
     "elapsed_time = iter ? std::min(elapsed_time, stop_time - start_time) : stop_time - start_time;"),
)
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def call(words, **more):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          env=dict(ENVIRONMENT, **more))
    if done.returncode:
        sys.exit(f"this ended with {done.returncode}: {' '.join(words)}\n{done.stdout[-2000:]}")
    return done.stdout


def build_peer(source, folder):
    """The path of the peer's executable, built in `folder`."""
    for part in ("core", "mpi"):
        shutil.copytree(os.path.join(source, part), os.path.join(folder, part))
    path = os.path.join(folder, "mpi", "nonblock.cc")
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    for before, after in CHANGES:
        if text.count(before) != 1:
            sys.exit(f"{path} is not the source that is known here: '{before}' stands there {text.count(before)} times")
        text = text.replace(before, after)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)
    call(["make", "-C", os.path.join(folder, "core"), "clean"])
    call(["make", "-C", os.path.join(folder, "core")])
    call(["make", "-B", "-C", os.path.join(folder, "mpi"), "nonblock"])
    return os.path.join(folder, "mpi", "nonblock")


class Case:
    """One pattern at one width, and what was measured of each side: size -> least seconds a task and core."""

    def __init__(self, pattern, width, arguments):
        self.pattern, self.width, self.arguments = pattern, width, arguments
        self.radix = 5 if pattern == "nearest" else 3
        self.times = {}

    def start(self):
        return ["mpirun", "-n", str(self.arguments.ranks)]

    def ours(self, size, messages):
        text = call(self.start() + [QUINTET, "bench", "metg", "--pattern", self.pattern, "--width", str(self.width), "--radix",
                                    str(self.radix), "--steps", str(self.arguments.steps), "--iterations", str(size), "--seconds",
                                    str(self.arguments.seconds), "--messages", messages, "--threads", "1", "--quiet"])
        return 1e-6 * float(re.search(r"^([\d.]+) us a task", text, re.MULTILINE).group(1))

    def peer(self, size, executable, like):
        """`like`: seconds a task and core of ours, from which follows how often the peer can run in the time it has."""
        tasks = self.width * self.arguments.steps
        piece = max(like, 2e-7) * 3 * tasks / self.arguments.ranks
        text = call(self.start() + [executable, "-type", self.pattern, "-kernel", "compute_bound", "-iter", str(size), "-steps",
                                    str(self.arguments.steps), "-width", str(self.width), "-radix", str(self.radix)],
                    REPEATS=str(max(5, int(self.arguments.seconds / piece))))
        return float(re.search(r"Elapsed Time (\S+) seconds", text).group(1)) * self.arguments.ranks / tasks

    def keep(self, side, size, seconds):
        of_side = self.times.setdefault(side, {})
        of_side[size] = min(seconds, of_side.get(size, seconds))

    def measure(self, executable):
        for size in SIZES:
            for messages in self.arguments.messages:
                self.keep(messages, size, self.ours(size, messages))
            if executable:
                self.keep("peer", size, self.peer(size, executable, min(self.times[m][size] for m in self.arguments.messages)))

    def metg(self, side):
        """As crossing() in physics/tasks/efficiency.hpp; None where the shortest tasks have half of the best rate."""
        times = self.times[side]
        rate = {size: (128 * size + 64) / seconds for size, seconds in times.items()}
        best = max(rate.values())
        for low, high in zip(SIZES, SIZES[1:]):
            if rate[low] / best < 0.5 <= rate[high] / best:
                share = (0.5 - rate[low] / best) / (rate[high] / best - rate[low] / best)
                return times[low] + share * (times[high] - times[low])
        return None

    def rows(self):
        shown = "%s, width %d, %d ranks" % (self.pattern, self.width, self.arguments.ranks)
        theirs = self.metg("peer") if "peer" in self.times else None
        for side in self.arguments.messages:
            ours = self.metg(side)
            ratio = ours / theirs if ours and theirs else None
            yield {"bench": "task_bench", "case": f"{shown}, {side}", "ours": ours and 1e6 * ours, "peer": theirs and 1e6 * theirs,
                   "ratio": ratio, "unit": "us METG(50 %)", "steps": self.arguments.steps, "rounds": self.arguments.rounds,
                   "ours_gflops": max((128 * n + 64) / t for n, t in self.times[side].items()) * 1e-9,
                   "peer_gflops": theirs and max((128 * n + 64) / t for n, t in self.times["peer"].items()) * 1e-9}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", default=os.environ.get("TASK_BENCH"), help="checkout of task-bench; without it ours alone")
    parser.add_argument("--patterns", nargs="+", default=PATTERNS)
    parser.add_argument("--widths", nargs="+", type=int, default=[8])
    parser.add_argument("--messages", nargs="+", default=["by_rank", "by_edge"], choices=["by_rank", "by_edge"])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=0.2, help="of each size, side and round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="one pattern, one round")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.patterns, arguments.rounds, arguments.messages = arguments.patterns[:1], 1, arguments.messages[:1]
    cases = [Case(pattern, width, arguments) for pattern in arguments.patterns for width in arguments.widths]
    with tempfile.TemporaryDirectory() as folder:
        executable = build_peer(arguments.peer, folder) if arguments.peer else None
        for _ in range(arguments.rounds):
            for case in cases:
                case.measure(executable)
    rows = [row for case in cases for row in case.rows()]
    for case in cases:
        print(f"{case.pattern}, width {case.width}: us a task")
        for size in SIZES:
            print("%8d" % size, *("%10s %8.3f" % (side, 1e6 * times[size]) for side, times in case.times.items()))
    for row in rows:
        print("%-48s" % row["case"], *("%s %s" % (side, "%.3f us" % row[side] if row[side] else "none") for side in ("ours", "peer")),
              "ratio %.2f" % row["ratio"] if row["ratio"] else "")
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
