"""Where the recipes lie, and where what is built goes."""

import os
import subprocess
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGING: Final = ROOT / "packaging"
DESKTOP: Final = ROOT / "assets" / "desktop"
"""Desktop entry, MIME type, AppStream metadata: the program carries them, for those who install no package."""
ICON: Final = ROOT / "assets" / "icons" / "protoleaf.svg"
BUILD: Final = ROOT / "build" / "installer"
"""Environments, programs as folders, and trees; can be deleted at any time."""
PRODUCTS: Final = ROOT / "dist"
"""What is given to people, and what they can check it by."""


def version() -> str:
    """Of the program, as `engine` has it."""
    text = (ROOT / "engine" / "__init__.py").read_text(encoding="utf-8")
    (found,) = (line.split('"')[1] for line in text.splitlines() if line.startswith("__version__"))
    return found


def commit_time() -> int:
    """Seconds since 1970 of the last commit, or what SOURCE_DATE_EPOCH says: the time of every file in a package."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    done = subprocess.run(
        ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"],
        check=True,
        capture_output=True,
        text=True,
    )
    return int(done.stdout)
