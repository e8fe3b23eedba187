#!/usr/bin/env python3
"""Make small random-weight Deep Potential models (*.dp) and their reference values (*.ref.json) with DeePMD-kit.

Every model differs from `oneside` in one respect (see VARIANTS), so that a failing one tells which rule is wrong. The
reference values come from DeePMD-kit's JAX backend, which runs the code of dpmodel (its numpy backend) and adds the
derivatives. This script checks its energies against dpmodel, and forces and virials against finite differences.

    python3 -m venv peer
    peer/bin/pip install 'deepmd-kit[jax]==3.2.0'
    peer/bin/python make_variants.py [name ..]

JSON: one object with `model`, `definition`, `tolerance` and `cases`; a case has name, type [N], coord [3N] Angstrom,
box [9] (rows a b c) or null = not periodic, energy eV, force [3N] eV/Angstrom, virial [9] eV (-dE/d(strain)),
atom_energy [N] eV (bias included), atom_virial [9N] eV and most_neighbours [per type of neighbour] within rcut.
"""
import copy
import json
import sys
from pathlib import Path

import deepmd.dpmodel.descriptor.hybrid as peer_hybrid
import numpy as np
from deepmd.dpmodel.model.base_model import BaseModel
from deepmd.dpmodel.model.model import get_model
from deepmd.dpmodel.utils.nlist import extend_input_and_build_neighbor_list
from deepmd.dpmodel.utils.serialization import load_dp_model, save_dp_model
from deepmd.jax.env import jax, jnp
from deepmd.jax.model.base_model import BaseModel as JaxModel
from deepmd.jax.model.model import get_model as _registers_the_jax_models  # noqa: F401

HERE = Path(__file__).resolve().parent
RCUT, SEL = 4.5, [14, 18]
BASE = {
    "type_map": ["O", "H"],
    "descriptor": {"type": "se_e2_a", "rcut": RCUT, "rcut_smth": 1.0, "sel": SEL, "neuron": [3, 6, 12],
                   "axis_neuron": 2, "resnet_dt": False, "type_one_side": True, "activation_function": "tanh",
                   "precision": "float64", "seed": 11},
    "fitting_net": {"neuron": [8, 8, 8], "resnet_dt": True, "activation_function": "tanh", "precision": "float64",
                    "seed": 12},
}
TEN = ["O", "H", "Cu", "Si", "Na", "Cl", "Al", "Mg", "Fe", "Ni"]
# Changes of a descriptor; a None takes a key away.
RADIAL = {"type": "se_e2_r", "axis_neuron": None}
TRIPLETS = {"type": "se_e3", "axis_neuron": None, "type_one_side": None, "neuron": [3, 6, 7]}
DPA1 = {"type": "dpa1", "sel": 30, "attn_layer": 0, "attn": 4, "tebd_dim": 3, "tebd_input_mode": "concat",
        "type_one_side": False, "set_davg_zero": True, "smooth_type_embedding": True}
