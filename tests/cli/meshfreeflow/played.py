#!/usr/bin/env python3
"""Helpers of played.txt: what a policy did, from run.h5 by h5dump.

Usage: played.py episode RUN JUDGED ACTIONS TOLERANCE | acts RUN FROM | warmer RUN BOUND | budget RUN PERCENT |
       nusselt RUN TOLERANCE | excess RUN HEAT MOMENT
"""
import re
import subprocess
import sys


def numbers(run, name):
    """Read a data set as floats, rows one after the other."""
    text = subprocess.run(["h5dump", "-y", "-w", "0", "-m", "%.17g", "-d", name, f"{run}/run.h5"], check=True,
                          capture_output=True, text=True).stdout
    return [float(word) for word in re.findall(r"[-+.\w]+", text.split("DATA {")[1].split("}")[0])]


def episode(run, judged, n, tolerance):
    """Compare the rewards of whole actions with those of the first flow that was judged."""
    times, rewards = numbers(run, "/history/time"), numbers(run, "/history/reward")
    wanted = numbers(judged, "/evaluation/reward_policy")[:int(n)]
    found = [reward for time, reward in zip(times, rewards) if time > 3.25 and abs(2 * time - round(2 * time)) < 1e-6]
    print(found, wanted)
    return len(found) == len(wanted) and all(abs(a - b) < float(tolerance) for a, b in zip(found, wanted))


def acts(run, begin):
    """Whether walls are left alone up to a time, and set after it."""
    times, rewards = numbers(run, "/history/time"), numbers(run, "/history/reward")
    actions = numbers(run, "/history/action")
    n = len(actions) // len(times)
    rows = [(time, reward, max(map(abs, actions[n * i:n * i + n]))) for i, (time, reward) in enumerate(zip(times, rewards))]
    print(rows)
    before = [row for row in rows if row[0] <= float(begin) + 1e-9]
    after = [row for row in rows if row[0] > float(begin) + 1e-9]
    return (before and after and all(reward != reward and most == 0 for _, reward, most in before)
            and all(reward == reward and most > 0 for _, reward, most in after))


def warmer(run, bound):
    """Whether some b is above a bound."""
    most = max(numbers(run, "/history/b_max"))
    print(most)
    return most > float(bound)


def budget(run, percent):
    """Whether the report's row of eps_b closes, to a number of percent."""
    with open(f"{run}/report.html", encoding="utf-8") as file:
        row = re.search(r"<td>(eps_b = .*?)</td>.*?([-+.\de]+) %</td>", file.read())
    print(row[1], row[2])
    return abs(float(row[2])) < float(percent)


def nusselt(run, tolerance):
    """Whether the last Nusselt numbers of walls are that of the volume and what heat adds."""
    last = {name: numbers(run, f"/history/{name}")[-1]
            for name in ("nusselt_volume", "nusselt_warm", "nusselt_cold", "warm_excess", "cold_excess")}
    print(last)
    return all(abs(last[f"nusselt_{wall}"] - last[f"{wall}_excess"] - last["nusselt_volume"]) < float(tolerance)
               for wall in ("warm", "cold"))


def excess(run, heat, moment):
    """Whether heat of segments is all there, on any cells, and to the width of cells about the middle."""
    warm, cold = (numbers(run, f"/history/{name}_excess")[-1] for name in ("warm", "cold"))
    print(cold - warm, 0.5 * (cold + warm))
    return abs(cold - warm - float(heat)) < 1e-12 and abs(0.5 * (cold + warm) - float(moment)) < 0.02


if __name__ == "__main__":
    sys.exit(0 if globals()[sys.argv[1]](*sys.argv[2:]) else 1)
