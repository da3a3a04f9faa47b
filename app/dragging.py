"""What is dragged in the window and onto it, as plain values: a class, images of the project, files from outside."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QByteArray, QMimeData
from PySide6.QtGui import QDragEnterEvent, QDropEvent

if TYPE_CHECKING:  # loads networkx, and the window shows first
    from engine.graph.category_graph import ClassId


_OWN: Final = os.getpid()
"""Numbers mean something in one project only, and each window, a process of its own, may have another one open."""
CLASS_MIME: Final = f"application/x-protoleaf-class-{_OWN}"
IMAGES_MIME: Final = f"application/x-protoleaf-images-{_OWN}"


@dataclass(frozen=True)
class DraggedClass:
    """A class, and the parent whose row of it was taken; None at the top level."""

    class_id: ClassId
    from_parent: ClassId | None


@dataclass(frozen=True)
class DraggedImages:
    """Images of the project."""

    image_ids: tuple[int, ...]


@dataclass(frozen=True)
class DraggedFiles:
    """Files and folders from outside."""

    paths: tuple[Path, ...]


Dragged = DraggedClass | DraggedImages | DraggedFiles


def carried_height(dragged: Dragged) -> int:
    """How far what hangs at the pointer reaches below it, in logical pixels; nobody tells where it is shown."""
    return _CARRIED_HEIGHTS[type(dragged)]


_CARRIED_HEIGHTS: Final[dict[type, int]] = {DraggedClass: 30, DraggedImages: 90, DraggedFiles: 24}


def class_mime_data(class_id: ClassId, from_parent: ClassId | None, name: str) -> QMimeData:
    """A class on its way; its name is the text for other programs."""
    data = QMimeData()
    data.setData(CLASS_MIME, QByteArray(json.dumps([class_id, from_parent]).encode()))
    data.setText(name)
    return data


def images_mime_data(image_ids: Sequence[int]) -> QMimeData:
    """Images of the project on their way."""
    data = QMimeData()
    data.setData(IMAGES_MIME, QByteArray(json.dumps(list(image_ids)).encode()))
    return data


def read_dragged(data: QMimeData) -> Dragged | None:
    """What is in `data`; None when it is nothing for a class tree."""
    if data.hasFormat(CLASS_MIME):
        class_id, from_parent = json.loads(bytes(data.data(CLASS_MIME).data()))
        return DraggedClass(class_id, from_parent)
    if data.hasFormat(IMAGES_MIME):
        return DraggedImages(tuple(json.loads(bytes(data.data(IMAGES_MIME).data()))))
    paths = tuple(Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile())
    return DraggedFiles(paths) if paths else None


def welcome_files(event: QDragEnterEvent) -> None:
    """Let files come in."""
    if event.mimeData().hasUrls():
        event.acceptProposedAction()


def take_files(event: QDropEvent) -> list[Path]:
    """Take what was dropped; the local files and folders among it, none when it was something else."""
    paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    if paths:
        event.acceptProposedAction()
    return paths
