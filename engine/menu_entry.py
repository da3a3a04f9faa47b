"""Menu entry and file type of the program on a Linux desktop, where no system package adds them.

Four files below the user's data folder, made from `assets/desktop`: desktop entry, MIME type, and
two icons.
"""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import platformdirs

from engine.config import assets_folder, is_packaged
from engine.errors import UsageError
from engine.new_file import ORDINARY_FILE, write_file

ENTRY = "applications/protoleaf.desktop"
KIND = "mime/packages/protoleaf.xml"
_ICONS: Mapping[str, str] = {
    "icons/hicolor/scalable/apps/protoleaf.svg": "icons/protoleaf.svg",
    "icons/hicolor/scalable/mimetypes/application-x-protoleaf.svg": (
        "desktop/application-x-protoleaf.svg"
    ),
}
"""Paths below the user's data folder, and in the assets."""
_REFRESH = (("update-mime-database", "mime"), ("update-desktop-database", "applications"))
"""Tools that refresh the desktop's databases, and their folders; not every desktop has them."""
_ORDINARY = 0o755  # others may look into these folders, as into those of the desktop
_SPECIAL = '"`$\\'
"""Characters to escape within quotes (Desktop Entry Specification, "The Exec key")."""


def add_menu_entry(command: Path | None = None) -> list[Path]:
    """Write the files.

    Raises:
        UsageError: this is not a Linux desktop.
        OSError: the disk refuses.
    """
    files = {
        place: (assets_folder() / source).read_text(encoding="utf-8")
        for place, source in _ICONS.items()
    }
    files[KIND] = (assets_folder() / "desktop/protoleaf.xml").read_text(encoding="utf-8")
    entry = (assets_folder() / "desktop/protoleaf.desktop").read_text(encoding="utf-8")
    files[ENTRY] = entry.replace("Exec=protoleaf ", f"Exec={quoted(command or this_program())} ")
    written = []
    for place, text in files.items():
        path = _data_folder() / place
        path.parent.mkdir(mode=_ORDINARY, parents=True, exist_ok=True)
        write_file(path, text, mode=ORDINARY_FILE)
        written.append(path)
    _refresh()
    return written


def remove_menu_entry() -> list[Path]:
    """Remove the files.

    Raises:
        UsageError: this is not a Linux desktop.
        OSError: the disk refuses.
    """
    there = [path for place in (ENTRY, KIND, *_ICONS) if (path := _data_folder() / place).is_file()]
    for path in there:
        path.unlink()
    if there:
        _refresh()
    return there


def this_program() -> Path:
    """The command that starts this program: the packaged one, or the script of this Python."""
    if is_packaged():
        return Path(sys.executable)
    return Path(sys.prefix, "bin", "protoleaf")


def quoted(command: Path) -> str:
    """A path as a desktop entry's `Exec` needs it."""
    inside = "".join(f"\\{letter}" if letter in _SPECIAL else letter for letter in str(command))
    # a value's own escapes come on top
    return '"' + inside.replace("\\", "\\\\").replace("%", "%%") + '"'


def _data_folder() -> Path:
    if not sys.platform.startswith("linux"):
        raise UsageError(
            "this is only for Linux",
            found=sys.platform,
            remedy="the installer adds the program to the menu",
        )
    return platformdirs.user_data_path()


def _refresh() -> None:
    for tool, folder in _REFRESH:
        found, place = shutil.which(tool), _data_folder() / folder
        if found and place.is_dir():
            subprocess.run([found, str(place)], check=False, capture_output=True)  # noqa: S603
