"""Classes copied, cut and pasted by keys, within a project and between projects."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit

from engine.graph.class_attributes import ClassAttributes
from engine.project import ClassPolicy
from tests.app.class_editing.test_controller import choose_class, parents_of
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.sessions import act, create_project, recorded

Key = Qt.Key


@pytest.fixture(autouse=True)
def clean_clipboard() -> Iterator[None]:
    """Clear the clipboard, which all tests share."""
    yield
    QGuiApplication.clipboard().clear()


def copy(desk: Desk, key: Qt.Key = Key.Key_C) -> str:
    """Press Ctrl+C or Ctrl+X and wait for the clipboard; returns the toast."""
    QGuiApplication.clipboard().clear()
    desk.press(key, CONTROL)
    desk.wait(lambda: bool(QGuiApplication.clipboard().text()))
    return desk.window.toast.message


@pytest.mark.slow
def test_a_branch_is_copied_into_another_project(reviewing: Desk, tmp_path: Path) -> None:
    """A copy has synonyms, note, colour and threshold, but no labels; one undo removes it."""
    session, red = reviewing.window.session, reviewing.graph.find("Red")
    act(
        reviewing.qtbot,
        session,
        lambda project: project.classes.set_attributes([red], source_id="n1", synonyms=("Rouge",)),
    )
    act(
        reviewing.qtbot,
        session,
        lambda project: project.classes.set_attributes([red], note="Warm.", colour="#aa0000"),
    )
    act(reviewing.qtbot, session, lambda project: project.policies.set(red, ClassPolicy(0.9)))
    choose_class(reviewing, "Red")
    assert copy(reviewing) == "Copied Red"
    create_project(reviewing.qtbot, session, tmp_path / "other.protoleaf")
    reviewing.press(Key.Key_5, Qt.KeyboardModifier.AltModifier)
    reviewing.press(Key.Key_V, CONTROL)
    reviewing.wait(lambda: len(reviewing.graph) == 4)
    graph = reviewing.graph
    red = graph.find("Red")
    assert [graph.name(child) for child in graph.children(red)] == [
        "Red checks",
        "Red disc",
        "Red stripes",
    ]
    reviewing.wait(lambda: reviewing.window.tree.selected_class == red)
    answers: list[object] = []
    session.ask(
        lambda live: (
            dict(live.project.classes.graph.all_attributes()),
            live.project.policies.by_class(),
        ),
        answers.append,
        owner=session,
    )
    reviewing.wait(lambda: bool(answers))
    assert answers == [
        (
            {red: ClassAttributes("n1", ("Rouge",), "Warm.", "#aa0000", bar=0.9)},
            {red: ClassPolicy(0.9)},
        )
    ]
    assert graph.attributes(red).synonyms == ("Rouge",)
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    assert len(graph) == 0


def test_classes_are_pasted_into_a_project_that_has_none(reviewing: Desk, tmp_path: Path) -> None:
    """In a new project there is no tree that could have the focus."""
    choose_class(reviewing, "Red")
    copy(reviewing)
    create_project(reviewing.qtbot, reviewing.window.session, tmp_path / "other.protoleaf")
    reviewing.press(Key.Key_V, CONTROL)
    reviewing.wait(lambda: len(reviewing.graph) == 4)
    assert reviewing.graph.find("Red disc") in reviewing.graph.children(reviewing.graph.find("Red"))


@pytest.mark.slow
def test_what_was_cut_moves_when_it_is_pasted(reviewing: Desk) -> None:
    """Two at once; they stay until the paste, and a second paste makes a copy."""
    choose_class(reviewing, "Red checks")
    reviewing.press(Key.Key_Down, SHIFT)
    assert copy(reviewing, Key.Key_X) == "Cut 2 classes. Paste to move them."
    assert parents_of(reviewing, "Red disc") == {"Red"}
    choose_class(reviewing, "Green")
    change = reviewing.press_for_change(Key.Key_V, CONTROL)
    assert change.text == "Moved 2 classes to Green"
    assert parents_of(reviewing, "Red disc") == parents_of(reviewing, "Red checks") == {"Green"}
    choose_class(reviewing, "Green")
    reviewing.press_for_change(Key.Key_V, CONTROL)
    names = [
        reviewing.graph.name(child)
        for child in reviewing.graph.children(reviewing.graph.find("Green"))
    ]
    assert {"Red disc", "Red disc (2)", "Red checks", "Red checks (2)"} <= set(names)


@pytest.mark.slow
def test_what_was_cut_cannot_go_below_itself(reviewing: Desk) -> None:
    """The same sentence as while dragging; nothing changes."""
    changes = recorded(reviewing.window.session.change_made)
    choose_class(reviewing, "Red")
    copy(reviewing, Key.Key_X)
    choose_class(reviewing, "Red disc")
    reviewing.press(Key.Key_V, CONTROL)
    reviewing.wait(
        lambda: reviewing.window.toast.message == "Red cannot be its own ancestor: Red > Red disc"
    )
    assert changes == []


@pytest.mark.slow
def test_foreign_text_is_not_pasted(reviewing: Desk) -> None:
    """A message names the alternative; text that resembles classes is rejected by the engine."""
    changes = recorded(reviewing.window.session.change_made)
    choose_class(reviewing, "Red")
    QGuiApplication.clipboard().setText("Some words from a letter")
    reviewing.press(Key.Key_V, CONTROL)
    assert (
        reviewing.window.toast.message
        == "No class was copied. Choose classes and press Ctrl+C first."
    )
    QGuiApplication.clipboard().setText('{"protoleaf": "classes", "classes": [')
    reviewing.press(Key.Key_V, CONTROL)
    reviewing.wait(lambda: "No class was copied" not in reviewing.window.toast.message)
    assert changes == []


@pytest.mark.slow
def test_text_fields_keep_their_own_copy_and_paste(reviewing: Desk) -> None:
    """In the filter field Ctrl+V pastes text, although it is next to the tree."""
    choose_class(reviewing, "Red")
    QGuiApplication.clipboard().setText("disc")
    reviewing.window.tree.focus_filter()
    reviewing.press(Key.Key_V, CONTROL)
    (field,) = reviewing.window.tree.findChildren(QLineEdit)
    assert field.text() == "disc"
