"""The current card: framed, selected, shown in the inspector, and the one that keys act on."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt

from app.jobs.job import Job
from tests.support.collections import Collection, write_shape
from tests.support.desk import CONTROL, NO_KEYS, SHIFT, Desk
from tests.support.hand import Hand, Spot
from tests.support.sessions import recorded

Key = Qt.Key
ALT = Qt.KeyboardModifier.AltModifier


def card(desk: Desk, row: int) -> Spot:
    """The centre of a card."""
    return Spot(
        desk.grid.viewport(), desk.grid.visualRect(desk.grid.model().index(row, 0)).center()
    )


def check_current(desk: Desk) -> int:
    """The current image, which is selected and shown in the inspector."""
    current = desk.grid.current_id
    assert current is not None
    assert current in desk.grid.selected_ids
    desk.wait(lambda: desk.inspected == current)
    return current


def test_enter_accepts_the_card_that_is_framed_after_opening(
    desk: Desk, collection: Collection
) -> None:
    """Enter labels the current card without any click or arrow key before."""
    desk.open(collection.project)
    current = check_current(desk)
    predicted = desk.best_of(current)
    desk.press(Key.Key_Return)
    desk.wait(lambda: desk.label_of(current) == predicted)


@pytest.mark.slow
@pytest.mark.parametrize(
    "keys",
    [
        pytest.param([(Key.Key_Home, CONTROL), (Key.Key_Home, NO_KEYS)], id="Ctrl+Home, Home"),
        pytest.param([(Key.Key_Right, CONTROL), (Key.Key_Down, CONTROL)], id="Ctrl and arrows"),
        pytest.param([(Key.Key_Right, SHIFT), (Key.Key_End, CONTROL)], id="Shift, then Ctrl+End"),
        pytest.param([(Key.Key_PageDown, NO_KEYS), (Key.Key_Left, NO_KEYS)], id="Page down, left"),
    ],
)
def test_keys_after_a_click_move_the_one_frame(
    keys: list[tuple[Qt.Key, Qt.KeyboardModifier]], reviewing: Desk, hand: Hand
) -> None:
    """The inspector follows, and the next key labels its image."""
    hand.click(card(reviewing, 5))
    check_current(reviewing)
    for key, held in keys:
        reviewing.press(key, held)
        check_current(reviewing)
    current = check_current(reviewing)
    reviewing.press(Key.Key_U)
    reviewing.wait(lambda: reviewing.label_of(current) == "?")


@pytest.mark.slow
def test_after_a_drop_the_selection_stays_where_the_person_put_it(
    desk: Desk, hand: Hand, collection: Collection, tmp_path: Path
) -> None:
    """A class and two of its cards, while photos are added, embedded, classified and folded."""
    desk.open(collection.project)
    tree = desk.window.tree.front
    hand.click(Spot(tree.viewport(), tree.visualRect(tree.model().index(0, 0)).center()))
    desk.wait(lambda: desk.window.workspace.class_id is not None)
    hand.click(card(desk, 2))
    desk.press(Key.Key_Right, SHIFT)
    before = desk.window.tree.selected_class, desk.grid.selected_ids, desk.grid.current_id
    assert len(desk.grid.selected_ids) == 2
    jobs = recorded(desk.window.session.jobs.job_added)
    for seed in range(4):
        write_shape(tmp_path / "late" / f"{seed}.png", "Red disc", seed=70 + seed)
    count = len(desk.state.image_ids)
    desk.drop_files(desk.window, [tmp_path / "late"])
    desk.wait(lambda: len(desk.state.image_ids) == count + 4)
    desk.wait_until_read()
    assert (desk.window.tree.selected_class, desk.grid.selected_ids, desk.grid.current_id) == before
    timed = [job.title for (job,) in jobs if isinstance(job, Job) and not job.is_followed]
    assert [title for title in timed if "Adding" in title or "Looking for images" in title] == []


@pytest.mark.slow
def test_another_view_by_its_key_describes_its_current_card(reviewing: Desk) -> None:
    """Ctrl+8 shows the labelled images; the grid keeps the focus, and its card is described."""
    reviewing.grid.setFocus()
    reviewing.press(Key.Key_8, CONTROL)
    assert reviewing.label_of(check_current(reviewing))


@pytest.mark.slow
def test_coming_back_from_a_class_describes_the_card_again(reviewing: Desk, hand: Hand) -> None:
    """A clicked class is described; then a click on the current card describes the card."""
    view = reviewing.window.tree.front
    view.expandAll()
    (index,) = view.model().indexes_of(reviewing.graph.find("Red disc"))  # type: ignore[attr-defined]
    hand.click(Spot(view.viewport(), view.visualRect(index).center() + QPoint(5, 0)))
    reviewing.wait(lambda: reviewing.window.inspector.class_facts is not None)
    hand.click(card(reviewing, reviewing.grid.currentIndex().row()))
    check_current(reviewing)
