"""Images are embedded in all their views (test-time augmentation) during pauses."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton

from app.jobs.job import Job
from engine.collection.state import NO_CLASS
from tests.support.collections import Collection, without_its_views
from tests.support.desk import Desk
from tests.support.sessions import recorded

Key = Qt.Key
TITLE = "Refining predictions"


@pytest.fixture
def quick(desk: Desk) -> Desk:
    """A window with short pauses."""
    desk.window.embedding.pause_timer.setInterval(200)
    return desk


@pytest.fixture
def older(collection: Collection) -> Collection:
    """A project whose images have one view each."""
    without_its_views(collection)
    return collection


def review(desk: Desk, collection: Collection) -> None:
    """Open it, and show the images to review."""
    desk.open(collection.project)
    desk.window.registry.trigger("show_to_review")


def titles(jobs: list[tuple[object, ...]]) -> list[str]:
    """Titles of the jobs in the status bar."""
    return [job.title for (job,) in jobs if isinstance(job, Job)]


@pytest.mark.slow
def test_a_project_gets_its_views_and_predictions_never_go_away(
    quick: Desk, older: Collection
) -> None:
    """One job with its own title; predictions stay visible during the review."""
    session = quick.window.session
    jobs = recorded(session.jobs.job_added)
    review(quick, older)
    are_predicted: list[bool] = []
    session.state_changed.connect(
        lambda state: are_predicted.append(bool((state.best_class != NO_CLASS).all()))
    )
    quick.choose(0)
    quick.press_for_change(Key.Key_Return)
    quick.wait(lambda: len(quick.state.without_views) == 0)
    quick.wait(lambda: quick.window.embedding.job is None and session.is_settled)
    assert set(titles(jobs)) == {TITLE}
    assert all(are_predicted)
    assert not quick.window.embedding.failures
    assert quick.window.toast.message == ""


def test_what_has_its_views_starts_nothing(quick: Desk, collection: Collection) -> None:
    """Neither opening nor a label starts a worker."""
    review(quick, collection)
    quick.choose(0)
    quick.press_for_change(Key.Key_Return)
    quick.wait(lambda: not quick.window.embedding.pause_timer.isActive())
    assert len(quick.state.without_views) == 0
    assert quick.window.embedding.worker is None


@pytest.mark.slow
def test_who_stops_it_is_not_asked_again(quick: Desk, older: Collection) -> None:
    """Cancelled in the status bar, later labels do not restart it."""
    jobs = recorded(quick.window.session.jobs.job_added)
    ended = recorded(quick.window.session.jobs.job_ended)
    review(quick, older)
    quick.wait(lambda: len(jobs) == 1)
    bar = quick.window.status_line.job_bar
    quick.wait(lambda: bar.is_running)
    (cancel,) = [
        each for each in bar.findChildren(QAbstractButton) if each.toolTip().startswith("Stop")
    ]
    quick.qtbot.mouseClick(cancel, Qt.MouseButton.LeftButton)
    quick.wait(lambda: len(ended) == 1)
    quick.choose(0)
    quick.press_for_change(Key.Key_Return)
    quick.wait(lambda: not quick.window.embedding.pause_timer.isActive())
    assert len(jobs) == 1
    assert len(quick.state.without_views) > 0


@pytest.mark.slow
def test_a_photo_whose_file_is_gone_is_no_failure(quick: Desk, older: Collection) -> None:
    """It keeps its embedding, without a message or endless retries."""
    review(quick, older)
    image_id = quick.choose(0)
    quick.state.path_of(image_id).unlink()
    jobs = recorded(quick.window.session.jobs.job_added)
    quick.wait(lambda: len(quick.state.without_views) == 1)
    quick.wait(lambda: quick.window.embedding.job is None and quick.window.session.is_settled)
    assert not quick.window.embedding.pause_timer.isActive()
    assert not quick.window.embedding.failures
    assert not quick.state.failures
    tried = len(jobs)
    quick.press_for_change(Key.Key_Return)
    quick.wait(lambda: not quick.window.embedding.pause_timer.isActive())
    assert (len(jobs), len(quick.state.without_views)) == (tried, 1)
