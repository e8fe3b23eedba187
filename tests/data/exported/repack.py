"""What scripts that make exported models share."""
import subprocess
import tempfile
import zipfile
from pathlib import Path

# Inductor's options for code that runs on any x86-64 processor, by one thread.
ANY_PROCESSOR = {"cpp.march": "x86-64", "cpp.simdlen": 1, "cpp.threads": 1, "aot_inductor.compile_wrapper_opt_level": "O1"}


def write(path, members):
    """Write an archive, deflated, the same bytes each time."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, content in members.items():
            packed.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)


def repack(path):
    """Write an archive again, deflated, without the members that a debugger reads."""
    with zipfile.ZipFile(path) as packed:
        write(path, {name: packed.read(name) for name in packed.namelist() if not name.endswith(".debug_pkl")})


def stripped(library):
    """Return a library without the names that only a debugger reads."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(library)
        file.flush()
        subprocess.run(["strip", "--strip-all", file.name], check=True)
        return Path(file.name).read_bytes()


def repack_compiled(path):
    """Write a package of AOTInductor again, deflated, without sources and the model's definition."""
    with zipfile.ZipFile(path) as packed:
        members = {name: packed.read(name) for name in packed.namelist()
                   if not name.endswith((".cpp", "/model.json", "/model_def_script.json"))}
    write(path, {name: stripped(content) if name.endswith(".so") else content for name, content in members.items()})
