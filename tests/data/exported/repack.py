"""What scripts that make exported models share."""
import zipfile


def repack(path):
    """Write an archive again, deflated, without the members that a debugger reads."""
    with zipfile.ZipFile(path) as packed:
        members = {name: packed.read(name) for name in packed.namelist() if not name.endswith(".debug_pkl")}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, content in members.items():
            packed.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
