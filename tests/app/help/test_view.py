"""The user guide in the window: opened, searched and read with keys and mouse."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest
from PIL import Image
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListWidget, QWidget

from app.computing.controller import Computing
from app.feature import set_guide_page
from app.features import ACTIONS
from app.help.controller import Help
from app.help.guide import CONTENTS
from app.help.typesetting import PICTURE as PLACE_OF_PICTURE
from app.help.typesetting import PIXELS_FOR_ONE, blocks_of
from app.help.view import LEAST_SIZE, GuideWindow
from app.theme import set_scheme
from app.theme.tokens import tokens
from tests.support.clicks import click
from tests.support.clipping import clipped
from tests.support.contrast import READABLE, contrast
from tests.support.desk import CONTROL, Desk
from tests.support.sessions import LONG_MS

Key = Qt.Key
ALT = Qt.KeyboardModifier.AltModifier
FILLING = "Some words that fill the page.\n\n" * 60
PICTURE = (900, 240)
PAGES = {
    CONTENTS: "# Guide\n\nStart with [the keys](keys.md), or read [of undo](keeping.md#undo). "
    "See [below](#end)."
    f"\n\n{FILLING}\n\n## End\n\n[Backbones](backbones.md)\n",
    "keys": "# Keys\n\nPress `Enter` to **accept**.\n\n"
    "| key | does |\n|---|---|\n| `R` | label as |\n\n"
    "![A](images/a.png)\n",
    "keeping": f"# Keeping\n\n{FILLING}\n\n## Undo\n\nUndo works after a restart.\n\n{FILLING}",
    "backbones": "# Backbones\n\nA network.\n\n```sh\nprotoleaf backbone list\n```\n\n> A note.\n",
}


@pytest.fixture(autouse=True)
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A guide of the test instead of the real one."""
    folder = tmp_path / "guide"
    (folder / "images").mkdir(parents=True)
    for name, text in PAGES.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    Image.new("RGB", PICTURE, "red").save(folder / "images" / "a.png")
    monkeypatch.setattr("engine.config.guide_folder", lambda: folder)
    return folder


@pytest.fixture
def guide(desk: Desk) -> Iterator[GuideWindow]:
    """The guide, opened with its key."""
    desk.wait(desk.window.isActiveWindow)
    desk.press(Key.Key_F1)
    window = opened(desk)
    yield window
    set_scheme("system")


def opened(desk: Desk) -> GuideWindow:
    window = desk.window.of(Help).window
    assert window is not None
    desk.qtbot.waitExposed(window, timeout=LONG_MS)
    desk.wait(lambda: bool(window.page))
    return window


def shown(guide: GuideWindow) -> str:
    """The first visible line of the page."""
    return guide.text.cursorForPosition(QPoint(40, 16)).block().text()


def link_place(guide: GuideWindow, words: str) -> QPoint:
    """The position of a link in the viewport."""
    cursor = guide.text.document().find(words)
    assert not cursor.isNull()
    cursor.setPosition(cursor.selectionStart() + 1, QTextCursor.MoveMode.MoveAnchor)
    return guide.text.cursorRect(cursor).center()


