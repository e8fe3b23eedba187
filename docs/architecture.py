#!/usr/bin/env python3
"""Draws docs/architecture.svg: the way of a run, and which rooms work at each part of it.

Rooms that do not exist yet may stand in WAY; they are drawn once they do. tests/packaging/check_docs.py compares the picture
with what this draws, and misses no room. Usage: architecture.py
"""
import os
import sys
from xml.sax.saxutils import escape

SOURCE_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLUMNS = ("every run", "dpmd", "vlasov", "submatrix", "meshfreeflow", "podlstm")
# What happens, in a few words, and the rooms that do it, by column.
WAY = (
    ("Options", "YAML and --set: every value checked, units converted",
     ("apps/application/cli io/config io/syntax io/formula", "apps/dpmd/setup", "apps/vlasov/input", "apps/submatrix/input",
      "apps/meshfreeflow/setup", "apps/podlstm/setup")),
    ("Runtime", "MPI, Kokkos, then PETSc or torch",
     ("io/runtime io/parallel io/device", "", "", "physics/solvers",
      "surrogates/bridge", "surrogates/bridge")),
    ("Run directory", "one owner; the checkpoint to go on from",
     ("apps/application/life io/log", "", "", "",
      "", "")),
    ("Input", "files and formulas, taken for hostile",
     ("io/files", "physics/particles/files physics/particles/formats", "apps/vlasov/setup physics/kinetics/initial", "physics/electronic/files",
      "surrogates/flow/data", "io/netcdf physics/ocean/sources surrogates/sequence/windows")),
    ("State", "named Views, shared out over the ranks. --validate ends here",
     ("physics/kernels surrogates/experts", "physics/particles/atoms physics/particles/domain surrogates/potential/model",
      "physics/kinetics/basis physics/kinetics/space", "physics/electronic/matrix",
      "physics/convection surrogates/flow/equations surrogates/flow/model",
      "physics/ocean physics/ocean/coordinates surrogates/sequence/network surrogates/sequence/reference")),
    ("Steps", "kernels, messages, models: the algorithm of the paper",
     ("apps/application/loop apps/application/table apps/application/training apps/application/spectra io/parallel io/tiers surrogates/resident",
      "apps/dpmd/run physics/particles/dynamics physics/particles/forces physics/particles/interactions surrogates/potential/evaluation surrogates/potential/exported physics/particles/device surrogates/potential/device | apps/dpmd/train "
      "surrogates/potential/training surrogates/training surrogates/networks",
      "apps/vlasov/state physics/kinetics/moments physics/kinetics/fields physics/kinetics/advection physics/kinetics/collisions physics/kinetics/device physics/kinetics/device/sweeps",
      "apps/submatrix/evaluate apps/submatrix/compare physics/electronic/functions physics/sparse physics/electronic/submatrix physics/electronic/device "
      "physics/electronic/density physics/electronic/global",
      "apps/meshfreeflow/simulate physics/transforms physics/convection | apps/meshfreeflow/flow physics/spectral | apps/meshfreeflow/train surrogates/flow/training "
      "surrogates/flow/encoder surrogates/flow/decoder | apps/meshfreeflow/superresolve surrogates/flow/prediction | "
      "apps/meshfreeflow/control surrogates/environments surrogates/reinforcement",
      "apps/podlstm/fit apps/podlstm/append physics/ocean/gaps physics/ocean/svd physics/solvers | apps/podlstm/search surrogates/search surrogates/sequence/training | "
      "apps/podlstm/train surrogates/sequence/forecast surrogates/sequence/network surrogates/sequence/graph | apps/podlstm/forecast physics/codes")),
    ("Observers", "samples on a schedule; runs that are no physics end",
     ("", "physics/particles/observables apps/dpmd/deviation", "apps/vlasov/state physics/transforms", "",
      "physics/convection", "")),
    ("Results", "run.h5, frames, checkpoints",
     ("io/hdf5 io/fields", "physics/particles/files", "physics/kinetics/files io/hdf5/openpmd", "physics/electronic/files",
      "", "io/netcdf")),
    ("Report", "report.html, summary.json, exit code",
     ("apps/application/report apps/application/citations apps/application/life", "apps/dpmd/run apps/dpmd/train", "apps/vlasov/report physics/kinetics/theory",
      "apps/submatrix/report",
      "apps/meshfreeflow/simulate apps/meshfreeflow/train", "apps/podlstm/fit apps/podlstm/search")),
    ("Afterwards", "reports side by side; commands without steps",
     ("apps/quintet/owner apps/quintet/machine apps/campaign apps/campaign/workers apps/quintet/campaign apps/quintet/registry apps/quintet/submit apps/quintet/plan apps/quintet/bench apps/quintet/verify apps/quintet/lammps io/machine", "apps/dpmd/evaluate apps/dpmd/ipi apps/dpmd/test apps/dpmd/convert apps/dpmd/label apps/dpmd/learn", "",
      "apps/submatrix/inspect apps/submatrix/plan",
      "apps/meshfreeflow/evaluate surrogates/flow/evaluation", "apps/podlstm/evaluate apps/podlstm/hindcast apps/podlstm/quantise surrogates/sequence/hindcast surrogates/sequence/skill")),
)
# Rooms that no run enters.
ASIDE = (
    ("surrogates/planning", "before a run is queued: its time, memory and words on a machine"),
    ("physics/tasks", "graphs of tasks with made-up work, for quintet bench"),
    ("bridges/c", "kernels inside programs that are not ours: libquintet_c"),
    ("bridges/density", "density matrices in codes that call ELSI's dm_real_sparse"),
    ("bridges/deepmd", "the same in the place of DeePMD-kit's library, in LAMMPS"),
    ("bridges/lammps", "a pair style of LAMMPS on the same"),
)

