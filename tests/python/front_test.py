"""The picture of README.md, beside one drawn from the runs of ./quickstart.

Atoms of a liquid stand elsewhere on another processor, and fonts differ. So both pictures are averaged over tiles of 40 x 40 pixels.
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import SOURCE, needs

import numpy

TILE = 40  # pixels
RUNS = SOURCE / "runs/quickstart"


def tiles(picture):
    """Mean grey of each tile of a picture of shape (rows, columns, channels), values 0 to 1."""
    rows, columns = (n // TILE for n in picture.shape[:2])
    grey = picture[:rows * TILE, :columns * TILE, :3].mean(2)
    return grey.reshape(rows, TILE, columns, TILE).mean((1, 3))


def fault(shown, drawn):
    """What tells two pictures apart, or None: a mean difference of 4 % of the range, or 1 % of the tiles that differ by 25 %."""
    if any(abs(a - b) > TILE for a, b in zip(shown.shape[:2], drawn.shape[:2])):
        return f"{drawn.shape[:2]} pixels for {shown.shape[:2]}"
    a, b = tiles(shown), tiles(drawn)
    rows, columns = (min(n, m) for n, m in zip(a.shape, b.shape))
    apart = abs(a[:rows, :columns] - b[:rows, :columns])
    mean, far = apart.mean(), (apart > 0.25).mean()
    return f"tiles differ by {mean:.1%} in the mean, {far:.1%} of them by more than 25 %" if mean > 0.04 or far > 0.01 else None


class Front(unittest.TestCase):
    def test_finds_another_panel(self):
        picture = numpy.random.default_rng(1).random((510, 1210, 3)) * 0.3
        picture[:200, :400] += 0.6
        other = picture.copy()
        other[:200, :400] = 0.1
        self.assertIsNone(fault(picture, numpy.roll(picture, 2, axis=1)))
        self.assertIn("tiles differ", fault(picture, other))
        self.assertIn("pixels", fault(picture, picture[:, :800]))

    @needs("matplotlib")
    def test_is_what_quickstart_has_run(self):
        import matplotlib.image
        missing = [name for name in ("nvt", "melt", "two_stream", "water", "quick_evaluate", "podlstm_evaluate")
                   if not (RUNS / name / "report.html").exists()]
        if missing:
            self.skipTest(f"{RUNS} has no {', '.join(missing)}: ./quickstart makes them")
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "front.png"
            subprocess.run([sys.executable, SOURCE / "docs/pictures/front.py", RUNS, target], check=True)
            self.assertIsNone(fault(*(matplotlib.image.imread(path) for path in (SOURCE / "docs/pictures/front.png", target))))


if __name__ == "__main__":
    unittest.main()
