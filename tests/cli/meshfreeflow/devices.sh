#!/bin/sh
# devices.sh FILE [--set KEY=VALUE ...]: flows on a device are those of the host to 1e-6 of single
# precision, and each goes on from the other's checkpoint.
file=$1
shift
simulate() { meshfreeflow simulate "$file" --quiet --threads 1 "$@" || exit 1; }
same() { for group in t0_fields t1_fields; do h5diff -d 1e-6 cpu/fields.h5 $1/fields.h5 /$group /$group || exit 1; done; }
for device in cpu $DEVICE; do simulate "$@" --set device=$device --output $device --overwrite; done
same $DEVICE
for pair in "cpu $DEVICE" "$DEVICE cpu"; do
  set -- $pair "$@"
  first=$1 second=$2
  shift 2
  simulate "$@" --set device=$first --set time.end=1.2 --output moved --overwrite
  simulate "$@" --set device=$second --output moved --restart auto
  same moved
done
