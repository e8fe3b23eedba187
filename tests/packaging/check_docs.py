#!/usr/bin/env python3
"""Pages are true: what they name is there, and every room has a page.

- Every room (ROOMS of check_includes.py) that exists has a README.md, which says which file to read first (of more than two);
  the README of the folder above names its rooms in their order, lowest first.
- A path in back quotes, in a block of commands or in a link of a *.md file exists; so does a file that a comment of a source
  names. Words of capitals (AREA, NAME) and names that begin with "thing" stand for anything; `*`, `{a,b}` and `…` work as in a shell.
- The section that a link names is a heading of its page. Every page of docs has a place in docs/book.yml, and is two
  clicks from README.md at most.
- docs/architecture.svg is what docs/architecture.py draws, and no room is missing in it.
- The homes of third parties that docs/architecture.md (a table) and CONTRIBUTING.md (a list) name are those of check_includes.py.

Usage: check_docs.py SOURCE_DIR, or check_docs.py --self-test
"""
import fnmatch
import importlib.util
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from check_includes import FLOORS, HOMES, ROOMS

TOP = FLOORS + ("tests", "docs", "inputs", "cmake")
SUFFIXES = (".hpp", ".cpp", ".hpp.in", ".cmake", ".py", ".md", ".sh")
# Written by runs or by the user, or of another program.
ELSEWHERE = ("runs/", "checkpoints/", "emergency/", "gkyl/", "models/", "build/", ".quintet/", "frame_000000/", "systems/", "train/",
             "run/", "select/", "label/", "iteration_00/", "numpy.lib.format", "ATen/", "torch/")
