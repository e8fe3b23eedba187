#!/usr/bin/env python3
"""The tarball of the sources has the same bytes each time, knows its commit, and holds what git knows and nothing else.

Usage: source_tarball.py SOURCE BUILD CMAKE. Exit code 77: no git, or a folder without history.
"""
import hashlib
import os
import re
import subprocess
import sys
import tarfile


def run(*command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\nexit {done.returncode}:\n{done.stdout}")
    return done.stdout


def main():
    source, build, cmake = sys.argv[1:]
    if not os.path.exists(os.path.join(source, ".git")):
        print("skipped: a folder without history")
        sys.exit(77)
    version = re.search(r"project\(Quintet VERSION ([\d.]+)", open(os.path.join(source, "CMakeLists.txt"), encoding="utf-8").read()).group(1)
    path = os.path.join(build, "packages", f"quintet-{version}.tar.gz")
    sums = []
    for _ in range(2):
        if os.path.exists(path):
            os.remove(path)
        run(cmake, f"-DSOURCE={source}", f"-DTARBALL={path}", f"-DVERSION={version}", "-P", os.path.join(source, "cmake/source_tarball.cmake"))
        sums.append(hashlib.sha256(open(path, "rb").read()).hexdigest())
    if sums[0] != sums[1]:
        sys.exit(f"{path}: other bytes of the same commit: {sums}")
    commit = run("git", "-C", source, "rev-parse", "HEAD").strip()
    with tarfile.open(path) as tar:
        names = {member.name for member in tar if not member.isdir()}
        told = tar.extractfile(f"quintet-{version}/cmake/commit.txt").read().decode().strip()
    if told != commit:
        sys.exit(f"cmake/commit.txt says {told}, the commit is {commit}")
    tracked = {f"quintet-{version}/{name}" for name in run("git", "-C", source, "ls-tree", "-r", "--name-only", "-z", "HEAD").split("\0") if name}
    if names != tracked:
        sys.exit(f"the tarball and the commit differ: {sorted(names ^ tracked)[:10]}")
    print(f"{path}: {len(names)} files, sha256 {sums[0]}")


main()
