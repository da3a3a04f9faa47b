"""Merging another person's copy in the window, and settling ten conflicts by keys."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog

from app.merging.card import MergeCard
from app.merging.controller import Merging
from app.merging.page import ConflictPage
from engine.merging.merge_plan import Conflict
from engine.project import Change, Project
from tests.support.clipping import clipped, overlapping
from tests.support.collections import Collection
from tests.support.desk import CONTROL, Desk
from tests.support.disputes import disputed_copy
from tests.support.sessions import LONG_MS, changed_by

pytestmark = pytest.mark.slow

Key = Qt.Key


def click(desk: Desk, part: QAbstractButton) -> None:
    """Click on a check box or button near its left edge."""
    assert part.isEnabled()
    assert part.isVisible()
    desk.qtbot.mouseClick(part, Qt.MouseButton.LeftButton, pos=QPoint(12, part.height() // 2))


@pytest.fixture
def from_ben(reviewing: Desk, collection: Collection) -> Path:
    """Ben's copy with some other labels."""
    return disputed_copy(reviewing, collection)


def merging(desk: Desk) -> Merging:
    return desk.window.findChild(Merging)  # type: ignore[return-value]


def surveyed(desk: Desk, source: Path, monkeypatch: pytest.MonkeyPatch) -> MergeCard:
    """Choose the copy in the card of the menu."""
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_given: (str(source), ""))
    desk.window.trigger("merge_copy")
    card = merging(desk).card
    assert card is not None
    desk.wait(lambda: card.survey is not None)
    return card


def merged(desk: Desk, source: Path, monkeypatch: pytest.MonkeyPatch) -> ConflictPage:
    """Merge, and show the first conflict."""
    card = surveyed(desk, source, monkeypatch)
    changed_by(desk.qtbot, desk.window.session, lambda: desk.qtbot.keyClick(card, Key.Key_Return))
    desk.wait(lambda: isinstance(desk.window.workspace.page, ConflictPage))
    page = desk.window.workspace.page
    assert isinstance(page, ConflictPage)
    return page


def place(page: ConflictPage) -> str:
    return page._place.text()  # noqa: SLF001 (the shown text)


