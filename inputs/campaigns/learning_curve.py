#!/usr/bin/env python3
"""Held-out force errors of trainings over the rounds of active learning: learning.csv and learning.svg.

Usage: learning_curve.py FOLDER RUN...
"""
import json
import os
import re
import sys


def points(runs):
    """(round, member, rmse): the campaign writes round and member beside what an item made."""
    rows = []
    for run in runs:
        with open(os.path.join(run, "..", "campaign_item.yaml"), encoding="utf-8") as stream:
            found = re.search(r"^label: .* member=(\d+) round=(\d+)", stream.read(), re.MULTILINE)
        with open(os.path.join(run, "summary.json"), encoding="utf-8") as stream:
            rows.append((int(found.group(2)), int(found.group(1)), json.load(stream)["force_rmse_ev_per_angstrom"]))
    return sorted(rows)


def picture(rows):
    width, height, left, bottom = 460, 320, 60, 270
    last, most = max(row[0] for row in rows), 1.1 * max(row[2] for row in rows)

    def at(x, y):
        return left + 30 + (width - left - 80) * x / max(last, 1), bottom - (bottom - 30) * y / most

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             '<text x="60" y="18" font-size="14">Force error on held-out frames (eV/angstrom): each model, and their mean</text>',
             f'<path d="M{left},30V{bottom}H{width - 20}" fill="none" stroke="#444"/>',
             f'<text x="{width / 2}" y="{height - 8}" text-anchor="middle">round</text>']
    means = []
    for number in range(last + 1):
        own = [row[2] for row in rows if row[0] == number]
        if own:
            means.append((number, sum(own) / len(own)))
            x, y = at(*means[-1])
            parts.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{number}</text>')
            parts.append(f'<text x="{x + 8:.1f}" y="{y - 6:.1f}">{means[-1][1]:.3g}</text>')
    line = " ".join("{:.1f},{:.1f}".format(*at(*mean)) for mean in means)
    parts.append(f'<polyline points="{line}" fill="none" stroke="#2256c4"/>')
    for number, _, rmse in rows:
        x, y = at(number, rmse)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#2256c4" fill-opacity="0.5"/>')
    return "\n".join(parts + ["</svg>\n"]), means


def main():
    folder, runs = sys.argv[1], sys.argv[2:]
    rows = points(runs)
    with open(os.path.join(folder, "learning.csv"), "w", encoding="utf-8") as stream:
        stream.write("round,member,force_rmse_ev_per_angstrom\n")
        stream.writelines(f"{number},{member},{rmse:.6g}\n" for number, member, rmse in rows)
    svg, means = picture(rows)
    with open(os.path.join(folder, "learning.svg"), "w", encoding="utf-8") as stream:
        stream.write(svg)
    print("; ".join(f"round {number}: {mean:.3g} eV/angstrom" for number, mean in means))


if __name__ == "__main__":
    main()
