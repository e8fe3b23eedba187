#!/usr/bin/env python3
"""Pilots on one store, one of them killed with what it runs, all of them ended by their time: campaign_pilot.py

Each item notes that it ended; none is done twice, and the rest of the killed one's is done by the others. Items do not end before there
is a file `may_end`: a pilot that is to be killed is at work however late that comes.
"""
import collections
import glob
import os
import pathlib
import signal
import subprocess
import time

CAMPAIGN = """stages:
  - {name: one, sweep: {i: [%s]}, command: [sh, -c, 'until test -e {here}/may_end; do sleep 0.05; done; sleep 0.2; echo {i} > x; echo {i} >> {here}/done'], outputs: [x], tries: 1}
  - {name: all, needs: [one], command: [sh, -c, 'cat "$@" | sort -n > all', sh, '{one}/x'], outputs: [all]}
"""
ITEMS = 30
PATIENCE_S = float(os.environ.get("PATIENCE_S", "60"))


def begin(*words):
    return subprocess.Popen(["quintet", "campaign", "pilot.yaml", "--output", "PI", "--pilot", *words], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def stopped_by_time():
    """A pilot that its time ends in the midst of the items. Gives how many are done."""
    pathlib.Path("may_end").touch()
    for seconds in (1, 2, 4, 8, 16):  # a busy machine does none in the first
        late = begin("--slots", "cpu=2", "--walltime", f"00:00:{seconds:02}")
        said = late.communicate()[0]
        assert late.returncode == 0, said
        if n := len(glob.glob("PI/store/*/x")):
            break
    assert "does not fit in the" in said and "the time is over" in said, said
    os.remove("may_end")
    return n


def wait_for(ready, what):
    end = time.monotonic() + PATIENCE_S
    while not ready():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.01)


def main():
    with open("pilot.yaml", "w", encoding="utf-8") as stream:
        stream.write(CAMPAIGN % ", ".join(str(i) for i in range(ITEMS)))
    n = stopped_by_time()
    assert 0 < n <= ITEMS - 6, n
    pilots = [begin("--slots", "cpu=2") for _ in range(3)]
    wait_for(lambda: len(glob.glob("PI/work/*/.campaign_process")) == 6, "two items of each pilot")
    pilots[1].send_signal(signal.SIGKILL)
    pilots[1].wait()
    pathlib.Path("may_end").touch()
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
