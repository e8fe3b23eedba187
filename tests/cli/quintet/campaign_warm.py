#!/usr/bin/env python3
"""Items of warm programs beside cold ones: bits, exit codes, kills, nothing left behind: campaign_warm.py SOURCE"""
import glob
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

SOURCE = os.path.abspath(sys.argv[1])
PATIENCE = 60 * float(os.environ.get("QUINTET_TEST_PATIENCE", "1"))
CAMPAIGN = """slots: {cpu: 2}
stages:
  - name: scan
    start: START
    sweep: {k: [WAVES]}
    command: [vlasov, run, "CASE", --set, "constants.k={k}", --set, "grid.cells=[8, 32]", --set, time.end=END, --threads, "1", --output, "{output}/run"]
    again: [--restart, auto]
    outputs: [run/run.h5]
    tries: 3
"""
REST = """  - name: bad
    needs: [scan]
    start: START
    sweep: {cfl: [40, 0.5]}
    command: [vlasov, run, "CASE", --set, "time.cfl={cfl}", --set, time.end=END, --threads, "1", --output, "{output}/run"]
  - name: ends
    needs: [scan]
    start: START
    sweep: {least: [0, 1e-300]}
    command: [vlasov, run, "CASE", --set, "limits.negative_f={least}", --threads, "1", --quiet, --output, "{output}/run"]
  - name: atoms
    start: START
    sweep: {frame: [fcc, fcc_expanded, melt], n: [1, 2, 3]}
    command: [dpmd, evaluate, --model, "COPPER/copper.dp", "COPPER/{frame}.xyz", --threads, "1", --output, "{output}/e{n}"]
"""


def write(name, start, end=0.5, waves=6, rest=REST):
    text = CAMPAIGN + rest
    for old, new in (("START", start), ("WAVES", ", ".join(f"0.{35 + 2 * wave}" for wave in range(waves))), ("CASE", f"{SOURCE}/inputs/campaigns/two_stream_case.yaml"), ("END", str(end)),
                     ("COPPER", f"{SOURCE}/inputs/dpmd/copper")):
        text = text.replace(old, new)
    pathlib.Path(f"{name}.yaml").write_text(text)


