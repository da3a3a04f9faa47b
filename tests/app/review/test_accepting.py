"""Enter accepts the prediction on the card, or reports why there is none."""

import pytest
from PySide6.QtCore import Qt

from tests.support.collections import Collection
from tests.support.desk import Desk

Key = Qt.Key


def test_the_first_card_is_accepted_right_after_opening(desk: Desk, collection: Collection) -> None:
    """Without a click: Enter acts on the current card, also in a view of all images."""
    desk.open(collection.project)
    first = desk.grid.current_id
    assert first is not None
    predicted = desk.best_of(first)
    desk.press_for_change(Key.Key_Return)
    assert desk.label_of(first) == predicted
    assert desk.grid.current_id != first


@pytest.mark.slow
def test_an_unknown_card_is_accepted_as_the_guess_on_it(
    desk: Desk, collection: Collection, stranger: int
) -> None:
    """The card shows Unknown and a class; Enter labels with that class."""
    desk.open(collection.project)
    desk.window.registry.trigger("show_unknown")
    desk.grid.setFocus()
    assert desk.grid.current_id == stranger
    guess = desk.best_of(stranger)
    desk.press_for_change(Key.Key_Return)
    assert desk.label_of(stranger) == guess


@pytest.mark.slow
def test_what_cannot_be_accepted_is_reported(
    desk: Desk, collection: Collection, stranger: int
) -> None:
    """An image that is already labelled, and a digit without a class."""
    desk.open(collection.project)
    toast = desk.window.toast
    desk.window.registry.trigger("show_unknown")
    desk.choose(0)
    desk.press(Key.Key_9)
    desk.wait(lambda: "No class has the key 9" in toast.message)
    desk.window.registry.trigger("show_labelled")
    image_id = desk.choose(0)
    desk.press(Key.Key_Return)
    assert toast.message == f"This image is labelled already: {desk.label_of(image_id)}."
