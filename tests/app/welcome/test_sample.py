"""The sample from the first page: an answer at once, pictures as they come, and a way to stop."""

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.image_grid.model import Mark
from engine.events import Progress
from engine.sample_collection.messages import DrawSample, PictureDrawn, SampleDrawn
from engine.worker.protocol import Failed
from tests.support.collections import Collection, write_shape
from tests.support.desk import Desk
from tests.support.scripted_workers import Step, scripted_command
from tests.support.sessions import LONG_MS


@pytest.fixture(autouse=True)
def nothing_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample was never asked for."""
    folder = tmp_path / "sample"
    monkeypatch.setenv("PROTOLEAF_SAMPLE", str(folder))
    return folder


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    """A picture that was drawn."""
    return write_shape(tmp_path / "drawn.png", "Red disc", seed=1)


def drawn_by(monkeypatch: pytest.MonkeyPatch, *script: Step) -> None:
    """Let the next worker play a script."""
    monkeypatch.setattr("engine.worker.client.worker_command", lambda: scripted_command(script))


def click(desk: Desk, button: QWidget) -> None:
    """Press and let go."""
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_the_page_answers_at_once_and_shows_what_is_drawn(
    desk: Desk, picture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a single file was looked for; then how many of how many, how fast, how long still, and the pictures."""
    welcome = desk.window.welcome
    drawn_by(monkeypatch, PictureDrawn(picture), Progress(112, 315, rate_per_s=52.0, seconds_left=4), "wait")
    click(desk, welcome.buttons["try_sample"])
    card = welcome.sample_card
    assert card.isVisible()
    assert not welcome.buttons["try_sample"].isVisible()
    desk.wait(lambda: card.progress.facts == "112 of 315  ·  52 images/s  ·  4 s left")
    assert card.wall.paths == (picture,)
    assert card.progress.cancel_button.hasFocus()
    desk.press(Qt.Key.Key_Space)
    desk.wait(welcome.buttons["try_sample"].isVisible)
    assert welcome.buttons["try_sample"].hasFocus()
    assert not card.isVisible()
    assert desk.window.session.info is None


def test_it_opens_when_it_is_drawn(
    desk: Desk, collection: Collection, picture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker's end is the project's beginning."""
    sample = collection.project.rename(collection.folder / "sample.protoleaf")
    monkeypatch.setenv("PROTOLEAF_SAMPLE", str(sample.parent))
    monkeypatch.setattr("app.welcome.sample._what_to_draw", lambda: DrawSample(sample.parent))
    drawn_by(monkeypatch, PictureDrawn(picture), SampleDrawn(sample))
    with desk.qtbot.waitSignal(desk.window.session.loaded, timeout=LONG_MS):
        click(desk, desk.window.welcome.buttons["try_sample"])
    assert desk.window.session.info is not None
    assert desk.window.session.info.path == sample
    assert not desk.window.welcome.isVisible()


def test_one_that_was_drawn_before_is_opened(
    desk: Desk, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One click; no worker is asked."""
    sample = collection.project.rename(collection.folder / "sample.protoleaf")
    monkeypatch.setenv("PROTOLEAF_SAMPLE", str(sample.parent))
    drawn_by(monkeypatch, Failed("nothing is to be drawn"))
    with desk.qtbot.waitSignal(desk.window.session.loaded, timeout=LONG_MS):
        click(desk, desk.window.welcome.buttons["try_sample"])
    assert len(desk.state.image_ids) == 64
    assert desk.window.toast.message == ""


def test_it_opens_on_its_best_face(desk: Desk, collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class with examples and right predictions, not the images that nobody can tell; keys work on its cards."""
    sample = collection.project.rename(collection.folder / "sample.protoleaf")
    monkeypatch.setenv("PROTOLEAF_SAMPLE", str(sample.parent))
    with desk.qtbot.waitSignal(desk.window.session.loaded, timeout=LONG_MS):
        click(desk, desk.window.welcome.buttons["try_sample"])
    workspace, state = desk.window.workspace, desk.state
    shown = workspace.class_id
    assert shown is not None
    assert shown == desk.window.tree.selected_class
    assert shown in desk.graph.roots()
    assert state.image_counts[shown] == max(state.image_counts[root] for root in desk.graph.roots())
    facts = workspace.model.card(0)
    assert facts.mark is not Mark.UNKNOWN
    assert desk.grid.hasFocus()
    desk.window.session.close()
    desk.wait(lambda: desk.window.session.info is None)
    desk.open(sample)
    assert workspace.class_id is None


def test_it_can_be_asked_for_beside_an_open_project(
    reviewing: Desk, collection: Collection, picture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status line shows how far it is; the project stays in front until the sample is there."""
    sample = Path(shutil.copy(collection.project, collection.folder / "sample.protoleaf"))
    monkeypatch.setenv("PROTOLEAF_SAMPLE", str(sample.parent))
    monkeypatch.setattr("app.welcome.sample._what_to_draw", lambda: DrawSample(sample.parent))
    drawn_by(monkeypatch, PictureDrawn(picture), SampleDrawn(sample))
    jobs, bar = reviewing.window.session.jobs, reviewing.window.status_line.job_bar
    shown: list[tuple[str, bool]] = []  # each job when it begins, and whether the bar is there: it may end at once
    jobs.job_added.connect(lambda job: shown.append((job.title, bar.isVisible())))
    reviewing.press(Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    reviewing.type_into_palette("try the sample")
    with reviewing.qtbot.waitSignal(reviewing.window.session.loaded, timeout=LONG_MS):
        reviewing.press(Qt.Key.Key_Return)
        assert not reviewing.window.welcome.isVisible()
        reviewing.wait(lambda: any("sample" in title and is_seen for title, is_seen in shown))
    assert reviewing.window.session.info is not None
    assert reviewing.window.session.info.path == sample


def test_a_drawing_that_fails_is_a_sentence(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page to begin with is back."""
    drawn_by(monkeypatch, Failed("the disk is full: free some space"))
    click(desk, desk.window.welcome.buttons["try_sample"])
    desk.wait(lambda: "the disk is full" in desk.window.toast.message)
    assert desk.window.welcome.buttons["try_sample"].isVisible()


def test_whoever_opens_another_project_meanwhile_stays_there(
    desk: Desk, collection: Collection, picture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sample does not push itself before it, and is there the next time."""
    drawn_by(monkeypatch, PictureDrawn(picture), "wait")
    click(desk, desk.window.welcome.buttons["try_sample"])
    desk.wait(lambda: bool(desk.window.welcome.sample_card.wall.paths))
    monkeypatch.undo()
    desk.open(collection.project)
    (job,) = (job for job in desk.window.session.jobs.jobs if "sample" in job.title)
    job.finished.emit(None)
    assert desk.window.session.info is not None
    assert desk.window.session.info.path == collection.project
    job.cancel()
    desk.wait(lambda: job not in desk.window.session.jobs.jobs)
