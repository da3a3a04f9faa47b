"""Exporting from the window, end to end: options, preview, written, cancelled, rejected."""

import csv
import errno
import os
import threading
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog

from app.exporting.controller import Exporting
from app.exporting.view import ExportCard
from app.theme import set_scheme
from engine.exporting.export import Which
from engine.graph.codes import NO_CLASS
from engine.interchange.labelled_images import class_folders
from engine.new_folder import Placing, place_file
from engine.project import Project
from tests.support.clipping import clipped, overlapping
from tests.support.collections import Collection
from tests.support.desk import CONTROL, NO_KEYS, SHIFT, Desk
from tests.support.sessions import LONG_MS
from tests.support.widgets import button, texts

pytestmark = pytest.mark.slow

Key = Qt.Key
LABELLED, ALL = 24, 64
"""Numbers of labelled images and of all images of the collection."""


def click(desk: Desk, part: QAbstractButton) -> None:
    """Click on a check box or button near its left edge."""
    assert part.isEnabled()
    desk.qtbot.mouseClick(part, Qt.MouseButton.LeftButton, pos=QPoint(12, part.height() // 2))


def wait_for_look(desk: Desk, card: ExportCard) -> None:
    """Wait for the preview."""
    desk.wait(lambda: card.look is not None)


def opened(desk: Desk) -> ExportCard:
    """The card, opened by its key, with its preview."""
    desk.press(Key.Key_E, CONTROL | SHIFT)
    card = desk.window.of(Exporting).card
    assert card is not None
    assert card.isVisible()
    wait_for_look(desk, card)
    return card


def name_target(desk: Desk, card: ExportCard, text: str) -> None:
    """Type a path into the field."""
    card.target.setFocus()
    card.target.selectAll()
    desk.qtbot.keyClicks(card.target, text)
    wait_for_look(desk, card)


class HeldPlacing:
    """Once armed, lets one file through and blocks at the next until released."""

    def __init__(self) -> None:
        self.is_held = threading.Event()
        self.may_go_on = threading.Event()
        self.disk_is_full = False
        self._left: int | None = None

    def arm(self) -> None:
        """Start counting, so that files of the preview are not blocked."""
        self._left = 1

    def __call__(self, source: Path, target: Path, how: Placing) -> None:
        """Replacement for `place_file`."""
        if self._left == 0:
            self._left = None
            self.is_held.set()
            assert self.may_go_on.wait(LONG_MS / 1000)
        elif self._left is not None:
            self._left -= 1
        if self.disk_is_full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        place_file(source, target, how)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldPlacing]:
    """File copies that block."""
    held = HeldPlacing()
    monkeypatch.setattr(class_folders, "place_file", held)
    yield held
    held.may_go_on.set()


def test_a_table_by_keys_alone(
    reviewing: Desk, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file equals the preview; the export offers to open it; the options are remembered."""
    shown: list[QUrl] = []

    def open_url(url: QUrl) -> bool:
        shown.append(url)
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    card = opened(reviewing)
    target = collection.folder / "shapes.csv"
    assert card.target.text() == str(target)
    assert card.details.which[Which.VERIFIED].text() == f"Verified only  ·  {LABELLED} images"
    assert card.details.which[Which.ALL].text() == f"All  ·  {ALL} images"
    table = card.details.preview.table
    header = [table.horizontalHeaderItem(place).text() for place in range(table.columnCount())]  # type: ignore[union-attr]
    first = [table.item(0, place).text() for place in range(table.columnCount())]  # type: ignore[union-attr]
    while not card.export_button.hasFocus():
        reviewing.press(Key.Key_Tab)
    reviewing.press(Key.Key_Return)
    reviewing.wait(lambda: not card.isVisible() and bool(reviewing.window.toast.message))
    assert target.read_bytes().startswith(BOM_UTF8)
    with target.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert reviewing.window.toast.message == f"Exported {len(rows)} images to shapes.csv"
    without_time = {
        name: cell for name, cell in zip(header, first, strict=True) if name != "exported_at"
    }
    assert without_time == {name: rows[0][name] for name in without_time if name in rows[0]} | {
        name: cell for name, cell in without_time.items() if name in {"model", "setting"}
    }
    state = reviewing.state
    by_path = dict(zip(state.paths, state.best_class.tolist(), strict=True))
    predicted = [row for row in rows if row["decided_by"] == "model"]
    assert predicted
    assert all(reviewing.graph.name(by_path[row["image"]]) == row["leaf"] for row in predicted)
    reviewing.qtbot.mouseClick(
        button(reviewing.window.toast, "Show in folder"), Qt.MouseButton.LeftButton
    )
    assert [Path(url.toLocalFile()) for url in shown] == [collection.folder]
    again = opened(reviewing)
    assert (again.formats.name, again.target.text()) == (
        "csv",
        str(collection.folder / "shapes (2).csv"),
    )
    image_id = int(state.image_ids[state.label_class == NO_CLASS][0])
    reviewing.window.session.label([image_id], reviewing.graph.find("Red disc"))
    reviewing.wait(
        lambda: again.details.which[Which.VERIFIED].text().endswith(f"{LABELLED + 1} images")
    )


def test_class_folders_by_hard_links(reviewing: Desk, collection: Collection) -> None:
    """The tree is previewed, then created; files are hard links to the images."""
    card = opened(reviewing)
    click(reviewing, card.formats.buttons["folders"])
    wait_for_look(reviewing, card)
    assert "Images without a class are left out." in card.details.losses.text()
    copies = card.details.placings[Placing.COPY]
    assert copies.text().startswith("Copies  ·  up to ")
    click(reviewing, card.details.placings[Placing.HARD_LINK])
    click(reviewing, card.details.which[Which.VERIFIED])
    wait_for_look(reviewing, card)
    assert card.details.preview.lines[:2] == ["Blue/", "    Blue checks/"]
    target = Path(card.target.text())
    click(reviewing, card.export_button)
    reviewing.wait(lambda: bool(reviewing.window.toast.message))
    assert reviewing.window.toast.message == f"Exported {LABELLED} images to shapes-folders"
    placed = list(target.rglob("*.png"))
    assert len(placed) == LABELLED
    assert all(path.stat().st_nlink == 2 for path in placed)
    assert reviewing.window.settings.export_format == "folders"


def test_images_of_broader_classes_beside_leaves(reviewing: Desk) -> None:
    """They are left out of sibling class folders, and counted; a check box includes them."""
    blue = reviewing.graph.find("Blue")
    image_id = int(reviewing.state.image_ids[reviewing.state.label_class == NO_CLASS][0])
    reviewing.window.session.label([image_id], blue)
    reviewing.wait(lambda: blue in reviewing.state.label_class)
    card = opened(reviewing)
    details = card.details
    click(reviewing, card.formats.buttons["folders"])
    click(reviewing, details.which[Which.VERIFIED])
    wait_for_look(reviewing, card)
    assert not details.coarse.isVisible()
    click(reviewing, details.flat)
    wait_for_look(reviewing, card)
    assert details.coarse.isVisible()
    assert details.coarse.text() == "Also 1 image of broader classes"
    assert "Blue/" not in details.preview.lines
    click(reviewing, details.coarse)
    wait_for_look(reviewing, card)
    assert details.coarse.isChecked()
    target = Path(card.target.text())
    click(reviewing, card.export_button)
    reviewing.wait(lambda: bool(reviewing.window.toast.message))
    assert (target / "Blue").is_dir()


def test_another_file_is_replaced_by_a_button_that_says_so(reviewing: Desk, tmp_path: Path) -> None:
    """One question, in the card; overwriting an image of the project is not offered."""
    card = opened(reviewing)
    taken = tmp_path / "taken.csv"
    taken.write_text("mine", encoding="utf-8")
    name_target(reviewing, card, str(taken))
    reviewing.qtbot.keyClick(card.target, Qt.Key.Key_Return)
    assert not card.is_running
    assert QApplication.focusWidget() is card.export_button
    assert taken.read_text(encoding="utf-8") == "mine"
    reviewing.qtbot.keyClick(card.export_button, Qt.Key.Key_Return)
    reviewing.wait(lambda: bool(reviewing.window.toast.message))
    assert taken.read_text(encoding="utf-8-sig").startswith("image,class,")
    card = opened(reviewing)
    name_target(reviewing, card, str(taken))
    assert "taken.csv exists and will be replaced." in texts(card)
    info = reviewing.window.session.info
    assert info is not None
    with Project.open(info.path, for_writing=False) as project:
        photo = project.images.resolve(project.images.records()[0])
    (tmp_path / "latest.csv").symlink_to(photo)
    before = photo.read_bytes()
    name_target(reviewing, card, str(tmp_path / "latest.csv"))
    assert "would overwrite an image of the project" in card.failure.text
    assert "will be replaced" not in texts(card)
    assert not card.export_button.isEnabled()
    assert photo.read_bytes() == before


def test_places(
    reviewing: Desk, collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors of the path are shown before anything is written; a file is replaced after a question.

    A name from the system's file dialog, which knows no suffixes, gets that of the format.
    """
    card = opened(reviewing)
    name_target(reviewing, card, str(collection.project))
    assert "would overwrite the project" in card.failure.text
    name_target(reviewing, card, str(tmp_path / "no such folder" / "out.csv"))
    assert "no folder" in card.failure.text
    assert not card.export_button.isEnabled()
    taken = tmp_path / "taken.csv"
    taken.write_text("mine", encoding="utf-8")
    name_target(reviewing, card, str(taken))
    assert (card.failure.text, card.export_button.text()) == ("", "Replace")
    assert "taken.csv is another file, not an export like this one. It will be lost." in texts(card)
    click(reviewing, card.formats.buttons["folders"])
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").write_text("mine", encoding="utf-8")
    name_target(reviewing, card, str(full))
    assert card.failure.text.startswith("This name is already taken")
    reviewing.press(Key.Key_Return)
    reviewing.press(Key.Key_Escape)
    assert not card.isVisible()
    assert (taken.read_text(encoding="utf-8"), len(list(full.iterdir()))) == ("mine", 1)
    card = opened(reviewing)
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *_values, **_names: (str(tmp_path / "mine"), "")
    )
    click(reviewing, card.browse_button)
    assert card.target.text() == str(tmp_path / "mine.csv")
    reviewing.wait(card.export_button.isEnabled)
    card.formats.buttons["csv"].setFocus()
    reviewing.press(Key.Key_Down)
    assert card.formats.name == "jsonl"
    assert card.target.text() == str(tmp_path / "mine.jsonl")
    reviewing.wait(card.export_button.isEnabled)
    card.formats.buttons["jsonl"].setFocus()
    reviewing.press(Key.Key_Return)
    reviewing.wait(lambda: bool(reviewing.window.toast.message))
    assert (tmp_path / "mine.jsonl").is_file()


def test_a_stop_and_a_full_disk_leave_nothing(
    reviewing: Desk, held: HeldPlacing, tmp_path: Path
) -> None:
    """Cancelled during a file; then a full disk, reported in the card; the options stay."""
    card = opened(reviewing)
    click(reviewing, card.formats.buttons["folders"])
    name_target(reviewing, card, str(tmp_path / "out"))
    before = {*tmp_path.iterdir(), tmp_path / "own.ini"}
    held.arm()
    reviewing.press(Key.Key_Return)
    reviewing.wait(held.is_held.is_set)
    assert card.is_running
    reviewing.press(Key.Key_Escape)
    bar = reviewing.window.status_line.job_bar
    assert not card.isVisible()
    reviewing.wait(lambda: bar.is_running)
    reviewing.press(Key.Key_E, CONTROL | SHIFT)
    assert card.is_running
    click(reviewing, card.progress.cancel_button)
    held.may_go_on.set()
    reviewing.wait(lambda: not card.is_running)
    reviewing.wait(lambda: reviewing.window.toast.message == "Stopped. Nothing was written.")
    assert {*tmp_path.iterdir()} == before
    held.disk_is_full = True
    click(reviewing, card.export_button)
    reviewing.wait(lambda: bool(card.failure.text))
    assert card.failure.text.startswith("The disk is full")
    assert (card.is_running, card.target.text()) == (False, str(tmp_path / "out"))
    assert {*tmp_path.iterdir()} == before


def test_the_window_closes_while_it_exports(
    reviewing: Desk, held: HeldPlacing, tmp_path: Path
) -> None:
    """The export is cancelled; neither the folder nor its draft is left."""
    card = opened(reviewing)
    click(reviewing, card.formats.buttons["folders"])
    name_target(reviewing, card, str(tmp_path / "out"))
    before = {*tmp_path.iterdir(), tmp_path / "own.ini"}
    held.arm()
    reviewing.press(Key.Key_Return)
    reviewing.wait(held.is_held.is_set)
    threading.Timer(0.05, held.may_go_on.set).start()
    assert reviewing.window.close()
    assert {*tmp_path.iterdir()} == before


def test_its_words_are_whole(reviewing: Desk) -> None:
    """On 1,000 x 640 no text is clipped or overlapped, and Tab cycles within the card."""
    reviewing.window.resize(1000, 640)
    card = opened(reviewing)
    for scheme, name in (("light", "csv"), ("dark", "folders")):
        set_scheme(scheme)
        click(reviewing, card.formats.buttons[name])
        wait_for_look(reviewing, card)
        QApplication.sendPostedEvents()
        QApplication.processEvents()
        assert clipped(card) == []
        assert overlapping(card) == []
        assert card.rect().contains(card.panel.geometry())
    for keys in (NO_KEYS, SHIFT):
        for _ in range(12):
            reviewing.press(Key.Key_Backtab if keys == SHIFT else Key.Key_Tab, keys)
            focused = QApplication.focusWidget()
            assert focused is not None
            assert card.isAncestorOf(focused)
            assert focused.accessibleName() or getattr(focused, "text", str)()


def test_the_model_leaves(reviewing: Desk, collection: Collection, tmp_path: Path) -> None:
    """It has no choice of images; the files of the preview are written."""
    card = opened(reviewing)
    click(reviewing, card.formats.buttons["model"])
    wait_for_look(reviewing, card)
    assert not card.details.which[Which.ALL].isVisible()
    assert card.target.text() == str(collection.folder / "shapes-model")
    shown = card.details.preview.lines
    name_target(reviewing, card, str(tmp_path / "shapes"))
    click(reviewing, card.export_button)
    reviewing.wait(lambda: bool(reviewing.window.toast.message) or bool(card.failure.text))
    assert reviewing.window.toast.message.startswith(
        "Exported the model with 8 classes to shapes, "
    )
    assert sorted(path.name for path in (tmp_path / "shapes").iterdir()) == sorted(shown)


def test_boxes_are_cut_out_where_a_project_has_some(reviewing: Desk) -> None:
    session, image_id = reviewing.window.session, int(reviewing.state.image_ids[0])
    card = opened(reviewing)
    click(reviewing, card.formats.buttons["folders"])
    wait_for_look(reviewing, card)
    assert not card.details.crops.isVisible()
    reviewing.press(Key.Key_Escape)
    blue, part = reviewing.graph.find("Blue checks"), "xywh=percent:25,25,50,50"
    session.act(lambda project: project.images.add_parts(image_id, [part]))
    reviewing.wait(lambda: bool(reviewing.state.is_box.any()))
    session.label([int(reviewing.state.image_ids[-1])], blue)
    reviewing.wait(lambda: reviewing.state.label_class[-1] == blue)
    card = opened(reviewing)
    click(reviewing, card.formats.buttons["folders"])
    click(reviewing, card.details.which[Which.VERIFIED])
    wait_for_look(reviewing, card)
    click(reviewing, card.details.crops)
    wait_for_look(reviewing, card)
    target = Path(card.target.text())
    click(reviewing, card.export_button)
    reviewing.wait(lambda: bool(reviewing.window.toast.message))
    assert len(list(target.rglob("*.jpg"))) == 1
