from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from engine.everyday.back_off import Policy
from engine.everyday.classifier import Setting
from engine.everyday.prototypical.classification import classify_all
from engine.everyday.prototypical.fit import fit, shrinkage_prior
from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.prototypical.prototypes import (
    NEIGHBOURS,
    PropagationSession,
    prototype_table,
    support_of,
)
from engine.everyday.prototypical.tuning import Tuning, held_out_check, lambda_for, squared_at
from engine.everyday.scores import Scores
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS
from tests.support.everyday import (
    EVERYDAY_SETTINGS,
    PRIOR,
    WIDTH,
    Matrix,
    collection,
    no_shots,
    propagation_matrix,
    some_shots,
    stand_in_distance,
    together,
    tree,
    unit,
    without,
)
from tests.support.graphs import graph_of, seaside_graph

ANIMAL, BIRD, DIVER, GULL, PUFFIN, SEAL, HERRING_GULL, PLANT, KELP = range(1, 10)


def _classify(model: EverydayModel, images: Matrix) -> Scores:
    return classify_all(model.classifier, model.back_off, images)


def _fit_as_tuned(
    graph: CategoryGraph, shots: Shots, session: PropagationSession, tuning: Tuning
) -> EverydayModel:
    """A fit whose shots are held out to no effect: shrinkage and temperature are given."""
    with mock.patch("engine.everyday.prototypical.fit.tune", return_value=tuning):
        return fit(graph, shots, session, PRIOR)


def _prototype(model: EverydayModel, class_id: int) -> Matrix:
    prototype = model.prototype(class_id)
    assert prototype is not None
    return prototype


def _finals(model: EverydayModel) -> dict[int, Matrix]:
    """Final prototypes by class id."""
    return dict(zip(model.table.class_ids.tolist(), model.table.final, strict=True))


def _changed(before: EverydayModel, after: EverydayModel) -> set[int]:
    """Classes whose prototype is not the very same, or there in only one of the models."""
    old, new = _finals(before), _finals(after)
    return {
        class_id
        for class_id in old.keys() | new.keys()
        if class_id not in old
        or class_id not in new
        or not np.array_equal(old[class_id], new[class_id])
    }


def _touched(graph: CategoryGraph, shots: Shots, class_id: int) -> set[int]:
    """The class, ancestors that inherit its images, and the children of each."""
    own = set(shots.counts())
    with_images = {class_id} | {
        ancestor for ancestor in graph.ancestors(class_id) if ancestor not in own
    }
    return with_images.union(*(graph.children(changed) for changed in with_images))


# -- nothing, one, few -----------------------------------------------------------------------------


@pytest.mark.parametrize("setting", EVERYDAY_SETTINGS)
def test_an_empty_project_has_no_candidates(
    propagation: PropagationSession, setting: Setting
) -> None:
    """No shots: nothing is a candidate, nothing has a prototype, the prior stands."""
    model = fit(seaside_graph(), no_shots(), propagation, PRIOR, setting=setting)
    assert model.candidate_ids.tolist() == []
    assert model.prototype(GULL) is None
    assert model.tuning.temperature == PRIOR.temperature
    assert len(_classify(model, np.empty((0, WIDTH), np.float32)).best) == 0


def test_a_graph_without_classes(propagation: PropagationSession) -> None:
    """A new project."""
    assert len(fit(CategoryGraph(), no_shots(), propagation, PRIOR).candidates) == 0


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("setting", EVERYDAY_SETTINGS)
def test_one_class_only(propagation: PropagationSession, setting: Setting, count: int) -> None:
    """A single root with shots: every image is of it, with its mean as the prototype."""
    drawn = collection(graph_of({"Gull": []}))
    shots = drawn.shots({1: count})
    model = fit(drawn.graph, shots, propagation, PRIOR, setting=setting)
    assert model.candidate_ids.tolist() == [1]
    np.testing.assert_allclose(_prototype(model, 1), shots.embeddings.mean(axis=0), atol=1e-6)
    assert _classify(model, drawn.images_of(1, 5)).best_score.tolist() == [1.0] * 5


