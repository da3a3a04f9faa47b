"""A class is split by clicks, rubber bands and keys, in one undoable step."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.class_split.controller import ClassSplitting
from app.class_split.view import PictureBoard, SplitCard, SplitDraft, first_draft
from tests.support.desk import CONTROL, Desk
from tests.support.sessions import changed_by

ALT = Qt.KeyboardModifier.AltModifier
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def card(reviewing: Desk) -> SplitCard:
    """The card, open on "Red disc" with five labelled images."""
    session = reviewing.window.session
    red = reviewing.graph.find("Red disc")
    ids = [int(each) for each in reviewing.state.image_ids[:5]]
    changed_by(reviewing.qtbot, session, lambda: session.label(ids, red))
    others = [int(each) for each in reviewing.state.image_ids[5:]]
    changed_by(reviewing.qtbot, session, lambda: session.unlabel(others))
    reviewing.wait(lambda: session.is_settled)
    reviewing.window.workspace.grid.clearSelection()
    reviewing.window.tree.select_class(red)
    reviewing.window.tree.front.setFocus()
    reviewing.press(Qt.Key.Key_J, CONTROL | ALT)
    reviewing.wait(lambda: reviewing.window.of(ClassSplitting).card is not None)
    card = reviewing.window.of(ClassSplitting).card
    assert card is not None
    reviewing.wait(card.isVisible)
    _all_to_the_left(reviewing, card)
    return card


def _all_to_the_left(desk: Desk, card: SplitCard) -> None:
    """Move all proposed images back, so that each test starts alike."""
    while card.leaving.image_ids:
        before = len(card.leaving.image_ids)
        QTest.mouseClick(card.leaving, LEFT, pos=card.leaving.rect_of(0).center())
        desk.wait(lambda before=before: len(card.leaving.image_ids) < before)  # type: ignore[misc]


def _draw_box(board: PictureBoard, first: int, last: int) -> None:
    start, end = (
        board.rect_of(first).topLeft() + QPoint(3, 3),
        board.rect_of(last).bottomRight() - QPoint(3, 3),
    )
    QTest.mousePress(board, LEFT, pos=start)
    QTest.mouseMove(board, (start + end) / 2)
    QTest.mouseMove(board, end)
    QTest.mouseRelease(board, LEFT, pos=end)


@pytest.mark.slow
def test_a_box_a_click_and_a_key_move_images_and_enter_splits(
    reviewing: Desk, card: SplitCard
) -> None:
    """Two by rubber band, one by a click, one by Space and back; Ctrl+Z undoes the split."""
    session, red = reviewing.window.session, reviewing.graph.find("Red disc")
    ids = list(card.staying.image_ids)
    assert len(ids) == 5
    _draw_box(card.staying, 0, 1)
    assert list(card.leaving.image_ids) == ids[:2]
    QTest.mouseClick(card.staying, LEFT, pos=card.staying.rect_of(0).center())
    assert list(card.leaving.image_ids) == ids[:3]
    card.staying.setFocus()
    QTest.keyClick(card.staying, Qt.Key.Key_Right)
    QTest.keyClick(card.staying, Qt.Key.Key_Space)
    assert list(card.leaving.image_ids) == [*ids[:3], ids[4]]
    QTest.mouseClick(card.leaving, LEFT, pos=card.leaving.rect_of(3).center())
    assert not card.split_button.isEnabled()
    card.name.setFocus()
    QTest.keyClicks(card.name, "Dark red disc")
    changed_by(reviewing.qtbot, session, lambda: QTest.keyClick(card.name, Qt.Key.Key_Return))
    reviewing.wait(lambda: not card.isVisible())
    new = reviewing.graph.find("Dark red disc")
    assert reviewing.graph.parents(new) == reviewing.graph.parents(red)
    assert [reviewing.label_of(each) for each in ids] == ["Dark red disc"] * 3 + ["Red disc"] * 2
    changed_by(reviewing.qtbot, session, session.undo)
    assert not reviewing.graph.fitting("Dark red disc")
    assert {reviewing.label_of(each) for each in ids} == {"Red disc"}


@pytest.mark.slow
def test_a_name_that_is_taken_is_refused_on_the_card_and_nothing_changes(
    reviewing: Desk, card: SplitCard
) -> None:
    QTest.mouseClick(card.staying, LEFT, pos=card.staying.rect_of(0).center())
    QTest.mouseClick(card.below, LEFT, pos=QPoint(8, card.below.height() // 2))
    assert card.below.isChecked()
    QTest.mouseClick(card.as_siblings, LEFT, pos=QPoint(8, card.as_siblings.height() // 2))
    QTest.keyClicks(card.name, "Red disc")
    QTest.keyClick(card.name, Qt.Key.Key_Return)
    reviewing.wait(lambda: "Red disc" in card.failure.text)
    assert card.isVisible()
    QTest.keyClick(card.name, Qt.Key.Key_Escape)
    assert not card.isVisible()


@pytest.mark.slow
def test_one_labelled_image_is_too_few(reviewing: Desk) -> None:
    """A toast gives the reason, and no card opens."""
    session, red = reviewing.window.session, reviewing.graph.find("Red disc")
    everything = [int(each) for each in reviewing.state.image_ids]
    changed_by(reviewing.qtbot, session, lambda: session.unlabel(everything))
    changed_by(reviewing.qtbot, session, lambda: session.label(everything[:1], red))
    reviewing.window.of(ClassSplitting).open(red)
    reviewing.wait(lambda: "takes 2" in reviewing.window.toast.message)
    assert reviewing.window.of(ClassSplitting).card is None


def test_images_go_to_the_other_side_and_come_back_last() -> None:
    draft = SplitDraft(4, "Apple", (1, 2, 3, 4))
    split = draft.moved({3, 1})
    assert (split.staying, split.leaving) == ((2, 4), (1, 3))
    assert split.moved({1}) == SplitDraft(4, "Apple", (2, 4, 1), (3,))
    assert split.exchanged() == SplitDraft(4, "Apple", (1, 3), (2, 4))


def test_what_a_person_chose_leaves_else_the_smaller_kind() -> None:
    labelled, kinds = (1, 2, 3, 4, 5), ((1, 2, 3), (4, 5))
    assert first_draft(4, "Apple", labelled, (2, 9), kinds).leaving == (2,)
    assert first_draft(4, "Apple", labelled, (), kinds).leaving == (4, 5)
    assert first_draft(4, "Apple", labelled, labelled, kinds).leaving == (4, 5)
    assert first_draft(4, "Apple", labelled, (9,), ()).leaving == ()