# name: changes of the descriptor, of the fitting net, of the model
VARIANTS = {
    "oneside": ({}, {}, {}),
    "twoside": ({"type_one_side": False}, {}, {}),
    "gelu": ({"activation_function": "gelu"}, {"activation_function": "gelu"}, {}),
    "sigmoid_softplus": ({"activation_function": "sigmoid"}, {"activation_function": "softplus"}, {}),
    "silu_relu": ({"activation_function": "silu"}, {"activation_function": "relu"}, {}),
    "relu6_linear": ({"activation_function": "relu6"}, {"activation_function": "linear"}, {}),
    "float32": ({"precision": "float32"}, {"precision": "float32"}, {}),
    # Skips between layers of equal width and of doubled width in both nets, none of them with a time step.
    "equalwidth_noresnetdt": ({"neuron": [4, 4, 8]}, {"neuron": [8, 16, 16], "resnet_dt": False}, {}),
    # Time steps in the embedding, 1/(r + p), and an out_std that must not enter the energy.
    "idt_protection_outstd": ({"resnet_dt": True, "env_protection": 0.05}, {}, {}),
    "exclude_types": ({"exclude_types": [[0, 1]]}, {}, {}),
    "pair_exclude": ({}, {}, {"pair_exclude_types": [[0, 1]]}),
    "atom_exclude": ({}, {}, {"atom_exclude_types": [1]}),
    "oneside_compressed": ({}, {}, {}),
    "twoside_compressed": ({"type_one_side": False}, {}, {}),
    # Distances alone.
    "se_e2_r": (RADIAL, {}, {}),
    "se_e2_r_float32": ({**RADIAL, "precision": "float32"}, {"precision": "float32"}, {}),
    # se_atten without attention layers. Its neighbours are counted together, one fitting net serves all types.
    "dpa1_concat": (DPA1, {}, {}),
    "dpa1_concat_oneside": ({**DPA1, "type_one_side": True, "concat_output_tebd": False, "resnet_dt": True,
                             "env_protection": 0.05}, {}, {}),
    "dpa1_concat_exclude": ({**DPA1, "exclude_types": [[0, 1]]}, {}, {"pair_exclude_types": [[0, 0]]}),
    "dpa1_strip": ({**DPA1, "tebd_input_mode": "strip"}, {}, {}),
    "dpa1_strip_davg": ({**DPA1, "tebd_input_mode": "strip", "set_davg_zero": False}, {}, {}),
    "dpa1_strip_exclude": ({**DPA1, "tebd_input_mode": "strip", "exclude_types": [[0, 1]]}, {}, {}),
    "dpa1_strip_oneside_rough": ({**DPA1, "tebd_input_mode": "strip", "type_one_side": True,
                                  "smooth_type_embedding": False}, {}, {}),
    "dpa1_strip_float32": ({**DPA1, "tebd_input_mode": "strip", "precision": "float32"}, {"precision": "float32"},
                           {}),
    # Compressed: one table of s, and the gates of all pairs of types.
    "dpa1_strip_compressed": ({**DPA1, "tebd_input_mode": "strip"}, {}, {}),
    "dpa1_strip_oneside_rough_compressed": ({**DPA1, "tebd_input_mode": "strip", "type_one_side": True,
                                             "smooth_type_embedding": False}, {}, {}),
    "se_e2_r_compressed": (RADIAL, {}, {}),
    "dpa1_one_type": ({**DPA1, "tebd_input_mode": "strip"}, {}, {"type_map": TEN[:1]}),
    "dpa1_ten_types": ({**DPA1, "tebd_input_mode": "strip"}, {}, {"type_map": TEN}),
    # Descriptors one after the other, of two cutoffs; with a mixed one, the fitting net is one for all types.
    "hybrid": ({"type": "hybrid", "list": [BASE["descriptor"], {**BASE["descriptor"], **RADIAL, "rcut": 3.5}]}, {}, {}),
    "hybrid_mixed": ({"type": "hybrid", "list": [{**BASE["descriptor"], "rcut": 3.5},
                                                 {**BASE["descriptor"], **DPA1, "tebd_input_mode": "strip"},
                                                 {**BASE["descriptor"], **RADIAL}]}, {}, {}),
    # Triplets of atoms, alone and beside pairs: one net for each pair of types of neighbours, in no order.
    "se_e3": (TRIPLETS, {}, {}),
    "se_e3_float32": ({**TRIPLETS, "precision": "float32"}, {"precision": "float32"}, {}),
    "se_e3_three_types": ({**TRIPLETS, "sel": [20, 18, 16], "neuron": [1, 2, 2, 5], "resnet_dt": True,
                           "env_protection": 0.05, "activation_function": "gelu"}, {},
                          {"type_map": ["O", "H", "Cu"]}),
    "se_e3_exclude": ({**TRIPLETS, "exclude_types": [[0, 1]]}, {}, {"pair_exclude_types": [[0, 0]]}),
    "hybrid_triplets": ({"type": "hybrid", "list": [BASE["descriptor"],
                                                    {**BASE["descriptor"], **TRIPLETS, "rcut": 3.5, "sel": [9, 12]}]},
                        {}, {}),
    # Numbers that the fitting nets read beside the descriptor, and energies of isolated atoms.
    "frame_parameters": ({}, {"numb_fparam": 2}, {}),
    "dpa1_default_parameter": (DPA1, {"numb_fparam": 1, "default_fparam": [0.7]}, {}),
    "atom_parameters": ({"neuron": [3, 5, 7], "axis_neuron": 3}, {"numb_aparam": 2, "neuron": [9, 11, 11]}, {}),
    "dpa1_atom_parameters": ({**DPA1, "tebd_input_mode": "strip"},
                             {"numb_fparam": 1, "default_fparam": [0.7], "numb_aparam": 3}, {}),
    "dpa1_strip_aparam": ({**DPA1, "tebd_input_mode": "strip"}, {"numb_aparam": 2}, {}),
    "dpa1_concat_aparam": ({**DPA1, "type_one_side": True}, {"numb_aparam": 1, "neuron": [9, 9]}, {}),
    "hybrid_atom_parameters": ({"type": "hybrid", "list": [BASE["descriptor"],
                                                           {**BASE["descriptor"], **RADIAL, "rcut": 3.5}]},
                               {"numb_aparam": 1}, {}),
    "atom_energy": ({}, {"atom_ener": [-1.25, None]}, {}),
    "dpa1_atom_energy": (DPA1, {"atom_ener": [-1.25, 0.5]}, {}),
}


