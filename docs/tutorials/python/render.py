#!/usr/bin/env python3
"""Run the tutorials of this folder and write their pages: render.py [NAME...] [--check]

NAME.py is a percent script, which Jupyter, VS Code and Spyder open as a notebook: `# %% [markdown]` begins text, `# %%` code. Cells run
in a folder of their own that sees inputs/. NAME.md shows each cell with what it prints, the value of its last line, and its figures
(NAME_1.png, ...). --check writes nothing: it compares what is printed with the page, numbers to 2 %, and the number of figures.
Programs are those of QUINTET_BIN or of build/bin.
"""
import argparse
import ast
import contextlib
import importlib.util
import io
import os
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[2]
NAMES = ("vlasov", "dpmd", "submatrix", "meshfreeflow", "podlstm")
OUTPUT = re.compile(r"^```text\n(.*?)^```", re.M | re.S)


def cells(script):
    """Each cell of a percent script: whether it is text, and its lines without the signs of comments."""
    for kind, body in re.findall(r"^# %%( \[markdown\])?\n(.*?)(?=^# %%|\Z)", script, re.M | re.S):
        yield bool(kind), re.sub(r"^# ?", "", body, flags=re.M).strip() if kind else body.strip()


def run_cell(code, space):
    """Run the lines of a cell; returns what it printed and the value of its last line, as a notebook shows it."""
    tree, printed = ast.parse(code), io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), space)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), space) if last else None
    shown = printed.getvalue()
    is_drawing = type(value).__module__.startswith("matplotlib") or isinstance(value, (list, tuple)) and any("matplotlib" in str(type(v)) for v in value)
    return shown + (f"{value}\n" if value is not None and not is_drawing else "")


def rendered(name, pictures):
    """Run a tutorial; returns its page and the figures, as bytes of PNG."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"figure.figsize": (6, 3.2), "figure.dpi": 90, "figure.constrained_layout.use": True})
    sys.path.insert(0, str(SOURCE / "python"))
    page, figures, space = [], [], {"__name__": "__main__"}
    for is_text, body in cells((HERE / f"{name}.py").read_text(encoding="utf-8")):
        if is_text:
            page.append(body)
            continue
        page.append(f"```python\n{body}\n```")
        if shown := run_cell(body, space):
            page.append(f"```text\n{shown}```")
        for number in plt.get_fignums():
            figure, drawn = plt.figure(number), io.BytesIO()
            caption = figure.axes[0].get_title() or "figure"
            if pictures:
                figure.savefig(drawn, format="png", metadata={"Software": None})
            figures.append(drawn.getvalue())
            page.append(f"![{caption}]({name}_{len(figures)}.png)")
        plt.close("all")
    note = f"*This page is made by [render.py](render.py) from [{name}.py]({name}.py), which notebooks open.*"
    return "\n\n".join([page[0], note, *page[1:]]) + "\n", figures


def differences(name, page, figures):
    """Say where what was printed is not what the page shows."""
    path = SOURCE / "tests/cli/tutorials/tutorials.py"
    spec = importlib.util.spec_from_file_location("tutorials", path)
    tutorials = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tutorials)
    stored = (HERE / f"{name}.md").read_text(encoding="utf-8")
    if OUTPUT.sub("", stored) != OUTPUT.sub("", page):
        yield f"{name}.md is not of {name}.py: {Path(__file__).name} {name}"
    for shown, printed in zip(OUTPUT.findall(stored), OUTPUT.findall(page)):
        if len(shown.splitlines()) != len(printed.splitlines()):
            yield f"{name}.md shows\n{shown}printed was\n{printed}"
        elif line := tutorials.missing(shown.splitlines(), printed.splitlines()):
            yield f"{name}.md shows '{line}'; printed was\n{printed}"
    for i in range(len(figures)):
        if not (HERE / f"{name}_{i + 1}.png").is_file():
            yield f"{name}_{i + 1}.png is not there"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    faults = 0
    for name in options.names:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            os.symlink(SOURCE / "inputs", "inputs")
            page, figures = rendered(name, pictures=not options.check)
        if options.check:
            for fault in differences(name, page, figures):
                faults += 1
                print(fault)
            continue
        for old in HERE.glob(f"{name}_*.png"):
            old.unlink()
        for i, figure in enumerate(figures):
            (HERE / f"{name}_{i + 1}.png").write_bytes(figure)
        (HERE / f"{name}.md").write_text(page, encoding="utf-8")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
