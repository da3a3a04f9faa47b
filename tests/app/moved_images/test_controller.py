"""Missing images in the window: greyed cards, and relinking on one page."""

import itertools
import os
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QPushButton, QWidget

from app.image_grid.card_words import Mark
from app.moved_images.controller import MovedImages
from app.moved_images.view import MovedImagesPanel
from app.welcome.controller import Projects
from engine.collection.state import NO_CLASS, ImageStatus
from engine.errors import Cancelled
from engine.events import CancelToken, OnProgress, Progress
from engine.files import FoundFile
from tests.support.clipping import clipped
from tests.support.collections import Collection, write_shape
from tests.support.desk import CONTROL, Desk
from tests.support.sessions import LONG_MS, changed_by, settle
from tests.support.widgets import button

Key = Qt.Key


def button_of(widget: QWidget, text: str) -> QPushButton:
    """The visible button with this text."""
    (button,) = (
        each
        for each in widget.findChildren(QPushButton)
        if each.text() == text and each.isVisible()
    )
    return button


def click(desk: Desk, button: QPushButton) -> None:
    """Click a button."""
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def wait_for_missing(desk: Desk, count: int) -> None:
    """Wait until this number of images is missing, and no check or thumbnail is pending."""
    window = desk.window
    desk.wait(
        lambda: (
            len(window.of(MovedImages).missing_images.missing) == count
            and not window.of(MovedImages).missing_images.is_looking
        )
    )
    settle(desk.qtbot, window.session)
    desk.wait(lambda: not window.thumbnails.is_busy)


def focus(desk: Desk) -> None:
    """Activate the window again."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    application.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)


def endless(_known: object, _folder: object, *, on_progress: object, cancel: CancelToken) -> None:
    """A search that only ends when it is cancelled."""
    assert on_progress is not None
    cancel.wait()
    raise Cancelled


def panel_of(desk: Desk) -> MovedImagesPanel:
    """The open page."""
    panel = desk.window.of(MovedImages).panel
    assert panel is not None
    assert panel.isVisible()
    return panel


def picture_of(desk: Desk, image_id: int) -> QImage:
    """The painted card of an image."""
    row = desk.window.workspace.model.row_of(image_id)
    assert row is not None
    index = desk.window.workspace.model.index(row)
    desk.grid.scrollTo(index)
    return desk.grid.viewport().grab(desk.grid.visualRect(index)).toImage()


@pytest.fixture
def away(desk: Desk, collection: Collection) -> Desk:
    """The window is open, and then the folder with the unlabelled images is renamed."""
    desk.open(collection.project)
    wait_for_missing(desk, 0)
    collection.unsorted.rename(collection.folder / "renamed")
    focus(desk)
    wait_for_missing(desk, 40)
    return desk


@pytest.mark.slow
def test_a_share_that_vanishes_greys_its_cards_and_nothing_else(
    away: Desk, collection: Collection
) -> None:
    """Labels, embeddings and predictions stay after a refresh; a returned share is detected."""
    window, before = away.window, away.state
    window.registry.trigger("show_to_review")
    assert away.grid.model().rowCount() == 40
    card = window.workspace.model.card(0)
    assert (card.is_missing, card.detail) == (True, "Not found")
    assert card.mark not in {Mark.FAILED, Mark.WAITING, Mark.MISSING}
    assert window.workspace.missing_notice.isVisible()
    assert clipped(window.workspace.missing_notice) == []
    away.press(Key.Key_F5)
    window.embedding.look_at_all()
    away.wait_until_read()
    assert window.embedding.failures == {}
    for name in ("best_class", "best_score", "label_class", "status"):
        assert (getattr(away.state, name) == getattr(before, name)).all()
    assert (away.state.status == ImageStatus.READY).all()
    greyed = picture_of(away, card.image_id)
    (collection.folder / "renamed").rename(collection.unsorted)
    away.press(Key.Key_F5)
    wait_for_missing(away, 0)
    assert not window.workspace.missing_notice.isVisible()
    away.wait(lambda: picture_of(away, card.image_id) != greyed)
    assert not window.workspace.model.card(0).is_missing


@pytest.mark.slow
def test_what_opens_without_its_share_shows_its_thumbnails(
    desk: Desk, collection: Collection, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Cached thumbnails are shown, greyed."""
    desk.open(collection.project)
    wait_for_missing(desk, 0)
    window = desk.window
    window.registry.trigger("show_to_review")
    desk.wait(lambda: not window.thumbnails.is_busy and bool(window.thumbnails._pixmaps))  # noqa: SLF001 (no public API shows the cache in memory)
    first = int(window.workspace.model.image_ids[0])
    path = desk.state.path_of(first)
    desk.press(Key.Key_W, CONTROL)
    desk.wait(window.of(Projects).page.isVisible)
    shutil.move(collection.unsorted, tmp_path_factory.mktemp("another disk") / "photos")
    window.thumbnails._pixmaps.clear()  # noqa: SLF001 (no public API shows the cache in memory)
    window.thumbnails._used_bytes = 0  # noqa: SLF001 (no public API shows the cache in memory)
    desk.open(collection.project)
    wait_for_missing(desk, 40)
    window.registry.trigger("show_to_review")
    desk.wait(lambda: any(wish[0].path == path for wish in window.thumbnails._pixmaps))  # noqa: SLF001 (no public API shows the cache in memory)
    assert (desk.state.best_class != NO_CLASS).all()


