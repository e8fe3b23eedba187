#!/bin/sh
# ranks.sh FILE [--set KEY=VALUE ...]: 1, 2 and 3 ranks write the same fields, to 1e-6 of single precision.
file=$1
shift
for ranks in 1 2 3; do
  mpirun --oversubscribe -n $ranks meshfreeflow simulate "$file" --quiet --threads 1 "$@" --output on_$ranks --overwrite || exit 1
done
for ranks in 2 3; do
  for group in t0_fields t1_fields; do h5diff -d 1e-6 on_1/fields.h5 on_$ranks/fields.h5 /$group /$group || exit 1; done
done
