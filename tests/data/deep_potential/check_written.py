#!/usr/bin/env python3
"""Check that DeePMD-kit reads models which dpmd wrote, and finds the reference values (*.ref.json) with them.

    dpmd convert oneside.dp /tmp/oneside.dp            # read and written again
    dpmd compress oneside.dp --output /tmp/table.dp
    peer/bin/python check_written.py oneside.ref.json /tmp/oneside.dp [/tmp/table.dp ..]

A model is loaded by dpmodel (energies) and, if it is not compressed, converted by `dp convert-backend` and evaluated by
TensorFlow (energies, forces, virials; not where a case overflows sel, for which TensorFlow has another rule). A
compressed model's tables are compared with those that DeePMD-kit makes of its networks. Prints the largest
differences; exit code 1 if one is above the reference's tolerance.
"""
import copy
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from deepmd.dpmodel.model.base_model import BaseModel
from deepmd.dpmodel.model.model import get_model as _registers_the_models  # noqa: F401
from deepmd.dpmodel.utils.serialization import load_dp_model


def cases(reference):
    for case in reference["cases"]:
        box = None if case["box"] is None else np.array(case["box"]).reshape(1, 9)
        yield case, np.array(case["coord"]).reshape(1, -1), box, np.array(case["type"])


def dpmodel(path, reference):
    """Return the largest error of the energies in eV."""
    model = BaseModel.deserialize(load_dp_model(path)["model"])
    return {"energy": max(abs(np.asarray(model(x, t[None], box)["energy"], float).item() - case["energy"])
                          for case, x, box, t in cases(reference))}


def tensorflow(path, reference):
    """Return the largest errors of energies, forces and virials."""
    from deepmd.infer import DeepPot
    error = {"energy": 0.0, "force": 0.0, "virial": 0.0}
    with tempfile.TemporaryDirectory() as folder:
        frozen = str(Path(folder) / "frozen.pb")
        done = subprocess.run([str(Path(sys.executable).parent / "dp"), "convert-backend", path, frozen],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:  # TensorFlow has no env_protection, for one
            reasons = [line for line in done.stdout.splitlines() if "Error" in line]
            print(f"{path} tensorflow: not converted: {reasons[-1:]}")
            return {}
        potential = DeepPot(frozen)
        for case, x, box, t in cases(reference):
            if "overflow" in case["name"]:
                continue
            for key, found in zip(error, potential.eval(x, box, t)):
                error[key] = max(error[key], float(np.abs(found.ravel() - np.ravel(case[key])).max()))
    return error


def tables(path):
    """Return the largest difference from DeePMD-kit's own tables, each coefficient times its power of the stride."""
    file = load_dp_model(path)
    data = file["model"]
    ours = data["descriptor"].pop("compress")["@variables"]
    data["descriptor"]["@version"] = 2
    plain = BaseModel.deserialize(copy.deepcopy(data))
    low, high, end, fine, coarse, _ = np.ravel(ours["compress_info"][0])
    plain.atomic_model.descriptor.enable_compression(float(np.asarray(file["@variables"]["min_nbor_dist"])),
                                                     round(end / high), fine, coarse)
    theirs = plain.serialize()["descriptor"]["compress"]["@variables"]
    worst = 0.0
    for a, b, info, other in zip(ours["compress_data"], theirs["compress_data"], ours["compress_info"],
                                 theirs["compress_info"]):
        assert np.array_equal(info, other), (info, other)
        assert a.shape == b.shape, (a.shape, b.shape)
        stride = np.where(np.arange(len(a)) < round((info[1] - info[0]) / info[3]), info[3], info[4])
        scale = stride[:, None] ** np.tile(np.arange(6), a.shape[1] // 6)
        worst = max(worst, float(np.abs((a - b) * scale).max()))
    return {"table": worst}


def main():
    reference = json.loads(Path(sys.argv[1]).read_text())
    failed = False
    for path in sys.argv[2:]:
        compressed = "compress" in load_dp_model(path)["model"]["descriptor"]
        checks = {"dpmodel": lambda: dpmodel(path, reference)}
        checks["tables" if compressed else "tensorflow"] = (lambda: tables(path)) if compressed else (
            lambda: tensorflow(path, reference))
        for name, check in checks.items():
            error = check()
            failed = failed or max(error.values(), default=0) > reference.get("tolerance", 1e-9)
            print(f"{path} {name}: " + "  ".join(f"{key} {value:.1e}" for key, value in error.items()), flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
