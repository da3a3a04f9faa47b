"""Menus by keyboard: Alt mnemonics, F10, the menu key, Shift+F10; and full screen."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QMenu

from app.actions.menu_keys import marked_letters, without_mark
from tests.support.clicks import RIGHT, choose, click, open_menu, titles
from tests.support.desk import ALT, SHIFT, Desk

Key = Qt.Key
FULL = 255
"""Alpha of an opaque pixel."""
MENUS = ["File", "Edit", "View", "Classes", "Images", "Review", "Model", "Help"]


@pytest.fixture(autouse=True)
def no_menu_left() -> Iterator[None]:
    """Close open popups, which would take the keys of later tests."""
    yield
    while (popup := QApplication.activePopupWidget()) is not None:
        popup.close()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (MENUS, ["&File", "&Edit", "&View", "&Classes", "&Images", "&Review", "&Model", "&Help"]),
        (["Bilder", "Bearbeiten", "Bild öffnen"], ["&Bilder", "B&earbeiten", "B&ild öffnen"]),
        (["文件", "新建…"], ["文件(&F)", "新建(&N)…"]),
        (["Undo A && B", "A"], ["&Undo A && B", "&A"]),
        (["1 star", "2 stars"], ["&1 star", "&2 stars"]),
        (["A", "A"], ["&A", "A"]),
    ],
)
def test_letters_are_initials_and_each_is_there_once(texts: list[str], expected: list[str]) -> None:
    """Chinese texts get an English initial appended; an ampersand of the text is escaped."""
    hints = {"文件": "File", "新建…": "new project"}
    marked = marked_letters(texts, [hints.get(text, text) for text in texts])
    assert marked == expected
    assert [without_mark(text) for text in marked] == texts


@pytest.mark.slow
def test_alt_and_a_letter_open_a_menu_and_a_letter_chooses_in_it(reviewing: Desk) -> None:
    """Alt+V opens View, S its submenu of orders, N sorts by name."""
    reviewing.press(Key.Key_V, ALT)
    view = open_menu()
    assert without_mark(view.title()) == "View"
    QTest.keyClick(view, Key.Key_S)
    reviewing.wait(lambda: open_menu() is not view)
    orders = open_menu()
    assert titles(orders)[:2] == ["Teach first", "Least certain first"]
    QTest.keyClick(orders, Key.Key_N)
    assert QApplication.activePopupWidget() is None
    (order,) = reviewing.window.workspace.header.findChildren(QComboBox)
    assert order.currentText() == "By name"
    assert reviewing.window.registry.action("order_name").text() == "Name"


@pytest.mark.slow
def test_f10_opens_the_first_menu_and_arrows_go_on(reviewing: Desk) -> None:
    """The arrow keys move to the next menu; Esc closes it."""
    reviewing.press(Key.Key_F10)
    first = open_menu()
    assert without_mark(first.title()) == "File"
    QTest.keyClick(first, Key.Key_Right)
    assert without_mark(open_menu().title()) == "Edit"
    QTest.keyClick(open_menu(), Key.Key_Escape)
    assert QApplication.activePopupWidget() is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "keys"), [(Key.Key_Menu, Qt.KeyboardModifier.NoModifier), (Key.Key_F10, SHIFT)]
)
def test_the_menu_key_and_shift_f10_open_the_menu_of_the_card(
    reviewing: Desk, key: Qt.Key, keys: Qt.KeyboardModifier
) -> None:
    """It opens at the current card and acts on that card."""
    image_id = reviewing.choose(3)
    reviewing.press(key, keys)
    menu = open_menu()
    card = reviewing.grid.visualRect(reviewing.grid.currentIndex())
    assert card.contains(reviewing.grid.viewport().mapFromGlobal(menu.pos()))
    choose(menu, "Open the image")
    assert reviewing.window.workspace.image_view.isVisible()
    assert reviewing.grid.current_id == image_id


@pytest.mark.slow
def test_shift_f10_opens_the_menu_of_a_class(reviewing: Desk) -> None:
    reviewing.window.tree.select_class(reviewing.graph.find("Red disc"))
    reviewing.window.tree.front.setFocus()
    reviewing.press(Key.Key_F10, SHIFT)
    assert "New class under Red disc…" in titles(open_menu())


@pytest.mark.slow
def test_shift_f10_opens_the_menu_of_a_node_of_the_graph(reviewing: Desk) -> None:
    """Shift+F10 opens the menu of the selected class at its node."""
    disc = reviewing.graph.find("Red disc")
    reviewing.window.tree.select_class(disc)
    reviewing.window.workspace.show_graph(True)
    canvas = reviewing.window.workspace.graph.board.canvas
    reviewing.wait(
        lambda: canvas.drawing.row_of(disc) is not None and canvas.chosen.current == disc
    )
    reviewing.wait(canvas.hasFocus)
    reviewing.press(Key.Key_F10, SHIFT)
    assert "New class under Red disc…" in titles(open_menu())


@pytest.mark.slow
def test_the_single_view_has_the_menu_of_its_image(reviewing: Desk) -> None:
    """A right click opens it at the pointer, Shift+F10 in the centre."""
    reviewing.choose(2)
    reviewing.press(Key.Key_Space)
    view = reviewing.window.workspace.image_view
    reviewing.wait(lambda: view.has_image)
    place = QPoint(20, 150)
    click(view.canvas, place, RIGHT)
    by_mouse = open_menu()
    assert by_mouse.pos() == view.canvas.mapToGlobal(place)
    lines = titles(by_mouse)
    assert {"Accept prediction", "Flag (toggle)", "Show in folder"} <= set(lines)
    by_mouse.close()
    view.setFocus()
    reviewing.press(Key.Key_F10, SHIFT)
    assert titles(open_menu()) == lines
    choose(open_menu(), "Flag (toggle)")
    current = reviewing.grid.current_id
    assert current is not None
    reviewing.wait(
        lambda: (note := reviewing.state.notes.get(current)) is not None and note.is_flagged
    )


@pytest.mark.slow
def test_f11_fills_the_screen_and_gives_it_back(reviewing: Desk) -> None:
    """A maximised window is maximised again afterwards."""
    reviewing.window.showMaximized()
    reviewing.press(Key.Key_F11)
    assert reviewing.window.isFullScreen()
    reviewing.press(Key.Key_F11)
    assert not reviewing.window.isFullScreen()
    assert reviewing.window.isMaximized()


@pytest.mark.slow
def test_nothing_is_seen_behind_the_corners_of_a_menu(reviewing: Desk) -> None:
    """Menus of the menu bar and context menus have transparent corners."""
    for key, keys in ((Key.Key_E, ALT), (Key.Key_F10, SHIFT)):
        reviewing.choose(1)
        reviewing.press(key, keys)
        picture = open_menu().grab().toImage()
        last = picture.width() - 1
        assert [picture.pixelColor(x, 0).alpha() for x in (0, last)] == [0, 0]
        assert picture.pixelColor(last // 2, picture.height() // 2).alpha() == FULL
        QTest.keyClick(open_menu(), Key.Key_Escape)


@pytest.mark.slow
def test_letters_stand_on_open_menus_only(reviewing: Desk) -> None:
    """A closed menu has plain texts again, for the palette and other menus with the same action."""
    reviewing.press(Key.Key_R, ALT)
    menu = open_menu()
    assert isinstance(menu, QMenu)
    action = reviewing.window.registry.action("accept")
    assert action.text() == "&Accept prediction"
    QTest.keyClick(menu, Key.Key_Escape)
    assert action.text() == "Accept prediction"
