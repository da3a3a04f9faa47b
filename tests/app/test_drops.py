"""Drop boxes for files: a click or key opens a dialog, and a drag over them highlights."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from app.backbones.controller import Backbones
from app.backbones.logic import Source
from app.dragging import images_mime_data
from app.drops import DropLight
from app.welcome.controller import Projects
from tests.support.clicks import click
from tests.support.desk import Desk
from tests.support.new_project import known_sheet
from tests.support.sessions import create_project, recorded

Key = Qt.Key
COPY, LEFT, NO_KEYS = (
    Qt.DropAction.CopyAction,
    Qt.MouseButton.LeftButton,
    Qt.KeyboardModifier.NoModifier,
)


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Titles of the opened folder dialogs, each of which is cancelled."""
    titles: list[str] = []

    def ask(_parent: QWidget, title: str, _folder: str) -> str:
        titles.append(title)
        return ""

    monkeypatch.setattr(QFileDialog, "getExistingDirectory", ask)
    return titles


@pytest.mark.slow
def test_the_box_of_a_new_project_asks_for_a_folder(desk: Desk, folders: list[str]) -> None:
    """A click on its text, Enter and Space open the folder dialog."""
    click(desk.window.of(Projects).page.buttons["new_project"])
    box = known_sheet(desk).photos.drop_box
    click(box, QPoint(40, 24))
    box.setFocus()
    for key in (Key.Key_Return, Key.Key_Space):
        desk.qtbot.keyClick(box, key)
    assert folders == ["Choose a folder of images"] * 3
    assert desk.window.session.info is None
    desk.press(Key.Key_Escape)


@pytest.mark.slow
def test_what_is_chosen_goes_where_a_drop_goes(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A chosen folder is added to the photos of the project, as a dropped one."""
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_words: str(tmp_path))
    click(desk.window.of(Projects).page.buttons["new_project"])
    card = known_sheet(desk)
    click(card.photos.drop_box)
    desk.wait(lambda: [each.path for each in card.photos.list.folders] == [tmp_path])
    assert not card.photos.drop_box.isVisible()
    desk.press(Key.Key_Escape)


def test_the_box_of_an_empty_project_asks_for_a_folder(
    desk: Desk, folders: list[str], tmp_path: Path
) -> None:
    """The box "Drop images here" acts as a button; "All done" is no drop box."""
    create_project(desk.qtbot, desk.window.session, tmp_path / "empty.protoleaf")
    box = desk.window.workspace.empty.drop_box
    desk.wait(box.isVisible)
    click(box)
    assert folders == ["Add a folder"]
    desk.window.registry.trigger("show_labelled")


@pytest.mark.slow
def test_the_box_for_a_network_asks_for_a_file(
    reviewing: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The box and its button open the file dialog."""
    asked: list[str] = []

    def ask(_parent: QWidget, title: str, *_more: str) -> tuple[str, str]:
        asked.append(title)
        return "", ""

    monkeypatch.setattr(QFileDialog, "getOpenFileName", ask)
    reviewing.window.of(Backbones).open_panel(Source.FILE)
    panel = reviewing.window.of(Backbones).panel
    assert panel is not None
    QApplication.processEvents()
    click(panel.file.drop, QPoint(panel.file.drop.width() - 6, 6))
    assert asked == ["Choose an ONNX file"]


def files(paths: Sequence[Path]) -> QMimeData:
    """Mime data with these files."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def enter(receiver: QWidget, data: QMimeData) -> None:
    """Send a drag enter event."""
    QApplication.sendEvent(receiver, QDragEnterEvent(QPoint(5, 5), COPY, data, LEFT, NO_KEYS))


@pytest.mark.slow
def test_places_light_up_while_files_are_over_them(reviewing: Desk, tmp_path: Path) -> None:
    """Start page, grid and network box; only for data that they accept, until the drag leaves."""
    window = reviewing.window
    window.of(Backbones).open_panel(Source.FILE)
    panel = window.of(Backbones).panel
    assert panel is not None
    for receiver, name in (
        (window.of(Projects).page, "photos"),
        (window.workspace.grid.viewport(), "photos"),
        (panel, "net.onnx"),
    ):
        (light,) = receiver.findChildren(DropLight)
        data = files([tmp_path / name])
        enter(receiver, data)
        assert not light.isHidden()
        place = light.parentWidget()
        assert place is not None
        assert light.size() == place.size()
        QApplication.sendEvent(receiver, QDragLeaveEvent())
        assert light.isHidden()
    enter(panel, files([tmp_path / "photo.jpg"]))
    enter(window.workspace.grid.viewport(), images_mime_data([1]))
    assert all(light.isHidden() for light in window.findChildren(DropLight))


@pytest.mark.slow
def test_the_light_goes_out_with_the_drop(desk: Desk, tmp_path: Path) -> None:
    """The dropped files are emitted."""
    welcome = desk.window.of(Projects).page
    dropped = recorded(welcome.files_dropped)
    (light,) = welcome.findChildren(DropLight)
    data = files([tmp_path])
    enter(welcome, data)
    assert light.parentWidget() is welcome
    QApplication.sendEvent(welcome, QDropEvent(QPointF(5, 5), COPY, data, LEFT, NO_KEYS))
    assert light.isHidden()
    assert dropped == [([tmp_path],)]
    desk.press(Key.Key_Escape)
