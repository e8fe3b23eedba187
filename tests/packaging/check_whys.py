"""Check that a long function says why it does what it does.

A function of more than LIMIT lines has a comment above it, in its body, or above its declaration in a header of its folder.
describe() needs none: each of its lines is the doc of a key.
Usage: check_whys.py ROOT | --self-test
"""

import pathlib
import re
import sys

LIMIT = 25
FLOORS = ("apps", "bridges", "io", "physics", "surrogates")
COMMENT = re.compile(r"^\s*(///?|/\*|\*)|[;{}),]\s*//")
CALL = re.compile(r"KOKKOS_LAMBDA|(^|[^\[])\[[=&]?\w*\]\s*\(|\[[=&]")
NO_FUNCTION = re.compile(r"^\s*(namespace|class|struct|enum|union|extern|if|for|while|switch|else|do|try|catch|return)\b|=\s*\{?$")


def name_of(head):
    """Return the name of the function that a head defines, or None where it defines none."""
    whole = "".join(head)
    if NO_FUNCTION.match(head[0]) or "(" not in whole or CALL.search(whole):
        return None
    before = re.sub(r"<[^<>]*>", "", " ".join(line.strip() for line in head)).split("(")[0]
    if "=" in before:
        return None
    words = re.findall(r"[~\w]+", before)
    if words and words[-1] in ("for", "if", "while", "switch"):
        return None
    return words[-1] if len(words) > 1 or "::" in before else None


def functions(lines):
    """Yield (name, number of the first line of the head, of the opening brace, of the closing brace) of each function."""
    for i_open, line in enumerate(lines):
        if not line.rstrip().endswith("{"):
            continue
        i_head = i_open
        while i_head > 0 and re.match(r"^\s{4,}\S|^\s*: ", lines[i_head]) and not re.search(r"[;{}]\s*$", lines[i_head - 1]):
            i_head -= 1
        indent = len(lines[i_head]) - len(lines[i_head].lstrip())
        if indent not in (0, 2):
            continue
        name = name_of(lines[i_head : i_open + 1])
        if name is None:
            continue
        closing = " " * indent + "}"
        for i_close in range(i_open + 1, len(lines)):
            if lines[i_close].startswith(closing) and not lines[i_close].startswith(closing + " else"):
                yield name, i_head, i_open, i_close
                break


def is_said(lines, i_head, i_open, i_close):
    """Tell whether a comment stands above the function (templates and attributes in between) or in its body."""
    above = i_head - 1
    while above >= 0 and re.match(r"^\s*(template|\[\[|extern \"C\")", lines[above]):
        above -= 1
    if above >= 0 and COMMENT.search(lines[above]):
        return True
    return any(COMMENT.search(line) for line in lines[i_open : i_close + 1])


def documented(headers):
    """Return the names that stand under a docstring in a header."""
    names = set()
    for text in headers:
        lines = text.splitlines()
        for i_line, line in enumerate(lines[:-1]):
            if not line.lstrip().startswith("///"):
                continue
            declaration = " ".join(lines[i_line + 1 : i_line + 5])
            if not declaration.lstrip().startswith("///"):
                found = re.search(r"([~\w]+)\(", declaration)
                if found:
                    names.add(found.group(1))
    return names


def findings(root, limit=LIMIT):
    """Return a line for each function of more than `limit` lines that says nothing."""
    paths = [path for floor in FLOORS for path in sorted((root / floor).rglob("*.[ch]pp"))]
    found, names = [], {}
    for folder in {path.parent for path in paths}:
        names[folder] = documented(path.read_text() for path in paths if path.parent == folder and path.suffix == ".hpp")
    for path in paths:
        lines = path.read_text().splitlines()
        for name, i_head, i_open, i_close in functions(lines):
            length = i_close - i_open - 1
            if length > limit and name != "describe" and name not in names[path.parent] and not is_said(lines, i_head, i_open, i_close):
                found.append(f"{path.relative_to(root)}:{i_head + 1}: {name} has {length} lines and no comment: "
                             "say above it why it does this, or its formula")
    return found


def self_test():
    """Check the check on a long function without a comment, with one above, and with one in its body."""
    body = ["  work();"] * (LIMIT + 1)
    silent = ["int sum_of(int first,", "           int last) {", *body, "}"]
    assert [name for name, *_ in functions(silent)] == ["sum_of"]
    (_, *place), = functions(silent)
    assert place[2] - place[1] - 1 == LIMIT + 1
    assert not is_said(silent, *place)
    above = ["// Because.", "template <class T>", *silent]
    assert is_said(above, 2, 3, len(above) - 1)
    inside = [*silent[:2], "  work();  // because", *body, "}"]
    assert is_said(inside, 0, 1, len(inside) - 1)
    assert documented(["/// Return the sum.\nint sum_of(int first);\n"]) == {"sum_of"}
    assert not list(functions(["struct Sum {", "};", "const Table table = {", "};", "  parallel_for(n, [&](int i) {", "  }"]))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--self-test":
        self_test()
    else:
        silent_functions = findings(pathlib.Path(sys.argv[1]))
        print("\n".join(silent_functions))
        sys.exit(bool(silent_functions))