QUOTED = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
ANCHOR = re.compile(r"\[[^\]]*\]\(([^)#\s]*)#([^)\s]+)\)")
CLICKS = 2  # from README.md to any page of docs
PLACE = re.compile(r"^\s+- [^:\n]+: (\S+\.md)$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"//.*$", re.MULTILINE)
FILE_IN_COMMENT = re.compile(r"(?<![\w./*-])[\w/.*-]*\w\.(?:hpp|cpp|py|md)(?![\w(])")


def rooms(paths):
    """Every folder of the house that exists, with its rooms in their order."""
    folders = {os.path.dirname(path) for path in paths}
    folders |= {parent for folder in set(folders) for parent in parents(folder)}
    return {folder: [[room for room in step.split() if os.path.join(folder, room) in folders] for step in steps]
            for folder, steps in ROOMS.items() if folder == "" or folder in folders}


def parents(folder):
    while "/" in folder:
        folder = os.path.dirname(folder)
        yield folder


def room_problems(files):
    """What is wrong with the README files of the rooms. files: path -> text of each *.md, other paths -> None."""
    for folder, steps in rooms(files).items():
        for room in (os.path.join(folder, room) for step in steps for room in step):
            if os.path.join(room, "README.md") not in files:
                yield f"{room}: no README.md"
            elif room not in ROOMS and not re.search(r"First\s+file:\s+`", files[os.path.join(room, "README.md")]):
                if len([path for path in files if os.path.dirname(path) == room]) > 3:
                    yield f"{room}/README.md: does not say which file to read first (First file: `...`)"
        page = os.path.join(folder, "README.md")
        if folder == "" or page not in files:
            continue
        places = [[files[page].find(f"`{room}/`") for room in step] for step in steps]
        for step, found in zip(steps, places):
            yield from (f"{page}: does not name its room `{room}/`" for room, at in zip(step, found) if at < 0)
        order = [at for found in places for at in sorted(found) if at >= 0]
        if order != sorted(order):
            yield f"{page}: names its rooms in another order than ROOMS of check_includes.py"


def braces(word):
    found = re.search(r"\{([^{}]*,[^{}]*)\}", word)
    if not found:
        return [word]
    return [full for part in found.group(1).split(",") for full in braces(word[:found.start()] + part + word[found.end():])]


def pattern_of(word):
    word = re.sub(r"…|\.\.\.", "*", word)
    return re.sub(r"(?<![A-Za-z0-9])[A-Z][A-Z_]+(?![A-Za-z0-9])", "*", word)


def looks_like_path(word):
    if re.search(r"[\s(){}<>=:,;#&|$\"']", re.sub(r"\{[^{}]*,[^{}]*\}", "", word)) or "://" in word or word.startswith(("--", "/")):
        return False
    if word.startswith(ELSEWHERE) or word.split("/")[-1].startswith("thing"):
        return False
    return word.split("/")[0] in TOP and "/" in word or word.endswith(SUFFIXES) and not word.startswith(".") \
        or word.endswith("/") and word.count("/") == 1 and word[0].isalpha()


def names_one(pattern, paths):
    """Whether a pattern of the shell names one of the paths. Plain ends of paths are looked up: most are, in a hundredth of the time."""
    end = pattern.removeprefix("*/")
    if set("*?[") & set(end):
        return bool(fnmatch.filter(paths, pattern))
    return pattern in paths if end == pattern else any(path.endswith("/" + end) for path in paths)


def exists(word, page, paths):
    """Whether a word of a page is a path, from its folder or the root; files may be named by the end of their path."""
    here = os.path.dirname(page)
    for full in braces(word):
        pattern = pattern_of(full.rstrip("/"))
        wanted = [os.path.normpath(os.path.join(here, pattern)), os.path.normpath(pattern)]
        if word.endswith(SUFFIXES) or "/" not in full.rstrip("/"):
            wanted.append("*/" + pattern)
        if not any(names_one(one, paths) for one in wanted):
            return False
    return True


def page_problems(page, text, paths):
    words = QUOTED.findall(FENCE.sub("", text))
    words += [word.strip("[],") for block in FENCE.findall(text) for word in block.split() if "/" in word]
    words = [word for word in words if looks_like_path(word)] + [word for word in LINK.findall(text) if "://" not in word]
    for word in dict.fromkeys(words):
        if not exists(word, page, paths):
            yield f"{page}: {word} is not there"


def anchors(text):
    """The names by which the headings of a page are linked, as GitHub and the book make them."""
    names = []
    for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        names.append(f"{name}-{names.count(name)}" if name in names else name)
    return names


def linked(page, text):
    """Pages that a page links to, folders by their README.md."""
    for link in LINK.findall(FENCE.sub("", text)):
        path = os.path.normpath(os.path.join(os.path.dirname(page), link))
        yield path if path.endswith(".md") else os.path.join(path, "README.md")


def book_problems(pages, book):
    """Dead sections, pages of docs without a place in the book, and pages that nothing leads to. pages: path -> text."""
    for page, text in pages.items():
        for link, anchor in ANCHOR.findall(FENCE.sub("", text)):
            path = os.path.normpath(os.path.join(os.path.dirname(page), link)) if link else page
            if path in pages and anchor not in anchors(pages[path]):
                yield f"{page}: {link}#{anchor}: there is no such heading"
    places = PLACE.findall(book)
    yield from (f"docs/book.yml: {page} is not there" for page in places if page not in pages)
    yield from (f"docs/book.yml: {page} has two places" for page in sorted(set(places)) if places.count(page) > 1)
    clicks, waiting = {}, [("README.md", 0)]
    while waiting:  # breadth first
        page, n = waiting.pop(0)
        if page in pages and page not in clicks:
            clicks[page] = n
            waiting += [(other, n + 1) for other in linked(page, pages[page])]
    for page in sorted(pages):
        if page.startswith("docs/"):
            if page not in places:
                yield f"docs/book.yml: {page} has no place"
            if page not in clicks:
                yield f"{page}: no page that README.md leads to links it"
            elif clicks[page] > CLICKS:
                yield f"{page}: is {clicks[page]} clicks away from README.md; at most {CLICKS}"


def comment_problems(source, text, names):
    for comment in COMMENT.findall(text):
        for word in FILE_IN_COMMENT.findall(comment):
            if word.split("/")[-1].startswith("thing") or word.startswith(ELSEWHERE):
                continue
            if not (names_one(word, names) or names_one("*/" + word, names)):
                yield f"{source}: a comment names {word}, which is not there"


def picture_problems(source_dir, files):
    """The picture of docs/architecture.md against its script, and the script against the rooms that there are."""
    specification = importlib.util.spec_from_file_location("architecture", os.path.join(source_dir, "docs", "architecture.py"))
    architecture = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(architecture)
    there = rooms(files)
    leaves = {os.path.join(folder, room) for folder, steps in there.items() for step in steps for room in step} - set(there)
    yield from (f"docs/architecture.py: {room} is not in the picture" for room in sorted(leaves - architecture.named_rooms()))
    known = {os.path.join(folder, room) for folder, steps in ROOMS.items() for step in steps for room in step.split()}
    yield from (f"docs/architecture.py: {room} is no room" for room in sorted(architecture.named_rooms() - known))
    if read(source_dir, "docs/architecture.svg") != architecture.draw():
        yield "docs/architecture.svg is not what docs/architecture.py draws: python3 docs/architecture.py, and look at it"


def home_problems(pages):
    """Pages that name the homes of third parties otherwise than HOMES: a row `| HDF5 | `io/hdf5` |` or words (HDF5: `io/hdf5`, …)."""
    wanted = {(name.split(" or ")[0], home.rstrip("/")) for name, _, homes in HOMES for home in homes}
    for page, pattern in (("docs/architecture.md", r"^\| ([\w -]+?) \| `([\w/]+)` \|$"), ("CONTRIBUTING.md", r"([\w-]+):\s+`([a-z]+(?:/[a-z0-9]+)?)`(?=[,)])")):
        found = set(re.findall(pattern, pages.get(page, ""), re.MULTILINE))
        yield from (f"{page}: does not say that the home of {name} is `{home}`" for name, home in sorted(wanted - found))
        if page.startswith("docs/"):
            names = {name for name, _ in wanted}
            yield from (f"{page}: {name} is not at home in `{home}`" for name, home in sorted(found - wanted) if name in names or "/" in home)


def with_folders(paths):
    return set(paths) | {parent for path in paths for parent in parents(path)}


def listed(source_dir):
    """All files of the project: those that git knows or would add, or all in the folder where there is no git."""
    done = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=source_dir, capture_output=True, text=True)
    if done.returncode == 0 and done.stdout:
        return [path for path in done.stdout.split("\n") if path and os.path.exists(os.path.join(source_dir, path))]
    return [os.path.relpath(os.path.join(directory, name), source_dir) for top in TOP + ("",)
            for directory, _, names in os.walk(os.path.join(source_dir, top)) if top or directory == source_dir
            for name in names]


