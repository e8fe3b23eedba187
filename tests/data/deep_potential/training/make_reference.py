#!/usr/bin/env python3
"""Record what DeePMD-kit does in 100 training steps of two tiny models: NAME_start.dp, NAME_end.dp, NAME.ref.json.

All frames of a case are one batch, so that no random order matters: given the weights of NAME_start.dp, the data in NAME/
and the learning rates, every later number is determined. Double precision, one thread.

    python3 -m venv peer
    peer/bin/pip install 'deepmd-kit[cpu,lmp]==3.2.0' torch==2.13.0 e3nn
    peer/bin/python make_reference.py [NAME ..] [--water WATER_XTB32.npz]

JSON: `learning_rate`, `loss` and its parts `energy` (mean dE^2, eV^2), `force` (mean dF^2 a component), `virial` (mean dV^2
a component) of steps 0 .. 99, before the update of each, by the PyTorch backend, whose Adam is Kingma and Ba's:
    theta -= lr mhat / (sqrt(vhat) + epsilon),   mhat = m / (1 - beta1^t),   vhat = v / (1 - beta2^t).
`tensorflow` has the losses of the TensorFlow backend from the same weights. Its Adam adds epsilon before the correction,
    theta -= lr sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + epsilon),
which is the same as Kingma and Ba's with epsilon / sqrt(1 - beta2^t). PyTorch's loss has its prefactors and 1/N rounded to
float32 (they meet float32 flags and masks), 3e-8 of the loss; TensorFlow holds the learning rate in float32. The data are
made by this script too: copper from inputs/dpmd/copper/data (embedded atoms), water from GFN1-xTB frames made for this
project (only with --water).
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
STEPS, DECAY_STEPS, START, STOP = 100, 10, 5e-3, 5e-5
ONE_THREAD = {"OMP_NUM_THREADS": "1", "TF_INTRA_OP_PARALLELISM_THREADS": "1", "TF_INTER_OP_PARALLELISM_THREADS": "1",
              "DP_INTRA_OP_PARALLELISM_THREADS": "1", "DP_INTER_OP_PARALLELISM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "",
              "TF_CPP_MIN_LOG_LEVEL": "3"}
CASES = {
    "copper": {
        "type_map": ["Cu"], "frames": 3, "sel": [72], "rcut": 5.0, "rcut_smth": 2.0, "one_side": True, "fitting_dt": False,
        "loss": {"start_pref_e": 0.2, "limit_pref_e": 2, "start_pref_f": 100, "limit_pref_f": 1, "start_pref_v": 0.1,
                 "limit_pref_v": 1}},
    "water": {
        "type_map": ["O", "H"], "frames": 2, "sel": [24, 44], "rcut": 4.5, "rcut_smth": 0.5, "one_side": False,
        "fitting_dt": True,
        "loss": {"start_pref_e": 0.02, "limit_pref_e": 1, "start_pref_f": 1000, "limit_pref_f": 1, "start_pref_v": 0,
                 "limit_pref_v": 0}},
    # Networks that all types share, of the same frames; TensorFlow has no such model.
    "water_strip": {
        "type_map": ["O", "H"], "frames": 2, "sel": 56, "rcut": 4.5, "rcut_smth": 0.5, "one_side": False,
        "fitting_dt": True, "data": "water", "descriptor": {
            "type": "dpa1", "attn_layer": 0, "tebd_dim": 4, "tebd_input_mode": "strip", "smooth_type_embedding": True,
            "set_davg_zero": False},
        "loss": {"start_pref_e": 0.02, "limit_pref_e": 1, "start_pref_f": 1000, "limit_pref_f": 1, "start_pref_v": 0,
                 "limit_pref_v": 0}},
    "water_concat": {
        "type_map": ["O", "H"], "frames": 2, "sel": 56, "rcut": 4.5, "rcut_smth": 0.5, "one_side": False,
        "fitting_dt": True, "data": "water", "descriptor": {
            "type": "dpa1", "attn_layer": 0, "tebd_dim": 4, "tebd_input_mode": "concat", "set_davg_zero": True},
        "loss": {"start_pref_e": 0.02, "limit_pref_e": 1, "start_pref_f": 1000, "limit_pref_f": 1, "start_pref_v": 0,
                 "limit_pref_v": 0}},
}


def data_of(name):
    """Return the folder of a case's frames."""
    return HERE / CASES[name].get("data", name)


def training_input(name):
    """Return DeePMD-kit's input of a case; each part of it keeps its seed, as PyTorch's differ by place."""
    case = CASES[name]
    return {
        "model": {
            "type_map": case["type_map"],
            "descriptor": {"type": "se_e2_a", "rcut": case["rcut"], "rcut_smth": case["rcut_smth"], "sel": case["sel"],
                           "neuron": [8, 16], "axis_neuron": 4, "type_one_side": case["one_side"], "resnet_dt": False,
                           "precision": "float64", "seed": 1, **case.get("descriptor", {})},
            "fitting_net": {"neuron": [16, 16], "resnet_dt": case["fitting_dt"], "precision": "float64", "seed": 2}},
        "learning_rate": {"type": "exp", "start_lr": START, "stop_lr": STOP, "decay_steps": DECAY_STEPS},
        "loss": dict({"type": "ener"}, **case["loss"]),
        "training": {"training_data": {"systems": [str(data_of(name))], "batch_size": case["frames"]}, "seed": 3,
                     "numb_steps": STEPS, "disp_freq": 1, "save_freq": 10 * STEPS}}


