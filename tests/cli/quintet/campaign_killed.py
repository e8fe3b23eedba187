#!/usr/bin/env python3
"""Kill a campaign and its items at random moments, and look at the store after each: campaign_killed.py KILLS SEED"""
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
  - {name: one, sweep: {i: [%s]}, command: [sh, -c, 'sleep 0.03; echo {i} > x'], outputs: [x], tries: 100}
  - {name: two, each: one, command: [sh, -c, 'sleep 0.01; cat {input}/x > y'], outputs: [y], tries: 100}
  - {name: all, needs: [two], command: [sh, -c, 'cat "$@" | sort -n > all', sh, '{two}/y'], outputs: [all]}
"""
ITEMS = 121


def look(seen):
    """What is in the store is whole, and is what it was: no item is made twice, none is lost."""
    now = {folder: os.stat(folder + "/campaign_item.yaml").st_mtime_ns for folder in glob.glob("K/store/*")}
    for folder, made in seen.items():
        assert now.get(folder) == made, f"{folder} was made again or is lost"
    seen.update(now)


def kill_once(rng):
    """True if something was killed."""
    campaign = subprocess.Popen(["quintet", "campaign", "k.yaml", "--output", "K"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(rng.uniform(0.05, 0.3))
    if rng.random() < 0.5:  # items first
        try:
            with open(f"/proc/{campaign.pid}/task/{campaign.pid}/children", encoding="utf-8") as stream:
                children = stream.read().split()
        except OSError:  # it is done
            children = []
        for child in children[: rng.randint(1, 3)]:
            try:
                os.kill(int(child), signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.05)
    was_alive = campaign.poll() is None
    campaign.kill()
    campaign.wait()
    return was_alive


def main():
    kills, rng, seen = int(sys.argv[1]), random.Random(int(sys.argv[2])), {}
    shutil.rmtree("K", ignore_errors=True)
    with open("k.yaml", "w", encoding="utf-8") as stream:
        stream.write(CAMPAIGN % ", ".join(str(i) for i in range((ITEMS - 1) // 2)))
    for _ in range(kills):
        kill_once(rng)
        look(seen)
    print(f"{len(seen)} items after {kills} kills")
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