def begin(name, *words, **options):
    return subprocess.Popen(["quintet", "campaign", f"{name}.yaml", "--output", name, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, **options)


def run(name, code=0, **options):
    campaign = begin(name, **options)
    said = campaign.communicate()[0]
    assert campaign.returncode == code, said
    return said


def warm_programs():
    """Warm programs that work in this folder, with the runs of each."""
    found = {}
    for path in glob.glob("/proc/[0-9]*"):
        try:
            place, words = os.readlink(f"{path}/cwd"), pathlib.Path(path, "cmdline").read_bytes().split(b"\0")
            parent = int(pathlib.Path(path, "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):  # it has ended
            continue
        if place.startswith(os.getcwd() + "/") and words[1:2] == [b"warm"]:
            process = int(os.path.basename(path))
            if place.endswith("/warm"):
                found.setdefault(process, [])
            else:
                found.setdefault(parent, []).append(process)
    return found


def wait_for(ready, what):
    end = time.monotonic() + PATIENCE
    while not (value := ready()):
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.01)
    return value


def some_run():
    """(warm program, one of its runs)"""
    return wait_for(lambda: next(((server, runs[0]) for server, runs in warm_programs().items() if runs), None), "a run of a warm program")


def state(process):
    """Letter of a process's state, T for stopped; "" where it has ended."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def held_run():
    """(warm program, one of its runs), the run stopped: one that was only looked at may have ended when it is killed."""
    def hold():
        server, process = some_run()
        try:
            os.kill(process, signal.SIGSTOP)
        except ProcessLookupError:
            return None
        wait_for(lambda: state(process) in ("T", "Z", ""), "a run to stop")
        return (server, process) if state(process) == "T" else None
    return wait_for(hold, "a run that stops before its end")


def n_forked(said):
    found = re.search(r"(\d+) were forked by warm programs", said)
    return int(found[1]) if found else 0


def ends(name):
    """Label and why of what has failed, by key."""
    return {os.path.basename(os.path.dirname(path)): pathlib.Path(path).read_text().replace(f"/{name}/", "/")
            for path in glob.glob(f"{name}/failed/*/why.txt")}


def same_bits():
    """Numbers, messages and exit codes of warm and cold runs."""
    for name in ("warm", "cold"):
        write(name, name)
    said = run("warm", 3)
    assert n_forked(said) >= 6, said
    assert n_forked(run("cold", 3)) == 0
    assert ends("warm") == ends("cold") and len(ends("warm")) == 3, (ends("warm"), ends("cold"))
    whys = "".join(ends("warm").values())
    assert "exit code 2: error: --set time.cfl" in whys and "exit code 3: " in whys, whys
    keys = sorted(os.listdir("warm/store"))
    assert keys == sorted(os.listdir("cold/store")) and len(keys) == 16, keys
    compared = 0
    for key in keys:
        files = glob.glob(f"warm/store/{key}/e*.json") + glob.glob(f"warm/store/{key}/e*.xyz")
        for file in files:
            assert pathlib.Path(file).read_bytes() == pathlib.Path(file.replace("warm", "cold", 1)).read_bytes(), file
            compared += 1
        if not files:
            for group in ("/coefficients", "/fields", "/history"):
                subprocess.run(["h5diff", f"warm/store/{key}/run/run.h5", f"cold/store/{key}/run/run.h5", group], check=True)
                compared += 1
    assert compared == 9 * 2 + 7 * 3, compared
    assert not warm_programs()


def limits():
    """Exit code 4, and a limit of the campaign's is one of its runs."""
    import resource
    for name in ("small_warm", "small_cold"):
        write(name, name[6:], rest="")
        said = run(name, 3, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (7_000_000, 7_000_000)))
        assert len(ends(name)) == 6 and all("exit code 4: error: Files may have" in why for why in ends(name).values()), said
    assert ends("small_warm") == ends("small_cold")


def killed():
    """A run, a warm program, a campaign; and one that is asked to stop."""
    write("kills", "warm", end=12, waves=12, rest="")
    campaign = begin("kills")
    os.kill(held_run()[1], signal.SIGKILL)
    server = held_run()[0]
    os.kill(server, signal.SIGKILL)
    wait_for(lambda: server not in warm_programs(), "the end of runs whose warm program was killed")
    server, child = some_run()
    campaign.kill()
    said = campaign.communicate()[0]
    assert said.count("exit code 137") >= 2, said  # with or without the last line of the log
    wait_for(lambda: not warm_programs(), "the end of all that a killed campaign had")
    campaign = begin("kills")
    some_run()
    campaign.terminate()
    said = campaign.communicate()[0]
    assert campaign.returncode == 75 and "the same command goes on" in said, said
    said = run("kills")
    assert "Goes on from step" in "".join(pathlib.Path(path).read_text() for path in glob.glob("kills/store/*/log.txt"))
    assert len(os.listdir("kills/store")) == 12 and not os.listdir("kills/work") and not warm_programs(), said
    write("whole", "cold", end=12, waves=12, rest="")
    run("whole")
    for key in os.listdir("whole/store"):
        for group in ("/coefficients", "/fields"):
            subprocess.run(["h5diff", f"whole/store/{key}/run/run.h5", f"kills/store/{key}/run/run.h5", group], check=True)


def says_what_it_uses():
    """Flows that a warm program runs, which has loaded LibTorch for other commands, start and name what cold ones do."""
    words = '[meshfreeflow, simulate, "FILE", --set, "time.end={end}", --threads, "1", --output, "{output}/run"]'
    named = {}
    for start in ("warm", "cold"):
        pathlib.Path(f"flows_{start}.yaml").write_text(
            f"slots: {{cpu: 1}}\nstages: [{{name: flows, start: {start}, sweep: {{end: [0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09]}}, command: {words}}}]\n"
            .replace("FILE", f"{SOURCE}/tests/cli/meshfreeflow/rolls.yaml"))
        assert (n_forked(run(f"flows_{start}")) > 0) == (start == "warm")
        logs = [pathlib.Path(path).read_text() for path in glob.glob(f"flows_{start}/store/*/run/run.log")]
        named[start] = {re.search(r"rolls.yaml: (.*BLAS.*)", log)[1] for log in logs}
        assert len(logs) == 7 and "torch" not in "".join(logs), logs
    assert len(named["cold"]) == 1 and named["warm"] == named["cold"], named


for part in sys.argv[2:] or ("same_bits", "says_what_it_uses", "limits", "killed"):
    globals()[part]()
print("warm and cold are the same")
