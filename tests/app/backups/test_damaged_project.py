"""Backups offered for a damaged project: its own, or a choice where it is ambiguous."""

from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

from app.backups.controller import Backups
from app.welcome.controller import Projects
from tests.support.backups import NOON, Clock, backups_with, labelled_birds
from tests.support.clipping import clipped
from tests.support.desk import Desk
from tests.support.sessions import LONG_MS

Key = Qt.Key


@pytest.fixture
def twins(tmp_path: Path) -> tuple[Path, Path]:
    """Two closed projects of the same name; the second has the newer backup."""
    paths = []
    for number, folder in enumerate(("a", "b")):
        (tmp_path / folder).mkdir()
        project, *_ = labelled_birds(tmp_path / folder, images=4 + number)
        with project:
            backups_with(project, Clock(NOON + timedelta(days=number))).take()
        paths.append(project.path)
    return paths[0], paths[1]


def put_rot_in_place_of(path: Path) -> None:
    """Replace the file by garbage, as a sync program may."""
    (path.parent / "draft").write_bytes(b"rotten")
    (path.parent / "draft").replace(path)


def open_damaged(desk: Desk, project: Path) -> QPushButton:
    """Open it and wait for the offer; returns its button."""
    with desk.qtbot.waitSignal(desk.window.session.failed, timeout=LONG_MS):
        desk.window.session.open(project)
    toast = desk.window.toast
    desk.wait(lambda: toast.message.startswith("birds.protoleaf is damaged."))
    (button,) = toast.findChildren(QPushButton)
    return button


@pytest.mark.slow
def test_a_damaged_project_is_offered_its_own_backup(desk: Desk, twins: tuple[Path, Path]) -> None:
    """The newer backup of the other project of the same name is not offered."""
    project, _ = twins
    project.write_bytes(b"rotten")
    button = open_damaged(desk, project)
    assert "4 images" in desk.window.toast.message
    with desk.qtbot.waitSignal(desk.window.session.loaded, timeout=LONG_MS):
        desk.click(button)
    assert desk.state.label_class.size == 4


def test_where_nobody_can_be_sure_the_person_chooses(desk: Desk, twins: tuple[Path, Path]) -> None:
    """Backups of this path come first; counts, date and path are shown before restoring."""
    project, twin = twins
    put_rot_in_place_of(project)
    button = open_damaged(desk, project)
    assert button.text() == "Choose backup…"
    desk.click(button)
    panel = desk.window.of(Backups).panel
    assert panel is not None
    assert panel.isVisible()
    assert "too damaged to tell which project it was" in panel.damage_text
    assert panel.back_up_button.isHidden()
    assert desk.window.workspace.empty.title == "No project is open"
    texts = [
        label.text().replace("\u200b", "")
        for label in panel.findChildren(QLabel)
        if label.isVisible()
    ]
    headings = [
        text
        for text in texts
        if text in {"From this location", "From another location", *map(str, twins)}
    ]
    assert headings == ["From this location", str(project), "From another location", str(twin)]
    own, stranger = panel.cards
    desk.click(stranger.ask_button)
    for detail in (
        "Is this the right project?",
        "2 classes",
        "5 images",
        "3 labels",
        f"From {twin}",
        "Made ",
    ):
        assert detail in stranger.question_text
    desk.wait(lambda: clipped(panel) == [])
    desk.press(Key.Key_Escape)
    assert stranger.question_text == ""
    assert project.read_bytes() == b"rotten"
    desk.click(own.ask_button)
    with desk.qtbot.waitSignal(desk.window.session.loaded, timeout=LONG_MS):
        desk.click(own.agree_button)
    assert desk.state.label_class.size == 4
    desk.wait(lambda: not panel.damage_text and panel.back_up_button.isVisible())
    assert [path.read_bytes() for path in project.parent.glob("* (damaged *")] == [b"rotten"]


@pytest.mark.slow
def test_closing_the_choice_leads_back(desk: Desk, twins: tuple[Path, Path]) -> None:
    """Nothing is restored; the start page is shown, and the next project has its own panel."""
    project, twin = twins
    put_rot_in_place_of(project)
    desk.click(open_damaged(desk, project))
    panel = desk.window.of(Backups).panel
    assert panel is not None
    desk.press(Key.Key_Escape)
    desk.wait(desk.window.of(Projects).page.isVisible)
    desk.open(twin)
    desk.window.registry.trigger("backups")
    desk.wait(lambda: [card.backup.images for card in panel.cards][:1] == [5])
    assert panel.damage_text == ""


@pytest.mark.slow
def test_a_backup_that_fails_to_be_restored_says_why(desk: Desk, twins: tuple[Path, Path]) -> None:
    """It was damaged while the question was open: choice and project file are unchanged."""
    project, _ = twins
    put_rot_in_place_of(project)
    desk.click(open_damaged(desk, project))
    panel = desk.window.of(Backups).panel
    assert panel is not None
    panel.cards[0].backup.path.write_bytes(b"gone")
    desk.click(panel.cards[0].ask_button)
    desk.click(panel.cards[0].agree_button)
    desk.wait(lambda: "the backup is damaged and was not restored" in panel.failure.text)
    assert panel.isVisible()
    assert panel.cards[1].ask_button.isEnabled()
    assert project.read_bytes() == b"rotten"
