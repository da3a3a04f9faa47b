"""Classes without examples make predictions less certain, until all have some."""

import numpy as np

from engine.collection.live import LiveCollection
from engine.collection.state import NO_CLASS, CollectionState
from tests.support.live_states import assert_same


def sure(state: CollectionState) -> int:
    return int(np.count_nonzero(state.is_unlabelled & (state.safe_class != NO_CLASS)))


def test_examples_of_all_classes_bring_back_what_was_sure(live: LiveCollection) -> None:
    """Removing all labels but one lowers certainty; undo restores it."""
    before = live.state
    assert before.unseen is None
    labelled = before.image_ids[before.label_class >= 0].tolist()

    few = live.apply(live.project.labels.remove(labelled[1:]))
    assert few.unseen is not None
    assert (few.unseen.seen, few.unseen.unseen) == (1, 7)
    assert sure(few) < sure(before) / 2

    undone = live.project.history.undo()
    assert undone is not None
    assert_same(live.apply(undone), before)
    assert live.state.unseen is None