def test_the_card_says_what_would_come_in(
    reviewing: Desk, from_ben: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The card has labels, classes, agreement and conflicts, before anything changes."""
    card = surveyed(reviewing, from_ben, monkeypatch)
    assert card.summary == "3 labels, 1 class, 1 note will be added"
    assert card.kind.text() == "Another copy of this project  ·  64 images in both"
    assert card.classes.rows == [("Red/Red zigzag",)]
    assert card.conflicts.title == "11 conflicts. Yours stay until you settle them."
    assert card.agreement.rows[0][:3] == ("Same class", "11", "9%")
    reviewing.wait(lambda: not clipped(card))  # after the layout
    assert not overlapping(card.panel)
    reviewing.press(Key.Key_Escape)
    assert "Red zigzag" not in {reviewing.graph.name(each) for each in reviewing.graph.classes()}


def test_ten_conflicts_are_settled_by_keys(
    reviewing: Desk, from_ben: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is saved before the next is shown; undo shows it again; the others are asked later."""
    desk = reviewing
    page = merged(desk, from_ben, monkeypatch)
    images = [each.image_id for each in merging(desk).queue.disputes]  # type: ignore[union-attr]
    desk.wait(lambda: desk.inspected == images[0])
    assert (place(page), page.ours.answer.text(), page.theirs.answer.text()) == (
        "1 of 11",
        "Red disc",
        "Blue disc",
    )
    assert page.hasFocus()
    desk.press_for_change(Key.Key_Left)
    desk.wait(lambda: place(page) == "2 of 11")
    desk.press_for_change(Key.Key_2)
    desk.wait(lambda: place(page) == "3 of 11")
    desk.press_for_change(Key.Key_U)
    desk.wait(lambda: place(page) == "4 of 11")
    assert [desk.label_of(each) for each in images[:3]] == ["Red disc", "Blue disc", "?"]
    desk.press_for_change(Key.Key_Z, CONTROL)
    desk.wait(lambda: place(page) == "3 of 11")
    assert desk.label_of(images[2]) == "Red disc"
    desk.press_for_change(Key.Key_1)
    desk.wait(lambda: place(page) == "4 of 11")
    desk.press(Key.Key_R)
    desk.type_into_palette("Green disc")
    desk.press_for_change(Key.Key_Return)
    desk.wait(lambda: place(page) == "5 of 11")
    assert desk.label_of(images[3]) == "Green disc"
    desk.press(Key.Key_E)
    assert place(page) == "6 of 11"
    for number in range(6, 10):
        desk.press_for_change(Key.Key_Right)
        desk.wait(lambda number=number: place(page) == f"{number + 1} of 11")  # type: ignore[misc]
    dispute = page.dispute
    assert isinstance(dispute, Conflict)
    assert dispute.finer is not None
    desk.press_for_change(Key.Key_Return)  # the finer class is proposed
    desk.wait(lambda: place(page) == "11 of 11")
    assert desk.label_of(images[9]) == "Red disc"
    desk.press_for_change(Key.Key_B)
    desk.wait(lambda: page.is_at_end)
    assert page.summary.title.text() == "10 conflicts settled, 1 left for later"
    click(desk, page.summary.again_button)
    assert place(page) == "5 of 11"
    desk.press_for_change(Key.Key_1)
    desk.wait(lambda: page.is_at_end)
    assert page.summary.title.text() == "11 conflicts settled"
    card = surveyed(desk, from_ben, monkeypatch)
    assert card.summary == "Nothing new in this copy"
    assert not card.import_button.isEnabled()


def test_the_table_of_agreement_is_copied_and_saved(
    reviewing: Desk, from_ben: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The table has the numbers before conflicts were settled."""
    desk = reviewing
    page = merged(desk, from_ben, monkeypatch)
    for _ in range(11):
        desk.press(Key.Key_E)
    assert page.is_at_end
    click(desk, page.summary.copy_button)
    lines = QApplication.clipboard().text().splitlines()
    assert lines[0].split("\t") == ["Compared", "Images", "Equal", "Kappa", "95% interval"]
    assert lines[1].split("\t")[:3] == ["Same class", "11", "9%"]
    out = tmp_path / "agreement.csv"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_given: (str(out), ""))
    click(desk, page.summary.save_button)
    desk.wait(out.exists)
    with out.open(encoding="utf-8", newline="") as file:
        rows: Sequence[Sequence[str]] = list(csv.reader(file))
    assert rows[1][:5] == ["exact class", "", "", "11", "1"]
    click(desk, page.summary.done_button)
    assert desk.window.workspace.page is None


def test_only_what_was_shown_is_settled(
    reviewing: Desk, from_ben: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An image relabelled meanwhile is not changed, and the page continues."""
    desk = reviewing
    page = merged(desk, from_ben, monkeypatch)
    dispute, session = page.dispute, desk.window.session
    assert dispute is not None
    green = desk.graph.find("Green disc")

    def relabel(project: Project) -> Change:
        return project.labels.set([dispute.image_id], green)

    changed_by(desk.qtbot, session, lambda: session.act(relabel))
    with desk.qtbot.waitSignal(session.failed, timeout=LONG_MS):
        desk.press(Key.Key_2)
    assert desk.label_of(dispute.image_id) == "Green disc"
    desk.press(Key.Key_E)
    desk.press_for_change(Key.Key_2)
    desk.wait(lambda: place(page) == "3 of 11")


def test_a_stranger_is_refused_on_the_card(
    reviewing: Desk, monkeypatch: pytest.MonkeyPatch, collection: Collection
) -> None:
    """The project itself is rejected in one line, and another file can be chosen."""
    monkeypatch.setattr(
        QFileDialog, "getOpenFileName", lambda *_given: (str(collection.project), "")
    )
    reviewing.window.trigger("merge_copy")
    card = merging(reviewing).card
    assert card is not None
    reviewing.wait(card.failure.isVisible)
    assert "cannot be merged with itself" in card.failure.text
