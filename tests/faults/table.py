"""The table fault x program x outcome, in Markdown."""
import collections

from campaign import FAULTS
from programs import PROGRAMS
from trial import OUTCOMES, SAME, SKIPPED


def cell(counts):
    """"12" where all ended the same as a run that was left alone; else each other outcome beside them."""
    if not counts:
        return ""
    words = [str(counts[SAME])] if counts[SAME] else []
    return ", ".join(words + [f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if outcome != SAME and counts[outcome]])


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
    commands = list(dict.fromkeys(program.command for program in PROGRAMS))
    commands = [command for command in commands if any(key[1] == command for key in counts)]
    lines = ["| fault | " + " | ".join(commands) + " |", "|---" * (len(commands) + 1) + "|"]
    for fault in FAULTS:
        if any(key[0] == fault for key in counts):
            lines.append(f"| {fault} | " + " | ".join(cell(counts.get((fault, command))) for command in commands) + " |")
    total = collections.Counter(entry["outcome"] for entry in entries if entry["outcome"] != SKIPPED)
    lines.append("")
    lines.append(f"{sum(total.values())} trials: " + ", ".join(f"{total[outcome]} {outcome}" for outcome in OUTCOMES if total[outcome]) + ".")
    return "\n".join(lines)
