"""The image view by mouse and keys: loading, zooming, moving, next and previous."""

import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.canvas.canvas import PIXEL_STEP
from app.image_view.canvas import LARGEST_ZOOM, NOTCH_STEP, ImageCanvas, decode
from app.image_view.view import ImageView
from engine.file_parts import ImageSource
from tests.support.clipping import clipped
from tests.support.desk import CONTROL, NO_KEYS
from tests.support.images import encoded, picture, write_jpeg
from tests.support.sessions import LONG_MS, recorded
from tests.support.widgets import button, texts

Key = Qt.Key
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[ImageView]:
    """A visible image view."""
    view = ImageView()
    qtbot.addWidget(view)
    view.resize(600, 400)
    view.show()
    view.activateWindow()
    qtbot.waitExposed(view, timeout=LONG_MS)
    view.setFocus()
    yield view
    view.stop()


@pytest.fixture
def large(qtbot: QtBot, view: ImageView, tmp_path: Path) -> ImageCanvas:
    """An image of 1,200 x 900 pixels in a view of half that size."""
    show(qtbot, view, write_jpeg(tmp_path / "a.jpg", width=1200, height=900))
    return view.canvas


def show(qtbot: QtBot, view: ImageView, path: Path) -> None:
    """Show an image and wait until it is loaded."""
    view.show_image(path, place=7, count=186)
    qtbot.waitUntil(lambda: view.has_image, timeout=LONG_MS)


