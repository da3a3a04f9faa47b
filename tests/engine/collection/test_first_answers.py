"""In a large collection visible images are classified first after each label, then the rest."""

import numpy as np
import pytest

from engine.collection import fitting
from engine.collection.fitting import FirstAnswers, FitInput, run_fit
from engine.collection.live import LiveCollection
from engine.collection.state import NO_CLASS, CollectionState
from engine.errors import Cancelled
from engine.events import CancelToken
from tests.support.collections import Collection, class_ids
from tests.support.live_states import assert_same, fresh_state, own_copy

VIEW = 8
COLUMNS = ("best_class", "best_score", "safe_class", "safe_score", "is_unknown")


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few dozen images counted as many."""
    monkeypatch.setattr(fitting, "FEWEST_IN_TURN", 1)
    monkeypatch.setattr(fitting, "SLICE_ROWS", 16)


def _label_otherwise(live: LiveCollection, name: str = "Blue disc", count: int = 6) -> None:
    """Relabel images so that predictions change."""
    images = live.state.image_ids[live.state.label_class == NO_CLASS][-count:].tolist()
    live.take(live.project.labels.set(images, class_ids(live.project)[name]))


def _in_view(live: LiveCollection) -> list[int]:
    return live.state.image_ids[:VIEW].tolist()


def _predicted(state: CollectionState, places: slice) -> list[list[object]]:
    return [getattr(state, name)[places].tolist() for name in COLUMNS]


def _agree(live: LiveCollection) -> None:
    """Check that an image's full answer starts with what its card shows."""
    for image_id, guess in live.guesses(live.state.image_ids.tolist()).items():
        place = live.state.position(image_id)
        assert guess.tops[0].class_id == live.state.best_class[place]
        assert guess.tops[0].score == pytest.approx(live.state.best_score[place], abs=1e-4)
        (top,) = live.top_classes(image_id, 1)
        assert top.class_id == guess.tops[0].class_id
        assert top.score == pytest.approx(
            guess.tops[0].score, abs=1e-6
        )  # single-row products round differently
        explanation = live.explain(image_id)
        assert explanation is not None
        assert explanation.is_unknown == live.state.is_unknown[place]


@pytest.mark.slow
def test_images_in_view_have_the_new_models_answers_before_all_others(
    live: LiveCollection, collection: Collection
) -> None:
    """They equal those of the complete fit; other images keep their predictions until then."""
    _label_otherwise(live)
    before, seen = own_copy(live.state), list[CollectionState]()

    def on_first(first: FirstAnswers) -> None:
        seen.append(own_copy(live.adopt_first(first)))
        assert live.is_behind
        _agree(live)

    outcome = run_fit(live.fit_input(_in_view(live)), on_first=on_first)
    after = live.adopt(outcome)
    (first,) = seen
    assert _predicted(first, slice(VIEW, None)) == _predicted(before, slice(VIEW, None))
    np.testing.assert_array_equal(first.best_class[:VIEW], after.best_class[:VIEW])
    np.testing.assert_allclose(first.best_score[:VIEW], after.best_score[:VIEW], atol=1e-6)
    assert _predicted(first, slice(VIEW)) != _predicted(before, slice(VIEW))
    assert_same(after, fresh_state(live, collection.caches))
    _agree(live)


@pytest.mark.slow
def test_counts_follow_the_first_answers(live: LiveCollection) -> None:
    """Class counts include the early answers."""
    _label_otherwise(live)
    run_fit(live.fit_input(_in_view(live)), on_first=live.adopt_first)
    state, graph = live.state, live.project.classes.graph
    shown = np.where(
        state.label_class >= 0,
        state.label_class,
        np.where(state.is_unknown, NO_CLASS, state.best_class),
    ).tolist()
    for class_id, count in state.image_counts.items():
        assert count == sum(
            one >= 0 and (one == class_id or class_id in graph.ancestors(one)) for one in shown
        )


