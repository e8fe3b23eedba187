#!/usr/bin/env python3
"""Make small random-weight models of NequIP and Allegro, compile them, and keep what the models themselves find.

    python3 -m venv peer
    peer/bin/pip install nequip==0.19.1 nequip-allegro==0.8.3 torch==2.13.0
    peer/bin/python make_nequip.py

They are compiled as `nequip-compile --mode aotinductor` does, for any x86-64 processor and one thread. Energies, forces
and virials (allegro.ref.json, nequip.ref.json) are of the models before that, with NequIP's own lists of neighbours, which
fold periodic images onto their atoms. Structures are those of ../deep_potential.
"""
import json
import os
from pathlib import Path

os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
import allegro  # noqa: E402, F401  (adds a target)
import numpy as np  # noqa: E402
import torch  # noqa: E402
from allegro.model import AllegroModel  # noqa: E402
from nequip.data import AtomicDataDict  # noqa: E402
from nequip.data.transforms import NeighborListTransform  # noqa: E402
from nequip.model import NequIPGNNModel  # noqa: E402
from nequip.scripts._compile_utils import COMPILE_TARGET_DICT  # noqa: E402
from nequip.utils.aot import aot_export_model  # noqa: E402
from nequip.utils.aoti_metadata import NEQUIP_AOTI_INPUTS_KEY, NEQUIP_AOTI_OUTPUTS_KEY  # noqa: E402
from nequip.utils.global_state import set_global_state  # noqa: E402
from repack import ANY_PROCESSOR, repack_compiled  # noqa: E402

HERE = Path(__file__).resolve().parent
COMMON = {"seed": 7, "model_dtype": "float64", "type_names": ["O", "H"], "r_max": 3.5, "l_max": 1, "parity": False,
          "avg_num_neighbors": 8.0, "per_type_energy_scales": {"O": 0.8, "H": 0.6}, "per_type_energy_shifts": {"O": -3.25, "H": -1.75}}
# Cutoffs of pairs of types: of oxygen and hydrogen, both ways.
ALLEGRO = COMMON | {
    "num_layers": 1, "num_scalar_features": 4, "num_tensor_features": 2, "scalar_embed_mlp_hidden_layers_width": 4,
    "allegro_mlp_hidden_layers_width": 4, "readout_mlp_hidden_layers_width": 4,
    "per_edge_type_cutoff": {"O": {"O": 3.5, "H": 3.0}, "H": {"O": 3.2, "H": 2.5}},
    "radial_chemical_embed": {"_target_": "allegro.nn.TwoBodyBesselScalarEmbed", "num_bessels": 3, "bessel_trainable": False,
                              "polynomial_cutoff_p": 6}}
NEQUIP = COMMON | {"num_layers": 2, "num_features": 3, "radial_mlp_width": 4, "num_bessels": 3}


def structure(case, definition):
    """Return a case of the native models' references, whose types are O and H, with its neighbours."""
    x = np.array(case["coord"]).reshape(-1, 3)
    data = {AtomicDataDict.POSITIONS_KEY: torch.tensor(x), AtomicDataDict.ATOM_TYPE_KEY: torch.tensor(case["type"])}
    is_periodic = case["box"] is not None
    box = np.array(case["box"]).reshape(3, 3) if is_periodic else 60 * np.eye(3)
    data[AtomicDataDict.CELL_KEY] = torch.tensor(box).view(1, 3, 3)
    data |= {AtomicDataDict.PBC_KEY: torch.tensor([[is_periodic] * 3]), AtomicDataDict.NUM_NODES_KEY: torch.tensor([len(x)])}
    cutoffs = definition.get("per_edge_type_cutoff")
    return NeighborListTransform(r_max=definition["r_max"], per_edge_type_cutoff=cutoffs,
                                 type_names=definition["type_names"])(data)


def evaluate(model, data):
    found = model(data)
    numbers = lambda key: found[key].detach().numpy().ravel().tolist()  # noqa: E731
    return {"energy": float(found[AtomicDataDict.TOTAL_ENERGY_KEY].detach()), "force": numbers(AtomicDataDict.FORCE_KEY),
            "virial": numbers(AtomicDataDict.VIRIAL_KEY), "atom_energy": numbers(AtomicDataDict.PER_ATOM_ENERGY_KEY)}


def make(name, builder, definition, target, structures):
    model = builder(**definition).eval()
    found = [{key: case[key] for key in ("name", "type", "coord", "box")} |
             evaluate(model, structure(case, definition)) for case in structures]
    text = json.dumps({"model": name + ".pt2", "generator": "nequip 0.19.1, nequip-allegro 0.8.3", "definition": definition,
                       "cases": found})
    (HERE / (name + ".ref.json")).write_text(text.replace(', "', ',\n "').replace(', {"', ',\n{"') + "\n")
    how = COMPILE_TARGET_DICT[target]
    sizes = {kind: torch.export.dynamic_shapes.Dim("num_" + kind, min=2, max=torch.inf) for kind in ("graph", "node", "edge")}
    metadata = {key: str(int(value)) if isinstance(value, bool) else value for key, value in model.metadata.items()}
    metadata |= {"allow_tf32": "0", NEQUIP_AOTI_INPUTS_KEY: " ".join(how["input"]),
                 NEQUIP_AOTI_OUTPUTS_KEY: " ".join(how["output"])}
    path = HERE / (name + ".pt2")
    aot_export_model(model=model, device="cpu", input_fields=how["input"], output_fields=how["output"],
                     data=how["data_settings"](structure(structures[1], definition)),
                     batch_map=how["batch_map_settings"](sizes), output_path=str(path),
                     inductor_configs=ANY_PROCESSOR | {"aot_inductor.metadata": metadata})
    repack_compiled(path)
    print([case["energy"] for case in found], path.stat().st_size)


def main():
    set_global_state(allow_tf32=False)
    cases = json.loads((HERE.parent / "deep_potential" / "dpa1_concat.ref.json").read_text())["cases"]
    cases = [case for case in cases if "overflow" not in case["name"]]
    make("allegro", AllegroModel, ALLEGRO, "pair_allegro", cases)
    make("nequip", NequIPGNNModel, NEQUIP, "pair_nequip", cases)


if __name__ == "__main__":
    main()