def wheel(canvas: ImageCanvas, degrees: int, place: QPointF) -> None:
    """Turn the wheel at a point."""
    event = QWheelEvent(
        place,
        canvas.mapToGlobal(place),
        QPoint(),
        QPoint(0, degrees),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(canvas, event)


def test_an_image_is_shown_fitted(qtbot: QtBot, view: ImageView, tmp_path: Path) -> None:
    """A fitted image is fully visible, in proportion and centred."""
    show(qtbot, view, write_jpeg(tmp_path / "a.jpg", width=1200, height=300))
    target = view.canvas.target()
    assert target.width() / target.height() == pytest.approx(4)
    assert view.canvas.rect().contains(target.toAlignedRect())
    assert target.center().x() == pytest.approx(view.canvas.rect().center().x(), abs=1)
    assert not view.grab().toImage().isNull()


def test_the_bar_says_which_image_it_is(qtbot: QtBot, view: ImageView, tmp_path: Path) -> None:
    """Position, name and scale; a name of 200 letters is elided."""
    path = write_jpeg(tmp_path / f"{'long ' * 40}.jpg", width=1200, height=900)
    show(qtbot, view, path)
    lines = texts(view.bar).splitlines()
    assert "7 of 186" in lines
    assert path.name in lines
    assert f"{round(100 * view.canvas.scale)}%" in lines
    assert view.width() == 600
    QTest.qWait(0)
    assert [text for text in clipped(view.bar) if text != path.name] == []


def test_the_first_of_several_pages_says_so(qtbot: QtBot, view: ImageView, tmp_path: Path) -> None:
    """For a scan of three pages the bar says that only the first is shown."""
    frames = [Image.fromarray(picture(seed=seed)) for seed in range(3)]
    path = tmp_path / "scan.tif"
    path.write_bytes(encoded(frames[0], "TIFF", save_all=True, append_images=frames[1:]))
    show(qtbot, view, path)
    qtbot.waitUntil(view.bar.pages.isVisible, timeout=LONG_MS)
    assert "First of 3 pages" in texts(view.bar).splitlines()
    assert [text for text in clipped(view.bar) if text != path.name] == []
    view.step_requested.connect(
        lambda _step: view.show_image(write_jpeg(tmp_path / "a.jpg"), place=8, count=186)
    )
    QTest.keyClick(view, Key.Key_PageDown)
    assert not view.bar.pages.isVisible()
    qtbot.waitUntil(lambda: view.has_image, timeout=LONG_MS)
    assert not view.bar.pages.isVisible()


def test_the_image_does_not_wait_for_its_pages(
    qtbot: QtBot, view: ImageView, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counting thousands of pages may take long; the first page is shown meanwhile."""
    may_count = threading.Event()
    monkeypatch.setattr(
        "engine.images.photo_facts.page_count",
        lambda _path: 4321 if may_count.wait(LONG_MS / 1000) else 0,
    )
    show(qtbot, view, write_jpeg(tmp_path / "a.jpg"))
    assert not view.bar.pages.isVisible()
    may_count.set()
    qtbot.waitUntil(view.bar.pages.isVisible, timeout=LONG_MS)


def test_what_cannot_be_read_says_why(qtbot: QtBot, view: ImageView, tmp_path: Path) -> None:
    """A broken file gives one short sentence in the centre, and nothing to zoom."""
    path = tmp_path / "broken.jpg"
    path.write_text("no picture", encoding="utf-8")
    view.show_image(path)
    qtbot.waitUntil(lambda: bool(view.canvas.message), timeout=LONG_MS)
    assert view.canvas.message == "Not an image: text."
    assert not view.has_image
    assert not button(view, "Zoom in").isEnabled()
    QTest.keyClick(view, Key.Key_Plus)
    view.grab()


def test_a_late_image_does_not_replace_the_one_that_is_wanted(
    qtbot: QtBot, view: ImageView, tmp_path: Path
) -> None:
    """The last requested image is shown, whichever was decoded last."""
    first = write_jpeg(tmp_path / "first.jpg", width=900, height=900)
    second = write_jpeg(tmp_path / "second.jpg", width=64, height=32)
    view.show_image(first)
    view.show_image(second)
    for thread in threading.enumerate():
        if thread.name == "image-view":
            thread.join()
    qtbot.waitUntil(lambda: view.has_image, timeout=LONG_MS)
    assert view.canvas.target().width() == 2 * view.canvas.target().height()


def test_the_wheel_zooms_around_the_pointer(large: ImageCanvas) -> None:
    """The point under the pointer stays fixed; zoom is bounded; zoomed out it fits again."""
    before = large.target()
    place = before.topLeft() + QPointF(90, 70)
    spot = ((place.x() - before.x()) / before.width(), (place.y() - before.y()) / before.height())
    wheel(large, 1200, place)
    after = large.target()
    assert after.width() == pytest.approx(before.width() * NOTCH_STEP**10)
    assert after.x() + spot[0] * after.width() == pytest.approx(place.x(), abs=2)
    assert after.y() + spot[1] * after.height() == pytest.approx(place.y(), abs=2)
    for _ in range(40):
        wheel(large, 120, place)
    assert large.target().width() == pytest.approx(before.width() * LARGEST_ZOOM)
    for _ in range(50):
        wheel(large, -120, place)
    assert large.target() == before


def test_three_notches_of_the_wheel_enlarge_by_a_third(large: ImageCanvas) -> None:
    """Each notch zooms by a factor of 1.1."""
    scales = [large.scale]
    for _ in range(3):
        wheel(large, 120, QPointF(200, 150))
        scales.append(large.scale)
    assert scales[-1] / scales[0] == pytest.approx(1.331)
    assert max(after / before for before, after in pairwise(scales)) == pytest.approx(1.1)


def test_a_touchpad_zooms_by_its_pixels_around_the_pointer(large: ImageCanvas) -> None:
    """Zoom follows pixels, not the driver's angle; the point under the pointer stays fixed."""
    # Far enough inside that no edge of the image appears.
    before, place = (large.target(), QPointF(280, 170))
    spot = (place.x() - before.x()) / before.width()
    for phase in (Qt.ScrollPhase.ScrollBegin, Qt.ScrollPhase.ScrollUpdate):
        event = QWheelEvent(
            place,
            large.mapToGlobal(place),
            QPoint(0, 120),
            QPoint(0, 4800),
            Qt.MouseButton.NoButton,
            NO_KEYS,
            phase,
            False,
        )
        QApplication.sendEvent(large, event)
    after = large.target()
    assert after.width() / before.width() == pytest.approx(PIXEL_STEP**240)
    assert after.width() < 3 * before.width()
    assert after.x() + spot * after.width() == pytest.approx(place.x(), abs=2)


@pytest.mark.parametrize(
    ("begin", "is_fitted"),
    [
        (lambda view: QTest.keyClick(view, Key.Key_Z), False),
        (lambda view: QTest.mouseClick(button(view, "Actual size"), LEFT), False),
        (lambda view: [QTest.keyClick(view, key) for key in (Key.Key_Plus, Key.Key_0)], True),
        (lambda view: [QTest.keyClick(view, key) for key in (Key.Key_Z, Key.Key_Z)], True),
        (
            lambda view: [
                QTest.mouseClick(button(view, name), LEFT) for name in ("Zoom in", "Fit to")
            ],
            True,
        ),
        (lambda view: [QTest.keyClick(view, key) for key in (Key.Key_Plus, Key.Key_Minus)], True),
    ],
)
def test_keys_and_buttons_zoom(
    view: ImageView, large: ImageCanvas, begin: object, is_fitted: bool
) -> None:
    """Actual size is one image pixel per screen pixel; 0 and its button fit the image."""
    fitted = large.scale
    assert fitted < 0.5
    begin(view)  # type: ignore[operator]
    assert large.scale == pytest.approx(fitted if is_fitted else 1.0)
    assert f"{round(100 * large.scale)}%" in texts(view.bar)
    assert view.focusWidget() is view


def test_a_zoomed_image_is_moved_and_stays_in_the_room(view: ImageView, large: ImageCanvas) -> None:
    """Dragging and arrows move it up to its edge; there an arrow goes to the next image."""
    steps = recorded(view.step_requested)
    QTest.keyClick(view, Key.Key_Z)
    before = large.target()
    QTest.mousePress(large, LEFT, pos=QPoint(300, 200))
    QTest.mouseMove(large, QPoint(260, 190))
    QTest.mouseRelease(large, LEFT, pos=QPoint(260, 190))
    assert large.target().topLeft() == before.topLeft() + QPointF(-40, -10)
    for _press in range(20):
        QTest.keyClick(view, Key.Key_Left)
    assert large.target().left() == pytest.approx(large.rect().left() + 16)
    assert steps == []
    QTest.keyClick(view, Key.Key_0)
    QTest.keyClick(view, Key.Key_Left)
    assert steps == [(-1,)]


def test_keys_and_buttons_go_on_and_back(qtbot: QtBot, view: ImageView) -> None:
    """Arrows and page keys go to neighbours; Esc, Space, close button, double click to the grid."""
    steps, left = recorded(view.step_requested), recorded(view.left)
    view.bar.show_place("a.jpg", 2, 3)
    for key in (Key.Key_Right, Key.Key_Left, Key.Key_PageDown, Key.Key_PageUp):
        qtbot.keyClick(view, key)
    QTest.mouseClick(button(view, "Next"), LEFT)
    QTest.mouseClick(button(view, "Previous"), LEFT)
    for key in (Key.Key_Escape, Key.Key_Space):
        qtbot.keyClick(view, key)
    QTest.mouseClick(button(view, "Back to all"), LEFT)
    QTest.mouseDClick(view.canvas, LEFT)
    assert steps == [(1,), (-1,)] * 3
    assert len(left) == 4


@pytest.mark.parametrize(
    ("place", "first", "last"), [(1, True, False), (3, False, True), (2, False, False)]
)
def test_at_the_ends_there_is_no_way_on(
    view: ImageView, place: int, first: bool, last: bool
) -> None:
    """The buttons are disabled."""
    view.bar.show_place("a.jpg", place, 3)
    assert button(view, "Previous").isEnabled() is not first
    assert button(view, "Next").isEnabled() is not last


def test_decoding_turns_an_image_upright(tmp_path: Path) -> None:
    """Pixels come as the engine reads them, with EXIF orientation."""
    found = decode(ImageSource(write_jpeg(tmp_path / "a.jpg", width=60, height=40)))
    assert isinstance(found, QImage)
    assert (found.width(), found.height()) == (60, 40)
    assert isinstance(decode(ImageSource(tmp_path / "missing.jpg")), str)


@pytest.mark.parametrize(
    ("key", "modifiers"), [(Key.Key_BracketRight, NO_KEYS), (Key.Key_Right, CONTROL)]
)
def test_the_view_is_turned_and_the_file_is_not(
    qtbot: QtBot, view: ImageView, tmp_path: Path, key: Qt.Key, modifiers: Qt.KeyboardModifier
) -> None:
    """A quarter swaps the sides, four are none; rotation is stored per image, not in the file."""
    path = write_jpeg(tmp_path / "a.jpg", width=1200, height=400)
    before = path.read_bytes()
    show(qtbot, view, path)
    wide = view.canvas.target()
    QTest.keyClick(view, key, modifiers)
    tall = view.canvas.target()
    assert tall.height() / tall.width() == pytest.approx(wide.width() / wide.height(), rel=0.01)
    show(qtbot, view, write_jpeg(tmp_path / "b.jpg", width=1200, height=400))
    assert view.canvas.turns == 0
    show(qtbot, view, path)
    assert view.canvas.turns == 1
    QTest.keyClick(view, Key.Key_BracketLeft)
    assert view.canvas.target() == wide
    button(view, "Rotate left").click()
    assert view.canvas.turns == 3
    assert path.read_bytes() == before


def test_a_turned_picture_is_painted_turned(qtbot: QtBot, view: ImageView, tmp_path: Path) -> None:
    """The top is at the right after a quarter clockwise."""
    image = Image.new("RGB", (400, 400), "white")
    image.paste("red", (0, 0, 400, 200))
    image.save(tmp_path / "half.png")
    show(qtbot, view, tmp_path / "half.png")
    view.canvas.rotate(1)
    seen, target = view.canvas.grab().toImage(), view.canvas.target()
    left, right = target.left() + target.width() / 4, target.right() - target.width() / 4
    middle = round(target.center().y())
    assert seen.pixelColor(round(right), middle).green() < 50
    assert seen.pixelColor(round(left), middle).green() > 200
