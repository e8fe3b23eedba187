#!/usr/bin/env python3
"""Pages of docs, README.md and CONTRIBUTING.md are easy to read: short sentences, lines that fit a screen, a README.md of a page or two.

README.md: at most 80 lines and 700 words. For each page: at most 20 words per sentence in the mean, at most 3 % of its sentences (or one) over 40 words, no line over 120
columns. Tables, code and the generated pages of docs/configuration are left out. Usage: check_words.py SOURCE_DIR | --self-test
"""
import glob
import os
import re
import sys

MEAN, LONG, LONG_SHARE, COLUMNS = 20, 40, 0.03, 120
README_LINES, README_WORDS = 80, 700


def prose(text):
    """The text without code blocks and tables; each item of a list and each heading ends like a sentence."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    lines = [line for line in text.split("\n") if not line.startswith(("|", "    "))]
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|(?<=\n)(?=#)", "\n".join(lines))
    return [re.sub(r"\s+", " ", block).strip() for block in blocks if block.strip()]


def sentences(text):
    for block in prose(text):
        if block.startswith("#"):
            continue
        block = re.sub(r"\]\([^)]*\)", "]", block)
        for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z`*\[\"(])", block):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if len(words) > 2:
                yield len(words), sentence


def faults(text):
    found = list(sentences(text))
    long = [(n, sentence) for n, sentence in found if n > LONG]
    if found and sum(n for n, _ in found) / len(found) > MEAN:
        yield f"{sum(n for n, _ in found) / len(found):.1f} words per sentence in the mean; at most {MEAN}"
    if len(long) > max(1, LONG_SHARE * len(found)):
        n, sentence = max(long)
        yield f"{len(long)} of {len(found)} sentences have over {LONG} words; the longest ({n}): {sentence[:80]}…"
    code, wide = False, []
    for number, line in enumerate(text.split("\n"), 1):
        code ^= line.startswith("```")
        if not code and len(line) > COLUMNS and not line.startswith("|") and " " in line[:COLUMNS].strip(" -"):
            wide.append(number)
    if wide:
        yield f"{len(wide)} lines of over {COLUMNS} columns, the first is {wide[0]}"


def length_faults(text):
    """Whether README.md is longer than a stranger reads."""
    for n, most, what in ((text.count("\n"), README_LINES, "lines"), (len(text.split()), README_WORDS, "words")):
        if n > most:
            yield f"{n} {what}; at most {most}"


def self_test():
    assert not list(length_faults("word\n" * 80)) and len(list(length_faults("word\n" * 81))) == 1
    assert not list(length_faults("word " * 700)) and len(list(length_faults("word " * 701))) == 1
    short = "Copper melts. " * 40
    assert not list(faults(short.replace(". ", ".\n")))
    assert len(list(faults(("a word and " * 8 + "one. ") .replace("a word", "A word", 1) * 20))) >= 1
    long = "It " + "goes on " * 25 + "and ends.\n"
    assert any("over 40" in fault for fault in faults((long + "\n") * 2 + "Copper melts now.\n" * 20)) is True
    assert not any("over 40" in fault for fault in faults(re.sub("on goes", "on\ngoes", long) + "\n" + "Copper melts now.\n" * 20))
    assert any("columns" in fault for fault in faults("a" * 60 + " " + "b" * 60 + " c\n"))
    assert not list(faults("| " + "cell " * 60 + "|\n```\n" + "x " * 200 + "\n```\n"))
    assert not list(faults("".join(f"- {'word ' * 15}\n" for _ in range(9))))


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    pages = ["README.md", "CONTRIBUTING.md"] + sorted(page for pattern in ("*", "tutorials/*", "gallery/*")
                                                      for page in glob.glob(f"docs/{pattern}.md", root_dir=sys.argv[1]))
    n = 0
    for page in pages:
        text = open(os.path.join(sys.argv[1], page)).read()
        for fault in list(faults(text)) + (list(length_faults(text)) if page == "README.md" else []):
            n += 1
            print(f"{page}: {fault}")
    print(f"{len(pages)} pages, {n} problems")
    return 1 if n else 0


sys.exit(main())
