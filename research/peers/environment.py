"""The Python environment of the peers' libraries, separate from the program's."""

import os
import subprocess
import venv
from pathlib import Path

from engine.errors import NetworkError, UsageError
from engine.full_disk import storage_error
from engine.new_file import ORDINARY_FILE, write_file

REQUIREMENTS = Path(__file__).with_name("requirements.txt")


def peer_environment(folder: Path) -> Path:
    """Create the environment, or reuse one of the same requirements.

    Args:
        folder: of the environment; new, empty or created by this function.

    Returns:
        Its Python executable.

    Raises:
        UsageError: the folder holds something else.
        StorageError: the environment cannot be created there.
        NetworkError: the libraries cannot be installed.
    """
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp, wanted = folder / REQUIREMENTS.name, REQUIREMENTS.read_text(encoding="utf-8")
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    try:
        if folder.exists() and any(folder.iterdir()) and not stamp.is_file():
            raise UsageError(
                "this folder is no environment of the peers",
                expected="a new or empty folder, or one that this command made",
                found=str(folder),
            )
        folder.mkdir(parents=True, exist_ok=True)
        write_file(stamp, "", mode=ORDINARY_FILE)  # an interrupted installation is repeated
        if not python.exists():
            venv.create(folder, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = error if isinstance(error, OSError) else OSError(str(error))
        raise storage_error(
            folder, reason, "the environment cannot be made", "choose another folder"
        ) from error
    _install(python)
    write_file(stamp, wanted, mode=ORDINARY_FILE)
    return python


def _install(python: Path) -> None:
    """Install the pinned libraries by pip."""
    command = [str(python), "-m", "pip", "install", "--quiet", "--requirement", str(REQUIREMENTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 (pip of our environment)
    if done.returncode != 0:
        lines = [
            line for line in done.stderr.splitlines() if line.startswith("ERROR")
        ] or done.stderr.splitlines()
        raise NetworkError(
            "the peers' libraries cannot be installed",
            expected=f"pip to install {REQUIREMENTS}",
            found=lines[-1] if lines else f"exit status {done.returncode}",
            remedy=(
                "connect to the network and run the same command again, or copy an "
                "environment to --environment"
            ),
        )