@pytest.mark.slow
def test_an_unread_image_that_is_not_there_is_no_broken_file(
    desk: Desk, collection: Collection
) -> None:
    """Its card says "Not found", and it is embedded once it is back."""
    new = write_shape(collection.folder / "late" / "new.png", "Red disc", seed=77)
    desk.open(collection.project)
    desk.wait_until_read()
    window = desk.window
    new.parent.rename(collection.folder / "gone")
    change = changed_by(
        desk.qtbot,
        window.session,
        lambda: window.session.act(lambda project: project.images.add([FoundFile(new, 5, 5)])),
    )
    desk.wait_until_read()
    wait_for_missing(desk, 1)
    row = window.workspace.model.row_of(change.images_added[0])
    assert row is not None
    card = window.workspace.model.card(row)
    assert (card.mark, card.title) == (Mark.MISSING, "Not found")
    assert not picture_of(desk, card.image_id).isNull()
    (collection.folder / "gone").rename(new.parent)
    focus(desk)
    desk.wait(lambda: bool((desk.state.status == ImageStatus.READY).all()))
    desk.wait_until_read()


@pytest.mark.slow
def test_missing_photos_beside_the_project_are_found_when_it_opens(
    desk: Desk, collection: Collection
) -> None:
    """Found photos are relinked in one undoable step; after the undo there is no further search."""
    collection.unsorted.rename(collection.folder / "renamed")
    desk.open(collection.project)
    desk.wait(lambda: desk.window.toast.message == "Found 40 moved images again")
    wait_for_missing(desk, 0)
    assert not desk.window.workspace.missing_notice.isVisible()
    assert desk.window.of(MovedImages).panel is None
    desk.press_for_change(Key.Key_Z, CONTROL)
    wait_for_missing(desk, 40)
    notice = desk.window.workspace.missing_notice
    assert [label.text() for label in notice.findChildren(QLabel) if label.text()] == [
        "40 images are missing."
    ]
    assert not desk.window.session.jobs.jobs