@pytest.mark.parametrize("setting", EVERYDAY_SETTINGS)
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_few_classes_in_every_setting(
    propagation: PropagationSession, setting: Setting, classes: int
) -> None:
    """Fewer classes than the neighbours that PPN asks for.

    Well-separated classes are distinguished.
    """
    drawn = collection(tree(classes, 1), spread=1.0, noise=0.3)
    leaves = drawn.graph.leaves()
    model = fit(
        drawn.graph, drawn.shots(dict.fromkeys(leaves, 3)), propagation, PRIOR, setting=setting
    )
    images, truth = drawn.images_of_each(leaves, 20)
    assert (model.candidate_ids[_classify(model, images).best] == truth).mean() > 0.9


def test_new_images_are_distinguished(propagation: PropagationSession) -> None:
    """Five shots of each leaf and some coarse labels: most new images of each leaf are found."""
    drawn = collection(tree(4, 3), spread=1.0, noise=0.5)
    leaves = drawn.graph.leaves()
    shots = drawn.shots({2: 5, 3: 5, **dict.fromkeys(leaves, 5)})
    images, truth = drawn.images_of_each(leaves, 30)
    model = fit(drawn.graph, shots, propagation, PRIOR)
    assert (model.candidate_ids[_classify(model, images).best] == truth).mean() > 0.9
    assert model.tuning.accuracy > 0.9


def test_the_prior_comes_from_the_card() -> None:
    """PPN, whose parents are guessed, starts from a shrinkage of its own."""
    card = replace(PRIOR, shrinkage=2.0, shrinkage_guessed=0.4)
    found = [shrinkage_prior(card, setting) for setting in (Setting.PPN_PLUS, Setting.PPN)]
    assert found == [2.0, 0.4]


def test_without_held_out_shots_lambda_follows_the_prior(propagation: PropagationSession) -> None:
    """One shot of each leaf at shrinkage 1.5: lambda 1 / 2.5 = 0.4.

    Their parent's, of both, is 2 / 3.5.
    """
    drawn = collection(tree())
    model = fit(drawn.graph, drawn.shots({5: 1, 6: 1}), propagation, PRIOR)
    lambdas = dict(zip(model.table.class_ids.tolist(), model.table.lambda_.tolist(), strict=True))
    assert lambdas[5] == pytest.approx(0.4)
    assert lambdas[2] == pytest.approx(2 / 3.5)
    assert lambdas[1] == 1.0
    assert lambdas[7] == 0.0


# -- where changes end -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("class_id", [GULL, BIRD, PUFFIN, KELP, ANIMAL])
def test_a_new_shot_changes_only_what_it_touches(
    propagation: PropagationSession, class_id: int
) -> None:
    """The class, ancestors without images of their own, and their children.

    All others to the last bit.
    """
    drawn = collection(seaside_graph(), seed=1)
    shots = drawn.shots(
        {BIRD: 2, DIVER: 1, GULL: 2, PUFFIN: 3, SEAL: 2, HERRING_GULL: 2, KELP: 2, ANIMAL: 1}
    )
    before = fit(drawn.graph, shots, propagation, PRIOR)
    more = together(shots, drawn.shots({class_id: 1}))
    after = _fit_as_tuned(drawn.graph, more, propagation, before.tuning)
    changed = _changed(before, after)
    assert class_id in changed
    assert changed <= _touched(drawn.graph, shots, class_id)


@pytest.mark.parametrize("position", range(0, 14, 3))
def test_a_removed_shot_changes_only_what_it_touched(
    propagation: PropagationSession, position: int
) -> None:
    """Also where ancestors have no images of their own, and so change with it."""
    drawn = collection(seaside_graph(), seed=2)
    shots = drawn.shots({GULL: 2, PUFFIN: 3, SEAL: 3, HERRING_GULL: 3, KELP: 3})
    before = fit(drawn.graph, shots, propagation, PRIOR)
    rest = without(shots, position)
    after = _fit_as_tuned(drawn.graph, rest, propagation, before.tuning)
    class_id = int(shots.class_ids[position])
    changed = _changed(before, after)
    assert class_id in changed
    assert changed <= _touched(drawn.graph, shots, class_id)


