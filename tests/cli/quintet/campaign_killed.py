#!/usr/bin/env python3
"""Kill a campaign and its items at random moments, and look at the store after each: campaign_killed.py KILLS SEED [CAMPAIGNS]

With several CAMPAIGNS they share the store; some rounds kill all of them at once, as a node that goes down does.
"""
import glob
import os
import random
import shutil
import signal
import subprocess
import sys
import time

CAMPAIGN = """slots: {cpu: 3}
stages:
  - {name: one, sweep: {i: [%s]}, command: [sh, -c, 'sleep 0.08; echo {i} > x'], outputs: [x], tries: 100}
  - {name: two, each: one, command: [sh, -c, 'sleep 0.01; cat {input}/x > y'], outputs: [y], tries: 100}
  - {name: all, needs: [two], command: [sh, -c, 'cat "$@" | sort -n > all', sh, '{two}/y'], outputs: [all]}
"""
ITEMS = 121
ITEMS_KILLED = []


def look(seen):
    """What is in the store is whole, and is what it was: no item is made twice, none is lost."""
    now = {folder: os.stat(folder + "/campaign_item.yaml").st_mtime_ns for folder in glob.glob("K/store/*")}
    for folder, made in seen.items():
        assert now.get(folder) == made, f"{folder} was made again or is lost"
    seen.update(now)


def children_of(parent):
    """Looked up at once where the kernel has a list, or else among all processes, while short ones end."""
    try:
        with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as stream:
            return [int(child) for child in stream.read().split()]
    except OSError:
        pass
    children = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8") as stream:
                number, rest = stream.read().rsplit(")", 1)
        except OSError:  # it has ended
            continue
        if int(rest.split()[1]) == parent:
            children.append(int(number.split()[0]))
    return children


def kill_once(rng, n_campaigns):
    words = ["quintet", "campaign", "k.yaml", "--output", "K"] + (["--share"] if n_campaigns > 1 else [])
    campaigns = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(n_campaigns)]
    patience = time.monotonic() + (10 if rng.random() < 0.8 else 0)  # some are killed while they begin
    while not any(map(children_of, (each.pid for each in campaigns))) and campaigns[0].poll() is None and time.monotonic() < patience:
        time.sleep(0.005)
    at_once = rng.random() < 0.5
    time.sleep(rng.uniform(0, 0.2))
    for campaign in campaigns:
        if not at_once:
            time.sleep(rng.uniform(0, 0.1))
            if rng.random() < 0.5:  # items first
                for child in children_of(campaign.pid)[: rng.randint(1, 3)]:
                    try:
                        os.kill(child, signal.SIGKILL)
                        ITEMS_KILLED.append(child)
                    except ProcessLookupError:
                        pass
                time.sleep(0.05)
        campaign.kill()
    for campaign in campaigns:
        campaign.wait()


def main():
    kills, rng, seen = int(sys.argv[1]), random.Random(int(sys.argv[2])), {}
    n_campaigns = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    shutil.rmtree("K", ignore_errors=True)
    with open("k.yaml", "w", encoding="utf-8") as stream:
        stream.write(CAMPAIGN % ", ".join(str(i) for i in range((ITEMS - 1) // 2)))
    n_kills = 0
    # On a busy machine the first ones come before anything is done.
    while n_kills < kills or (not (ITEMS_KILLED and seen) and n_kills < 5 * kills):
        kill_once(rng, n_campaigns)
        n_kills += 1
        look(seen)
        if len(seen) == ITEMS and n_kills < kills:  # a slow killer: from the beginning
            shutil.rmtree("K")
            seen.clear()
    print(f"{len(seen)} items are done after {n_kills} kills of the campaign and {len(ITEMS_KILLED)} of items")
    assert ITEMS_KILLED and seen
    for words in (["--dry-run"], [], ["--verify"]):
        done = subprocess.run(["quintet", "campaign", "k.yaml", "--output", "K", *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    look(seen)
    assert len(seen) == ITEMS, len(seen)
    with open(glob.glob("K/store/*/all")[0], encoding="utf-8") as stream:
        assert stream.read().split() == [str(i) for i in range((ITEMS - 1) // 2)]
    print(done.stdout + done.stderr)


if __name__ == "__main__":
    main()
