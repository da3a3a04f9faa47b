"""Class actions by mouse and keys: context menu, button next to the filter, inspector, palettes."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QSlider

from tests.support.clicks import choose, click, menu_at, open_menu, titles
from tests.support.collections import Collection
from tests.support.desk import CONTROL, Desk
from tests.support.sessions import act
from tests.support.widgets import button, open_part, texts

Key = Qt.Key
KEY_PAUSE_MS = 5


def row_place(desk: Desk, name: str, parent: str = "") -> QPoint:
    """The position of a class's row in the tree, below a given parent."""
    view = desk.window.tree.front
    view.expandAll()
    rows = view.model().indexes_of(desk.graph.find(name))  # type: ignore[attr-defined]
    index = next(row for row in rows if not parent or row.parent().data() == parent)
    view.scrollTo(index)
    return view.visualRect(index).center()


def menu_of(desk: Desk, place: QPoint) -> QMenu:
    """The context menu at a point of the tree."""
    return menu_at(desk.window.tree.front.viewport(), place)


def type_and_enter(desk: Desk, text: str) -> None:
    """Type into the palette with pauses, and press Enter."""
    desk.window.activateWindow()  # without a window manager, closing a menu leaves no window active
    field = desk.window.palette_panel.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    desk.wait(field.hasFocus)
    QTest.keyClicks(field, text, delay=KEY_PAUSE_MS)
    desk.press_for_change(Key.Key_Return)


def parents_of(desk: Desk, name: str) -> set[str]:
    """Names of a class's parents."""
    return {desk.graph.name(parent) for parent in desk.graph.parents(desk.graph.find(name))}


@pytest.fixture
def linked(reviewing: Desk) -> Desk:
    """Red disc is a child of Red and of Blue."""
    graph = reviewing.graph
    blue, disc = graph.find("Blue"), graph.find("Red disc")
    act(
        reviewing.qtbot,
        reviewing.window.session,
        lambda project: project.classes.link(blue, [disc]),
    )
    return reviewing


@pytest.mark.slow
def test_the_menu_of_a_class(linked: Desk) -> None:
    """It names the parent of a new class and that of the row; a single parent is not unlinked."""
    menu = menu_of(linked, row_place(linked, "Red disc", "Blue"))
    assert titles(menu) == [
        "New class under Red disc…",
        "New sibling class…",
        "New class above it…",
        "Rename class…",
        "Key for labelling…",
        "Move under…",
        "Add another parent…",
        "Unlink from Blue",
        "Merge class into…",
        "Copy classes",
        "Cut classes",
        "Paste classes",
        "Remove class",
    ]
    QTest.keyClick(menu, Key.Key_Escape)
    assert not menu.isVisible()
    menu = menu_of(linked, row_place(linked, "Red disc", "Red"))
    assert "Unlink from Red" in titles(menu)
    QTest.keyClick(menu, Key.Key_Escape)
    menu = menu_of(linked, row_place(linked, "Blue disc"))
    assert not any("Unlink" in title for title in titles(menu))
    QTest.keyClick(menu, Key.Key_Escape)


