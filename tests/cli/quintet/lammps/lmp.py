#!/usr/bin/env python3
"""What `quintet lammps-plugin` asks of LAMMPS and of a compiler, without either: lmp.py FAULT makes ./lmp, ./cxx and ./include.

The two atoms are on a spring; the forces are its slopes and the virial is theirs up to what the
fault says; the limit of both is 1e-5."""
import os
import sys

LMP = """#!/bin/sh
fault={fault}
if [ "$1" = -h ]; then
  echo "Large-scale Atomic/Molecular Massively Parallel Simulator - 1 Jan 2030 - Update 7"
  echo "-DLAMMPS_SMALLBIG"; echo; echo "Installed packages:"; echo
  [ $fault = no_plugins ] && echo "KSPACE MANYBODY" || echo "KSPACE PLUGIN"
  exit 0
fi
[ "$QUINTET_PLUGIN_LEARNS_HOST" = 1 ] || exit 9
[ $fault = crashes ] && kill -SEGV $$
plugin="$(dirname "$2")/unchecked.so"
case $fault in old_strings|other_names) # those of its functions that the plugin does not have
  if [ $fault = other_names ] || ! grep -q ABI=0 "$plugin"; then
    echo "Open of file $plugin failed: $plugin: undefined symbol: _ZN9LAMMPS_NS5Error3oneERKSs"
    echo "ERROR: Unrecognized pair style 'quintet'" && exit 1
  fi
esac
[ $fault = fails ] && echo "ERROR: Unrecognized pair style 'quintet'" && exit 1
touch "$plugin.host"
exec python3 {self} springs $fault
"""
CXX = """#!/bin/sh
[ {fault} = does_not_compile ] && echo "pair.h:1: error: what is that" >&2 && exit 1
words="$*"
while [ "$1" != -o ]; do shift; done
echo "$words" > "$2"
"""


def springs(fault):
    d, looks = [1.3, 0.4, 0.2], []
    for k in range(3):
        for move in (1e-5, -2e-5, 1e-5):
            looks.append((k, move))
    print_look(d, fault)
    for k, move in looks:
        d[k] += move
        print_look(d, fault)


def print_look(d, fault):
    energy = sum(x * x for x in d)
    off = {"forces_inside": (0.9e-5, 0), "forces_outside": (1.1e-5, 0), "virial_inside": (0, 0.9e-5), "virial_outside": (0, 1.1e-5)}
    force = [-2 * x * (1 + off.get(fault, (0, 0))[0]) for x in d]
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    factor = 1.6021765e6 * (1 + off.get(fault, (0, 0))[1])
    print("two_atoms", energy, *force, *(d[a] * force[b] * factor for a, b in pairs))


def make(fault):
    for name, text in (("lmp", LMP), ("cxx", CXX)):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text.format(fault=fault, self=os.path.abspath(__file__)))
        os.chmod(name, 0o755)
    os.makedirs("include/lammps", exist_ok=True)
    for name in ("pair.h", "lammps.h"):
        path = f"include/lammps/{name}"
        if fault == "no_headers":
            os.path.exists(path) and os.unlink(path)
        else:
            open(path, "w", encoding="utf-8").close()


if __name__ == "__main__":
    springs(sys.argv[2]) if sys.argv[1] == "springs" else make(sys.argv[1])
