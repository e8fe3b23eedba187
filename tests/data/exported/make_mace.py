#!/usr/bin/env python3
"""Make a small random-weight MACE model, export it for LAMMPS (mace.pt), and keep what MACE itself finds (mace.ref.json).

    python3 -m venv peer
    peer/bin/pip install mace-torch==0.3.16 torch==2.13.0
    peer/bin/python make_mace.py

Structures are those of ../deep_potential. Energies, forces and virials are of the model before it is exported, with MACE's
own lists of neighbours, which fold periodic images onto their atoms.
"""
import json
import os
from pathlib import Path

os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"  # for e3nn's constants
import numpy as np  # noqa: E402
import torch  # noqa: E402
from e3nn import o3  # noqa: E402
from e3nn.util import jit  # noqa: E402
from mace import data, modules  # noqa: E402
from mace.calculators import LAMMPS_MACE  # noqa: E402
from mace.tools import torch_geometric, utils  # noqa: E402
from repack import repack  # noqa: E402

HERE = Path(__file__).resolve().parent
CONFIG = {"r_max": 3.5, "num_bessel": 3, "num_polynomial_cutoff": 5, "max_ell": 1, "num_interactions": 2,
          "hidden_irreps": "4x0e", "correlation": 2, "radial_MLP": [4], "atomic_numbers": [1, 8]}


def make():
    """Return the model."""
    torch.manual_seed(5)
    torch.set_default_dtype(torch.float64)
    kind = modules.interaction_classes["RealAgnosticResidualInteractionBlock"]
    model = modules.ScaleShiftMACE(
        r_max=CONFIG["r_max"], num_bessel=CONFIG["num_bessel"], num_polynomial_cutoff=CONFIG["num_polynomial_cutoff"],
        max_ell=CONFIG["max_ell"], interaction_cls=kind, interaction_cls_first=kind, num_interactions=2, num_elements=2,
        hidden_irreps=o3.Irreps(CONFIG["hidden_irreps"]), MLP_irreps=o3.Irreps("4x0e"), gate=torch.nn.functional.silu,
        atomic_energies=np.array([-1.75, -3.25]), avg_num_neighbors=8.0, atomic_numbers=CONFIG["atomic_numbers"],
        correlation=CONFIG["correlation"], radial_MLP=CONFIG["radial_MLP"], atomic_inter_scale=0.8,
        atomic_inter_shift=0.1)
    return model.double().eval()


def evaluate(model, case):
    """Return what MACE finds for a case of the native models' references, whose types are O and H."""
    x = np.array(case["coord"]).reshape(-1, 3)
    numbers = np.array([8, 1])[case["type"]]
    box = None if case["box"] is None else np.array(case["box"]).reshape(3, 3)
    structure = data.Configuration(atomic_numbers=numbers, positions=x, properties={}, property_weights={}, cell=box,
                                   pbc=(box is not None,) * 3)
    table = utils.AtomicNumberTable(CONFIG["atomic_numbers"]) if hasattr(utils, "AtomicNumberTable") else None
    batch = next(iter(torch_geometric.dataloader.DataLoader(
        [data.AtomicData.from_config(structure, z_table=table, cutoff=CONFIG["r_max"])], batch_size=1)))
    found = model(batch.to_dict(), compute_virials=True)
    return {"energy": float(found["energy"].detach()), "force": found["forces"].detach().numpy().ravel().tolist(),
            "virial": found["virials"].detach().numpy().ravel().tolist(),
            "atom_energy": found["node_energy"].detach().numpy().ravel().tolist()}


def main():
    model = make()
    structures = json.loads((HERE.parent / "deep_potential" / "dpa1_concat.ref.json").read_text())["cases"]
    cases = [{key: case[key] for key in ("name", "type", "coord", "box")} | evaluate(model, case)
             for case in structures if "overflow" not in case["name"]]
    jit.compile(LAMMPS_MACE(model)).save(str(HERE / "mace.pt"))
    repack(HERE / "mace.pt")
    text = json.dumps({"model": "mace.pt", "generator": "mace-torch 0.3.16", "definition": CONFIG, "cases": cases})
    (HERE / "mace.ref.json").write_text(text.replace(', "', ',\n "').replace(', {"', ',\n{"') + "\n")
    print([case["energy"] for case in cases], np.abs(cases[1]["force"]).max())


if __name__ == "__main__":
    main()