class Lists:
    """Neighbour lists that take flax's variables as an index, which JAX's arrays do not (hybrids, 3.2.0)."""

    def __init__(self, *arguments):
        self.lists = by_types(*arguments)

    def __getitem__(self, index):
        chosen = index[2].get_value() if hasattr(index[2], "get_value") else index[2]
        return self.lists[:, :, np.asarray(chosen)]


by_types, peer_hybrid.nlist_distinguish_types = peer_hybrid.nlist_distinguish_types, Lists


def scattered(rng, n, box, least=1.15, outside=0.0):
    """Return n random positions (n,3) in Angstrom in a box (3,3), no two images nearer than `least`.

    `outside`: the fraction of atoms then moved by whole box vectors, which must change nothing.
    """
    images = np.array([(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)]) @ box
    atoms = np.zeros((0, 3))
    while len(atoms) < n:
        new = rng.random(3) @ box
        if len(atoms) == 0 or np.linalg.norm(atoms[:, None] + images - new, axis=2).min() > least:
            atoms = np.vstack([atoms, new])
    return atoms + (rng.random((n, 1)) < outside) * rng.integers(-2, 3, (n, 3)) @ box


def configurations(n_types=2):
    """Return (name, type [N], coord (N,3), box (3,3) or None) of all cases."""
    rng = np.random.default_rng(77)
    ortho = np.diag([9.4, 9.9, 10.7])
    triclinic = np.array([[9.6, 0, 0], [2.1, 9.3, 0], [-1.7, 2.6, 9.1]])
    small = np.array([[4.1, 0, 0], [0.9, 4.4, 0], [-0.7, 0.5, 4.3]])
    types = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0]
    if n_types != 2:
        types = [(5 * i + kind) % n_types for i, kind in enumerate(types)]
    return [
        ("cluster_not_periodic", types[:9], scattered(rng, 9, np.diag([5.0, 5.0, 5.0])) - 2.0, None),
        ("orthorhombic", types, scattered(rng, 14, ortho), ortho),
        ("triclinic_atoms_outside", types[:12], scattered(rng, 12, triclinic, outside=0.5), triclinic),
        ("box_below_rcut", types[:4], scattered(rng, 4, small), small),
        ("box_below_rcut_sel_overflow", types[:12], scattered(rng, 12, small * 1.05, least=1.0), small * 1.05),
    ]


def most_neighbours(types, coord, box, n_types=2):
    """Return the largest number of neighbours of each type within RCUT of any atom, and that of all types."""
    shifts = np.zeros((1, 3))
    if box is not None:
        r = range(-4, 5)
        shifts = np.array([(i, j, k) for i in r for j in r for k in r]) @ box
    inside = np.linalg.norm(coord[None, :, None] + shifts - coord[:, None, None], axis=3) < RCUT
    counts = inside.sum(2) - np.eye(len(coord), dtype=int)
    return [int(counts[:, np.array(types) == t].sum(1).max()) for t in range(n_types)], int(counts.sum(1).max())


def without_none(descriptor):
    """Return a descriptor's keys without those whose value is None, in its parts too."""
    parts = {"list": [without_none(part) for part in descriptor["list"]]} if "list" in descriptor else {}
    return {**{key: value for key, value in descriptor.items() if value is not None}, **parts}


def set_statistics(descriptor, config, width):
    """Set davg and dstd of a serialised descriptor, equal in all slots; the third type is as the first, and so on."""
    shape = descriptor["@variables"]["davg"].shape
    columns = lambda rows: np.array([rows[t % 2][:shape[2]] for t in range(shape[0])], width)  # noqa: E731
    per_slot = lambda rows: np.repeat(columns(rows)[:, None, :], shape[1], 1)  # noqa: E731
    davg = [[.062, 0, 0, 0], [.055, 0, 0, 0]]
    descriptor["@variables"]["davg"] = per_slot(np.zeros((2, 4)) if config.get("set_davg_zero") else davg)
    descriptor["@variables"]["dstd"] = per_slot([[.171, .113, .113, .113], [.158, .104, .104, .104]])


