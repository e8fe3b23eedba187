#!/usr/bin/env python3
"""Write water with two numbers of each atom: water.xyz, narrow.xyz with one of them, and frames.xyz, three more frames."""
import math
from pathlib import Path

WATER = (Path(__file__).resolve().parent / "../../../inputs/dpmd/water/water32.xyz").read_text().splitlines()


def frame(turn: int, width: int) -> str:
    """Return the frame with numbers of its atoms, other ones for another turn."""
    lines = [WATER[0], f"{WATER[1]}:aparam:R:{width}"]
    for i, line in enumerate(WATER[2:]):
        numbers = [math.cos(1.3 * i) + turn, 0.4 * math.sin(0.7 * i) - turn]
        lines.append(" ".join([line, *(f"{x:.6f}" for x in numbers[:width])]))
    return "\n".join(lines) + "\n"


Path("water.xyz").write_text(frame(0, 2))
Path("narrow.xyz").write_text(frame(0, 1))
Path("frames.xyz").write_text("".join(frame(turn, 2) for turn in (1, 2, 3)))