def test_the_first_shot_of_a_class_moves_the_inheriting_ancestors(
    propagation: PropagationSession,
) -> None:
    """A zero-shot Seal gets an image; Kelp, on another branch, appears; Gull's branch stays."""
    drawn = collection(seaside_graph(), seed=3)
    shots = drawn.shots({ANIMAL: 1, BIRD: 2, DIVER: 2, GULL: 2})
    before = fit(drawn.graph, shots, propagation, PRIOR)
    more = together(shots, drawn.shots({SEAL: 1}))
    seal = _fit_as_tuned(drawn.graph, more, propagation, before.tuning)
    assert _changed(before, seal) == {SEAL}
    more = together(shots, drawn.shots({KELP: 1}))
    kelp = _fit_as_tuned(drawn.graph, more, propagation, before.tuning)
    assert _changed(before, kelp) == {KELP, PLANT}


@pytest.mark.parametrize("setting", EVERYDAY_SETTINGS)
def test_the_order_of_shots_does_not_matter(
    propagation: PropagationSession, setting: Setting
) -> None:
    """Same classes, prototypes, tuning and predictions, up to rounding."""
    drawn = collection(seaside_graph(), seed=5)
    shots = drawn.shots({ANIMAL: 1, BIRD: 3, GULL: 3, PUFFIN: 4, SEAL: 2, HERRING_GULL: 3, KELP: 3})
    shuffled = some_shots(shots, np.random.default_rng(0).permutation(len(shots)))
    images, _ = drawn.images_of_each(drawn.graph.leaves(), 30)
    one, two = (
        fit(drawn.graph, given, propagation, PRIOR, setting=setting) for given in (shots, shuffled)
    )
    np.testing.assert_array_equal(one.table.class_ids, two.table.class_ids)
    np.testing.assert_array_equal(one.candidates, two.candidates)
    np.testing.assert_allclose(one.table.final, two.table.final, atol=1e-6)
    assert (one.tuning.shrinkage, one.tuning.temperature) == (
        two.tuning.shrinkage,
        two.tuning.temperature,
    )
    assert one.tuning.unknown_distance == pytest.approx(two.tuning.unknown_distance, rel=1e-4)
    np.testing.assert_allclose(
        _classify(one, images).best_score, _classify(two, images).best_score, atol=1e-4
    )


def test_the_names_and_ids_of_classes_do_not_matter(propagation: PropagationSession) -> None:
    """The same tree with the branches made in the opposite order gives the same prototypes."""
    first, second = (graph_of(names) for names in (_TWO_BRANCHES, _TWO_BRANCHES_REVERSED))
    drawn = collection(first, seed=6)
    shots = drawn.shots({class_id: 2 for class_id in first.classes() if class_id != 1})
    renamed = np.array(
        [second.find(first.name(class_id)) for class_id in shots.class_ids.tolist()], dtype=np.int64
    )
    one = fit(first, shots, propagation, PRIOR)
    two = fit(second, Shots(shots.image_ids, renamed, shots.embeddings), propagation, PRIOR)
    for class_id in first.classes():
        other = _prototype(two, second.find(first.name(class_id)))
        np.testing.assert_allclose(_prototype(one, class_id), other, atol=1e-6)


_TWO_BRANCHES = {
    "root": (),
    "a": ("root",),
    "b": ("root",),
    "a1": ("a",),
    "both": ("a", "b"),
    "b1": ("b",),
}
_TWO_BRANCHES_REVERSED = {
    "root": (),
    "b": ("root",),
    "a": ("root",),
    "b1": ("b",),
    "both": ("b", "a"),
    "a1": ("a",),
}


# -- zero-shot and several parents -----------------------------------------------------------------


