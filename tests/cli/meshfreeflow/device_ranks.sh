#!/bin/sh
# device_ranks.sh FILE: three flows on the devices of 1, 2 and 3 ranks are the same to the bit.
for ranks in 1 2 3; do
  mpirun --oversubscribe -n $ranks meshfreeflow simulate "$1" --quiet --threads 1 --set device=$DEVICE --set 'seeds=[1,2,3]' --output on_$ranks \
    --overwrite || exit 1
done
for ranks in 2 3; do
  for group in t0_fields t1_fields; do h5diff on_1/fields.h5 on_$ranks/fields.h5 /$group /$group || exit 1; done
done
