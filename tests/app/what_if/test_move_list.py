"""Rows of images that moved between classes: expanded, walked by keys, clicked."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QModelIndex, QPoint, QRect, Qt
from pytestqt.qtbot import QtBot

from app.images.thumbnails import Thumbnails
from app.what_if.changed_panel import FACE, GAP, FaceLayout, MoveList
from engine.collection.state import ChangedImages, ClassMove
from engine.file_parts import ImageSource
from tests.support.sessions import LONG_MS, recorded
from tests.support.states import many_pictures

Key = Qt.Key
FIVE_WIDE = 308


@pytest.mark.parametrize("images", [1, 5, 6, 1_054])
@pytest.mark.parametrize("is_open", [False, True])
def test_faces_lie_in_their_row_and_beside_one_another(images: int, is_open: bool) -> None:
    """Thumbnails do not overlap and are found by position; visible ones are whole lines."""
    faces = FaceLayout(QRect(0, 100, FIVE_WIDE, 0), 16, images, is_open)
    assert (faces.columns, faces.count) == (5, images if is_open else min(5, images))
    whole = QRect(0, 100, FIVE_WIDE, faces.height)
    rects = [faces.rect(place) for place in range(faces.count)]
    assert all(whole.contains(rect) for rect in rects)
    assert len({(rect.x(), rect.y()) for rect in rects}) == faces.count
    assert not any(first.intersects(second) for first, second in pairwise(rects))
    assert [faces.place_at(rect.center()) for rect in rects[-7:]] == list(range(faces.count))[-7:]
    assert faces.place_at(QPoint(whole.right(), whole.center().y())) == -1
    seen = QRect(0, 400, FIVE_WIDE, 200)
    in_sight = set(faces.places_in(seen))
    assert {place for place, rect in enumerate(rects) if rect.intersects(seen)} <= in_sight
    assert len(in_sight) <= 5 * (200 // (FACE + GAP) + 2)


@pytest.fixture
def listed(qtbot: QtBot, thumbnails: Thumbnails, tmp_path: Path) -> MoveList:
    """Forty images moved from class 1 to 2, and three from 2 to 3."""
    view = MoveList(thumbnails)
    qtbot.addWidget(view)
    view.resize(FIVE_WIDE + view.verticalScrollBar().sizeHint().width(), 400)
    moves = ClassMove(1, 2, np.arange(1, 41)), ClassMove(2, 3, np.arange(41, 44))
    view.show_changes(ChangedImages(moves), many_pictures(50), str)
    view.show()
    qtbot.waitExposed(view, timeout=LONG_MS)
    return view


def row(view: MoveList, number: int) -> QModelIndex:
    """A row of the list."""
    return view.model().index(number, 0)


def click(qtbot: QtBot, view: MoveList, place: QPoint) -> None:
    """Click at a point."""
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_a_click_opens_a_row_and_another_one_closes_it(qtbot: QtBot, listed: MoveList) -> None:
    """Expanded it has all of its images, each of which can be clicked."""
    wanted = recorded(listed.image_requested)
    closed = listed.visualRect(row(listed, 0))
    on_text = closed.topLeft() + QPoint(40, 12)
    click(qtbot, listed, on_text)
    opened = listed.visualRect(row(listed, 0))
    assert opened.height() > 8 * FACE > closed.height()
    assert wanted == []
    faces = listed.faces_of(row(listed, 0))
    listed.verticalScrollBar().setValue(listed.verticalScrollBar().maximum())
    moved = listed.visualRect(row(listed, 0))
    last = faces.rect(39).center() - QPoint(0, opened.top() - moved.top())
    click(qtbot, listed, last)
    assert wanted == [(40,)]
    listed.verticalScrollBar().setValue(0)
    click(qtbot, listed, on_text)
    assert listed.visualRect(row(listed, 0)) == closed


def test_keys_reach_every_image(qtbot: QtBot, listed: MoveList) -> None:
    """Right and left walk along thumbnails, expand and collapse; down is the next row."""
    wanted = recorded(listed.image_requested)
    listed.setFocus()
    closed = listed.visualRect(row(listed, 0)).height()
    for _ in range(39):
        qtbot.keyClick(listed, Key.Key_Right)
    qtbot.keyClick(listed, Key.Key_Return)
    assert wanted == [(40,)]
    seen = listed.viewport().rect()
    faces = listed.faces_of(row(listed, 0))
    assert seen.contains(faces.rect(39))
    qtbot.keyClick(listed, Key.Key_Right)
    assert listed.framed_image == 40
    for _ in range(40):
        qtbot.keyClick(listed, Key.Key_Left)
    assert listed.framed_image == 1
    assert listed.visualRect(row(listed, 0)).height() == closed
    qtbot.keyClick(listed, Key.Key_Down)
    qtbot.keyClick(listed, Key.Key_Right)
    qtbot.keyClick(listed, Key.Key_Return)
    assert wanted[-1] == (42,)


def test_only_visible_faces_are_decoded(
    qtbot: QtBot, thumbnails: Thumbnails, listed: MoveList
) -> None:
    """Of a thousand images in an expanded row only those that fit the viewport are decoded."""
    listed.show_changes(
        ChangedImages((ClassMove(1, 2, np.arange(1, 1_001)),)), many_pictures(1_000), str
    )
    asked: set[ImageSource] = set()
    real = thumbnails.pixmap

    def counting(source: ImageSource, side: int, ratio: float) -> object:
        asked.add(source)
        return real(source, side, ratio)

    thumbnails.pixmap = counting  # type: ignore[method-assign,assignment]
    click(qtbot, listed, listed.visualRect(row(listed, 0)).topLeft() + QPoint(40, 12))
    listed.viewport().repaint()
    assert 20 <= len(asked) <= 45
    qtbot.waitUntil(lambda: not thumbnails.is_busy, timeout=LONG_MS)