def test_a_zero_shot_class_wins_around_its_parents_mean(propagation: PropagationSession) -> None:
    """Branch 0 has coarse labels; two of its leaves have shots, the third none.

    It takes what lies in between.
    """
    drawn = collection(tree(3, 3), seed=0, spread=1.0, noise=0.4)
    leaves = drawn.graph.leaves()
    model = fit(
        drawn.graph, drawn.shots({2: 8, **dict.fromkeys(leaves[1:], 4)}), propagation, PRIOR
    )
    zero_shot = leaves[0]
    assert zero_shot in model.candidate_ids
    assert model.table.class_ids[model.table.is_zero_shot].tolist() == [zero_shot]
    images = drawn.images_of(2, 40)
    found = model.candidate_ids[_classify(model, images).best]
    assert (found == zero_shot).mean() > 0.8
    siblings, truth = drawn.images_of_each(leaves[1:3], 40)
    assert (model.candidate_ids[_classify(model, siblings).best] == truth).mean() > 0.8


@pytest.mark.parametrize(("shrinkage", "spread"), [(0.0, 1 / 1.5), (0.5, 2.0), (0.1, 4.0)])
def test_a_zero_shot_class_is_broader(
    propagation: PropagationSession, shrinkage: float, spread: float
) -> None:
    """Its temperature is 1 + spread times the others', with spread 1 over shrinkage, at most 4.

    Its peak is lower.
    """
    drawn = collection(tree(3, 3))
    shots = drawn.shots({2: 2, 6: 3, 7: 3})
    fitted = fit(drawn.graph, shots, propagation, PRIOR)
    tuning = replace(fitted.tuning, shrinkage=shrinkage)
    model = _fit_as_tuned(drawn.graph, shots, propagation, tuning)
    slope = 1 / model.tuning.temperature - model.classifier.breadth
    is_zero_shot = ~np.isin(model.candidate_ids, [6, 7])
    assert is_zero_shot.any()
    np.testing.assert_allclose(
        slope * model.tuning.temperature, np.where(is_zero_shot, 1 / (1 + spread), 1), rtol=1e-5
    )
    lower = -model.classifier.offsets - slope * (model.table.final[model.candidates] ** 2).sum(
        axis=1
    )
    expected = model.tuning.own_distance / model.tuning.temperature * np.log(1 + spread)
    np.testing.assert_allclose(lower, np.where(is_zero_shot, expected, 0), atol=1e-4)


@pytest.mark.parametrize("setting", EVERYDAY_SETTINGS)
def test_the_classifier_s_distance_is_the_true_one(
    propagation: PropagationSession, setting: Setting
) -> None:
    """To the most likely class, zero-shot classes included."""
    drawn = collection(tree(3, 3), seed=7)
    leaves = drawn.graph.leaves()
    model = fit(
        drawn.graph,
        drawn.shots({2: 6, **dict.fromkeys(leaves[1:], 3)}),
        propagation,
        PRIOR,
        setting=setting,
    )
    images, _ = drawn.images_of_each((2, *leaves), 20)
    scores = _classify(model, images)
    found = model.candidate_ids[scores.best]
    prototypes = np.stack([_prototype(model, class_id) for class_id in found.tolist()])
    expected = ((images - prototypes) ** 2).sum(axis=1)
    assert (leaves[0] in found) == (setting is Setting.PPN_PLUS)
    np.testing.assert_allclose(
        model.classifier.squared_distance(scores), expected, rtol=1e-4, atol=1e-5
    )


def test_a_class_with_two_parents_counts_for_both(propagation: PropagationSession) -> None:
    """A puffin that is surely one is a Bird and a Diver with the same score, and Animal once."""
    drawn = collection(seaside_graph(), seed=8, spread=1.0, noise=0.2)
    shots = drawn.shots({PUFFIN: 4, SEAL: 4, HERRING_GULL: 4, KELP: 4})
    policies = {PUFFIN: Policy(bar=1.01)}
    model = fit(drawn.graph, shots, propagation, PRIOR, policies=policies)
    scores = _classify(model, drawn.images_of(PUFFIN, 20))
    assert set(model.candidate_ids[scores.best].tolist()) == {PUFFIN}
    assert set(scores.safe_class.tolist()) <= {BIRD, DIVER}
    assert scores.safe_score.max() <= 1 + 1e-5
    puffin = model.place_of(PUFFIN)
    assert puffin is not None
    parents = np.flatnonzero(propagation_matrix(model.table)[puffin])
    assert model.table.class_ids[parents].tolist() == [BIRD, DIVER]


