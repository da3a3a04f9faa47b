"""The order "Teach first": before any label, after some, in the next project, off elsewhere."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox

from engine.collection.state import NO_CLASS
from tests.support.collections import Collection
from tests.support.desk import Desk
from tests.support.sessions import act


def order_box(desk: Desk) -> QComboBox:
    """The combo box of orders above the grid."""
    (box,) = desk.window.workspace.header.findChildren(QComboBox)
    return box


def choose_teach_first(desk: Desk) -> None:
    """Choose the first order of the list, and wait for the ranks."""
    QTest.keyClick(order_box(desk), Qt.Key.Key_Home)
    desk.wait(lambda: desk.state.teach_rank is not None and desk.window.session.is_settled)


def shown(desk: Desk) -> list[int]:
    """Images of the grid, in order."""
    return desk.window.workspace.model.image_ids.tolist()


def by_rank(desk: Desk) -> list[int]:
    """Unlabelled images by teach rank."""
    state = desk.state
    assert state.teach_rank is not None
    free = np.flatnonzero(state.label_class == NO_CLASS)
    return state.image_ids[free[np.argsort(state.teach_rank[free], kind="stable")]].tolist()


def test_nobody_asked(reviewing: Desk) -> None:
    """Other orders do not compute teach ranks."""
    assert reviewing.state.teach_rank is None
    reviewing.press(Qt.Key.Key_Right)
    assert reviewing.state.teach_rank is None


@pytest.mark.slow
def test_before_any_label(reviewing: Desk) -> None:
    """A collection without labels has ranks, too; the order has a tooltip, and can be changed."""
    labelled = reviewing.state.image_ids[reviewing.state.label_class != NO_CLASS].tolist()
    act(reviewing.qtbot, reviewing.window.session, lambda project: project.labels.remove(labelled))
    before = shown(reviewing)
    choose_teach_first(reviewing)
    assert shown(reviewing) == by_rank(reviewing)
    assert shown(reviewing) != before
    assert len(shown(reviewing)) == 64
    assert "labels help most" in order_box(reviewing).toolTip()
    QTest.keyClick(order_box(reviewing), Qt.Key.Key_End)
    assert shown(reviewing) == sorted(before)
    assert order_box(reviewing).toolTip() == ""


@pytest.mark.slow
def test_keys_mean_images_after_an_order_was_chosen(reviewing: Desk) -> None:
    """The combo box returns the focus to the grid."""
    order_box(reviewing).setFocus()
    choose_teach_first(reviewing)
    assert reviewing.grid.hasFocus()
    image_id = reviewing.grid.current_id
    assert image_id is not None
    reviewing.press(Qt.Key.Key_U)
    assert reviewing.label_of(image_id) == "?"


@pytest.mark.slow
def test_labels_are_given_in_peace(reviewing: Desk) -> None:
    """A labelled card leaves and the others stay, until they are sorted again by new ranks."""
    choose_teach_first(reviewing)
    first = shown(reviewing)
    assert reviewing.choose(0) == first[0]
    reviewing.press_for_change(Qt.Key.Key_2)
    reviewing.wait(lambda: reviewing.window.session.is_settled)
    assert shown(reviewing) == first[1:]
    QTest.keyClick(order_box(reviewing), Qt.Key.Key_End)
    choose_teach_first(reviewing)
    assert shown(reviewing) == by_rank(reviewing)


@pytest.mark.slow
def test_the_next_project_has_it_too(desk: Desk, collection: Collection) -> None:
    """The order is stored; the opened project computes ranks at once."""
    QTest.keyClick(order_box(desk), Qt.Key.Key_Home)
    desk.open(collection.project)
    desk.wait(lambda: desk.state.teach_rank is not None)
    desk.window.registry.trigger("show_to_review")
    assert shown(desk) == by_rank(desk)