def read(source_dir, path):
    with open(os.path.join(source_dir, path), encoding="utf-8") as stream:
        return stream.read()


def problems_of(source_dir):
    files = listed(source_dir)
    paths = with_folders(files)
    pages = {path: read(source_dir, path) if path.endswith(".md") else None for path in files}
    yield from room_problems(pages)
    yield from picture_problems(source_dir, files)
    yield from home_problems(pages)
    for page, text in pages.items():
        if text is not None and page != "CHANGELOG.md":  # it names files as they were
            yield from page_problems(page, text, paths)
    yield from book_problems({page: text for page, text in pages.items() if text is not None}, read(source_dir, "docs/book.yml"))
    names = {path for path in files if path.endswith(SUFFIXES)}
    for source in sorted(names):
        if source.startswith(FLOORS) and source.endswith((".hpp", ".cpp")):
            yield from comment_problems(source, read(source_dir, source), names)


def self_test():
    paths = with_folders(["io/log/log.hpp", "io/log/README.md", "io/files/README.md", "io/README.md", "docs/page.md"])
    good = "`log.hpp` `io/log` `log/` `thing.hpp` `tests_are_words` `physics::f` [log](log/README.md)\n```\nls io/log\n```\n"
    assert not list(page_problems("io/README.md", good, paths))
    for bad in ("`gone.hpp`", "`io/gone`", "`gone/`", "[page](gone.md)", "```\nls io/gone\n```", "`{log,gone}.hpp`", "`io/log/*.cpp`"):
        assert list(page_problems("io/README.md", bad, paths)), bad
    assert not list(page_problems("io/README.md", "`io/NAME/README.md` `io/{log,files}/README.md` `l*.hpp`", paths))
    pages = dict.fromkeys(paths)
    pages.update({"io/README.md": "`log/` then `files/`", "io/log/README.md": "", "io/files/README.md": ""})
    assert not list(room_problems(pages)), list(room_problems(pages))
    assert list(room_problems({**pages, "io/README.md": "`files/` then `log/`"}))
    assert list(room_problems({**pages, "io/README.md": "`log/`"}))
    assert list(room_problems({path: text for path, text in pages.items() if path != "io/log/README.md"}))
    many = {**pages, **{f"io/log/{i}.hpp": None for i in range(3)}}
    assert list(room_problems(many)) and not list(room_problems({**many, "io/log/README.md": "First\nfile: `log.hpp`"}))
    book = {"README.md": "[a](docs/a.md#two-words) [b](docs/b.md)", "docs/a.md": "# Two words\n[here](#two-words)", "docs/b.md": "# `B`: b's"}
    places = "nav:\n  - A: docs/a.md\n  - B: docs/b.md\n"
    assert not list(book_problems(book, places)), list(book_problems(book, places))
    assert anchors("# Gauss's law, twice\n## A\n```\n# no\n```\n## A\n") == ["gausss-law-twice", "a", "a-1"]
    for page, text in (("README.md", "[a](docs/a.md#three) [b](docs/b.md)"), ("README.md", "[a](docs/a.md)"), ("docs/a.md", "[x](#x)")):
        assert len(list(book_problems({**book, page: text}, places))) > 0, text
    assert len(list(book_problems(book, places.replace("  - B: docs/b.md\n", "")))) == 1
    assert len(list(book_problems(book, places + "  - C: docs/c.md\n  - B: docs/b.md\n"))) == 2
    far = {"README.md": "[a](docs/a.md)", "docs/a.md": "[b](b.md)", "docs/b.md": "[c](c.md)", "docs/c.md": ""}
    assert [fault for fault in book_problems(far, places + "  - C: docs/c.md\n") if "3 clicks" in fault]
    assert not [fault for fault in book_problems({**far, "docs/a.md": "[b](b.md) [c](c.md)"}, places + "  - C: docs/c.md\n") if "clicks" in fault]
    rows = {(name.split(" or ")[0], home.rstrip("/")) for name, _, homes in HOMES for home in homes}
    homes = {"docs/architecture.md": "\n".join(f"| {name} | `{home}` |" for name, home in rows),
             "CONTRIBUTING.md": "(" + ", ".join(f"{name}: `{home}`" for name, home in rows) + ")"}
    assert not list(home_problems(homes)), list(home_problems(homes))
    for page, text in homes.items():
        assert list(home_problems({**homes, page: text.replace("`io/hdf5`", "`io/netcdf`")})), page
    assert list(home_problems({**homes, "docs/architecture.md": homes["docs/architecture.md"] + "\n| HDF5 | `io/config` |"}))
    assert not list(comment_problems("a.cpp", "// see log.hpp\nint x;", {"io/log/log.hpp"}))
    assert list(comment_problems("a.cpp", "/// see gone.hpp", {"io/log/log.hpp"}))


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    problems = list(problems_of(sys.argv[1]))
    print("\n".join(problems))
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
