#!/usr/bin/env python3
"""Which lines tests have run, room by room, from a build of preset coverage.

All counts of BUILD_DIR are set to zero, COMMAND is run, and gcov's JSON is added up: a line counts once, however many objects
and templates have it, and is covered if any of them ran it. What was compiled and never ran counts as not covered; what was
not compiled does not count. Usage: coverage.py [--least PERCENT] BUILD_DIR [ROOM …] -- COMMAND …, or coverage.py --self-test
Rooms under PERCENT (85) are listed with their files and the largest functions that never ran, and end with 1; ROOM: only these,
such as io/config.
"""
import collections
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

FLOORS = ("io", "physics", "surrogates", "apps", "bridges")


def add_counts(text, source_dir, counts, functions):
    """Add what gcov printed of one object, a JSON document a line, to `counts`: file -> line -> times it ran, and to `functions`:
    file -> its first line -> [name, last line, calls]; instances of a template are one function."""
    for document in filter(None, text.split("\n")):
        data = json.loads(document)
        for one in data["files"]:
            path = os.path.relpath(os.path.normpath(os.path.join(data["current_working_directory"], one["file"])), source_dir)
            if path.split(os.sep)[0] in FLOORS:
                for line in one["lines"]:
                    counts[path][line["line_number"]] += line["count"]
                for function in one.get("functions", ()):
                    known = functions[path].setdefault(function["start_line"], [short_name(function["demangled_name"]), function["end_line"], 0])
                    known[2] += function["execution_count"]


def short_name(demangled):
    """The name of a function without its arguments, template arguments and namespaces of the project."""
    depth, kept = 0, []
    for character in demangled.replace("operator<", "operator lt").replace("(anonymous namespace)::", ""):
        depth += (character in "<([{") - (character in ">)]}")
        if character == "(" and depth == 1 and "".join(kept).strip() != "decltype":
            break
        if depth == 0 and character not in ">)]}":
            kept.append(character)
    return "".join(kept).split(" ")[-1].replace("quintet::", "")


def rooms_of(counts):
    """Room -> [lines, lines that ran, {file: (lines, lines that ran)}]."""
    rooms = collections.defaultdict(lambda: [0, 0, {}])
    for path, lines in counts.items():
        room = rooms[os.path.dirname(path)]
        ran = sum(count > 0 for count in lines.values())
        room[0] += len(lines)
        room[1] += ran
        room[2][path] = (len(lines), ran)
    return rooms


def percent(ran, lines):
    return 100 * ran / lines if lines else 100.0


def never_called(counts, functions, room):
    """Functions of a room that never ran, as (lines, "file:line name"), the largest first."""
    found = []
    for path, of_file in functions.items():
        if os.path.dirname(path) == room:
            for first, (name, last, calls) in of_file.items():
                if calls == 0:
                    found.append((sum(first <= line <= last for line in counts[path]), f"{path}:{first} {name}"))
    return sorted(found, key=lambda one: (-one[0], one[1]))


def table(rooms, least, counts, functions):
    """Lines of text, worst room first, and how many rooms are under `least`."""
    text, under = [], 0
    for room, (lines, ran, files) in sorted(rooms.items(), key=lambda item: percent(item[1][1], item[1][0])):
        text.append(f"{percent(ran, lines):5.1f} % of {lines:6} lines  {room}")
        if percent(ran, lines) < least:
            under += 1
            worst = sorted(files.items(), key=lambda item: item[1][1] - item[1][0])
            text += [f"        {n - k:5} of {n} never ran: {path}" for path, (n, k) in worst[:5] if k < n]
            text += [f"        {n:5} lines of {what}" for n, what in never_called(counts, functions, room)[:5]]
    return text, under


def missed(counts, path):
    """Ranges of lines of a file that never ran: "3-5 9"."""
    ranges = []
    for line in sorted(number for number, count in counts[path].items() if count == 0):
        if ranges and line == ranges[-1][1] + 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    return " ".join(f"{first}-{last}" if last > first else str(first) for first, last in ranges)


def objects(build_dir, ending):
    for directory, _, names in os.walk(build_dir):
        yield from (os.path.join(directory, name) for name in names if name.endswith(ending))


def read_counts(build_dir, source_dir):
    counts, functions = collections.defaultdict(collections.Counter), collections.defaultdict(dict)

    def gcov(path):
        return subprocess.run(["gcov", "--json-format", "--stdout", os.path.abspath(path)], cwd=build_dir, capture_output=True, text=True).stdout

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for text in pool.map(gcov, objects(build_dir, ".gcno")):
            add_counts(text, source_dir, counts, functions)
    return counts, functions


