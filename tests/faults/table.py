"""The table fault x program x outcome, in Markdown."""
import collections
import os
import re
import subprocess

from campaign import FAULTS
from programs import PROGRAMS
from trial import OUTCOMES, SAME, SKIPPED


def cell(counts):
    """12 where all ended the same as a run that was left alone; each other outcome with its name."""
    return ", ".join(str(n) if outcome == SAME else f"{n} {outcome}" for outcome in OUTCOMES if (n := counts[outcome]))


def by_command(entries):
    """Counts of outcomes by fault and command of a program."""
    names = {program.name: program.command for program in PROGRAMS}
    counts = collections.defaultdict(collections.Counter)
    for entry in entries:
        if entry["outcome"] != SKIPPED:
            counts[entry["fault"], names[entry["program"]]][entry["outcome"]] += 1
    return counts


def table(entries):
    counts = by_command(entries)
    struck, faults = {command for _, command in counts}, {fault for fault, _ in counts}
    commands = [command for command in dict.fromkeys(program.command for program in PROGRAMS) if command in struck]
    lines = ["| fault | " + " | ".join(commands) + " |", "|---" * (len(commands) + 1) + "|"]
    lines += [f"| {fault} | " + " | ".join(cell(counts[fault, command]) for command in commands) + " |" for fault in FAULTS if fault in faults]
    total = sum(counts.values(), collections.Counter())
    lines += ["", f"{sum(total.values())} trials: " + ", ".join(f"{total[outcome]} {outcome}" for outcome in OUTCOMES if total[outcome]) + "."]
    return "\n".join(lines)


def machine():
    """The processor, its cores, memory and load, in words."""
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        names = re.findall(r"model name\s*:\s*(.*)", stream.read())
    with open("/proc/meminfo", encoding="utf-8") as stream:
        kilobytes = int(re.search(r"MemTotal:\s*(\d+)", stream.read()).group(1))
    return f"{os.cpu_count()} cores of {names[0] if names else 'a processor'}, {kilobytes / 1e6:.0f} GB, load {os.getloadavg()[2]:.1f}"


def measured(entries, options):
    """The part of a page that trials have made: what was run, where and when, and the table."""
    here = os.path.dirname(os.path.abspath(__file__))
    commit = subprocess.run(["git", "-C", here, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    dates = sorted(entry["date"] for entry in entries)
    seconds = sum(entry["seconds"] for entry in entries)
    head = (f"`tests/faults/run {options}`, {dates[0]} to {dates[-1]} UTC,\n{seconds / 3600:.1f} h of trials, on {machine()}; "
            f"version {commit or 'without git'}.\nA number alone counts trials that ended the same.")
    return f"{head}\n\n{table(entries)}"


def put_into(page, entries, options):
    with open(page, encoding="utf-8") as stream:
        text = stream.read()
    begin, end = text.index("<!-- measured"), text.index("<!-- end -->")
    first = text.index("\n", begin) + 1
    with open(page, "w", encoding="utf-8") as stream:
        stream.write(text[:first] + measured(entries, options) + "\n" + text[end:])
