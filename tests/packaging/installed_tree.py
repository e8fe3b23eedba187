#!/usr/bin/env python3
"""The programs work from where they are installed, moved to another place, without the source and the build.

Installs the component `programs`, moves it, starts every command of every program, and one short real run of each; looks for pages
of the manual, completion, machines and inputs, and that no library is lost. Usage: installed_tree.py SOURCE BUILD SCRATCH CMAKE.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PROGRAMS = ("dpmd", "meshfreeflow", "podlstm", "quintet", "submatrix", "vlasov")
CLIMATOLOGY = "/usr/share/ferret-vis/data/coads_climatology.cdf"


def run(*command, expected=0, **variables):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, **variables))
    if done.returncode != expected:
        sys.exit(f"{' '.join(map(str, command))}\nexit {done.returncode}, expected {expected}:\n{done.stdout}")
    return done.stdout


def require(condition, what):
    if not condition:
        sys.exit(what)


def check_pages(moved, program, commands):
    page = moved / f"share/man/man1/{program}.1"
    text = page.read_text(encoding="utf-8")
    require(all(".B " + command.replace("-", "\\-") in text for command in commands), f"{page} lacks a command of {commands}")
    if shutil.which("groff"):
        complaint = run("groff", "-man", "-ww", "-z", "-Kutf8", page)
        require(not complaint, f"{page}: {complaint}")
    script = moved / f"share/bash-completion/completions/{program}"
    complete = f'source {script}; COMP_WORDS=({program} ""); COMP_CWORD=1; _quintet_{program}; echo "${{COMPREPLY[@]}}"'
    offered = run("bash", "-c", complete).split()
    require(offered == commands, f"{script} offers {offered}, there are {commands}")
    require((moved / f"share/zsh/site-functions/_{program}").read_text().startswith(f"#compdef {program}\n"), f"no completion of {program} for zsh")
    if shutil.which("zsh"):
        run("zsh", "-n", moved / f"share/zsh/site-functions/_{program}")


def check_commands(moved, with_torch):
    for program in PROGRAMS:
        path = moved / "bin" / program
        text = run(path, "--help")
        absent = re.findall(r"^  ([\w-]+) +not in this build, which lacks LibTorch", text, re.M)
        expected = [] if with_torch or program != "meshfreeflow" else ["train", "superresolve", "evaluate", "expert"]
        require(absent == expected and text.count("not in this build") == len(absent), f"{program} has lost commands:\n{text}")
        commands = [one for one in re.findall(r"^  ([\w-]+) ", text.split("Commands:")[1].split("Options:")[0], re.M) if one not in absent]
        require(len(commands) >= 1, text)
        for command in commands:
            require(f"{program} {command} - " in run(path, command, "--help"), f"{program} {command} --help")
        require(re.match(rf"{program} \d+\.\d+\.\d+ \(git [\w-]+\)\n.*\nKokkos \d", run(path, "--version")), run(path, "--version"))
        check_pages(moved, program, commands)


def check_completion_of_keys(moved):
    script = moved / "share/bash-completion/completions/vlasov"
    complete = f'source {script}; COMP_WORDS=(vlasov run --set time.); COMP_CWORD=3; _quintet_vlasov 2> /dev/null; echo "${{COMPREPLY[@]}}"'
    require("time.end=" in run("bash", "-c", complete).split(), "no completion of keys behind --set")
    complete = f'source {script}; COMP_WORDS=(vlasov run --over); COMP_CWORD=2; _quintet_vlasov; echo "${{COMPREPLY[@]}}"'
    require(run("bash", "-c", complete).split() == ["--overwrite"], "no completion of flags")


def check_runs(moved, source):
    bin_folder, inputs = moved / "bin", moved / "share/quintet/inputs"
    runs = [("vlasov", "run", inputs / "vlasov/two_stream.yaml", "--set", "time.end=0.1", "--output", "vlasov"),
            ("dpmd", "run", inputs / "dpmd/copper/nvt.yaml", "--set", "time.steps=2", "--set", "system.replicate=[3,3,3]", "--output", "dpmd"),
            ("submatrix", "evaluate", inputs / "submatrix/chain_gap.yaml", "--output", "submatrix"),
            ("meshfreeflow", "simulate", source / "tests/cli/meshfreeflow/flow.yaml", "--output", "flow")]
    if (moved / "lib/quintet/libmeshfreeflow_networks.so").exists():
        shutil.copy(source / "tests/cli/meshfreeflow/train.yaml", "train.yaml")
        runs.append(("meshfreeflow", "train", "train.yaml", "--set", "steps=2", "--set", "validation.interval=2", "--output", "train"))
    if os.path.exists(CLIMATOLOGY):
        runs.append(("podlstm", "fit", inputs / "podlstm/fit.yaml", "--set", "fields.stochastic.years=9", "--output", "fit"))
    for program, *words in runs:
        said = run(bin_folder / program, *words)
        folder = Path(words[-1])
        for name in ("report.html", "summary.json", "citations.bib"):
            require((folder / name).exists(), f"{program} {words}: no {name}\n{said}")
        require(f"{folder}/citations.bib" in said, f"the log does not name citations.bib:\n{said}")
    require("hakim2020" in Path("vlasov/citations.bib").read_text(), "vlasov does not cite its method")
    require("abci3" in run(bin_folder / "quintet", "machine", "abci3"), "quintet machine abci3")
    require('"$schema"' in run(bin_folder / "quintet", "schema", "dpmd", "run"), "quintet schema dpmd run")
    run(bin_folder / "quintet", "report", "vlasov", "dpmd")


def check_libraries(moved, cmake):
    libraries = sorted((moved / "lib/quintet").glob("*.so"))
    for library in libraries:
        lost = [line for line in run("ldd", library).splitlines() if "not found" in line]
        require(not lost, f"{library}: {lost}")
    if not libraries:
        return
    # Without the way to LibTorch: the message says what to do, and that does it.
    networks = moved / "lib/quintet/libmeshfreeflow_networks.so"
    torch = next(Path(line.split("=>")[1].split()[0]) for line in run("ldd", networks).splitlines() if "libtorch_cpu.so" in line)
    Path("forget.cmake").write_text(f'file(RPATH_REMOVE FILE "{networks}")\n')
    run(cmake, "-P", "forget.cmake")
    program = moved / "bin/meshfreeflow"
    said = run(program, "train", "--help", expected=1)
    remedy = f"or link the folder above that to {moved}/lib/quintet/torch"
    require("it lacks LibTorch (" in said and "LibTorch is not where it was" in said and remedy in said, said)
    run(program, "train", "--help", LD_LIBRARY_PATH=str(torch.parent))


def main():
    source, build, scratch, cmake = map(Path, sys.argv[1:])
    shutil.rmtree(scratch, ignore_errors=True)
    prefix, moved = scratch / "prefix", scratch / "moved"
    run(cmake, "--install", build, "--prefix", prefix, "--component", "programs")
    prefix.rename(moved)
    os.chdir(scratch)
    for name in ("README.md", "LICENSE", "CITATION.cff", "docs/running.md", "docs/configuration/dpmd.md"):
        require((moved / "share/doc/Quintet" / name).exists(), f"share/doc/Quintet/{name} is not installed")
    foreign = [str(path) for path in moved.rglob("*") if "test" in path.name and path.suffix in (".so", ".a")]
    require(not foreign, f"libraries of tests are installed: {foreign}")
    require("libquintet_test" not in (build / "cmake_install.cmake").read_text(), "libraries of tests would be installed")
    check_commands(moved, with_torch="QUINTET_WITH_TORCH:BOOL=OFF" not in (build / "CMakeCache.txt").read_text())
    check_completion_of_keys(moved)
    check_runs(moved, source)
    check_libraries(moved, cmake)
    shutil.rmtree(scratch)


main()
