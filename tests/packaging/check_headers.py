#!/usr/bin/env python3
"""Every header compiles alone.

A header that some compiled .cpp file includes before anything else is proven by the build; the others are compiled
here, as a file of the same folder is, with the precompiled headers of the build: what those hide, check_used.py finds.
Loading those takes longest, so headers share a compilation: one joins those before it where it, with all that it brings
along, names nothing that only those before it declare, and brings their other parties' headers itself. What they hide from
the compiler is then nothing that it could use. What compiled with these flags, precompiled headers and texts in an earlier
run in this build folder is not compiled again.
Usage: check_headers.py SOURCE_DIR BUILD_DIR, or check_headers.py --self-test
"""
import collections
import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from check_used import USES

FOLDERS = ("io", "physics", "surrogates", "apps", "bridges")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.DOTALL)
NAME = re.compile(r"(?<!\.)(?<!->)\b[A-Za-z_]\w*")  # of members nothing hides
# A member, a parameter or a variable of a header's own: "Type name;" or "Type& name,".
OWN_NAME = re.compile(r"\b(?!struct\b|class\b|return\b|throw\b|case\b|else\b|new\b|delete\b|goto\b|operator\b|co_\w+\b)\w+[>&*]*\s+(\w+)(?=\s*[;,)=({\[])")
# These come with nearly every header of the standard library.
EVERYWHERE = {"cstddef", "exception", "initializer_list", "new", "utility"}
# The project's format has the first line of what a header declares at column 0, what is inside of it further in. An operator
# can be used without its name.
DECLARES = re.compile(r"(?:struct|class|enum(?: class)?|union|concept|using|typedef|define|namespace)\s+(\w+)|(\w+)\s*\(|(operator)\b")
VALUE = re.compile(r"(\w+)\s*(?:\[.*\])?\s*[={;]$")
TORCH = re.compile(r"(?:torch|ATen|c10)/")
NO_NAMES = {"", "class", "void", "bool", "int", "double", "__attribute__", "alignas", "requires", "decltype", "noexcept"}
WORDS = frozenset("bool char class const constexpr delete double else enum false float for if inline int long namespace nodiscard once "
                  "operator override pragma private public return short sizeof static std struct template this true typename unsigned "
                  "using virtual void".split())  # of the language: in every header
OWN_TYPE = re.compile(r"\b(?:struct|class|enum|using)\s+(\w+)[^;{()]*[{=]")
FORWARD = re.compile(r"^(?:template\s*<[^{}]*>\s*)?(?:struct|class)\s+\w+;", re.MULTILINE)


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


@functools.cache
def compile_flags(command):
    """The compiler, and the words of a compile command that are not its input, its output, a list of what it read or a switch for .cpp files."""
    words = [word for word in shlex.split(command) if not re.fullmatch(r"-M?MD|-DQUINTET_WITH_\w+|-D\w+_EXPORTS", word)]
    skip = {i for i, word in enumerate(words) if word in ("-o", "-c", "-MF", "-MT")}
    skip |= {i + 1 for i in skip}
    return tuple(word for i, word in enumerate(words) if i not in skip)


def compile_in_turn(group, compiler, flags, source_dir):
    """What the compiler says of these headers one after the other, each twice; "" if nothing."""
    text = "".join(f'#include "{header}"\n' * 2 for header in group)
    done = subprocess.run([compiler, *flags, "-fsyntax-only", "-x", "c++", "-"], input=text, text=True,
                          cwd=source_dir, capture_output=True)
    return done.stderr if done.returncode else ""


def problems_of(group, compiler, flags, source_dir):
    if not compile_in_turn(group, compiler, flags, source_dir):
        return []
    alone = [(header, compile_in_turn([header], compiler, flags, source_dir)) for header in group]
    return [f"{header} does not compile alone:\n{said[:1500]}" for header, said in alone if said]


def text_of(header, source_dir):
    try:
        with open(os.path.join(source_dir, header), encoding="utf-8") as stream:
            return stream.read()
    except FileNotFoundError:
        return None


def key_of(group, words, source_dir):
    """All that a compilation depends on; "" for one without a precompiled header, which would be built anew where others' headers are."""
    precompiled = [words[i + 1] + ".gch" for i, word in enumerate(words[:-1]) if word == "-include"]
    if not precompiled or not all(map(os.path.exists, precompiled)):
        return ""
    headers = Headers(lambda header: text_of(header, source_dir))
    texts = [header + "\n" + (text_of(header, source_dir) or "") for header in sorted(headers.all_of(headers.brings, group))]
    built = [str(os.stat(file).st_mtime_ns) for file in precompiled]
    return hashlib.sha256("\0".join([*group, *words, *built, *texts]).encode()).hexdigest()


