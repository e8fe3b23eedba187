#!/usr/bin/env python3
"""A driver of i-PI's protocol: springs between all atoms, and faults on demand. Reads `input`, lines 'port N' and 'fault NAME'.

driver.py cp2k: in the place of CP2K, whose output it prints. driver.py lammps: in the place of LAMMPS's fix ipi, with its cell, units
and half a virial.

The springs: E = sum over pairs of (r - 1)^2 eV/angstrom^2, so that whoever reads the labels can compute them again."""
import math
import os
import signal
import socket
import struct
import sys
import time

from server import BOHR, HARTREE

AS = sys.argv[1] if len(sys.argv) > 1 else ""
if AS == "lammps":
    BOHR, HARTREE = 0.52917721, 8.617343e-5 / 3.1668152e-06  # as fix ipi has them


def springs(positions):
    """Energy (eV), forces (eV/angstrom), virial -dE/d(strain) (eV)."""
    energy, forces, virial = 0.0, [[0.0] * 3 for _ in positions], [0.0] * 9
    for i, a in enumerate(positions):
        for j in range(i):
            d = [x - y for x, y in zip(a, positions[j])]
            r = math.hypot(*d)
            energy += (r - 1) ** 2
            for k in range(3):
                f = -2 * (r - 1) * d[k] / r
                forces[i][k] += f
                forces[j][k] -= f
                for l in range(3):
                    virial[3 * k + l] += f * d[l]
    return energy, forces, virial


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))

    def receive(self, n):
        data = b""
        while len(data) < n:
            piece = self.socket.recv(n - len(data))
            if not piece:
                sys.exit("the server is gone")
            data += piece
        return data

    def say(self, word, rest=b""):
        self.socket.sendall(word.ljust(12).encode() + rest)


def is_hit(fault, positions):
    """Faults hit the frame whose first atom is at x = 3; those that end in _once only if no file says that they have."""
    if not fault or abs(positions[0][0] - 3) > 1e-6:
        return False
    if fault.endswith("_once"):
        if os.path.exists("../hit"):
            return False
        open("../hit", "w", encoding="utf-8").close()
    return True


def commit(fault, connection):
    """One of them before the answer."""
    if fault.startswith("killed"):
        os.kill(os.getpid(), signal.SIGKILL)
    if fault.startswith("exits"):
        print("springs: torn")
        sys.exit(7)
    if fault.startswith("hangs"):
        time.sleep(600)
    if fault.startswith("closes"):
        connection.socket.close()
        time.sleep(600)


def settings_of_start():
    """Port and fault, from the input of whoever this stands for."""
    name = {"cp2k": "cp2k.inp", "lammps": "in.lammps"}.get(AS, "input")
    found = {}
    for line in open(name, encoding="utf-8"):
        words = line.replace("!", " ").replace("#", " ").split()
        if words[:1] in (["port"], ["PORT"], ["fault"]):
            found[words[0].lower()] = words[1]
        if words[:1] == ["fix"]:
            found["port"] = words[words.index("ipi") + 2]
    return found


def print_as_cp2k(energy, fault):
    if fault.startswith("unconverged"):
        print("  *** SCF run NOT converged ***")
    else:
        print("  *** SCF run converged in    14 steps ***")
    energy *= 1 + 1.1e-9 if fault.startswith("other_energy") else 1 + 0.9e-9  # the limit is 1e-9
    print(f" ENERGY| Total FORCE_EVAL ( QS ) energy [a.u.]:{energy / HARTREE:29.15f}", flush=True)


def main():
    settings = settings_of_start()
    with open("../starts", "a", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")
    fault = settings.get("fault", "")
    if fault == "starts_not":
        sys.exit("springs: no steel")
    connection, ready, answer = Connection(int(settings["port"])), fault != "needs_init", None
    while True:
        word = connection.receive(12).decode().strip()
        if word == "STATUS":
            connection.say("HAVEDATA" if answer else "READY" if ready else "NEEDINIT")
        elif word == "INIT":
            connection.receive(struct.unpack("ii", connection.receive(8))[1])
            ready = True
        elif word == "POSDATA":
            h = struct.unpack("9d", connection.receive(144)[:72])
            if AS == "lammps" and (max(abs(h[k]) for k in (3, 6, 7)) > 1e-12 or min(h[0], h[4], h[8]) <= 0):
                sys.exit(f"LAMMPS has no cell {h}")
            n = struct.unpack("i", connection.receive(4))[0]
            flat = [x * BOHR for x in struct.unpack(f"{3 * n}d", connection.receive(24 * n))]
            positions = [flat[3 * i:3 * i + 3] for i in range(n)]
            answer = springs(positions)
            hit = is_hit(fault, positions)
            if hit:
                commit(fault, connection)
                if fault.startswith("nan"):
                    answer = (math.nan, *answer[1:])
            if AS == "cp2k":
                print_as_cp2k(answer[0], fault if hit else "")
        elif word == "GETFORCE":
            energy, forces, virial = answer
            if AS == "lammps":
                virial = [w if k in (0, 1, 2, 4, 5, 8) else 0.0 for k, w in enumerate(virial)]
            connection.say("FORCEREADY", struct.pack("=di", energy / HARTREE, len(forces))
                           + struct.pack(f"{3 * len(forces)}d", *(f * BOHR / HARTREE for row in forces for f in row))
                           + struct.pack("9d", *(w / HARTREE for w in virial)) + struct.pack("i", 7) + b"nothing")
            answer, ready = None, fault != "needs_init"
        elif word == "EXIT":
            return


if __name__ == "__main__":
    main()
