#!/usr/bin/env python3
"""Commands on a disk that is too small: full_disk.py COMMAND INPUT SIZE [WORD...]. Where none can be mounted it says so, and has looked at nothing.

Each ends with exit code 4, one line that names file and reason, and no file under its name that is half written."""
import os
import subprocess
import sys


def main(command, case, size, *words):
    if os.environ.get("QUINTET_FULL_DISK") != "mounted":
        unshared = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
        try:
            subprocess.run([*unshared, "true"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            print("not tried, no disk can be mounted here: one clear line")
            return 0
        return subprocess.run([*unshared, sys.executable, *sys.argv], env={**os.environ, "QUINTET_FULL_DISK": "mounted"}).returncode
    os.makedirs("small", exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", "small"], check=True)
    run = subprocess.run(["podlstm", command, case, "--output", "small/run", "--quiet", *words], capture_output=True, text=True)
    lines = [line for line in run.stderr.splitlines() if line and not line.startswith("warning:")]
    print(run.returncode, lines, sorted(os.listdir("small/run")) if os.path.isdir("small/run") else [])
    assert run.returncode == 4, run.stdout + run.stderr
    assert len(lines) == 1 and lines[0].startswith("error: ") and "No space left on device" in lines[0], lines
    assert not os.path.exists("small/run/forecast.nc")
    print("one clear line")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
