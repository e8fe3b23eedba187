"""The peer's side of dpmd_descriptors: runs in the Python of DeePMD-kit's own virtual environment.

    descriptors_peer.py prepare CASE MODEL.dp CELL.lmp    a model of random weights and a cell: water or alloy
    descriptors_peer.py run MODEL.dp CELL.lmp REPEATS     energy, forces and virial, one JSON object

The peer is DeePMD-kit's PyTorch back end as its C++ interface calls it: the scripted model, forward_lower, with ghosts and
neighbour list made before the clock runs.
"""
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

RCUT = 6.0
CASES = {"water": (["O", "H"], [15.999, 1.008], 160), "alloy": (["Al", "Cu", "Fe", "Ni"], [26.982, 63.546, 55.845, 58.693], 110)}


def descriptor(sel):
    return {"type": "dpa1", "rcut": RCUT, "rcut_smth": 0.5, "sel": sel, "neuron": [25, 50, 100], "axis_neuron": 16, "attn_layer": 0,
            "tebd_dim": 8, "tebd_input_mode": "strip", "smooth_type_embedding": True, "type_one_side": False, "set_davg_zero": True,
            "precision": "float64", "seed": 1}


def water():
    """Types and positions of 64 molecules at 0.1 atoms a cubic angstrom, on jittered sites, and the edge of their cube."""
    rng, edge = np.random.default_rng(7), (192 / 0.1) ** (1 / 3)
    types, atoms = [], []
    for site in np.ndindex(4, 4, 4):
        centre = (np.array(site) + .5 + rng.uniform(-.05, .05, 3)) * edge / 4
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        half = np.radians(104.5 / 2)
        arms = .96 * np.array([[np.cos(half), s * np.sin(half), 0] for s in (1, -1)]) @ turn
        types += [0, 1, 1]
        atoms += [centre, *(centre + arms)]
    return np.array(types), np.array(atoms), edge


def alloy():
    """256 atoms of four elements at random on the sites of an fcc lattice of 3.7 angstrom, displaced by 0.05."""
    rng, a = np.random.default_rng(7), 3.7
    sites = np.array([(np.array(cell) + basis) * a for cell in np.ndindex(4, 4, 4)
                      for basis in ((0, 0, 0), (0, .5, .5), (.5, 0, .5), (.5, .5, 0))])
    return rng.permutation(np.arange(len(sites)) % 4), sites + rng.normal(0, .05, sites.shape), 4 * a


def prepare(case, path, cell):
    from deepmd.dpmodel.model.model import get_model
    from deepmd.dpmodel.utils.serialization import save_dp_model
    names, masses, sel = CASES[case]
    config = {"type_map": names, "descriptor": descriptor(sel),
              "fitting_net": {"neuron": [240, 240, 240], "resnet_dt": True, "precision": "float64", "seed": 2}}
    data = get_model(json.loads(json.dumps(config))).serialize()
    data["descriptor"]["@variables"]["dstd"] = np.broadcast_to([.14, .09, .09, .09], (len(names), sel, 4)).copy()
    save_dp_model(path, {"model": data, "model_def_script": config, "backend": "dpmodel",
                         "@variables": {"min_nbor_dist": np.array(.8)}})
    types, atoms, edge = {"water": water, "alloy": alloy}[case]()
    lines = [case, "", f"{len(types)} atoms", f"{len(names)} atom types", *(f"0 {edge:.9f} {k}lo {k}hi" for k in "xyz"), "", "Masses", ""]
    lines += [f"{t + 1} {mass}" for t, mass in enumerate(masses)] + ["", "Atoms # atomic", ""]
    lines += [f"{i + 1} {kind + 1} " + " ".join(f"{c % edge:.9f}" for c in x) for i, (kind, x) in enumerate(zip(types, atoms))]
    with open(cell, "w") as out:
        out.write("\n".join(lines) + "\n")


def read_cell(path):
    """Types [N] from 0, positions [N,3] and the edge of a cube."""
    lines = open(path).read().splitlines()
    edge = next(float(line.split()[1]) for line in lines if line.endswith("xhi"))
    at = next(i for i, line in enumerate(lines) if line.startswith("Atoms"))
    rows = np.array([line.split() for line in lines[at + 2:] if line.strip()], dtype=float)
    return rows[:, 1].astype(int) - 1, rows[:, 2:5], edge


def run(path, cell, repeats):
    import deepmd.env
    import torch
    deepmd.env.SHARED_LIB_DIR = Path("/absent")  # operators of compressed models, built for another PyTorch than ours
    from deepmd.dpmodel.utils.nlist import extend_input_and_build_neighbor_list
    from deepmd.dpmodel.utils.serialization import load_dp_model
    from deepmd.pt.model.model import BaseModel
    torch.set_num_threads(1)
    model = BaseModel.deserialize(load_dp_model(path)["model"])
    model.eval()
    types, atoms, edge = read_cell(cell)
    box = np.diag([edge] * 3).reshape(1, 9)
    coord, kind, home, neighbours = extend_input_and_build_neighbor_list(
        atoms[None], types[None], model.get_rcut(), model.get_sel(), mixed_types=model.mixed_types(), box=box)
    given = (torch.from_numpy(np.asarray(coord)).reshape(1, -1, 3), torch.from_numpy(np.asarray(kind)).long(),
             torch.from_numpy(np.asarray(neighbours)).long(), torch.from_numpy(np.asarray(home)).long())
    scripted = torch.jit.script(model)
    for _ in range(3):  # the first calls profile and compile
        out = scripted.forward_lower(*given)
    times = []
    for _ in range(int(repeats)):
        start = time.process_time()
        out = scripted.forward_lower(*given)
        times.append(time.process_time() - start)
    print(json.dumps({"atoms": len(types), "cpu_us_per_atom": 1e6 * min(times) / len(types), "energy_ev": out["energy"].item(),
                      "version": f"DeePMD-kit 3.2.0, PyTorch {torch.__version__}, scripted forward_lower"}))


if __name__ == "__main__":
    os.environ.setdefault("DEVICE", "cpu")
    {"prepare": prepare, "run": run}[sys.argv[1]](*sys.argv[2:])
