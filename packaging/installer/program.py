"""Build of the program's folder by PyInstaller, in a virtual environment for each flavour."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from installer.contents import TRANSLATIONS
from installer.flavours import TRAINING, Flavour
from installer.icons import MACOS_SIZES, WINDOWS_SIZES, bundle_icon
from installer.places import BUILD, DESKTOP, ICON, ROOT, commit_time

BUILDER = ("pyinstaller", "pyinstaller-hooks-contrib")
"""Pinned in constraints.txt."""
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
"""PyTorch's index of CPU builds, a tenth of the size of those on PyPI."""
TORCH_VARIABLE = "PROTOLEAF_TORCH_CPU"
"""Alternative versions if unreachable: "torch==2.13.0+cpu torchvision==0.28.0+cpu"."""
_CPU_BUILD = "+cpu"
_TORCH = ("torch==", "torchvision==")


def build_program(flavour: Flavour) -> Path:
    """Build one flavour.

    Returns:
        the program's folder, which holds the executable `protoleaf`.
    """
    compile_languages(TRANSLATIONS)
    python = environment(flavour)
    converted = converted_backbones()
    folder = BUILD / flavour.name
    shutil.rmtree(folder / "program", ignore_errors=True)
    command: list[str | Path] = [python, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"]
    command += [
        "--workpath",
        folder / "work",
        "--distpath",
        folder / "program",
        ROOT / "pyinstaller.spec",
    ]
    variables = {
        "PROTOLEAF_FLAVOUR": flavour.name,
        "PROTOLEAF_CONVERTED": str(converted),
        "PYTHONHASHSEED": "0",  # fixes the order of sets in compiled modules
        "SOURCE_DATE_EPOCH": str(commit_time()),
        "QT_QPA_PLATFORM": "offscreen",
    }
    if icon := program_icon():
        variables["PROTOLEAF_ICON"] = str(icon)
    subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, check=True)
    return folder / "program" / "protoleaf"


def compile_languages(target: Path) -> None:
    """Compile the translations; on Windows and macOS nothing else does."""
    target.mkdir(parents=True, exist_ok=True)
    tool = Path(sysconfig.get_path("scripts")) / "pyside6-lrelease"
    for source in sorted((ROOT / "translations").glob("*.ts")):
        subprocess.run([tool, "-silent", source, "-qm", target / f"{source.stem}.qm"], check=True)


def program_icon() -> Path | None:
    """Render the icon of the executable, on Windows also that of project files; None on Linux."""
    BUILD.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        bundle_icon(DESKTOP / "application-x-protoleaf.svg", BUILD / "project.ico", WINDOWS_SIZES)
        return bundle_icon(ICON, BUILD / "protoleaf.ico", WINDOWS_SIZES)
    return (
        bundle_icon(ICON, BUILD / "protoleaf.icns", MACOS_SIZES)
        if sys.platform == "darwin"
        else None
    )


def environment(flavour: Flavour) -> Path:
    """Create the virtual environment of a flavour, or reuse one with the same requirements.

    Returns:
        its Python.
    """
    folder = BUILD / flavour.name / "environment"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    constraints = ROOT / "constraints.txt"
    wanted = "\n".join((*BUILDER, *flavour.requirements(), constraints.read_text(encoding="utf-8")))
    made = folder / "made-from.txt"
    if made.is_file() and made.read_text(encoding="utf-8") == wanted:
        return python
    venv.create(folder, with_pip=True, clear=True)
    pinned = _for_cpu(constraints, folder) if flavour is TRAINING else constraints
    index = (
        ["--extra-index-url", TORCH_INDEX]
        if flavour is TRAINING and TORCH_VARIABLE not in os.environ
        else []
    )
    wants = [*BUILDER, *flavour.requirements()]
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", *index, "--constraint", pinned, *wants],
        check=True,
    )
    made.write_text(wanted, encoding="utf-8")
    return python


def _for_cpu(constraints: Path, folder: Path) -> Path:
    """Constraints with PyTorch's CPU build, which has its own versions and needs no CUDA."""
    lines = constraints.read_text(encoding="utf-8").splitlines()
    others = [line for line in lines if not line.startswith(_TORCH)]
    builds = [f"{line}{_CPU_BUILD}" for line in lines if line.startswith(_TORCH)]
    chosen = folder / "constraints-cpu.txt"
    chosen.write_text(
        "\n".join([*others, *os.environ.get(TORCH_VARIABLE, "\n".join(builds)).split()]),
        encoding="utf-8",
    )
    return chosen


def converted_backbones() -> Path:
    """Convert backbones from packages of weights; this Python has torch, the flavours may not.

    Returns:
        a folder with their files.
    """
    sys.path.insert(0, str(ROOT))
    from engine.backbones.convert import convert
    from engine.backbones.model_files import CONVERTED

    folder = BUILD / "backbones"
    for source in CONVERTED.values():
        kept = folder / source.key
        if not kept.is_dir():
            shutil.rmtree(folder, ignore_errors=True)
            draft = folder / "draft"
            draft.mkdir(parents=True)
            convert(source, draft)
            draft.rename(kept)
    (only,) = folder.iterdir()
    return only
