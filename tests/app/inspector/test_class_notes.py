"""Note, synonyms, source id and colour of a class, edited in the inspector."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QScrollArea

from app.class_tree.row_data import COLOUR_ROLE
from app.inspector.class_notes import ColourDot, NoteField
from app.theme.class_colours import SWATCHES, class_colour, own_colour
from engine.graph.class_attributes import ClassAttributes
from engine.project import Project
from tests.app.class_editing.test_controller import choose_class
from tests.support.clicks import click
from tests.support.collections import Collection
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.sessions import act, changed_by, open_project
from tests.support.widgets import open_part

Key = Qt.Key


def show_page(desk: Desk, name: str) -> int:
    """Select a class, wait for its page, and expand the notes."""
    class_id = choose_class(desk, name)
    inspector = desk.window.inspector
    desk.wait(
        lambda: inspector.class_facts is not None and inspector.class_facts.class_id == class_id
    )
    open_part(inspector, "Rules and notes")
    return class_id


def field(desk: Desk, name: str) -> QLineEdit:
    """A line edit of the page."""
    return next(
        each
        for each in desk.window.inspector.findChildren(QLineEdit)
        if each.accessibleName() == name
    )


def note_field(desk: Desk) -> NoteField:
    """The note field of the page."""
    (found,) = desk.window.inspector.findChildren(NoteField)
    return found


def dot(desk: Desk, name: str) -> ColourDot:
    """A colour dot of the page."""
    found = next(
        each
        for each in desk.window.inspector.findChildren(ColourDot)
        if each.accessibleName() == name
    )
    area = next(
        each for each in desk.window.inspector.findChildren(QScrollArea) if each.isAncestorOf(found)
    )
    area.ensureWidgetVisible(found)
    return found


def details(desk: Desk) -> dict[int, ClassAttributes]:
    """Attributes of all classes in the project."""
    answers: list[dict[int, ClassAttributes]] = []
    desk.window.session.ask(
        lambda live: dict(live.project.classes.graph.all_attributes()),
        answers.append,
        owner=desk.window,
    )
    desk.wait(lambda: bool(answers))
    return answers[0]


@pytest.mark.slow
def test_a_note_is_kept_when_the_field_is_left(reviewing: Desk) -> None:
    """Typed, then Tab: one undoable step; the page shows the stored note."""
    red = show_page(reviewing, "Red")
    note_field(reviewing).setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClicks(note_field(reviewing), "No rust.")
    change = reviewing.press_for_change(Key.Key_Tab)
    assert change.text == "Changed the note of Red"
    assert details(reviewing) == {red: ClassAttributes(note="No rust.")}
    reviewing.wait(lambda: note_field(reviewing).toPlainText() == "No rust.")
    reviewing.window.tree.front.setFocus()
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    reviewing.wait(lambda: note_field(reviewing).toPlainText() == "")


@pytest.mark.slow
def test_what_is_being_written_stays_while_predictions_change(reviewing: Desk) -> None:
    """A new state does not replace the page during typing; another class's page saves the text."""
    red, disc = show_page(reviewing, "Red"), reviewing.graph.find("Red disc")
    note = note_field(reviewing)
    note.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClicks(note, "Half a ")
    image_id = int(reviewing.grid.model().image_ids[0])  # type: ignore[attr-defined]
    act(
        reviewing.qtbot,
        reviewing.window.session,
        lambda project: project.labels.set([image_id], disc),
    )
    reviewing.wait(lambda: reviewing.window.session.is_settled)
    assert note_field(reviewing) is note
    QTest.keyClicks(note, "word")
    changed_by(reviewing.qtbot, reviewing.window.session, lambda: show_page(reviewing, "Green"))
    assert details(reviewing) == {red: ClassAttributes(note="Half a word")}
    assert note_field(reviewing).toPlainText() == ""


@pytest.mark.slow
def test_closing_the_window_keeps_what_was_written(reviewing: Desk, collection: Collection) -> None:
    """The note is saved although the field has the focus."""
    red = show_page(reviewing, "Red")
    note_field(reviewing).setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClicks(note_field(reviewing), "The last word")
    reviewing.leave()
    with Project.open(collection.project) as project:
        assert dict(project.classes.graph.all_attributes()) == {
            red: ClassAttributes(note="The last word")
        }


