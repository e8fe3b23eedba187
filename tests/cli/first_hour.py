#!/usr/bin/env python3
"""What people mistype in their first hour, and what they are told: for each command an input that is right, bent in one place.

Each row: a name, what of the input is replaced by what, the exit code, texts of the answer. Each answer is one that says where
(file, line, column) and what to write; `remedy` rows do what was said and must succeed. Usage: first_hour.py SOURCE BIN
"""
import os
import subprocess
import sys
import tempfile

SOURCE, BIN = map(os.path.abspath, sys.argv[1:3])
ENV = dict(os.environ, PATH=BIN + os.pathsep + os.environ["PATH"])

# Command: its input, a file of it that must be beside, rows of mistakes in the YAML file.
INPUTS = {
    "dpmd run": ("inputs/dpmd/copper/nvt.yaml", (
        ("tab", "  dt: 2 fs", "\tdt: 2 fs", "tab.yaml:9:1: not valid YAML: the line is indented by a tab"),
        ("no colon", "steps: 1000", "steps 1000", "no_colon.yaml:10:3: not valid YAML: ':' and a space are missing behind the key; write 'steps: 1000'"),
        ("no space", "steps: 1000", "steps:1000", "no_space.yaml:10:3: not valid YAML: ':' and a space are missing behind the key; write 'steps: 1000'"),
        ("too deep", "  steps: 1000", "    steps: 1000", "too_deep.yaml:10:5: not valid YAML: the line is indented by 4 spaces, but line 9 above it"),
        ("no-break", "  dt: 2 fs", "\u00a0 dt: 2 fs", "no-break.yaml:9:1: not valid YAML: here is a no-break space; write a space"),
        ("no unit", "dt: 2 fs", "dt: 2", "no_unit.yaml:9:7: time.dt: '2' needs a unit: write for example '2 fs', '2 ps' or '2 ns'"),
        ("comma", "dt: 2 fs", "dt: 0,5 fs", "comma.yaml:9:7: time.dt: '0,5 fs' has a decimal comma; write '0.5 fs'"),
        ("Celsius", "temperature: 300 K", "temperature: 27 C", "integrator.temperature: '27 C' is in degrees Celsius; temperatures are given in K: write '300.15 K'"),
        ("ensemble", "nose_hoover", "nvt", "the thermostat is named in its place: langevin, velocity_rescaling, nose_hoover"),
        ("case", "nose_hoover", "Nose_Hoover", "did you mean 'nose_hoover'?"),
        ("wrong file", "model: copper.dp", "model: melt.xyz", "wrong_file.yaml:7:10: ", "melt.xyz: is not an HDF5 file; is this the right file?"),
        ("power", "steps: 1000", "steps: 10^3", "found the text '10^3'; write 1e3"),
        ("ps", "dt: 2 fs", "dt: 2 ps", "ps.yaml:9:7: integrator.relaxation_time of 0.1 ps is below 2 time steps", "or a shorter time.dt, such as 2 fs"),
        ("atoms", "[10, 10, 10]", "[100000, 100000, 100000]", "atoms.yaml:5:14: system.replicate: [100000, 100000, 100000] makes 4e+15 atoms"),
        ("two keys", "dt: 2 fs", "dt: 2 fs, nsteps: 3", "two_keys.yaml:9:19: not valid YAML: a second ': ' in this line"),
    )),
    "vlasov run": ("inputs/vlasov/two_stream.yaml", (
        ("tab", "  lower:", "\tlower:", "tab.yaml:7:1: not valid YAML: the line is indented by a tab"),
        ("nan", "end: 50", "end: .nan", "time.end: '.nan' is not a finite number"),
        ("unit", "end: 50", "end: 50 eV", "time.end: '50 eV' has a unit, but this key takes a number or a formula in the units of the equations; write 50"),
        ("bracket", "cells: [64, 64]", "cells: [64, 64", "bracket.yaml:9:10: not valid YAML: '[' is not closed"),
        ("brace", "vt: 0.2, alpha", "vt 0.2, alpha", "brace.yaml:4:27: constants.vt 0.2: has no value; write 'vt: 0.2'"),
        ("case", "model: maxwell", "model: Maxwell", "did you mean 'maxwell'?"),
    )),
    "submatrix evaluate": ("inputs/submatrix/water.yaml", (
        ("indent", "  units: hartree", "units: hartree", "indent.yaml:8:3: not valid YAML: the line is indented by 2 spaces, but line 7 above it, 'units: hartree', by no space"),
        ("Ha", "units: hartree", "units: Ha", "unknown value 'Ha'; expected one of from_file, hartree, eV, Ry; did you mean 'hartree'?"),
        ("size", "size: 6", "size: 7", "size.yaml:9:16: blocks.size: blocks of 7 orbitals do not divide a matrix of 1536 rows"),
    )),
    "podlstm fit": ("inputs/podlstm/fit.yaml", (
        ("tab", "    years", "\tyears", "tab.yaml:14:1: not valid YAML: the line is indented by a tab"),
        ("date", "start: 1981-10-29", "start: 29.10.1981", "date.yaml:15:12: fields.stochastic.start: '29.10.1981' is no date; expected year-month-day: write 1981-10-29"),
        ("month", "1989-12-30", "1989-13-30", "month.yaml:19:12: fit_until: '1989-13-30' is no date: there is no month 13"),
        ("variable", "variable: SST", "variable: TEMP", "variable.yaml:13:15: /usr/share/ferret-vis/data/coads_climatology.cdf: there is no variable 'TEMP'"),
        ("half a name", "coads_climatology.cdf", "coads.cdf", "not found", "did you mean '/usr/share/ferret-vis/data/coads_climatology.cdf'?"),
        ("indent", "    years: 33", "  years: 33", "indent.yaml:15:5: not valid YAML: the line is indented by 4 spaces, but line 14 above it, 'years: 33', by 2 spaces"),
    )),
    "meshfreeflow simulate": ("inputs/meshfreeflow/quick_flows.yaml", (
        ("power", "rayleigh: 1e5", "rayleigh: 10^5", "power.yaml:4:11: rayleigh: expected a number, above 0 and at most 1000000000000000, found the text '10^5'; write 1e5"),
        ("comma", "rayleigh: 1e5", "rayleigh: 100000,5", "found the text '100000,5'; write 100000.5 with a decimal point"),
        ("indent", "prandtl: 1", "  prandtl: 1", "indent.yaml:5:3: not valid YAML: the line is indented by 2 spaces, but line 4 above it"),
    )),
}
# Files that are none of ours.
FOREIGN = (
    ("in.melt", "units metal\natom_style atomic\npair_style eam/alloy\nrun 100\n", "in.melt: this is a LAMMPS input script, not a YAML file of {0}"),
    ("cell.inp", "&GLOBAL\n  PROJECT water\n&END GLOBAL\n", "cell.inp: this is a CP2K input, not a YAML file of {0}"),
    ("case.lua", "local Plasma = require(\"App.PlasmaOnCartGrid\")\nlocal k = 0.5\n", "case.lua: this is a Lua script"),
    ("input.json", '{"model": {"descriptor": {"type": "se_e2_a"}, "fitting_net": {}}}', "input.json: this is an input of DeePMD-kit (JSON), not a YAML file of {0}"),
    ("results.h5", "\x89HDF\r\n\x1a\n\0\0", "results.h5: this is a binary file (HDF5), not a YAML file of {0}"),
    ("empty.yaml", "", "empty.yaml: is empty"),
)
failed = []


