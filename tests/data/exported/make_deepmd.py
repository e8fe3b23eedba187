#!/usr/bin/env python3
"""Make small random-weight models (*.pth) with DeePMD-kit's PyTorch back end, and what its calculator finds.

`oneside.pth` is ../deep_potential/oneside.dp, whose references another back end has made; the others have references
of their own (*.ref.json, as ../deep_potential has them), made by DeePMD-kit's own calculator.

    python3 -m venv peer
    peer/bin/pip install deepmd-kit==3.2.0 torch==2.13.0
    peer/bin/python make_deepmd.py [NAME ...]
    peer/bin/python make_deepmd.py refused

`refused/` has what looks like a model and cannot be run, by a few lines each.

The library of DeePMD-kit's operators is not loaded: it fits one version of LibTorch. Its operator border_op is declared,
since models that pass messages name it. Files are packed again, without what helps to debug them.
"""
import copy
import json
import os
import sys
import types
from pathlib import Path

os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"  # for e3nn's constants
import torch  # noqa: E402

operators = torch.library.Library("deepmd", "FRAGMENT")
operators.define("border_op(Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, Tensor f, Tensor g, Tensor h, Tensor i) "
                 "-> Tensor[]")
operators.define("tabulate_fusion_se_a(Tensor a, Tensor b, Tensor c, Tensor d, int e) -> Tensor[]")
sys.modules["deepmd.pt.cxx_op"] = types.ModuleType("deepmd.pt.cxx_op")
sys.modules["deepmd.pt.cxx_op"].ENABLE_CUSTOMIZED_OP = False
import numpy as np  # noqa: E402
from deepmd.dpmodel.utils.serialization import load_dp_model  # noqa: E402
from deepmd.pt.model.model import BaseModel, get_model  # noqa: E402
from repack import repack  # noqa: E402

HERE = Path(__file__).resolve().parent
NATIVE = HERE.parent / "deep_potential"
COMMON = {"rcut": 4.5, "rcut_smth": 1.0, "precision": "float64", "seed": 3}
FITTING = {"neuron": [6, 6], "precision": "float64", "seed": 4}
MODELS = {
    # Attention between neighbours, and a parameter of the frame.
    "attention": {"descriptor": {**COMMON, "type": "dpa1", "sel": 30, "neuron": [3, 6], "axis_neuron": 2, "attn": 4,
                                 "attn_layer": 2, "attn_dotr": True, "tebd_dim": 3, "tebd_input_mode": "concat",
                                 "set_davg_zero": True, "smooth_type_embedding": True},
                  "fitting_net": {**FITTING, "numb_fparam": 1}},
    # Messages of two layers.
    "messages": {"descriptor": {"type": "dpa3", "precision": "float64", "seed": 3,
                                "repflow": {"n_dim": 6, "e_dim": 4, "a_dim": 3, "nlayers": 2, "e_rcut": 4.5,
                                            "e_rcut_smth": 1.0, "e_sel": 30, "a_rcut": 3.5, "a_rcut_smth": 1.0,
                                            "a_sel": 20, "axis_neuron": 2}},
                 "fitting_net": FITTING},
    # Messages of one layer, of what atoms have learnt from their neighbours and triplets.
    "triplets": {"descriptor": {"type": "dpa2", "precision": "float64", "seed": 3, "smooth": True,
                                "repinit": {"rcut": 4.5, "rcut_smth": 1.0, "nsel": 30, "neuron": [3, 6],
                                            "axis_neuron": 2, "tebd_dim": 3, "tebd_input_mode": "concat",
                                            "three_body_neuron": [3, 4], "three_body_rcut": 3.0,
                                            "three_body_rcut_smth": 1.0, "three_body_sel": 10,
                                            "use_three_body": True},
                                "repformer": {"rcut": 3.5, "rcut_smth": 1.0, "nsel": 20, "nlayers": 1, "g1_dim": 6,
                                              "g2_dim": 4, "axis_neuron": 2, "attn1_hidden": 4, "attn1_nhead": 1,
                                              "attn2_hidden": 3, "attn2_nhead": 1, "update_g1_has_attn": True}},
                 "fitting_net": FITTING},
}
PARAMETER = [0.6]