class Headers:
    """What headers of the project bring along, name and declare."""

    def __init__(self, read, watched=frozenset()):
        """read(name): the text of a header of the project, None for another party's; watched: those of them that hide nothing."""
        self.watched = watched
        self.read = functools.cache(read)
        self.brings = functools.cache(self.brings)
        self.names = functools.cache(self.names)
        self.declares = functools.cache(self.declares)

    def brings(self, header):
        """The header and all headers that come with it, other parties' among them."""
        text = self.read(header)
        return frozenset({header}).union(*(self.brings(name) for name in INCLUDE.findall(text))) if text else frozenset({header})

    def code(self, header):
        return NO_CODE.sub(" ", INCLUDE.sub("", self.read(header) or ""))

    def names(self, header):
        """What a header names and declares nowhere, but for members of others."""
        code = self.code(header)
        return frozenset(NAME.findall(code)).difference(OWN_NAME.findall(code), OWN_TYPE.findall(code), WORDS)

    def declares(self, header):
        """The names that a header declares; of what it only announces (class Thing;) others have to bring the rest."""
        code = FORWARD.sub("", self.code(header))
        if re.search(r"^enum (?!class)", code, re.MULTILINE):
            return frozenset(NAME.findall(code)) - WORDS
        found = set()
        for line in code.replace("\n#", "\n").split("\n"):
            if line[:1].strip():
                line = re.split("(?<=[{=;])", line)[0]  # what stands before a body or a value
                found.update(name for names in DECLARES.findall(line) for name in names)
                if line.count("(") == line.count(")"):  # else the last name is a parameter
                    found.update(VALUE.findall(line))
        return frozenset(found - NO_NAMES)

    def all_of(self, what, headers):
        return frozenset().union(*map(what, headers))

    def may_follow(self, header, before):
        """Whether headers that stand before this one, all that came with them included, declare nothing that it could use."""
        own = self.brings(header)
        strange = before - own
        if any(self.read(name) is None and name not in self.watched for name in strange):
            return False
        used = self.all_of(self.names, own) | {"operator"}
        return not (self.all_of(self.declares, strange) & used) - self.all_of(self.declares, own)

    def groups(self, headers):
        """Lists of headers that compile in turn as each compiles alone."""
        groups = []

        def hides(header):  # least first: what hides much may stand at the end of any group
            brought = self.brings(header)
            declared = self.all_of(self.declares, brought)
            others = sorted(name for name in brought if self.read(name) is None and name not in self.watched)
            return (others, "operator" in declared, len(declared), header)

        for header in sorted(headers, key=hides):
            for group, before in groups:
                if self.may_follow(header, before):
                    group.append(header)
                    before |= self.brings(header)
                    break
            else:
                groups.append(([header], set(self.brings(header))))
        return [group for group, _ in groups]


def self_test():
    """Headers share a compilation only where none can use what another declares."""
    files = {
        "a.hpp": "struct A {\n  int n;\n};\nint size(const A& a);\n",
        "announced.hpp": "struct A;\nA& made();\n",
        "b.hpp": '#include "announced.hpp"\ninline int count() { return made().n; }\n',
        "c.hpp": "inline int size_of_c() { return size(3); }\n",
        "d.hpp": "struct D {\n  int length;\n};\n",
        "e.hpp": '#include "a.hpp"\ninline int twice(const A& a) { return 2 * size(a); }\n',
        "f.hpp": "struct F {\n  int size;\n  int twice(int length) const { return length + size; }\n};\n",
        "g.hpp": "inline int length_of(int n) { return twice(n) + 1; }\n",
        "mpi.hpp": "#include <mpi.h>\nint rank(int comm);\n",
    }
    headers = Headers(files.get)

    def may_follow(header, *before):
        return headers.may_follow(header, headers.all_of(headers.brings, before))

    assert may_follow("d.hpp", "a.hpp") and may_follow("e.hpp", "a.hpp", "d.hpp")
    assert not may_follow("b.hpp", "a.hpp"), "a type that is only announced"
    assert not may_follow("c.hpp", "a.hpp"), "a function"
    assert not may_follow("c.hpp", "d.hpp", "e.hpp"), "a function that came with another header"
    assert may_follow("f.hpp", "a.hpp", "e.hpp"), "names of its own members and parameters"
    assert not may_follow("g.hpp", "e.hpp"), "a function in an expression"
    assert not may_follow("d.hpp", "mpi.hpp"), "a header of another party"
    assert headers.groups(["a.hpp", "d.hpp", "c.hpp", "e.hpp"]) == [["c.hpp", "d.hpp", "a.hpp", "e.hpp"]], "what lacks a name comes first"
    print("headers that hide what others lack are told")
    return 0


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
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

    # The precompiled headers of LibTorch take 4 s to load: for what brings none of it those of the others do.
    plain = collections.Counter(words for command in folder_command.values() if "precompiled_code.dir" in command
                                for words in [compile_flags(command)]).most_common(1)
    texts = Headers(lambda header: text_of(header, source_dir))
    alike = {}
    for header in rest:
        command = folder_command[os.path.dirname(header)]
        words = compile_flags(command)
        if plain and "with_torch" in command and not any(map(TORCH.match, texts.brings(header))):
            words = plain[0][0]
        alike.setdefault(words, []).append(header)
    work = []
    for words, some in alike.items():
        precompiled = [words[i + 1] for i, word in enumerate(words[:-1]) if word == "-include"]
        watched = EVERYWHERE.union(USES, *(INCLUDE.findall(text_of(name, build_dir)) for name in precompiled))
        if any("with_torch" in name for name in precompiled):  # LibTorch's own are all there
            watched |= {name for header in some for name in texts.brings(header) if TORCH.match(name)}
        known = Headers(lambda header: text_of(header, source_dir), watched)
        work += [(group, words[0], words[1:]) for group in known.groups(some)]
    kept = os.path.join(build_dir, "headers_that_compile.txt")
    known = set(text_of(kept, "").split()) if os.path.exists(kept) else set()
    keys = [key_of(group, (compiler, *flags), source_dir) for group, compiler, flags in work]
    anew = [item for item, key in zip(work, keys) if key not in known]
    print(f"in {len(work)} compilations, of which {len(anew)} are new")
    with ThreadPoolExecutor(max_workers=2) as pool:
        problems = [problem for some in pool.map(lambda item: problems_of(*item, source_dir), anew) for problem in some]
    if not problems:
        with open(kept, "w", encoding="utf-8") as stream:
            stream.write("\n".join(key for key in keys if key))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
