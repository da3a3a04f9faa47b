"""Class names in the person's language: shown with the project's name, sorted, searched."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from app.class_tree.row_data import SECOND_NAME_ROLE
from app.language import SYSTEM, install_language
from app.one_window import OneWindow
from app.palette.logic import class_rows
from app.preferences.controller import Preferences
from app.settings import Settings
from app.texts import speak
from engine.log import Log
from engine.project import Project
from tests.support.collections import Collection, cache_of_test
from tests.support.desk import CONTROL, Desk
from tests.support.sessions import LONG_MS, changed_by, open_project

RED, BLUE = "Red disc", "Blue stripes"


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    """German is chosen; its translation need not be compiled."""
    before = QLocale()
    install_language(qapp, "de")
    yield
    speak(None)
    QLocale.setDefault(before)


@pytest.fixture
def named(collection: Collection) -> Collection:
    """Two classes have German names, which sort differently from their own."""
    with Project.open(collection.project) as project:
        classes = project.classes
        classes.set_attributes(
            [classes.graph.find(RED)], synonyms=("Zebrafink@de", "Zebra finch@en-GB", "zf")
        )
        classes.set_attributes(
            [classes.graph.find(BLUE)], synonyms=("Amsel@deu", "Schwarzdrossel@de")
        )
    return collection


@pytest.fixture
def opened(german: None, named: Collection, qtbot: QtBot, settings: Settings) -> Iterator[Desk]:
    """A window with the project."""
    desk = Desk(qtbot, settings)
    open_project(qtbot, desk.window.session, named.project)
    yield desk
    desk.window.close()


def rows_of(desk: Desk) -> list[tuple[str, str]]:
    """Every visible row of the tree, with the name next to it."""
    view = desk.window.tree.front
    view.expandAll()
    found, index = [], view.model().index(0, 0)
    while index.isValid():
        found.append((str(index.data()), str(index.data(SECOND_NAME_ROLE))))
        index = view.indexBelow(index)
    return found


@pytest.mark.slow
def test_the_tree(opened: Desk) -> None:
    """Translated names in their order, with the project's; other classes keep their names."""
    rows = rows_of(opened)
    assert ("Zebrafink", RED) in rows
    assert ("Amsel", BLUE) in rows
    assert ("Red", "") in rows
    blue = [
        name for name, _beside in rows[rows.index(("Blue", "")) + 1 : rows.index(("Green", ""))]
    ]
    assert blue == ["Amsel", "Blue checks", "Blue disc"]
    red = [name for name, _beside in rows[rows.index(("Red", "")) + 1 :]]
    assert red == ["Red checks", "Red stripes", "Zebrafink"]


@pytest.mark.slow
def test_it_is_renamed_by_its_name_in_the_project(opened: Desk) -> None:
    """F2 edits the name that files have."""
    opened.window.tree.select_class(opened.graph.find(RED))
    opened.window.tree.front.setFocus()
    opened.press(Qt.Key.Key_F2)
    field = opened.window.palette_panel.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    assert field.text() == RED
    opened.press(Qt.Key.Key_Escape)


@pytest.mark.slow
def test_the_inspector_and_the_palette(opened: Desk) -> None:
    """The translated name is the title; others are below, the project's name first."""
    graph, window = opened.graph, opened.window
    window.inspector.show_class(graph.find(RED))
    opened.wait(
        lambda: any(label.text() == "Zebrafink" for label in window.inspector.findChildren(QLabel))
    )
    texts = [label.text() for label in window.inspector.findChildren(QLabel)]
    assert any(f"{RED}, zf" in text for text in texts), texts
    for typed in ("zebrafi", "zebra finch", "red di"):
        assert class_rows(graph, typed)[0].title.startswith("Zebrafink ("), typed
    assert class_rows(graph, "amsel")[0].title == f"Amsel ({BLUE})"
    assert class_rows(graph, "drossel")[0].title == "Amsel (Schwarzdrossel)"
    changed_by(
        opened.qtbot,
        window.session,
        lambda: window.session.act(
            lambda project: project.classes.set_attributes(
                [graph.find("Blue")], synonyms=("Blaues@de",)
            )
        ),
    )
    for typed in ("blaues/amsel", "blue/amsel"):
        assert [row.title for row in class_rows(graph, typed)] == [f"Amsel ({BLUE})"], typed


