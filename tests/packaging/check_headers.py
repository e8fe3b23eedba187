#!/usr/bin/env python3
"""Every header compiles alone.

A header that some compiled .cpp file includes before anything else is proven by the build; the others are compiled
here, as a file of the same folder is, with the precompiled headers of the build: what those hide, check_used.py finds.
Loading those takes longest, so headers share a compilation in chains, in which each includes the one before by itself:
what stands before it there is then no more than it brings along.
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


def compile_in_turn(chain, compiler, flags, source_dir):
    """What the compiler says of these headers one after the other, each twice; "" if nothing."""
    text = "".join(f'#include "{header}"\n' * 2 for header in chain)
    done = subprocess.run([compiler, *flags, "-fsyntax-only", "-x", "c++", "-"], input=text, text=True,
                          cwd=source_dir, capture_output=True)
    return done.stderr if done.returncode else ""


def problems_of(chain, compiler, flags, source_dir):
    if not compile_in_turn(chain, compiler, flags, source_dir):
        return []
    alone = [(header, compile_in_turn([header], compiler, flags, source_dir)) for header in chain]
    return [f"{header} does not compile alone:\n{said[:1500]}" for header, said in alone if said]


def brought_along(header, source_dir, known):
    """All headers of the project that this one includes, those that they include among them."""
    if header not in known:
        known[header] = set()
        with open(os.path.join(source_dir, header), encoding="utf-8") as stream:
            direct = [name for name in INCLUDE.findall(stream.read()) if os.path.exists(os.path.join(source_dir, name))]
        known[header] = set(direct).union(*(brought_along(name, source_dir, known) for name in direct))
    return known[header]


def chains_of(headers_here, source_dir):
    """Lists of headers, each of which brings along the one before it and so all that this one brings."""
    known, chains = {}, []
    for header in sorted(headers_here, key=lambda name: len(brought_along(name, source_dir, known))):
        fitting = [chain for chain in chains if chain[-1] in known[header]]
        if fitting:
            max(fitting, key=lambda chain: len(known[chain[-1]])).append(header)
        else:
            chains.append([header])
    return chains


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

    alike = {}
    for header in rest:
        command = folder_command[os.path.dirname(header)]
        alike.setdefault((shlex.split(command)[0], *compile_flags(command)), []).append(header)
    work = [(chain, words[0], words[1:]) for words, some in alike.items() for chain in chains_of(some, source_dir)]
    print(f"in {len(work)} compilations")
    with ThreadPoolExecutor(max_workers=2) as pool:
        problems = [problem for some in pool.map(lambda item: problems_of(*item, source_dir), work) for problem in some]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