@pytest.mark.slow
def test_the_menu_where_no_class_stands(reviewing: Desk) -> None:
    """The menu has a new root class and importing a list of classes."""
    viewport = reviewing.window.tree.front.viewport()
    reviewing.window.tree.front.collapseAll()
    menu = menu_of(reviewing, QPoint(viewport.width() // 2, viewport.height() - 4))
    assert titles(menu) == [
        "New class at the top level…",
        "Paste classes",
        "Import classes from a file…",
        "Rules for the class list…",
    ]
    choose(menu, "New class at the top level…")
    type_and_enter(reviewing, "Yellow")
    assert parents_of(reviewing, "Yellow") == set()


@pytest.mark.slow
def test_a_class_is_unlinked_from_the_parent_of_its_row(linked: Desk) -> None:
    """The menu unlinks the row's parent; the other parent stays, and Ctrl+Z links it again."""
    menu = menu_of(linked, row_place(linked, "Red disc", "Blue"))
    choose(menu, "Unlink from Blue")
    linked.wait(lambda: parents_of(linked, "Red disc") == {"Red"})
    assert linked.window.toast.message == "Unlinked Red disc from Blue"
    assert not linked.window.registry.action("unlink_parent").isEnabled()
    linked.press_for_change(Key.Key_Z, CONTROL)
    assert parents_of(linked, "Red disc") == {"Red", "Blue"}


@pytest.mark.slow
def test_a_class_is_unlinked_in_the_inspector(linked: Desk) -> None:
    """Each of several parents has a button that unlinks it; the focus does not move."""
    click(linked.window.tree.front.viewport(), row_place(linked, "Red disc", "Red"))
    inspector = linked.window.inspector
    linked.wait(
        lambda: inspector.class_facts is not None and len(inspector.class_facts.parents) == 2
    )
    focused = QApplication.focusWidget()
    click(button(inspector, "Unlink from Red"))
    linked.wait(lambda: parents_of(linked, "Red disc") == {"Blue"})
    linked.wait(
        lambda: inspector.class_facts is not None and len(inspector.class_facts.parents) == 1
    )
    assert QApplication.focusWidget() is focused
    linked.wait(lambda: linked.window.tree.selected_parent == linked.graph.find("Blue"))


@pytest.mark.slow
def test_the_confidence_needed_is_set_with_the_arrow_keys(reviewing: Desk) -> None:
    """The slider keeps the focus while the page updates; the value can be inherited again."""
    click(reviewing.window.tree.front.viewport(), row_place(reviewing, "Red"))
    inspector = reviewing.window.inspector
    reviewing.wait(lambda: inspector.class_facts is not None)
    open_part(inspector, "Rules and notes")
    (slider,) = inspector.findChildren(QSlider)
    click(slider, QPoint(slider.width() - 2, slider.height() // 2))
    reviewing.wait(
        lambda: inspector.class_facts is not None and inspector.class_facts.own_bar is not None
    )
    (slider,) = inspector.findChildren(QSlider)
    slider.setFocus(Qt.FocusReason.TabFocusReason)
    bar = slider.value()
    for _ in range(3):
        reviewing.press(Key.Key_Left)
    reviewing.wait(
        lambda: (
            inspector.class_facts is not None and round(100 * inspector.class_facts.bar) == bar - 3
        )
    )
    (slider,) = inspector.findChildren(QSlider)
    assert slider.hasFocus()
    click(button(inspector, "Inherit again"))
    reviewing.wait(
        lambda: inspector.class_facts is not None and inspector.class_facts.own_bar is None
    )
    assert "80% (from parent)" in texts(inspector)


@pytest.mark.slow
def test_predictions_stop_at_a_class(reviewing: Desk) -> None:
    """A check box stops predictions: no image is predicted as a subclass any more."""
    click(reviewing.window.tree.front.viewport(), row_place(reviewing, "Red"))
    inspector = reviewing.window.inspector
    reviewing.wait(lambda: inspector.class_facts is not None)
    open_part(inspector, "Rules and notes")
    box = button(inspector, "Don't predict subclasses")
    click(box, QPoint(8, box.height() // 2))
    red = reviewing.graph.find("Red")
    below = reviewing.graph.descendants(red)
    reviewing.wait(
        lambda: inspector.class_facts is not None and inspector.class_facts.attributes.is_deepest
    )
    reviewing.wait(lambda: not below & {int(each) for each in reviewing.state.safe_class})
    assert reviewing.window.toast.message == "Stopped predictions at Red"


def test_the_menu_key_opens_the_menu_of_the_chosen_class(reviewing: Desk) -> None:
    """Some platforms send no context menu event for the key; the test sends it as Qt would."""
    click(reviewing.window.tree.front.viewport(), row_place(reviewing, "Green disc"))
    view = reviewing.window.tree.front
    place = view.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle).center()
    QApplication.sendEvent(
        view, QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, place, view.mapToGlobal(place))
    )
    menu = open_menu()
    assert "New class under Green disc…" in titles(menu)
    QTest.keyClick(menu, Key.Key_Escape)


@pytest.mark.slow
def test_another_parent_is_added_in_the_inspector(reviewing: Desk) -> None:
    """The palette omits the class, its descendants and its parents; Esc changes nothing."""
    click(reviewing.window.tree.front.viewport(), row_place(reviewing, "Red disc"))
    inspector = reviewing.window.inspector
    reviewing.wait(lambda: inspector.class_facts is not None)
    click(button(inspector, "Add another parent"))
    palette = reviewing.window.palette_panel
    assert palette.isVisible()
    QTest.keyClick(palette.focusWidget(), Key.Key_Escape)
    assert not palette.isVisible()
    click(button(inspector, "Add another parent"))
    type_and_enter(reviewing, "gre")
    assert parents_of(reviewing, "Red disc") == {"Red", "Green"}


@pytest.mark.slow
def test_a_class_is_merged_into_another(reviewing: Desk, collection: Collection) -> None:
    """Siblings are offered first, with the result described; one Ctrl+Z undoes the merge."""
    disc, checks = reviewing.graph.find("Red disc"), reviewing.graph.find("Red checks")
    shots = dict(reviewing.state.shot_counts)
    choose(menu_of(reviewing, row_place(reviewing, "Red disc")), "Merge class into…")
    offered = [row.title for row in reviewing.window.palette_panel.rows]
    assert offered == ["Red checks", "Red stripes"]
    assert [row.title for row in reviewing.type_into_palette("red ch")] == ["Red checks"]
    reviewing.press(Key.Key_Return)
    after = shots[disc] + shots[checks]
    classes = len(reviewing.graph)
    reviewing.wait(
        lambda: (
            [(row.title, row.subtitle) for row in reviewing.window.palette_panel.rows]
            == [
                (
                    "Merge Red disc into Red checks",
                    f"labels {shots[checks]} → {after}  ·  classes {classes} → {classes - 1}",
                )
            ]
        )
    )
    reviewing.press_for_change(Key.Key_Return)
    assert disc not in reviewing.graph
    assert reviewing.state.shot_counts[checks] == after
    reviewing.wait(lambda: reviewing.window.tree.selected_class == checks)
    assert (
        reviewing.window.toast.message
        == f"Merged Red disc into Red checks ({shots[disc]} labels moved)"
    )
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    assert reviewing.graph.name(disc) == "Red disc"
    assert dict(reviewing.state.shot_counts) == shots


@pytest.mark.slow
def test_the_button_beside_the_filter_makes_a_class(reviewing: Desk) -> None:
    """A child of the selected class; the tooltip names the key."""
    click(reviewing.window.tree.front.viewport(), row_place(reviewing, "Green"))
    plus = button(reviewing.window.tree, "New class")
    assert plus.toolTip() == "New class (Ctrl+N)"
    click(plus)
    type_and_enter(reviewing, "Green dots")
    assert parents_of(reviewing, "Green dots") == {"Green"}


@pytest.mark.slow
def test_the_command_palette_unlinks_and_merges(linked: Desk) -> None:
    """The commands name what they would do to the selected class."""
    click(linked.window.tree.front.viewport(), row_place(linked, "Red disc", "Blue"))
    linked.press(Key.Key_K, CONTROL)
    assert [row.title for row in linked.type_into_palette("merge class")] == ["Merge class into"]
    assert [row.title for row in linked.type_into_palette("unlink")] == ["Unlink from Blue"]
    linked.press_for_change(Key.Key_Return)
    assert parents_of(linked, "Red disc") == {"Red"}
