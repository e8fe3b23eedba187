#!/usr/bin/env python3
"""The U-Net of the flow models by our blocks (training_unet) beside torch's own means, same network and weights.

    training_peers activations|ranks [--rounds N] [--build FOLDER]

activations: forward and backward pass, one thread: keep, recompute, planned, swapped (emulated) beside torch, checkpoint_sequential
    and save_on_cpu.
ranks: a step with Adam on two ranks, a thread each: stages 0 to 3 beside DDP, ZeroRedundancyOptimizer, FSDP2 on gloo, and DeepSpeed
    where this interpreter has it (pip install deepspeed).
Programs take turns; the least of all rounds counts. A peer whose gradient is not ours (to 3 % of its norm: rounding; in double ours and torch's are 1 % away) is an error. Last line: JSON.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.abspath(__file__)


# ---- the network in torch ------------------------------------------------------------------------------------------------------

def make_network(folder):
    import numpy
    import torch
    from torch import nn
    from torch.nn import functional

    chain = json.load(open(f"{folder}/chain.json"))

    class Residual(nn.Module):
        def __init__(self, block):
            super().__init__()
            n_in, neck, n_out = block["n_in"], block["n_neck"], block["n_out"]
            self.conv1, self.conv2 = nn.Conv3d(n_in, neck, 1), nn.Conv3d(neck, neck, 3, padding=1)
            self.conv3, self.shortcut = nn.Conv3d(neck, n_out, 1), nn.Conv3d(n_in, n_out, 1)
            self.norm1, self.norm2, self.norm3 = nn.BatchNorm3d(neck), nn.BatchNorm3d(neck), nn.BatchNorm3d(n_out)
            self.relu = block["relu"]

        def forward(self, x):
            y = functional.relu(self.norm1(self.conv1(x)))
            y = functional.relu(self.norm2(self.conv2(y)))
            y = self.norm3(self.conv3(y)) + self.shortcut(x)
            return functional.relu(y) if self.relu else y

    def operation(block):
        factor = tuple(block["factor"])
        if block["kind"] == 1:
            return lambda x: functional.max_pool3d(x, factor, factor, ceil_mode=True)
        if block["kind"] == 2:
            def upsample(x, like):
                x = functional.interpolate(x, scale_factor=tuple(map(float, factor)), mode="nearest")
                return x[:, :, :like.shape[2], :like.shape[3], :like.shape[4]]
            return upsample
        return lambda a, b: torch.cat((a, b), 1)

    blocks = chain["blocks"]
    last_use = {name: i for i, block in enumerate(blocks) for name in block["inputs"]}

    class Segment(nn.Module):
        """From tensors by name to those that later segments read."""
        def __init__(self, first, last):
            super().__init__()
            self.first, self.last = first, last
            self.residuals = nn.ModuleDict({b["name"]: Residual(b) for b in blocks[first:last] if b["kind"] == 0})
            self.others = {b["name"]: operation(b) for b in blocks[first:last] if b["kind"] != 0}

        def forward(self, tensors):
            tensors = dict(tensors)
            for i in range(self.first, self.last):
                block = blocks[i]
                name = block["name"]
                run = self.residuals[name] if name in self.residuals else self.others[name]
                made = run(*(tensors[x] for x in block["inputs"]))
                for x in set(block["inputs"]):
                    if last_use[x] == i:
                        del tensors[x]
                tensors[name] = made
            return tensors

    starts = chain["segments"]
    network = nn.Sequential(*(Segment(a, b) for a, b in zip(starts, starts[1:] + [len(blocks)])))
    values = torch.from_numpy(numpy.fromfile(f"{folder}/parameters.f32", numpy.float32))
    ordered = []
    for block in blocks:
        for segment in network:
            if block["name"] in segment.residuals:
                one = segment.residuals[block["name"]]
                for part in (one.conv1, one.conv2, one.conv3, one.shortcut, one.norm1, one.norm2, one.norm3):
                    ordered += [part.weight, part.bias]
    place = 0
    with torch.no_grad():
        for tensor in ordered:
            tensor.copy_(values[place:place + tensor.numel()].view_as(tensor))
            place += tensor.numel()
    assert place == values.numel()
    shape = chain["block"]
    read = lambda name, *sizes: torch.from_numpy(numpy.fromfile(f"{folder}/{name}.f32", numpy.float32)).view(*sizes)
    return {"network": network, "ordered": ordered, "end": blocks[-1]["name"],
            "input": read("input", chain["crops"], chain["n_input"], *shape),
            "bars": read("bars", chain["crops"], *shape, chain["n_output"]), "gradient": read("gradient", -1)}


def loss_of(problem, tensors):
    return (tensors[problem["end"]].permute(0, 2, 3, 4, 1) * problem["bars"]).sum()


def check(name, found, expected):
    error = float((found - expected).norm() / expected.norm())
    if not error < 3e-2:
        raise SystemExit(f"{name}: its gradient differs from ours by {error:.2g} of its norm")


def timed(action):
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - wall, time.process_time() - cpu


# ---- peers ---------------------------------------------------------------------------------------------------------------------

def most_bytes(action):
    """Bytes of torch's allocator (CPU) at most while this runs, beyond what was there."""
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        action()
    events = sorted((e.start_ns(), e.nbytes()) for e in recorded.profiler.kineto_results.events() if e.name() == "[memory]")
    held = most = 0
    for _, n in events:
        held += n
        most = max(most, held)
    return most


