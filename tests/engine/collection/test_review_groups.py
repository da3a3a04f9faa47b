"""The review queue of groups: contents, proposals, and the effect of answers."""

import numpy as np
import pytest

from engine.collection.fitting import run_fit
from engine.collection.live import LiveCollection
from engine.collection.review_groups import ReviewMemory, ReviewQueue, make_queue, next_groups
from engine.collection.state import NO_CLASS
from engine.errors import Cancelled
from engine.events import CancelToken
from tests.support.collections import class_ids


@pytest.fixture
def grouping(live: LiveCollection) -> LiveCollection:
    """Turn review by group on."""
    live.prepare_review_groups(is_wanted=True)
    live.adopt(run_fit(live.fit_input()))
    return live


def queue_of(
    live: LiveCollection, memory: ReviewMemory | None = None, *, ahead: int = 60
) -> ReviewQueue:
    """The current queue."""
    given = live.group_input(memory or ReviewMemory())
    assert given is not None
    return make_queue(given, ahead=ahead)


def test_b11_groups_of_few_images_need_no_other_fit(live: LiveCollection) -> None:
    """Their data is computed with every fit, so opening the review changes nothing."""
    live.adopt(run_fit(live.fit_input()))
    assert live.group_input(ReviewMemory()) is not None
    live.prepare_review_groups(is_wanted=True)
    assert not live.is_behind


def test_nobody_asked(live: LiveCollection, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a large collection groups are computed on request only."""
    monkeypatch.setattr("engine.collection.live.FEW_TO_GROUP", 0)
    live.adopt(run_fit(live.fit_input()))
    assert live.group_input(ReviewMemory()) is None


def test_every_unlabelled_image_is_in_one_group(grouping: LiveCollection) -> None:
    """With probabilities equal to the predictions."""
    state = grouping.state
    queue = queue_of(grouping)
    ids = sorted(image_id for group in queue.groups for image_id in group.image_ids)
    assert ids == state.image_ids[state.label_class == NO_CLASS].tolist()
    assert (queue.open_images, queue.count) == (len(ids), len(queue.groups))
    for group in queue.groups:
        if group.is_sure:
            places = [state.position(image_id) for image_id in group.image_ids]
            assert set(state.best_class[places].tolist()) == {group.class_id}
            assert group.errors == pytest.approx(1 - state.best_score[places], abs=1e-4)
            assert group.tops[0].class_id == group.class_id


def test_answers_about_a_class_move_its_errors(grouping: LiveCollection) -> None:
    """Frequently wrong classes become look-alikes; other classes are unaffected."""
    before = next(group for group in queue_of(grouping).groups if group.is_sure)
    surer = queue_of(grouping, ReviewMemory(error_odds={before.class_id: 0.01})).groups
    assert (
        max(
            sum(group.errors)
            for group in surer
            if group.class_id == before.class_id and group.is_sure
        )
        < 0.5
    )
    doubted = queue_of(grouping, ReviewMemory(error_odds={before.class_id: 1e6})).groups
    assert before.class_id not in {group.class_id for group in doubted if group.is_sure}
    assert {group.class_id for group in doubted if group.is_sure}


@pytest.mark.slow
def test_before_any_label_nothing_is_proposed(grouping: LiveCollection) -> None:
    """Look-alikes have no proposed class."""
    grouping.apply(grouping.project.labels.remove(grouping.state.image_ids.tolist()))
    queue = queue_of(grouping)
    assert queue.open_images == 64
    assert {(group.class_id, group.tops, group.errors) for group in queue.groups} == {
        (NO_CLASS, (), ())
    }


def test_a_dismissed_class_is_not_proposed_again(grouping: LiveCollection) -> None:
    """Neither for the group nor as an alternative."""
    first = next(group for group in queue_of(grouping).groups if group.class_id != NO_CLASS)
    memory = ReviewMemory(dismissed=dict.fromkeys(first.image_ids, frozenset({first.class_id})))
    wanted = set(first.image_ids)
    for group in queue_of(grouping, memory).groups:
        if wanted.issuperset(group.image_ids):
            assert first.class_id not in {group.class_id, *(top.class_id for top in group.tops)}


@pytest.mark.slow
def test_a_coarse_answer_comes_again_with_finer_classes(grouping: LiveCollection) -> None:
    """It is first in the queue with finer classes, and done with a leaf."""
    ids = class_ids(grouping.project)
    chosen = next(
        group for group in queue_of(grouping).groups if group.class_id != NO_CLASS
    ).image_ids
    grouping.apply(grouping.project.labels.set(chosen, ids["Red"]))
    memory = ReviewMemory(branches=dict.fromkeys(chosen, ids["Red"]))
    queue = queue_of(grouping, memory)
    finer = [group for group in queue.groups if group.branch == ids["Red"]]
    assert sorted(i for group in finer for i in group.image_ids) == sorted(chosen)
    assert queue.groups[: len(finer)] == tuple(finer)
    below = grouping.project.classes.graph.descendants(ids["Red"])
    assert {group.class_id for group in finer} <= below
    assert {top.class_id for group in finer for top in group.tops} <= below
    grouping.apply(grouping.project.labels.set(chosen, ids["Red disc"]))
    assert not any(group.branch != NO_CLASS for group in queue_of(grouping, memory).groups)


def test_a_group_that_was_passed_over_comes_last(grouping: LiveCollection) -> None:
    """A skipped group is moved to the end."""
    first = queue_of(grouping).groups[0]
    again = queue_of(grouping, ReviewMemory(passed=dict.fromkeys(first.image_ids, 1)))
    assert set(again.groups[-1].image_ids) == set(first.image_ids)


@pytest.mark.slow
def test_later_groups_are_looked_up_when_they_come_near(grouping: LiveCollection) -> None:
    """Lazily computed groups keep their order, without duplicates."""
    whole, part = queue_of(grouping), queue_of(grouping, ahead=2)
    assert (len(part.groups), part.count) == (2, whole.count)
    assert next_groups(part).groups == whole.groups


@pytest.mark.slow
def test_classes_and_images_that_are_gone_are_in_no_group(grouping: LiveCollection) -> None:
    """Removed classes and images are dropped before the next fit."""
    project, state = grouping.project, grouping.state
    first = next(group for group in queue_of(grouping).groups if group.class_id != NO_CLASS)
    given = grouping.group_input(ReviewMemory())
    assert given is not None
    grouping.take(project.images.remove(first.image_ids[:1]))
    grouping.take(project.classes.remove([first.class_id]))
    queue = queue_of(grouping)
    assert first.class_id not in {group.class_id for group in queue.groups}
    assert first.image_ids[0] not in {i for group in queue.groups for i in group.image_ids}
    assert len(state.image_ids) == 64
    assert make_queue(given).open_images == 40, "a snapshot stays as it was"


def test_it_can_be_cancelled(grouping: LiveCollection) -> None:
    """Computing a queue stops when it is cancelled."""
    given, token = grouping.group_input(ReviewMemory()), CancelToken()
    token.cancel()
    assert given is not None
    with pytest.raises(Cancelled):
        make_queue(given, token)


def test_too_few_images_have_no_groups(grouping: LiveCollection) -> None:
    """Two images make no groups."""
    grouping.apply(grouping.project.images.remove(grouping.state.image_ids[2:].tolist()))
    assert grouping.group_input(ReviewMemory()) is None
    assert np.array_equal(grouping.state.image_ids, grouping.state.image_ids[:2])