# ---- data -----------------------------------------------------------------------------------------------------------

def write_system(name, types, arrays):
    import numpy as np
    folder = HERE / name / "set.000"
    folder.mkdir(parents=True, exist_ok=True)
    (HERE / name / "type.raw").write_text("".join(f"{t}\n" for t in types))
    (HERE / name / "type_map.raw").write_text("".join(f"{t}\n" for t in CASES[name]["type_map"]))
    for key, values in arrays.items():
        np.save(folder / f"{key}.npy", values)


def write_data(name, water):
    """Copy the frames of a case: far apart in the set they come from."""
    import numpy as np
    if "data" in CASES[name]:
        return
    n = CASES[name]["frames"]
    if name == "copper":
        source = HERE.parents[3] / "inputs/dpmd/copper/data/train_liquid32"
        rows = np.linspace(0, 127, n).astype(int)
        arrays = {key: np.load(source / "set.000" / f"{key}.npy")[rows]
                  for key in ("coord", "box", "energy", "force", "virial")}
        write_system(name, np.loadtxt(source / "type.raw", dtype=int), arrays)
    elif water:
        frames = np.load(water)
        rows = np.linspace(50, 700, n).astype(int)
        arrays = {key: frames[key][rows].reshape(n, -1) for key in ("coord", "force")}
        arrays.update(energy=frames["energy"][rows], box=np.tile(frames["box"].reshape(1, 9), (n, 1)))
        write_system(name, frames["type"], arrays)


# ---- PyTorch --------------------------------------------------------------------------------------------------------

def without_op_library():
    """Let the PyTorch backend load beside any torch: nothing in training this model needs its compiled operators."""
    import deepmd.env
    deepmd.env.SHARED_LIB_DIR = Path("/none")


def save_model(path, model, definition):
    from deepmd.dpmodel.utils.serialization import save_dp_model
    data = {"backend": "PyTorch", "model": model.serialize(), "model_def_script": definition,
            "@variables": {"min_nbor_dist": model.min_nbor_dist.cpu().numpy()}}
    save_dp_model(str(path), data)


def record_pytorch(name, folder):
    """Train with the PyTorch backend; save both models and every step's loss."""
    without_op_library()
    from deepmd.pt.entrypoints import main as entry
    from deepmd.pt.loss.ener import EnergyStdLoss
    from deepmd.pt.train.training import Trainer
    given, record, loss_of, kept = training_input(name), [], EnergyStdLoss.forward, {}

    def recorded(self, input_dict, model, label, natoms, learning_rate, mae=False):
        predicted, loss, parts = loss_of(self, input_dict, model, label, natoms, learning_rate, mae)
        if loss.requires_grad and kept["trainer"].wrapper.training:
            if not record:
                save_model(HERE / f"{name}_start.dp", model, given["model"])
            record.append({"learning_rate": float(learning_rate), "loss": loss.item(),
                           **{key[3:-5]: parts[key].item() for key in parts if key.startswith("l2_")}})
            kept["model"] = model
        return predicted, loss, parts

    def made(self, *words, **options):
        start(self, *words, **options)
        kept["trainer"] = self

    start, Trainer.__init__, EnergyStdLoss.forward = Trainer.__init__, made, recorded
    given["training"]["disp_training"] = False
    (folder / "pt.json").write_text(json.dumps(given))
    entry.train(str(folder / "pt.json"), None, None, None, None, None)
    save_model(HERE / f"{name}_end.dp", kept["model"], given["model"])
    adam = kept["trainer"].optimizer.defaults
    if len(record) != STEPS:
        sys.exit(f"{name}: {len(record)} losses in {STEPS} steps")
    (folder / "pt_record.json").write_text(json.dumps({
        "adam": {"beta1": adam["betas"][0], "beta2": adam["betas"][1], "epsilon": adam["eps"],
                 "weight_decay": adam["weight_decay"]}, "steps": record}))


# ---- TensorFlow -----------------------------------------------------------------------------------------------------

