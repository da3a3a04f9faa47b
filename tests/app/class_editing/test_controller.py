"""Editing the category graph in the window; each rejection is a sentence."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from app.dragging import classes_mime_data
from engine.project import Project
from tests.support.collections import Collection
from tests.support.desk import ALT, CONTROL, SHIFT, Desk
from tests.support.sessions import changed_by
from tests.support.widgets import button, texts

Key = Qt.Key


def choose_class(desk: Desk, name: str) -> int:
    """Select a class in the tree and focus it."""
    class_id = desk.graph.find(name)
    desk.window.tree.select_class(class_id)
    desk.window.tree.front.setFocus()
    assert desk.window.tree.selected_class == class_id
    return class_id


def click_class(desk: Desk, name: str) -> None:
    """Click the visible row of a class."""
    view, class_id = desk.window.tree.front, desk.graph.find(name)
    (index,) = view.model().indexes_of(class_id)  # type: ignore[attr-defined]
    place = view.visualRect(index).center()
    assert view.viewport().rect().contains(place)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert desk.window.tree.selected_class == class_id


def parents_of(desk: Desk, name: str) -> set[str]:
    """Names of a class's parents."""
    return {desk.graph.name(parent) for parent in desk.graph.parents(desk.graph.find(name))}


def drag_class(
    desk: Desk, name: str, target: str, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    """Drag a class from its first parent onto another class."""
    class_id = desk.graph.find(name)
    from_parent = next(iter(desk.graph.parents(class_id)), None)
    desk.drop_on_class(target, classes_mime_data(((class_id, from_parent),), [name]), keys)


@pytest.mark.slow
def test_a_class_is_moved_and_linked_by_dragging(reviewing: Desk) -> None:
    """A drag moves; with Ctrl it adds a parent."""
    session = reviewing.window.session
    changed_by(reviewing.qtbot, session, lambda: drag_class(reviewing, "Red disc", "Blue"))
    assert parents_of(reviewing, "Red disc") == {"Blue"}
    changed_by(
        reviewing.qtbot, session, lambda: drag_class(reviewing, "Red disc", "Green", CONTROL)
    )
    assert parents_of(reviewing, "Red disc") == {"Blue", "Green"}
    rows = reviewing.window.tree.front.model().indexes_of(reviewing.graph.find("Red disc"))  # type: ignore[attr-defined]
    assert {str(index.parent().data()) for index in rows} == {"Blue", "Green"}


def offered(desk: Desk) -> list[tuple[str, str]]:
    """Titles and subtitles of the open palette."""
    palette = desk.window.palette_panel
    desk.wait(palette.isVisible)
    return [(row.title, row.subtitle) for row in palette.rows]


@pytest.mark.slow
def test_an_empty_class_is_removed_without_a_question(reviewing: Desk) -> None:
    """No data is lost."""
    choose_class(reviewing, "Green")
    reviewing.press(Key.Key_N, CONTROL)
    reviewing.type_into_palette("Green dots")
    reviewing.press_for_change(Key.Key_Return)
    click_class(reviewing, "Green dots")
    reviewing.window.tree.front.setFocus()
    change = reviewing.press_for_change(Key.Key_Delete)
    assert change.text == "Removed class Green dots"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "left", "text"),
    [
        (0, {"Blue disc", "Blue checks", "Blue stripes"}, "Removed class Blue"),
        (1, set(), "Removed class Blue and 3 below it"),
    ],
)
def test_what_becomes_of_the_classes_below_is_asked(
    place: int, left: set[str], text: str, reviewing: Desk
) -> None:
    """The palette asks, with counts, by the arrow keys; Esc removes nothing."""
    blue = choose_class(reviewing, "Blue")
    names = {reviewing.graph.name(class_id) for class_id in reviewing.graph.children(blue)}
    reviewing.press(Key.Key_Delete)
    rows = offered(reviewing)
    assert [title for title, _labels in rows] == [
        f"Keep the classes below: move {len(names)} classes to the top level",
        f"Remove the whole branch: {len(names) + 1} classes",
    ]
    assert rows[1][1].endswith("labels are removed")
    reviewing.press(Key.Key_Escape)
    assert blue in reviewing.graph
    reviewing.press(Key.Key_Delete)
    assert offered(reviewing) == rows
    for _ in range(place):
        reviewing.press(Key.Key_Down)
    change = reviewing.press_for_change(Key.Key_Return)
    assert change.text.startswith(text)
    assert {name for name in names if reviewing.graph.fitting(name)} == left
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    assert names == {reviewing.graph.name(class_id) for class_id in reviewing.graph.children(blue)}


