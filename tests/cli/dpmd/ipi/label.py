#!/usr/bin/env python3
"""`dpmd label` with programs that stay, above all driver.py of springs. label.py CLAIM."""
import os
import shutil
import signal
import subprocess
import sys
import time

import driver as springs
import server as s

HERE = os.path.dirname(os.path.abspath(__file__))
N = 5


def frame(i, n_molecules=2):
    """Water whose first atom is at x = i + 1: frame 2 is the one that faults hit."""
    types, positions = s.water(n_molecules)
    return types, [[x[0] + i + 1, x[1], x[2] * (1 + 0.02 * i)] for x in positions]


def write_frames(path="frames.xyz", n_molecules=2, numbers=range(N)):
    s.write_xyz(path, frame(0, n_molecules)[0], [frame(i, n_molecules)[1] for i in numbers])


def label(*words, fault="", output="labels", code=0, says=(), template="springs.in"):
    if template == "springs.in":
        with open(template, "w", encoding="utf-8") as file:
            file.write("port {{port}}\n" + (f"fault {fault}\n" if fault else ""))
    process = subprocess.Popen(["dpmd", "label", "--with", "ipi", "--template", template, "--command",
                                f"python3 {HERE}/driver.py", "--output", output, *words, "frames.xyz"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return process if code is None else s.ended(process, code, *says)


def starts(output="labels"):
    with open(f"{output}/starts", encoding="utf-8") as file:
        return len(file.readlines())


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def begin(**how):
    for folder in ("labels", "other"):
        shutil.rmtree(folder, ignore_errors=True)
    write_frames(**how)


def read_label(i, output="labels"):
    """Energy, virial and forces of a frame's label.xyz; nothing if it has none."""
    path = f"{output}/frame_{i:06}/label.xyz"
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    columns = lines[1].split("Properties=")[1].split()[0].split(":")
    at, place = 0, {}
    for k in range(0, len(columns), 3):
        place[columns[k]] = at
        at += int(columns[k + 2])
    force = place.get("forces", place.get("force"))
    forces = [[float(word) for word in line.split()[force:force + 3]] for line in lines[2:]]
    virial = [float(word) for word in lines[1].split('virial="')[1].split('"')[0].split()]
    return float(lines[1].split("energy=")[1].split()[0]), forces, virial


def check(numbers, output="labels"):
    for i in range(N):
        found = read_label(i, output)
        assert (found is not None) == (i in numbers), f"frame {i}: {found}"
        if not found:
            continue
        energy, forces, virial = springs.springs(frame(i)[1])
        s.near([found[0]], [energy], 1e-9 * energy, "energy")
        s.near(sum(found[1], []), sum(forces, []), 1e-8, "forces")
        s.near(found[2], virial, 1e-7, "virial")


def one_start_labels_all_frames():
    begin()
    label(says=("5 of 5 frames labelled",))
    check(range(N))
    assert starts() == 1, starts()
    label(says=("5 of 5 frames are labelled already",))
    assert starts() == 1
    label("--jobs", "2", output="other")
    check(range(N), "other")
    assert 1 <= starts("other") <= 2


def drivers_that_ask_for_init_get_it():
    begin()
    label(fault="needs_init", says=("5 of 5 frames labelled",))
    check(range(N))
    assert starts() == 1


def frames_of_other_atoms_get_a_start_of_their_own():
    begin()
    write_frames("more.xyz", 3, range(2))
    with open("frames.xyz", "a", encoding="utf-8") as file:
        file.write(open("more.xyz", encoding="utf-8").read())
    write_frames("last.xyz", 2, range(3, 5))
    label("last.xyz", says=("9 of 9 frames labelled",))
    assert starts() == 2, starts()


def one_that_dies_is_started_again():
    for fault in ("killed_once", "exits_once", "closes_once", "nan_once"):
        begin()
        label(fault=fault, says=("5 of 5 frames labelled",))
        check(range(N))
        assert starts() == 2, f"{fault}: {starts()}"


def a_frame_that_cannot_be_labelled_holds_up_none():
    for fault, words in (("exits", ("ended with exit code 7", "springs: torn")), ("nan", ("the energy is not a number",)),
                         ("closes", ("closed its connection",))):
        begin()
        label(fault=fault, says=("4 of 5 frames labelled, 1 failed", "frame 2", *words))
        check({0, 1, 3, 4})
        assert starts() == 3, f"{fault}: {starts()}"


def time_limits_are_kept():
    begin()
    label("--time-limit", "1.5 s", fault="hangs", says=("4 of 5 frames labelled, 1 failed", "time limit"))
    check({0, 1, 3, 4})
    begin()
    label("--time-limit", "60 s", fault="", says=("5 of 5 frames labelled",))


def those_that_do_not_start_are_told():
    begin(numbers=range(1))
    label(fault="starts_not", code=2, says=("springs: no steel",))
    assert starts() == 1


def a_stop_keeps_what_is_done():
    begin()
    process = label(fault="hangs", code=None)
    deadline = time.time() + s.PATIENCE_S
    while not os.path.exists("labels/frame_000001/label.xyz") and time.time() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    s.ended(process, 75, "stopped by a signal")
    with open("labels/starts", encoding="utf-8") as file:
        pid = int(file.read())
    while is_alive(pid):
        assert time.time() < deadline, "the program is still there"
        time.sleep(0.02)
    check({0, 1})


def mistakes_are_refused():
    begin()
    base = ["dpmd", "label", "--with", "ipi", "--output", "labels", "frames.xyz"]
    with open("empty.in", "w", encoding="utf-8") as file:
        file.write("nothing\n")
    for words, message in ((["--template", "springs.in"], "no command; say with --command"),
                           (["--template", "empty.in", "--command", "true"], "the template lacks {{port}}")):
        done = subprocess.run([*base, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 2 and message in done.stdout, done.stdout


def label_as(program, text, *words, code=0, says=()):
    with open("template.in", "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run(["dpmd", "label", "--with", program, "--template", "template.in", "--command",
                           f"python3 {HERE}/driver.py {program}", *words, "--output", "labels", "frames.xyz"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == code, done.stdout
    for word in says:
        assert word in done.stdout, done.stdout


def what_cp2k_prints_is_heeded():
    text = "&GLOBAL\nRUN_TYPE DRIVER\n&END\n&MOTION\n{{driver}}\n&END\n{{cell}}\n{{coordinates}}\n! fault %s\n"
    for fault, words, left in (("none", "5 of 5 frames labelled", range(5)), ("unconverged", "the SCF did not converge", (0, 1, 3, 4)),
                               ("unconverged_once", "5 of 5 frames labelled", range(5)),
                               ("other_energy", "CP2K printed an energy of", (0, 1, 3, 4))):
        begin()
        label_as("cp2k", text % fault, says=(words,))
        check(left)


def lammps_has_cells_of_its_own():
    """Turned there and back, by LAMMPS's own units."""
    begin()
    cells = [s.CELL, [s.CELL[2], s.CELL[0], s.CELL[1]]]
    text = "units metal\n{{data_file}} {{types}} {{boundary}}\n{{driver}}\n"
    for cell in cells:
        begin()
        s.write_xyz("frames.xyz", frame(0)[0], [frame(i)[1] for i in range(N)], cell)
        label_as("lammps", text, says=("5 of 5 frames labelled",))
        check(range(N))
        assert starts() == 1
    begin()
    s.write_xyz("frames.xyz", *[frame(0)[0], [frame(0)[1]]], [[9, 0, 0], [0, 9, 0], [0, 0, 9]])
    s.write_xyz("more.xyz", frame(0)[0], [frame(1)[1]], s.CELL)
    with open("frames.xyz", "a", encoding="utf-8") as file:
        file.write(open("more.xyz", encoding="utf-8").read())
    label_as("lammps", text, says=("2 of 2 frames labelled",))
    assert starts() == 2  # a straight cell and a tilted one
    begin()
    s.write_xyz("frames.xyz", frame(0)[0], [frame(0)[1]], cell=None)
    label_as("lammps", text, code=2, says=("moves the box of an open frame; take {{label}}",))


def same_labels(with_program, by_file, by_driver, tolerance):
    """A program's labels in both ways. by_file, by_driver: templates."""
    energies = []
    for template, output in ((by_file, "labels"), (by_driver, "other")):
        done = subprocess.run(["dpmd", "label", "--with", with_program, "--template", template, "--output", output, "frames.xyz"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout
        energies.append(done.stdout)
    count = len([name for name in os.listdir("other") if name.startswith("frame_")])
    assert os.path.exists("other/program_000") and not os.path.exists("labels/program_000")
    for i in range(count):
        one, two = read_label(i), read_label(i, "other")
        s.near([one[0]], [two[0]], tolerance * abs(one[0]), "energy")
        s.near(sum(one[1], []), sum(two[1], []), 10 * tolerance * max(map(abs, sum(one[1], []))) + 1e-9, "forces")
        s.near(one[2], two[2], 10 * tolerance * max(map(abs, one[2])), "virial")


LAMMPS = """units {units}
boundary {{{{boundary}}}}
box tilt large
read_data {{{{data_file}}}}
pair_style lj/cut 4.0
pair_coeff 1 1 0.01 3.0
pair_coeff 1 2 0.004 2.0
pair_coeff 2 2 0.002 1.5
{{{{{mark}}}}}
"""


def lammps_labels_the_same():
    for units in ("metal", "real"):
        begin()
        turned = [s.CELL[2], s.CELL[0], s.CELL[1]]  # not as LAMMPS has cells
        types = frame(0)[0]
        s.write_xyz("frames.xyz", types, [frame(i)[1] for i in range(3)], turned)
        s.write_xyz("wider.xyz", types, [frame(i, 2)[1] for i in (0, 4)], [[1.1 * c for c in row] for row in turned])
        with open("frames.xyz", "a", encoding="utf-8") as file:
            file.write(open("wider.xyz", encoding="utf-8").read())
        for mark in ("label", "driver"):
            with open(f"{mark}.in", "w", encoding="utf-8") as file:
                file.write(LAMMPS.format(units=units, mark=mark))
        same_labels("lammps", "label.in", "driver.in", 1e-6)


def cp2k_labels_the_same():
    begin()
    s.write_xyz("frames.xyz", frame(0)[0], [frame(i)[1] for i in range(2)])
    with open(os.path.join(HERE, "../../../../inputs/dpmd/water/label.inp"), encoding="utf-8") as file:
        by_file = file.read()
    with open("label.in", "w", encoding="utf-8") as file:
        file.write(by_file.replace("1.0E-5", "1.0E-8"))
    with open(os.path.join(HERE, "../../../../inputs/dpmd/water/label_driver.inp"), encoding="utf-8") as file:
        by_driver = file.read()
    with open("driver.in", "w", encoding="utf-8") as file:
        file.write(by_driver.replace("1.0E-5", "1.0E-8"))
    same_labels("cp2k", "label.in", "driver.in", 1e-6)
    # An SCF that does not converge must not become a label, though CP2K sends a result.
    with open("driver.in", "w", encoding="utf-8") as file:
        file.write(by_driver.replace("MAX_SCF 50", "MAX_SCF 3"))
    done = subprocess.run(["dpmd", "label", "--with", "cp2k", "--template", "driver.in", "--output", "unconverged", "frames.xyz"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 2 and "the SCF did not converge" in done.stdout, done.stdout


if __name__ == "__main__":
    globals()[sys.argv[1]]()
