#!/usr/bin/env python3
"""Make the gallery: run its cases, measure them, take their pictures, write the pages.

Usage: docs/gallery/make.py BUILD [APP/NAME ...] run all cases, or some, in runs/gallery; then as --pages
       docs/gallery/make.py --pages              write the pages from cases.py, measured.json and the inputs
       docs/gallery/make.py --check              whether the pages are these, and every input is in the gallery or left out with a reason
Time is processor time of all threads of one rank, memory its peak. Pictures need chromium and Pillow (docs/pictures/figure.py).
"""
import datetime
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from cases import CASES, LEFT_OUT, TITLES

MEASURED = os.path.join(HERE, "measured.json")
COLUMNS = 4  # pictures in a row of the first page


def input_of(case):
    return case.command.split()[2]


def head(path):
    """The comment at the head of an input: (what it is, what to look at); lines of commands are left out."""
    lines = []
    for line in open(os.path.join(SOURCE, path), encoding="utf-8"):
        if not line.startswith("#"):
            break
        text = line[1:].rstrip()
        if text and not text.startswith("  ") and not re.match(r" *(?:build/bin/|podlstm |meshfreeflow )", text):
            lines.append(text.strip())
    about, _, look = " ".join(lines).partition("Look at:")
    return about.strip(), look.strip()


def body(path):
    """An input without the comment at its head, which the page tells."""
    lines = open(os.path.join(SOURCE, path), encoding="utf-8").read().rstrip().split("\n")
    return "\n".join(lines[next(i for i, line in enumerate(lines) if not line.startswith("#")):])


def sentences(text):
    """Text of a comment as one of a page: commands in it become code, and a sentence begins with a capital."""
    text = re.sub(r"(?<![`\w])(--set (?:'[^']*'|\"[^\"]*\"|\S*(?:\[\]|\w[\]'\"]?)))", r"`\1`", text)
    text = re.sub(r"(?<![`\w/.])((?:[\w]+/)*\w+\.(?:yaml|py|csv|h5|nc|html))(?!\w)", r"`\1`", text).replace(r"|x|", "x")
    return text[:1].upper() + text[1:]


def wrapped(text, width=118):
    lines, line = [], ""
    for word in re.findall(r"`[^`]*`\S*|\S+", text):
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return "\n".join(lines + [line])


def seconds(value):
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s" if value < 100 else f"{value/60:.0f} min"


def page_of(app, measured):
    text = f"# {TITLES[app]}\n\nMade by `docs/gallery/make.py` from runs of these commands. [What the numbers mean](README.md).\n"
    for case in CASES[app]:
        about, look = head(input_of(case))
        found = measured[f"{app}/{case.name}"]
        text += f"\n## {case.title}\n\n{wrapped(sentences(about))}\n\n```\n{case.command}\n```\n\n"
        text += f"![{case.title}: {found['figure'].split(':')[0]}](../pictures/{app}/{case.name}.png)\n\n"
        text += wrapped(f"**Look at:** {look[:1]}{sentences(' ' + look[1:])[1:]}" if look else "**Look at:** the report.") + "\n\n"
        text += f"| processor time | memory | compared with | try next | input |\n|---|---|---|---|---|\n"
        text += f"| {seconds(found['cpu_s'])} | {found['memory_mb']} MB | {case.beside} | {case.then} | [`{os.path.basename(input_of(case))}`](../../{input_of(case)}) |\n"
        text += f"\n<details markdown=\"1\"><summary>The input</summary>\n\n```yaml\n{body(input_of(case))}\n```\n\n</details>\n"
    return text


def front_of(measured):
    text = "# Gallery\n\n" + wrapped(
        "Each case is one command. Its page shows a picture of its report, its input, the time it takes, what to look at, what it is "
        "compared with, and what to try next.") + "\n"
    for app, cases in CASES.items():
        text += f"\n## [{TITLES[app].partition(': ')[2].capitalize()}]({app}.md)\n\n"
        for row in range(0, len(cases), COLUMNS):  # the first is the table's head, so that no empty one is drawn
            shown = [(f"{app}.md#{slug(case.title)}", case.title, f"../pictures/{app}/{case.name}.png") for case in cases[row:row + COLUMNS]]
            text += "| " + " | ".join(f'[<img src="{picture}" width="200" alt=""><br>{title}]({link})' for link, title, picture in shown) + " |\n"
            text += "" if row else "|---"*COLUMNS + "|\n"
    machines = []
    for machine in sorted({found["machine"] for found in measured.values()}):
        dates = sorted(found["date"] for found in measured.values() if found["machine"] == machine)
        machines.append(f"{machine}, {dates[0]}" + (f" to {dates[-1]}" if dates[-1] != dates[0] else ""))
    text += "\n## What the numbers mean\n\n" + wrapped(
        "Time is processor time of one rank with two threads, and memory is its peak. Measured while other work was running, on: "
        + "; ".join(machines) + ". To measure on yours: `docs/gallery/make.py build`.") + "\n"
    text += "\n## Cases without a picture\n\n| input | why |\n|---|---|\n"
    return text + "".join(f"| `{path}` | {why} |\n" for path, why in LEFT_OUT.items())


