#!/usr/bin/env python3
"""A stub of PBS Pro's qsub, qstat, qselect, qdel and qsig, called by these names: no PBS, only what `quintet submit` says to one.

Jobs are files in $PBS_STUB. A job's script runs at once, or once those it depends on have ended; array tasks run one after
another. PBS_STUB_SAYS: an error that takes the place of a job's id; PBS_STUB_BLIND: nobody's jobs are found. Answers have the form of OpenPBS (cd7ab5eda).
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

HOME = pathlib.Path(os.environ["PBS_STUB"])


def path_of(job):
    return HOME / f"{job}.json"


def read(job):
    if not path_of(job).exists():
        print(f"{pathlib.Path(sys.argv[0]).name}: Unknown Job Id {job}", file=sys.stderr)
        sys.exit(153)
    return json.loads(path_of(job).read_text())


def write(job, **values):
    old = json.loads(path_of(job).read_text()) if path_of(job).exists() else {}
    partial = HOME / f"{job}.{os.getpid()}"
    partial.write_text(json.dumps({**old, **values}))
    partial.rename(path_of(job))


def directives(script):
    return [line[5:].strip() for line in pathlib.Path(script).read_text().splitlines() if line.startswith("#PBS ")]


def qsub(words):
    after = None
    if words[0] == "-W":
        after, words = words[1].removeprefix("depend=afterany:").split(":"), words[2:]
        for job in after:
            read(job)
    lines = directives(words[0])
    if not any(line.startswith("-P ") for line in lines):
        sys.exit("qsub: Bad project: none")
    array = next((line.split()[1] for line in lines if line.startswith("-J ")), None)
    number = len(list(HOME.glob("*.json"))) + 1
    job = f"{number}{'[]' if array else ''}.pbs1"
    queue = next(line.split()[1] for line in lines if line.startswith("-q "))
    nodes = next(int(line.split("=")[1].split(":")[0]) for line in lines if line.startswith("-l select"))
    write(job, state="H" if after else "R", queue=queue, nodes=nodes, script=words[0])
    lost = os.environ.get("PBS_STUB_SAYS")  # in place of the id, as an error
    print(lost or job, file=sys.stderr if lost else sys.stdout, flush=True)
    if os.fork() == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        run(job, words[0], after, array)
        os._exit(0)
    if lost:
        sys.exit(1)


def run(job, script, after, array):
    while any(read(other)["state"] != "F" for other in after or ()):
        time.sleep(0.05)
    code = 0
    for task in range(int(array.split("-")[1]) + 1 if array else 1):
        if read(job)["state"] == "F":
            return
        environment = {**os.environ, "PBS_O_WORKDIR": os.getcwd(), "PBS_JOBID": job, **({"PBS_ARRAY_INDEX": str(task)} if array else {})}
        process = subprocess.Popen(["bash", script], env=environment, start_new_session=True)
        write(job, state="B" if array else "R", session=process.pid)
        code = process.wait()
    write(job, state="F", code=code)


def qstat(words):
    answers = {}
    for job in words[words.index("json") + 1:]:
        found = read(job)
        answers[job] = {"job_state": found["state"], "queue": found["queue"], "Resource_List": {"nodect": found["nodes"]},
                        "Submit_arguments": found["script"]}
        if "code" in found:
            answers[job]["Exit_status"] = found["code"]
    print(json.dumps({"timestamp": int(time.time()), "pbs_server": "pbs1", "Jobs": answers}))


def qselect(words):
    if "PBS_STUB_BLIND" in os.environ:
        return
    for path in sorted(HOME.glob("*.json")):
        if json.loads(path.read_text())["state"] != "F":
            print(path.stem)


def qdel(words):
    found = read(words[-1])
    write(words[-1], state="F", code=271)
    if "session" in found:
        os.killpg(found["session"], signal.SIGTERM)


def qsig(words):
    os.killpg(read(words[-1])["session"], signal.SIGUSR1)


globals()[pathlib.Path(sys.argv[0]).name](sys.argv[1:])
