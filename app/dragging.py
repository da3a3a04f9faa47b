"""Drag data as plain values, drag pixmaps, and scrolling at the edges of a view."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from PySide6.QtCore import QByteArray, QMimeData, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QPainter, QPixmap
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from app.painting import colour_of, paint_box, smooth_painter
from app.theme.tokens import tokens

_OWN = os.getpid()
"""Part of the MIME types: ids are valid in one project only, and each window (a process) may have
another one open."""
CLASS_MIME = f"application/x-protoleaf-class-{_OWN}"
IMAGES_MIME = f"application/x-protoleaf-images-{_OWN}"


Places = tuple[tuple[int, int | None], ...]
"""Classes, each with the parent that it is taken from; None at the top level."""


@dataclass(frozen=True)
class DraggedClasses:
    """Classes of the project, each with the parent that it is dragged from."""

    places: Places


@dataclass(frozen=True)
class DraggedImages:
    """Images of the project."""

    image_ids: tuple[int, ...]


@dataclass(frozen=True)
class DraggedFiles:
    """Files and folders from outside the program."""

    paths: tuple[Path, ...]


Dragged = DraggedClasses | DraggedImages | DraggedFiles


CARRIED_HEIGHTS: dict[type, int] = {DraggedClasses: 30, DraggedImages: 90, DraggedFiles: 24}
"""Height of the drag pixmap below the pointer, in logical pixels; Qt does not report its
position."""


def classes_mime_data(places: Places, names: Sequence[str]) -> QMimeData:
    """Make the MIME data of classes; their names are the plain text for other programs."""
    data = QMimeData()
    data.setData(CLASS_MIME, QByteArray(json.dumps(places).encode()))
    data.setText("\n".join(names))
    return data


def images_mime_data(image_ids: Sequence[int]) -> QMimeData:
    data = QMimeData()
    data.setData(IMAGES_MIME, QByteArray(json.dumps(list(image_ids)).encode()))
    return data


def read_dragged(data: QMimeData) -> Dragged | None:
    """Parse drag data; None where a class tree cannot accept it."""
    if data.hasFormat(CLASS_MIME):
        places = json.loads(bytes(data.data(CLASS_MIME).data()))
        return DraggedClasses(tuple((class_id, from_parent) for class_id, from_parent in places))
    if data.hasFormat(IMAGES_MIME):
        return DraggedImages(tuple(json.loads(bytes(data.data(IMAGES_MIME).data()))))
    paths = tuple(Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile())
    return DraggedFiles(paths) if paths else None


def is_link(event: QDropEvent) -> bool:
    """Whether Ctrl is held: the class gets an additional parent."""
    return bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)


def welcome_files(event: QDragEnterEvent) -> None:
    if event.mimeData().hasUrls():
        event.acceptProposedAction()


def take_files(event: QDropEvent) -> list[Path]:
    """Accept dropped local files and return their paths; empty for anything else."""
    paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    if paths:
        event.acceptProposedAction()
    return paths


def drag_picture(widget: QWidget, text: str) -> QPixmap:
    metrics = widget.fontMetrics()
    name = metrics.elidedText(text, Qt.TextElideMode.ElideRight, 200)
    width, height = metrics.horizontalAdvance(name) + 24, metrics.height() + 12
    ratio = widget.devicePixelRatioF()
    picture = QPixmap(round(width * ratio), round(height * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = smooth_painter(picture)
    painter.setFont(widget.font())
    chip = QRectF(0, 0, width, height)
    paint_box(painter, chip, tokens().spacing.radius, "inverse")
    painter.setPen(colour_of("on_inverse"))
    painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, name)
    painter.end()
    return picture


EDGE = 28  # logical pixels from an edge within which it scrolls
TICK_MS = 16  # one frame at 60 Hz
SLOWEST, FASTEST = 2, 36  # logical pixels a tick: just inside the edge, and far outside


@final
class EdgeScroll:
    """Scrolls faster the farther the pointer is beyond the edge.

    Calls `on_scrolled` after each step.
    """

    def __init__(self, area: QAbstractScrollArea, on_scrolled: Callable[[], object]) -> None:
        self._area = area
        self._on_scrolled = on_scrolled
        self._speed = 0
        self._timer = QTimer(area)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._on_timeout)

    def follow(self, y: int) -> None:
        self._speed = speed_at(y, self._area.viewport().height())
        if not self._speed:
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    def _on_timeout(self) -> None:
        bar = self._area.verticalScrollBar()
        before = bar.value()
        bar.setValue(before + self._speed)
        if bar.value() == before:
            self._timer.stop()
        else:
            self._on_scrolled()


def speed_at(y: int, height: int) -> int:
    """Logical pixels to scroll per tick: negative at the upper edge, positive at the lower one."""
    into_top, into_bottom = EDGE - y, y - (height - EDGE)
    depth = max(into_top, into_bottom)
    if depth <= 0:
        return 0
    speed = min(FASTEST, SLOWEST + (FASTEST - SLOWEST) * depth // (3 * EDGE))
    return -speed if into_top > into_bottom else speed


# Chosen by eye.
_FILL_OPACITY = 0.14
_EDGE_OPACITY = 0.9


def paint_rubber_band(painter: QPainter, rect: QRect) -> None:
    fill, edge = colour_of("accent"), colour_of("accent")
    fill.setAlphaF(_FILL_OPACITY)
    edge.setAlphaF(_EDGE_OPACITY)
    paint_box(painter, QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), 4, fill, edge=edge)
