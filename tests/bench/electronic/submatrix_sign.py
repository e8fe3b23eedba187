#!/usr/bin/env python3
"""The matrix sign of water: our submatrix method beside CP2K on the same K and S, threshold by threshold, in one run.

    build/tests/bench/submatrix_sign [--quick] [--repeat 2 2 2] [--large 4 4 4] [--thresholds 1e-4 1e-5] [--repeats 3]

CP2K (apt-get install cp2k libopenblas0-openmp gcc) is driven by ../shared/peers/cp2k_sign.py (--peer), which writes K and S
for us; without that script our side runs on inputs/submatrix alone and prints no ratio. CPU seconds of the sign evaluation
alone, with S^-1/2 and D beside it; one core a side, minimum of repeats; ours on two ranks too (the slower
one). The error is Tr(DK) against the exact one of the same matrices. The large box is measured on our side and, for
CP2K, extrapolated from the small one in proportion to the molecules, which flatters its Newton-Schulz method. GFLOP/s:
of our sign evaluation, beside the multiply-adds the core can do.
"""
import argparse
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile

BUILD = "@PROJECT_BINARY_DIR@"
SOURCE = "@PROJECT_SOURCE_DIR@"


def peer(script, repeat, threshold, method, repeats, work, energy):
    command = [sys.executable, script, *map(str, repeat), "--eps-filter", str(threshold), "--sign-method", method,
               "--repeats", str(repeats), "--work", work, "--energy", energy]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"the peer failed: {' '.join(command)}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def ours(matrices, thresholds, repeats, settings, ranks=1):
    """One record of submatrix_bench for each threshold."""
    command = [f"{BUILD}/tests/bench/submatrix_bench", *matrices, "--mu", "0.07", "--thresholds", ",".join(thresholds),
               "--repeat", str(repeats), *settings]
    if ranks > 1:
        command = ["mpirun", "-n", str(ranks), *command]
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                       OMPI_MCA_mpi_yield_when_idle="1")
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def matrices_of(folder):
    """K and S that CP2K wrote."""
    def find(kind):
        found = sorted(glob.glob(f"{folder}/guess_*-{kind}_SPIN_1-1_0.csr"))
        return found[-1] if found else sys.exit(f"CP2K wrote no {kind} matrix into {folder}")
    return [find("KS"), find("S")]


OWN = [f"{SOURCE}/inputs/submatrix/water_{kind}.h5" for kind in "ks"]


def own_box(cells):
    """Settings of submatrix_bench for our own water, with the exact energy where water_references.yaml has it."""
    settings = ["--cells", ",".join(map(str, cells))]
    with open(f"{SOURCE}/inputs/submatrix/water_references.yaml") as file:
        found = re.search(r"repeat: \[%d, %d, %d\].*?energy: (\S+?)," % tuple(cells), file.read())
    return settings + (["--energy", found.group(1)] if found else [])


def number(value, form):
    return "" if value is None or value != value else format(value, form)


def row(threshold, label, sign, root=None, density=None, error=None, rate=None, ratio=None):
    print(f"{threshold:>9} {label:28} {number(sign, '8.3f'):>8} {number(root, '8.3f'):>8} {number(density, '8.3f'):>8} "
          f"{number(error, '10.2e'):>10} {rate or '':>11} {number(ratio, '7.1f'):>7}", flush=True)


def heading(n_molecules):
    print(f"{n_molecules} H2O, SZV, {6 * n_molecules} orbitals, mu 0.07 hartree; CPU seconds\n{'threshold':>9} {'method':28} "
          f"{'sign':>8} {'S^-1/2':>8} {'D':>8} {'Tr(DK)-E':>10} {'GFLOP/s':>11} {'ratio':>7}")


def row_of(threshold, label, record):
    row(threshold, label, record["ours"], record["root_s"], record["density_s"], record["tr_dk_error"],
        f"{record['gflops']:.0f} of {record['peak_gflops']:.0f}")


def record_of(case, we, peer_seconds, **more):
    return {"bench": "submatrix_sign", "case": case, "ours": we["ours"], "peer": peer_seconds,
            "ratio": peer_seconds and round(peer_seconds / we["ours"], 2), "unit": "s", "root_s": we["root_s"],
            "density_s": we["density_s"], "tr_dk_error": we["tr_dk_error"], "gflops": we["gflops"],
            "peak_gflops": we["peak_gflops"], **more}