def freeze(model, name):
    """Save a model as `dp --pt freeze` does."""
    model.eval()
    path = str(HERE / f"{name}.pth")
    torch.jit.save(torch.jit.script(model), path, {"data_modifier.pth": ""})
    repack(path)
    return torch.jit.load(path) if "/" not in name else None


def random_statistics(model):
    """Give the weights that begin as zeros numbers, or most of a model would be silent."""
    generator = torch.Generator().manual_seed(7)
    for parameter in model.parameters():
        if parameter.numel() > 0 and parameter.abs().max() < 1e-12:
            parameter.data.copy_(0.3 * torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype))


def evaluate(model, case, parameter):
    """Return what the calculator finds for a case of the native models' references."""
    x = torch.tensor(case["coord"], dtype=torch.float64).view(1, -1, 3)
    box = None if case["box"] is None else torch.tensor(case["box"], dtype=torch.float64).view(1, 9)
    given = {} if parameter is None else {"fparam": torch.tensor([parameter], dtype=torch.float64)}
    found = model(x, torch.tensor([case["type"]]), box, do_atomic_virial=True, **given)
    return {key: found[key].detach().numpy().ravel().tolist()
            for key in ("force", "virial", "atom_energy", "atom_virial")} | {"energy": float(found["energy"].detach())}


class Stub(torch.nn.Module):
    """What a frozen model says of itself, and nothing else."""

    n_of_atoms: torch.jit.Final[int]
    is_spin: torch.jit.Final[bool]

    def __init__(self, output="energy", n_of_atoms=0, is_spin=False):
        super().__init__()
        self.output, self.n_of_atoms, self.is_spin = output, n_of_atoms, is_spin

    @torch.jit.export
    def model_output_type(self) -> list[str]:
        return [self.output]

    @torch.jit.export
    def has_spin(self) -> bool:
        return self.is_spin

    @torch.jit.export
    def get_dim_aparam(self) -> int:
        return self.n_of_atoms

    @torch.jit.export
    def get_type_map(self) -> list[str]:
        return ["O", "H"]

    @torch.jit.export
    def forward_lower(self, x: torch.Tensor) -> torch.Tensor:
        return x


class Tabulated(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.deepmd.tabulate_fusion_se_a(x, x, x, x, 1)[0]


class Square(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x


def refused():
    """Write what cannot be run."""
    (HERE / "refused").mkdir(exist_ok=True)
    for name, module in {"dipole": Stub("dipole"), "aparam": Stub(n_of_atoms=2), "spin": Stub(is_spin=True),
                         "compressed": Tabulated(), "square": Square()}.items():
        freeze(module, f"refused/{name}")


def main(names):
    if not names:
        freeze(BaseModel.deserialize(copy.deepcopy(load_dp_model(str(NATIVE / "oneside.dp"))["model"])), "oneside")
    structures = json.loads((NATIVE / "dpa1_concat.ref.json").read_text())["cases"]
    for name in names or MODELS:
        config = MODELS[name]
        torch.manual_seed(5)
        model = get_model(copy.deepcopy({"type_map": ["O", "H"], **config}))
        random_statistics(model)
        model = freeze(model, name)
        parameter = PARAMETER if "numb_fparam" in config["fitting_net"] else None
        cases = [{key: case[key] for key in ("name", "type", "coord", "box")} | evaluate(model, case, parameter)
                 for case in structures if "overflow" not in case["name"]]
        given = {} if parameter is None else {"frame_parameters": parameter}
        text = json.dumps({"model": f"{name}.pth", "generator": "deepmd-kit 3.2.0, PyTorch back end",
                           "definition": config, **given, "cases": cases})
        (HERE / f"{name}.ref.json").write_text(text.replace(', "', ',\n "').replace(', {"', ',\n{"') + "\n")
        print(name, np.abs(cases[1]["force"]).max(), [case["energy"] for case in cases])


if __name__ == "__main__" and sys.argv[1:] == ["refused"]:
    refused()
elif __name__ == "__main__":
    main(sys.argv[1:])
