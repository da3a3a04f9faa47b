"""Enter in the list of classes, a locked class list, keys of classes, the broadest class."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox

from engine.collection.state import NO_CLASS
from engine.project import Change, ClassPolicy, Project
from tests.support.collections import LEAVES, Collection
from tests.support.desk import ALT, SHIFT, Desk
from tests.support.sessions import changed_by

Key = Qt.Key


def type_name(desk: Desk, text: str) -> list[str]:
    """Press R and type; returns the titles of the rows."""
    desk.grid.setFocus()
    desk.press(Key.Key_R)
    for letter in text:
        desk.qtbot.keyClicks(desk.window.palette_panel.focusWidget(), letter)
    return [row.title for row in desk.window.palette_panel.rows]


def add(desk: Desk, *names: str) -> None:
    for name in names:
        act(desk, partial(_with_class, name))


def _with_class(name: str, project: Project) -> Change:
    return project.classes.add(name)[0]


def _with_bar(class_id: int, bar: float, project: Project) -> Change:
    return project.policies.set(class_id, ClassPolicy(bar))


def act(desk: Desk, action: Callable[[Project], Change]) -> None:
    session = desk.window.session
    changed_by(desk.qtbot, session, lambda: session.act(action))


def lock(desk: Desk, *, is_on: bool = True) -> None:
    """Toggle the lock by the menu."""
    desk.window.registry.trigger("class_rules")
    desk.type_into_palette("lock the class")
    desk.press_for_change(Key.Key_Return)
    desk.wait(lambda: desk.window.session.marks.is_locked == is_on)


def test_enter_takes_the_class_with_the_whole_word(reviewing: Desk) -> None:
    """Text "elephant" means the African elephant, not Elephantidae, as the hint below says."""
    add(reviewing, "Elephantidae", "African elephant")
    image_id = reviewing.choose(0)
    assert type_name(reviewing, "elephant")[:2] == ["African elephant", "Elephantidae"]
    palette = reviewing.window.palette_panel
    assert palette.footer_text.startswith("Enter: Label as African elephant")
    reviewing.press(Key.Key_Down)
    assert palette.footer_text.startswith("Enter: Label as Elephantidae")
    reviewing.press(Key.Key_Down)
    assert palette.footer_text.startswith("Enter: Create “elephant” top level")
    reviewing.press(Key.Key_Up)
    reviewing.press(Key.Key_Up)
    reviewing.press_for_change(Key.Key_Return)
    assert reviewing.label_of(image_id) == "African elephant"


@pytest.mark.slow
def test_a_locked_class_list_asks_before_a_new_word_makes_a_class(reviewing: Desk) -> None:
    """The nearest names come first; Esc adds nothing; "Add" creates and labels in one step."""
    lock(reviewing)
    image_id, before = reviewing.choose(0), len(reviewing.graph)
    assert type_name(reviewing, "Red dusc") == ["“Red dusc” is not in the class list…"]
    reviewing.press(Key.Key_Escape)
    assert type_name(reviewing, "Red")[-1].startswith("Red ")
    reviewing.press(Key.Key_Escape)
    assert type_name(reviewing, "Red di")[-1] == "Add “Red di” to the class list…"
    reviewing.press(Key.Key_Escape)
    type_name(reviewing, "Red dusc")
    palette = reviewing.window.palette_panel
    assert palette.footer_text.startswith("Enter: Ask whether to add “Red dusc”")
    reviewing.press(Key.Key_Return)
    titles = [row.title for row in palette.rows]
    assert (titles[0], titles[-2:]) == (
        "Red disc",
        ["Do not add it", "Add “Red dusc” to the class list"],
    )
    reviewing.press(Key.Key_Escape)
    assert (len(reviewing.graph), reviewing.label_of(image_id)) == (before, "")
    type_name(reviewing, "Red dusc")
    reviewing.press(Key.Key_Return)
    reviewing.press_for_change(Key.Key_Return)
    assert (len(reviewing.graph), reviewing.label_of(image_id)) == (before, "Red disc")
    other = reviewing.choose(0)
    type_name(reviewing, "Violet")
    reviewing.press(Key.Key_Return)
    reviewing.press(Key.Key_Down)
    reviewing.press_for_change(Key.Key_Return)
    assert (len(reviewing.graph), reviewing.label_of(other)) == (before + 1, "Violet")
    lock(reviewing, is_on=False)
    assert type_name(reviewing, "Grey") == ["Create “Grey”"]


@pytest.mark.slow
def test_an_import_of_a_long_list_locks_it_and_says_so(reviewing: Desk, tmp_path: Path) -> None:
    """More than 100 classes lock the list in the same step, undone with the classes."""
    from engine.collection.importing.import_graph import import_graph

    desk, session = reviewing, reviewing.window.session
    source = tmp_path / "list.csv"
    source.write_text(
        "class\n" + "".join(f"Kind {each}\n" for each in range(101)), encoding="utf-8"
    )
    changed_by(
        desk.qtbot,
        session,
        lambda: session.act(lambda project: import_graph(project, source).change),
    )
    desk.wait(lambda: session.marks.is_locked)
    assert (
        "Imported 101 classes from list.csv (locked the class list, as it has more than 100)"
        in (desk.window.toast.message)
    )
    desk.press_for_change(Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    desk.wait(lambda: not session.marks.is_locked)
    assert len(desk.graph) == len(LEAVES) + 3


@pytest.mark.slow
def test_alt_and_a_digit_label_as_the_class_that_was_given_the_key(reviewing: Desk) -> None:
    """Assigned in the menu of the class, shown in tree, list and card; unassigned keys explain."""
    desk, window = reviewing, reviewing.window
    desk.choose(0)
    desk.press(Key.Key_2, ALT)
    assert window.toast.message.startswith("No class has the key Alt+2.")
    window.tree.select_class(desk.graph.find("Blue disc"))
    window.registry.trigger("class_key")
    assert window.palette_panel.footer_text.startswith("Enter: Label with Alt+1 as Blue disc")
    desk.type_into_palette("Alt+2")
    assert window.palette_panel.footer_text.startswith("Enter: Label with Alt+2 as Blue disc")
    desk.press_for_change(Key.Key_Return)
    window.registry.trigger("class_key")
    assert window.palette_panel.footer_text.startswith("Enter: Label with Alt+1"), (
        "the first one that is free"
    )
    desk.press(Key.Key_Escape)
    window.registry.trigger("show_to_review")
    image_id = desk.choose(0)
    index = window.tree.front.model().indexes_of(desk.graph.find("Blue disc"))[0]  # type: ignore[attr-defined]
    from app.class_tree.row_data import KEY_ROLE

    assert index.data(KEY_ROLE) == "Alt+2"
    type_name(desk, "blue disc")
    assert window.palette_panel.rows[0].hint == "Alt+2"
    desk.press(Key.Key_Escape)
    blue = next(
        int(each)
        for each in desk.state.image_ids
        if desk.best_of(int(each)) == "Blue disc" and not desk.label_of(int(each))
    )
    card = window.workspace.model.card_of(blue)
    assert card is not None
    assert card.label_key == 2
    desk.grid.setFocus()
    desk.press_for_change(Key.Key_2, ALT)
    assert desk.label_of(image_id) == "Blue disc"


@pytest.fixture
def coarse(reviewing: Desk) -> Desk:
    """Cards name Red, Green or Blue first: no leaf reaches its threshold."""
    graph = reviewing.graph
    for name, bar in [
        *((leaf, 1.0) for leaf in LEAVES),
        *((family, 0.3) for family in ("Red", "Green", "Blue")),
    ]:
        act(reviewing, partial(_with_bar, graph.find(name), bar))
    reds = [graph.find(name) for name in ("Red", "Green", "Blue")]
    reviewing.wait(lambda: bool(set(reviewing.state.safe_class.tolist()) & set(reds)))
    return reviewing


def headline(desk: Desk, image_id: int) -> str:
    card = desk.window.workspace.model.card_of(image_id)
    assert card is not None
    return card.title


@pytest.mark.slow
def test_enter_never_labels_above_the_class_where_predictions_begin(coarse: Desk) -> None:
    """Set on the page of a class: its card asks about the class itself, and Enter agrees."""
    desk, session = coarse, coarse.window.session
    red = desk.graph.find("Red")
    place = next(
        at
        for at, each in enumerate(desk.state.safe_class.tolist())
        if each == red and desk.state.label_class[at] == NO_CLASS
    )
    image_id = int(desk.state.image_ids[place])
    desk.window.tree.select_class(desk.graph.find("Red disc"))
    desk.wait(lambda: desk.window.inspector.class_facts is not None)
    box = next(
        each
        for each in desk.window.inspector.findChildren(QCheckBox)
        if each.text() == "Don't predict broader classes"
    )
    box.setFocus()
    changed_by(desk.qtbot, session, lambda: desk.press(Key.Key_Space))
    desk.wait(lambda: not set(desk.state.safe_class.tolist()) & {red})
    desk.window.registry.trigger("show_to_review")
    desk.grid.setFocus()
    desk.wait(lambda: desk.grid.model().rowCount() > 0)
    row = desk.grid.model().image_ids.tolist().index(image_id)  # type: ignore[attr-defined]
    desk.choose(row)
    best = desk.best_of(image_id)
    assert headline(desk, image_id) == f"{best}?"
    desk.press_for_change(Key.Key_Return)
    assert desk.label_of(image_id) == best


@pytest.mark.slow
def test_a_broadest_level_holds_for_the_whole_project(coarse: Desk) -> None:
    """Chosen among the rules of the class list: no card names a root class."""
    desk = coarse
    desk.window.registry.trigger("class_rules")
    rows = desk.type_into_palette("above level 2")
    assert [row.title for row in rows] == ["Don't predict above level 2"]
    desk.press_for_change(Key.Key_Return)
    tops = {desk.graph.find(name) for name in ("Red", "Green", "Blue")}
    desk.wait(lambda: not set(desk.state.safe_class.tolist()) & tops)
    image_id = desk.choose(0)
    best = desk.best_of(image_id)
    assert headline(desk, image_id) == f"{best}?"
    desk.press_for_change(Key.Key_Return, SHIFT)
    assert desk.label_of(image_id) == best


@pytest.mark.slow
def test_enter_asks_where_the_card_names_no_class(desk: Desk, unread: Collection) -> None:
    """Before anything is embedded there is no prediction: the list of classes opens."""
    from tests.support.sessions import open_project

    open_project(desk.qtbot, desk.window.session, unread.project)
    desk.grid.setFocus()
    desk.grid.select_row(0)
    desk.press(Key.Key_Return)
    assert desk.window.palette_panel.isVisible()
    desk.press(Key.Key_Escape)


@pytest.mark.slow
def test_f6_goes_round_the_panes(reviewing: Desk) -> None:
    """Images, inspector, classes, and backwards with Shift."""
    window = reviewing.window
    reviewing.choose(0)
    reviewing.press(Key.Key_F6)
    assert window.side.isAncestorOf(window.focusWidget())
    reviewing.press(Key.Key_F6)
    assert window.tree.isAncestorOf(window.focusWidget())
    reviewing.press(Key.Key_F6)
    assert reviewing.grid.hasFocus()
    reviewing.press(Key.Key_F6, SHIFT)
    assert window.tree.isAncestorOf(window.focusWidget())
