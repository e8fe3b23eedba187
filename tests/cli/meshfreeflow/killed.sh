#!/bin/sh
# killed.sh OUT [--set KEY=VALUE ...]: a training whose states are in a file on disk/ is killed (-9) between two checkpoints and goes on.
out=$1
shift
here=$(dirname "$0")
train() { exec meshfreeflow train --threads 1 "$here/train.yaml" --quiet --set offload.optimiser=file --set offload.path=disk --output "$out" "$@"; }
(train "$@" --set checkpoint_keep=9) &
run=$!
until [ -e "$out/checkpoints/step_000000000040.h5" ]; do
  kill -0 $run || exit 1
  sleep 0.01
done
kill -9 $run
wait $run
[ -z "$(ls -A disk)" ] || exit 1 # the dead leave nothing
train "$@" --restart auto
