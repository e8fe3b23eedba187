#!/usr/bin/env python3
"""Frames a second of CartPole-v1 by envpool 1.2 and gymnasium 1.4 (`pip install envpool gymnasium`), the best of a few runs.

Usage: environment_peers.py envpool|gymnasium ENVIRONMENTS BATCH THREADS; prints 0 for what a peer has not
"""
import sys
import time

import numpy

RUNS, SECONDS = 3, 0.7


def best(frames_of_turn, turn):
    rates = []
    for _ in range(RUNS):
        begin, frames = time.perf_counter(), 0
        while time.perf_counter() - begin < SECONDS:
            for _ in range(20):
                turn()
            frames += 20 * frames_of_turn
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


if __name__ == "__main__":
    try:
        print({"envpool": with_envpool, "gymnasium": with_gymnasium}[sys.argv[1]](*map(int, sys.argv[2:5])))
    except ImportError:
        print(0)
