"""Collapsible parts of the pages: by mouse and keys, with their state stored."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollArea, QSlider
from pytestqt.qtbot import QtBot

from app.images.strip import ThumbnailStrip
from app.inspector.about_file import AboutFile
from app.inspector.class_notes import ClassNotes
from app.inspector.image_page import Why
from app.inspector.page import Fold, FoldHead, Page, PagePart, ScoreLine
from app.settings import Settings
from tests.support.clicks import click
from tests.support.desk import Desk
from tests.support.inspected import curve_of_class, facts_of_class, facts_of_image
from tests.support.inspector_pane import Pane
from tests.support.sessions import LONG_MS
from tests.support.widgets import button, open_part, texts

Key = Qt.Key


def parts_of(page: Page) -> list[str]:
    """The headings of visible parts and folds of a page, from top to bottom."""
    found = [part for part in page.findChildren(PagePart) if part.isVisible()]
    folds = [fold for fold in page.findChildren(Fold) if fold.parentWidget() is page]
    inner = sorted([*found, *folds], key=lambda part: part.mapTo(page, part.rect().topLeft()).y())
    return [
        part.head.text() if isinstance(part, Fold) else texts(part).splitlines()[0]
        for part in inner
    ]


def head(page: Page, title: str) -> FoldHead:
    found = button(page, title)
    assert isinstance(found, FoldHead)
    return found


def test_c14_an_image_has_three_parts(pane: Pane) -> None:
    """The prediction with a bar for each likely class; the reason in words; the file, collapsed."""
    page = pane.show_image(facts_of_image())
    assert parts_of(page) == ["Why Gull", "About this file"]
    rows = [line for line in page.findChildren(ScoreLine) if line.isVisible()]
    (why,) = page.findChildren(Why)
    assert len(rows) == 9
    assert all(line.y() < why.y() for line in rows)
    assert "Mostly because it looks like these:" in texts(why)
    assert "%" not in texts(why)
    strip = next(each for each in why.findChildren(ThumbnailStrip) if each.isVisible())
    assert strip.mapTo(page, QPoint()).y() < head(page, "Details").mapTo(page, QPoint()).y()
    (about,) = page.findChildren(AboutFile)
    assert not about.isVisible()


def test_c14_shares_are_behind_details(pane: Pane) -> None:
    page = pane.show_image(facts_of_image())
    (why,) = page.findChildren(Why)
    open_part(page, "Details")
    assert (
        "90% from the images above, 10% from the prototype of Gull. Gull was learned from:"
        in texts(why)
    )
    assert [line.accessibleName() for line in why.findChildren(ScoreLine)] == [
        "Its own images, 60%",
        "From Gull, 40%",
    ]
    open_part(page, "About this file")
    click(head(page, "Details"))
    assert "%" not in texts(why)


def test_c14_parts_open_by_keys_and_say_so(pane: Pane, qtbot: QtBot) -> None:
    """Tab reaches a heading; Enter and Space toggle it, and the accessible state follows."""
    page = pane.show_image(facts_of_image())
    pane.area.activateWindow()
    pane.area.setFocus()
    qtbot.waitUntil(pane.area.hasFocus, timeout=LONG_MS)
    details = head(page, "Details")
    for _ in range(30):
        if details.hasFocus():
            break
        QTest.keyClick(QApplication.focusWidget() or pane.area, Key.Key_Tab)
    assert details.hasFocus()
    assert (details.accessibleName(), details.accessibleDescription()) == ("Details", "Collapsed")
    QTest.keyClick(details, Key.Key_Return)
    assert (details.isChecked(), details.accessibleDescription()) == (True, "Expanded")
    QTest.keyClick(details, Key.Key_Space)
    assert (details.isChecked(), details.accessibleDescription()) == (False, "Collapsed")
    QTest.keyClick(details, Key.Key_Tab)
    assert head(page, "About this file").hasFocus()


@pytest.mark.slow
def test_what_is_opened_stays_so_for_its_kind_of_page(pane: Pane) -> None:
    """The state is kept for the next class and after a restart; pages of images have their own."""
    open_part(pane.show_class(facts_of_class()), "Rules and notes")
    assert head(pane.show_class(facts_of_class(name="Tern")), "Rules and notes").isChecked()
    assert Settings().is_part_open("class/rules")
    assert not Settings().is_part_open("image/file")
    click(head(pane.show_class(facts_of_class()), "Rules and notes"))
    assert not head(pane.show_class(facts_of_class()), "Rules and notes").isChecked()


def test_c15_a_class_has_four_parts(pane: Pane) -> None:
    """Examples, likely images, place in the graph; rules and notes are collapsed."""
    page = pane.show_class(facts_of_class(parents=2, curve=curve_of_class()))
    assert parts_of(page) == ["Examples", "Likely images", "Place in the graph", "Rules and notes"]
    (slider,), (notes,) = page.findChildren(QSlider), page.findChildren(ClassNotes)
    assert not slider.isVisible()
    assert not notes.isVisible()
    open_part(page, "Rules and notes")
    assert slider.isVisible()
    assert notes.isVisible()


def test_c15_suggested_parents_are_in_the_place_in_the_graph(pane: Pane) -> None:
    page = pane.show_class(facts_of_class(parents=0, suggested=2))
    assert parts_of(page) == ["Examples", "Likely images", "Place in the graph", "Rules and notes"]
    part = next(
        each for each in page.findChildren(PagePart) if texts(each).startswith("Place in the graph")
    )
    assert "At the top level: it has no parent." in texts(part)
    assert len(part.findChildren(ScoreLine)) == 2
    assert button(part, "Add a parent to").isVisible()


@pytest.mark.slow
def test_a_part_that_is_opened_is_scrolled_to(reviewing: Desk) -> None:
    """In a low window as much of the part is shown as fits, starting at its heading."""
    window = reviewing.window
    window.resize(1000, 640)
    window.tree.select_class(reviewing.graph.find("Red disc"))
    reviewing.wait(lambda: window.inspector.class_facts is not None)
    area = next(each for each in window.inspector.findChildren(QScrollArea) if each.isVisible())
    page = area.widget()
    assert isinstance(page, Page)
    rules = head(page, "Rules and notes")
    area.ensureWidgetVisible(rules)
    click(rules)
    reviewing.wait(lambda: area.verticalScrollBar().maximum() > 0)
    reviewing.wait(lambda: 0 <= rules.mapTo(area, rules.rect().topLeft()).y() < area.height() // 4)
