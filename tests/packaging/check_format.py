#!/usr/bin/env python3
"""Files are formatted as .clang-format says.

Another version than the one named below formats a few lines differently: then differences are only printed. Exit
code 77 (skipped) without clang-format. Usage: check_format.py SOURCE_DIR
"""
import os
import re
import shutil
import subprocess
import sys

VERSION = "14"
FOLDERS = ("io", "physics", "surrogates", "apps", "bridges", "tests")


def sources(source_dir):
    for folder in FOLDERS:
        for directory, _, names in os.walk(os.path.join(source_dir, folder)):
            yield from (os.path.join(directory, name) for name in sorted(names) if name.endswith((".hpp", ".cpp")))


def main():
    tool = shutil.which(f"clang-format-{VERSION}") or shutil.which("clang-format")
    if not tool:
        print("skipped: no clang-format")
        return 77
    version = re.search(r"version (\d+)", subprocess.run([tool, "--version"], capture_output=True, text=True).stdout)
    done = subprocess.run([tool, "--dry-run", *sources(sys.argv[1])], cwd=sys.argv[1], capture_output=True, text=True)
    wrong = sorted(set(re.findall(r"^(.+?):\d+:\d+: ", done.stderr, re.MULTILINE)))
    for path in wrong:
        print(f"not formatted: {os.path.relpath(path, sys.argv[1])}")
    if wrong:
        print(f"{len(wrong)} files; clang-format -i FILE mends them")
    exact = version and version.group(1) == VERSION
    if wrong and not exact:
        print(f"(only a warning: this is version {version and version.group(1)}, the project uses {VERSION})")
    return 1 if wrong and exact else 0


if __name__ == "__main__":
    sys.exit(main())