def press(
    widget: QWidget, key: Key, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    QTest.keyPress(widget, key, keys)
    QTest.keyRelease(widget, key, keys)


def type_words(guide: GuideWindow, words: str) -> None:
    guide.ask()
    QTest.keyClicks(guide.field, words)


def titles(entries: QListWidget) -> list[str]:
    return [entries.item(row).text() for row in range(entries.count())]


def test_the_key_opens_the_contents(guide: GuideWindow) -> None:
    """All pages on the left, the first on the right, the focus in the search field."""
    assert titles(guide.contents) == ["Guide", "Keys", "Keeping", "Backbones"]
    assert (guide.page, shown(guide)) == (CONTENTS, "Guide")
    assert guide.field.hasFocus()


@pytest.mark.slow
def test_the_menu_opens_it_without_a_project(desk: Desk) -> None:
    """A second call shows the same window at the same page."""
    (row,) = (row for row in ACTIONS if row.name == "user_guide")
    action = desk.window.registry.action(row.name)
    assert (row.section.menu, action.text(), action.isEnabled()) == ("Help", "User guide", True)
    action.trigger()
    window = opened(desk)
    window.visit("keys")
    window.close()
    action.trigger()
    assert opened(desk) is window
    assert (window.page, window.isVisible()) == ("keys", True)


@pytest.mark.slow
def test_links_lead_to_pages_and_headings(guide: GuideWindow, desk: Desk) -> None:
    """A click follows a link; Back restores the scroll position, also by key and mouse button."""
    click(guide.text.viewport(), link_place(guide, "of undo"))
    assert (guide.page, shown(guide)) == ("keeping", "Undo")
    click(guide.back_button)
    assert (guide.page, shown(guide)) == (CONTENTS, "Guide")
    click(guide.text.viewport(), link_place(guide, "below"))
    assert guide.page == CONTENTS
    assert guide.text.verticalScrollBar().value() == guide.text.verticalScrollBar().maximum()
    press(guide.field, Key.Key_Left, ALT)
    press(guide.field, Key.Key_Right, ALT)
    desk.wait(lambda: guide.text.verticalScrollBar().value() > 0)
    QTest.mousePress(guide.text.viewport(), Qt.MouseButton.BackButton)
    QTest.mouseRelease(guide.text.viewport(), Qt.MouseButton.BackButton)
    assert shown(guide) == "Guide"


@pytest.mark.slow
def test_tab_and_enter_follow_links(guide: GuideWindow) -> None:
    """Links are followed by keyboard alone."""
    guide.text.setFocus()
    press(guide.text, Key.Key_Tab)
    press(guide.text, Key.Key_Return)
    assert guide.page == "keys"


@pytest.mark.slow
def test_search_as_one_types(guide: GuideWindow) -> None:
    """Arrows select, Enter opens the heading with highlighted matches; Esc clears, then closes."""
    type_words(guide, "undo")
    assert [hit.section.title for hit in guide.results.hits] == ["Undo", "Guide"]
    press(guide.field, Key.Key_Return)
    assert (guide.page, shown(guide)) == ("keeping", "Undo")
    assert guide.text.extraSelections()
    press(guide.field, Key.Key_Down)
    press(guide.field, Key.Key_Return)
    assert guide.page == CONTENTS
    press(guide.field, Key.Key_Escape)
    assert (guide.field.text(), guide.contents.isVisible()) == ("", True)
    press(guide.field, Key.Key_Escape)
    assert not guide.isVisible()


@pytest.mark.slow
def test_a_result_is_clicked(guide: GuideWindow) -> None:
    """A click opens a result or a page of the contents."""
    type_words(guide, "acc")
    click(guide.results.viewport(), guide.results.visualItemRect(guide.results.item(0)).center())
    assert guide.page == "keys"
    press(guide.field, Key.Key_Escape)
    click(guide.contents.viewport(), guide.contents.visualItemRect(guide.contents.item(3)).center())
    assert guide.page == "backbones"


@pytest.mark.slow
def test_nothing_found_says_so(guide: GuideWindow) -> None:
    """A hint takes the place of the results."""
    type_words(guide, "zebra")
    assert guide.nothing.isVisible()
    press(guide.field, Key.Key_Return)
    assert guide.page == CONTENTS


@pytest.mark.slow
def test_contents_by_keyboard(guide: GuideWindow) -> None:
    """Arrow keys walk the contents from the field or in the list; page keys turn the page."""
    press(guide.field, Key.Key_Down)
    press(guide.field, Key.Key_Return)
    assert guide.page == "keys"
    guide.contents.setFocus()
    press(guide.contents, Key.Key_Down)
    press(guide.contents, Key.Key_Return)
    assert guide.page == "keeping"
    press(guide.field, Key.Key_PageDown)
    assert guide.text.verticalScrollBar().value() > 0


@pytest.mark.slow
def test_pictures_fit(guide: GuideWindow, desk: Desk) -> None:
    """Pictures have their own size or the page's width, at the screen's pixel ratio."""
    guide.visit("keys")
    for width, is_whole in ((1400, True), (LEAST_SIZE.width(), False)):
        guide.resize(width, 700)
        desk.wait(lambda: guide.width() == width)  # noqa: B023 (called at once)
        place = picture_place(guide)
        assert (place.width() == PICTURE[0] / PIXELS_FOR_ONE) == is_whole
        assert place.right() <= guide.text.viewport().width()
        assert place.height() == pytest.approx(place.width() * PICTURE[1] / PICTURE[0], abs=8)
        desk.wait(lambda: is_red(guide, place.center().toPoint()))  # noqa: B023 (called at once)


def is_red(guide: GuideWindow, place: QPoint) -> bool:
    """Whether the picture was loaded and is painted there."""
    return guide.text.viewport().grab().toImage().pixelColor(place).name() in {"#ff0000", "#fe0000"}


def picture_place(guide: GuideWindow) -> QRectF:
    """The centre of the painted picture."""
    (block,) = (
        block for block in blocks_of(guide.text.document()) if PLACE_OF_PICTURE in block.text()
    )
    layout = block.layout()
    line = layout.lineAt(0)
    corner = layout.position() + QPointF(0, -guide.text.verticalScrollBar().value())
    return line.naturalTextRect().translated(corner)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_fit_and_can_be_read(guide: GuideWindow, desk: Desk, scheme: str) -> None:
    """Nothing is clipped in the smallest window, and all colours contrast with the background."""
    set_scheme(scheme)
    guide.resize(LEAST_SIZE)
    desk.wait(lambda: guide.size() == LEAST_SIZE)
    assert clipped(guide) == []
    for page in PAGES:
        guide.visit(page)
        assert guide.text.horizontalScrollBar().maximum() == 0
        assert guide.text.document().idealWidth() <= guide.text.viewport().width()
        for words, ground in colours_of(guide):
            assert contrast(words, ground) >= READABLE, (page, words, ground)


def colours_of(guide: GuideWindow) -> set[tuple[str, str]]:
    """Text and background colours of all parts of a page."""
    found = set()
    for block in blocks_of(guide.text.document()):
        at = block.begin()
        while not at.atEnd():
            letters = at.fragment().charFormat()
            grounds = (letters.background(), block.blockFormat().background())
            look = tokens().colours
            found.add(
                (first_of((letters.foreground(),), look.text), first_of(grounds, look.surface))
            )
            at += 1
    return found


def first_of(brushes: Sequence[QBrush], otherwise: str) -> str:
    """The colour of the first brush with a style."""
    return next(
        (brush.color().name() for brush in brushes if brush.style() is not Qt.BrushStyle.NoBrush),
        otherwise,
    )


@pytest.mark.slow
def test_the_page_of_a_panel(guide: GuideWindow, desk: Desk) -> None:
    """The key opens the page about the focused panel."""
    guide.close()
    desk.window.activateWindow()
    desk.wait(desk.window.isActiveWindow)
    desk.window.of(Computing).look = lambda: None  # type: ignore[method-assign]
    desk.press(Key.Key_D, CONTROL)
    set_guide_page(cast("QWidget", desk.window.of(Computing).panel), "keeping#undo")
    desk.press(Key.Key_F1)
    assert (guide.page, shown(guide)) == ("keeping", "Undo")


@pytest.mark.slow
def test_whoever_sees_nothing_hears_what_each_part_is(guide: GuideWindow) -> None:
    """Every tab stop has an accessible name; the page has that of its heading."""
    stops = [
        part for part in guide.findChildren(QWidget) if part.focusPolicy() & Qt.FocusPolicy.TabFocus
    ]
    named = [part for part in stops if part.isVisible()]
    assert len(named) >= 4
    assert all(part.accessibleName() for part in named)
    assert guide.text.accessibleName() == "Guide"
    type_words(guide, "undo")
    words = guide.results.item(0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert words.startswith(
        "Undo. Keeping. Undo works after a restart. Some words that fill the page."
    )


@pytest.mark.slow
def test_a_guide_that_is_not_there(desk: Desk, pages: Path) -> None:
    """The window shows the error in place of the page."""
    (pages / "keys.md").unlink()
    desk.press(Key.Key_F1)
    window = desk.window.of(Help).window
    assert window is not None
    desk.wait(lambda: "a page of the user guide cannot be read" in window.text.toPlainText())
