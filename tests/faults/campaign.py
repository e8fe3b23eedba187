"""Many trials: drawn by a seed, several at once, within a budget of time, resumable."""
import concurrent.futures
import json
import os
import random
import time

import damage
import disks
import kills
import starts
import stops
from programs import BY_NAME, PROGRAMS
from trial import SKIPPED, Trial

FAULTS = {**kills.FAULTS, **stops.FAULTS, **disks.FAULTS, **starts.FAULTS, **damage.FAULTS}
WEIGHTS = {"kill": 3, "kill_twice": 3, "kill_at_checkpoint": 2, "kill_twice_from_older": 2, "kill_other_ranks": 2}
NEEDS_CHECKPOINTS = {"kill_twice_from_older", "kill_from_named", "checkpoint_cut", "checkpoint_flipped", "checkpoint_empty", "checkpoint_blank",
                     "checkpoint_folder", "checkpoint_version", "checkpoints_all_empty"}
NEEDS_RANKS = {"kill_one_rank", "disk_full_ranks", "other_ranks", "kill_other_ranks"}
NEEDS_ROOM = {"disk_full", "disk_full_ranks", "read_only"}
# A campaign has no --restart, no --walltime and no files of a run.
CAMPAIGN = {"kill", "kill_at_start", "kill_at_report", "kill_twice", "kill_thrice", "SIGTERM", "SIGINT", "pause", "disk_full", "quota",
            "starts_at_once", "second_start_killed", "folder_removed"}


# What a run that was killed in its middle has left is needed; a program without checkpoints ends before.
NEEDS_MIDDLE = NEEDS_CHECKPOINTS | {"other_ranks", "starts_at_once_again", "read_only", "clock_set_back", "own_files"}

# Commands that write run.h5 while they run; the others write it at their end.
WITH_TABLES = {"dpmd run", "dpmd train", "vlasov run", "meshfreeflow simulate", "meshfreeflow train"}


def fits(program, fault):
    if program.name == "campaign":
        return fault in CAMPAIGN
    if fault in NEEDS_CHECKPOINTS and program.own_store:
        return False
    if fault.startswith("side_") and not program.sides:
        return False
    if program.name == "pod_fit" and fault in NEEDS_MIDDLE or fault.startswith("results_") and program.command not in WITH_TABLES:
        return False
    return len(program.ranks) > 1 or fault not in NEEDS_RANKS


def pairs(programs, faults):
    return [(program.name, fault) for program in PROGRAMS for fault in FAULTS
            if program.name in programs and fault in faults and fits(program, fault)]


def draw(n, seed, programs, faults):
    """The first n trials of a seed: rounds over all pairs, each in an order of its own, some pairs several times a round."""
    chosen = [pair for pair in pairs(programs, faults) for _ in range(WEIGHTS.get(pair[1], 1))]
    trials, turn = [], 0
    while chosen and len(trials) < n:
        order = list(enumerate(chosen))
        random.Random(f"{seed} {turn}").shuffle(order)
        trials += [(program, fault, (seed * 1000 + turn) * 1000 + i) for i, (program, fault) in order]
        turn += 1
    return trials[:n]


class Record:
    """results.jsonl: a line a trial."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "results.jsonl")

    def read(self):
        if not os.path.exists(self.path):
            return []
        with open(self.path, encoding="utf-8") as stream:
            return [json.loads(line) for line in stream if line.endswith("}\n")]

    def add(self, entry):
        with open(self.path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(entry, ensure_ascii=False) + "\n")


def run_trial(lab, program, fault, seed):
    began = time.monotonic()
    trial = Trial(lab, program, fault, seed)
    outcome, text = trial.run(FAULTS[fault])
    return {"program": program, "fault": fault, "seed": seed, "outcome": outcome, "text": text, "log": trial.log, "kept": os.path.isdir(trial.base),
            "seconds": round(time.monotonic() - began, 2), "date": time.strftime("%Y-%m-%d %H:%M")}


def show(entry, command, done, total):
    words = f"{done:5} of {total}  {entry['outcome']:<10} {entry['program']}/{entry['fault']}  {entry['seconds']:.1f} s  {'; '.join(entry['log'])}"
    if not entry["kept"]:
        return words if entry["outcome"] != SKIPPED else f"{words}  {entry['text']}"
    return f"{words}\n      {entry['text']}\n      again: {command} --only {entry['program']}/{entry['fault']}/{entry['seed']}"


def carry_out(lab, trials, jobs, minutes, command, say=print):
    """Trials that have no result yet, until the time is up; all results."""
    record = Record(lab.folder)
    known = {(entry["program"], entry["fault"], entry["seed"]) for entry in record.read()}
    waiting = [trial for trial in trials if trial not in known]
    deadline = time.monotonic() + 60 * minutes
    done = len(trials) - len(waiting)
    if done:
        say(f"{done} of {len(trials)} trials have their results in {record.path}")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = set()
        while (waiting and time.monotonic() < deadline) or running:
            while waiting and len(running) < jobs and time.monotonic() < deadline:
                running.add(pool.submit(run_trial, lab, *waiting.pop(0)))
            ended, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in ended:
                done += 1
                record.add(future.result())
                say(show(future.result(), command, done, len(trials)))
    if waiting:
        say(f"The time is up: {len(waiting)} trials are left; the same command goes on")
    wanted = set(trials)
    return [entry for entry in record.read() if (entry["program"], entry["fault"], entry["seed"]) in wanted]


def short(programs):
    """A fixed choice, within half a minute: kinds that have lost a run once, of few programs, whose runs that are left alone take most of the
    time. Kills before the next checkpoint have tests of their own, of all programs (tests/cli/killed_twice.py)."""
    chosen = [("dpmd_nve", "kill_at_checkpoint", 2), ("dpmd_nve", "checkpoint_cut", 1), ("dpmd_nve", "quota", 1), ("dpmd_nve", "side_empty", 7000050),
              ("vlasov_wave", "other_ranks", 1), ("vlasov_wave", "disk_full_ranks", 1), ("vlasov_wave", "finished_results_gone", 1),
              ("vlasov_wave", "starts_at_once_again", 1), ("mesh_simulate", "kill", 1), ("mesh_simulate", "results_empty", 1),
              ("mesh_control", "kill_at_file", 1), ("submatrix", "SIGTERM", 2), ("campaign", "kill_twice", 1)]
    return [trial for trial in chosen if trial[0] in programs and trial[0] in BY_NAME]
