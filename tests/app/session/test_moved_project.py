"""A project file renamed while it is open: reported at once, without data loss."""

import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from engine.project import Project
from tests.support.collections import Collection
from tests.support.desk import Desk
from tests.support.sessions import LONG_MS, changed_by

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows does not let go of open files")


@pytest.fixture(autouse=True)
def own_backups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep rescue copies in the test's folder."""
    monkeypatch.setenv("PROTOLEAF_BACKUPS", str(tmp_path / "backups"))


def come_back(desk: Desk) -> None:
    """Deactivate the window, and activate it again."""
    other = QWidget()
    desk.qtbot.addWidget(other)
    other.show()
    other.activateWindow()
    desk.wait(other.isActiveWindow)
    other.close()
    desk.window.activateWindow()
    desk.wait(desk.window.isActiveWindow)


def accept_and_save(desk: Desk) -> None:
    """Press Enter on the selected card, and wait until the label is saved, not only shown."""
    changed_by(
        desk.qtbot, desk.window.session, lambda: desk.qtbot.keyClick(desk.grid, Qt.Key.Key_Return)
    )


@pytest.mark.slow
def test_a_label_after_the_move_is_refused_and_the_rest_is_rescued(
    desk: Desk, collection: Collection
) -> None:
    """Enter shows a notice and editing is disabled; all earlier labels are saved."""
    desk.open(collection.project)
    labels = int((desk.state.label_class >= 0).sum())
    desk.choose(30)
    accept_and_save(desk)
    assert int((desk.state.label_class >= 0).sum()) == labels + 1
    desk.choose(31)
    moved = collection.project.rename(collection.project.with_name("other.protoleaf"))
    desk.qtbot.keyClick(desk.grid, Qt.Key.Key_Return)
    notice = desk.window.workspace.notice
    desk.wait(notice.isVisible)
    assert not desk.window.registry.action("accept").isEnabled()
    assert int((desk.state.label_class >= 0).sum()) == labels + 1
    with desk.qtbot.waitSignal(desk.window.session.closed, timeout=LONG_MS):
        notice.answer("Close project")
    (rescued,) = collection.project.parent.glob("*(rescued *")
    for path in (moved, rescued):
        with Project.open(path, for_writing=False) as project:
            assert len(project.labels.by_image()) == labels + 1


@pytest.mark.slow
def test_coming_back_to_the_window_finds_the_move_and_the_return(
    desk: Desk, collection: Collection
) -> None:
    """The notice appears by itself; when the file is put back it is hidden and editing works."""
    desk.open(collection.project)
    moved = collection.project.rename(collection.project.with_name("other.protoleaf"))
    come_back(desk)
    notice = desk.window.workspace.notice
    desk.wait(notice.isVisible)
    assert not desk.window.registry.action("accept").isEnabled()
    moved.rename(collection.project)
    come_back(desk)
    desk.wait(lambda: not notice.isVisible())
    info = desk.window.session.info
    assert info is not None
    assert info.is_writable
    labels = int((desk.state.label_class >= 0).sum())
    desk.choose(30)
    accept_and_save(desk)
    assert int((desk.state.label_class >= 0).sum()) == labels + 1
    with Project.open(collection.project, for_writing=False) as project:
        assert len(project.labels.by_image()) == labels + 1
