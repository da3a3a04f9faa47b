"""Canvases of images with different sizes and aspect ratios that share a view."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.image_view.canvas import ImageCanvas
from app.image_view.locked import LockedCanvases
from app.image_view.shared_view import SharedView
from tests.support.images import write_jpeg
from tests.support.sessions import LONG_MS


@pytest.fixture
def canvases(qtbot: QtBot, tmp_path: Path) -> Iterator[list[ImageCanvas]]:
    """A wide photo, a tall TIFF of a quarter of its pixels, a tiny picture; on three canvases."""
    Image.new("RGB", (300, 900), "teal").save(tmp_path / "tall.tif")
    Image.new("RGB", (16, 12), "teal").save(tmp_path / "tiny.png")
    paths = [
        write_jpeg(tmp_path / "wide.jpg", width=1600, height=400),
        tmp_path / "tall.tif",
        tmp_path / "tiny.png",
    ]
    found = [ImageCanvas() for _ in paths]
    for canvas, path, size in zip(found, paths, ((400, 400), (300, 500), (500, 200)), strict=True):
        qtbot.addWidget(canvas)
        canvas.resize(*size)
        canvas.show()
        canvas.show_image(path)
    qtbot.waitUntil(lambda: all(canvas.has_image for canvas in found), timeout=LONG_MS)
    yield found
    for canvas in found:
        canvas.stop()


def wheel(canvas: ImageCanvas, notches: int, place: QPointF) -> None:
    """Turn the wheel at a point."""
    event = QWheelEvent(
        place,
        canvas.mapToGlobal(place),
        QPoint(),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(canvas, event)


def in_the_middle(canvas: ImageCanvas) -> tuple[float, float]:
    """The centre of the canvas in shares of the picture's width and height."""
    target, middle = canvas.target(), QPointF(canvas.width() / 2, canvas.height() / 2)
    return (middle.x() - target.left()) / target.width(), (
        middle.y() - target.top()
    ) / target.height()


def test_the_same_place_is_in_the_middle_of_all(canvases: list[ImageCanvas]) -> None:
    """All canvases larger than the area share the centre; none is moved beyond its edges."""
    lock = LockedCanvases(canvases)
    wheel(canvases[0], 28, QPointF(250, 210))
    x, y = in_the_middle(canvases[0])
    assert x != pytest.approx(0.5, abs=0.01)
    assert {canvas.view for canvas in canvases} == {canvases[0].view}
    assert in_the_middle(canvases[1]) == pytest.approx((x, y), abs=1e-6)
    assert in_the_middle(canvases[2])[0] == pytest.approx(x, abs=1e-6)
    lock.set_locked(False, canvases[0])
    wheel(canvases[1], -40, QPointF(10, 10))
    assert canvases[0].view.zoom > 1
    assert canvases[1].view.zoom < canvases[0].view.zoom


def test_an_axis_with_room_for_all_keeps_the_place_of_the_others(
    canvases: list[ImageCanvas],
) -> None:
    """The wide photo cannot move vertically: the tall one keeps its position."""
    LockedCanvases(canvases[:2], canvases[0])
    for canvas in canvases[:2]:
        canvas.show_view(SharedView(2.0, 0.5, 0.8))
    before = in_the_middle(canvases[1])
    canvases[0].move_by(1, 0)
    assert in_the_middle(canvases[1])[1] == pytest.approx(before[1])


def test_a_view_is_taken_when_the_picture_comes(qtbot: QtBot, tmp_path: Path) -> None:
    """A view set before the picture is loaded is applied afterwards."""
    canvas = ImageCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(400, 300)
    canvas.show()
    canvas.show_image(write_jpeg(tmp_path / "late.jpg", width=800, height=600))
    canvas.show_view(SharedView(3.0, 0.3, 0.5))
    qtbot.waitUntil(lambda: canvas.has_image, timeout=LONG_MS)
    assert in_the_middle(canvas) == pytest.approx((0.3, 0.5), abs=1e-6)
    canvas.resize(600, 300)
    qtbot.waitUntil(lambda: canvas.camera.width == 600, timeout=LONG_MS)
    assert in_the_middle(canvas) == pytest.approx((0.3, 0.5), abs=1e-6)
    canvas.stop()
