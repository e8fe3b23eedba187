#!/usr/bin/env python3
"""`dpmd serve` under a server of i-PI's protocol that does all that servers do, and some that they must not. serve.py CLAIM."""
import json
import math
import signal
import struct
import sys
import time

import server as s


def two_sizes():
    for n in (4, 2):
        types, positions = s.water(n)
        s.write_xyz(f"water{n}.xyz", types, [positions])


def begun(*words, by_port=False, **how):
    """A server, a driver that has been started and what it is asked through."""
    two_sizes()
    server = s.Server(by_port)
    process = server.start(*(words or ("water4.xyz",)), **how)
    return server, process, server.accept()


def numbers_are_those_of_evaluate():
    for by_port in (False, True):
        _, process, driver = begun(by_port=by_port)
        types, first = s.water(4)
        second = s.water(4, 0.35)[1]
        s.write_xyz("frames.xyz", types, [first, second])
        expected = s.evaluated("frames.xyz")
        assert driver.status() == "NEEDINIT"
        driver.send(b"INIT        " + struct.pack("ii", 3, 5) + b"hello")
        for positions, wanted in zip((first, second), expected, strict=True):
            s.compare(driver.ask(positions), wanted)
            s.compare(driver.ask(positions, ih_transposed=True), wanted)
        driver.exit()
        s.ended(process, 0, "4 evaluations")


def virial_is_the_slope_of_the_energy():
    _, process, driver = begun()
    types, positions = s.water(4)
    energy, forces, virial, _ = driver.ask(positions)
    step = 1e-4

    def strained(k, l, e):
        def moved(x):
            return [x[a] + (e * x[l] if a == k else 0) for a in range(3)]
        return driver.ask([moved(x) for x in positions], [moved(row) for row in s.CELL])[0]

    slopes = []
    for k in range(3):
        for l in range(3):
            slopes.append(-(strained(k, l, step) - strained(k, l, -step)) / (2 * step))
    largest = max(map(abs, virial))
    s.near(slopes, virial, 1e-6 * largest, "virial and -dE/d(strain)")
    for i, k in ((0, 0), (4, 2), (7, 1)):
        up, down = ([x[:] for x in positions] for _ in range(2))
        up[i][k] += step
        down[i][k] -= step
        slope = -(driver.ask(up)[0] - driver.ask(down)[0]) / (2 * step)
        s.near([slope], [forces[3 * i + k]], 1e-6 * max(map(abs, forces)), f"force on atom {i}")
    driver.exit()
    s.ended(process, 0)


def messages_may_come_in_one_piece():
    """i-PI 3.3 sends positions and the wish for forces together."""
    _, process, driver = begun()
    types, positions = s.water(4)
    s.write_xyz("frames.xyz", types, [positions])
    wanted = s.evaluated("frames.xyz")[0]
    message = driver.positions_message(positions, s.CELL) + b"GETFORCE    "
    driver.send(b"STATUS      INIT        " + struct.pack("ii", 0, 0) + b"STATUS      " + message)
    assert driver.receive(24) == b"NEEDINIT    READY       "
    s.compare(driver.forces(), wanted)
    for byte in range(0, len(message), 7):  # and in many
        driver.send(message[byte:byte + 7])
    s.compare(driver.forces(), wanted)
    driver.close()
    s.ended(process, 0, "has ended", "2 evaluations")


def numbers_of_atoms_may_change():
    _, process, driver = begun("water4.xyz", "water2.xyz")
    expected = s.evaluated("water4.xyz", "water2.xyz")
    for n in (4, 2, 4):
        s.compare(driver.ask(s.water(n)[1]), expected[0 if n == 4 else 1])
    assert driver.status() == "READY"
    driver.send(driver.positions_message(s.water(3)[1], s.CELL))
    s.ended(process, 2, "the server has 9 atoms, the structures 12 or 6")


def molecules_in_the_open_have_no_cell():
    types, positions = s.water(1)
    s.write_xyz("molecule.xyz", types, [positions], cell=None)
    server = s.Server()
    process = server.start("molecule.xyz")
    driver = server.accept()
    s.compare(driver.ask(positions, [[0.0] * 3] * 3), s.evaluated("molecule.xyz")[0])
    driver.exit()
    s.ended(process, 0)


def several_drivers_are_independent():
    server, one, first = begun()
    two = server.start("water4.xyz")
    second = server.accept()
    positions, other = s.water(4)[1], s.water(4, 0.35)[1]
    energies = [first.ask(positions)[0], second.ask(other)[0]]
    first.send(first.positions_message(positions, s.CELL))
    second.send(second.positions_message(other, s.CELL))
    for driver, energy in ((second, energies[1]), (first, energies[0])):
        driver.send(b"GETFORCE    ")
        assert driver.forces()[0] == energy
    first.exit()
    s.ended(one, 0)
    s.near([second.ask(positions)[0]], [energies[0]], 0, "energy by the other")
    second.exit()
    s.ended(two, 0)


