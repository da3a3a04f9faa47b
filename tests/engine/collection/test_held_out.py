"""Comparison of two models on images held out of both."""

import numpy as np
import pytest

from engine.collection.live import LiveCollection
from engine.project import ClassPolicy
from engine.review.what_if import HeldOutAnswers, HeldOutComparison, compared, held_out_answers
from tests.support.collections import class_ids


def answers(rights: dict[int, bool]) -> HeldOutAnswers:
    """A model with given correctness of images, and safe classes equal to its predictions."""
    is_right = np.array(list(rights.values()), dtype=bool)
    return HeldOutAnswers(
        np.array(list(rights), dtype=np.int64), is_right, np.ones(len(rights), dtype=bool), is_right
    )


def differing(images: int, lost: int, gained: int) -> HeldOutComparison:
    """A comparison with a given difference only."""
    return HeldOutComparison(images, lost, gained, lost, gained, 0, 0, 0, 0)


def test_the_interval_is_that_of_paired_shares() -> None:
    """By hand: 15 gained and 5 lost of 100, with half an image added to each outcome."""
    found = differing(100, lost=5, gained=15)
    assert found.gain == pytest.approx(0.10)
    assert found.interval == pytest.approx((10 / 102 - 0.085977, 10 / 102 + 0.085977), abs=1e-5)
    assert differing(0, 0, 0).interval == pytest.approx((-0.98, 0.98))
    assert differing(1, 0, 1).interval[1] == 1.0


def test_the_interval_holds_what_it_says() -> None:
    """At least 95 % of the intervals of 2,000 model pairs cover the true gain of 5 points."""
    chance = np.random.default_rng(5)
    draws = chance.multinomial(40, [0.10, 0.15, 0.75], size=2_000).tolist()
    holds = [
        low <= 0.05 <= high
        for low, high in (differing(40, lost, gained).interval for lost, gained, _ in draws)
    ]
    assert 0.94 <= np.mean(holds) <= 0.99


def test_only_images_that_both_held_out_count() -> None:
    """In any order; images held out of one model only are omitted."""
    found = compared(
        answers({1: True, 2: False, 5: True, 9: True}),
        answers({2: True, 5: True, 7: False, 9: False}),
    )
    assert (found.images, found.before, found.after, found.lost, found.gained) == (3, 2, 2, 1, 1)
    assert (found.named_before, found.named_after) == (3, 3)
    assert (found.named_rightly_before, found.named_rightly_after) == (2, 2)


@pytest.mark.slow
def test_a_fit_is_right_as_often_as_its_own_check_says(live: LiveCollection) -> None:
    """Accuracy equals that of its own held-out check, with and without the collection stage."""
    assert live.fitted is not None
    collection = live.fitted.figures.collection
    assert collection is not None
    assert collection.is_used
    staged = held_out_answers(live.fitted, live.project.classes.graph)
    assert (len(staged.image_ids), int(staged.is_right.sum())) == (
        collection.shots,
        collection.hits,
    )
    shots = live.state.image_ids[live.state.label_class > 0]
    assert set(staged.image_ids.tolist()) <= set(shots.tolist())
    live.apply(live.project.policies.set_setting("collection", False))
    alone = held_out_answers(live.fitted, live.project.classes.graph)
    assert (len(alone.image_ids), alone.is_right.mean()) == (
        live.fitted.figures.shots_checked,
        pytest.approx(live.fitted.figures.accuracy),
    )
    assert compared(staged, alone).images == len(staged.image_ids)


@pytest.mark.slow
def test_wrong_labels_and_bars_are_seen(live: LiveCollection) -> None:
    """Swapped labels of a class lower accuracy; an unreachable threshold gives no safe classes."""
    ids, project = class_ids(live.project), live.project
    assert live.fitted is not None
    before = held_out_answers(live.fitted, project.classes.graph)
    discs = live.state.image_ids[live.state.label_class == ids["Red disc"]].tolist()
    live.apply(project.labels.set(discs[:1], ids["Blue disc"]))
    worse = compared(before, held_out_answers(live.fitted, project.classes.graph))
    assert worse.after < worse.before
    assert worse.gain < 0
    project.history.undo()
    live.load()
    for root in project.classes.graph.roots():
        live.apply(project.policies.set(root, ClassPolicy(1.0)))
    strict = compared(before, held_out_answers(live.fitted, project.classes.graph))
    assert (strict.before, strict.named_after) == (strict.after, 0)
    assert strict.named_before > 0