COLOURS = {"apps": "#2456c4", "bridges": "#b4530a", "surrogates": "#a72b8f", "physics": "#0f8a63", "io": "#5b6470"}
LEFT, STEP_WIDTH, COLUMN_WIDTH, GAP, LINE, HEAD = 16, 212, 234, 10, 17, 44


def there(room):
    return os.path.isdir(os.path.join(SOURCE_DIR, room))


def named_rooms():
    """All rooms that the picture may show, whether they exist yet or not."""
    cells = [cell for _, _, row in WAY for cell in row]
    return {room for cell in cells for room in cell.split() if room != "|"} | {room for room, _ in ASIDE}


def text(x, y, words, size=12, colour="#1c2430", more=""):
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}"{more}>{escape(words)}</text>'


def wrapped(words, width):
    lines = [""]
    for word in words.split():
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def room_lines(x, y, cell):
    drawn = []
    rooms = [room for room in cell.split() if room == "|" or there(room)]
    for room in rooms:
        if room == "|":
            drawn.append(f'<line x1="{x}" y1="{y - 11.5}" x2="{x + 150}" y2="{y - 11.5}" stroke="#d5dae1"/>')
            y += 5
            continue
        colour = COLOURS[room.split("/")[0]]
        drawn.append(f'<rect x="{x}" y="{y - 10}" width="4" height="12" rx="1" fill="{colour}"/>')
        drawn.append(text(x + 9, y, room, 11, colour, ' font-family="DejaVu Sans Mono, monospace"'))
        y += LINE
    return drawn


def height_of(subtitle, row):
    most = max(sum(5 if room == "|" else LINE for room in cell.split() if room == "|" or there(room)) for cell in row)
    return max(most + 14, 34 + 14 * len(wrapped(subtitle, 33)))


def draw():
    width = LEFT + STEP_WIDTH + len(COLUMNS) * (COLUMN_WIDTH + GAP) + 16
    drawn, y = [], HEAD
    for k, column in enumerate(COLUMNS):
        x = LEFT + STEP_WIDTH + GAP + k * (COLUMN_WIDTH + GAP)
        drawn.append(text(x + 8, HEAD - 14, column, 15, more=' font-weight="600"'))
    drawn.append(text(LEFT + 8, HEAD - 14, "the way of a run", 15, more=' font-weight="600"'))
    for number, (title, subtitle, row) in enumerate(WAY, 1):
        height = height_of(subtitle, row)
        drawn.append(f'<rect x="{LEFT}" y="{y}" width="{STEP_WIDTH}" height="{height}" rx="7" fill="#eef2fb" stroke="#c4d0ea"/>')
        drawn.append(text(LEFT + 10, y + 21, f"{number}  {title}", 14, more=' font-weight="600"'))
        for i, line in enumerate(wrapped(subtitle, 33)):
            drawn.append(text(LEFT + 10, y + 38 + 14 * i, line, 11, "#667085"))
        for k, cell in enumerate(row):
            x = LEFT + STEP_WIDTH + GAP + k * (COLUMN_WIDTH + GAP)
            lines = room_lines(x + 8, y + 20, cell)
            if lines:
                drawn.append(f'<rect x="{x}" y="{y}" width="{COLUMN_WIDTH}" height="{height}" rx="5" fill="#fafafa" stroke="#e3e6eb"/>')
            drawn += lines
        if number < len(WAY):
            middle = LEFT + STEP_WIDTH / 2
            drawn.append(f'<path d="M{middle} {y + height} v10 m-4 -5 l4 5 l4 -5" fill="none" stroke="#2456c4" stroke-width="1.5"/>')
        y += height + 12
    y += 12
    for room, why in ASIDE:
        drawn += room_lines(LEFT, y, room)
        drawn.append(text(LEFT + 150, y, why, 11, "#667085"))
        y += LINE
    x = LEFT + STEP_WIDTH + GAP + 3 * (COLUMN_WIDTH + GAP)
    for floor, colour in COLOURS.items():
        drawn.append(text(x, y - LINE, floor, 12, colour, ' font-weight="600"'))
        x += 14 + 8 * len(floor)
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y + 4}" width="{width}" height="{y + 4}" '
            'font-family="DejaVu Sans, Helvetica, Arial, sans-serif">\n'
            f'<title>The way of a run through the rooms of Quintet</title>\n<rect width="{width}" height="{y + 4}" fill="#ffffff"/>\n')
    return head + "\n".join(drawn) + "\n</svg>\n"


if __name__ == "__main__":
    with open(os.path.join(SOURCE_DIR, "docs", "architecture.svg"), "w", encoding="utf-8") as stream:
        stream.write(draw())
    sys.exit(0)
