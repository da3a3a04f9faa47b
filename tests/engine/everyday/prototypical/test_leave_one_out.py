import tracemalloc
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.everyday.classifier import Setting
from engine.everyday.prototypical.leave_one_out import (
    HeldOutDistances,
    held_out_distances,
    with_fresh_neighbours,
)
from engine.everyday.prototypical.prototypes import (
    NEIGHBOURS,
    PropagationSession,
    PrototypeTable,
    Support,
    prototype_table,
    support_of,
)
from engine.everyday.prototypical.tuning import lambda_for
from engine.everyday.shots import Membership, Shots
from engine.graph.category_graph import CategoryGraph
from tests.support.everyday import (
    Matrix,
    collection,
    propagation_matrix,
    some_shots,
    stand_in_distance,
    tree,
    without,
)
from tests.support.graphs import graph_of, seaside_graph

ANIMAL, BIRD, DIVER, GULL, PUFFIN, SEAL, HERRING_GULL, PLANT, KELP = range(1, 10)
SHRINKAGE = 1.5


@dataclass(frozen=True)
class Fitted:
    """Shots and all that is made of them."""

    graph: CategoryGraph
    shots: Shots
    support: Support
    table: PrototypeTable

    @property
    def everything(self) -> NDArray[np.int64]:
        """Positions of all classes, as if each were a candidate."""
        return np.arange(len(self.support.class_ids))

    def place(self, class_id: int) -> int:
        """Position of a class."""
        return self.support.class_ids.tolist().index(class_id)


def _fitted(
    session: PropagationSession,
    graph: CategoryGraph,
    shots: Shots,
    setting: Setting = Setting.PPN_PLUS,
) -> Fitted:
    support = support_of(graph, shots, setting)
    table = prototype_table(session, support, shots, lambda_for(support.own_counts, SHRINKAGE))
    return Fitted(graph, shots, support, table)


def _held_out(fitted: Fitted) -> HeldOutDistances:
    return held_out_distances(
        fitted.shots, fitted.table, fitted.everything, np.arange(len(fitted.shots))
    )


def _membership_without(members: Membership, shot: int) -> Membership:
    """The pairs that are left when a shot is taken away, and the later shots move up."""
    keep = members.image_positions != shot
    images = members.image_positions[keep]
    return Membership(images - (images > shot), members.class_positions[keep])


def _distances_to(table: PrototypeTable, embedding: Matrix) -> NDArray[np.float64]:
    """Squared distance to each class; infinite without a prototype."""
    squared = ((table.final.astype(np.float64) - embedding) ** 2).sum(axis=1)
    return np.where(table.has_prototype, squared, np.inf)


def _run_without(
    session: PropagationSession, fitted: Fitted, shot: int, lambda_: Matrix
) -> NDArray[np.float64]:
    """Distances (C,) of a shot to all prototypes that are made anew from the other shots."""
    members = _membership_without(fitted.support.membership, shot)
    rest = without(fitted.shots, shot)
    support = fitted.support
    result = session.run(
        rest.embeddings,
        members.image_positions,
        members.class_positions,
        edge_index=support.edges,
        lambda_=lambda_,
    )
    squared = ((result.final.astype(np.float64) - fitted.shots.as_classified[shot]) ** 2).sum(
        axis=1
    )
    return np.where(result.has_final, squared, np.inf)


def _assert_equals_running_without(session: PropagationSession, fitted: Fitted) -> None:
    distances = _held_out(fitted)
    lambda_ = lambda_for(distances.shots_left, SHRINKAGE)
    found = distances.at(lambda_)
    for shot in range(len(fitted.shots)):
        expected = _run_without(session, fitted, shot, lambda_[shot])
        np.testing.assert_allclose(found[shot], expected, rtol=1e-4, atol=1e-5)


def test_two_shots_by_hand(propagation: PropagationSession) -> None:
    """One class of shots x and y: without x its prototype is y, so ||x - y||² is the distance."""
    drawn = collection(tree())
    shots = drawn.shots({5: 2})
    distances = _held_out(_fitted(propagation, drawn.graph, shots, Setting.PROTOTYPES))
    expected = ((shots.embeddings[0] - shots.embeddings[1]) ** 2).sum()
    np.testing.assert_allclose(
        distances.at(np.ones((2, 1), np.float32)), [[expected], [expected]], rtol=1e-5
    )
    assert distances.shots_left.tolist() == [[1], [1]]


