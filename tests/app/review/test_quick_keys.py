"""Keys in quick succession: after a click, and after one another."""

import threading

import pytest
from PySide6.QtCore import Qt

from tests.support.desk import Desk
from tests.support.sessions import LONG_MS

Key = Qt.Key


@pytest.mark.slow
@pytest.mark.parametrize("row", [0, 3])
def test_a_key_right_after_a_click_means_the_card_that_was_clicked(
    reviewing: Desk, row: int
) -> None:
    """A digit right after a subset chip and a click is not lost and needs no query result."""
    grid, header = reviewing.grid, reviewing.window.workspace.header
    header.subset_chosen.emit(reviewing.window.workspace.model.filter.subset)
    place = grid.visualRect(grid.model().index(row, 0)).center()
    image_id = int(reviewing.window.workspace.model.image_ids[row])
    reviewing.qtbot.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=place)
    best_class = reviewing.best_of(image_id)
    reviewing.press(Key.Key_1)
    reviewing.wait(lambda: reviewing.label_of(image_id) != "")
    assert reviewing.label_of(image_id) == best_class


@pytest.mark.slow
def test_a_digit_whose_class_is_not_shown_yet_labels_nothing(reviewing: Desk) -> None:
    """A message reports it; the key works as soon as the class is shown."""
    grid, session = reviewing.grid, reviewing.window.session
    may_answer = threading.Event()
    session.ask(lambda _live: may_answer.wait(LONG_MS / 1000), lambda _is_set: None, owner=grid)
    session.guesses.clear()
    grid.setFocus()
    grid.select_row(38)
    image_id = int(reviewing.window.workspace.model.image_ids[38])
    reviewing.press(Key.Key_2)
    assert (reviewing.label_of(image_id), grid.current_id) == ("", image_id)
    assert "not shown yet" in reviewing.window.toast.message
    may_answer.set()
    reviewing.wait(lambda: not reviewing.window.inspector.is_waiting_for(image_id))
    second = reviewing.graph.name(reviewing.window.inspector.top_classes_of(image_id)[1])
    reviewing.press(Key.Key_2)
    reviewing.wait(lambda: reviewing.label_of(image_id) != "")
    assert reviewing.label_of(image_id) == second


@pytest.mark.slow
def test_thirty_keys_make_thirty_labels(reviewing: Desk) -> None:
    """At any speed, each labels the current card as the class shown for the digit."""
    shown: list[tuple[int, str]] = []
    for number in range(30):
        image_id = reviewing.grid.current_id
        assert image_id is not None
        assert reviewing.inspected == image_id
        shown.append(
            (image_id, reviewing.graph.name(reviewing.window.inspector.top_classes_of(image_id)[0]))
        )
        reviewing.press((Key.Key_1, Key.Key_Return)[number % 2])
    reviewing.wait(lambda: reviewing.window.session.is_settled)
    assert [(image_id, reviewing.label_of(image_id)) for image_id, _name in shown] == shown
