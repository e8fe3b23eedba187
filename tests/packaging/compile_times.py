#!/usr/bin/env python3
"""How long the files of a build took to compile, by ninja's own log: warns of each that took over a minute.

Times on a clock, of the newest build of each file: with other work beside, or out of ccache, they say little, so that
nothing fails by them. Usage: compile_times.py BUILD_DIR [FILES TO LIST]
"""
import collections
import os
import re
import sys

LONG_S = 60


def times(build_dir):
    """Seconds of each object file, newest entry last in the log."""
    seconds = {}
    with open(os.path.join(build_dir, ".ninja_log"), encoding="utf-8") as stream:
        for line in stream:
            fields = line.rstrip("\n").split("\t")
            if len(fields) == 5 and fields[3].endswith((".o", ".gch")):
                together = re.fullmatch(r"(.*)CMakeFiles/([^/]+)\.dir/Unity/unity_room_(\w*)_cxx\.cxx\.o", fields[3])
                if together:
                    source = "{0}{2}/*.cpp of {1}".format(*together.groups()).replace("//", "/")
                else:
                    source = re.sub(r"CMakeFiles/[^/]+\.dir/", "", fields[3]).removesuffix(".o")
                seconds[source] = (int(fields[1]) - int(fields[0])) / 1000
    return seconds


def main():
    if not os.path.exists(os.path.join(sys.argv[1], ".ninja_log")):
        print("not a build by ninja")
        return 77
    seconds = times(sys.argv[1])
    folders = collections.Counter()
    for source, s in seconds.items():
        folders["/".join(source.split("/")[:2])] += s
    print(f"{len(seconds)} files, {sum(seconds.values()):.0f} s of compilers; by folder:")
    print("\n".join(f"{s:7.0f} s  {folder}" for folder, s in folders.most_common(12)))
    slowest = sorted(seconds.items(), key=lambda item: -item[1])
    print("The slowest files:")
    print("\n".join(f"{s:7.1f} s  {source}" for source, s in slowest[:int(sys.argv[2]) if len(sys.argv) > 2 else 12]))
    for source, s in slowest:
        if s > LONG_S:
            print(f"WARNING: {source} took {s:.0f} s to compile: more than {LONG_S} keeps people waiting; split it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
