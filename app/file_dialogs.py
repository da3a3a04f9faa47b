"""File dialogs. Each opens in the folder that was used last for its purpose."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QFileDialog, QWidget

from app.settings import Settings

_PLACE: Final = QStandardPaths.StandardLocation
_NO_OPTIONS: Final = QFileDialog.Option(0)


class Purpose(StrEnum):
    """What a folder is remembered for."""

    PROJECTS = "projects"
    IMAGES = "images"
    MOVED_IMAGES = "moved_images"
    CLASSES = "classes"
    LABELS = "labels"
    BACKBONES = "backbones"
    BACKUPS = "backups"


def open_file(parent: QWidget | None, purpose: Purpose, title: str, kinds: str) -> Path | None:
    """Ask for a file that is there; None when the dialog is cancelled.

    Args:
        parent: what the dialog stands over.
        purpose: whose folder is shown first, and remembered.
        title: of the dialog.
        kinds: filters in Qt's form, "Labels (*.csv);;All files (*)".
    """
    name, _kind = QFileDialog.getOpenFileName(parent, title, str(folder_for(purpose)), kinds)
    return _remembered(purpose, [name] if name else [])


def open_files(parent: QWidget | None, purpose: Purpose, title: str, kinds: str) -> Sequence[Path]:
    """Ask for files that are there, of kinds whose many suffixes are not listed; none when the dialog is cancelled."""
    options = QFileDialog.Option.HideNameFilterDetails
    names, _kind = QFileDialog.getOpenFileNames(parent, title, str(folder_for(purpose)), kinds, options=options)
    _remembered(purpose, names)
    return [Path(name) for name in names]


def choose_folder(parent: QWidget | None, purpose: Purpose, title: str) -> Path | None:
    """Ask for a folder; None when the dialog is cancelled. The next dialog shows the one that it lies in."""
    name = QFileDialog.getExistingDirectory(parent, title, str(folder_for(purpose)))
    return _remembered(purpose, [name] if name else [])


def choose_folder_beside(parent: QWidget | None, start: Path, title: str) -> Path | None:
    """Ask for a folder, first that of a file which is about to be written; None when the dialog is cancelled."""
    name = QFileDialog.getExistingDirectory(parent, title, str(nearest_folder(start.parent)))
    return Path(name) if name else None


def save_new_file(parent: QWidget | None, purpose: Purpose, title: str, name: str, kinds: str) -> Path | None:
    """Ask where a new file goes, by default under a name; None when the dialog is cancelled."""
    chosen, _kind = QFileDialog.getSaveFileName(parent, title, str(folder_for(purpose) / name), kinds)
    return _remembered(purpose, [chosen] if chosen else [])


def save_file_at(
    parent: QWidget | None, start: Path, title: str, kinds: str, *, first_kind: str = "", asks_to_replace: bool = True
) -> tuple[Path | None, str]:
    """Ask where a file goes that has a place already.

    Args:
        parent: what the dialog stands over.
        start: that place.
        title: of the dialog.
        kinds: filters in Qt's form.
        first_kind: the one of them that is chosen at first.
        asks_to_replace: whether the dialog asks before another file is replaced, or somebody else does.

    Returns:
        The place, None when the dialog is cancelled, and the filter that was chosen.
    """
    options = _NO_OPTIONS if asks_to_replace else QFileDialog.Option.DontConfirmOverwrite
    shown = str(nearest_folder(start.parent) / start.name)
    name, kind = QFileDialog.getSaveFileName(parent, title, shown, kinds, first_kind, options)
    return (Path(name) if name else None), kind


def folder_for(purpose: Purpose) -> Path:
    """The folder that was used last for a purpose, or what is left of it; before that the person's own."""
    last = Settings().folder_of(purpose)
    if last is not None:
        return nearest_folder(last)
    is_pictures = purpose in {Purpose.IMAGES, Purpose.MOVED_IMAGES}
    own = QStandardPaths.writableLocation(_PLACE.PicturesLocation if is_pictures else _PLACE.DocumentsLocation)
    return nearest_folder(Path(own) if own else Path.home())


def nearest_folder(folder: Path) -> Path:
    """A folder, or the nearest one above it that is there: sticks are drawn and folders renamed."""
    return next((each for each in (folder, *folder.parents) if each.is_dir()), Path.home())


def _remembered(purpose: Purpose, names: Sequence[str]) -> Path | None:
    """The first of the chosen paths; its folder is remembered."""
    if not names:
        return None
    path = Path(names[0])
    Settings().remember_folder(purpose, path.parent)
    return path
