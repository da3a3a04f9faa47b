"""Folders of recipes and build results, version and commit time."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
DESKTOP = ROOT / "assets" / "desktop"
"""Desktop entry, MIME type, AppStream metadata; bundled for installations without a package."""
ICON = ROOT / "assets" / "icons" / "protoleaf.svg"
BUILD = ROOT / "build" / "installer"
"""Environments, program folders and package trees; can be deleted at any time."""
PRODUCTS = ROOT / "dist"
"""Packages and their checksums."""


def version() -> str:
    """Version of the program, from `engine`."""
    text = (ROOT / "engine" / "__init__.py").read_text(encoding="utf-8")
    (found,) = (line.split('"')[1] for line in text.splitlines() if line.startswith("__version__"))
    return found


def commit_time() -> int:
    """Modification time of packaged files: SOURCE_DATE_EPOCH, else the time of the last commit."""
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
