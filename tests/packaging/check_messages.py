#!/usr/bin/env python3
"""Messages that docs/troubleshooting.md lists are messages that the programs have.

The first column of its tables has a message in back quotes; `…` stands for what differs from run to run. The parts between must stand in
string literals of one source file (literals that follow each other are one). Usage: check_messages.py SOURCE_DIR | --self-test
"""
import glob
import os
import re
import sys

FOLDERS = ("apps", "io", "physics", "surrogates")
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
LITERALS = re.compile(rf"{LITERAL}(?:\s*{LITERAL})*")
LEAST = 30  # messages of the page


def messages(page):
    """The messages of the page's tables, in their order."""
    return [row.strip("`") for row in re.findall(r"^\| (`[^|]*`) \|", page, re.MULTILINE)]


def texts(source):
    """The string literals of a source, those that follow each other as one."""
    for found in LITERALS.findall(source):
        yield re.sub(r"\\(.)", r"\1", "".join(one[1:-1] for one in re.findall(LITERAL, found)))


def parts(message):
    return [part for part in (part.strip() for part in message.split("…")) if re.search(r"\w\w", part)]


def stands(message, sources):
    """Whether each part of a message stands in the literals of one source, in this order where it is one literal."""
    wanted = parts(message)
    return bool(wanted) and any(all(any(part in text for text in literals) for part in wanted) for literals in sources)


def self_test():
    source = [list(texts('f("needs a unit: write for "\n  "example \'{} {}\'", x); g("it is {}\\n", y);'))]
    assert stands("needs a unit: write for example …", source) and stands("… it is …", source)
    assert not stands("needs no unit", source) and not stands("…", source)
    assert messages("| a | b |\n| `x …` | y |\n") == ["x …"]


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    names = [name for folder in FOLDERS for kind in ("cpp", "hpp")
             for name in glob.glob(os.path.join(sys.argv[1], folder, "**", f"*.{kind}"), recursive=True)]
    sources = [list(texts(open(name, encoding="utf-8").read())) for name in names]
    with open(os.path.join(sys.argv[1], "docs", "troubleshooting.md"), encoding="utf-8") as stream:
        found = messages(stream.read())
    gone = [message for message in found if not stands(message, sources)]
    print("".join(f"docs/troubleshooting.md: no program says `{message}`\n" for message in gone) + f"{len(found)} messages")
    return 1 if gone or len(found) < LEAST else 0


sys.exit(main())
