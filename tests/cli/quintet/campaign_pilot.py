#!/usr/bin/env python3
"""Pilots on one store, one of them killed with what it runs, all of them ended by their time: campaign_pilot.py

Each item notes that it began; none is done twice, and the rest of the killed one's is done by the others.
"""
import collections
import glob
import os
import signal
import subprocess
import time

CAMPAIGN = """stages:
  - {name: one, sweep: {i: [%s]}, command: [sh, -c, 'sleep 0.2; echo {i} > x; echo {i} >> {here}/done'], outputs: [x], tries: 1}
  - {name: all, needs: [one], command: [sh, -c, 'cat "$@" | sort -n > all', sh, '{one}/x'], outputs: [all]}
"""
ITEMS = 30


def begin(*words):
    return subprocess.Popen(["quintet", "campaign", "pilot.yaml", "--output", "PI", "--pilot", *words], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def main():
    with open("pilot.yaml", "w", encoding="utf-8") as stream:
        stream.write(CAMPAIGN % ", ".join(str(i) for i in range(ITEMS)))
    late = begin("--slots", "cpu=2", "--walltime", "00:00:01")
    said = late.communicate()[0]
    assert late.returncode == 0 and "does not fit in the" in said and "the time is over" in said, said
    n = len(glob.glob("PI/store/*/x"))
    assert 0 < n < ITEMS, said
    pilots = [begin("--slots", "cpu=2") for _ in range(3)]
    while len(glob.glob("PI/work/*/.campaign_process")) < 3 and pilots[1].poll() is None:
        time.sleep(0.01)
    pilots[1].send_signal(signal.SIGKILL)
    for i, pilot in enumerate(pilots):
        said = pilot.communicate()[0]
        assert pilot.returncode == (-signal.SIGKILL if i == 1 else 0), said
        assert i == 1 or "0 are left" in said, said
    with open(glob.glob("PI/store/*/all")[0], encoding="utf-8") as stream:
        assert stream.read().split() == [str(i) for i in range(ITEMS)]
    with open("done", encoding="utf-8") as stream:
        times = collections.Counter(stream.read().split())
    # What the killed one had may have ended as it was killed, before it was in the store: two at most.
    assert len(times) == ITEMS and sum(times.values()) <= ITEMS + 2, times
    assert not os.listdir("PI/claims") and not os.listdir("PI/work"), os.listdir("PI")
    print("each item once")


if __name__ == "__main__":
    main()