@pytest.mark.slow
def test_several_classes_are_moved_and_linked_at_once(reviewing: Desk) -> None:
    """Selected with Shift, moved by Ctrl+Alt+M and linked by Ctrl+L, one undo step each."""
    graph = reviewing.graph
    choose_class(reviewing, "Red checks")
    reviewing.press(Key.Key_Down, SHIFT)
    assert [graph.name(each) for each in reviewing.window.tree.selected_classes] == [
        "Red checks",
        "Red disc",
    ]
    reviewing.press(Key.Key_M, CONTROL | ALT)
    assert "Red checks" not in [row.title for row in reviewing.type_into_palette("red")]
    reviewing.type_into_palette("Green")
    change = reviewing.press_for_change(Key.Key_Return)
    assert change.text == "Moved 2 classes to Green"
    assert parents_of(reviewing, "Red checks") == parents_of(reviewing, "Red disc") == {"Green"}
    reviewing.wait(lambda: len(reviewing.window.tree.selected_classes) == 2)
    reviewing.press(Key.Key_L, CONTROL)
    reviewing.type_into_palette("Blue")
    change = reviewing.press_for_change(Key.Key_Return)
    assert change.text == "Added parent Blue to 2 classes"
    assert parents_of(reviewing, "Red disc") == {"Green", "Blue"}
    reviewing.press(Key.Key_M, CONTROL | ALT)
    assert reviewing.type_into_palette("top")[0].title == "The top level"
    reviewing.press(Key.Key_Escape)
    reviewing.wait(lambda: reviewing.window.registry.action("unlink_parent").isEnabled())
    change = reviewing.press_for_change(Key.Key_U, CONTROL)
    assert change.text == "Unlinked 2 classes from Green"


@pytest.mark.slow
def test_several_classes_become_one(reviewing: Desk) -> None:
    """The palette offers the merged classes first as the remaining one."""
    graph = reviewing.graph
    choose_class(reviewing, "Red checks")
    reviewing.press(Key.Key_Down, SHIFT)
    reviewing.press(Key.Key_Down, SHIFT)
    reviewing.press(Key.Key_J, CONTROL)
    assert [title for title, _place in offered(reviewing)] == [
        "Red checks",
        "Red disc",
        "Red stripes",
    ]
    reviewing.press(Key.Key_Return)
    reviewing.wait(lambda: offered(reviewing)[0][0] == "Merge 2 classes into Red checks")
    change = reviewing.press_for_change(Key.Key_Return)
    assert change.text.startswith("Merged 2 classes into Red checks")
    assert graph.children(graph.find("Red")) == (graph.find("Red checks"),)


@pytest.mark.slow
def test_insert_makes_a_class_under_the_chosen_one(reviewing: Desk) -> None:
    """Insert, a name, Enter: the class is visible and gets predictions from its parent."""
    choose_class(reviewing, "Green")
    reviewing.press(Key.Key_Insert)
    (row,) = reviewing.type_into_palette("Green checks")
    assert row.title == "Create “Green checks”"
    reviewing.press_for_change(Key.Key_Return)
    click_class(reviewing, "Green checks")
    inspector = reviewing.window.inspector
    checks = reviewing.graph.find("Green checks")
    reviewing.wait(
        lambda: inspector.class_facts is not None and inspector.class_facts.class_id == checks
    )
    reviewing.wait(
        lambda: inspector.class_facts is not None and len(inspector.class_facts.candidates) == 12
    )
    assert inspector.class_facts is not None
    assert inspector.class_facts.is_zero_shot


@pytest.mark.slow
@pytest.mark.parametrize("has_class", [False, True])
def test_a_new_class_leaves_the_grid_as_it_was(reviewing: Desk, has_class: bool) -> None:
    """Shown images, selection and scroll position stay; the class is scrolled into view."""
    if has_class:
        choose_class(reviewing, "Green")
    grid, tree = reviewing.grid, reviewing.window.tree
    reviewing.window.resize(1000, 500)
    row = grid.model().rowCount() - 2
    grid.scrollTo(grid.model().index(row, 0))
    QTest.mouseClick(
        grid.viewport(),
        Qt.MouseButton.LeftButton,
        pos=grid.visualRect(grid.model().index(row, 0)).center(),
    )

    def seen() -> tuple[object, ...]:
        workspace = reviewing.window.workspace
        cards = tuple(workspace.model.image_ids.tolist())
        place = grid.verticalScrollBar().value()
        return (
            workspace.class_id,
            workspace.header.title,
            cards,
            grid.selected_ids,
            place,
            tree.selected_class,
        )

    before = seen()
    assert grid.verticalScrollBar().value() > 0
    QTest.mouseClick(button(tree, "New class"), Qt.MouseButton.LeftButton)
    reviewing.type_into_palette("Red rings" if has_class else "Red/Red rings")
    reviewing.press_for_change(Key.Key_Return)
    reviewing.wait_until_read()
    assert seen() == before
    click_class(reviewing, "Red rings")


@pytest.mark.slow
def test_f2_renames_where_the_class_stands(reviewing: Desk) -> None:
    """The palette holds the current name, also when opened by the window's action."""
    choose_class(reviewing, "Red disc")
    reviewing.window.registry.trigger("rename_class")
    palette = reviewing.window.palette_panel
    assert palette.isVisible()
    field = palette.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    assert field.text() == "Red disc"
    reviewing.type_into_palette("Red ball")
    reviewing.press_for_change(Key.Key_Return)
    assert reviewing.graph.find("Red ball")
    assert "Red ball" in reviewing.window.toast.message


