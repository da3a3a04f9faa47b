"""Each purpose has its own folder, where its next dialog opens."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QLineEdit

import app
from app.file_dialogs import Purpose, folder_for, nearest_folder
from app.settings import Settings
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.images import write_jpeg

Key = Qt.Key
DIALOG_MS = 100
"""Polling interval for the dialog."""
MOST_LOOKS = 100


class Answer:
    """Wait for a file dialog, record its folder, type a path and press Enter, or Esc without one.

    Repeated while the dialog is open, since it rejects files of folders that are not read yet;
    gives up in the end.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.folder: Path | None = None
        self.looks = 0
        self._timer = QTimer()
        self._timer.timeout.connect(self._look)
        self._timer.start(DIALOG_MS)

    def stop(self) -> None:
        """Stop after the dialog has closed."""
        self._timer.stop()

    def _look(self) -> None:
        self.looks += 1
        dialog = QApplication.activeModalWidget()
        if not isinstance(dialog, QDialog) or not dialog.isVisible():
            return
        # Rejected, or without effect.
        if not isinstance(dialog, QFileDialog) or self.looks > MOST_LOOKS:
            dialog.reject()
            return
        if self.folder is None:
            self.folder = Path(dialog.directory().absolutePath())
        if self.path is None:
            QTest.keyClick(dialog, Key.Key_Escape)
            return
        field = dialog.findChild(QLineEdit)
        assert isinstance(field, QLineEdit)
        field.selectAll()
        QTest.keyClicks(field, str(self.path))
        QTest.keyClick(field, Key.Key_Return)


def asked(desk: Desk, key: Key, path: Path | None) -> Path | None:
    """Open a dialog by its key and answer it; returns the folder in which it opened."""
    desk.wait_until_read()
    desk.window.activateWindow()
    desk.wait(desk.window.isActiveWindow)
    desk.grid.setFocus()
    answer = Answer(path)
    desk.press(key, CONTROL | SHIFT if key == Key.Key_O else CONTROL)
    answer.stop()
    return answer.folder


@pytest.mark.slow
def test_a_dialog_opens_where_its_purpose_was_last(reviewing: Desk, tmp_path: Path) -> None:
    """Images and projects have separate folders; a cancelled dialog changes nothing."""
    photos, others = tmp_path / "photos", tmp_path / "others"
    for folder in (photos, others):
        folder.mkdir()
        write_jpeg(folder / "one.jpg")
    first = asked(reviewing, Key.Key_I, photos / "one.jpg")
    assert first not in {photos, others}
    assert asked(reviewing, Key.Key_I, None) == photos
    assert asked(reviewing, Key.Key_I, others / "one.jpg") == photos
    assert asked(reviewing, Key.Key_I, None) == others
    assert asked(reviewing, Key.Key_O, None) == others  # a folder of images counts for images
    assert folder_for(Purpose.PROJECTS) not in {photos, others}


def test_a_folder_that_is_gone_gives_way_to_what_is_left_of_it(
    tmp_path: Path, own_settings_and_caches: None
) -> None:
    """The nearest existing parent is used, also after a restart."""
    (tmp_path / "photos").mkdir()
    Settings().remember_folder(Purpose.IMAGES, tmp_path / "photos" / "2024" / "May")
    assert folder_for(Purpose.IMAGES) == tmp_path / "photos"
    assert Settings().folder_of(Purpose.LABELS) is None
    assert nearest_folder(Path("nowhere at all")) in {Path(), Path.home()}


def calls_of(name: str) -> Iterator[str]:
    """Modules of the window that use a name."""
    root = Path(app.__file__).parent
    for path in sorted(root.rglob("*.py")):
        names = {
            node.id
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Name)
        }
        if name in names:
            yield path.relative_to(root).as_posix()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["QFileDialog"])
def test_every_dialog_remembers(name: str) -> None:
    """Only one module opens file dialogs."""
    assert list(calls_of(name)) == ["file_dialogs.py"]
