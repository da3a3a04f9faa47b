"""Backups in the window: automatic, listed, restored, and failures."""

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QPushButton

from app.backups.controller import Backups
from app.backups.view import BackupCard, BackupsPanel
from app.graph_import.controller import GraphImports
from app.jobs import slow_work
from app.theme import set_scheme
from engine.config import BACKUPS_VARIABLE
from engine.events import CancelToken, OnProgress
from engine.project import BackupReason, Project
from engine.project.backups import restoring, taking
from engine.project.backups.keeping import ProjectBackups
from engine.project.backups.listing import Backup, offer_for
from engine.project.backups.taking import OnPart
from engine.project.clock import present_time
from engine.project.connection import Connection
from tests.support.backups import Clock
from tests.support.clipping import clipped
from tests.support.collections import Collection
from tests.support.desk import Desk
from tests.support.sessions import LONG_MS, act, settle
from tests.support.widgets import button, texts

Key = Qt.Key


def on_disk(desk: Desk) -> list[Backup]:
    """The backups of the open project, newest first."""
    info = desk.window.session.info
    assert info is not None
    return list(offer_for(info.path).all)


def labels_in(desk: Desk) -> int:
    return int((desk.state.label_class >= 0).sum())


@pytest.fixture
def working(desk: Desk, collection: Collection) -> Desk:
    """The small collection is open, and its daily backup exists."""
    desk.open(collection.project)
    desk.wait(lambda: len(on_disk(desk)) == 1)
    return desk


@pytest.fixture
def panel(working: Desk) -> BackupsPanel:
    """The panel, once it has compared the newest backup."""
    working.window.registry.trigger("backups")
    panel = working.window.of(Backups).panel
    assert panel is not None
    working.wait(lambda: bool(panel.cards) and "Same as now" in panel.cards[0].text)
    return panel


def card_for(desk: Desk, panel: BackupsPanel, reason: BackupReason) -> BackupCard:
    """The newest card with a reason, once it is listed."""

    def found() -> list[BackupCard]:
        return [card for card in panel.cards if card.backup.reason is reason]

    desk.wait(lambda: bool(found()))
    return found()[0]


def label_some(desk: Desk, count: int) -> None:
    image_ids = [int(desk.state.image_ids[place]) for place in range(count)]
    class_id = next(iter(desk.graph.classes()))
    act(desk.qtbot, desk.window.session, lambda project: project.labels.set(image_ids, class_id))


def test_opening_makes_the_backup_of_the_day(working: Desk) -> None:
    """Opening makes the daily backup on a thread, without a message."""
    (backup,) = on_disk(working)
    assert (backup.reason, backup.images, backup.fault) == (BackupReason.DAY, 64, "")
    assert working.window.toast.message == ""


@pytest.mark.slow
def test_every_quarter_of_an_hour_of_work(working: Desk) -> None:
    """A backup every quarter of an hour is made only if something changed since the last one."""
    timer = working.window.of(Backups).automatic.quarter
    assert timer.isActive()
    assert timer.interval() == 900_000
    timer.timeout.emit()
    label_some(working, 1)
    timer.timeout.emit()
    working.wait(
        lambda: BackupReason.QUARTER_HOUR in {backup.reason for backup in on_disk(working)}
    )
    timer.timeout.emit()
    working.wait(lambda: not working.window.of(Backups).automatic.worker.is_busy)
    assert [backup.reason for backup in on_disk(working)].count(BackupReason.QUARTER_HOUR) == 1


@pytest.mark.slow
def test_the_story_of_a_restore(working: Desk, panel: BackupsPanel) -> None:
    """Label, see the changes since, restore by one click, and undo the restore from the toast."""
    before = labels_in(working)
    label_some(working, 40)
    after = labels_in(working)
    assert after > before
    working.wait(lambda: "1 action" in panel.cards[0].text)
    card = card_for(working, panel, BackupReason.DAY)
    working.click(card.ask_button)
    assert card.is_asking
    assert "Restoring undoes:\n• Labelled 40 images as" in card.question_text
    assert "is backed up first" in card.question_text
    working.press(Key.Key_Escape)
    assert card.question_text == ""
    assert panel.isVisible(), "Esc answers the question first"
    working.click(card.ask_button)
    with working.qtbot.waitSignal(working.window.session.loaded, timeout=LONG_MS):
        working.click(card.agree_button)
    working.wait(lambda: working.window.toast.message == "Restored the backup")
    assert labels_in(working) == before
    assert panel.isVisible(), "the panel and the collection stay in front"
    kept = card_for(working, panel, BackupReason.RESTORE)
    working.wait(lambda: "1 action undone" in kept.text or "1 action undone" in panel.cards[0].text)
    (back,) = working.window.toast.findChildren(QPushButton)
    assert back.text() == "Go back"
    with working.qtbot.waitSignal(working.window.session.loaded, timeout=LONG_MS):
        working.click(back)
    working.wait(lambda: labels_in(working) == after)
    working.window.session.undo()
    working.wait(lambda: labels_in(working) == before)


