#!/usr/bin/env python3
"""A header that names a class only by reference or pointer includes its forward header, not the whole class.

x_fwd.hpp declares classes of the x.hpp beside it. A header that includes x.hpp must need more of it: an object by value, a
member, a base, a nested name, or something that x_fwd.hpp does not declare. Else each line of x.hpp compiles all of the
header's readers anew. No x.hpp stands within a condition: outside it the class may be declared alone, and who builds without
LibTorch sees it first. Usage: check_forward.py SOURCE_DIR, or check_forward.py --self-test
"""
import os
import re
import sys

FOLDERS = ("io", "physics", "surrogates", "apps", "bridges", "tests")
FORWARD = "_fwd.hpp"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">].*$', re.MULTILINE)
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.DOTALL)
DECLARED = re.compile(r"^(?:class|struct|enum class) (\w+)(?: : [\w:]+)?;", re.MULTILINE)
# What a header says at the left margin: types, aliases, constants, macros, and the names of functions.
TYPES = re.compile(r"^(?:class|struct|enum(?: class)?|union)\s+(?:\[\[\w+\]\]\s+)?(\w+)|^using\s+(\w+)\s*=|^\s*#\s*define\s+(\w+)", re.MULTILINE)
FUNCTIONS = re.compile(r"^(?![ \t#}/]|class |struct |enum |namespace |template|using )[^;{=\n]*?\b(\w+)\((?!\()", re.MULTILINE)
CONSTANTS = re.compile(r"^(?:inline |static )*(?:constexpr|const)\s[^;(=]*?\b(\w+)\s*(?:\[[^\]]*\]\s*)?[={]", re.MULTILINE)


def code_of(text):
    """`text` without comments, contents of strings, and includes."""
    return NO_CODE.sub(lambda found: '""' if found.group(0).endswith('"') else " ", INCLUDE.sub("", text))


def names_of(header):
    """What the code of a header declares for others."""
    return {name for pattern in (TYPES, FUNCTIONS, CONSTANTS) for found in pattern.findall(header)
            for name in ([found] if isinstance(found, str) else found) if name}


def needs_whole(code, types, others):
    """Why `code` needs more than declarations of `types`: a word of it, or None; `others`: what else their header declares."""
    for name in sorted(others):
        if re.search(rf"\b{name}\b", code):
            return name
    held = set()  # what is such a reference, pointer, or gives one
    for name in types:
        for found in re.finditer(rf"\b{name}\b", code):
            if re.search(r"\b(class|struct|enum class)\s+$", code[:found.start()][-20:]) and re.match(r"\s*(:\s*[\w:]+\s*)?;", code[found.end():]):
                continue  # a declaration of its own
            ending = r">" if re.search(r"_ptr<\s*(?:const\s+)?(?:\w+::)*$", code[:found.start()][-60:]) else r"(?:\s*const)?\s*[&*]+"
            by_reference = re.match(ending + r"\s*(?:const\s+)?(\w+)?\s*(=\s*\{\})?", code[found.end():])
            if not by_reference or by_reference.group(2):
                return name
            held.add(by_reference.group(1))
    for one in sorted(held - {None}):
        if re.search(rf"\b{one}(\(\))?\s*(\.|->)", code):
            return one
    return None


def problems_of(path, text, forwards):
    """`forwards`: include of a whole header -> (its forward header, the types that declares, what else the whole one says)."""
    code = code_of(text)
    for included in INCLUDE.findall(text):
        if included not in forwards or path == included:
            continue
        forward, types, others = forwards[included]
        if path != forward and not needs_whole(code, types, others):
            named = [name for name in sorted(types) if re.search(rf"\b{name}\b", code)]
            if named:
                yield f"{path}: names {', '.join(named)} by reference alone: include {forward} in place of {included}"
            else:
                yield f"{path}: uses nothing of {included}: leave it out, or let the files that do include it"


def within_conditions(path, text, forwards):
    depth = 0
    for line in text.splitlines():
        if re.match(r"\s*#\s*if", line):
            depth += 1
        elif re.match(r"\s*#\s*endif", line):
            depth -= 1
        elif depth > 0:
            for included in INCLUDE.findall(line):
                if included in forwards:
                    yield f"{path}: includes {included} within a condition: include it outside, {forwards[included][0]} may stand alone there"


