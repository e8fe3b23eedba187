#!/usr/bin/env python3
"""Several campaigns on one store, one of them killed with what it runs: campaign_shared.py

Each item notes that it was done in a file of its own folder's neighbour; none may be done twice, none be lost. Items do not end before
there is a file `may_end`: all campaigns are at work until then.
"""
import glob
import os
import pathlib
import signal
import subprocess
import time

CAMPAIGN = """slots: {cpu: 2}
stages:
  - {name: one, sweep: {i: [%s]}, command: [sh, -c, 'until test -e {here}/may_end; do sleep 0.05; done; sleep 0.2; echo {i} > x; echo {i} >> {here}/done'], outputs: [x], tries: 1}
  - {name: two, each: one, command: [sh, -c, 'cat {input}/x > y; echo two {i} >> {here}/done'], outputs: [y], tries: 1}
  - {name: all, needs: [two], command: [sh, -c, 'cat "$@" | sort -n > all', sh, '{two}/y'], outputs: [all]}
"""
ITEMS = 24
PATIENCE_S = float(os.environ.get("PATIENCE_S", "60"))


def begin(*words):
    return subprocess.Popen(["quintet", "campaign", "shared.yaml", "--output", "SH", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True)


def main():
    with open("shared.yaml", "w", encoding="utf-8") as stream:
        stream.write(CAMPAIGN % ", ".join(str(i) for i in range(ITEMS)))
    # One that was killed as it joined, before it could claim anything.
    os.makedirs("SH/.worker_gone")
    for name, text in (("claim.tmp7", ""), ("owner_000001", "program: quintet campaign\nhost: far\nprocess: 7\nmachine: m\nuser: u\nsince: s\ntoken: t\n")):
        with open("SH/.worker_gone/" + name, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.utime("SH/.worker_gone/" + name, (time.time() - 600,) * 2)
    with open("SH/report.html.tmp30694", "w", encoding="utf-8"):
        pass
    workers = [begin("--share") for _ in range(3)]
    end = time.monotonic() + PATIENCE_S
    while len(glob.glob("SH/work/*/.campaign_process")) < 6:
        assert time.monotonic() < end, "waited in vain for two items of each campaign"
        time.sleep(0.01)
    alone = begin()
    said = alone.communicate()[0]
    assert alone.returncode == 2 and "is in use: quintet campaign runs there as process" in said and "--share" in said, said
    workers[1].send_signal(signal.SIGKILL)
    workers[1].wait()
    pathlib.Path("may_end").touch()
    for i, worker in enumerate(workers):
        said = worker.communicate()[0]
        assert worker.returncode == (-signal.SIGKILL if i == 1 else 0), said
    with open(glob.glob("SH/store/*/all")[0], encoding="utf-8") as stream:
        assert stream.read().split() == [str(i) for i in range(ITEMS)]
    with open("done", encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    # What the killed one had may have ended as it was killed, before it was in the store.
    assert len(set(lines)) == 2 * ITEMS and len(lines) <= 2 * ITEMS + 2, lines
    again = begin()  # where two end at the same moment neither is the last one
    said = again.communicate()[0]
    assert again.returncode == 0, said
    assert not os.listdir("SH/claims") and not glob.glob("SH/.worker_*") and not glob.glob("SH/*.tmp*"), os.listdir("SH")
    print("each item once")


if __name__ == "__main__":
    main()