def activation_peers(folder, rounds):
    import torch
    from torch.utils.checkpoint import checkpoint_sequential
    torch.set_num_threads(1)
    problem = make_network(folder)
    network = problem["network"]

    def plain(**_):
        return network({"input": problem["input"]})

    def checkpointed():
        return checkpoint_sequential(network, len(network), {"input": problem["input"]}, use_reentrant=False)

    def saved(copies):
        def run():
            with torch.autograd.graph.save_on_cpu(pin_memory=copies):
                return plain()
        return run

    ways = {"keep": plain, "checkpoint_sequential": checkpointed, "save_on_cpu": saved(False), "save_on_cpu, copies": saved(True)}

    def run(forward):
        for tensor in problem["ordered"]:
            tensor.grad = None
        loss_of(problem, forward()).backward()

    rows = {}
    for name, forward in ways.items():
        run(forward)
        check(name, torch.cat([t.grad.flatten() for t in problem["ordered"]]), problem["gradient"])
        for tensor in problem["ordered"]:  # ours counts gradients among parameters' arrays
            tensor.grad = None
        rows[name] = {"way": name, "wall": 1e30, "cpu": 1e30, "peak": most_bytes(lambda: run(forward))}
    for _ in range(rounds):
        for name, forward in ways.items():
            wall, cpu = timed(lambda: run(forward))
            rows[name]["wall"], rows[name]["cpu"] = min(rows[name]["wall"], wall), min(rows[name]["cpu"], cpu)
    for row in rows.values():
        print(json.dumps(row))