def ends_in_the_midst_of_a_message_are_told():
    _, process, driver = begun()
    driver.send(driver.positions_message(s.water(4)[1], s.CELL)[:200])
    driver.close()
    s.ended(process, 4, "the connection ended after 40 of 288 bytes of POSDATA's positions")


def a_server_that_comes_back_is_found():
    server, process, driver = begun("--again", "--wait", "20 s", "water4.xyz")
    positions = s.water(4)[1]
    energy = driver.ask(positions)[0]
    driver.send(driver.positions_message(positions, s.CELL)[:200])
    driver.close()
    driver = server.accept()
    assert driver.ask(positions)[0] == energy
    driver.close()  # between messages
    driver = server.accept()
    assert driver.ask(positions)[0] == energy
    driver.exit()
    s.ended(process, 0, "is looked for again", "has ended", "3 evaluations")


def one_that_does_not_come_back_is_given_up():
    server, process, driver = begun("--again", "--wait", "0.2 s", "water4.xyz")
    driver.ask(s.water(4)[1])
    server.listener.close()
    driver.close()
    s.ended(process, 0, "no server came back", "1 evaluation")


def nobody_there_is_told():
    two_sizes()
    server = s.Server()
    server.listener.close()
    process = server.start("--wait", "0.2 s", "water4.xyz")
    s.ended(process, 4, "no server at", "--wait '10 min'")
    # what the message advises
    process = server.start("--wait", "10 min", "water4.xyz")
    time.sleep(0.3)
    again = s.Server()
    driver = again.accept()
    driver.ask(s.water(4)[1])
    driver.exit()
    s.ended(process, 0)


def signals_end_the_wait():
    _, process, driver = begun()
    driver.ask(s.water(4)[1])
    process.send_signal(signal.SIGTERM)
    s.ended(process, 75, "stopped by a signal")


def what_cannot_be_is_refused():
    positions = s.water(4)[1]
    bad = [x[:] for x in positions]
    bad[4][1] = math.nan
    close = [x[:] for x in positions]
    close[3] = [c + 0.1 for c in close[0]]
    left = [s.CELL[1], s.CELL[0], s.CELL[2]]
    message = s.Driver.positions_message
    for sent, words in (
            (message(bad, s.CELL), "the position of atom 5 (H)"),
            (message(close, s.CELL), "overlap"),
            (message(positions, left), "cell"),
            (message(positions, [[math.nan] * 3] * 3), "cell"),
            (message(positions, s.CELL, n=-1), "the server has -1 atoms"),
            (message(positions, s.CELL, n=2**31 - 1), "the server has 2147483647 atoms"),
            (b"GETFORCE    ", "before it sent positions"),
            (b"INIT        " + struct.pack("ii", 0, -7), "-7 bytes"),
            (b"INIT        " + struct.pack("ii", 0, 12) + b"batch_size:4", "expected batch_size 1"),
            (b"HTTP/1.1 \xff\x00\x1b", "expected STATUS, INIT, POSDATA, GETFORCE or EXIT")):
        _, process, driver = begun()
        driver.send(sent)
        s.ended(process, 2, words)


def several_models_say_how_far_they_differ():
    two = f"{s.DATA}/silu_relu.dp"
    _, process, driver = begun(model=(s.MODEL, two))
    found = driver.ask(s.water(4)[1])
    theirs = [s.evaluated("water4.xyz", model=model)[0]["forces_ev_per_angstrom"] for model in (s.MODEL, two)]
    differences = [math.dist(*(f[3 * i:3 * i + 3] for f in theirs)) / 2 for i in range(12)]
    said = json.loads(found[3])
    s.near([said["max_devi_f"], said["min_devi_f"], said["avg_devi_f"]],
           [max(differences), min(differences), sum(differences) / 12], 1e-9, "deviation")
    driver.exit()
    s.ended(process, 0)


def ranks_find_the_same():
    _, process, driver = begun(launcher=sys.argv[2:])
    s.compare(driver.ask(s.water(4)[1]), s.evaluated("water4.xyz")[0])
    assert driver.status() == "READY"
    bad = s.water(4)[1]
    bad[0][0] = math.inf
    driver.send(driver.positions_message(bad, s.CELL))
    s.ended(process, 2, "the position of atom 1 (O)")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
