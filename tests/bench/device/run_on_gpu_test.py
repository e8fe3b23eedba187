#!/usr/bin/env python3
"""run_on_gpu and figures.py with stand-ins for programs, profiler and sanitizer, which print what these do; nothing here is a figure.

What passed, failed, was stopped or left out is said and counted; the table is of the numbers that were printed. Standard library only.
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
VLASOV = """case "$1" in
--walls) step=3.3 ;; --check | --tiny) exit 0 ;; *) step=3 ;;
esac
echo 'no JSON'
echo '{"bench": "device_vlasov_stages", "case": "device", "on": "Imagined GPU", "h200_vector_flops_per_s": 3.4e+13}'
for cells in 1e+05 1e+07; do
  echo "{\\"case\\": \\"1x1v ser p2, automatic\\", \\"cells\\": $cells, \\"step_ns_per_cell\\": $step, \\"step_dof_per_s\\": $cells, \\"step_share_of_copy\\": 0.5, \\"copy_bytes_per_s\\": 4e+12}"
done"""
NCU = """echo '==PROF== counting'
echo '"ID","Kernel Name","gpu__time_duration.sum","dram__bytes.sum","smsp__sass_thread_inst_executed_op_dadd_pred_on.sum","smsp__sass_thread_inst_executed_op_dmul_pred_on.sum","smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"'
echo '"","","ns","byte","inst","inst","inst"'
echo '"0","void quintet::Sweep","1,000","2,000,000","0","1,000,000","500,000"'
exit 1"""
PROGRAMS = {"vlasov_stages": VLASOV, "dense": "exit 3", "flows": '[ "$2" = check ] || exec sleep $NAP', "collisions": "exit 0", "dpmd": "exit 0",
            "rebuild": "exit 0", "submatrix_series": "exit 0"}


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text + "\n")
    os.chmod(path, 0o755)


def run(folder, **environment):
    """Exit code, {step: outcome}, and figures.json."""
    env = dict(os.environ, PATH=os.path.join(folder, "bin") + os.pathsep + os.environ["PATH"], **environment)
    done = subprocess.run([os.path.join(HERE, "run_on_gpu"), folder, os.path.join(folder, "programs"), os.path.join(folder, "build")], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    results = os.path.join(folder, "build", "results")
    steps = {}
    if os.path.exists(os.path.join(results, "steps.txt")):
        steps = dict(line.rstrip("\n").split(None, 1) for line in open(os.path.join(results, "steps.txt"), encoding="utf-8"))
    path = os.path.join(results, "figures.json")
    return done.returncode, steps, json.load(open(path, encoding="utf-8")) if os.path.exists(path) else None, done.stdout


def expect(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def near(a, b):
    return abs(a - b) < 1e-9 * abs(b)


with tempfile.TemporaryDirectory() as folder:
    for name in ("programs", "bin"):
        os.mkdir(os.path.join(folder, name))
    for name, text in PROGRAMS.items():
        write(os.path.join(folder, "programs", "device_" + name), text)
    write(os.path.join(folder, "bin", "ncu"), NCU)
    write(os.path.join(folder, "bin", "compute-sanitizer"), 'while [ "${1#-}" != "$1" ]; do shift; [ "${1#--}" != "$1" ] || shift; done; exec "$@"')

    code, steps, found, text = run(folder, NAP="0")
    expect("passed" in steps["check_vlasov"] and "FAILED (3)" in steps["check_dense"], f"outcomes of checks: {steps}")
    expect(code == sum("FAILED" in outcome for outcome in steps.values()), f"exit code {code} of {steps}")
    expect("passed" in steps["share_vlasov_1x1v"], "a profiler that kills what it counts has done its work")
    figures = {one["figure"]: one for one in found["figures"]}
    one = figures["vlasov, whole steps in 1x1v, 10^7 cells, p2"]
    expect(found["device"] == "Imagined GPU", found["device"])
    expect(one["value"] == 1e7 and one["share"] == 0.5, f"the largest grid counts: {one}")
    expect(near(figures["vlasov, two walls in 1x1v"]["value"], 10), "two walls add a tenth")
    missing = figures["submatrix evaluate, eigenpairs, 504 rows"]
    expect(missing["value"] is None and "FAILED (3)" in missing["missing"], f"what is not there is said: {missing}")
    expect("missing: " in text and "1e+07 DOF a second" in text, f"the table says both:\n{text}")
    kernel = next(one for one in found["kernels"] if one["step"] == "share_vlasov_1x1v")
    # 2e6 operations and bytes in 1 us: under a roof of 4e12 bytes a second, 1 operation a byte.
    expect(kernel["kernel"] == "void Sweep" and near(kernel["us"], 1) and near(kernel["gflops"], 2000) and near(kernel["gb_per_s"], 2000), str(kernel))
    expect(near(kernel["share_of_roof"], 0.5), str(kernel))

    code, steps, found, text = run(folder, NAP="60", QUINTET_GPU_SECONDS="4")
    expect("stopped after" in steps["time_flows"], f"what takes too long is stopped: {steps}")
    expect("left out" in steps["time_rebuild"] and code >= 10, f"what comes after the end is left out, and counts: {code}, {steps}")

    code, steps, found, text = run(folder, QUINTET_GPU_PLAN="1", QUINTET_PROJECT=folder)
    expect(code == 0 and not steps and found is None, "a plan runs nothing")
    expect(text.index("tests ") < text.index("check_vlasov") < text.index("time_dpmd") < text.index("share_") < text.index("racecheck_"), text)
print("passed")