@pytest.mark.slow
def test_a_label_that_comes_meanwhile_does_not_wait_for_all(
    live: LiveCollection, collection: Collection
) -> None:
    """It is learned between two slices; its answers stay when the earlier fit ends."""
    _label_otherwise(live)
    newer: list[FitInput] = []
    versions: list[int] = []

    def on_first(first: FirstAnswers) -> None:
        versions.append(first.given.version)
        live.adopt_first(first)
        if len(versions) == 1:
            _label_otherwise(live, "Green disc", 9)
            newer.append(live.fit_input(_in_view(live)))
        else:
            _agree(live)

    wanted = live.fit_input(_in_view(live))
    outcome = run_fit(wanted, on_first=on_first, next_input=lambda: newer.pop() if newer else None)
    assert versions == sorted(set(versions))
    assert len(versions) == 2
    shown = own_copy(live.state)
    state = live.adopt(outcome)
    assert live.is_behind
    assert _predicted(state, slice(VIEW)) == _predicted(shown, slice(VIEW))
    _agree(live)
    last = live.adopt(run_fit(live.fit_input()))
    np.testing.assert_array_equal(last.best_class[:VIEW], shown.best_class[:VIEW])
    assert_same(last, fresh_state(live, collection.caches))
    assert len(live.row_scores.models) == 1


@pytest.mark.slow
def test_the_first_fit_answers_images_in_view_too(collection: Collection) -> None:
    """They are predicted before all others, which have no prediction yet."""
    live = LiveCollection.open(collection.project, collection.caches)
    live.load(fits=False)
    run_fit(live.fit_input(_in_view(live)), on_first=live.adopt_first)
    assert (live.state.best_class != NO_CLASS).tolist() == [
        place < VIEW for place in range(len(live.state.image_ids))
    ]
    assert live.guesses(_in_view(live))[int(live.state.image_ids[0])].tops
    live.close()


@pytest.mark.slow
def test_outdated_answers_are_dropped(live: LiveCollection) -> None:
    """Answers from before a reload or of an older model are dropped."""
    found: list[FirstAnswers] = []
    _label_otherwise(live)
    outcome = run_fit(live.fit_input(_in_view(live)), on_first=found.append)
    state = live.adopt(outcome)
    assert live.adopt_first(found[0]) is state
    _label_otherwise(live, "Green disc", 9)
    run_fit(live.fit_input(_in_view(live)), on_first=found.append)
    state = live.load(fits=False)
    assert live.adopt_first(found[1]) is state


@pytest.mark.slow
def test_images_and_classes_that_went_meanwhile(live: LiveCollection) -> None:
    """Removed images and classes are skipped; answers stay with their images."""
    found: list[FirstAnswers] = []
    _label_otherwise(live)
    run_fit(live.fit_input(_in_view(live)), on_first=found.append)
    gone_class = int(found[0].fitted.candidate_ids[found[0].scores.best[0]])
    kept = {
        image_id: int(found[0].fitted.candidate_ids[best])
        for image_id, best in zip(_in_view(live), found[0].scores.best.tolist(), strict=True)
    }
    live.take(live.project.images.remove(_in_view(live)[:3]))
    live.take(live.project.classes.remove([gone_class]))
    state = live.adopt_first(found[0])
    for image_id in _in_view(live)[: VIEW - 3]:
        best = int(state.best_class[state.position(image_id)])
        assert best == (NO_CLASS if kept[image_id] == gone_class else kept[image_id])
    named = {*state.best_class.tolist(), *state.safe_class.tolist()} - {NO_CLASS}
    assert named <= set(live.project.classes.graph.classes())


@pytest.mark.slow
def test_a_fit_is_cancelled_between_its_answers(
    live: LiveCollection, collection: Collection
) -> None:
    """Early answers stay until the next complete fit."""
    cancel = CancelToken()

    def on_first(first: FirstAnswers) -> None:
        live.adopt_first(first)
        cancel.cancel()

    _label_otherwise(live)
    with pytest.raises(Cancelled):
        run_fit(live.fit_input(_in_view(live)), cancel, on_first=on_first)
    assert live.is_behind
    _agree(live)
    assert_same(live.adopt(run_fit(live.fit_input())), fresh_state(live, collection.caches))


def test_only_embedded_images_are_answered_first(live: LiveCollection) -> None:
    """Unknown or duplicate ids are ignored; small collections have no early answers."""
    ids = live.state.image_ids
    wanted = live.fit_input([int(ids[5]), 10**9, int(ids[2]), int(ids[5]), -3])
    assert wanted.snapshot.images.row_ids[wanted.first_rows].tolist() == [int(ids[2]), int(ids[5])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "FEWEST_IN_TURN", len(ids) + 1)
        assert not len(live.fit_input(ids.tolist()).first_rows)