def tensorflow_variables(name):
    """Return {name of TensorFlow's variable: value} of the weights of NAME_start.dp; networks as DeePMD-kit orders them."""
    from deepmd.dpmodel.utils.serialization import load_dp_model
    model, n = load_dp_model(str(HERE / f"{name}_start.dp"))["model"], len(CASES[name]["type_map"])
    values = {}
    for i, net in enumerate(model["descriptor"]["embeddings"]["networks"]):
        scope, of = ("all", i) if CASES[name]["one_side"] else (i % n, i // n)
        for k, layer in enumerate(net["layers"], 1):
            values[f"filter_type_{scope}/matrix_{k}_{of}"] = layer["@variables"]["w"]
            values[f"filter_type_{scope}/bias_{k}_{of}"] = layer["@variables"]["b"]
    for i, net in enumerate(model["fitting"]["nets"]["networks"]):
        for k, layer in enumerate(net["layers"]):
            scope = f"layer_{k}_type_{i}" if k + 1 < len(net["layers"]) else f"final_layer_type_{i}"
            for key, word in (("w", "matrix"), ("b", "bias"), ("idt", "idt")):
                if layer["@variables"][key] is not None:
                    values[f"{scope}/{word}"] = layer["@variables"][key]
    return values


def record_tensorflow(name, folder):
    """Train with the TensorFlow backend from the PyTorch backend's weights; save every step's loss."""
    from deepmd.tf.entrypoints.train import train
    from deepmd.tf.env import tf
    from deepmd.tf.train.trainer import DPTrainer
    record, begin = [], DPTrainer._init_session

    def begun(self):
        begin(self)
        variables = {v.name.split(":")[0]: v for v in tf.trainable_variables()}
        values = tensorflow_variables(name)
        if set(variables) != set(values):
            sys.exit(f"{name}: variables {sorted(set(variables) ^ set(values))} have no twin")
        for key, value in values.items():
            variables[key].load(value.reshape(variables[key].shape), self.sess)

    def recorded(fp, train_results, valid_results, cur_batch, cur_lr):
        record.append({"step": int(cur_batch), "learning_rate": float(cur_lr), "loss": float(train_results["rmse"]) ** 2,
                       "force": float(train_results["rmse_f"]) ** 2})

    DPTrainer._init_session, DPTrainer.print_on_training = begun, staticmethod(recorded)
    (folder / "tf.json").write_text(json.dumps(training_input(name)))
    os.chdir(folder)
    train(INPUT=str(folder / "tf.json"), init_model=None, restart=None, output=str(folder / "out.json"),
          init_frz_model=None, mpi_log="master", log_level=2, log_path=None)
    (folder / "tf_record.json").write_text(json.dumps(record))


# ---- both -----------------------------------------------------------------------------------------------------------

def write_reference(name, folder):
    records = [json.loads((folder / f"{backend}_record.json").read_text()) for backend in backends_of(name)]
    pt, tf = records[0], records[1] if len(records) > 1 else None
    if tf:
        compare_backends(name, pt, tf)
    given = training_input(name)
    keys = [key for key in ("learning_rate", "loss", "ener", "force", "virial") if key in pt["steps"][0]]
    reference = {"made_by": "DeePMD-kit 3.2.0, make_reference.py", "data": data_of(name).name,
                 "frames": CASES[name]["frames"], "loss_options": given["loss"],
                 "learning_rate_options": dict(given["learning_rate"], steps=STEPS), "adam": pt["adam"]}
    reference.update({{"ener": "energy"}.get(key, key): [row[key] for row in pt["steps"]] for key in keys})
    if tf:
        reference["tensorflow"] = {"adam": {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8,
                                            "epsilon_before_correction": True}, "loss": [row["loss"] for row in tf]}
    text = ",\n".join(f'"{key}": {json.dumps(value)}' for key, value in reference.items())
    (HERE / f"{name}.ref.json").write_text("{\n" + text + "\n}\n")


def backends_of(name):
    return ("pt",) if "descriptor" in CASES[name] else ("pt", "tf")


def compare_backends(name, pt, tf):
    start = abs(tf[0]["force"] / pt["steps"][0]["force"] - 1)
    apart = max(abs(a["loss"] / b["loss"] - 1) for a, b in zip(tf, pt["steps"]))
    print(f"{name}: loss {pt['steps'][0]['loss']:.6g} -> {pt['steps'][-1]['loss']:.6g}; in TensorFlow the "
          f"force part differs by {start:.1e} at step 0, the loss by at most {apart:.1e} (its own Adam)")
    if start > 1e-11:
        sys.exit(f"{name}: the backends do not start from the same model")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*", default=list(CASES))
    p.add_argument("--water", type=Path, help="frames of 32 molecules: energy, coord, force, box, type")
    p.add_argument("--part", help=argparse.SUPPRESS)  # one backend, in a process of its own
    a = p.parse_args()
    if a.part:
        backend, folder = a.part.split(":")
        {"pt": record_pytorch, "tf": record_tensorflow}[backend](a.names[0], Path(folder))
        return
    for name in a.names:
        write_data(name, a.water)
        with tempfile.TemporaryDirectory() as folder:
            for backend in backends_of(name):
                subprocess.run([sys.executable, __file__, name, "--part", f"{backend}:{folder}"], check=True, cwd=folder,
                               env=dict(os.environ, **ONE_THREAD))
            write_reference(name, Path(folder))


if __name__ == "__main__":
    main()
