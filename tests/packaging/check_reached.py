#!/usr/bin/env python3
"""What a program runs is the product's; what tests alone reach is removed, or moved to tests/support.

Marks by name, as a collector of garbage does: from main(), from what C and Fortran call and from what runs before main(),
each name reaches those that stand in its bodies, declarations and macros. Overloads, and members of one name, live
together, so that some dead code stays unseen, and what is reported is dead. Usage: check_reached.py SOURCE_DIR, or
check_reached.py --self-test
"""
import collections
import os
import re
import sys

FOLDERS = ("io", "physics", "surrogates", "apps", "bridges")
# "header name", or the beginning of it: why it stays though no program reaches it.
ASKED = "a number that tests ask for"
LATER = "goes with the next change of its header, which many include"
ALLOWED = {
    "physics/sparse/": "the graph network below and benchmarks",
    "physics/electronic/files/matrix_files.hpp write_real_space": "writes what tests and fuzzers read",
    "physics/kernels/gemm_bf16.hpp to_bf16": "the rounding that tests expect of the kernels",
    "surrogates/potential/device/potential_device.hpp set_": "benchmarks choose the size of launches and their clock",
    "surrogates/sequence/network/torch/torch_network.hpp has_torch": "tests skip what a build lacks",
    "surrogates/sequence/reference/references.hpp fit_beside": "its last caller has gone; goes with its tests",
    "surrogates/training/optimiser.hpp optimisers": "tests go through the table",
    "surrogates/training/schedule/learning_rate.hpp rate_rows": "tests go through the table",
    "apps/application/loop/schedule.hpp every_wall_time": "a schedule for observers, beside the others",
    "surrogates/potential/evaluation/environment.hpp rows_needed": LATER,
    "surrogates/flow/equations/differential_operator.hpp is_first_order": LATER,
    "io/files/xml.hpp open_tags": ASKED,
    "io/tiers/tier_store.hpp staging_bytes": ASKED,
    "physics/codes/coded_matrix.hpp is_exact": ASKED,
    "physics/convection/linear/elliptic.hpp take_iterations": ASKED,
    "physics/kinetics/advection/exterior.hpp doubles_sent": ASKED,
    "physics/particles/domain/domain.hpp dangerous_rebuilds": ASKED,
    "surrogates/potential/training/typed_trainer.hpp gradient_values": ASKED,
    "surrogates/sequence/reference/dense_algebra.hpp moduli": ASKED,
    "surrogates/training/flat_parameters.hpp values_resident": ASKED,
}
NO_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""", re.DOTALL)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|\S")
WORD = re.compile(r"[A-Za-z_]\w*")
DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\.|\\\n)*)", re.MULTILINE)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
NOT_A_NAME = {"if", "for", "while", "switch", "return", "decltype", "sizeof", "alignas", "noexcept", "explicit", "requires", "static_assert",
              "__attribute__", "catch", "asm", "alignof", "throw"}
ANNOTATION = re.compile(r"\[\[.*?\]\]|\b(?:KOKKOS_\w*FUNCTION|QUINTET_\w+)\b")
LAUNCH_BOUNDS = re.compile(r"__launch_bounds__\([^()]*\)|\b__\w+__\b")


class Marks:
    """Names, where they are declared, and which others they reach."""

    def __init__(self):
        self.reaches = collections.defaultdict(set)
        self.members = collections.defaultdict(set)  # (type, name of its function): live where both are
        self.declared = {}  # name of a function or type: path
        self.roots = set()
        self.virtual, self.overrides = set(), set()

    def read(self, path, text):
        text = LAUNCH_BOUNDS.sub(" ", NO_CODE.sub(" ", re.sub(r"(?<=\d)'(?=\d)", "", text)))
        for name, body in DEFINE.findall(text):
            self.reaches[name].update(WORD.findall(body))
        tokens = TOKEN.findall(DIRECTIVE.sub(" ", text))
        self.scope(path, tokens, 0, None)

    def scope(self, path, tokens, at, owner):
        """Statements of a namespace, or of the type `owner`, from `at` to its closing brace; returns what follows it."""
        statement = []
        while at < len(tokens):
            token = tokens[at]
            if token == "}":
                self.statement(path, statement, owner)
                return at + 1
            if token == "{" and not self.opens_value(statement):
                at = self.open(path, tokens, at, statement, owner)
                continue
            if token == "{":
                end = closing(tokens, at)
                statement += tokens[at:end]
                at = end
                continue
            if token == ";":
                self.statement(path, statement, owner)
                statement = []
            elif token == ":" and statement in (["public"], ["private"], ["protected"]):
                statement = []
            else:
                statement.append(token)
            at += 1
        return at

    @staticmethod
    def opens_value(statement):
        """A brace after = or a name begins a value, after ) or a word of a scope a body."""
        head = outside_brackets(statement)
        if set(head) & {"namespace", "class", "struct", "union", "enum", "extern"} and "(" not in head and "=" not in head:
            return False
        return "=" in head and "operator" not in head or "(" not in head

    def open(self, path, tokens, at, statement, owner):
        end = closing(tokens, at)
        head = outside_brackets(statement)
        if "(" not in head and "=" not in head:
            if "namespace" in head or "extern" in head:
                self.scope(path, tokens[at + 1:end], 0, "extern" if "extern" in head else owner)
                statement.clear()
                return end
            name = type_name(head)
            self.reaches[name].update(WORD.findall(" ".join(statement)))
            if "enum" in head:  # whose values may be used without its name
                self.reaches[name].update(WORD.findall(" ".join(tokens[at + 1:end - 1])))
            else:
                self.declare(path, name)
                self.scope(path, tokens[at + 1:end], 0, name)
            statement.clear()
            return end
        # A function with its body, and initialisers of members before it.
        while end < len(tokens) and tokens[end] in (",", "{"):
            following = tokens.index("{", end) if "{" in tokens[end:] else end
            statement += tokens[at:following]
            at, end = following, closing(tokens, following)
        self.statement(path, statement, owner, tokens[at:end])
        statement.clear()
        return end

    def declare(self, path, name):
        if name and path.endswith(".hpp"):
            self.declared.setdefault(name, path)

    def statement(self, path, statement, owner, body=()):
        if not statement:
            return
        name, klass = function_name(statement)
        words = [*WORD.findall(" ".join(statement)), *WORD.findall(" ".join(body))]
        if owner == "extern":  # who calls it is not C++
            self.roots.add(name)
            owner = None
        type_of = klass or owner
        if name is None or (name == "main" and not owner):
            # A variable at namespace level is made before main(); a member's types are its owner's.
            if owner:
                self.reaches[owner].update(words)
            elif not declares_only(statement):
                holder = variable_name(statement)
                if holder:
                    self.reaches[holder].update(words)
                    if not set(statement[:6]) & {"constexpr", "using", "template", "const"} or "(" in outside_brackets(statement):
                        self.roots.add(holder)
                else:
                    self.roots.update(words)
            return
        if name == type_of or name == "operator" or name.startswith("~"):  # with its type
            words = [word for word in words if word != name]
            if type_of:
                self.reaches[type_of].update(words)
            else:
                for word in words:  # a free operator lives with the types it takes
                    self.reaches[word].update(words)
            return
        if klass is None:
            self.declare(path, name)
        if "extern" in statement or path.startswith("bridges/"):
            self.roots.add(name)
        if type_of and "virtual" in statement:
            self.virtual.add(name)
        if type_of and "override" in statement:
            self.overrides.add((type_of, name))
        reaches = self.members[type_of, name] if type_of else self.reaches[name]
        reaches.update(word for word in words if word not in (name, klass))

    def live(self):
        todo, seen = list(self.roots | {"main"}), set()
        for kind, name in self.overrides:
            if name not in self.virtual:  # of a library's class, which calls it
                self.reaches[kind].add(name)
        of_type, of_name = collections.defaultdict(list), collections.defaultdict(list)
        for member in self.members:
            of_type[member[0]].append(member)
            of_name[member[1]].append(member)
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            todo.extend(self.reaches.get(name, ()))
            for member in of_type[name] + of_name[name]:
                if member[0] in seen and member[1] in seen:
                    todo.extend(self.members[member])
        return seen


def closing(tokens, at):
    depth = 0
    for i in range(at, len(tokens)):
        depth += tokens[i] == "{"
        depth -= tokens[i] == "}"
        if depth == 0:
            return i + 1
    return len(tokens)


def outside_brackets(statement):
    """The tokens outside of template<...>, [[...]] and (...): of each (...) the "(" stays."""
    text = ANNOTATION.sub(" ", " ".join(statement).replace("[ [", "[[").replace("] ]", "]]"))
    out, depth, angle, after = [], 0, 0, None
    for token in TOKEN.findall(text):
        if token == ")":
            depth -= 1
        if depth == 0:
            if token == "<" and (after == "template" or angle or (after and WORD.fullmatch(after) and after != "operator")):
                angle += 1
            elif token == ">" and angle:
                angle -= 1
            elif not angle and token != ")":
                out.append(token)
        if token == "(":
            depth += 1
        after = token
    return out


def type_name(head):
    """Of `struct Name final : Base`."""
    for i, token in enumerate(head):
        if token in ("class", "struct", "union", "enum"):
            rest = [t for t in head[i + 1:] if t not in ("class", "struct", "alignas", "(", "final")]
            end = rest.index(":") if ":" in rest else len(rest)
            names = [t for t in rest[:end] if WORD.fullmatch(t)]
            return names[-1] if names else None
    return None


def function_name(statement):
    """(name, class) of a function, (None, None) of anything else."""
    head = outside_brackets(statement)
    if "(" not in head or ("=" in head[:head.index("(")] and "operator" not in head) or head[0] in ("using", "typedef", "friend", "static_assert"):
        return None, None
    if "operator" in head[:head.index("(") + 1]:
        i = head.index("operator")
        return "operator", head[i - 2] if i > 1 and head[i - 1] == "::" else None
    at = head.index("(")
    while at and head[at - 1] in NOT_A_NAME:  # requires(...), explicit(...), decltype(...)
        if "(" not in head[at + 1:]:
            return None, None
        at = head.index("(", at + 1)
    if at == 0 or not WORD.fullmatch(head[at - 1]):
        return None, None
    name = head[at - 1]
    if at > 1 and head[at - 2] == "~":
        return "~" + name, head[at - 4] if at > 3 and head[at - 3] == "::" else None
    return name, head[at - 3] if at > 2 and head[at - 2] == "::" else None


def declares_only(statement):
    head = outside_brackets(statement)
    return head and head[0] in ("class", "struct", "enum", "union") and len(head) < 4


def variable_name(statement):
    head = outside_brackets(statement)
    end = next((i for i, token in enumerate(head) if token in ("=", "[", "{", "(")), len(head))
    if head and head[0] == "using":
        return head[1] if len(head) > 1 and "=" in head else None
    names = [token for token in head[:end] if WORD.fullmatch(token)]
    return names[-1] if len(names) > 1 else None


def sources(source_dir):
    for folder in FOLDERS:
        for directory, _, names in os.walk(os.path.join(source_dir, folder)):
            for name in names:
                if name.endswith((".hpp", ".cpp", ".h")):
                    path = os.path.join(directory, name)
                    with open(path, encoding="utf-8") as stream:
                        yield os.path.relpath(path, source_dir), stream.read()


def unreached(files):
    """(number of files, of names, [(header, name)] of what no program reaches)."""
    marks = Marks()
    n = 0
    for path, text in files:
        n += 1
        marks.read(path, text)
    live = marks.live()
    return n, len(marks.declared), sorted((path, name) for name, path in marks.declared.items() if name not in live)


def self_test():
    def dead(header, *sources):
        files = [("physics/a.hpp", header), *[(f"apps/{i}.cpp", text) for i, text in enumerate(sources)]]
        return [name for _, name in unreached(files)[2]]

    function = "int used();\nint unused(int n = 1);\n"
    body = "int used() { return 1; }\nint unused(int n) { return used() + unused(n - 1); }\n"
    assert dead(function, body + "int main() { return used(); }") == ["unused"], "calls of itself do not count"
    assert dead(function, body + "int main() { return unused(2); }") == []
    assert dead(function, body + "int main() { /* unused(2) */ return used() + sizeof(\"unused\"); }") == ["unused"]
    assert dead(function, body + "#define QUICK unused(1)\nint main() { return QUICK; }") == []
    assert dead(function, body + 'extern "C" { int entry() { return unused(2); } }') == []
    assert dead(function, body + "const int table[] = {used(), unused(1)};\nint main() { return table[0]; }") == []
    held = "struct A { int f() const { return helper(); } int g(); };\nint helper();\n"
    assert dead(held, "int main() { A a; return a.f(); }") == ["g"]
    assert dead(held, "int f(); int g(); int main() { return f() + g(); }") == ["A", "helper"], "f of A needs an A"
    derived = "struct B { virtual int run() = 0; };\nstruct C : B { int run() override { return deep(); } };\nint deep();\n"
    assert dead(derived, "int go(B& b) { return b.run(); }\nint main() { C c; return go(c); }") == []
    assert dead("struct D : Foreign { int called() override; };\n", "int main() { D d; return 0; }") == []
    assert dead("template <class T>\n[[nodiscard]] T twice(T x) {\n  return x + x;\n}\n", "int main() { return 0; }") == ["twice"]


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    n_files, n_names, dead = unreached(sources(sys.argv[1]))
    used = set()
    problems = []
    for path, name in dead:
        allowed = next((entry for entry in ALLOWED if f"{path} {name}".startswith(entry)), None)
        used.add(allowed)
        if not allowed:
            problems.append(f"{path}: no program reaches {name}; use it, remove it or move it to tests/support")
    problems += [f"{entry}: is allowed to be unreached, and nothing of it is" for entry in ALLOWED if entry not in used]
    print("\n".join(problems))
    print(f"{n_files} files, {n_names} names, {len(dead)} unreached, {len(problems)} problems")
    return 1 if problems or not n_files else 0


if __name__ == "__main__":
    sys.exit(main())
