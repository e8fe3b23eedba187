#!/usr/bin/env python3
"""Take one figure of a report.html as a PNG, as a browser shows it.

Usage: .venv/bin/python docs/pictures/figure.py REPORT CAPTION TARGET.png
CAPTION is the text above the figure, with `*` for any; `CAPTION#2` is the second that has it. Needs chromium (or $CHROMIUM) and
Pillow, which comes with matplotlib. The picture has few colours, so that it stays small.
"""
import fnmatch
import html
import os
import re
import subprocess
import sys
import tempfile

from PIL import Image, ImageChops

WIDTH = 640  # of the figure (pixels)


def find(text, caption):
    """The figure of a report as HTML, and its caption."""
    name, _, number = caption.partition("#")
    figures = re.findall(r"<figure>.*?</figure>", text, re.S)
    captions = [html.unescape(re.search(r"<figcaption>(.*?)</figcaption>", one, re.S).group(1)) for one in figures]
    found = [pair for pair in zip(figures, captions) if fnmatch.fnmatchcase(pair[1], name)]
    if len(found) < int(number or 1):
        sys.exit(f"no figure '{caption}'; there are: {', '.join(captions)}")
    return found[int(number or 1) - 1]


def caption_of(report, caption):
    return find(open(report, encoding="utf-8").read(), caption)[1]


def figure_of(report, caption):
    """The figure as HTML, and its height over its width."""
    text = open(report, encoding="utf-8").read()
    figure, _ = find(text, caption)
    width, height = (float(one) for one in re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', figure).groups())
    return re.search(r"<style>.*?</style>", text, re.S).group(), figure, height/width


def take(report, caption, target):
    style, figure, ratio = figure_of(report, caption)
    with tempfile.TemporaryDirectory() as folder:
        page, shot = os.path.join(folder, "page.html"), os.path.join(folder, "shot.png")
        with open(page, "w", encoding="utf-8") as stream:
            stream.write(f'<!DOCTYPE html><meta charset="utf-8">{style}<style>body{{margin:0;padding:0;max-width:{WIDTH}px}}'
                         f"figure{{border:0;padding:8px}}</style><body>{figure}</body>")
        height = int(WIDTH*ratio) + 300  # room for the text below, cut off where there is none
        subprocess.run([os.environ.get("CHROMIUM", "chromium"), "--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu",
                        f"--user-data-dir={folder}/profile", f"--window-size={WIDTH},{height}", f"--screenshot={shot}", f"file://{page}"],
                       check=True, capture_output=True, timeout=60)
        picture = Image.open(shot).convert("RGB")
        background = Image.new("RGB", picture.size, picture.getpixel((0, picture.height - 1)))
        box = ImageChops.difference(picture, background).getbbox()
        picture = picture.crop((0, 0, picture.width, min(picture.height, box[3] + 8)))
        os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
        picture.quantize(96).save(target, optimize=True)


if __name__ == "__main__":
    take(*sys.argv[1:4])
