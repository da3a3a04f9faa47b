"""A project from another computer, whose backbone has to be made here first: in sight, and it can be stopped."""

from pathlib import Path
from typing import final

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QLabel, QWidget

from app.session.backbone_making import BackboneMaking
from app.welcome.controller import Projects
from engine.backbones.messages import AddedBackbone, ConvertBackbone
from engine.backbones.model_files import ACCURATE, bundled_path
from engine.collection.models import BUNDLED_NAME
from engine.events import Progress
from engine.project import Project
from engine.worker.protocol import Failed
from tests.support.desk import Desk
from tests.support.scripted_workers import Player, Step

CONVERTING = Progress(1, 4, "steps", note="Converting")
STOP = "Stop; nothing is kept"
DONE = AddedBackbone(ACCURATE, "00ff", 384)


@final
class Conversion:
    """The accurate backbone is made by scripts: from the moment that one has succeeded, its file is there."""

    def __init__(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        self._file: Path | None = None
        self._making: BackboneMaking = desk.window.session.making
        self._made = bundled_path(BUNDLED_NAME)
        self._making.slot.finished.connect(lambda _added: self._settle())
        monkeypatch.setattr("engine.backbones.model_files.converted_path", lambda _name: self._file)
        refused = Failed("the weights are damaged")
        monkeypatch.setattr("engine.backbones.converted.keeping.run", lambda *_request, **_limits: refused)

    def play(self, *scripts: list[Step]) -> Player:
        """What the next conversions do."""
        player = Player(*scripts)
        self._making.slot.make_job = player
        return player

    def _settle(self) -> None:
        self._file = self._made


@pytest.fixture
def conversion(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Conversion:
    """How the backbone is made."""
    return Conversion(desk, monkeypatch)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that was made with the accurate backbone elsewhere; it is what the person chooses to open."""
    path = tmp_path / "birds.protoleaf"
    Project.create(path, backbone_name=ACCURATE, backbone_hash="00ff").close()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_arguments: (str(path), ""))
    return path


def click(desk: Desk, button: QWidget) -> None:
    """Press and let go."""
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def open_it(desk: Desk) -> None:
    """By the button on the first page."""
    click(desk, desk.window.of(Projects).page.buttons["open_project"])


def test_it_is_made_in_sight_and_can_be_stopped(desk: Desk, conversion: Conversion, project: Path) -> None:
    """The status line says what is done; after a stop the first page is there, and the next time it opens."""
    player = conversion.play([CONVERTING, "wait"], [CONVERTING, DONE])
    bar = desk.window.status_line.job_bar
    open_it(desk)
    desk.wait(lambda: bar.facts == "1 of 4  ·  Converting")
    assert bar.isVisible()
    assert desk.window.workspace.empty.title == "Optimising for this computer…"
    assert "Optimising for this computer…" in [label.text() for label in bar.findChildren(QLabel)]
    (stop,) = (each for each in bar.findChildren(QAbstractButton) if each.accessibleName() == STOP)
    click(desk, stop)
    desk.wait(desk.window.of(Projects).page.isVisible)
    assert desk.window.session.info is None
    open_it(desk)
    desk.wait(lambda: desk.window.session.info is not None)
    assert player.requests == [ConvertBackbone(ACCURATE)] * 2
    assert not bar.is_running
    desk.wait(lambda: desk.window.workspace.empty.title == "Drop images here")


def test_one_that_cannot_be_made_is_missing(desk: Desk, conversion: Conversion, project: Path) -> None:
    """The project opens all the same, and another backbone can be chosen."""
    conversion.play([Failed("the weights are damaged")])
    open_it(desk)
    desk.wait(lambda: "backbone is missing" in desk.window.toast.message)
    assert desk.window.session.info is not None


def test_another_project_that_is_opened_meanwhile_stays(
    desk: Desk, conversion: Conversion, project: Path, tmp_path: Path
) -> None:
    """Nothing takes its place when the backbone is made."""
    Project.create(tmp_path / "other.protoleaf", backbone_name=BUNDLED_NAME, backbone_hash="").close()
    conversion.play([CONVERTING, "wait"])
    open_it(desk)
    desk.wait(lambda: desk.window.session.making.slot.is_busy)
    desk.drop_files(desk.window, [tmp_path / "other.protoleaf"])
    desk.wait(lambda: desk.window.session.info is not None)
    desk.wait(lambda: not desk.window.session.jobs.jobs)
    assert desk.window.session.info is not None
    assert desk.window.session.info.path == tmp_path / "other.protoleaf"


def test_a_new_project_waits_for_it_too(
    desk: Desk, conversion: Conversion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the environment has chosen the accurate one, nobody is asked."""
    monkeypatch.setenv("PROTOLEAF_BACKBONE", "accurate")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_arguments: (str(tmp_path / "new.protoleaf"), ""))
    player = conversion.play([CONVERTING, DONE])
    click(desk, desk.window.of(Projects).page.buttons["new_project"])
    desk.wait(lambda: desk.window.session.info is not None)
    assert player.requests == [ConvertBackbone(ACCURATE)]
