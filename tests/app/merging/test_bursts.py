"""Conflicts within a sequence are settled together by one key, or one by one."""

import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFileDialog

from app.merging.controller import Merging
from app.merging.page import ConflictPage
from engine.collection.embed import embed_project
from engine.collection.importing.import_images import import_images
from engine.project import Project
from tests.support.archives import wide_project
from tests.support.clipping import clipped, overlapping
from tests.support.collections import cache_of_test
from tests.support.desk import CONTROL, Desk
from tests.support.photos import save_photo

Key = Qt.Key
BURST = 5


@pytest.fixture
def copies(tmp_path: Path) -> tuple[Path, Path]:
    """A sequence of five photos and a later one: foxes for Ada, hares for Ben."""
    start = datetime(2026, 5, 1, 10)  # noqa: DTZ001 (camera times have no time zone)
    with wide_project(tmp_path / "ada", 0) as ada:
        folder = tmp_path / "ada" / "site A"
        for number in range(BURST + 1):
            later = timedelta(seconds=number if number < BURST else 7_200)
            save_photo(
                folder / f"IMG_{number}.jpg", taken_at=start + later, latitude=1, longitude=2
            )
        import_images(ada, [folder])
        embed_project(ada, cache_of_test(), device="cpu")
        ours = ada.path
    theirs = tmp_path / "ben.protoleaf"
    shutil.copyfile(ours, theirs)
    for path, who, name in ((ours, "ada", "Fox"), (theirs, "ben", "Hare")):
        with Project.open(path, is_backed_up=False) as project:
            ids = project.images.table().ids
            project.labels.set(ids, project.classes.graph.find(name), who=who)
    return ours, theirs


def merged(desk: Desk, copies: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> ConflictPage:
    """Merge, and show the first conflict."""
    ours, theirs = copies
    desk.open(ours)
    desk.wait_until_read()
    desk.wait(lambda: desk.state.folds.count == 1)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_given: (str(theirs), ""))
    desk.window.trigger("merge_copy")
    card = desk.window.of(Merging).card
    assert card is not None
    if card.survey is None:
        desk.click(card.file_button)
    desk.wait(lambda: card.survey is not None)
    assert card.conflicts.title.startswith("6 conflicts")
    desk.qtbot.keyClick(card, Key.Key_Return)
    desk.wait(lambda: isinstance(desk.window.workspace.page, ConflictPage))
    page = desk.window.workspace.page
    assert isinstance(page, ConflictPage)
    return page


def place(page: ConflictPage) -> str:
    return page._place.text()  # noqa: SLF001 (the shown text)


def labels(desk: Desk) -> list[str]:
    return [desk.label_of(each) for each in desk.state.image_ids.tolist()]


@pytest.mark.slow
def test_one_key_settles_a_burst(
    desk: Desk, copies: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One key settles all conflicts of a sequence in one undoable step."""
    page = merged(desk, copies, monkeypatch)
    assert place(page) == "1 of 2"
    assert len(page.group) == BURST
    assert page.burst.isVisible()
    assert page.apart_button.isVisible()
    assert page.theirs.button.text().startswith("Take theirs for all 5")
    desk.wait(lambda: not clipped(page))
    assert not overlapping(page)
    desk.press_for_change(Key.Key_2)
    desk.wait(lambda: place(page) == "2 of 2")
    assert labels(desk) == ["Hare"] * BURST + ["Fox"]
    assert not page.burst.isVisible()
    assert not page.apart_button.isVisible()
    desk.press_for_change(Key.Key_Z, CONTROL)
    desk.wait(lambda: place(page) == "1 of 2")
    assert labels(desk) == ["Fox"] * (BURST + 1)
    desk.press_for_change(Key.Key_1)
    desk.press_for_change(Key.Key_2)
    desk.wait(lambda: page.is_at_end)
    assert page.summary.title.text() == "6 conflicts settled"
    assert labels(desk) == ["Fox"] * BURST + ["Hare"]


@pytest.mark.slow
def test_a_burst_is_taken_apart_and_its_images_looked_at(
    desk: Desk, copies: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = merged(desk, copies, monkeypatch)
    first = page.canvas.source
    desk.wait(lambda: page.burst.width() > 200)
    desk.qtbot.mouseClick(page.burst, Qt.MouseButton.LeftButton, pos=QPoint(64 + 6 + 20, 20))
    desk.wait(lambda: page.canvas.source != first)
    page.setFocus()
    desk.press(Key.Key_D)
    desk.wait(lambda: place(page) == "1 of 6")
    assert len(page.group) == 1
    desk.press_for_change(Key.Key_2)
    desk.wait(lambda: place(page) == "2 of 6")
    assert sorted(labels(desk)) == ["Fox"] * BURST + ["Hare"]
    desk.press(Key.Key_E)
    desk.wait(lambda: place(page) == "3 of 6")
