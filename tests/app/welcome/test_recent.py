"""Recent projects on the start page, and the one opened at the start."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.actions.menu_keys import without_mark
from app.help.controller import Help
from app.settings import Settings
from app.texts import for_menu
from app.welcome import recent_facts
from app.welcome.controller import Projects
from engine.config import CacheFolders
from tests.support.clicks import click as click_at
from tests.support.collections import Collection
from tests.support.desk import CONTROL, Desk
from tests.support.sessions import LONG_MS, changed_by, recorded


@pytest.fixture
def gone(tmp_path: Path) -> Path:
    """A project on a drive that is not there."""
    return tmp_path / "stick" / "beetles & moths.protoleaf"


@pytest.fixture
def returning(
    qtbot: QtBot, settings: Settings, collection: Collection, gone: Path
) -> Iterator[Desk]:
    """A window at the start page with two recent projects."""
    settings.remember_project(gone)
    settings.remember_project(collection.project)
    desk = Desk(qtbot, settings)
    yield desk
    desk.leave()


def click(desk: Desk, button: QWidget) -> None:
    """Click a button."""
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def top_of(widget: QWidget, desk: Desk) -> int:
    """Vertical position of a widget in the window."""
    return widget.mapTo(desk.window, widget.rect().topLeft()).y()


def test_recent_projects_stand_above_the_sample(returning: Desk, collection: Collection) -> None:
    """The latest first; one click opens it."""
    welcome = returning.window.of(Projects).page
    first, second = welcome.recent.rows.values()
    assert first.x() < second.x()
    assert top_of(first, returning) == top_of(second, returning) < top_of(welcome.sample, returning)
    with returning.qtbot.waitSignal(returning.window.session.loaded, timeout=LONG_MS):
        click(returning, first)
        assert not welcome.isVisible()  # the panes are shown before the project is read
    assert returning.window.session.info is not None
    assert returning.window.session.info.path == collection.project


@pytest.mark.slow
def test_enter_goes_on_where_one_was(returning: Desk, collection: Collection) -> None:
    """The latest project has the focus; Tab goes down the page."""
    page = returning.window.of(Projects).page
    first, second = page.recent.rows.values()
    assert first.hasFocus()
    returning.press(Qt.Key.Key_Tab)
    assert second.hasFocus()
    returning.wait(second.forget_button.isVisible)
    for after in (second.forget_button, page.sample, page.guide, page.buttons["new_project"]):
        returning.press(Qt.Key.Key_Tab)
        assert after.hasFocus()
    first.setFocus()
    with returning.qtbot.waitSignal(returning.window.session.loaded, timeout=LONG_MS):
        returning.press(Qt.Key.Key_Return)
    assert returning.window.session.info is not None
    assert returning.window.session.info.path == collection.project


@pytest.mark.slow
def test_one_that_is_gone_says_so_and_can_be_taken_off(
    returning: Desk, collection: Collection, gone: Path
) -> None:
    """Only a missing file has that button; the list stays shorter after a restart."""
    rows = returning.window.of(Projects).page.recent.rows
    returning.wait(rows[gone].forget_button.isVisible)
    assert not rows[collection.project].forget_button.isVisible()
    assert rows[gone].words[:2] == ["beetles & moths", "Not found"]
    click(returning, rows[gone].forget_button)
    assert list(returning.window.of(Projects).page.recent.rows) == [collection.project]
    assert returning.window.settings.recent_projects() == [collection.project]


@pytest.mark.slow
def test_opening_one_that_is_gone_leads_back_with_a_sentence(returning: Desk, gone: Path) -> None:
    """It can be tried, as it may exist again."""
    click(returning, returning.window.of(Projects).page.recent.rows[gone])
    returning.wait(lambda: "beetles & moths" in returning.window.toast.message)
    assert returning.window.of(Projects).page.isVisible()


@pytest.mark.slow
def test_the_disk_is_asked_on_another_thread(
    qtbot: QtBot, settings: Settings, gone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recent projects are read on a thread, so that a hanging share cannot block the window."""
    threads: list[threading.Thread] = []
    looked = recent_facts.facts_of

    def noting(path: Path, caches: CacheFolders) -> recent_facts.RecentFacts:
        threads.append(threading.current_thread())
        return looked(path, caches)

    monkeypatch.setattr(recent_facts, "facts_of", noting)
    settings.remember_project(gone)
    desk = Desk(qtbot, settings)
    desk.wait(desk.window.of(Projects).page.recent.rows[gone].forget_button.isVisible)
    assert threads
    assert threading.main_thread() not in threads
    desk.leave()


@pytest.mark.slow
def test_a_project_shows_its_face_progress_and_date(
    returning: Desk, collection: Collection
) -> None:
    """A cached thumbnail of one of its images, the number of labels, and the modification date."""
    card = returning.window.of(Projects).page.recent.rows[collection.project]
    returning.wait(lambda: bool(card.facts))
    assert card.facts == "24 of 64 labelled  ·  Today"
    returning.open(collection.project)
    returning.window.registry.trigger("show_to_review")
    image_id = returning.choose(0)
    returning.wait(lambda: not returning.window.thumbnails.is_busy)
    changed_by(
        returning.qtbot,
        returning.window.session,
        lambda: returning.window.session.label((image_id,), min(returning.graph.leaves())),
    )
    returning.press(Qt.Key.Key_W, CONTROL)
    returning.wait(returning.window.of(Projects).page.isVisible)
    again = returning.window.of(Projects).page.recent.rows[collection.project]
    returning.wait(lambda: again.picture.has_picture)
    assert again.facts == "25 of 64 labelled  ·  Today"


