"""Labels shown before they are stored."""

import numpy as np

from app.session.label_writer import with_codes
from engine.collection.state import NO_CLASS, UNKNOWN
from tests.support.states import Picture, state_of


def test_the_last_word_counts_and_the_saved_state_stays_as_it_is() -> None:
    """Two actions on one image, of which only the first is stored."""
    state = state_of([Picture(), Picture(label=3), Picture()])
    first, second = {11: 4, 12: NO_CLASS}, {11: UNKNOWN}
    assert with_codes(state, [first, second]).label_class.tolist() == [UNKNOWN, NO_CLASS, NO_CLASS]
    assert with_codes(state, [first]).label_class.tolist() == [4, NO_CLASS, NO_CLASS]
    assert with_codes(state, []) is state
    assert np.array_equal(state.label_class, [NO_CLASS, 3, NO_CLASS])


def test_an_image_that_left_is_passed_over() -> None:
    """Its label precedes the report of its removal."""
    assert with_codes(state_of([Picture()]), [{99: 4, 11: 4}]).label_class.tolist() == [4]