def random_model(name, descriptor, fitting, model):
    """Return the serialised model with random weights, statistics and energies per type."""
    rng = np.random.default_rng(5)
    config = copy.deepcopy(BASE)
    config["descriptor"] = without_none(descriptor if "list" in descriptor else {**config["descriptor"], **descriptor})
    config["fitting_net"].update(fitting)
    config.update(model)
    data = get_model(copy.deepcopy(config)).serialize()
    width = {"float32": np.float32, "float64": np.float64}[config["fitting_net"]["precision"]]
    n_types = len(config["type_map"])
    for part, its_config in zip(data["descriptor"].get("list", [data["descriptor"]]),
                                config["descriptor"].get("list", [config["descriptor"]])):
        set_statistics(part, its_config, width)
    data["@variables"]["out_bias"] = np.resize([-3.25, -1.75, -.5], (1, n_types, 1)) if n_types != 2 else np.array(
        [[[-3.25], [-1.75]]])
    data["@variables"]["out_std"] = np.full((1, n_types, 1), 0.7 if "outstd" in name else 1.0)
    data["fitting"]["@variables"]["bias_atom_e"] = rng.normal(0, .3, (n_types, 1)).astype(width)
    for kind in ("fparam", "aparam"):
        n_parameters = config["fitting_net"].get(f"numb_{kind}", 0)
        if n_parameters > 0:
            data["fitting"]["@variables"][f"{kind}_avg"] = np.linspace(.2, .4, n_parameters)
            data["fitting"]["@variables"][f"{kind}_inv_std"] = np.linspace(1.5, 2.5, n_parameters)
    if name.endswith("compressed"):
        made = BaseModel.deserialize(copy.deepcopy(data))
        # A coarse stride and a short range keep the file small, and the closest atoms read the second, coarser part
        # (above 3) and the linear continuation (above 4.5). So the values differ a little from the plain model's.
        made.atomic_model.descriptor.enable_compression(2.5, 1.5, .05, .25)
        data = made.serialize()
    return config, data


def given_parameters(parameters, of_atoms):
    """Return the arguments of a model that reads parameters of the frame [n], or of atoms [N, n]."""
    given = {} if parameters is None else {"fparam": np.array([parameters])}
    return given if of_atoms is None else {**given, "aparam": of_atoms[None]}


def plain_energy(model, types, coord, box, parameters=None, of_atoms=None):
    """Return dpmodel's energy in eV."""
    box = None if box is None else box.reshape(1, 9)
    given = given_parameters(parameters, of_atoms)
    return np.asarray(model(coord.reshape(1, -1), np.array([types]), box, **given)["energy"], float).item()


def outputs(model, types, coord, box, parameters=None, of_atoms=None):
    """Return the JAX model's outputs. Images of atoms and neighbour lists are made, and folded home, in numpy."""
    n = len(types)
    extended = extend_input_and_build_neighbor_list(coord.reshape(1, n, 3), np.array([types]), model.get_rcut(),
                                                    model.get_sel(), mixed_types=model.mixed_types(),
                                                    box=None if box is None else box.reshape(1, 9),
                                                    pair_excl=model.atomic_model.pair_excl)
    position, kind, home, neighbours = extended
    kind, neighbours, mapping = jnp.asarray(kind), jnp.asarray(neighbours), jnp.asarray(home)

    def atom_energies(x):
        # The atomic model itself: the model around it maps over frames, which se_e2_a does not bear in 3.2.0.
        given = {key: jnp.asarray(value) for key, value in given_parameters(parameters, of_atoms).items()}
        e = model.atomic_model.forward_common_atomic(x[None], kind, neighbours, mapping=mapping,
                                                     **given)["energy"][0, :, 0]
        return e, e

    # Compiling each call is quicker than running it operation by operation, but two-sided se_e2_a looks at the types.
    looks = not model.mixed_types() and not getattr(model.atomic_model.descriptor, "type_one_side", True)
    compiled = (lambda f: f) if looks else jax.jit
    slope, energy = compiled(jax.jacrev(atom_energies, has_aux=True))(jnp.asarray(position[0]))
    slope, energy = np.asarray(slope, float), np.asarray(energy, float)  # slope: dE_i/dx_j [n, atoms and images, 3]
    fold = lambda a: np.stack([a[home[0] == i].sum(0) for i in range(n)])  # noqa: E731
    arm = position[0][None] - position[0][:n, None]
    virial = fold(-np.einsum("ijk,ijl->jkl", slope, arm))
    return {"energy": energy.sum(), "force": fold(-slope.sum(0)), "virial": virial.sum(0), "atom_energy": energy,
            "atom_virial": virial}


