#!/bin/sh
# Train a case here and with DeePMD-kit (TensorFlow): same network, data, schedule and steps (CASE/train.json); then the
# errors of both models on the frames held out, both by `dpmd test`. Usage: compare.sh CASE [folder of the virtual
# environment]: water, silica or copper. Needs dpmd in the PATH, Python and 2.2 GB; minutes here, longer there.
set -eu
here=$(cd "$(dirname "$0")/$1" && pwd)
venv=${2:-deepmd-venv}
[ -x "$venv/bin/dp" ] || { python3 -m venv "$venv"; "$venv/bin/pip" install -q 'deepmd-kit[cpu]==3.2.0'; }
venv=$(cd "$venv" && pwd)
export OMP_NUM_THREADS=1 TF_INTRA_OP_PARALLELISM_THREADS=1 TF_INTER_OP_PARALLELISM_THREADS=1 \
       DP_INTRA_OP_PARALLELISM_THREADS=1 DP_INTER_OP_PARALLELISM_THREADS=1 TF_CPP_MIN_LOG_LEVEL=3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$here/train.json" "$here/data" "$work"
cd "$work"

dpmd train --from-deepmd train.json --output ours.yaml
dpmd train ours.yaml --output ours --quiet --threads 1
"$venv/bin/dp" --tf train train.json
"$venv/bin/dp" --tf freeze -o peer.pb
"$venv/bin/dp" convert-backend peer.pb peer.dp
for model in ours/model.dp peer.dp; do
  dpmd test --model "$model" --output "$(basename "$model" .dp)" data/valid_*
done
