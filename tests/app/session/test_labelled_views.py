"""Labelled images are embedded over all their views when a person pauses; nobody waits for it."""

import pytest
from PySide6.QtCore import Qt

from tests.support.collections import Collection
from tests.support.desk import Desk
from tests.support.sessions import recorded

Key = Qt.Key


@pytest.fixture
def quick(desk: Desk, collection: Collection) -> Desk:
    """A project is open for review, and a pause is short."""
    desk.window.embedding.pause_timer.setInterval(300)
    desk.open(collection.project)
    desk.window.registry.trigger("show_to_review")
    return desk


def test_labels_are_looked_at_again_once_a_person_pauses(quick: Desk) -> None:
    """Three labels in a row make one job of its own name; the fit that follows has all views of each."""
    jobs = recorded(quick.window.session.jobs.job_added)
    quick.choose(0)
    for _ in range(3):
        quick.press_for_change(Key.Key_Return)
    assert quick.state.without_views == 3
    assert jobs == []
    quick.wait(lambda: quick.state.without_views == 0)
    quick.wait(lambda: quick.window.embedding.job is None and quick.window.session.is_settled)
    assert len(jobs) == 1
    assert quick.window.toast.message == ""
    assert not quick.window.embedding.failures


def test_opening_a_project_whose_labels_were_looked_at_starts_nothing(quick: Desk) -> None:
    """The caches know every view, so no worker is started."""
    assert quick.state.without_views == 0
    quick.wait(lambda: not quick.window.embedding.pause_timer.isActive())
    assert quick.window.embedding.worker is None


def test_a_photo_whose_file_is_gone_keeps_its_label_and_its_embedding(quick: Desk) -> None:
    """Nothing is said of it: one view goes on, and it is no image that could not be read."""
    image_id = quick.choose(0)
    quick.state.path_of(image_id).unlink()
    jobs = recorded(quick.window.session.jobs.job_ended)
    quick.press_for_change(Key.Key_Return)
    quick.wait(lambda: len(jobs) == 1)
    quick.wait(lambda: quick.window.session.is_settled)
    assert not quick.window.embedding.failures
    assert quick.label_of(image_id)
    assert not quick.state.failures
