#!/usr/bin/env python3
"""Compile ../deep_potential/oneside.dp (oneside.pt2) as `dp convert-backend oneside.dp oneside.pt2` does.

    python3 -m venv peer
    peer/bin/pip install deepmd-kit==3.2.0 torch==2.13.0
    peer/bin/python make_deepmd_compiled.py

For any x86-64 processor and one thread. The references of oneside.dp are its own, too.
"""
import os
import sys
import types
from pathlib import Path

os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
os.environ["DEVICE"] = "cpu"
sys.modules["deepmd.pt.cxx_op"] = types.ModuleType("deepmd.pt.cxx_op")
sys.modules["deepmd.pt.cxx_op"].ENABLE_CUSTOMIZED_OP = False
import torch._inductor  # noqa: E402
from deepmd.dpmodel.utils.serialization import load_dp_model  # noqa: E402
from deepmd.pt_expt.utils import serialization  # noqa: E402
from repack import ANY_PROCESSOR, repack_compiled  # noqa: E402

HERE = Path(__file__).resolve().parent


def main():
    compile_it = torch._inductor.aoti_compile_and_package
    torch._inductor.aoti_compile_and_package = lambda exported, package_path, inductor_configs: compile_it(
        exported, package_path=package_path, inductor_configs=inductor_configs | ANY_PROCESSOR)
    path = HERE / "oneside.pt2"
    serialization.deserialize_to_file(str(path), load_dp_model(str(HERE.parent / "deep_potential" / "oneside.dp")))
    repack_compiled(path)
    print(path.stat().st_size)


if __name__ == "__main__":
    main()