def test_a_taken_name_is_refused(reviewing: Desk) -> None:
    """Siblings of the same name could not be distinguished."""
    session = reviewing.window.session
    disc = reviewing.graph.find("Red disc")
    reviewing.window.tree.requests.rename_requested.emit(disc, "Red checks")
    reviewing.wait(lambda: "Red checks" in reviewing.window.toast.message)
    assert reviewing.graph.name(disc) == "Red disc"
    assert session.info is not None


@pytest.mark.slow
def test_a_name_that_reads_as_something_else_is_refused(reviewing: Desk) -> None:
    """Bidirectional marks and invisible names are rejected in the palette and in the tree."""
    classes = len(reviewing.graph)
    choose_class(reviewing, "Green")
    reviewing.press(Key.Key_Insert)
    reviewing.type_into_palette("Green\u202eskcehc")
    reviewing.press(Key.Key_Return)
    reviewing.wait(lambda: "writing direction" in reviewing.window.toast.message)
    choose_class(reviewing, "Red disc")
    reviewing.press(Key.Key_F2)
    reviewing.type_into_palette("\u2800\u200b")
    reviewing.press(Key.Key_Return)
    reviewing.wait(lambda: "can be seen" in reviewing.window.toast.message)
    assert len(reviewing.graph) == classes
    assert reviewing.graph.find("Red disc")


@pytest.mark.slow
def test_delete_removes_a_class_and_undo_brings_its_labels_back(
    reviewing: Desk, collection: Collection
) -> None:
    """The palette says where the labels go; the toast offers undo, which restores everything."""
    disc = choose_class(reviewing, "Blue disc")
    reviewing.press(Key.Key_Delete)
    assert offered(reviewing) == [("Remove Blue disc", "3 labels go to Blue")]
    reviewing.press_for_change(Key.Key_Return)
    assert disc not in reviewing.graph
    assert "Blue disc" in reviewing.window.toast.message
    assert reviewing.state.shot_counts[reviewing.graph.find("Blue")] == 3
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    assert reviewing.graph.name(disc) == "Blue disc"
    assert reviewing.state.shot_counts[disc] == 3
    reviewing.leave()
    with Project.open(collection.project) as project:
        assert project.check() == []


@pytest.mark.slow
def test_a_further_parent_is_chosen_in_the_palette(reviewing: Desk) -> None:
    """Ctrl+L offers all classes except itself, its descendants and its parents."""
    choose_class(reviewing, "Red disc")
    reviewing.press(Key.Key_L, CONTROL)
    assert [row.title for row in reviewing.type_into_palette("red")] == [
        "Red checks",
        "Red stripes",
    ]
    assert [row.title for row in reviewing.type_into_palette("blue")][0] == "Blue"  # noqa: RUF015 (the order is tested)
    reviewing.press_for_change(Key.Key_Return)
    assert parents_of(reviewing, "Red disc") == {"Red", "Blue"}


@pytest.mark.slow
def test_a_bar_is_set_and_taken_over_again(reviewing: Desk) -> None:
    """A lower threshold predicts more images; removing it is a separate step."""
    session, inspector = reviewing.window.session, reviewing.window.inspector
    red = choose_class(reviewing, "Red")
    changed_by(reviewing.qtbot, session, lambda: inspector.requests.bar_requested.emit(red, 0.3))
    reviewing.wait(
        lambda: inspector.class_facts is not None and inspector.class_facts.own_bar == 0.3
    )
    changed_by(
        reviewing.qtbot, session, lambda: inspector.requests.deepest_requested.emit(red, True)
    )
    reviewing.wait(
        lambda: inspector.class_facts is not None and inspector.class_facts.attributes.is_deepest
    )
    safe = {int(class_id) for class_id in reviewing.state.safe_class if class_id >= 0}
    assert red in safe
    assert not safe & reviewing.graph.descendants(red)
    changed_by(reviewing.qtbot, session, lambda: inspector.requests.bar_requested.emit(red, None))
    reviewing.wait(
        lambda: inspector.class_facts is not None and inspector.class_facts.own_bar is None
    )
    facts = inspector.class_facts
    assert facts is not None
    assert facts.attributes.is_deepest


@pytest.mark.slow
def test_a_class_that_nothing_taught_says_so(reviewing: Desk) -> None:
    """Its parent has no examples either; no parents or likely images are suggested."""
    for path in ("Fungi", "Fungi/Morel"):
        QTest.mouseClick(button(reviewing.window.tree, "New class"), Qt.MouseButton.LeftButton)
        reviewing.type_into_palette(path)
        reviewing.press_for_change(Key.Key_Return)
    click_class(reviewing, "Morel")
    inspector, morel = reviewing.window.inspector, reviewing.graph.find("Morel")
    reviewing.wait(
        lambda: inspector.class_facts is not None and inspector.class_facts.class_id == morel
    )
    words = texts(inspector)
    assert "No examples yet." in words
    assert "learned from its parents" not in words
    empty = reviewing.window.workspace.empty
    assert empty.isVisible()
    assert "likely images" not in texts(empty)
