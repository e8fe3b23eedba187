#!/usr/bin/env python3
"""How long the files of a build took to compile, by ninja's own log: warns of each that took over a minute.

Then what a line in each of our headers costs: the objects that read it, and their times together. Times on a clock, of the
newest build of each file: with other work beside, or out of ccache, they say little, so that nothing fails by them.
Usage: compile_times.py BUILD_DIR [FILES TO LIST]
"""
import collections
import os
import re
import subprocess
import sys

LONG_S = 60


def times(build_dir):
    """Seconds of each object file, newest entry last in the log."""
    seconds = {}
    with open(os.path.join(build_dir, ".ninja_log"), encoding="utf-8") as stream:
        for line in stream:
            fields = line.rstrip("\n").split("\t")
            if len(fields) == 5 and fields[3].endswith((".o", ".gch")):
                seconds[fields[3]] = (int(fields[1]) - int(fields[0])) / 1000
    return seconds


def source_of(made):
    """What an object file was made of, in words."""
    together = re.fullmatch(r"(.*)CMakeFiles/([^/]+)\.dir/Unity/unity_room_(\w*)_cxx\.cxx\.o", made)
    if together:
        return "{0}{2}/*.cpp of {1}".format(*together.groups()).replace("//", "/")
    return re.sub(r"CMakeFiles/[^/]+\.dir/", "", made).removesuffix(".o")


def readers(build_dir):
    """Header of the project -> the objects that read it, by ninja's record of dependencies."""
    folder, found, made = os.path.realpath(os.path.join(build_dir, "..")), collections.defaultdict(set), None
    done = subprocess.run(["ninja", "-C", build_dir, "-t", "deps"], capture_output=True, text=True)
    for line in done.stdout.split("\n"):
        if line and not line.startswith((" ", "ninja:")):
            made = line.split(":")[0]
        elif line.endswith(".hpp"):
            path = os.path.relpath(os.path.join(build_dir, line.strip()), folder)
            if not path.startswith("..") and not path.startswith("."):
                found[path].add(made)
    return found


def main():
    if not os.path.exists(os.path.join(sys.argv[1], ".ninja_log")):
        print("not a build by ninja")
        return 77
    seconds = times(sys.argv[1])
    folders = collections.Counter()
    for made, s in seconds.items():
        folders["/".join(source_of(made).split("/")[:2])] += s
    print(f"{len(seconds)} files, {sum(seconds.values()):.0f} s of compilers; by folder:")
    print("\n".join(f"{s:7.0f} s  {folder}" for folder, s in folders.most_common(12)))
    slowest = sorted(seconds.items(), key=lambda item: -item[1])
    n_listed = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    print("The slowest files:")
    print("\n".join(f"{s:7.1f} s  {source_of(made)}" for made, s in slowest[:n_listed]))
    costs = [(sum(seconds.get(one, 0) for one in made), len(made), header) for header, made in readers(sys.argv[1]).items()]
    print("What a line in a header costs:")
    print("\n".join(f"{s:7.0f} s  {n:4} files  {header}" for s, n, header in sorted(costs, reverse=True)[:n_listed]))
    for made, s in slowest:
        if s > LONG_S:
            print(f"WARNING: {source_of(made)} took {s:.0f} s to compile: more than {LONG_S} keeps people waiting; split it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
