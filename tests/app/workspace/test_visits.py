"""Image sets and feature pages in the centre: shown, left by Esc or the back arrow."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.class_requests import ClassRequests
from app.controls import fill_column
from app.features import BY_NAME
from app.image_grid.held_order import Order
from app.images.thumbnails import Thumbnails
from app.session import Session
from app.session.subsets import ImageSet, Subset
from app.settings import Settings
from app.workspace.view import Workspace
from tests.support.collections import Collection
from tests.support.sessions import LONG_MS, act, open_project

Key = Qt.Key


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
    workspace.resize(900, 500)
    workspace.show()
    open_project(qtbot, session, collection.project)
    yield workspace
    workspace.image_view.stop()
    workspace.graph.stop()


def _ids(workspace: Workspace) -> list[int]:
    return workspace.model.image_ids.tolist()


@pytest.mark.slow
def test_a_set_is_shown_in_its_order_and_left_by_escape(qtbot: QtBot, workspace: Workspace) -> None:
    """Exactly its images; going back restores subset, image and scroll position."""
    workspace.show_subset(Subset.TO_REVIEW)
    shown = _ids(workspace)
    workspace.grid.select_image(shown[30])
    scrolled = workspace.grid.verticalScrollBar().value()
    wanted = [shown[7], shown[2], shown[11]]
    workspace.show_images(ImageSet(np.array(wanted), "Similar to a.jpg", is_ordered=True))
    assert (_ids(workspace), workspace.grid.current_id) == (wanted, wanted[0])
    assert workspace.header.title == "Similar to a.jpg"
    qtbot.keyClick(workspace.grid, Key.Key_Escape)
    assert (_ids(workspace), workspace.grid.current_id) == (shown, shown[30])
    assert workspace.grid.verticalScrollBar().value() == scrolled
    assert (workspace.header.title, workspace.images) == ("To review", None)


def test_chips_and_orders_work_within_a_set(
    qtbot: QtBot, workspace: Workspace, session: Session
) -> None:
    """A chip filters it; another order replaces its own; a label does not change the order."""
    every = _ids(workspace)
    wanted = [*every[40:20:-1]]
    workspace.show_images(ImageSet(np.array(wanted), "Chosen", is_ordered=True))
    state = session.state
    assert state is not None
    labelled = {i for i in wanted if state.label_class[state.position(i)] >= 0}
    workspace.header.subset_chosen.emit(Subset.TO_REVIEW)
    assert _ids(workspace) == [i for i in wanted if i not in labelled]
    workspace.hold()
    first, *others = _ids(workspace)
    act(qtbot, session, lambda project: project.labels.set([first], session.graph.find("Blue")))
    qtbot.waitUntil(lambda: _ids(workspace) == others, timeout=LONG_MS)
    workspace.choose_order(Order.ADDED)
    assert _ids(workspace) == sorted(others)
    workspace.show_class(session.graph.find("Blue"))
    assert workspace.images is None


@pytest.mark.slow
def test_a_set_without_images_says_so(workspace: Workspace) -> None:
    """An empty set is not "All done"."""
    workspace.show_images(ImageSet(np.zeros(0, dtype=np.int64), "Nothing alike"))
    assert workspace.content.currentWidget() is workspace.empty
    assert workspace.empty.title == "No images here"


@pytest.mark.slow
def test_a_page_stands_in_the_centre_until_it_is_left(qtbot: QtBot, workspace: Workspace) -> None:
    """Esc and the arrow leave it, typing in it does not; another selection replaces it."""
    page, field, left = QWidget(), QLineEdit(), list[QWidget]()
    fill_column(page, field)
    workspace.page_left.connect(left.append)
    workspace.show_page(page, "Report")
    assert (workspace.content.currentWidget(), workspace.header.title) == (page, "Report")
    qtbot.keyClick(field, Key.Key_Escape)
    assert (workspace.content.currentWidget(), left) == (workspace.grid, [page])
    workspace.show_page(page, "Report")
    workspace.header.back_chosen.emit()
    workspace.show_page(page, "Report")
    workspace.show_subset(Subset.LABELLED)
    assert (workspace.content.currentWidget(), left, workspace.page) == (
        workspace.grid,
        [page] * 3,
        None,
    )


@pytest.mark.slow
def test_a_page_leads_back_to_the_graph_and_goes_with_the_project(
    qtbot: QtBot, workspace: Workspace, session: Session
) -> None:
    """The graph is shown again; closing the project closes the page."""
    page, left = QWidget(), list[QWidget]()
    workspace.page_left.connect(left.append)
    assert session.state is not None
    workspace.show_graph(True)
    workspace.show_page(page, "Map")
    workspace.close_page(page)
    assert workspace.content.currentWidget() is workspace.graph
    workspace.show_page(page, "Map")
    with qtbot.waitSignal(session.closed, timeout=LONG_MS):
        session.close()
    assert (workspace.page, left) == (None, [page, page])


@pytest.mark.slow
def test_a_set_that_was_opened_from_a_page_leads_back_to_it(
    qtbot: QtBot, workspace: Workspace
) -> None:
    """Esc goes from the set to the page, then to the grid; other sets lead to the grid."""
    page = QWidget()
    page.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    workspace.show_page(page, "Report")
    images = ImageSet(np.array(_ids(workspace)[:3]), "Three images")
    workspace.show_images(images)
    assert workspace.content.currentWidget() is workspace.grid
    qtbot.keyClick(workspace.grid, Key.Key_Escape)
    assert (workspace.page, workspace.images) == (page, None)
    qtbot.keyClick(page, Key.Key_Escape)
    assert workspace.page is None
    workspace.show_images(images)
    qtbot.keyClick(workspace.grid, Key.Key_Escape)
    assert (workspace.page, workspace.images) == (None, None)
