"""Export a small collection in every format and read it with other programs: `make readers`.

These are in an environment of their own, which is created the first time and takes some gigabytes.

Run: python -m tests.readers [FORMAT ...] [--environment FOLDER] [--out FILE]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from tests.readers.label_studio_server import PROGRAM
from tests.readers.readings import PROTOLEAF

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
LABEL_STUDIO = Path(__file__).with_name("requirements-label-studio.txt")
REPOSITORY = Path(__file__).parents[2]


def main(arguments: list[str]) -> int:
    """Write the sample, read it, print the table; the exit status is 1 if something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.readers", description=__doc__)
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help="all of them by default")
    parser.add_argument(
        "--environment", type=Path, default=REPOSITORY / ".readers", help="of the readers"
    )
    parser.add_argument("--out", type=Path, help="file for the table")
    asked = parser.parse_args(arguments)
    python = _environment(asked.environment, REQUIREMENTS)
    programs = {PROTOLEAF: sys.executable, **_label_studio(asked.environment / "label-studio")}
    with tempfile.TemporaryDirectory(prefix="readers-") as folder:
        sample = Path(folder) / "sample"
        sample.mkdir()
        # In a separate process: libraries of the program and the readers may conflict.
        subprocess.run(
            [sys.executable, "-m", "tests.readers.sample", str(sample)], cwd=REPOSITORY, check=True
        )
        home = Path(folder) / "home"
        home.mkdir()
        done = subprocess.run(
            [python, "-m", "tests.readers.read", str(sample), *asked.formats],
            cwd=REPOSITORY,
            env={
                **os.environ,
                **programs,
                "HOME": str(home),
                "HF_HUB_OFFLINE": "1",
                "FIFTYONE_DO_NOT_TRACK": "true",
            },
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    lines = "".join(f"{line}\n" for line in done.stdout.splitlines() if line.startswith("|"))
    sys.stdout.write(lines)
    if asked.out is not None:
        asked.out.write_text(lines, encoding="utf-8")
    return done.returncode


def _label_studio(folder: Path) -> dict[str, str]:
    """The variable with its command; empty if it cannot be installed, as the table says."""
    try:
        return {PROGRAM: str(Path(_environment(folder, LABEL_STUDIO)).with_name("label-studio"))}
    except subprocess.CalledProcessError:
        return {}


def _environment(folder: Path, requirements: Path) -> str:
    """The Python of an environment, installed if it is missing or other programs are requested."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    stamp = folder / requirements.name
    wanted = requirements.read_text(encoding="utf-8")
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        if not python.exists():
            venv.create(folder, with_pip=True)
        subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", "-r", str(requirements)], check=True
        )
        stamp.write_text(wanted, encoding="utf-8")
    return str(python)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
