#!/usr/bin/env python3
"""A campaign on a disk of 400 kB: campaign_full_disk.py. Where none can be mounted it says so, and has looked at nothing."""
import glob
import os
import subprocess
import sys

CAMPAIGN = """stages:
  - {name: a, sweep: {n: [1, 2, 3]}, command: [sh, -c, 'head -c 150000 /dev/zero > x || exit 1; echo {n} > y'], outputs: [x, y], tries: 1}
"""


def campaign():
    done = subprocess.run(["quintet", "campaign", "full.yaml", "--output", "small/F"], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def main():
    if sys.argv[1:] != ["inside"]:
        unshared = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
        if subprocess.run([*unshared, "true"], capture_output=True, check=False).returncode:
            print("not tried, no disk can be mounted here: no room, then room")
            return 0
        return subprocess.call([*unshared, sys.executable, __file__, "inside"])
    with open("full.yaml", "w", encoding="utf-8") as stream:
        stream.write(CAMPAIGN)
    os.makedirs("small", exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "none", "small"], check=True)
    code, said = campaign()
    assert code in (3, 4), said
    assert "o space left" in said or "failed" in said, said
    kept = glob.glob("small/F/store/*/y")
    assert kept, said
    subprocess.run(["mount", "-o", "remount,size=4m", "small"], check=True)
    code, said = campaign()
    assert code == 0 and f"{len(kept)} were done before" in said, said
    assert len(glob.glob("small/F/store/*/y")) == 3
    print("no room, then room")
    return 0


if __name__ == "__main__":
    sys.exit(main())