@pytest.mark.slow
def test_what_is_not_sure_is_shown_by_one_button(desk: Desk, collection: Collection) -> None:
    """The notice counts copies with other dates, and its button shows the preview."""
    renamed = collection.unsorted.rename(collection.folder / "renamed")
    for place, file in enumerate(sorted(renamed.iterdir())):
        os.utime(file, ns=(place, place))
    desk.open(collection.project)
    notice = desk.window.workspace.missing_notice
    desk.wait(notice.isVisible)
    assert "40 of 40 missing images found." in [
        label.text() for label in notice.findChildren(QLabel)
    ]
    assert len(desk.window.of(MovedImages).missing_images.missing) == 40
    click(desk, button_of(notice, "Show them"))
    panel = panel_of(desk)
    assert panel.preview[0] == "40 of 40 found"
    apply_button = button_of(panel, "Update the location of 40 images")
    changed_by(desk.qtbot, desk.window.session, lambda: click(desk, apply_button))
    wait_for_missing(desk, 0)


def test_a_search_by_itself_can_be_stopped(
    desk: Desk, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status bar cancels the search; then the notice offers it."""
    monkeypatch.setattr("engine.relink.find.find_moved", endless)
    collection.unsorted.rename(collection.folder / "renamed")
    desk.open(collection.project)
    bar = desk.window.status_line.job_bar
    desk.wait(lambda: bool(desk.window.session.jobs.jobs) and bar.is_running)
    assert not desk.window.workspace.missing_notice.isVisible()
    stop = button(bar, "Stop")
    desk.qtbot.mouseClick(stop, Qt.MouseButton.LeftButton)
    desk.wait(desk.window.workspace.missing_notice.isVisible)
    assert button_of(desk.window.workspace.missing_notice, "Find them…").isEnabled()


@pytest.mark.slow
def test_a_search_by_itself_ends_after_a_minute(
    desk: Desk, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Immediately in this test: a whole disk below the project's folder is not searched."""

    def slow(
        _known: object, _folder: object, *, on_progress: OnProgress, cancel: CancelToken
    ) -> None:
        for count in itertools.count():
            cancel.raise_if_cancelled()
            on_progress(Progress(count, 0, unit="files"))

    monkeypatch.setattr("engine.relink.find.find_moved", slow)
    monkeypatch.setattr("app.moved_images.controller.LONGEST_UNASKED_S", 0.0)
    collection.unsorted.rename(collection.folder / "renamed")
    desk.open(collection.project)
    desk.wait(desk.window.workspace.missing_notice.isVisible)
    assert not desk.window.session.jobs.jobs


@pytest.mark.slow
def test_the_whole_story(
    away: Desk, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The notice opens the page; folder, preview, one click to relink, and undo."""
    window, labels = away.window, away.state.label_class.copy()
    notice = window.workspace.missing_notice
    assert "40 images are missing." in [label.text() for label in notice.findChildren(QLabel)]
    click(away, button_of(notice, "Find them…"))
    panel = panel_of(away)
    assert not notice.isVisible()
    assert panel.status.text() == "40 images are missing."
    monkeypatch.setattr(
        QFileDialog, "getExistingDirectory", lambda *_: str(collection.folder / "renamed")
    )
    click(away, panel.folder_button)
    away.wait(lambda: bool(panel.preview))
    assert panel.preview[:2] == ("40 of 40 found", "40 by their folders")
    assert panel.preview[2] == "renamed: 40 images, 22 verified by content, 18 by name and size"
    assert panel.preview[3] == "unsorted/024.png → renamed/024.png"
    assert away.state.paths[away.state.position(40)].startswith("unsorted/")
    assert clipped(panel) == []
    apply_button = button_of(panel, "Update the location of 40 images")
    change = changed_by(away.qtbot, window.session, lambda: click(away, apply_button))
    assert len(change.images_moved) == 40
    assert window.toast.message == "Found 40 moved images again"
    wait_for_missing(away, 0)
    assert panel.status.text() == "No image is missing."
    assert (away.state.label_class == labels).all()
    assert (away.state.status == ImageStatus.READY).all()
    assert away.state.path_of(40).is_file()
    changed_by(away.qtbot, window.session, lambda: click(away, button_of(window.toast, "Undo")))
    wait_for_missing(away, 40)


@pytest.mark.slow
def test_without_a_folder_it_looks_beside_the_project(away: Desk) -> None:
    """One click; the page is opened and closed by keyboard."""
    window = away.window
    away.grid.setFocus()
    away.press(Key.Key_K, CONTROL)
    away.type_into_palette("moved images")
    away.press(Key.Key_Return)
    panel = panel_of(away)
    click(away, panel.search_near_button)
    away.wait(lambda: bool(panel.preview))
    assert panel.preview[0] == "40 of 40 found"
    panel.setFocus()
    away.press(Key.Key_Escape)
    assert not panel.isVisible()
    assert window.inspector.isVisible()


@pytest.mark.slow
def test_what_cannot_be_distinguished_is_reported(away: Desk, collection: Collection) -> None:
    """Copies, and images that were not found: counted, with a remedy."""
    renamed = collection.folder / "renamed"
    (collection.folder / "a").mkdir()
    shutil.copy2(renamed / "024.png", collection.folder / "a" / "024.png")
    for kept in list(renamed.iterdir()):
        if kept.name not in {"024.png", "030.png"}:
            kept.unlink()
    (renamed / "024.png").rename(collection.folder / "024.png")
    (renamed / "030.png").rename(collection.folder / "thirty.png")
    window = away.window
    window.registry.trigger("find_moved_images")
    panel = panel_of(away)
    click(away, panel.search_near_button)
    away.wait(lambda: bool(panel.preview))
    assert panel.preview == (
        "1 of 40 found",
        "1 by content",
        "unsorted/030.png → thirty.png",
        "1 could be several files. Choose a narrower folder to tell them apart.",
        "38 not found there.",
    )


@pytest.mark.slow
def test_it_can_be_stopped(away: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cancel answers at once, nothing changes, and a new search is possible."""
    monkeypatch.setattr("engine.relink.find.find_moved", endless)
    away.window.registry.trigger("find_moved_images")
    panel = panel_of(away)
    click(away, panel.search_near_button)
    away.wait(lambda: bool(away.window.session.jobs.jobs))
    assert not panel.ask.isVisible()
    assert clipped(panel) == []
    click(away, panel.progress.cancel_button)
    away.wait(lambda: panel.ask.isVisible() and not away.window.session.jobs.jobs)
    assert panel.preview == ()


@pytest.mark.slow
def test_a_folder_that_is_gone_is_a_sentence(away: Desk, collection: Collection) -> None:
    """The error is on the page."""
    away.window.registry.trigger("find_moved_images")
    panel = panel_of(away)
    away.window.of(MovedImages).find(collection.folder / "nowhere")
    away.wait(lambda: "not there" in panel.failure.text)
    assert panel.ask.isVisible()


@pytest.mark.slow
def test_leaving_while_it_looks(away: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing the project cancels the search; the next project has a clean page."""
    monkeypatch.setattr("engine.relink.find.find_moved", endless)
    away.window.registry.trigger("find_moved_images")
    panel = panel_of(away)
    click(away, panel.search_near_button)
    away.wait(lambda: bool(away.window.session.jobs.jobs))
    away.press(Key.Key_W, CONTROL)
    away.wait(away.window.of(Projects).page.isVisible)
    away.wait(lambda: not away.window.session.jobs.jobs)
    assert away.window.of(MovedImages).missing_images.missing == frozenset()


@pytest.mark.slow
def test_in_a_small_window_nothing_is_cut(away: Desk, collection: Collection) -> None:
    """On 1024 x 600 the notice wraps and the page scrolls."""
    window = away.window
    window.resize(1024, 600)
    assert clipped(window.workspace.missing_notice) == []
    window.registry.trigger("find_moved_images")
    panel = panel_of(away)
    with away.qtbot.waitSignal(window.session.jobs.job_ended, timeout=LONG_MS):
        window.of(MovedImages).find(Path(collection.folder))
    QApplication.processEvents()
    assert panel.preview[0] == "40 of 40 found"
    assert clipped(panel) == []
