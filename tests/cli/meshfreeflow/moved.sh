#!/bin/sh
# moved.sh: a training on the cpu that goes on after two steps on a device, and one on a device that goes on on the cpu.
train() {
  meshfreeflow train --threads 1 "${0%/*}/train.yaml" --quiet --set loss.norm=l2 --set validation.interval=4 --set checkpoint_interval=2 "$@" ||
    exit 1
}
train --set steps=2 --output moved
train --set steps=4 --output moved --restart auto --set device=$DEVICE
train --set steps=2 --output back --set device=$DEVICE
train --set steps=4 --output back --restart auto
