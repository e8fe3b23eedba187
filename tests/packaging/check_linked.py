#!/usr/bin/env python3
"""Compare the sources that libraries are linked of with bridges/*/linked.txt: check_linked.py SOURCE BUILD [--write]

`pip install .` compiles these alone (QUINTET_ONLY_SOURCES): of libquintet_c and libquintet_density. The linker's map of
the build says which members of our archives it took; where files were compiled together all of them count. --write writes
the lists from a build with QUINTET_TOGETHER, as cpu-release is. A build without takes single files, which must be in them.
"""
import argparse
import re
import sys
from pathlib import Path

BRIDGES = ("bridges/c", "bridges/density")
MEMBER = re.compile(r"^(\S+)/lib(quintet_\w+)\.a\((\S+)\.o\)", re.M)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def sources_of(source, build, folder, library, member):
    """The sources of an archive's member, as paths in the checkout."""
    objects = build / folder / "CMakeFiles" / f"{library}.dir"
    together = objects / "Unity" / member
    if together.exists():
        return [Path(one).resolve().relative_to(source) for one in INCLUDE.findall(together.read_text())]
    found = [path.relative_to(objects) for path in objects.rglob(f"{member}.o")]
    if len(found) != 1:
        raise SystemExit(f"{library}: {len(found)} objects are called {member}.o; expected one")
    return [Path(folder) / found[0].with_suffix("")]


def linked(source, build, bridge):
    """The sources of all members that the map of the build names."""
    members = set(MEMBER.findall((build / bridge / "linked.map").read_text()))
    return sorted({str(one) for member in members for one in sources_of(source, build, *member)})


def problems(source, build, bridge, write):
    """Compare, or write, one list. Returns how many sources are wrong in it."""
    found, path = linked(source, build, bridge), f"{bridge}/linked.txt"
    if write:
        (source / path).write_text("\n".join(found) + "\n")
    stored = (source / path).read_text().split()
    is_together = "QUINTET_TOGETHER:BOOL=ON" in (build / "CMakeCache.txt").read_text()
    missing, spare = sorted(set(found) - set(stored)), sorted(set(stored) - set(found)) if is_together else []
    for names, what in ((missing, "is linked and not in it"), (spare, "is in it and not linked")):
        for name in names:
            print(f"{path}: {name} {what}: {Path(__file__).name} . build --write")
    print(f"{path}: {len(found)} sources, {len(missing) + len(spare)} problems")
    return len(missing) + len(spare)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("build", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    source, build = options.source.resolve(), options.build.resolve()
    return 1 if sum(problems(source, build, bridge, options.write) for bridge in BRIDGES) else 0


if __name__ == "__main__":
    sys.exit(main())
