"""What-if edits of an open collection: changes compared with the start."""

import numpy as np
import pytest

from engine.collection.live import LiveCollection
from engine.collection.state import NO_CLASS
from engine.review.what_if import begin_what_if, kept_action, outcome_of, tried_edits
from tests.support.collections import class_ids
from tests.support.live_states import assert_same, own_copy
from tests.support.projects import named


@pytest.mark.slow
def test_what_would_change_is_counted_from_the_beginning(live: LiveCollection) -> None:
    """Two edits count together; an undone one changes nothing; dropping restores the state."""
    ids, project = class_ids(live.project), live.project
    before = own_copy(live.state)
    baseline = begin_what_if(live)
    live.apply(project.classes.merge([ids["Red disc"]], ids["Red stripes"]))
    live.apply(project.classes.remove([ids["Blue checks"]]))
    outcome = outcome_of(live, baseline)
    free = before.label_class == NO_CLASS
    free &= live.state.label_class == NO_CLASS
    assert (
        outcome.changes.other_class
        == int((before.best_class != live.state.best_class)[free].sum())
        > 4
    )
    assert outcome.edits == tuple(map(str, tried_edits(project)))
    assert [text.split()[0] for text in outcome.edits] == ["Merged", "Removed"]
    assert outcome.held_out is not None
    assert 0 < outcome.held_out.images <= 21  # the three shots of the removed class
    for _ in range(2):
        undone = project.history.undo()
        assert undone is not None
        live.apply(undone)
    nothing = outcome_of(live, baseline)
    assert (nothing.edits, nothing.changes.count) == ((), 0)
    assert nothing.held_out is not None
    assert (nothing.held_out.lost, nothing.held_out.gained) == (0, 0)
    live.apply(project.what_if.discard())
    assert_same(live.state, before)


@pytest.mark.slow
def test_predictions_are_those_of_a_project_that_was_edited(live: LiveCollection) -> None:
    """What-if and real edits give equal collections, and keeping them changes nothing."""
    ids, project = class_ids(live.project), live.project
    begin_what_if(live)
    live.apply(project.classes.move([(ids["Green disc"], ids["Green"])], ids["Blue"]))
    tried = own_copy(live.state)
    project.what_if.keep(named("Moved"))
    live.load()
    assert_same(live.state, tried)
    assert np.isin(live.state.best_class, list(ids.values())).all()


@pytest.mark.parametrize(
    ("edits", "text"),
    [
        ([], "Tried out nothing"),
        (["Renamed A to B"], "Renamed A to B"),
        (["One", "Two"], "Tried out 2 edits: One; Two"),
        (["One", "Two", "Three", "Four"], "Tried out 4 edits: One; Two; Three; …"),
    ],
)
def test_the_step_is_named_by_its_edits(edits: list[str], text: str) -> None:
    """A single edit keeps its text; of many the first ones are named."""
    assert str(kept_action([named(edit) for edit in edits])) == text
