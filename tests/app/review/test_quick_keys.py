"""Keys that follow at once: on a click, and on one another."""

import pytest
from PySide6.QtCore import Qt

from tests.support.desk import Desk

Key = Qt.Key


@pytest.mark.parametrize("row", [0, 3])
def test_a_key_right_after_a_click_means_the_card_that_was_clicked(reviewing: Desk, row: int) -> None:
    """A chip, a card, a digit: no answer is waited for in between, and the digit is not lost."""
    grid, header = reviewing.grid, reviewing.window.workspace.header
    header.subset_chosen.emit(reviewing.window.workspace.model.filter.subset)
    place = grid.visualRect(grid.model().index(row, 0)).center()
    image_id = int(reviewing.window.workspace.model.image_ids[row])
    reviewing.qtbot.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=place)
    likeliest = reviewing.best_of(image_id)
    reviewing.press(Key.Key_1)
    reviewing.wait(lambda: reviewing.label_of(image_id) != "")
    assert reviewing.label_of(image_id) == likeliest


def test_thirty_keys_make_thirty_labels(reviewing: Desk) -> None:
    """None is lost, however quick they are: each labels the card that was current, as what stood behind the digit."""
    shown: list[tuple[int, str]] = []
    for number in range(30):
        image_id = reviewing.grid.current_id
        assert image_id is not None
        assert reviewing.inspected == image_id
        shown.append((image_id, reviewing.graph.name(reviewing.window.inspector.likeliest_of(image_id)[0])))
        reviewing.press((Key.Key_1, Key.Key_Return)[number % 2])
    reviewing.wait(lambda: reviewing.window.session.is_settled)
    assert [(image_id, reviewing.label_of(image_id)) for image_id, _name in shown] == shown