def test_held_out_shots_of_ppn_find_their_parents_again(propagation: PropagationSession) -> None:
    """Else every held-out shot would look easier than a new image.

    Its class's parents were chosen near it.
    """
    drawn = collection(tree(3, 3), seed=9)
    shots = drawn.shots(dict.fromkeys(drawn.graph.leaves(), 2))
    support = support_of(drawn.graph, shots, Setting.PPN)
    table = prototype_table(propagation, support, shots, lambda_for(support.own_counts, 1.0))
    check = held_out_check(
        drawn.graph, shots, table, np.arange(9), np.arange(len(shots)), setting=Setting.PPN
    )
    squared = squared_at(check, 1.0)
    for shot in range(len(shots)):
        expected = stand_in_distance(shots, shot, 0.5, count=NEIGHBOURS)
        assert squared[shot, shot // 2] == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_ppn_does_not_ask_the_graph(propagation: PropagationSession) -> None:
    """A class dropped anywhere has the same prototype, made of its three nearest others."""
    drawn = collection(tree(3, 3), seed=9)
    shots = drawn.shots(dict.fromkeys(drawn.graph.leaves(), 3))
    placed = fit(drawn.graph, shots, propagation, PRIOR, setting=Setting.PPN)
    moved = drawn.graph.copy()
    moved.move(5, 2, None)
    anywhere = fit(moved, shots, propagation, PRIOR, setting=Setting.PPN)
    assert _changed(placed, anywhere) == set()
    assert (propagation_matrix(placed.table) > 0).sum(axis=1).tolist() == [NEIGHBOURS] * 9


# -- unknown, bars, chosen classes -----------------------------------------------------------------


def test_far_images_are_unknown_and_near_ones_hardly_ever(propagation: PropagationSession) -> None:
    """Images opposite to all classes are too far; of new images of known classes only a few are."""
    drawn = collection(tree(3, 3), seed=10, spread=1.0, noise=0.4)
    leaves = drawn.graph.leaves()
    model = fit(drawn.graph, drawn.shots(dict.fromkeys(leaves, 4)), propagation, PRIOR)
    images, _ = drawn.images_of_each(leaves, 40)
    near = _classify(model, images)
    assert model.is_unknown(near).mean() < 0.05
    far = _classify(model, unit(-np.tile(images.mean(axis=0), (5, 1))))
    assert model.is_unknown(far).all()


def test_with_few_shots_nothing_is_unknown(propagation: PropagationSession) -> None:
    """Two shots of two classes say nothing about what is far."""
    drawn = collection(tree(3, 3), seed=10)
    model = fit(drawn.graph, drawn.shots({5: 2, 8: 2}), propagation, PRIOR)
    images = drawn.images_of(11, 10)
    assert not model.is_unknown(_classify(model, unit(-images))).any()


def test_policies_reach_the_safe_class(propagation: PropagationSession) -> None:
    """Never below branch 0, and no class at all for anything else.

    A bar that nothing passes on the root.
    """
    drawn = collection(tree(3, 3), seed=11, spread=1.0, noise=0.3)
    leaves = drawn.graph.leaves()
    policies = {1: Policy(bar=2.0), 2: Policy(bar=0.5, is_deepest=True)}
    model = fit(
        drawn.graph, drawn.shots(dict.fromkeys(leaves, 4)), propagation, PRIOR, policies=policies
    )
    inside = _classify(model, drawn.images_of(leaves[0], 10))
    outside = _classify(model, drawn.images_of(leaves[8], 10))
    assert set(inside.safe_class.tolist()) == {2}
    assert set(outside.safe_class.tolist()) == {NO_CLASS}
