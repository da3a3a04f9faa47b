"""Building a graph by mouse alone: buttons, menus and drags; only names are typed."""

from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListWidget, QMenu

from tests.support.clicks import choose, click, menu_at
from tests.support.desk import CONTROL, Desk
from tests.support.graph_stories import (
    BRANCHES,
    FURTHER_PARENTS,
    content,
    empty_project,
    try_history,
    type_name,
    wait_for_change,
    wait_until_chosen,
)
from tests.support.hand import Hand, Spot
from tests.support.widgets import button

TALL = 1400
"""Pixels: high enough for all rows, without scrolling."""


def row(desk: Desk, name: str, parent: str = "") -> Spot:
    """The centre of a class's visible row, below a given parent."""
    view = desk.window.tree.front
    rows = view.model().indexes_of(desk.graph.find(name))  # type: ignore[attr-defined]
    index = next(each for each in rows if not parent or each.parent().data() == parent)
    rect = view.visualRect(index)
    assert view.viewport().rect().contains(rect), f"{name} is not in sight"
    return Spot(view.viewport(), rect.center())


def below_all(desk: Desk) -> Spot:
    """The area below the rows."""
    viewport = desk.window.tree.front.viewport()
    return Spot(viewport, QPoint(viewport.width() // 2, viewport.height() - 6))


def name_it(desk: Desk, name: str) -> None:
    """Type a name, and click the palette's row that creates the class."""
    type_name(desk, name)
    offered = desk.window.palette_panel.findChild(QListWidget)
    assert isinstance(offered, QListWidget)
    place = offered.visualItemRect(offered.item(0)).center()
    wait_for_change(desk, lambda: click(offered.viewport(), place))


def make_under(desk: Desk, parent: str, name: str) -> None:
    """With the context menu of the parent."""
    spot = row(desk, parent)
    choose(menu_at(spot.widget, spot.point), f"New class under {parent}…")
    name_it(desk, name)
    wait_until_chosen(desk, name)


def make_at_top(desk: Desk, name: str) -> None:
    """With the context menu below all rows."""
    spot = below_all(desk)
    choose(menu_at(spot.widget, spot.point), "New class at the top level…")
    name_it(desk, name)
    wait_until_chosen(desk, name)


def drag(desk: Desk, hand: Hand, source: Spot, target: Spot, keys: Qt.KeyboardModifier) -> None:
    """Drag rows, and wait for the change of the graph."""
    wait_for_change(desk, lambda: hand.drag(source, target, keys=keys))


def choose_in_bar(desk: Desk, name: str) -> None:
    """Open the menu Edit, and click Undo or Redo."""
    bar = desk.window.menuBar()
    edit = next(each for each in bar.actions() if each.text() == "&Edit")
    click(bar, bar.actionGeometry(edit).center())
    menu = edit.menu()
    assert isinstance(menu, QMenu)
    desk.wait(menu.isVisible)
    action = desk.window.registry.action(name)
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())


@pytest.mark.slow
def test_thirty_classes_by_mouse(desk: Desk, hand: Hand, tmp_path: Path) -> None:
    """Created by button and menus, moved together, linked by Ctrl-drag; a cycle is rejected."""
    path = tmp_path / "mouse.protoleaf"
    empty_project(desk, path)
    desk.window.resize(1200, TALL)
    before = content(desk)
    click(button(desk.window.tree, "New class"))
    name_it(desk, "Animal")
    for root, branches in BRANCHES.items():
        if root != "Animal":
            make_at_top(desk, root)
        for branch, leaves in branches.items():
            make_under(desk, root, branch)
            for leaf in leaves:
                make_under(desk, "Bird" if root == "Animal" else branch, leaf)
    put_animals_right(desk, hand)
    for child, parent in FURTHER_PARENTS:
        drag(desk, hand, row(desk, child), row(desk, parent), CONTROL)
    hand.drag(row(desk, "Instrument"), row(desk, "Organ", "Wind"))
    assert hand.has_carried
    assert not hand.was_dropped
    undo, redo = partial(choose_in_bar, name="undo"), partial(choose_in_bar, name="redo")
    try_history(desk, path, before, undo=undo, redo=redo)


def put_animals_right(desk: Desk, hand: Hand) -> None:
    """All leaves were made under Bird: move those of the other two, two at a time."""
    for branch in ("Fish", "Mammal"):
        first, second = BRANCHES["Animal"][branch]
        hand.click(row(desk, first))
        hand.click(row(desk, second), CONTROL)
        drag(desk, hand, row(desk, first), row(desk, branch), Qt.KeyboardModifier.NoModifier)