def check(model, ref, types, coord, box, parameters=None, of_atoms=None):
    """Compare dpmodel's energies and their finite differences with a case (float64 models)."""
    at = lambda x, b: plain_energy(model, types, x, b, parameters, of_atoms)  # noqa: E731
    error = {"energy": abs(at(coord, box) - ref["energy"].item())}
    h = 1e-5
    rng = np.random.default_rng(1)
    d = rng.normal(0, 1, coord.shape)
    slope = (at(coord + h * d, box) - at(coord - h * d, box)) / (2 * h)
    error["force"] = abs(slope + (ref["force"].reshape(-1, 3) * d).sum())
    strain = rng.normal(0, .3, (3, 3))
    moved = [at(coord @ (np.eye(3) + s * h * strain), None if box is None else box @ (np.eye(3) + s * h * strain))
             for s in (1, -1)]
    # x' = x (1 + e): row vectors, e_kl moves along l what lies along k; the virial is symmetric.
    error["virial"] = abs((moved[0] - moved[1]) / (2 * h) + (ref["virial"].reshape(3, 3) * strain).sum())
    return error


def main():
    for name, changes in VARIANTS.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        config, data = random_model(name, *changes)
        save_dp_model(str(HERE / f"{name}.dp"), {"model": data, "model_def_script": config, "backend": "dpmodel",
                                                 "@variables": {"min_nbor_dist": np.array(1.0)}})
        data = load_dp_model(str(HERE / f"{name}.dp"))["model"]  # the reference is of what was written
        differentiable, plain = (m.deserialize(copy.deepcopy(data)) for m in (JaxModel, BaseModel))
        cases, worst, n_types = [], {}, len(config["type_map"])
        sel = plain.get_sel()
        parameters = [.3, -1.2] if name == "frame_parameters" else config["fitting_net"].get("default_fparam")
        for title, types, coord, box in configurations(n_types):
            counts, count = most_neighbours(types, coord, box, n_types)
            full = count > sum(sel) if plain.mixed_types() else any(n > room for n, room in zip(counts, sel))
            if full and "overflow" in title and ("list" in config["descriptor"] or n_types != 2):
                continue  # which neighbours stay is told by the models above
            assert ("overflow" in title) == full, (title, counts)
            n_of_atoms = config["fitting_net"].get("numb_aparam", 0)
            of_atoms = np.cos(1.7 * np.arange(len(types) * n_of_atoms) + .4).reshape(len(types), n_of_atoms)
            given = (parameters, of_atoms if n_of_atoms > 0 else None)
            ref = outputs(differentiable, types, coord, box, *given)
            for key, error in check(plain, ref, types, coord, box, *given).items():
                worst[key] = max(error, worst.get(key, 0))
            case = {"name": title, "type": types, "coord": coord.ravel().tolist(),
                    "box": None if box is None else box.ravel().tolist(), "most_neighbours": counts}
            if n_of_atoms > 0:
                case["atom_parameters"] = of_atoms.ravel().tolist()
            if "overflow" in title:
                case["rule"] = "dpmodel: the nearest sum(sel) of all types, then the nearest sel[t] of each"
            case["energy"] = ref["energy"].item()
            case.update({k: ref[k].ravel().tolist() for k in ("force", "virial", "atom_energy", "atom_virial")})
            cases.append(case)
        print(f"{name:24} {(HERE / f'{name}.dp').stat().st_size // 1024:4} kB  E {cases[1]['energy']:12.6f}  largest "
              "difference: " + "  ".join(f"{k} {v:.1e}" for k, v in worst.items()), flush=True)
        tolerance = 2e-5 if name.endswith("float32") else 1e-9
        given = {"frame_parameters": parameters} if name == "frame_parameters" else {}
        text = json.dumps({"model": f"{name}.dp", "generator": "deepmd-kit 3.2.0, JAX backend (code of dpmodel)",
                           "definition": config, "tolerance": tolerance, **given, "cases": cases})
        (HERE / f"{name}.ref.json").write_text(text.replace(', "', ',\n "').replace(', {"', ',\n{"') + "\n")


if __name__ == "__main__":
    main()
