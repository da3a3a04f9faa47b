"""Building a graph by keyboard alone: each key goes to the focused widget."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.support.desk import ALT, CONTROL, NO_KEYS, SHIFT, Desk
from tests.support.graph_stories import (
    BRANCHES,
    FURTHER_PARENTS,
    chosen,
    content,
    empty_project,
    try_history,
    type_name,
    wait_for_change,
    wait_until_chosen,
)

Key = Qt.Key
MOST_PANES = 3
MOST_PRESSES = 60


def press(desk: Desk, key: Key, keys: Qt.KeyboardModifier = NO_KEYS) -> None:
    """Press a key on the focused widget, so that shortcuts of the window apply."""
    target = QApplication.focusWidget() or desk.window
    QTest.keyClick(target, key, keys)


def go_to_classes(desk: Desk) -> None:
    """Move the focus to the classes with F6."""
    for _ in range(MOST_PANES):
        press(desk, Key.Key_F6)
        focus = QApplication.focusWidget()
        tree = desk.window.tree
        if focus is not None and tree.isAncestorOf(focus) and focus is not tree.subset_list:
            return
    raise AssertionError("the classes were not reached")


def make(desk: Desk, name: str, key: Key, keys: Qt.KeyboardModifier = CONTROL) -> None:
    """Press a key that creates a class, its name, Enter."""
    press(desk, key, keys)
    field = type_name(desk, name)
    wait_for_change(desk, lambda: QTest.keyClick(field, Key.Key_Return))
    wait_until_chosen(desk, name)


def go_to(desk: Desk, name: str, key: Key) -> None:
    """Walk through the tree with an arrow key."""
    for _ in range(MOST_PRESSES):
        if chosen(desk) == name:
            return
        press(desk, key)
    raise AssertionError(f"{name} was not reached")


def choose_in_palette(desk: Desk, text: str) -> None:
    """Type into the palette, and choose the first row."""
    field = type_name(desk, text)
    wait_for_change(desk, lambda: QTest.keyClick(field, Key.Key_Return))


def make_branches(desk: Desk, root: str) -> None:
    """Make the branches below a root and their leaves; the root stays selected."""
    for branch, (first, *others) in BRANCHES[root].items():
        make(desk, branch, Key.Key_N)
        make(desk, first, Key.Key_N)
        for leaf in others:
            make(desk, leaf, Key.Key_Return)
        go_to(desk, root, Key.Key_Left)


@pytest.mark.slow
def test_thirty_classes_by_keyboard(desk: Desk, tmp_path: Path) -> None:
    """Children, siblings and parents, a typo, a wrong parent, a superfluous class, two links."""
    path = tmp_path / "keys.protoleaf"
    empty_project(desk, path)
    before = content(desk)
    go_to_classes(desk)
    make(desk, "Animal", Key.Key_N)
    go_to_classes(desk)
    make_branches(desk, "Animal")
    make(desk, "Plamt", Key.Key_Return)  # next to Animal, with a typo
    press(desk, Key.Key_F2)
    choose_in_palette(desk, "Plant")
    make_branches(desk, "Plant")
    make_instruments_from_below(desk)
    for child, parent in FURTHER_PARENTS:
        go_to(desk, "Instrument", Key.Key_Up)
        go_to(desk, child, Key.Key_Down)
        press(desk, Key.Key_L, CONTROL)
        choose_in_palette(desk, parent)
    try_history(
        desk,
        path,
        before,
        undo=lambda at: press(at, Key.Key_Z, CONTROL),
        redo=lambda at: press(at, Key.Key_Z, CONTROL | SHIFT),
    )


def make_instruments_from_below(desk: Desk) -> None:
    """Make a parent above three roots; one leaf at a wrong position, and a superfluous class."""
    for branch, leaves in BRANCHES["Instrument"].items():
        make(desk, branch, Key.Key_Return, CONTROL | Qt.KeyboardModifier.AltModifier)
        for leaf in leaves:
            make(desk, leaf, Key.Key_N)
            go_to(desk, branch, Key.Key_Left)
    go_to(desk, "Keyboard", Key.Key_Up)
    for branch in ("String", "Wind"):  # Plant is between them, and is skipped
        add_to_choice(desk, branch)
    make(desk, "Instrument", Key.Key_Return, CONTROL | SHIFT)
    make(desk, "Drum", Key.Key_N)
    wait_for_change(desk, lambda: press(desk, Key.Key_Delete))
    go_to(desk, "Instrument", Key.Key_Up)
    go_to(desk, "Wind", Key.Key_Down)
    press(desk, Key.Key_Right)
    go_to(desk, "Flute", Key.Key_Down)
    for place in ("String", "Wind"):
        press(desk, Key.Key_M, CONTROL | ALT)
        choose_in_palette(desk, place)


def add_to_choice(desk: Desk, name: str) -> None:
    """Move on with Ctrl, which does not select, and add a class with Ctrl and space."""
    view = desk.window.tree.front
    for _ in range(MOST_PRESSES):
        if view.currentIndex().data() == name:
            break
        press(desk, Key.Key_Down, CONTROL)
    press(desk, Key.Key_Space, CONTROL)
    assert name in [index.data() for index in view.selected_rows]
