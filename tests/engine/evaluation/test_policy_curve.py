"""Coverage and accuracy by threshold, on held-out labelled images."""

from dataclasses import replace

import numpy as np
import pytest

from engine.evaluation.policy_curve import BARS, PolicyPoint, policy_curve
from engine.everyday.back_off import Policy, where_bar_is_set
from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.everyday.scores import HeldOutShots, share_interval
from tests.support.everyday import PRIOR, collection
from tests.support.graphs import seaside_graph

ANIMAL, BIRD, DIVER, GULL, PUFFIN, SEAL, HERRING_GULL, PLANT, KELP = range(1, 10)


@pytest.fixture
def fitted(propagation: PropagationSession) -> EverydayModel:
    """A model of four seaside classes."""
    drawn = collection(seaside_graph())
    return fit(
        drawn.graph,
        drawn.shots(dict.fromkeys((PUFFIN, SEAL, HERRING_GULL, KELP), 5)),
        propagation,
        PRIOR,
    )


def _with_held_out(
    fitted: EverydayModel, predicted: list[tuple[int, dict[int, float]]]
) -> EverydayModel:
    """The model with given held-out predictions: label and probabilities of each image."""
    candidates = fitted.candidate_ids.tolist()
    chances = np.zeros((len(predicted), len(candidates)), dtype=np.float32)
    for row, (_, by_class) in enumerate(predicted):
        for class_id, chance in by_class.items():
            chances[row, candidates.index(class_id)] = chance
    return replace(
        fitted,
        held_out=HeldOutShots(
            np.arange(len(predicted)), np.array([label for label, _ in predicted]), chances
        ),
    )


@pytest.mark.slow
def test_a_fit_holds_out_every_shot_and_is_right_about_most(fitted: EverydayModel) -> None:
    held_out = fitted.held_out
    assert held_out is not None
    assert sorted(held_out.class_ids.tolist()) == sorted([PUFFIN, SEAL, HERRING_GULL, KELP] * 5)
    assert held_out.probabilities.sum(axis=1) == pytest.approx(1, abs=1e-5)
    right = fitted.candidate_ids[held_out.probabilities.argmax(axis=1)] == held_out.class_ids
    assert right.mean() == pytest.approx(fitted.tuning.accuracy)


@pytest.mark.slow
def test_each_bar_counts_what_is_named_and_what_is_right(fitted: EverydayModel) -> None:
    """Two puffins, the second below 70% predicted as seal, and a seal predicted as puffin."""
    model = _with_held_out(
        fitted,
        [
            (PUFFIN, {PUFFIN: 0.955, SEAL: 0.045}),
            (PUFFIN, {PUFFIN: 0.305, SEAL: 0.695}),
            (SEAL, {PUFFIN: 0.855, SEAL: 0.145}),
        ],
    )
    curve = policy_curve(model, seaside_graph(), {}, PUFFIN)
    assert curve is not None
    assert curve.images == 2
    assert curve.at(0.3) == PolicyPoint(0.3, found=1, named=2, right=1)
    assert curve.at(0.9) == PolicyPoint(0.9, found=1, named=1, right=1)
    assert curve.at(0.99) == PolicyPoint(0.99, found=0, named=0, right=0)
    assert curve.coverage(curve.at(0.9)) == 0.5
    assert (curve.recognised, curve.mistaken_for) == (1, SEAL)
    assert not curve.has_unseen
    assert curve.recognised_interval == share_interval(1, 2)
    whole = policy_curve(model, seaside_graph(), {}, ANIMAL)
    assert whole is not None
    assert (whole.images, whole.recognised, whole.mistaken_for) == (3, 3, None)


def test_a_bar_is_tried_on_the_whole_branch_but_not_where_another_one_is_set(
    fitted: EverydayModel,
) -> None:
    """A seal of 60.5%: with 90% not even a diver, unless seals have a lower threshold."""
    model = _with_held_out(fitted, [(SEAL, {SEAL: 0.605, KELP: 0.395})])
    graph = seaside_graph()
    named = []
    for policies in ({}, {SEAL: Policy(bar=0.55)}):
        curve = policy_curve(model, graph, policies, DIVER)
        assert curve is not None
        named.append([curve.at(bar).named for bar in (0.5, 0.9)])
    assert named == [[1, 0], [1, 1]]


def test_a_class_that_is_too_deep_is_never_named(fitted: EverydayModel) -> None:
    graph, rules = seaside_graph(), {DIVER: Policy(is_deepest=True)}
    drawn = collection(graph)
    capped = replace(
        fitted,
        back_off=replace(fitted.back_off, candidate_bars=np.full(4, np.inf, dtype=np.float32)),
    )
    curve = policy_curve(_with_held_out(capped, [(SEAL, {SEAL: 1.0})]), drawn.graph, rules, SEAL)
    assert curve is not None
    assert {point.named for point in curve.points} == {0}


def test_a_class_without_held_out_images_has_no_curve(fitted: EverydayModel) -> None:
    model = _with_held_out(fitted, [(SEAL, {SEAL: 1.0})])
    assert policy_curve(model, seaside_graph(), {}, KELP) is None
    assert policy_curve(replace(model, held_out=None), seaside_graph(), {}, SEAL) is None


def test_it_says_that_classes_have_no_examples(propagation: PropagationSession) -> None:
    """No held-out image can be predicted as kelp, which has no examples."""
    drawn = collection(seaside_graph())
    model = fit(
        drawn.graph, drawn.shots(dict.fromkeys((PUFFIN, SEAL, HERRING_GULL), 3)), propagation, PRIOR
    )
    curve = policy_curve(model, drawn.graph, {}, PUFFIN)
    assert curve is not None
    assert curve.has_unseen


def test_higher_bars_name_no_more(fitted: EverydayModel) -> None:
    graph = seaside_graph()
    curve = policy_curve(fitted, graph, {}, ANIMAL)
    assert curve is not None
    named = [point.named for point in curve.points]
    assert len(named) == len(BARS)
    assert named == sorted(named, reverse=True)


def test_where_a_bar_comes_from() -> None:
    """Puffin is below both: the higher threshold counts."""
    graph = seaside_graph()
    policies = {BIRD: Policy(bar=0.9), DIVER: Policy(bar=0.6), SEAL: Policy(is_deepest=True)}
    assert where_bar_is_set(graph, policies, PUFFIN) == BIRD
    assert where_bar_is_set(graph, policies, SEAL) == DIVER
    assert where_bar_is_set(graph, policies, DIVER) == DIVER
    assert where_bar_is_set(graph, policies, KELP) is None
