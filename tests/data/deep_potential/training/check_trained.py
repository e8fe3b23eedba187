#!/usr/bin/env python3
"""Compare a model file of ours, read by DeePMD-kit, with our own energies, forces and virials of the same frames.

    dpmd evaluate --model model.dp --output ours SYSTEM       # makes ours.json
    peer/bin/python check_trained.py model.dp ours.json SYSTEM [--end PEER.dp]

Backends: dpmodel (energies), PyTorch and TensorFlow (through `dp convert-backend`). Prints the largest differences, one line
a backend, and fails above 1e-9 eV or eV/angstrom. --end also prints how far the weights are from those of another model.
"""
import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

os.environ.update({key: "1" for key in ("OMP_NUM_THREADS", "TF_INTRA_OP_PARALLELISM_THREADS",
                                        "TF_INTER_OP_PARALLELISM_THREADS", "DP_INTRA_OP_PARALLELISM_THREADS",
                                        "DP_INTER_OP_PARALLELISM_THREADS")}, TF_CPP_MIN_LOG_LEVEL="3")
import numpy as np  # noqa: E402


def numpy_energy(model, coord, box, types):
    from deepmd.dpmodel.model.base_model import BaseModel
    from deepmd.dpmodel.utils.serialization import load_dp_model
    read = BaseModel.deserialize(load_dp_model(model)["model"])
    return {"energy": np.asarray(read(coord, np.tile(types, (len(coord), 1)), box)["energy"]).reshape(-1)}


def pytorch_outputs(model, coord, box, types):
    import deepmd.env
    deepmd.env.SHARED_LIB_DIR = Path("/none")  # its operators are built for one torch; this model needs none
    import torch
    from deepmd.dpmodel.utils.serialization import load_dp_model
    from deepmd.pt.model.model.model import BaseModel
    read = BaseModel.deserialize(load_dp_model(model)["model"])
    out = read(torch.tensor(coord, requires_grad=True).reshape(len(coord), -1, 3),
               torch.tensor(np.tile(types, (len(coord), 1))), box=torch.tensor(box))
    return {"energy": out["energy"].detach().numpy().reshape(-1), "force": out["force"].detach().numpy(),
            "virial": out["virial"].detach().numpy()}


def tensorflow_outputs(model, coord, box, types):
    from deepmd.entrypoints.convert_backend import convert_backend
    from deepmd.infer import DeepPot
    with tempfile.TemporaryDirectory() as folder:
        convert_backend(INPUT=model, OUTPUT=f"{folder}/model.pb")
        energy, force, virial = DeepPot(f"{folder}/model.pb").eval(coord, box, types)[:3]
    return {"energy": energy.reshape(-1), "force": force, "virial": virial}


def weights(path):
    from deepmd.dpmodel.utils.serialization import load_dp_model
    model = load_dp_model(path)["model"]
    layers = [layer for part in (model["descriptor"]["embeddings"], model["fitting"]["nets"]) for net in part["networks"]
              for layer in net["layers"]]
    return [np.asarray(value) for layer in layers for value in layer["@variables"].values() if value is not None]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("ours", type=Path)
    p.add_argument("system", type=Path)
    p.add_argument("--end")
    a = p.parse_args()
    frames = json.loads(a.ours.read_text())
    keys = {"energy": "energy_ev", "force": "forces_ev_per_angstrom", "virial": "virial_ev"}
    expected = {key: np.array([np.ravel(frame[theirs]) for frame in frames], float) for key, theirs in keys.items()}
    coord, box = (np.load(a.system / "set.000" / f"{key}.npy").astype(float) for key in ("coord", "box"))
    types, worst = np.loadtxt(a.system / "type.raw", dtype=int), 0
    for name, evaluate in (("dpmodel", numpy_energy), ("TensorFlow", tensorflow_outputs), ("PyTorch", pytorch_outputs)):
        found = evaluate(a.model, coord, box, types)
        apart = {key: np.abs(found[key].reshape(expected[key].shape[0], -1) - expected[key]).max() for key in found}
        worst = max(worst, *apart.values())
        print(f"{name}: largest differences", ", ".join(f"{key} {value:.1e}" for key, value in apart.items()))
    if a.end:
        pairs = zip(weights(a.model), weights(a.end), strict=True)
        print(f"weights: {max(np.abs(x - y).max() for x, y in pairs):.1e} from {a.end}")
    sys.exit(0 if worst < 1e-9 else f"differences up to {worst:.1e}")


if __name__ == "__main__":
    main()
