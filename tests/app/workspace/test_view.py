"""The centre with a real project: grid, single image, and the empty page."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QComboBox, QSlider
from pytestqt.qtbot import QtBot

from app.class_requests import ClassRequests
from app.features import BY_NAME
from app.image_grid.held_order import Order
from app.images.thumbnails import Thumbnails
from app.session import Session
from app.session.subsets import Subset
from app.settings import Settings
from app.workspace.view import Workspace
from tests.support.collections import Collection
from tests.support.sessions import LONG_MS, act, open_project


@pytest.fixture
def settings(own_settings_and_caches: None, tmp_path: Path) -> Settings:
    """Settings of this test."""
    return Settings(QSettings(f"{tmp_path}/own.ini", QSettings.Format.IniFormat))


@pytest.fixture
def workspace(
    qtbot: QtBot,
    session: Session,
    collection: Collection,
    settings: Settings,
    thumbnails: Thumbnails,
) -> Iterator[Workspace]:
    """The centre with the small collection open."""
    workspace = Workspace(session, thumbnails, settings, BY_NAME, ClassRequests())
    qtbot.addWidget(workspace)
    workspace.resize(900, 700)
    workspace.show()
    open_project(qtbot, session, collection.project)
    yield workspace
    workspace.image_view.stop()


@pytest.mark.slow
def test_the_grid_follows_what_is_chosen(workspace: Workspace, session: Session) -> None:
    """A subset, a class with a subset, and back."""
    assert workspace.model.rowCount() == 64
    workspace.show_subset(Subset.TO_REVIEW)
    assert workspace.model.rowCount() == 40
    workspace.show_class(session.graph.find("Blue"))
    everything = workspace.model.rowCount()
    workspace.show_subset_of_class(Subset.LABELLED)
    assert workspace.model.rowCount() == 9
    assert everything > 9
    assert workspace.class_id == session.graph.find("Blue")


@pytest.mark.slow
def test_a_visit_to_one_image_comes_back_to_the_same_place(
    qtbot: QtBot, workspace: Workspace
) -> None:
    """Esc restores the scroll position, although arrows moved on meanwhile."""
    bar = workspace.grid.verticalScrollBar()
    workspace.grid.select_row(0)
    bar.setValue(bar.maximum() // 2)
    seen, cards = workspace.grid.viewport().rect(), range(workspace.model.rowCount())
    row = next(
        row for row in cards if seen.contains(workspace.grid.visualRect(workspace.model.index(row)))
    )
    workspace.grid.select_row(row)
    place = bar.value()
    workspace.open_image(workspace.model.id_at(row))
    assert workspace.image_view.isVisible()
    qtbot.waitUntil(lambda: workspace.image_view.has_image, timeout=LONG_MS)
    qtbot.keyClick(workspace.image_view, Qt.Key.Key_Right)
    assert workspace.grid.currentIndex().row() == row + 1
    qtbot.keyClick(workspace.image_view, Qt.Key.Key_Left)
    qtbot.keyClick(workspace.image_view, Qt.Key.Key_Escape)
    assert workspace.grid.isVisible()
    assert bar.value() == place


def test_a_removed_class_is_left(qtbot: QtBot, workspace: Workspace, session: Session) -> None:
    """When the shown class is removed, the whole collection is shown."""
    disc = session.graph.find("Red disc")
    workspace.show_class(disc)
    act(qtbot, session, lambda project: project.classes.remove([disc]))
    assert workspace.class_id is None
    assert workspace.model.rowCount() == 64


@pytest.mark.slow
def test_done_shows_the_page_for_done(qtbot: QtBot, workspace: Workspace, session: Session) -> None:
    """When the last image of a subset is labelled, the page says "All done"."""
    workspace.show_subset(Subset.TO_REVIEW)
    ids = workspace.model.image_ids.tolist()
    act(qtbot, session, lambda project: project.labels.set(ids, None))
    assert workspace.model.rowCount() == 0
    assert workspace.empty.isVisible()
    assert workspace.empty.title == "All done"
    workspace.show_subset(Subset.FAILED)
    assert workspace.empty.title == "Every file could be read"


@pytest.mark.slow
def test_zoom_and_order_are_remembered(
    qtbot: QtBot, workspace: Workspace, session: Session, thumbnails: Thumbnails, settings: Settings
) -> None:
    """Both are changed in the header, and restored at the next start."""
    (slider,) = workspace.header.findChildren(QSlider)
    (box,) = workspace.header.findChildren(QComboBox)
    before = workspace.grid.thumbnail_side
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    box.setCurrentIndex(box.findText("By class") - 1)
    qtbot.keyClick(box, Qt.Key.Key_Down)
    chosen = workspace.grid.thumbnail_side
    assert chosen > before
    assert workspace.model.order is Order.CLASS
    next_day = Workspace(session, thumbnails, settings, BY_NAME, ClassRequests())
    qtbot.addWidget(next_day)
    assert next_day.grid.thumbnail_side == chosen
    assert next_day.model.order is Order.CLASS


@pytest.mark.slow
def test_an_image_elsewhere_is_scrolled_to(workspace: Workspace, session: Session) -> None:
    """An example clicked in the inspector is found although another class is shown."""
    workspace.show_class(session.graph.find("Green"))
    red = int(workspace.model.state.image_ids[0]) if workspace.model.state is not None else -1
    workspace.show_image(red)
    assert workspace.grid.current_id == red
    assert workspace.class_id is None