def answer(words):
    done = subprocess.run(words, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    return done.returncode, done.stdout.decode(errors="replace")


def expect(name, words, code, *texts):
    got, said = answer(words)
    if got != code or not all(text in said for text in texts):
        failed.append(name)
        print(f"FAILED {name}\n  $ {' '.join(words)}\n  exit {got}, expected {code}; expected: {texts}\n{said}", flush=True)


def write(name, text):
    if os.path.lexists(name):  # never through a link into the source
        os.remove(name)
    with open(name, "w", encoding="latin-1" if "\x89" in text else "utf-8", newline="") as file:
        file.write(text)


def yaml_mistakes(command, text, rows):
    for name, old, new, *says in rows:
        assert old in text, (command, name)
        file = name.replace(" ", "_") + ".yaml"
        write(file, text.replace(old, new, 1))
        expect(f"{command}: {name}", [*command.split(), file, "--validate"], 2, *says)


def files(command, other):
    for name, text, says in FOREIGN:
        write(name, text)
        expect(f"{command}: {name}", [*command.split(), name, "--validate"], 2, says.format(command))
    program, path = other
    write("other.yaml", open(os.path.join(SOURCE, path), encoding="utf-8").read())
    expect(f"{command}: input of another command", [*command.split(), "other.yaml", "--validate"], 2,
           f"other.yaml: this is an input of another command, not of {command}", f"run it by '{program} other.yaml'")
    expect(f"{command}: no such file", [*command.split(), "oter.yaml", "--validate"], 2, "oter.yaml: cannot be opened", "did you mean 'other.yaml'?")
    expect(f"{command}: nor one like it", [*command.split(), "zzyzx_qqq.yaml", "--validate"], 2, "zzyzx_qqq.yaml: cannot be opened", "it was looked for in")


def words_of_the_line(command):
    program, name = command.split()
    expect(f"{command}: no file", [program, name, "--validate"], 1, f"the YAML file is missing; write '{command} CASE.yaml'")
    expect(f"{command}: no command", [program, "ok.yaml"], 1, f"the command is missing before 'ok.yaml'; did you mean '{command} ok.yaml'")
    expect(f"{command}: --set without =", [program, name, "ok.yaml", "--set", "a.key", "3"], 1,
           "unexpected argument '3'; KEY=VALUE is one word: --set a.key=3")
    expect(f"{command}: --set with spaces", [program, name, "ok.yaml", "--set", "a.key", "=", "3"], 1, "--set a.key=3")
    expect(f"{command}: --set with a unit", [program, name, "ok.yaml", "--set", "a.key=3", "fs"], 1, "--set 'a.key=3 fs'")
    expect(f"{command}: a flag that nobody knows", [program, name, "ok.yaml", "--frobnicate", "3"], 1,
           "unknown flag '--frobnicate'; a key of the YAML file is set by --set KEY.PATH=VALUE")


def campaigns():
    """quintet campaign reads its file by a way of its own."""
    write("in.melt", FOREIGN[0][1])
    expect("quintet campaign: LAMMPS", ["quintet", "campaign", "in.melt", "--dry-run"], 2, "in.melt: this is a LAMMPS input script, not a YAML file of quintet campaign")
    case = os.path.join(SOURCE, "inputs/vlasov/two_stream.yaml")
    expect("quintet campaign: a case of vlasov", ["quintet", "campaign", case, "--dry-run"], 2, f"run it by 'vlasov run {case}'")
    write("a_campaign.yaml", "stages:\n\t- name: a\n")
    expect("quintet campaign: tab", ["quintet", "campaign", "a_campaign.yaml", "--dry-run"], 2, "a_campaign.yaml:2:1: not valid YAML: the line is indented by a tab")
    expect("quintet campaign: no such file", ["quintet", "campaign", "a_campain.yaml", "--dry-run"], 2, "did you mean", "a_campaign.yaml'?")
    campaign = os.path.join(SOURCE, "inputs/campaigns/two_stream.yaml")
    expect("vlasov: a campaign", ["vlasov", "run", campaign, "--validate"], 2, f"run it by 'quintet campaign {campaign}'")
    expect("quintet: no command", ["quintet", case], 1, f"did you mean 'vlasov run {case}'?")


def remedies():
    """Do what messages said."""
    expect("dpmd: --steps", ["dpmd", "run", "ok.yaml", "--validate", "--steps", "10"], 1, "unknown flag '--steps'; a key of the YAML file is set by --set time.steps=10")
    expect("dpmd: its remedy", ["dpmd", "run", "ok.yaml", "--validate", "--set", "time.steps=10"], 0)
    expect("dpmd: --temperature", ["dpmd", "run", "ok.yaml", "--temperature=300 K"], 1, "--set 'integrator.temperature=300 K' or --set 'velocities.temperature=300 K'")
    write("comma.yaml", open("ok.yaml", encoding="utf-8").read().replace("dt: 2 fs", "dt: 0.5 fs"))
    expect("dpmd: the point in place of the comma", ["dpmd", "run", "comma.yaml", "--validate"], 0)


def main():
    others = {"vlasov run": ("submatrix evaluate", "inputs/submatrix/water.yaml")}
    for command, (path, rows) in INPUTS.items():
        with tempfile.TemporaryDirectory(prefix="first_hour_") as folder:
            os.chdir(folder)
            here = os.path.join(SOURCE, os.path.dirname(path))
            for name in os.listdir(here):
                if not name.endswith(".yaml") or name.endswith("references.yaml"):
                    os.symlink(os.path.join(here, name), name)
            text = open(os.path.join(SOURCE, path), encoding="utf-8").read()
            write("ok.yaml", text)
            yaml_mistakes(command, text, rows)
            files(command, others.get(command, ("vlasov run", "inputs/vlasov/two_stream.yaml")))
            words_of_the_line(command)
            if command == "dpmd run":
                remedies()
            if command == "vlasov run":
                campaigns()
            os.chdir("/")
    print(f"{len(failed)} failed" if failed else "all answers are as they should be")
    return 1 if failed else 0


sys.exit(main())