def forwards_of(texts):
    """All forward headers of `texts` as problems_of() takes them, and what is wrong with them."""
    forwards, problems = {}, []
    for path, text in texts.items():
        if not path.endswith(FORWARD):
            continue
        whole = path.removesuffix(FORWARD) + ".hpp"
        types = set(DECLARED.findall(text))
        if whole not in texts:
            problems.append(f"{path}: there is no {whole}")
            continue
        said = names_of(code_of(texts[whole]))
        problems += [f"{path}: {whole} does not have {name}" for name in sorted(types - said)]
        forwards[whole] = (path, types, said - types)
    return forwards, problems


def check(texts):
    forwards, problems = forwards_of(texts)
    for path, text in texts.items():
        problems += problems_of(path, text, forwards) if path.endswith(".hpp") else within_conditions(path, text, forwards)
    return problems


def self_test():
    whole = "namespace a {\nclass Comm {\n  int rank();\n};\nstruct Other {};\nint total(const Comm& comm);\nconstexpr int most = 3;\n}\n"
    assert names_of(whole) == {"Comm", "Other", "total", "most"}, names_of(whole)
    texts = {"io/a/comm.hpp": whole, "io/a/comm_fwd.hpp": "namespace a {\nclass Comm;  ///< see comm.hpp\n}\n"}
    include = '#include "io/a/comm.hpp"\n'
    by_reference = ("void f(const Comm& comm);", "Comm* next;", "std::shared_ptr<const a::Comm> comm_;", "std::function<void(a::Comm&)> f;", "const Comm &comm() const;", "class Comm;\nvoid f(Comm&);",
                    "const Comm* const comm_;  // Comm by value", "void g(const Comm&);\nvoid f(Comm* c) { g(*c); }", 'void f(Comm& c, const char* t = "Comm c");')
    whole_needed = ("Comm comm_;", "void f(Comm comm);", "class X : Comm {};", "std::vector<Comm> all;", "std::shared_ptr<Comm> c;\nint r() { return c->rank(); }", "Comm::Call call;", "Other other;", "int n = most;",
                    "int f(const Comm& comm) { return comm.rank(); }", "int f(const Comm* comm) { return comm->rank(); }", "Comm f(Comm* c) { return *c; }",
                    "const Comm& comm();\nint r() { return comm().rank(); }", "void f(const Comm& comm = {});")
    for code in by_reference:
        assert len(check({**texts, "io/b.hpp": include + code})) == 1, code
        assert not check({**texts, "io/b.cpp": include + code}) and not check({**texts, "io/b.hpp": include.replace("comm.", "comm_fwd.") + code})
    for code in whole_needed:
        assert not check({**texts, "io/b.hpp": include + code}), code
    conditional = "#ifdef T\n" + include + "#endif\n"
    assert len(check({**texts, "io/b.cpp": conditional})) == 1 and not check({**texts, "io/b.cpp": include + "#ifdef T\nint x;\n#endif\n"})
    assert not check({**texts, "io/b.cpp": conditional.replace("comm.hpp", "comm_fwd.hpp")})
    assert "uses nothing" in check({**texts, "io/b.hpp": include + "int x;"})[0]
    assert check({"io/a/x_fwd.hpp": "class X;\n"}) and check({**texts, "io/a/comm_fwd.hpp": "class Gone;\n"})


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    texts = {}
    for folder in FOLDERS:
        for directory, _, names in os.walk(os.path.join(sys.argv[1], folder)):
            for name in names:
                if name.endswith((".hpp", ".cpp")):
                    path = os.path.relpath(os.path.join(directory, name), sys.argv[1]).replace(os.sep, "/")
                    with open(os.path.join(sys.argv[1], path), encoding="utf-8") as stream:
                        texts[path] = stream.read()
    problems = check(texts)
    print("\n".join(sorted(problems)))
    print(f"{len(texts)} files, {sum(path.endswith(FORWARD) for path in texts)} forward headers, {len(problems)} problems")
    return 1 if problems or not texts else 0


if __name__ == "__main__":
    sys.exit(main())
