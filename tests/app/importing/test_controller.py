"""Dropping a folder on a slow network share: the window stays responsive."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton

from app.importing.controller import Importing
from app.welcome.controller import Projects
from engine.collection.state import NO_CLASS
from engine.project import ImageId, image_rows
from engine.project import images as project_images
from tests.support.desk import CONTROL, Desk
from tests.support.new_project import known_sheet
from tests.support.sessions import LONG_MS, changed_by, create_project, recorded, settle
from tests.support.slow_share import SlowShare

Key = Qt.Key
IMAGES = 6
BEFORE = 64
"""Number of images in the open collection."""


@pytest.fixture
def share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowShare]:
    """A slow share with a few pictures; it is released in the end, so that no thread is left."""
    share = SlowShare(tmp_path / "share", monkeypatch, images=IMAGES)
    yield share
    share.open()
    for thread in threading.enumerate():
        if thread.daemon and thread.name in share.askers:
            thread.join()


@pytest.fixture
def searching(reviewing: Desk, share: SlowShare) -> Desk:
    """The share's folder was dropped on the grid; some files are found, the next one blocks."""
    assert len(reviewing.state.image_ids) == BEFORE
    reviewing.drop_files(reviewing.grid, [share.folder])
    share.answer(5)
    return reviewing


@pytest.mark.slow
def test_labels_and_undo_wait_for_no_file_of_the_share(searching: Desk, share: SlowShare) -> None:
    """While the search blocks, labels are set and undone; the import is a separate step."""
    asked = len(share.asked)
    image_id = searching.choose(0)
    searching.press_for_change(Key.Key_Return)
    assert searching.label_of(image_id)
    undone = changed_by(
        searching.qtbot, searching.window.session, lambda: searching.press(Key.Key_Z, CONTROL)
    )
    assert undone.labelled
    assert len(share.asked) == asked
    added = changed_by(searching.qtbot, searching.window.session, share.open)
    assert len(added.images_added) == IMAGES
    changed_by(searching.qtbot, searching.window.session, searching.window.session.undo)
    assert len(searching.state.image_ids) == BEFORE
    assert {"MainThread", "project_0"}.isdisjoint(share.askers)


def test_the_status_bar_counts_and_stops_the_search(searching: Desk, share: SlowShare) -> None:
    """A click cancels at once, although the share does not respond; nothing is added."""
    bar = searching.window.status_line.job_bar
    searching.wait(lambda: bar.facts != "")
    (stop,) = [
        button
        for button in bar.findChildren(QAbstractButton)
        if button.accessibleName().startswith("Stop; nothing")
    ]
    changes = recorded(searching.window.session.change_made)
    searching.qtbot.mouseClick(stop, Qt.MouseButton.LeftButton)
    assert searching.window.session.jobs.jobs == ()
    assert not bar.is_running
    share.open()
    settle(searching.qtbot, searching.window.session)
    assert (len(searching.state.image_ids), changes) == (BEFORE, [])


@pytest.mark.slow
def test_adding_is_counted_and_stopped(
    reviewing: Desk, share: SlowShare, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelled while rows are inserted, no image is added; the next attempt adds all."""
    share.open()
    gate, insert = threading.Event(), image_rows.insert_new  # slow for a million images

    def gated(*arguments: Any) -> list[ImageId]:
        assert gate.wait(LONG_MS / 1000)
        return insert(*arguments)

    monkeypatch.setattr(project_images, "insert_new", gated)
    monkeypatch.setattr(project_images, "_CHANGED_AT_ONCE", 1)
    reviewing.drop_files(reviewing.grid, [share.folder])
    bar = reviewing.window.status_line.job_bar
    reviewing.wait(lambda: bar.facts.startswith(f"0 of {IMAGES}"))
    jobs = reviewing.window.session.jobs
    reviewing.wait(lambda: [each.title for each in jobs.jobs] == ["Adding images"])
    (job,) = jobs.jobs
    assert not job.keeps_finished
    job.cancel()
    gate.set()
    settle(reviewing.qtbot, reviewing.window.session)
    assert len(reviewing.state.image_ids) == BEFORE
    added = changed_by(
        reviewing.qtbot,
        reviewing.window.session,
        lambda: reviewing.drop_files(reviewing.grid, [share.folder]),
    )
    assert len(added.images_added) == IMAGES


@pytest.mark.slow
def test_the_next_project_gets_nothing_of_the_search(
    searching: Desk, share: SlowShare, tmp_path: Path
) -> None:
    """Another project is opened while the share blocks, and stays empty."""
    asked = len(share.asked)
    create_project(searching.qtbot, searching.window.session, tmp_path / "next.protoleaf")
    assert len(share.asked) == asked
    share.open()
    settle(searching.qtbot, searching.window.session)
    assert len(searching.state.image_ids) == 0


@pytest.mark.slow
def test_the_window_closes_while_the_share_is_silent(searching: Desk, share: SlowShare) -> None:
    """Neither the search nor its thread delays the exit."""
    asked = len(share.asked)
    assert searching.window.close()
    assert len(share.asked) == asked
    assert any(thread.name in share.askers for thread in threading.enumerate())


@pytest.mark.slow
def test_a_share_dropped_on_the_welcome_page(desk: Desk, share: SlowShare) -> None:
    """A project is created next to the folder; the GUI thread never reads the share."""
    desk.drop_files(desk.window.of(Projects).page, [share.folder])
    share.answer(0)
    assert not any(path.name == "0.png" for path in share.asked)
    share.open()
    card = known_sheet(desk)
    changed_by(desk.qtbot, desk.window.session, lambda: desk.click(card.create_button))
    assert len(desk.state.image_ids) == IMAGES
    assert "MainThread" not in share.askers


@pytest.mark.slow
def test_files_dropped_on_a_class_become_its_shots(reviewing: Desk, share: SlowShare) -> None:
    """Two single files of the share get the class that they were dropped on."""
    share.open()
    red = reviewing.graph.find("Red disc")
    importing = reviewing.window.of(Importing)
    dropped = [share.folder / "0.png", share.folder / "1.png"]
    change = changed_by(
        reviewing.qtbot, reviewing.window.session, lambda: importing.take(dropped, class_id=red)
    )
    assert len(change.images_added) == len(dropped)
    labels = [reviewing.label_of(image_id) for image_id in change.images_added]
    assert labels == ["Red disc"] * len(dropped)
    assert NO_CLASS not in [
        reviewing.state.label_class[reviewing.state.position(i)] for i in change.images_added
    ]
