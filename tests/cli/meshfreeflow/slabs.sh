#!/bin/sh
# slabs.sh FILE: flows whose rows are shared out on the devices of more ranks than flows are those of
# one rank on the cores to 1e-6 of single precision, in one piece and where device and number of ranks change on the way.
file=$1
simulate() {
  ranks=$1
  shift
  mpirun --oversubscribe -n $ranks meshfreeflow simulate "$file" --quiet --threads 1 "$@" || exit 1
}
same() { for group in t0_fields t1_fields; do h5diff -d 1e-6 $1/fields.h5 $2/fields.h5 /$group /$group || exit 1; done; }
one='--set seeds=[1] --output' two='--set seeds=[1,2] --output' device="--set device=$DEVICE"
simulate 1 $one cores --set time.end=0.9 --overwrite
simulate 2 $one slabs --set time.end=0.9 $device --overwrite
same cores slabs
simulate 3 $one slabs_moved --set time.end=0.3 $device --overwrite
simulate 1 $one slabs_moved --set time.end=0.6 --restart auto
simulate 2 $one slabs_moved --set time.end=0.9 --restart auto $device
same cores slabs_moved
simulate 1 $two cores_of_two --set time.end=0.6 --overwrite
simulate 3 $two slabs_of_two --set time.end=0.6 $device --overwrite
same cores_of_two slabs_of_two