def rank_peers(folder, rounds):
    import torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.optim import ZeroRedundancyOptimizer
    from torch.nn.parallel import DistributedDataParallel
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    adam = {"lr": 1e-5, "fused": True}
    steps, notes = {}, {}

    def whole(tensor):
        return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor

    def add(name, problem, forward, optimiser):
        def gradient():
            optimiser.zero_grad()
            loss_of(problem, forward({"input": problem["input"]})).backward()

        def step():
            gradient()
            optimiser.step()
        gradient()
        found = torch.cat([whole(t.grad).flatten() for t in problem["ordered"]])
        check(name, found, problem["gradient"])
        steps[name] = step

    problem = make_network(folder)
    ddp = DistributedDataParallel(problem["network"])
    add("DDP", problem, ddp, torch.optim.Adam(ddp.parameters(), **adam))
    problem = make_network(folder)
    ddp = DistributedDataParallel(problem["network"])
    add("ZeroRedundancyOptimizer", problem, ddp, ZeroRedundancyOptimizer(ddp.parameters(), torch.optim.Adam, **adam))
    try:
        problem = make_network(folder)
        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
        names = {id(t): n for n, t in problem["network"].named_parameters()}
        order = [names[id(t)] for t in problem["ordered"]]
        for segment in problem["network"]:
            fully_shard(segment, mesh=mesh)
        fully_shard(problem["network"], mesh=mesh)
        named = dict(problem["network"].named_parameters())
        problem["ordered"] = [named[n] for n in order]
        add("FSDP2", problem, problem["network"], torch.optim.Adam(problem["network"].parameters(), **adam))
    except (ImportError, RuntimeError, NotImplementedError) as error:
        notes["FSDP2"] = str(error).splitlines()[0]
    try:
        import deepspeed
        import deepspeed.comm
        for stage in (0, 1, 2, 3):
            problem = make_network(folder)
            engine = deepspeed.initialize(
                model=problem["network"], optimizer=torch.optim.Adam(problem["network"].parameters(), **adam), dist_init_required=False,
                config={"train_micro_batch_size_per_gpu": int(problem["input"].shape[0]), "zero_allow_untested_optimizer": True,
                        "zero_optimization": {"stage": stage}, "steps_per_print": 10**9})[0]

            def step(engine=engine, problem=problem):
                engine.backward(loss_of(problem, engine({"input": problem["input"]})))
                engine.step()
            step()
            steps[f"DeepSpeed, stage {stage}"] = step
    except Exception as error:  # what it needs and does not find is its own affair
        notes["DeepSpeed"] = f"{type(error).__name__}: {error}".splitlines()[0]
    rows = {name: [1e30, 1e30] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            dist.barrier()
            times = torch.tensor(timed(step), dtype=torch.float64)
            dist.all_reduce(times, dist.ReduceOp.MAX)
            rows[name] = [min(a, float(b)) for a, b in zip(rows[name], times)]
    if dist.get_rank() == 0:
        for name, (wall, cpu) in rows.items():
            print(json.dumps({"way": name, "wall": wall, "cpu": cpu}))
        for name, note in notes.items():
            print(json.dumps({"way": name, "note": note}))
    dist.destroy_process_group()


# ---- both in turn ----------------------------------------------------------------------------------------------------------------

def rows_of(command):
    found = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1", "DS_ACCELERATOR": "cpu"})
    if found.returncode:
        raise SystemExit(f"{' '.join(command)} has failed:\n{found.stdout[-2000:]}{found.stderr[-3000:]}")
    return [json.loads(line) for line in found.stdout.splitlines() if line.startswith('{"way"')]


def collect(best, rows):
    for row in rows:
        old = best.setdefault(row["way"], row)
        for key in ("wall", "cpu"):
            if key in row:
                old[key] = min(old[key], row[key])


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("what", choices=["activations", "ranks"])
    words.add_argument("--rounds", type=int, default=3)
    words.add_argument("--steps", type=int, default=4, help="of a program, each round")
    words.add_argument("--build", default="@PROJECT_BINARY_DIR@")
    given = words.parse_args()
    ours, theirs = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        driver = [f"{given.build}/tests/bench/training_unet", folder, given.what, str(given.steps)]
        peer = [HERE, "peer", given.what, folder, str(given.steps)]
        if given.what == "ranks":
            asleep = f"{given.build}/tests/libquintet_waiting_ranks.so"  # as gloo's ranks are where they wait
            driver = ["mpirun", "--oversubscribe", "-n", "2", "-x", f"LD_PRELOAD={asleep if os.path.exists(asleep) else ''}"] + driver
            peer = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--no-python", sys.executable] + peer
        for _ in range(given.rounds):
            collect(ours, rows_of(driver))
            collect(theirs, rows_of([sys.executable] + peer))
    for side, rows in (("ours", ours), ("peer", theirs)):
        for row in rows.values():
            print(side, "  ".join(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()))
    lines = []
    for a in ours.values():
        for b in theirs.values():
            if "wall" in b:
                lines.append({"bench": f"training_{given.what}", "case": f"{a['way']} beside torch: {b['way']}", "ours": a["wall"],
                              "peer": b["wall"], "ratio": b["wall"] / a["wall"], "unit": "s", "cpu": [a["cpu"], b["cpu"]]})
    print(json.dumps(lines))


if __name__ == "__main__":
    if sys.argv[1:2] == ["peer"]:
        {"activations": activation_peers, "ranks": rank_peers}[sys.argv[2]](sys.argv[3], int(sys.argv[4]))
    else:
        main()
