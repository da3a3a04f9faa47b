"""One image alone: loading, zooming, going on and back."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from pytestqt.qtbot import QtBot

from app.image_view.view import LARGEST_ZOOM, ImageView, decode
from tests.support.images import write_jpeg
from tests.support.sessions import recorded


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[ImageView]:
    """A view on the screen."""
    view = ImageView()
    qtbot.addWidget(view)
    view.resize(600, 400)
    view.show()
    yield view
    view.stop()


def show(qtbot: QtBot, view: ImageView, path: Path) -> None:
    """Show an image and wait until it is there."""
    view.show_image(path)
    qtbot.waitUntil(lambda: view.has_image)


def wheel(view: ImageView, degrees: int, place: QPointF) -> None:
    """Turn the wheel over a place."""
    event = QWheelEvent(
        place, place, QPoint(), QPoint(0, degrees), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    view.wheelEvent(event)


def test_an_image_is_shown_fitted(qtbot: QtBot, view: ImageView, tmp_path: Path) -> None:
    """All of it is in sight, in its own proportions, in the middle."""
    show(qtbot, view, write_jpeg(tmp_path / "a.jpg", width=1200, height=300))
    target = view.target()
    assert target.width() / target.height() == pytest.approx(4)
    assert view.rect().contains(target.toAlignedRect())
    assert target.center().x() == pytest.approx(view.rect().center().x(), abs=1)
    assert not view.grab().toImage().isNull()


def test_what_cannot_be_read_says_why(qtbot: QtBot, view: ImageView, tmp_path: Path) -> None:
    """A broken file is a sentence in the middle, no error."""
    path = tmp_path / "broken.jpg"
    path.write_text("no picture", encoding="utf-8")
    view.show_image(path)
    qtbot.waitUntil(lambda: bool(view.message))
    assert "not an image" in view.message
    assert not view.has_image
    view.grab()


def test_a_late_image_does_not_replace_the_one_that_is_wanted(qtbot: QtBot, view: ImageView, tmp_path: Path) -> None:
    """Going on quickly shows the last image, whichever was decoded last."""
    first = write_jpeg(tmp_path / "first.jpg", width=900, height=900)
    second = write_jpeg(tmp_path / "second.jpg", width=64, height=32)
    view.show_image(first)
    view.show_image(second)
    for thread in threading.enumerate():
        if thread.name == "image-view":
            thread.join()
    qtbot.waitUntil(lambda: view.has_image)
    assert view.target().width() == 2 * view.target().height()


def test_the_wheel_zooms_around_the_pointer(qtbot: QtBot, view: ImageView, tmp_path: Path) -> None:
    """The point under the pointer stays; zoom has bounds; zoomed out it is fitted again."""
    show(qtbot, view, write_jpeg(tmp_path / "a.jpg", width=600, height=400))
    place = QPointF(150, 120)
    before = view.target()
    spot = ((place.x() - before.x()) / before.width(), (place.y() - before.y()) / before.height())
    wheel(view, 240, place)
    after = view.target()
    assert after.width() > before.width()
    assert after.x() + spot[0] * after.width() == pytest.approx(place.x(), abs=2)
    assert after.y() + spot[1] * after.height() == pytest.approx(place.y(), abs=2)
    for _ in range(40):
        wheel(view, 120, place)
    assert view.target().width() == pytest.approx(before.width() * LARGEST_ZOOM)
    for _ in range(40):
        wheel(view, -120, place)
    assert view.target() == before


def test_keys_go_on_and_back(qtbot: QtBot, view: ImageView) -> None:
    """Arrows ask for the neighbours, Esc and Space for the grid."""
    steps, left = recorded(view.step_requested), recorded(view.left)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp):
        qtbot.keyClick(view, key)
    qtbot.keyClick(view, Qt.Key.Key_Escape)
    qtbot.keyClick(view, Qt.Key.Key_Space)
    assert steps == [(1,), (-1,), (1,), (-1,)]
    assert len(left) == 2


def test_decoding_turns_an_image_upright(tmp_path: Path) -> None:
    """Pixels come as the engine reads them."""
    found = decode(write_jpeg(tmp_path / "a.jpg", width=60, height=40))
    assert isinstance(found, QImage)
    assert (found.width(), found.height()) == (60, 40)
    assert isinstance(decode(tmp_path / "missing.jpg"), str)
