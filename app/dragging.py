"""What is dragged in the window and onto it, as plain values: classes, images of the project, files from outside."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import QByteArray, QMimeData, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent

_OWN: Final = os.getpid()
"""Numbers mean something in one project only, and each window, a process of its own, may have another one open."""
CLASS_MIME: Final = f"application/x-protoleaf-class-{_OWN}"
IMAGES_MIME: Final = f"application/x-protoleaf-images-{_OWN}"


Places = tuple[tuple[int, int | None], ...]
"""Classes, each with the parent that it is taken from; None at the top level."""


@dataclass(frozen=True)
class DraggedClasses:
    """Classes of the project, at least one, each with the parent under which it was taken."""

    places: Places


@dataclass(frozen=True)
class DraggedImages:
    """Images of the project."""

    image_ids: tuple[int, ...]


@dataclass(frozen=True)
class DraggedFiles:
    """Files and folders from outside."""

    paths: tuple[Path, ...]


Dragged = DraggedClasses | DraggedImages | DraggedFiles


def carried_height(dragged: Dragged) -> int:
    """How far what hangs at the pointer reaches below it, in logical pixels; nobody tells where it is shown."""
    return _CARRIED_HEIGHTS[type(dragged)]


_CARRIED_HEIGHTS: Final[dict[type, int]] = {DraggedClasses: 30, DraggedImages: 90, DraggedFiles: 24}


def classes_mime_data(places: Places, names: Sequence[str]) -> QMimeData:
    """Classes on their way; their names are the text for other programs."""
    data = QMimeData()
    data.setData(CLASS_MIME, QByteArray(json.dumps(places).encode()))
    data.setText("\n".join(names))
    return data


def images_mime_data(image_ids: Sequence[int]) -> QMimeData:
    """Images of the project on their way."""
    data = QMimeData()
    data.setData(IMAGES_MIME, QByteArray(json.dumps(list(image_ids)).encode()))
    return data


def read_dragged(data: QMimeData) -> Dragged | None:
    """What is in `data`; None when it is nothing for a class tree."""
    if data.hasFormat(CLASS_MIME):
        places = json.loads(bytes(data.data(CLASS_MIME).data()))
        return DraggedClasses(tuple((class_id, from_parent) for class_id, from_parent in places))
    if data.hasFormat(IMAGES_MIME):
        return DraggedImages(tuple(json.loads(bytes(data.data(IMAGES_MIME).data()))))
    paths = tuple(Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile())
    return DraggedFiles(paths) if paths else None


def is_link(event: QDropEvent) -> bool:
    """Whether a class is to get a further parent: Ctrl is held down."""
    return bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)


def welcome_files(event: QDragEnterEvent) -> None:
    if event.mimeData().hasUrls():
        event.acceptProposedAction()


def take_files(event: QDropEvent) -> list[Path]:
    """Take what was dropped; the local files and folders among it, none when it was something else."""
    paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    if paths:
        event.acceptProposedAction()
    return paths