def test_a_name_that_a_person_gives_is_shown_at_once(opened: Desk) -> None:
    """A synonym with a language tag; undo removes it."""
    graph = opened.graph
    green = graph.find("Green disc")
    session = opened.window.session
    changed_by(
        opened.qtbot,
        session,
        lambda: session.act(
            lambda project: project.classes.set_attributes([green], synonyms=("Grünfink@de",))
        ),
    )
    opened.wait(lambda: ("Grünfink", "Green disc") in rows_of(opened))
    opened.press_for_change(Qt.Key.Key_Z, CONTROL)
    opened.wait(lambda: ("Green disc", "") in rows_of(opened))
    assert opened.graph.attributes(green).synonyms == ()


@pytest.mark.slow
def test_what_is_done_and_undone_has_the_names_that_are_shown(opened: Desk) -> None:
    """Toasts and menus use translated names, the project file its own."""
    window, graph = opened.window, opened.graph
    window.tree.select_class(graph.find(RED))
    window.tree.front.setFocus()
    opened.press(Qt.Key.Key_Delete)
    opened.wait(window.palette_panel.isVisible)
    opened.press_for_change(Qt.Key.Key_Return)
    removed = window.toast.message
    assert "Zebrafink" in removed
    assert RED not in removed
    opened.wait(lambda: "Zebrafink" in window.registry.action("undo").text())
    opened.press_for_change(Qt.Key.Key_Z, CONTROL)
    opened.wait(lambda: "Zebrafink" in window.toast.message)
    assert "Zebrafink" in window.registry.action("redo").text()
    assert window.session.info is not None
    with Project.open(window.session.info.path, for_writing=False) as project:
        redone = project.history.redo_action
        assert redone is not None
        assert redone.arguments["chosen"] == RED


@pytest.mark.slow
def test_the_names_of_the_project_can_be_chosen(
    german: None,
    qtbot: QtBot,
    qapp: QApplication,
    settings: Settings,
    named: Collection,
) -> None:
    """A setting shows names of the project: the window is recreated with the same project."""
    settings.language = "de"
    one = OneWindow(qapp, settings, Log(), cache_of_test())
    one.begin(named.project, with_sample=False)
    first = one.window
    qtbot.waitUntil(lambda: bool(first.session.graph.classes()), timeout=LONG_MS)
    graph = first.session.graph
    assert graph.shown_name(graph.find(RED)) == "Zebrafink"
    qtbot.keyClick(first, Qt.Key.Key_Comma, CONTROL)
    card = first.of(Preferences).card
    assert card is not None
    assert card.names.isChecked()
    card.names.setFocus()
    qtbot.keyClick(card.names, Qt.Key.Key_Space)
    qtbot.waitUntil(
        lambda: one.window is not first and len(one.window.session.graph) > 0, timeout=LONG_MS
    )
    again = one.window.session.graph
    assert settings.has_project_names
    assert again.shown_name(again.find(RED)) == RED
    one.window.inspector.show_class(again.find(RED))
    qtbot.waitUntil(lambda: one.window.inspector.class_facts is not None, timeout=LONG_MS)
    lines = [each.accessibleName() for each in one.window.inspector.findChildren(QLineEdit)]
    assert "Name (Deutsch)" not in lines, "there is no language that names are shown in"
    texts = [label.text() for label in one.window.inspector.findChildren(QLabel)]
    assert RED in texts
    one.window.close()
    settings.language = SYSTEM


@pytest.mark.slow
def test_a_name_is_typed_in_the_inspector(opened: Desk) -> None:
    """The typed name in the person's language replaces the shown one, in one step."""
    graph = opened.graph
    red = graph.find(RED)
    opened.window.inspector.show_class(red)
    opened.wait(lambda: bool(fields_of(opened, "Name (Deutsch)")))
    (field,) = fields_of(opened, "Name (Deutsch)")
    assert field.text() == "Zebrafink"
    field.setFocus()
    field.selectAll()
    opened.qtbot.keyClicks(field, "Rotkehlchen")
    opened.press_for_change(Qt.Key.Key_Tab)
    opened.wait(lambda: ("Rotkehlchen", RED) in rows_of(opened))
    assert opened.graph.attributes(red).synonyms == ("Rotkehlchen@de", "Zebra finch@en-GB", "zf")
    opened.window.tree.front.setFocus()
    opened.press_for_change(Qt.Key.Key_Z, CONTROL)
    opened.wait(lambda: ("Zebrafink", RED) in rows_of(opened))


def fields_of(desk: Desk, name: str) -> list[QLineEdit]:
    """Line edits of the page with an accessible name."""
    return [
        each
        for each in desk.window.inspector.findChildren(QLineEdit)
        if each.accessibleName() == name
    ]