@pytest.mark.slow
def test_synonyms_source_id_and_rank(reviewing: Desk) -> None:
    """Separated by semicolons; the palette finds the class by them."""
    red = show_page(reviewing, "Red")
    field(reviewing, "Synonyms").setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClicks(field(reviewing, "Synonyms"), "Rouge; Rosso, dark;")
    change = reviewing.press_for_change(Key.Key_Return)
    assert change.text == "Changed the synonyms of Red"
    assert reviewing.graph.attributes(red).synonyms == ("Rouge", "Rosso, dark")
    reviewing.wait(lambda: field(reviewing, "Synonyms").text() == "Rouge; Rosso, dark")
    field(reviewing, "Source id").setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClicks(field(reviewing, "Source id"), "n42")
    change = reviewing.press_for_change(Key.Key_Tab)
    assert change.text == "Changed the source id of Red"
    assert reviewing.graph.find("n42") == reviewing.graph.find("Rouge") == red
    reviewing.wait(lambda: field(reviewing, "Source id").text() == "n42")
    field(reviewing, "Rank").setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClicks(field(reviewing, "Rank"), "family")
    assert reviewing.press_for_change(Key.Key_Return).text == "Changed the rank of Red"
    assert reviewing.graph.search("rank:fam") == [red]


@pytest.mark.slow
def test_a_colour_is_given_to_all_chosen_classes(reviewing: Desk) -> None:
    """A click sets the colour of all selected classes in one step; children keep theirs."""
    checks, disc = reviewing.graph.find("Red checks"), reviewing.graph.find("Red disc")
    show_page(reviewing, "Red checks")
    reviewing.press(Key.Key_Down, SHIFT)
    inspector = reviewing.window.inspector
    reviewing.wait(
        lambda: inspector.class_facts is not None and inspector.class_facts.class_id == disc
    )
    change = changed_by(
        reviewing.qtbot, reviewing.window.session, lambda: click(dot(reviewing, "Blue"))
    )
    assert change.text == "Changed the colour of 2 classes"
    blue = SWATCHES[5]
    assert details(reviewing) == {
        checks: ClassAttributes(colour=blue),
        disc: ClassAttributes(colour=blue),
    }
    reviewing.wait(lambda: row_colours(reviewing, "Red disc") == own_colour(blue).name())
    assert own_colour(blue).name() in dot_colours(reviewing, "Red disc")
    reviewing.wait(lambda: dot(reviewing, "Blue").isChecked())
    show_page(reviewing, "Red")
    changed_by(reviewing.qtbot, reviewing.window.session, lambda: click(dot(reviewing, "Green")))
    reviewing.wait(lambda: row_colours(reviewing, "Red") == own_colour(SWATCHES[3]).name())
    stripes = reviewing.graph.find("Red stripes")
    assert row_colours(reviewing, "Red stripes") == class_colour(stripes).name()
    assert row_colours(reviewing, "Red disc") == own_colour(blue).name()


def row_colours(desk: Desk, name: str) -> str:
    """The colour of a class's row."""
    (index,) = desk.window.tree.front.model().indexes_of(desk.graph.find(name))  # type: ignore[attr-defined]
    return str(index.data(COLOUR_ROLE))


def dot_colours(desk: Desk, name: str) -> set[str]:
    """Colours of the pixels at the left of a painted row."""
    view = desk.window.tree.front
    (index,) = view.model().indexes_of(desk.graph.find(name))  # type: ignore[attr-defined]
    rect = view.visualRect(index)
    picture = view.viewport().grab().toImage()
    return {picture.pixelColor(QPoint(rect.x() + x, rect.center().y())).name() for x in range(14)}


@pytest.mark.slow
def test_the_dots_are_walked_with_the_arrow_keys(reviewing: Desk) -> None:
    """Space chooses; a colour from elsewhere has a dot of its own."""
    red = show_page(reviewing, "Red")
    act(
        reviewing.qtbot,
        reviewing.window.session,
        lambda project: project.classes.set_attributes([red], colour="#123456"),
    )
    reviewing.wait(lambda: bool(reviewing.window.inspector.findChildren(ColourDot)))
    reviewing.wait(
        lambda: any(
            each.colour == "#123456" for each in reviewing.window.inspector.findChildren(ColourDot)
        )
    )
    assert dot(reviewing, "Another colour").isChecked()
    dot(reviewing, "No colour of its own").setFocus(Qt.FocusReason.TabFocusReason)
    reviewing.press(Key.Key_Right)
    focused = QApplication.focusWidget()
    assert isinstance(focused, ColourDot)
    assert focused.colour == SWATCHES[0]
    reviewing.press_for_change(Key.Key_Space)
    assert details(reviewing) == {red: ClassAttributes(colour=SWATCHES[0])}


def test_a_project_that_cannot_be_changed_shows_what_was_written(
    desk: Desk, collection: Collection
) -> None:
    """Read-only fields can be read and copied."""
    with Project.open(collection.project) as project:
        project.classes.set_attributes(
            [project.classes.graph.find("Red")], note="Kept.", colour=SWATCHES[1]
        )
    open_project(desk.qtbot, desk.window.session, collection.project, for_writing=False)
    show_page(desk, "Red")
    assert note_field(desk).toPlainText() == "Kept."
    assert note_field(desk).isReadOnly()
    assert field(desk, "Synonyms").isReadOnly()
    assert not dot(desk, "Red").isEnabled()
