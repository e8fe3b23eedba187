#!/usr/bin/env python3
"""Files are formatted as .clang-format says.

Another version than the one named below formats a few lines differently: then differences are only printed. Exit
code 77 (skipped) without clang-format. Usage: check_format.py SOURCE_DIR [RECORD]

RECORD: a file of what was found well formatted before, by contents, style and version: that is not formatted again.
"""
import hashlib
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


def marks(tool, source_dir):
    """{path of a source: digest of all that its format depends on}."""
    style = subprocess.run([tool, "--version"], capture_output=True, check=True).stdout
    with open(os.path.join(source_dir, ".clang-format"), "rb") as stream:
        style += stream.read()
    found = {}
    for path in sources(source_dir):
        with open(path, "rb") as stream:
            found[path] = hashlib.sha256(style + stream.read()).hexdigest()
    return found


def known(record):
    """Digests of a record; none where there is no such file."""
    if not record or not os.path.exists(record):
        return set()
    with open(record, encoding="utf-8") as stream:
        return set(stream.read().split())


def remember(record, digests):
    """Replace the record at once: two builds may check at a time."""
    with open(f"{record}.{os.getpid()}", "w", encoding="utf-8") as stream:
        stream.write("\n".join(sorted(digests)))
    os.replace(stream.name, record)


def main():
    tool = shutil.which(f"clang-format-{VERSION}") or shutil.which("clang-format")
    if not tool:
        print("skipped: no clang-format")
        return 77
    version = re.search(r"version (\d+)", subprocess.run([tool, "--version"], capture_output=True, text=True).stdout)
    record = sys.argv[2] if len(sys.argv) > 2 else None
    digests, right = marks(tool, os.path.abspath(sys.argv[1])), known(record)
    unknown = [path for path, digest in digests.items() if digest not in right]
    wrong = []
    if unknown:
        done = subprocess.run([tool, "--dry-run", *unknown], cwd=sys.argv[1], capture_output=True, text=True)
        wrong = sorted(set(re.findall(r"^(.+?):\d+:\d+: ", done.stderr, re.MULTILINE)))
        if done.returncode and not wrong:
            sys.exit(f"{tool} failed: {done.stderr[-1000:]}")
    if record:
        remember(record, {digest for path, digest in digests.items() if path not in wrong})
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