def run_peers(arguments, threshold, folder, energy):
    """CP2K's report by method; it writes K and S into folder/METHOD."""
    return {method: peer(arguments.peer, arguments.repeat, threshold, method, arguments.repeats, f"{folder}/{method}",
                         energy) for method in ("NEWTONSCHULZ", "SUBMATRIX")}


def small_box(arguments, threshold, n_molecules, records):
    """Ours and CP2K's on CP2K's matrices; returns CP2K's seconds by method."""
    with tempfile.TemporaryDirectory() as folder:
        peers, matrices, settings = {}, OWN, own_box(arguments.repeat)
        if os.path.exists(arguments.peer):
            peers = run_peers(arguments, threshold, folder, "yes" if n_molecules <= 600 else "no")
            matrices, exact = matrices_of(f"{folder}/NEWTONSCHULZ"), peers["NEWTONSCHULZ"].get("Tr_DK_exact_hartree")
            settings = [] if exact is None else ["--energy", str(exact)]
        one = ours(matrices, [threshold], arguments.repeats, settings)[0]
        two = ours(matrices, [threshold], arguments.repeats, settings, ranks=2)[0]
    for method, values in peers.items():
        error = values.get("Tr_DK_hartree", float("nan")) - values.get("Tr_DK_exact_hartree", float("nan"))
        row(threshold, f"CP2K {method}", values["sign_s"], values["inverse_sqrt_s"], None, error,
            ratio=values["sign_s"] / one["ours"])
        records.append(record_of(f"{n_molecules} H2O {threshold} {method}", one, values["sign_s"],
                                 peer_root_s=values["inverse_sqrt_s"], peer_tr_dk_error=None if error != error else error))
    if not peers:
        records.append(record_of(f"{n_molecules} H2O {threshold}", one, None))
    row_of(threshold, "quintet", one)
    row_of(threshold, f"quintet, 2 ranks ({one['ours'] / two['ours']:.2f} times)", two)
    records.append(record_of(f"{n_molecules} H2O {threshold} 2 ranks", two, None,
                             speedup=round(one["ours"] / two["ours"], 2)))
    return {method: values["sign_s"] for method, values in peers.items()}


def large_box(arguments, seconds, n_small, records):
    n_molecules = 32 * math.prod(arguments.large)
    heading(n_molecules)
    found = ours(OWN, arguments.thresholds, 1 if arguments.quick else 2, own_box(arguments.large))
    for threshold, one in zip(arguments.thresholds, found):
        row_of(threshold, "quintet", one)
        for method, measured in seconds[threshold].items():
            extrapolated = measured * n_molecules / n_small
            row(threshold, f"CP2K {method}, extrapolated", extrapolated, ratio=extrapolated / one["ours"])
            records.append(record_of(f"{n_molecules} H2O {threshold} {method}", one, round(extrapolated, 3),
                                     peer_is="extrapolated linearly"))
        if not seconds[threshold]:
            records.append(record_of(f"{n_molecules} H2O {threshold}", one, None))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="32 and 256 molecules, one repeat")
    parser.add_argument("--repeat", nargs=3, type=int, default=[2, 2, 2], help="of the 32-molecule cell")
    parser.add_argument("--large", nargs=3, type=int, default=[4, 4, 4], help="the same, of the large box")
    parser.add_argument("--thresholds", nargs="+", default=["1e-4", "1e-5"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer", default=f"{SOURCE}/../shared/peers/cp2k_sign.py")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.repeat, arguments.large, arguments.repeats = [1, 1, 1], [2, 2, 2], 1
    n_molecules = 32 * math.prod(arguments.repeat)
    records = []
    heading(n_molecules)
    seconds = {threshold: small_box(arguments, threshold, n_molecules, records) for threshold in arguments.thresholds}
    if n_molecules < 256:  # every block column is all but full: nothing to extrapolate from
        seconds = {threshold: {} for threshold in arguments.thresholds}
    large_box(arguments, seconds, n_molecules, records)
    print(json.dumps(records))


if __name__ == "__main__":
    main()
