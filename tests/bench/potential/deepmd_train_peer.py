"""The peer's side of dpmd_train: runs in the Python of DeePMD-kit's own virtual environment.

    deepmd_train_peer.py tensorflow|pytorch INPUT.json STEPS   times of STEPS training steps after a few to warm up,
                                                               one JSON object
    deepmd_train_peer.py model INPUT.json MODEL.pth            the whole training with PyTorch, and its frozen model

The times are from one fetching of a batch to the next: everything a step of `dp train` does, without display and files.
"""
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

WARM_UP = 4


def clocked(function, marks):
    def wrapped(*words, **options):
        marks.append((time.perf_counter(), time.process_time()))
        return function(*words, **options)
    return wrapped


def tensorflow(path, marks):
    from deepmd.tf.entrypoints.train import train
    from deepmd.tf.train.trainer import DPTrainer
    DPTrainer.get_feed_dict = clocked(DPTrainer.get_feed_dict, marks)
    train(INPUT=path, init_model=None, restart=None, output="out.json", init_frz_model=None, mpi_log="master", log_level=2,
          log_path=None, skip_neighbor_stat=True)


def pytorch(path, marks):
    import deepmd.env
    deepmd.env.SHARED_LIB_DIR = Path("/none")  # its operators are built for one torch; training se_e2_a needs none
    from deepmd.pt.entrypoints.main import train
    from deepmd.pt.train.training import Trainer
    Trainer._next_training_batch = clocked(Trainer._next_training_batch, marks)
    train(path, None, None, None, None, None, skip_neighbor_stat=True)


def frozen(given, model):
    """Train with the PyTorch back end in the working folder and freeze what it has at the end."""
    import deepmd.env
    deepmd.env.SHARED_LIB_DIR = Path("/none")
    from deepmd.pt.entrypoints.main import freeze, train
    train(given, None, None, None, None, None, skip_neighbor_stat=True)
    steps = json.loads(Path(given).read_text())["training"]["numb_steps"]
    freeze(model=f"model.ckpt-{steps}.pt", output=model)


def main():
    if sys.argv[1] == "model":
        return frozen(*sys.argv[2:])
    from importlib.metadata import version
    backend, path, steps = sys.argv[1], Path(sys.argv[2]).resolve(), int(sys.argv[3])
    document, marks = json.loads(path.read_text()), []
    document["training"].update(numb_steps=WARM_UP + steps + 1, disp_training=False, save_freq=10 ** 9)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("input.json").write_text(json.dumps(document))
        {"tensorflow": tensorflow, "pytorch": pytorch}[backend]("input.json", marks)
        os.chdir("/")
    marks = marks[-steps - 1:]
    wall, cpu = ([b[k] - a[k] for a, b in zip(marks, marks[1:])] for k in (0, 1))
    framework = f"TensorFlow {version('tensorflow-cpu')}" if backend == "tensorflow" else f"PyTorch {version('torch')}"
    sys.stdout.write("\n" + json.dumps({
        "wall": wall, "cpu": cpu, "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024e-6,
        "version": f"DeePMD-kit {version('deepmd-kit')}, {framework}"}) + "\n")


if __name__ == "__main__":
    main()