def test_a_tree_of_fine_labels_is_exact(propagation: PropagationSession) -> None:
    """Removing each shot from the equations gives the same distances to every class."""
    drawn = collection(tree(), seed=1)
    counts = {leaf: 1 + leaf % 4 for leaf in drawn.graph.leaves()}
    _assert_equals_running_without(
        propagation, _fitted(propagation, drawn.graph, drawn.shots(counts))
    )


def test_an_image_is_measured_as_it_is_classified(propagation: PropagationSession) -> None:
    """Its part of the prototype is over all views and goes; what is measured is its one view."""
    drawn = collection(tree(), seed=5)
    shots = drawn.shots({leaf: 1 + leaf % 3 for leaf in drawn.graph.leaves()})
    noise = np.random.default_rng(5).normal(0, 0.2, shots.embeddings.shape).astype(np.float32)
    _assert_equals_running_without(
        propagation,
        _fitted(propagation, drawn.graph, replace(shots, single_view=shots.embeddings + noise)),
    )


def _assert_equals_running_without_twins(session: PropagationSession, fitted: Fitted) -> None:
    """Each shot is measured by prototypes of all but it and its twins of the same class."""
    distances, shots = _held_out(fitted), fitted.shots
    assert shots.folds is not None
    lambda_ = lambda_for(distances.shots_left, SHRINKAGE)
    found = distances.at(lambda_)
    for shot in range(len(shots)):
        is_gone = (
            (shots.class_ids == shots.class_ids[shot])
            & (shots.folds == shots.folds[shot])
            & (shots.folds >= 0)
        )
        is_gone[shot] = True
        members, keeps = fitted.support.membership, ~is_gone
        pairs = keeps[members.image_positions]
        moved = np.cumsum(keeps) - 1
        result = session.run(
            shots.embeddings[keeps],
            moved[members.image_positions[pairs]],
            members.class_positions[pairs],
            edge_index=fitted.support.edges,
            lambda_=lambda_[shot],
        )
        squared = ((result.final.astype(np.float64) - shots.as_classified[shot]) ** 2).sum(axis=1)
        np.testing.assert_allclose(
            found[shot], np.where(result.has_final, squared, np.inf), rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize("views", [False, True])
def test_twins_are_taken_away_together(propagation: PropagationSession, views: bool) -> None:
    """Copies and bursts, some of a whole class, some of two classes, beside single shots."""
    drawn = collection(tree(), seed=8)
    shots = drawn.shots({5: 4, 6: 3, 8: 2, 3: 2, 11: 1})
    folds = np.array([0, 0, 0, -1, 1, 1, 0, 2, 2, 3, -1, 1])
    noise = np.random.default_rng(5).normal(0, 0.2, shots.embeddings.shape).astype(np.float32)
    single_view = shots.embeddings + noise if views else None
    twins = replace(shots, folds=folds, single_view=single_view)
    _assert_equals_running_without_twins(propagation, _fitted(propagation, drawn.graph, twins))


def test_exact_twins_help_nothing(propagation: PropagationSession) -> None:
    """Every shot three times: held out with its twins, as far away as the shot alone was."""
    drawn = collection(tree(), seed=9)
    once = drawn.shots({5: 3, 6: 2})
    thrice = some_shots(once, np.repeat(np.arange(5), 3))
    twins = replace(thrice, image_ids=np.arange(15), folds=np.repeat(np.arange(5), 3))
    alone = _held_out(_fitted(propagation, drawn.graph, once, Setting.PROTOTYPES))
    together = _held_out(_fitted(propagation, drawn.graph, twins, Setting.PROTOTYPES))
    np.testing.assert_allclose(together.own[::3], alone.own, rtol=1e-4, atol=1e-5)
    flattered = _held_out(
        _fitted(propagation, drawn.graph, replace(twins, folds=None), Setting.PROTOTYPES)
    )
    own = alone.own.argmin(axis=1)
    assert (flattered.own[::3][np.arange(5), own] < alone.own[np.arange(5), own]).all()


def test_a_tree_with_coarse_labels_is_exact(propagation: PropagationSession) -> None:
    """Shots of the root and of branches, next to leaves with one, some and no shots (zero-shot)."""
    drawn = collection(tree(), seed=2)
    counts = {1: 2, 2: 3, 3: 2, 5: 1, 6: 2, 8: 3, 11: 1}
    _assert_equals_running_without(
        propagation, _fitted(propagation, drawn.graph, drawn.shots(counts))
    )


def test_classes_that_lose_their_last_image_are_exact(propagation: PropagationSession) -> None:
    """A leaf without its only shot is zero-shot.

    A branch without its only image propagates nothing.
    """
    drawn = collection(tree(), seed=3)
    fitted = _fitted(propagation, drawn.graph, drawn.shots({5: 1, 6: 1, 8: 1, 3: 1, 11: 1}))
    _assert_equals_running_without(propagation, fitted)
    distances = _held_out(fitted)
    shots_left = distances.shots_left[4]
    assert shots_left[fitted.place(11)] == 0
    assert shots_left[fitted.place(4)] == 0
    assert not distances.has_parents[4, fitted.place(11)]
    assert distances.at(np.ones_like(distances.own))[4, fitted.place(11)] == np.inf


def test_the_only_shot_of_all_leaves_nothing(propagation: PropagationSession) -> None:
    """One labelled image in the whole project: without it no class has a prototype."""
    drawn = collection(tree())
    distances = _held_out(_fitted(propagation, drawn.graph, drawn.shots({5: 1})))
    assert np.isinf(distances.at(np.ones_like(distances.own))).all()


def test_the_whole_model_without_the_shot_agrees(propagation: PropagationSession) -> None:
    """Also support, memberships and lambda are made again from the other shots, class by class."""
    drawn = collection(tree(), seed=4)
    fitted = _fitted(
        propagation, drawn.graph, drawn.shots({leaf: 2 + leaf % 2 for leaf in drawn.graph.leaves()})
    )
    distances = _held_out(fitted)
    found = distances.at(lambda_for(distances.shots_left, SHRINKAGE))
    for shot in range(len(fitted.shots)):
        again = _fitted(propagation, drawn.graph, without(fitted.shots, shot))
        assert np.array_equal(again.table.class_ids, fitted.table.class_ids)
        expected = _distances_to(again.table, fitted.shots.embeddings[shot])
        np.testing.assert_allclose(found[shot], expected, rtol=1e-4, atol=1e-5)


def _by_fixed_weights(fitted: Fitted, shot: int, lambda_: Matrix) -> NDArray[np.float64]:
    """Distances (C,) of a shot, in plain numbers.

    Means without it, weights as they were, dead parents' shares over.
    """
    embeddings, members = fitted.shots.embeddings.astype(np.float64), fitted.support.membership
    expected = np.full(len(fitted.everything), np.inf)
    means: list[NDArray[np.float64] | None] = []
    for place in fitted.everything:
        images = [
            image
            for image in members.image_positions[members.class_positions == place]
            if image != shot
        ]
        means.append(embeddings[images].mean(axis=0) if images else None)
    for place in fitted.everything:
        weights = propagation_matrix(fitted.table)[place]
        parents = [
            (weight, mean)
            for weight, mean in zip(weights, means, strict=True)
            if weight and mean is not None
        ]
        total = sum(weight for weight, _ in parents)
        propagated = sum(weight * mean / total for weight, mean in parents) if parents else None
        own = means[place]
        if own is None and propagated is None:
            continue
        if own is not None and propagated is not None:
            final = lambda_[place] * own + (1 - lambda_[place]) * propagated
        else:
            final = own if own is not None else propagated
        expected[place] = ((embeddings[shot] - final) ** 2).sum()
    return expected


@pytest.mark.parametrize(
    "counts",
    [
        {BIRD: 2, DIVER: 3, PUFFIN: 2, SEAL: 1, GULL: 2},
        {BIRD: 1, DIVER: 2, PUFFIN: 1},
        {PUFFIN: 1, SEAL: 2, KELP: 1},
    ],
    ids=["many", "a parent dies", "inherited"],
)
def test_several_parents_are_exact_with_the_weights_held_fixed(
    propagation: PropagationSession, counts: dict[int, int]
) -> None:
    """A parent that loses its last image leaves its share to the others."""
    drawn = collection(seaside_graph(), seed=5)
    fitted = _fitted(propagation, drawn.graph, drawn.shots(counts))
    distances = _held_out(fitted)
    lambda_ = lambda_for(distances.shots_left, SHRINKAGE)
    for shot in range(len(fitted.shots)):
        expected = _by_fixed_weights(fitted, shot, lambda_[shot])
        np.testing.assert_allclose(distances.at(lambda_)[shot], expected, rtol=1e-4, atol=1e-5)


def test_the_quadratic_holds_for_any_lambda(propagation: PropagationSession) -> None:
    """Eq. 6 at lambda 0, 0.3 and 1 for a class that has both an own and a propagated prototype."""
    drawn = collection(tree(), seed=6)
    fitted = _fitted(propagation, drawn.graph, drawn.shots({5: 3, 6: 3, 2: 2}))
    distances = _held_out(fitted)
    for value in (0.0, 0.3, 1.0):
        lambda_ = np.full_like(distances.own, value)
        expected = [
            _run_without(propagation, fitted, shot, lambda_[shot])
            for shot in range(len(fitted.shots))
        ]
        np.testing.assert_allclose(distances.at(lambda_), expected, rtol=1e-4, atol=1e-5)


def test_rows_are_the_same_distances_for_some_shots(propagation: PropagationSession) -> None:
    """Sampling shots changes none of their numbers."""
    drawn = collection(tree())
    distances = _held_out(_fitted(propagation, drawn.graph, drawn.shots({5: 3, 6: 2})))
    chosen = np.array([4, 1])
    lambda_ = np.full_like(distances.own, 0.4)
    np.testing.assert_array_equal(
        distances.rows(chosen).at(lambda_[chosen]), distances.at(lambda_)[chosen]
    )


# -- PPN: the stand-in parents are chosen anew -----------------------------------------------------


def _fresh(fitted: Fitted, places: NDArray[np.int64]) -> HeldOutDistances:
    own = np.array([fitted.place(class_id) for class_id in fitted.shots.class_ids], dtype=np.int64)
    return with_fresh_neighbours(
        _held_out(fitted),
        fitted.shots,
        fitted.table.initial,
        held=np.arange(len(fitted.shots)),
        class_positions=own,
        places=places,
        count=NEIGHBOURS,
    )


def _own_places(fitted: Fitted) -> NDArray[np.int64]:
    return np.array([fitted.place(class_id) for class_id in fitted.shots.class_ids], dtype=np.int64)


@pytest.mark.parametrize("classes", [2, 3, 4, 9])
def test_fresh_neighbours_equal_finding_them_again(
    propagation: PropagationSession, classes: int
) -> None:
    """Also with so few classes that fewer than three others are there.

    A class is never its own neighbour.
    """
    drawn = collection(tree(), seed=7)
    leaves = drawn.graph.leaves()[:classes]
    fitted = _fitted(propagation, drawn.graph, drawn.shots(dict.fromkeys(leaves, 3)), Setting.PPN)
    places = _own_places(fitted)
    fresh = _fresh(fitted, places)
    for value in (0.0, 0.6):
        squared = fresh.at(np.full_like(fresh.own, value))
        for shot, place in enumerate(places):
            expected = stand_in_distance(fitted.shots, shot, value, count=NEIGHBOURS)
            assert squared[shot, place] == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_fresh_neighbours_leave_all_else_as_it_was(propagation: PropagationSession) -> None:
    """Other classes, shots whose class is no candidate, and classes that lose their only shot."""
    drawn = collection(tree(), seed=8)
    leaves = drawn.graph.leaves()
    shots = drawn.shots({leaves[0]: 1, **dict.fromkeys(leaves[1:], 2)})
    fitted = _fitted(propagation, drawn.graph, shots, Setting.PPN)
    places = _own_places(fitted)
    places[5] = -1
    before, after = _held_out(fitted), _fresh(fitted, places)
    changed = before.propagated != after.propagated
    expected = np.zeros_like(changed)
    expected[np.arange(len(shots)), places] = True
    expected[5] = False
    expected[0] = False
    assert not changed[~expected].any()
    assert changed[expected].mean() > 0.9
    np.testing.assert_array_equal(before.own, after.own)


def test_a_lone_class_has_no_neighbours(propagation: PropagationSession) -> None:
    """Its held-out distance is the one to its own mean."""
    drawn = collection(tree())
    fitted = _fitted(propagation, drawn.graph, drawn.shots({5: 3}), Setting.PPN)
    lambda_ = np.full((3, 1), 0.5, np.float32)
    np.testing.assert_array_equal(
        _fresh(fitted, _own_places(fitted)).at(lambda_), _held_out(fitted).at(lambda_)
    )


# -- memory ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_memory_goes_by_the_edges_not_by_the_class_with_most_parents(
    propagation: PropagationSession,
) -> None:
    """200 parents of one class of 400.

    Images x classes x parents would be 100 times what holding shots out takes.
    """
    parents = {f"parent {place}": () for place in range(200)}
    classes = {f"class {place}": (f"parent {place % 200}",) for place in range(400)}
    graph = graph_of({**parents, **classes, "everywhere": tuple(parents)})
    drawn = collection(graph)
    fitted = _fitted(propagation, graph, drawn.shots(dict.fromkeys(graph.leaves(), 1)))
    candidates = np.flatnonzero(fitted.table.has_initial)
    held = np.arange(len(fitted.shots))
    matrix_bytes = 4 * len(held) * len(candidates)
    tracemalloc.start()
    held_out_distances(fitted.shots, fitted.table, candidates, held)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 12 * matrix_bytes
