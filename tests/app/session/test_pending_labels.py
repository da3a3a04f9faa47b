"""Labels that are shown before they are written."""

import numpy as np

from app.session.pending_labels import LabelOverlay
from engine.collection.state import NO_CLASS, UNKNOWN
from tests.support.states import Picture, state_of


def test_the_last_word_counts_and_the_saved_state_stays_as_it_is() -> None:
    """Two actions on one image; the first is written, the second is not."""
    state = state_of([Picture(), Picture(label=3), Picture()])
    overlay = LabelOverlay()
    first = overlay.add({11: 4, 12: NO_CLASS})
    second = overlay.add({11: UNKNOWN})
    assert overlay.over(state).label_class.tolist() == [UNKNOWN, NO_CLASS, NO_CLASS]
    overlay.drop(second)
    assert overlay.over(state).label_class.tolist() == [4, NO_CLASS, NO_CLASS]
    overlay.drop(first)
    assert overlay.over(state) is state
    assert np.array_equal(state.label_class, [NO_CLASS, 3, NO_CLASS])


def test_an_image_that_left_is_passed_over() -> None:
    """Its label was given before the project told that it is gone."""
    overlay = LabelOverlay()
    overlay.add({99: 4, 11: 4})
    assert overlay.over(state_of([Picture()])).label_class.tolist() == [4]