def torn(build_dir):
    """Files of counts that a process was killed while it wrote: gcov reads them as if nothing had run."""
    def is_torn(path):
        said = subprocess.run(["gcov-dump", path], capture_output=True, text=True, errors="replace").stdout
        return "is invalid" in said or "incorrectly nested" in said or "record size mismatch" in said

    paths = sorted(objects(build_dir, ".gcda"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [path for path, bad in zip(paths, pool.map(is_torn, paths)) if bad]


def self_test():
    if shutil.which("gcov-dump"):
        with tempfile.TemporaryDirectory() as folder:
            head = b"adcg*22B" + bytes(8)  # the format of g++ 12, a stamp and a sum
            for name, record in (("whole", b"\x00\x00\x00\xa1\x08\x00\x00\x00" + bytes(8)), ("torn", b"\xb8\x83\x30\xa4\x00\x00\xa1\x01" + bytes(8))):
                with open(os.path.join(folder, name + ".gcda"), "wb") as file:
                    file.write(head + record)
            assert [os.path.basename(path) for path in torn(folder)] == ["torn.gcda"], torn(folder)

    def document(path, *lines, functions=()):
        return json.dumps({"current_working_directory": "/s/build", "files": [
            {"file": path, "lines": [{"line_number": n, "count": c} for n, c in lines],
             "functions": [{"demangled_name": name, "start_line": first, "end_line": last, "execution_count": c} for name, first, last, c in functions]}]})

    counts, functions = collections.defaultdict(collections.Counter), collections.defaultdict(dict)
    ran, never, instance = ("quintet::f(int)", 1, 2, 5), ("int quintet::(anonymous namespace)::g<int>(A<int>)", 3, 4, 0), ("quintet::f(int)", 1, 2, 0)
    add_counts(document("../io/a/x.cpp", (1, 0), (2, 5), (3, 0), functions=(ran, never)) + "\n" + document("/usr/include/vector", (1, 1)) + "\n", "/s",
               counts, functions)
    add_counts(document("/s/io/a/x.cpp", (1, 2), (1, 0), (4, 0), functions=(instance,)) + "\n", "/s", counts, functions)  # a template has a line twice
    add_counts(document("/s/io/b/y.hpp", (7, 1)) + "\n", "/s", counts, functions)
    assert dict(counts["io/a/x.cpp"]) == {1: 2, 2: 5, 3: 0, 4: 0} and set(counts) == {"io/a/x.cpp", "io/b/y.hpp"}
    assert never_called(counts, functions, "io/a") == [(2, "io/a/x.cpp:3 g")] and never_called(counts, functions, "io/b") == []
    assert short_name("quintet::a::B<int, C<2> >::run(D const&) const") == "a::B::run"
    assert short_name("void f(E)") == "f" and short_name("decltype (a(b)) C::d<e>(f)") == short_name("decltype(auto) C::d<e>(f)") == "C::d"
    rooms = rooms_of(counts)
    assert rooms["io/a"][:2] == [4, 2] and rooms["io/b"][:2] == [1, 1]
    text, under = table(rooms, 85, counts, functions)
    assert under == 1 and text[0].endswith("io/a") and "2 of 4 never ran: io/a/x.cpp" in text[1] and text[-1].endswith("io/b")
    assert text[2].endswith("2 lines of io/a/x.cpp:3 g")
    assert table(rooms, 50, counts, functions)[1] == 0 and table(rooms, 50.1, counts, functions)[1] == 1
    assert missed(counts, "io/a/x.cpp") == "3-4" and missed(counts, "io/b/y.hpp") == ""
    assert table({}, 85, counts, functions) == ([], 0)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    arguments, least = sys.argv[1:], 85.0
    command = arguments[arguments.index("--") + 1:] if "--" in arguments else []
    arguments = arguments[:len(arguments) - len(command) - ("--" in arguments)]
    if arguments[:1] == ["--least"]:
        least, arguments = float(arguments[1]), arguments[2:]
    if not arguments or not os.path.exists(os.path.join(arguments[0], "CMakeCache.txt")):
        print("no build: cmake --preset coverage, then build what is to be looked at, in build-coverage")
        return 1
    build_dir, wanted = arguments[0], tuple(room.rstrip("/") for room in arguments[1:])
    if command:
        for path in objects(build_dir, ".gcda"):
            os.remove(path)
        status = subprocess.run(command, check=False).returncode
        if status:
            print(f"(the command ended with {status}: what did not run is not covered)")
    source_dir = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    lost = torn(build_dir)
    for path in lost:
        print(f"{path}: a process was killed while it wrote these counts, and all of the object are lost: remove the file and repeat its "
              "tests without those that kill")
    counts, functions = read_counts(build_dir, source_dir)
    if not counts:
        print(f"{build_dir} has no counts: is it a build of preset coverage?")
        return 1
    for room in wanted:
        if not any(path.startswith(room + "/") for path in counts):
            print(f"{room}: nothing of this room was compiled in {build_dir}; build its tests: cmake --build {build_dir} --target tests/unit/ROOM/all")
            return 1
    if wanted:
        counts = {path: lines for path, lines in counts.items() if path.startswith(tuple(room + "/" for room in wanted))}
    rooms = rooms_of(counts)
    text, under = table(rooms, least, counts, functions)
    print("\n".join(text))
    if wanted:
        print("Lines that never ran:\n" + "\n".join(f"{path}: {missed(counts, path)}" for path in sorted(counts) if missed(counts, path)))
    lines, ran = sum(room[0] for room in rooms.values()), sum(room[1] for room in rooms.values())
    print(f"{percent(ran, lines):.1f} % of {lines} lines in {len(rooms)} rooms; {under} under {least:g} %")
    return 1 if under or lost else 0


if __name__ == "__main__":
    sys.exit(main())
