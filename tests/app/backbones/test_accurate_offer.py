"""The accurate backbone is offered once to a project that uses the fast one."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from app.backbones.controller import Backbones
from app.jobs.slot import Stage
from app.settings import Settings
from engine.backbones.messages import AddedBackbone
from engine.events import Progress
from engine.project import Project
from engine.worker.protocol import Failed
from tests.support.clipping import clipped
from tests.support.collections import Collection
from tests.support.desk import Desk
from tests.support.offers import offer_two
from tests.support.scripted_workers import Player
from tests.support.sessions import LONG_MS, settle
from tests.support.widgets import button


@pytest.fixture
def offered(
    desk: Desk, collection: Collection, tinyleaf: str, monkeypatch: pytest.MonkeyPatch
) -> Desk:
    """A project with the fast backbone, where the accurate one is not yet prepared."""
    offer_two(monkeypatch, is_ready=False)
    desk.open(collection.project)
    desk.wait(desk.window.workspace.offer_notice.isVisible)
    return desk


def click(desk: Desk, title: str) -> None:
    """Click a button of the notice."""
    desk.qtbot.mouseClick(
        button(desk.window.workspace.offer_notice, title), Qt.MouseButton.LeftButton
    )


def opened_again(desk: Desk, project: Path) -> bool:
    """Whether the notice is visible after the project is reopened."""
    desk.window.session.close()
    desk.wait(lambda: desk.window.session.info is None)
    desk.open(project)
    settle(desk.qtbot, desk.window.session)
    return desk.window.workspace.offer_notice.isVisible()


@pytest.mark.slow
def test_a_no_holds(offered: Desk, collection: Collection) -> None:
    """Nothing starts, and the notice does not appear again for this project."""
    notice = offered.window.workspace.offer_notice
    assert clipped(notice) == []
    assert [each.property("variant") for each in notice.findChildren(QPushButton)] == [None, None]
    click(offered, "Not now")
    assert not notice.isVisible()
    assert not offered.window.session.jobs.jobs
    assert not opened_again(offered, collection.project)


@pytest.mark.slow
def test_compare_prepares_and_then_embeds_beside_the_one_in_use(
    offered: Desk, tinyleaf: str
) -> None:
    """The panel shows the progress; the project changes only after confirmation."""
    jobs = offered.window.of(Backbones).jobs
    jobs.preparation.make_job = Player(
        [Progress(2, 4, "steps", note="writing the network"), AddedBackbone("", "", 1)]
    )
    jobs.change.make_job = change = Player([Progress(16, 64), "wait"])
    click(offered, "Compare…")
    panel = offered.window.of(Backbones).panel
    assert panel is not None
    assert panel.isVisible()
    offered.wait(lambda: "16 of 64" in panel.run.progress.facts)
    assert panel.tabs.isHidden()
    assert change.requests[0].backbone == tinyleaf
    panel.run.progress.cancel_button.click()
    offered.wait(lambda: jobs.change.stage is Stage.IDLE)
    assert not panel.tabs.isHidden()


@pytest.mark.slow
def test_a_preparation_that_fails_says_why(offered: Desk) -> None:
    """The panel shows the reason; the project is unchanged."""
    jobs = offered.window.of(Backbones).jobs
    jobs.preparation.make_job = Player([Failed("the weights are not there")])
    click(offered, "Compare…")
    panel = offered.window.of(Backbones).panel
    assert panel is not None
    offered.wait(lambda: panel.preparation.error == "the weights are not there")
    assert panel.preparation.failure.isVisible()
    assert not panel.tabs.isHidden()


def unlabelled(project: Project) -> None:
    """Remove all labels."""
    table = project.images.table()
    project.labels.remove(table.ids)


@pytest.mark.slow
@pytest.mark.usefixtures("tinyleaf")
@pytest.mark.parametrize("reason", ["no labels", "read only", "offered before", "the sample"])
def test_nothing_is_offered_where_nothing_can_be_gained(
    desk: Desk,
    collection: Collection,
    settings: Settings,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without labels there is nothing to compare; a read-only project cannot change."""
    offer_two(monkeypatch)
    if reason == "the sample":
        monkeypatch.setenv("PROTOLEAF_SAMPLE", str(collection.folder))
    with Project.open(collection.project) as project:
        if reason == "no labels":
            unlabelled(project)
        elif reason == "offered before":
            settings.remember_offered(project.backups.project_id)
    session = desk.window.session
    with desk.qtbot.waitSignal(session.loaded, timeout=LONG_MS):
        session.open(collection.project, for_writing=reason != "read only")
    settle(desk.qtbot, session)
    assert not desk.window.workspace.offer_notice.isVisible()
