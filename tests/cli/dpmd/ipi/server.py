"""A server of i-PI's protocol, small enough to be read, and drivers of it that are started beside. Standard library only."""
import json
import os
import socket
import struct
import subprocess
import time

BOHR, HARTREE = 0.529177210903, 27.211386245988  # angstrom, eV; CODATA 2018
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../data/deep_potential")
MODEL = os.path.join(DATA, "oneside.dp")
PATIENCE_S = float(os.environ.get("PATIENCE_S", 60))
CELL = [[9.1, 0, 0], [1.7, 8.4, 0], [-0.9, 1.1, 8.8]]


def water(n_molecules=4, shift=0.0):
    """Types and positions (angstrom) of molecules, all alike and none in another's way."""
    types, positions = [], []
    for i in range(n_molecules):
        corner = [4.4 * (i & 1) + 0.3 * i + shift, 4.1 * (i >> 1 & 1) + 0.2, 4.3 * (i >> 2) + 0.15 * i]
        for a, (name, offset) in enumerate((("O", (0, 0, 0)), ("H", (0.76, 0.59, 0)), ("H", (-0.76, 0.58, 0.1)))):
            types.append(name)
            positions.append([corner[k] + offset[k] + (0.02 * i if a == 1 and k == 2 else 0) for k in range(3)])
    return types, positions


def write_xyz(path, types, frames, cell=CELL, forces=None):
    """Extended XYZ; cell: None for a molecule in the open."""
    with open(path, "w", encoding="utf-8") as file:
        for positions in frames:
            lattice = f'Lattice="{" ".join(str(c) for row in cell for c in row)}" pbc="T T T" ' if cell else 'pbc="F F F" '
            file.write(f"{len(types)}\n{lattice}Properties=species:S:1:pos:R:3\n")
            for name, x in zip(types, positions):
                file.write(f"{name} {x[0]:.17g} {x[1]:.17g} {x[2]:.17g}\n")


def inverse(m):
    (a, b, c), (d, e, f), (g, h, i) = m
    det = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    return [[v / det for v in row] for row in
            ((e * i - f * h, c * h - b * i, b * f - c * e), (f * g - d * i, a * i - c * g, c * d - a * f),
             (d * h - e * g, b * g - a * h, a * e - b * d))]


class Driver:
    """The server's end of one connection."""

    def __init__(self, connection):
        self.connection = connection
        connection.settimeout(PATIENCE_S)

    def receive(self, n):
        data = b""
        while len(data) < n:
            piece = self.connection.recv(n - len(data))
            if not piece:
                raise EOFError(f"after {len(data)} of {n} bytes")
            data += piece
        return data

    def send(self, data):
        self.connection.sendall(data)

    def status(self):
        self.send(b"STATUS      ")
        return self.receive(12).decode().strip()

    @staticmethod
    def positions_message(positions, cell, ih_transposed=False, n=None):
        h = [[cell[b][a] / BOHR for b in range(3)] for a in range(3)]
        ih = inverse(h) if any(map(any, cell)) and cell[0][0] == cell[0][0] else h
        if ih_transposed:  # as ASE sends it
            ih = [[ih[b][a] for b in range(3)] for a in range(3)]
        flat = [c / BOHR for x in positions for c in x]
        return (b"POSDATA     " + struct.pack("9d", *sum(h, [])) + struct.pack("9d", *sum(ih, []))
                + struct.pack("i", len(positions) if n is None else n) + struct.pack(f"{len(flat)}d", *flat))

    def forces(self):
        """Energy (eV), forces (eV/angstrom), virial (eV), text."""
        head = self.receive(12)
        assert head == b"FORCEREADY  ", head
        energy, n = struct.unpack("=di", self.receive(12))
        forces = struct.unpack(f"{3 * n}d", self.receive(24 * n))
        virial = struct.unpack("9d", self.receive(72))
        text = self.receive(struct.unpack("i", self.receive(4))[0]).decode()
        return (energy * HARTREE, [f * HARTREE / BOHR for f in forces], [w * HARTREE for w in virial], text)

    def ask(self, positions, cell=CELL, **how):
        """As ASE does: STATUS before and between."""
        status = self.status()
        if status == "NEEDINIT":
            self.send(b"INIT        " + struct.pack("ii", 0, 1) + b" ")
            status = self.status()
        assert status == "READY", status
        self.send(self.positions_message(positions, cell, **how))
        status = self.status()
        assert status == "HAVEDATA", status
        self.send(b"GETFORCE    ")
        return self.forces()

    def exit(self):
        self.send(b"EXIT        ")

    def close(self):
        self.connection.close()


class Server:
    """Listens; drivers are started beside it."""

    def __init__(self, by_port=False):
        if by_port:
            self.listener = socket.create_server(("127.0.0.1", 0))
            self.flags = ["--port", str(self.listener.getsockname()[1])]
        else:
            self.path = os.path.abspath("socket")
            if os.path.exists(self.path):
                os.unlink(self.path)
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(self.path)
            self.listener.listen(8)
            self.flags = ["--unix", self.path]
        self.listener.settimeout(PATIENCE_S)

    def start(self, *words, model=(MODEL,), launcher=()):
        models = [word for path in model for word in ("--model", path)]
        return subprocess.Popen([*launcher, "dpmd", "serve", *models, *self.flags, "--compress", "off", *words],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def accept(self):
        return Driver(self.listener.accept()[0])


def ended(process, code, *words):
    """Wait for a driver's end, which must have this code and say these words."""
    printed = process.communicate(timeout=PATIENCE_S)[0]
    assert process.returncode == code, f"exit {process.returncode}, expected {code}:\n{printed}"
    for word in words:
        assert word in printed, f"does not say '{word}':\n{printed}"
    return printed


def evaluated(*files, model=MODEL):
    """What `dpmd evaluate` finds for all frames of the files."""
    for ending in ("json", "xyz"):
        if os.path.exists(f"expected.{ending}"):
            os.unlink(f"expected.{ending}")
    subprocess.run(["dpmd", "evaluate", "--model", model, "--compress", "off", "--output", "expected", *files], check=True,
                   stdout=subprocess.DEVNULL, timeout=PATIENCE_S)
    with open("expected.json", encoding="utf-8") as file:
        return json.load(file)


def near(found, expected, tolerance, what):
    worst = max(abs(a - b) for a, b in zip(found, expected, strict=True))
    assert worst <= tolerance, f"{what}: {worst} apart, allowed {tolerance}"


def compare(found, expected):
    near([found[0]], [expected["energy_ev"]], 1e-9 * abs(expected["energy_ev"]), "energy")
    near(found[1], expected["forces_ev_per_angstrom"], 1e-9, "forces")
    near(found[2], expected["virial_ev"], 1e-8, "virial")
