"""A collection without labels says once where to begin, and one click goes there."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.image_grid.logic import Order
from app.workspace.where_to_begin import nobody_labelled
from engine.collection.state import NO_CLASS, ImageStatus
from tests.support.desk import CONTROL, Desk
from tests.support.sessions import act
from tests.support.states import many_pictures
from tests.support.widgets import button


@pytest.fixture
def unlabelled(reviewing: Desk) -> Desk:
    """The small collection, without any of its labels."""
    labelled = reviewing.state.image_ids[reviewing.state.label_class != NO_CLASS].tolist()
    act(reviewing.qtbot, reviewing.window.session, lambda project: project.unlabel(labelled))
    return reviewing


def test_one_click_teaches_first(unlabelled: Desk) -> None:
    """The notice names the order, the click chooses it, and it does not come again."""
    notice = unlabelled.window.workspace.where_to_begin.notice
    assert notice.isVisible()
    QTest.mouseClick(button(notice, "Teach first"), Qt.MouseButton.LeftButton)
    unlabelled.wait(lambda: unlabelled.state.teach_rank is not None)
    assert unlabelled.window.workspace.model.order is Order.TEACH_FIRST
    assert not notice.isVisible()
    state = unlabelled.state
    assert state.teach_rank is not None
    assert unlabelled.window.workspace.model.image_ids[0] == state.image_ids[state.teach_rank.argmin()]


def test_the_first_label_ends_it(unlabelled: Desk) -> None:
    """Who has begun needs no advice, nor after an undo."""
    notice = unlabelled.window.workspace.where_to_begin.notice
    unlabelled.choose(0)
    unlabelled.press_for_change(Qt.Key.Key_U)
    assert not notice.isVisible()
    unlabelled.press_for_change(Qt.Key.Key_Z, CONTROL)
    assert not notice.isVisible()


def test_where_there_are_labels(reviewing: Desk) -> None:
    """Nothing is said."""
    assert not reviewing.window.workspace.where_to_begin.notice.isVisible()


def test_when_it_helps() -> None:
    """Many images, all read, none labelled."""
    state = many_pictures(40)
    assert nobody_labelled(state)
    assert not nobody_labelled(many_pictures(20))
    assert not nobody_labelled(replace(state, label_class=np.array([3, *[NO_CLASS] * 39])))
    waiting = np.array([ImageStatus.WAITING, *[ImageStatus.READY] * 39], dtype=np.uint8)
    assert not nobody_labelled(replace(state, status=waiting))
    assert not nobody_labelled(replace(state, is_list_only=True))
