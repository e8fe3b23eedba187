#!/usr/bin/env python3
"""Every device file compiles for the GPU; a table of the registers and spills of its kernels.

Usage: check_cuda.py SOURCE_DIR BUILD_DIR KOKKOS_ROOT, or check_cuda.py --self-test
KOKKOS_ROOT: a Kokkos installed with CUDA (or the variable QUINTET_DEVICE_KOKKOS_ROOT). Without one, or without nvcc: exit 77.
"""
import os
import re
import shutil
import subprocess
import sys

ENTRY = re.compile(r"Compiling entry function '([^']+)' for '(sm_\w+)'")
SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
KOKKOS_OWN = re.compile(r"ViewCopy|ViewFill|ViewValueFunctor")
REGISTERS = re.compile(r"Used (\d+) registers")


def kernels(log):
    """[(mangled name, architecture, registers, stack, stored, loaded)] of what ptxas -v says."""
    rows, name, architecture, spills = [], None, None, (0, 0, 0)
    for line in log.splitlines():
        if found := ENTRY.search(line):
            name, architecture = found.groups()
        elif found := SPILLS.search(line):
            spills = tuple(int(number) for number in found.groups())
        elif (found := REGISTERS.search(line)) and name:
            rows.append((name, architecture, int(found[1]), *spills))
            name = None
    return rows


def plain(names):
    """Demangled, without namespaces of ours and of Kokkos."""
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    short = []
    for line in text.splitlines():
        line = re.sub(r"\b(quintet|Kokkos|Impl|device)::|\(anonymous namespace\)::|^void ", "", line)
        short.append(line[:110])
    return short


def self_test():
    log = ("ptxas info    : Compiling entry function '_Z5probev' for 'sm_90'\n"
           "ptxas info    : Function properties for _Z5probev\n"
           "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
           "ptxas info    : Used 40 registers, used 1 barriers\n")
    assert kernels(log) == [("_Z5probev", "sm_90", 40, 8, 4, 12)], kernels(log)
    assert plain(["_Z5probev"]) == ["probe()"]


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    source, build = sys.argv[1:3]
    root = (sys.argv[3] if len(sys.argv) > 3 else "") or os.environ.get("QUINTET_DEVICE_KOKKOS_ROOT", "")
    wrapper = os.path.join(root, "bin", "nvcc_wrapper")
    if not root or not os.path.exists(wrapper):
        print("skipped: no Kokkos with CUDA is named (-DQUINTET_DEVICE_KOKKOS_ROOT=FOLDER)")
        return 77
    if shutil.which("nvcc") is None:
        print("skipped: nvcc is not in PATH")
        return 77
    folder = os.path.join(build, "tests", "packaging", "cuda")
    subprocess.run(["cmake", "-S", os.path.join(source, "cmake", "device"), "-B", folder, "-G", "Ninja",
                    f"-DCMAKE_CXX_COMPILER={wrapper}", f"-DKokkos_ROOT={root}", "-DCMAKE_CXX_FLAGS=-Xptxas -v"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--clean-first"], check=True, capture_output=False, text=True,
                   stdout=open(os.path.join(folder, "log"), "w"), stderr=subprocess.STDOUT)
    rows = [row for row in kernels(open(os.path.join(folder, "log")).read()) if not KOKKOS_OWN.search(row[0])]
    if not rows:
        print(f"no kernel was compiled: see {folder}/log")
        return 1
    print("registers  stack  spill stores  loads (bytes)")
    for name, row in sorted(zip(plain([row[0] for row in rows]), rows), key=lambda pair: -pair[1][2]):
        print(f"{row[2]:9} {row[3]:6} {row[4]:13} {row[5]:6}  {name}")
    print(f"{len(rows)} kernels for {rows[0][1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
