"""File dialogs. Each opens in the folder that was last used for its purpose."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import QStandardPaths, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from app.settings import Settings
from app.texts import tr

_PLACE = QStandardPaths.StandardLocation
_NO_OPTIONS = QFileDialog.Option(0)


class Purpose(StrEnum):
    """Purposes for which the last used folder is remembered."""

    PROJECTS = "projects"
    IMAGES = "images"
    MOVED_IMAGES = "moved_images"
    CLASSES = "classes"
    LABELS = "labels"
    BACKBONES = "backbones"
    BACKUPS = "backups"
    DETECTOR = "detector"
    REPORTS = "reports"


def open_file(parent: QWidget | None, purpose: Purpose, title: str, kinds: str) -> Path | None:
    """Open a dialog for an existing file, in the purpose's folder.

    `kinds` are Qt filters. None when cancelled.
    """
    name, _kind = QFileDialog.getOpenFileName(parent, title, str(folder_for(purpose)), kinds)
    return _remembered(purpose, [name] if name else [])


def open_files(parent: QWidget | None, purpose: Purpose, title: str, kinds: str) -> Sequence[Path]:
    """Open a dialog for existing files; empty when cancelled.

    The many suffixes of their kinds are not listed.
    """
    options = QFileDialog.Option.HideNameFilterDetails
    names, _kind = QFileDialog.getOpenFileNames(
        parent, title, str(folder_for(purpose)), kinds, options=options
    )
    _remembered(purpose, names)
    return [Path(name) for name in names]


def choose_folder(parent: QWidget | None, purpose: Purpose, title: str) -> Path | None:
    """Open a dialog for a folder; None when cancelled. The next one starts in its parent."""
    name = QFileDialog.getExistingDirectory(parent, title, str(folder_for(purpose)))
    return _remembered(purpose, [name] if name else [])


def choose_folder_near(parent: QWidget | None, start: Path, title: str) -> Path | None:
    """Open a dialog for an output folder, starting in that of `start`; None when cancelled."""
    name = QFileDialog.getExistingDirectory(parent, title, str(nearest_folder(start.parent)))
    return Path(name) if name else None


def save_new_file(
    parent: QWidget | None, purpose: Purpose, title: str, name: str, kinds: str
) -> Path | None:
    """Open a dialog for a new file to save; None when cancelled."""
    chosen, _kind = QFileDialog.getSaveFileName(
        parent, title, str(folder_for(purpose) / name), kinds
    )
    return _remembered(purpose, [chosen] if chosen else [])


def save_file_at(
    parent: QWidget | None,
    start: Path,
    title: str,
    kinds: str,
    *,
    first_kind: str = "",
    asks_to_replace: bool = True,
) -> tuple[Path | None, str]:
    """Open a dialog for the path of a file to save, starting at `start`.

    Returns the path (None when cancelled) and the chosen filter.
    """
    options = _NO_OPTIONS if asks_to_replace else QFileDialog.Option.DontConfirmOverwrite
    shown = str(nearest_folder(start.parent) / start.name)
    name, kind = QFileDialog.getSaveFileName(parent, title, shown, kinds, first_kind, options)
    return (Path(name) if name else None), kind


def folder_for(purpose: Purpose) -> Path:
    """The folder last used for a purpose, or its nearest existing parent.

    By default the pictures or documents folder.
    """
    last = Settings().folder_of(purpose)
    if last is not None:
        return nearest_folder(last)
    is_pictures = purpose in {Purpose.IMAGES, Purpose.MOVED_IMAGES}
    own = QStandardPaths.writableLocation(
        _PLACE.PicturesLocation if is_pictures else _PLACE.DocumentsLocation
    )
    return nearest_folder(Path(own) if own else Path.home())


def nearest_folder(folder: Path) -> Path:
    """A folder, or its nearest existing parent."""
    return next((each for each in (folder, *folder.parents) if each.is_dir()), Path.home())


def _remembered(purpose: Purpose, names: Sequence[str]) -> Path | None:
    """The first of the chosen paths; remembers its folder."""
    if not names:
        return None
    path = Path(names[0])
    Settings().remember_folder(purpose, path.parent)
    return path


def show_folder(folder: Path, on_failure: Callable[[str], None]) -> None:
    """Show a folder in the system's file browser; `on_failure` is called with a message."""
    if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
        on_failure(tr("The folder cannot be shown: {1}", str(folder)))
