#!/bin/sh
# Remake data, model and reference values from nothing: about 30 minutes on one core. Needs lmp (LAMMPS with its
# potentials), Python and about 2.2 GB for DeePMD-kit. Usage: train.sh [folder of the virtual environment]
# A model of the same accuracy without DeePMD-kit, in minutes: dpmd train train.yaml.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=${1:-deepmd-venv}
[ -x "$venv/bin/dp" ] || { python3 -m venv "$venv"; "$venv/bin/pip" install -q 'deepmd-kit[cpu,lmp]==3.2.0'; }
venv=$(cd "$venv" && pwd)
export OMP_NUM_THREADS=1 TF_INTRA_OP_PARALLELISM_THREADS=1 TF_INTER_OP_PARALLELISM_THREADS=1 \
       DP_INTRA_OP_PARALLELISM_THREADS=1 DP_INTER_OP_PARALLELISM_THREADS=1 TF_CPP_MIN_LOG_LEVEL=3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$venv/bin/python" "$here/make_data.py"
cp -r "$here/train.json" "$here/data" "$work"
cd "$work"
"$venv/bin/dp" --tf train train.json
"$venv/bin/dp" --tf freeze -o copper.pb
# Freezing leaves out_std = 1, so the native file means the same to every reader.
"$venv/bin/dp" convert-backend copper.pb "$here/copper.dp"
"$venv/bin/python" "$here/make_reference.py"
"$venv/bin/python" "$here/make_peer_reference.py"
