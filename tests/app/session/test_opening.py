"""Opening a project whose backbone must first be prepared here: progress and cancellation."""

import threading
from pathlib import Path
from typing import final

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.session import Session
from app.session.opening import BackboneMaking, open_collection
from app.welcome.controller import Projects
from engine.backbones.messages import AddedBackbone, ConvertBackbone
from engine.backbones.model_files import ACCURATE, bundled_path
from engine.collection.live import LiveCollection
from engine.collection.models import BUNDLED_NAME
from engine.events import Progress
from engine.project import Project
from engine.worker.protocol import Failed
from tests.support.collections import Collection
from tests.support.desk import Desk
from tests.support.new_project import known_sheet
from tests.support.scripted_workers import Player, Step
from tests.support.sessions import LONG_MS, create_project, open_project, recorded, settle

CONVERTING = Progress(1, 4, "steps", note="Converting")
STOP = "Stop; nothing is saved"
DONE = AddedBackbone(ACCURATE, "00ff", 384)


@final
class Conversion:
    """Scripted preparation of the accurate backbone: after a success its file exists."""

    def __init__(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        self._file: Path | None = None
        self._making: BackboneMaking = desk.window.session.making
        self._made = bundled_path(BUNDLED_NAME)
        self._making.slot.finished.connect(lambda _added: self._settle())
        monkeypatch.setattr("engine.backbones.model_files.converted_path", lambda _name: self._file)
        refused = Failed("the weights are damaged")
        monkeypatch.setattr(
            "engine.backbones.bundled.run_in_child", lambda *_request, **_limits: refused
        )

    def play(self, *scripts: list[Step]) -> Player:
        """Set the scripts of the next preparations."""
        player = Player(*scripts)
        self._making.slot.make_job = player
        return player

    def _settle(self) -> None:
        self._file = self._made


@pytest.fixture
def conversion(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Conversion:
    """The scripted preparation."""
    return Conversion(desk, monkeypatch)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the accurate backbone, chosen by the patched file dialog."""
    path = tmp_path / "birds.protoleaf"
    Project.create(path, backbone_name=ACCURATE, backbone_hash="00ff").close()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_arguments: (str(path), ""))
    return path


def click(desk: Desk, button: QWidget) -> None:
    """Click a button."""
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def open_it(desk: Desk) -> None:
    """By the button on the start page."""
    click(desk, desk.window.of(Projects).page.buttons["open_project"])


@pytest.mark.slow
def test_it_is_made_visibly_and_can_be_stopped(
    desk: Desk, conversion: Conversion, project: Path
) -> None:
    """A cancelled preparation leads to the start page; a second attempt opens the project."""
    player = conversion.play([CONVERTING, "wait"], [CONVERTING, DONE])
    bar = desk.window.status_line.job_bar
    open_it(desk)
    desk.wait(lambda: bar.facts == "1 of 4  ·  Converting")
    assert bar.isVisible()
    assert desk.window.workspace.empty.title == "Setting up…"
    assert "Setting up…" in [label.text() for label in bar.findChildren(QLabel)]
    (stop,) = (each for each in bar.findChildren(QAbstractButton) if each.accessibleName() == STOP)
    click(desk, stop)
    desk.wait(desk.window.of(Projects).page.isVisible)
    assert desk.window.session.info is None
    open_it(desk)
    desk.wait(lambda: desk.window.session.info is not None)
    assert player.requests == [ConvertBackbone(ACCURATE)] * 2
    assert not bar.is_running
    desk.wait(lambda: desk.window.workspace.empty.title == "Drop images here")


@pytest.mark.slow
def test_one_that_cannot_be_made_is_missing(
    desk: Desk, conversion: Conversion, project: Path
) -> None:
    """The project opens, and another backbone can be chosen."""
    conversion.play([Failed("the weights are damaged")])
    open_it(desk)
    desk.wait(lambda: "backbone is missing" in desk.window.toast.message)
    assert desk.window.session.info is not None


@pytest.mark.slow
def test_another_project_that_is_opened_meanwhile_stays(
    desk: Desk, conversion: Conversion, project: Path, tmp_path: Path
) -> None:
    """The project whose backbone is ready does not replace it."""
    Project.create(
        tmp_path / "other.protoleaf", backbone_name=BUNDLED_NAME, backbone_hash=""
    ).close()
    conversion.play([CONVERTING, "wait"])
    open_it(desk)
    desk.wait(lambda: desk.window.session.making.slot.is_busy)
    desk.drop_files(desk.window, [tmp_path / "other.protoleaf"])
    desk.wait(lambda: desk.window.session.info is not None)
    desk.wait(lambda: not desk.window.session.jobs.jobs)
    assert desk.window.session.info is not None
    assert desk.window.session.info.path == tmp_path / "other.protoleaf"


@pytest.mark.slow
def test_a_new_project_waits_for_it_too(
    desk: Desk, conversion: Conversion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The backbone of an environment variable is prepared before the project is created."""
    monkeypatch.setenv("PROTOLEAF_BACKBONE", "accurate")
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *_arguments: (str(tmp_path / "new.protoleaf"), "")
    )
    player = conversion.play([CONVERTING, DONE])
    click(desk, desk.window.of(Projects).page.buttons["new_project"])
    card = known_sheet(desk)
    click(desk, card.place.place_button)
    click(desk, card.create_button)
    desk.wait(lambda: desk.window.session.info is not None)
    assert player.requests == [ConvertBackbone(ACCURATE)]


@pytest.fixture
def leaving(
    qtbot: QtBot,
    session: Session,
    collection: Collection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> threading.Event:
    """The collection is open while another project is being opened, which blocks on the event."""
    create_project(qtbot, session, tmp_path / "older.protoleaf")
    open_project(qtbot, session, collection.project)
    may_go_on = threading.Event()

    def open_slowly(*given: object, **named: object) -> LiveCollection:
        may_go_on.wait(LONG_MS / 1000)
        return open_collection(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("app.session.session.open_collection", open_slowly)
    session.open(tmp_path / "older.protoleaf")
    return may_go_on


def test_an_action_is_for_the_project_that_is_shown(
    qtbot: QtBot, session: Session, leaving: threading.Event, tmp_path: Path
) -> None:
    """A key changes neither project, and a query gets no result from the wrong one."""
    answers: list[str] = []
    changes, failed = recorded(session.change_made), recorded(session.failed)
    session.act(lambda project: project.classes.add("Meant for the collection")[0])
    session.undo()
    session.ask(lambda live: live.project.path.stem, answers.append, owner=session)
    with qtbot.waitSignal(session.loaded, timeout=LONG_MS):
        leaving.set()
    settle(qtbot, session)
    assert (answers, changes, failed) == ([], [], [])
    assert session.info is not None
    assert session.info.path == tmp_path / "older.protoleaf"
    assert len(session.graph) == 0


@pytest.mark.slow
def test_long_work_for_a_project_that_was_left_is_cancelled(
    qtbot: QtBot, session: Session, leaving: threading.Event
) -> None:
    """An import goes into the project it was started in, or is cancelled."""
    worked_on: list[object] = []
    job = session.run_long(
        lambda live, _on_progress, _cancel: worked_on.append(live),
        title="Importing",
        change_of=lambda _done: None,
    )
    ends = recorded(job.cancelled)
    with qtbot.waitSignal(session.loaded, timeout=LONG_MS):
        leaving.set()
    qtbot.waitUntil(lambda: not session.jobs.jobs, timeout=LONG_MS)
    assert (worked_on, len(ends)) == ([], 1)


@pytest.mark.slow
def test_an_action_is_done_when_the_other_project_cannot_be_opened(
    qtbot: QtBot, session: Session, leaving: threading.Event, collection: Collection, tmp_path: Path
) -> None:
    """The open project stays, and the action is applied."""
    (tmp_path / "older.protoleaf").unlink()
    with qtbot.waitSignals([session.failed, session.change_made], timeout=LONG_MS):
        session.act(lambda project: project.classes.add("Yellow")[0])
        leaving.set()
    session.shut_down()
    with Project.open(collection.project) as project:
        assert project.classes.graph.find("Yellow")