@pytest.mark.slow
def test_a_file_that_is_no_project_says_so(
    qtbot: QtBot, settings: Settings, tmp_path: Path
) -> None:
    """It stays in the list."""
    broken = tmp_path / "broken.protoleaf"
    broken.write_text("nothing")
    settings.remember_project(broken)
    desk = Desk(qtbot, settings)
    card = desk.window.of(Projects).page.recent.rows[broken]
    desk.wait(lambda: card.facts == "Cannot be read")
    assert not card.forget_button.isVisible()
    desk.leave()


@pytest.mark.slow
def test_sample_and_guide_have_a_place(desk: Desk) -> None:
    """Each with a picture; one button is primary. A click on the guide opens its first page."""
    page = desk.window.of(Projects).page
    assert [page.buttons[name].property("variant") for name in ("new_project", "open_project")] == [
        "primary",
        None,
    ]
    assert page.buttons["new_project"].hasFocus()
    desk.wait(lambda: page.sample.picture.has_picture and page.guide.picture.has_picture)
    click(desk, page.guide)
    guide = desk.window.of(Help)
    desk.wait(lambda: guide.window is not None and guide.window.page == "first-collection")
    assert guide.window is not None
    guide.window.close()


@pytest.mark.slow
@pytest.mark.parametrize("is_wanted", [True, False])
def test_the_last_project_is_opened_at_the_start_if_one_wants(
    returning: Desk, collection: Collection, is_wanted: bool
) -> None:
    """If disabled, the program starts with the start page."""
    returning.window.settings.opens_last_project = is_wanted
    returning.window.begin()
    if not is_wanted:
        assert returning.window.of(Projects).page.isVisible()
        return
    returning.wait(lambda: returning.window.session.state is not None)
    assert returning.window.session.info is not None
    assert returning.window.session.info.path == collection.project


@pytest.mark.slow
def test_a_row_opens_its_project_wherever_it_is_clicked(
    returning: Desk, collection: Collection
) -> None:
    """The folder's name can be clicked, too; a press released elsewhere opens nothing."""
    row = returning.window.of(Projects).page.recent.rows[collection.project]
    place = QPoint(row.width() - 12, row.height() - 12)
    opened = recorded(returning.window.of(Projects).page.project_requested)
    returning.qtbot.mousePress(row, Qt.MouseButton.LeftButton, pos=place)
    returning.qtbot.mouseRelease(
        row, Qt.MouseButton.LeftButton, pos=QPoint(place.x(), row.height() + 30)
    )
    assert opened == []
    with returning.qtbot.waitSignal(returning.window.session.loaded, timeout=LONG_MS):
        click_at(row, place)
    assert opened == [(collection.project,)]


def open_recent(desk: Desk) -> QMenu:
    """The menu "Open recent", opened from the menu bar."""
    menu = next(each.menu() for each in desk.window.menuBar().actions() if each.text() == "&File")
    assert isinstance(menu, QMenu)
    row = next(each for each in menu.actions() if without_mark(each.text()) == "Open recent")
    click_at(
        desk.window.menuBar(),
        desk.window.menuBar().actionGeometry(desk.window.menuBar().actions()[0]).center(),
    )
    menu.setActiveAction(row)
    desk.qtbot.keyClick(menu, Qt.Key.Key_Right)
    submenu = row.menu()
    assert isinstance(submenu, QMenu)
    desk.wait(submenu.isVisible)
    return submenu


@pytest.mark.slow
def test_the_menu_opens_a_recent_project(
    returning: Desk, collection: Collection, gone: Path
) -> None:
    """File, Open recent, a name; the open project is not listed."""
    menu = open_recent(returning)
    names = [without_mark(action.text()) for action in menu.actions() if action.text()]
    assert names == [collection.project.stem, for_menu(gone.stem), "Clear recent projects"]
    with returning.qtbot.waitSignal(returning.window.session.loaded, timeout=LONG_MS):
        click_at(menu, menu.actionGeometry(menu.actions()[0]).center())
    assert returning.window.session.info is not None
    assert returning.window.session.info.path == collection.project
    assert without_mark(open_recent(returning).actions()[0].text()) == for_menu(gone.stem)
    while (popup := QApplication.activePopupWidget()) is not None:
        popup.close()


@pytest.mark.slow
def test_the_list_of_recent_projects_is_cleared(
    returning: Desk, collection: Collection, settings: Settings
) -> None:
    """The list is cleared in the menu and on the start page; the files stay."""
    menu = open_recent(returning)
    click_at(menu, menu.actionGeometry(menu.actions()[-1]).center())
    assert settings.recent_projects() == []
    assert returning.window.of(Projects).page.recent.rows == {}
    assert collection.project.exists()
