#!/usr/bin/env python3
"""Frames a second by envpool 1.2 and gymnasium 1.4 (`pip install envpool gymnasium`), the best of a few runs: of CartPole-v1, or of a
stand-in for an environment of one's own, whose step takes as much processor time as ours and gives as many numbers.

Usage: environment_peers.py envpool|gymnasium ENVIRONMENTS BATCH THREADS; prints frames a second
       environment_peers.py own WORKERS MILLISECONDS OBSERVED ACTIONS; prints frames a second, and ms of processor time a frame
Prints 0 for what a peer has not.
"""
import os
import sys
import time

import numpy

RUNS, SECONDS = 3, 0.7


def best(frames_of_turn, turn, turns=20):
    rates = []
    for _ in range(RUNS):
        begin, frames = time.perf_counter(), 0
        while time.perf_counter() - begin < SECONDS:
            for _ in range(turns):
                turn()
            frames += turns * frames_of_turn
        rates.append(frames / (time.perf_counter() - begin))
    return max(rates)


def with_envpool(n, m, threads):
    import envpool
    worlds = envpool.make_gymnasium("CartPole-v1", num_envs=n, batch_size=m, num_threads=threads)
    worlds.async_reset()
    actions = numpy.arange(m, dtype=numpy.int32) % 2

    def turn():
        information = worlds.recv()[4]
        worlds.send(actions, information["env_id"])
    return best(m, turn)


def with_gymnasium(n, m, _):
    if m < n:
        return 0
    import gymnasium
    worlds = gymnasium.vector.AsyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * n)
    worlds.reset(seed=0)
    actions = numpy.arange(n) % 2
    rate = best(n, lambda: worlds.step(actions))
    worlds.close()
    return rate


def processor_ms(pids):
    """Processor time of processes so far."""
    ticks = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stream:
            ticks += sum(map(int, stream.read().rsplit(")", 1)[1].split()[11:13]))
    return 1000 * ticks / os.sysconf("SC_CLK_TCK")


def of_own(workers, ms, n_observed, n_actions):
    """A process an environment, as gymnasium has them; those of all and of the caller are counted."""
    import gymnasium

    class Busy(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-10, 10, (n_observed,), numpy.float32)
        action_space = gymnasium.spaces.Box(-1, 1, (n_actions,), numpy.float32)

        def reset(self, *, seed=None, options=None):
            return numpy.zeros(n_observed, numpy.float32), {}

        def step(self, action):
            end = time.thread_time() + 1e-3 * ms
            while time.thread_time() < end:
                pass
            return numpy.zeros(n_observed, numpy.float32), float(action[0]), False, False, {}

    worlds = gymnasium.vector.AsyncVectorEnv([Busy] * workers)
    worlds.reset(seed=0)
    actions, frames = numpy.zeros((workers, n_actions), numpy.float32), 0

    def turn():
        nonlocal frames
        worlds.step(actions)
        frames += workers
    pids = [os.getpid()] + [process.pid for process in worlds.processes]
    before = processor_ms(pids)
    rate = best(workers, turn, 5)
    taken = (processor_ms(pids) - before) / frames
    worlds.close()
    return rate, taken


if __name__ == "__main__":
    try:
        if sys.argv[1] == "own":
            print(*of_own(int(sys.argv[2]), float(sys.argv[3]), *map(int, sys.argv[4:6])))
        else:
            print({"envpool": with_envpool, "gymnasium": with_gymnasium}[sys.argv[1]](*map(int, sys.argv[2:5])))
    except ImportError:
        print(0, 0)