def slug(title):
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def pages():
    measured = json.load(open(MEASURED, encoding="utf-8"))
    yield "README.md", front_of(measured)
    for app in CASES:
        yield f"{app}.md", page_of(app, measured)


def processor():
    names = re.findall(r"^model name\s*: (.*)$", open("/proc/cpuinfo").read(), re.M)
    return f"{os.cpu_count()} cores of {names[0] if names else 'an unknown processor'}"


def run(build, wanted):
    environment = dict(os.environ, PATH=f"{build}/bin:{os.environ['PATH']}")
    folder = os.path.join(SOURCE, "runs", "gallery")
    os.makedirs(folder, exist_ok=True)
    if not os.path.lexists(os.path.join(folder, "inputs")):
        os.symlink(os.path.join(SOURCE, "inputs"), os.path.join(folder, "inputs"))
    measured = json.load(open(MEASURED, encoding="utf-8")) if os.path.exists(MEASURED) else {}
    for app, cases in CASES.items():
        for case in cases:
            if wanted and f"{app}/{case.name}" not in wanted:
                continue
            words = case.command.split() + ["--overwrite", "--quiet"]
            process = subprocess.Popen(words, cwd=folder, env=environment)
            _, status, used = os.wait4(process.pid, 0)
            if status != 0:
                sys.exit(f"{case.command}: exit code {os.waitstatus_to_exitcode(status)}")
            output = words[words.index("--output") + 1] if "--output" in words else f"runs/{os.path.basename(input_of(case))[:-5]}"
            report = os.path.join(folder, output, "report.html")
            picture = os.path.join(SOURCE, "docs", "pictures", app, f"{case.name}.png")
            caption = take_picture(report, case.figure, picture)
            measured[f"{app}/{case.name}"] = {"cpu_s": round(used.ru_utime + used.ru_stime, 2), "memory_mb": used.ru_maxrss//1024,
                                              "figure": caption, "machine": processor(), "date": str(datetime.date.today())}
            print(f"{app} {case.name}: {measured[f'{app}/{case.name}']}", flush=True)
            with open(MEASURED, "w", encoding="utf-8") as stream:
                json.dump(measured, stream, indent=1, sort_keys=True)
                stream.write("\n")


def take_picture(report, caption, target):
    sys.path.insert(0, os.path.join(SOURCE, "docs", "pictures"))
    import figure
    figure.take(report, caption, target)
    return figure.caption_of(report, caption)


def faults():
    """Pages that are not what this script writes, and inputs that are nowhere."""
    for name, text in pages():
        path = os.path.join(HERE, name)
        if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
            yield f"docs/gallery/{name} is not what docs/gallery/make.py --pages writes"
    shown = {input_of(case) for cases in CASES.values() for case in cases}
    for path in sorted(glob.glob("inputs/**/*.yaml", root_dir=SOURCE, recursive=True)):
        text = open(os.path.join(SOURCE, path), encoding="utf-8").read()
        left_out = any(path == one or path.startswith(one + "/") for one in LEFT_OUT)
        if path not in shown and not left_out and re.search(r"^(?:system|species|matrices|rayleigh|data|modes|fields|flow|cases):", text, re.M):
            yield f"{path} is neither in CASES nor in LEFT_OUT of docs/gallery/cases.py"
    for path in shown | set(LEFT_OUT):
        if not os.path.exists(os.path.join(SOURCE, path)):
            yield f"docs/gallery/cases.py names {path}, which is not there"


def main():
    if not sys.argv[1:] or sys.argv[1] in ("--help", "-h"):
        print(__doc__.strip())
        return 0
    if sys.argv[1:2] == ["--check"]:
        found = list(faults())
        print("\n".join(found + [f"{len(found)} problems"]))
        return 1 if found else 0
    if sys.argv[1:2] != ["--pages"]:
        run(os.path.abspath(sys.argv[1]), sys.argv[2:])
    for name, text in pages():
        with open(os.path.join(HERE, name), "w", encoding="utf-8") as stream:
            stream.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