@pytest.mark.slow
def test_back_up_now(working: Desk, panel: BackupsPanel) -> None:
    """The toast names its contents, and it appears in the list."""
    working.click(panel.back_up_button)
    assert panel.busy.facts == "Backing up…"
    working.wait(lambda: working.window.toast.message.startswith("Backed up: "))
    assert "64 images" in working.window.toast.message
    card_for(working, panel, BackupReason.ASKED)
    assert panel.busy.isHidden()
    assert panel.back_up_button.isEnabled()


@pytest.mark.slow
def test_a_damaged_backup_says_so(working: Desk, collection: Collection) -> None:
    """It is listed, but cannot be restored."""
    (backup,) = on_disk(working)
    content = bytearray(backup.path.read_bytes())
    content[-2000:-1990] = b"rotten ink"
    backup.path.write_bytes(content)
    working.window.registry.trigger("backups")
    panel = working.window.of(Backups).panel
    assert panel is not None
    working.wait(
        lambda: (
            bool(panel.cards)
            and panel.cards[0].text.startswith("Damaged file; it can't be restored")
        )
    )
    assert panel.cards[0].ask_button.isHidden()


@pytest.mark.slow
def test_a_backup_that_fails_is_reported_once(
    desk: Desk, collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project stays usable; a second failure gives no second message."""
    (tmp_path / "taken").touch()
    monkeypatch.setenv(BACKUPS_VARIABLE, str(tmp_path / "taken"))
    desk.open(collection.project)
    toast = desk.window.toast
    desk.wait(
        lambda: toast.message.startswith("The backup failed. Your work is saved in the project.")
    )
    toast.hide()
    label_some(desk, 1)
    desk.window.of(Backups).automatic.quarter.timeout.emit()
    settle(desk.qtbot, desk.window.session)
    desk.wait(lambda: not desk.window.of(Backups).automatic.worker.is_busy)
    assert not toast.message.startswith("The backup failed.")
    desk.window.registry.trigger("backups")
    panel = desk.window.of(Backups).panel
    assert panel is not None
    desk.wait(lambda: panel.empty_text.startswith("No backup yet."))
    desk.click(panel.back_up_button)
    desk.wait(lambda: "the folder for backups cannot be made" in panel.failure.text)


@pytest.mark.slow
def test_an_action_without_its_backup_says_so(
    working: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list is merged and can be undone; the message reports the missing backup."""
    (tmp_path / "taken").touch()
    monkeypatch.setenv(BACKUPS_VARIABLE, str(tmp_path / "taken"))
    classes = tmp_path / "classes.csv"
    classes.write_text("child,parent\nOwl,Bird\n", encoding="utf-8")
    working.window.of(GraphImports).read(classes)
    card = working.window.of(GraphImports).card
    assert card is not None
    working.wait(lambda: bool(card.summary))
    with working.qtbot.waitSignal(working.window.session.change_made, timeout=LONG_MS):
        working.click(card.import_button)
    working.wait(lambda: working.window.toast.message.startswith("The backup failed."))
    assert working.graph.find("Bird/Owl")


@pytest.mark.slow
def test_another_folder(
    working: Desk, panel: BackupsPanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another folder can be chosen, is used and shown, and can be reset."""
    stick = tmp_path / "stick"
    stick.mkdir()
    usual = panel.folder_text
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_args: str(stick))
    working.click(panel.choose_button)
    working.wait(lambda: panel.folder_text.startswith(str(stick)))
    working.click(panel.back_up_button)
    card = card_for(working, panel, BackupReason.ASKED)
    assert card.backup.path.is_relative_to(stick)
    shown: list[str] = []

    def show(url: QUrl) -> bool:
        shown.append(url.toLocalFile())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", show)
    working.click(panel.show_button)
    assert shown == [panel.folder_text]
    working.click(panel.usual_button)
    working.wait(lambda: panel.folder_text == usual)
    assert panel.usual_button.isHidden()


@pytest.mark.slow
def test_a_project_open_elsewhere_is_not_restored(desk: Desk, collection: Collection) -> None:
    """Read-only: backups are listed and made on request, but not restored."""
    with Project.open(collection.project):
        with desk.qtbot.waitSignal(desk.window.session.loaded, timeout=LONG_MS):
            desk.window.session.open(collection.project, for_writing=False)
        desk.window.registry.trigger("backups")
        panel = desk.window.of(Backups).panel
        assert panel is not None
        desk.wait(lambda: bool(panel.cards))
        assert not panel.cards[0].ask_button.isEnabled()
        desk.click(panel.back_up_button)
        card_for(desk, panel, BackupReason.ASKED)


@pytest.mark.slow
def test_a_restore_that_fails_leaves_the_project_open(working: Desk, panel: BackupsPanel) -> None:
    """The backup was damaged while the question was open: reported; the project is unchanged."""
    label_some(working, 3)
    after = labels_in(working)
    card = card_for(working, panel, BackupReason.DAY)
    card.backup.path.write_bytes(b"rotten")
    working.click(panel.cards[0].ask_button)
    working.click(panel.cards[0].agree_button)
    working.wait(
        lambda: "the backup is damaged and was not restored" in working.window.toast.message
    )
    assert labels_in(working) == after
    assert panel.isVisible()
    assert not working.window.of(Backups).restoring.is_running


@pytest.mark.slow
def test_a_long_restore_is_shown_and_stopped(
    working: Desk, panel: BackupsPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status bar shows MB and cancels on a click; the project is open and unchanged."""
    gate, tell = threading.Event(), taking.part_teller

    def gated(source: Connection, on_progress: OnProgress, cancel: CancelToken) -> OnPart:
        report = tell(source, on_progress, cancel)

        def tell_and_wait(done: int, total: int) -> None:
            report(done, total)
            assert gate.wait(LONG_MS / 1000)
            report(done, total)

        return tell_and_wait

    monkeypatch.setattr(restoring, "part_teller", gated)
    for module in (restoring, taking):  # report as often as for a large collection
        monkeypatch.setattr(module, "MEGABYTE", 1000)
    monkeypatch.setattr(slow_work, "SHOWN_AFTER_S", 0.0)
    label_some(working, 3)
    after, bar = labels_in(working), working.window.status_line.job_bar
    working.click(card_for(working, panel, BackupReason.DAY).ask_button)
    working.click(card_for(working, panel, BackupReason.DAY).agree_button)
    working.wait(lambda: bool(bar.facts))
    assert " of " in bar.facts
    (job,) = working.window.session.jobs.jobs
    assert job.title.startswith("Restoring ")
    (stop,) = [
        each
        for each in bar.findChildren(QAbstractButton)
        if each.accessibleName() == "Stop; nothing is saved"
    ]
    working.qtbot.mouseClick(stop, Qt.MouseButton.LeftButton)
    with working.qtbot.waitSignal(working.window.session.loaded, timeout=LONG_MS):
        gate.set()
    working.wait(lambda: labels_in(working) == after)
    assert not working.window.of(Backups).restoring.is_running
    assert panel.busy.isHidden()
    assert working.window.toast.message != "Restored the backup"


@pytest.mark.slow
def test_a_damaged_project_is_offered_its_backup(working: Desk, collection: Collection) -> None:
    """One click restores the newest intact backup and keeps the damaged file."""
    session, toast = working.window.session, working.window.toast
    with working.qtbot.waitSignal(session.closed, timeout=LONG_MS):
        session.close()
    content = collection.project.read_bytes()[:-20_000]
    collection.project.write_bytes(content)
    with working.qtbot.waitSignal(session.failed, timeout=LONG_MS):
        session.open(collection.project)
    working.wait(lambda: "The damaged file is kept." in toast.message)
    (button,) = toast.findChildren(QPushButton)
    with working.qtbot.waitSignal(session.loaded, timeout=LONG_MS):
        working.click(button)
    assert labels_in(working) == 24
    (kept,) = collection.folder.glob("* (damaged *")
    assert kept.read_bytes() == content


@pytest.mark.slow
def test_a_date_in_the_future_is_not_the_newest(working: Desk, collection: Collection) -> None:
    """A backup made under a wrong clock is sorted below later work, and marked."""
    info = working.window.session.info
    assert info is not None
    project = working.window.of(Backups).automatic.backups
    assert project is not None
    wrong = Clock(present_time() + timedelta(days=900))
    ProjectBackups(info.path, project.project_id, None, wrong).take()
    label_some(working, 2)
    ProjectBackups(info.path, project.project_id, None).take()
    working.window.registry.trigger("backups")
    panel = working.window.of(Backups).panel
    assert panel is not None
    working.wait(lambda: len(panel.cards) == 3)
    assert "in the future" not in panel.cards[0].text
    assert "Date in the future" in panel.cards[1].text


@pytest.mark.slow
def test_leaving_gives_a_backup_up(working: Desk, collection: Collection) -> None:
    """No partial file is left, and closing does not wait for the backup."""
    folder = on_disk(working)[0].path.parent
    label_some(working, 2)
    working.window.of(Backups).automatic.quarter.timeout.emit()
    working.leave()
    assert all(path.suffix == ".protoleaf" for path in folder.iterdir())
    with Project.open(collection.project, for_writing=False) as project:
        assert project.check() == []


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("height", [800, 400])
def test_nothing_is_cut(working: Desk, panel: BackupsPanel, scheme: str, height: int) -> None:
    """Neither the list nor the question is clipped, also in a low window."""
    set_scheme(scheme)
    label_some(working, 40)
    working.wait(lambda: "1 action" in panel.cards[0].text)
    working.window.resize(1000, height)
    assert clipped(panel) == []
    working.click(panel.cards[0].ask_button)
    working.wait(lambda: clipped(panel) == [])
    buttons: list[Callable[[], str]] = [button.text for button in panel.cards[0].buttons]
    assert all(text() for text in buttons)


def opened_backup(desk: Desk) -> tuple[Path, Path]:
    """Open a backup as a project; returns the project and the backup."""
    info = desk.window.session.info
    assert info is not None
    project, backup = info.path, on_disk(desk)[0].path
    desk.open(backup)
    desk.wait(desk.window.of(Backups).notice.isVisible)
    return project, backup


def click_answer(desk: Desk, title: str) -> None:
    """Click a button of the notice above the panes."""
    desk.qtbot.mouseClick(button(desk.window.of(Backups).notice, title), Qt.MouseButton.LeftButton)


@pytest.mark.slow
def test_a_backup_that_is_opened_says_so_and_leads_to_its_project(working: Desk) -> None:
    """The notice names project and date; one click opens the project, without a notice."""
    project, _backup = opened_backup(working)
    notice = working.window.of(Backups).notice
    assert f"This is a backup of “{project.stem}”, made " in texts(notice)
    assert clipped(notice) == []
    click_answer(working, "Open the project")
    working.wait(
        lambda: (
            working.window.session.info is not None and working.window.session.info.path == project
        )
    )
    assert not notice.isVisible()


@pytest.mark.slow
def test_one_can_go_on_with_a_copy_of_a_backup(
    working: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is saved next to the project, so that relative paths work; both files are unchanged."""
    project, backup = opened_backup(working)
    before = project.read_bytes()
    offered: list[Path] = []

    def save(_parent: object, _title: str, start: str, *_texts: object) -> tuple[str, str]:
        offered.append(Path(start))
        return str(Path(start).with_suffix("")), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", save)
    click_answer(working, "Continue as a copy…")
    copy = project.with_name(offered[0].name)
    working.wait(
        lambda: working.window.session.info is not None and working.window.session.info.path == copy
    )
    settle(working.qtbot, working.window.session)
    assert not working.window.of(Backups).notice.isVisible()
    working.wait(lambda: working.window.toast.message == "Copied the backup")
    assert labels_in(working) > 0
    assert project.read_bytes() == before
    assert backup.is_file()
