#!/usr/bin/env python3
"""Growth rates of runs of vlasov beside theory, over wave number, a colour for each drift: growth.csv and growth.svg.

Usage: growth_map.py FOLDER RUN...
"""
import json
import os
import re
import sys


def constant(run, name):
    """Value of a key of the sweep: the campaign writes it beside what an item made."""
    with open(os.path.join(run, "..", "campaign_item.yaml"), encoding="utf-8") as stream:
        found = re.search(rf"^label: .* {name}=([-+.0-9e]+)", stream.read(), re.MULTILINE)
    return float(found.group(1))


def points(runs):
    rows = []
    for run in runs:
        with open(os.path.join(run, "summary.json"), encoding="utf-8") as stream:
            summary = json.load(stream)
        rows.append((constant(run, "u"), constant(run, "k"), summary["growth_rate"], summary["growth_rate_uncertainty"],
                     summary["growth_rate_theory"]))
    return sorted(rows)


def ticks(most):
    step = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100) if most / step < 8)
    return [round(step * i, 10) for i in range(1, int(most / step) + 1)]


def picture(rows):
    width, height, left, bottom = 560, 380, 60, 330
    most_x = 1.1 * max(row[1] for row in rows)
    most_y = 1.15 * max(max(row[2] + row[3], row[4]) for row in rows)
    colours = ("#2256c4", "#c4452a", "#2a8f57", "#8a5ac2", "#b58a1d")

    def at(x, y):
        return left + (width - left - 20) * x / most_x, bottom - (bottom - 30) * y / most_y

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             '<text x="60" y="18" font-size="14">Two-stream instability: growth rate (circles) and theory (lines)</text>',
             f'<path d="M{left},30V{bottom}H{width - 20}" fill="none" stroke="#444"/>',
             f'<text x="{width / 2}" y="{height - 10}">wave number k</text>',
             '<text transform="translate(16,200) rotate(-90)">growth rate</text>']
    for value in ticks(most_x):
        x, y = at(value, 0)
        parts.append(f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{value:g}</text>')
    for value in ticks(most_y):
        x, y = at(0, value)
        parts.append(f'<text x="{x - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    for number, drift in enumerate(sorted({row[0] for row in rows})):
        colour = colours[number % len(colours)]
        own = [row for row in rows if row[0] == drift]
        line = " ".join("{:.1f},{:.1f}".format(*at(row[1], row[4])) for row in own)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}"/>')
        for _, k, rate, error, _ in own:
            x, y = at(k, rate)
            parts.append(f'<path d="M{x:.1f},{at(k, rate - error)[1]:.1f}V{at(k, rate + error)[1]:.1f}" stroke="{colour}"/>')
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{width - 90}" y="{bottom - 70 + 18 * number}" fill="{colour}">u = {drift:g}</text>')
    return "\n".join(parts + ["</svg>\n"])


def main():
    folder, runs = sys.argv[1], sys.argv[2:]
    rows = points(runs)
    with open(os.path.join(folder, "growth.csv"), "w", encoding="utf-8") as stream:
        stream.write("u,k,growth_rate,uncertainty,theory\n")
        stream.writelines(",".join(f"{value:.10g}" for value in row) + "\n" for row in rows)
    with open(os.path.join(folder, "growth.svg"), "w", encoding="utf-8") as stream:
        stream.write(picture(rows))
    worst = max(abs(row[2] / row[4] - 1) for row in rows)
    print(f"{len(rows)} runs; the growth rate is at most {100 * worst:.2g} % beside theory")


if __name__ == "__main__":
    main()
