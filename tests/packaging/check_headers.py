#!/usr/bin/env python3
"""Every header compiles alone.

A header that some compiled .cpp file includes before anything else is proven by the build; the others are compiled
here, as a file of the same folder is, with the precompiled headers of the build: what those hide, check_used.py finds.
Usage: check_headers.py SOURCE_DIR BUILD_DIR
"""
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

FOLDERS = ("io", "physics", "surrogates", "apps")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def first_include(path):
    with open(path, encoding="utf-8") as stream:
        found = INCLUDE.search(stream.read())
    return found.group(1) if found else None


def headers(source_dir):
    for folder in FOLDERS:
        for directory, _, names in os.walk(os.path.join(source_dir, folder)):
            for name in sorted(names):
                if name.endswith(".hpp"):
                    yield os.path.relpath(os.path.join(directory, name), source_dir)


def compile_flags(command):
    """The words of a compile command that are not its input, its output or a list of what it read."""
    words = [word for word in shlex.split(command)[1:] if word not in ("-MD", "-MMD")]
    skip = {i for i, word in enumerate(words) if word in ("-o", "-c", "-MF", "-MT")}
    # those of torch take longer to load than most headers beside them to compile
    skip |= {i for i, word in enumerate(words[:-1]) if word == "-include" and "with_torch" in words[i + 1]}
    skip |= {i + 1 for i in skip}
    return [word for i, word in enumerate(words) if i not in skip]


def compile_alone(header, compiler, flags, source_dir):
    text = f'#include "{header}"\n#include "{header}"\n'
    done = subprocess.run([compiler, *flags, "-fsyntax-only", "-x", "c++", "-"], input=text, text=True,
                          cwd=source_dir, capture_output=True)
    return None if done.returncode == 0 else f"{header} does not compile alone:\n{done.stderr[:1500]}"


def main():
    source_dir, build_dir = sys.argv[1:3]
    with open(os.path.join(build_dir, "compile_commands.json"), encoding="utf-8") as stream:
        commands = json.load(stream)
    proven, folder_command = set(), {}
    for entry in commands:
        file = entry["file"]
        if "/Unity/" in file:  # of files that are compiled together the first one proves
            file = first_include(file)
        proven.add(first_include(file))
        folder = os.path.dirname(os.path.relpath(file, source_dir))
        folder_command.setdefault(folder, entry["command"])

    rest, unbuilt = [], []
    for header in headers(source_dir):
        if header in proven:
            continue
        (rest if os.path.dirname(header) in folder_command else unbuilt).append(header)
    print(f"{len(proven & set(headers(source_dir)))} headers are included first by a compiled file, {len(rest)} are "
          f"compiled here, {len(unbuilt)} are in folders without compiled files: {' '.join(unbuilt)}")

    def check(header):
        command = folder_command[os.path.dirname(header)]
        return compile_alone(header, shlex.split(command)[0], compile_flags(command), source_dir)

    with ThreadPoolExecutor(max_workers=2) as pool:
        problems = [problem for problem in pool.map(check, rest) if problem]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
