import numpy as np
import pytest

from engine.everyday.classifier import Setting
from engine.everyday.prototypical.prototypes import (
    NEIGHBOURS,
    PropagationSession,
    PrototypeTable,
    candidate_positions,
    nearest_parents,
    prototype_table,
    support_of,
)
from engine.everyday.prototypical.tuning import lambda_for
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph
from tests.support.everyday import (
    EVERYDAY_SETTINGS,
    WIDTH,
    collection,
    no_shots,
    propagation_matrix,
    tree,
)
from tests.support.graphs import graph_of, seaside_graph

ANIMAL, BIRD, DIVER, GULL, PUFFIN, SEAL, HERRING_GULL, PLANT, KELP = range(1, 10)


def _shots(*labelled: tuple[int, float]) -> Shots:
    """Each shot's embedding has one number everywhere, so that prototypes can be worked by hand."""
    class_ids = np.array([class_id for class_id, _ in labelled], dtype=np.int64)
    values = np.array([value for _, value in labelled], dtype=np.float32)
    return Shots(np.arange(1, len(labelled) + 1), class_ids, np.tile(values[:, None], (1, WIDTH)))


def _table(
    session: PropagationSession,
    graph: CategoryGraph,
    shots: Shots,
    *,
    setting: Setting = Setting.PPN_PLUS,
    shrinkage: float = 1.0,
) -> PrototypeTable:
    support = support_of(graph, shots, setting)
    return prototype_table(session, support, shots, lambda_for(support.own_counts, shrinkage))


def _place(table: PrototypeTable, class_id: int) -> int:
    return table.class_ids.tolist().index(class_id)


def _final(table: PrototypeTable, class_id: int) -> float:
    """The one number that a class's prototype consists of."""
    row = table.final[_place(table, class_id)]
    assert np.ptp(row) < 1e-6
    return float(row[0])


def test_a_class_with_one_parent_by_hand(propagation: PropagationSession) -> None:
    """Eq. 3 and 6: Bird's own images 2 and 4, Gull's 9: lambda 1/2 at one shot and shrinkage 1."""
    # P0: Bird (2 + 4) / 2 = 3, Gull 9, Animal (2 + 4 + 9) / 3 = 5. P: Gull 9 / 2 + 3 / 2 = 6; Bird,
    # of two shots, 2/3 of 3 + 1/3 of 5 = 3.6667; Animal has no parent: 5.
    table = _table(propagation, seaside_graph(), _shots((BIRD, 2.0), (BIRD, 4.0), (GULL, 9.0)))
    assert _final(table, GULL) == pytest.approx(6.0)
    assert _final(table, BIRD) == pytest.approx(3 + 2 / 3)
    assert _final(table, ANIMAL) == pytest.approx(5.0)
    lambdas = {
        class_id: float(table.lambda_[_place(table, class_id)]) for class_id in (ANIMAL, BIRD, GULL)
    }
    assert lambdas == pytest.approx({ANIMAL: 1.0, BIRD: 2 / 3, GULL: 0.5})


def test_a_zero_shot_class_is_what_its_parents_propagate(propagation: PropagationSession) -> None:
    """Puffin has no image: an even mean of Bird's 2 and Diver's 8; Seal takes Diver's alone."""
    table = _table(propagation, seaside_graph(), _shots((BIRD, 2.0), (DIVER, 8.0)))
    assert _final(table, PUFFIN) == pytest.approx(5.0)
    assert _final(table, SEAL) == pytest.approx(8.0)
    zero_shot = {int(class_id) for class_id in table.class_ids[table.is_zero_shot]}
    assert zero_shot == {GULL, PUFFIN, SEAL}
    assert not table.lambda_[table.is_zero_shot].any()


def test_a_class_with_two_parents_takes_from_each_by_attention(
    propagation: PropagationSession,
) -> None:
    """Eq. 4: its parents' weights are positive, sum to one, and make up the final prototype."""
    drawn = collection(seaside_graph())
    table = _table(propagation, drawn.graph, drawn.shots({BIRD: 2, DIVER: 3, PUFFIN: 1}))
    puffin, bird, diver = (_place(table, class_id) for class_id in (PUFFIN, BIRD, DIVER))
    weights = propagation_matrix(table)[puffin]
    assert set(np.flatnonzero(weights)) == {bird, diver}
    assert weights.sum() == pytest.approx(1.0)
    assert weights[bird] != pytest.approx(weights[diver], abs=1e-3)
    expected = table.initial[puffin] / 2 + (weights @ table.initial) / 2
    np.testing.assert_allclose(table.final[puffin], expected, atol=1e-6)


def test_a_parent_without_any_image_is_no_parent(propagation: PropagationSession) -> None:
    """Nothing is known of Kelp's branch, or of Diver while only Bird has images."""
    table = _table(propagation, seaside_graph(), _shots((BIRD, 2.0)))
    assert _final(table, PUFFIN) == pytest.approx(2.0)
    parents, children = table.class_ids[table.edges].tolist()
    assert sorted(zip(parents, children, strict=True)) == [
        (ANIMAL, BIRD),
        (ANIMAL, DIVER),
        (BIRD, GULL),
        (BIRD, PUFFIN),
    ]
    assert KELP not in table.class_ids
    assert SEAL not in table.class_ids


def test_a_class_without_images_takes_the_mean_over_distinct_images_below(
    propagation: PropagationSession,
) -> None:
    """Animal reaches the puffin's image on two paths, and counts it once: (3 + 6) / 2."""
    table = _table(propagation, seaside_graph(), _shots((PUFFIN, 3.0), (SEAL, 6.0)))
    assert _final(table, ANIMAL) == pytest.approx(4.5)
    assert table.initial[_place(table, DIVER)][0] == pytest.approx(4.5)
    assert table.initial[_place(table, BIRD)][0] == pytest.approx(3.0)


def test_ppn_takes_the_three_nearest_other_classes(propagation: PropagationSession) -> None:
    """By brute force over all pairs of classes with images; the graph has no say."""
    drawn = collection(tree())
    leaves = drawn.graph.leaves()
    table = _table(
        propagation, drawn.graph, drawn.shots(dict.fromkeys(leaves, 2)), setting=Setting.PPN
    )
    assert tuple(table.class_ids) == leaves
    for child in range(len(leaves)):
        distances = ((table.initial - table.initial[child]) ** 2).sum(axis=1)
        distances[child] = np.inf
        nearest = set(np.argsort(distances)[:NEIGHBOURS].tolist())
        assert set(np.flatnonzero(propagation_matrix(table)[child]).tolist()) == nearest
    np.testing.assert_allclose(propagation_matrix(table).sum(axis=1), 1.0, rtol=1e-5)


@pytest.mark.parametrize(("classes", "parents"), [(0, 0), (1, 0), (2, 1), (3, 2), (4, 3), (9, 3)])
def test_with_few_classes_all_others_are_parents(classes: int, parents: int) -> None:
    """A class never stands in as its own parent."""
    prototypes = np.random.default_rng(0).normal(size=(classes, WIDTH)).astype(np.float32)
    edges = nearest_parents(prototypes)
    assert edges.shape == (2, classes * parents)
    assert not (edges[0] == edges[1]).any()
    assert len(set(zip(*edges.tolist(), strict=True))) == classes * parents


def test_prototypes_alone_are_means(propagation: PropagationSession) -> None:
    """Only classes with own images, each the mean of them."""
    table = _table(
        propagation,
        seaside_graph(),
        _shots((GULL, 1.0), (GULL, 2.0), (BIRD, 5.0)),
        setting=Setting.PROTOTYPES,
    )
    assert table.class_ids.tolist() == [BIRD, GULL]
    assert (_final(table, BIRD), _final(table, GULL)) == pytest.approx((5.0, 1.5))
    assert table.lambda_.tolist() == [1.0, 1.0]
    assert table.edges.shape == (2, 0)


def test_candidates_are_the_deepest_classes_with_a_prototype(
    propagation: PropagationSession,
) -> None:
    """Bird and Diver are labelled: their children compete, though nobody labelled those.

    Kelp's branch is not there.
    """
    graph = seaside_graph()
    table = _table(propagation, graph, _shots((BIRD, 2.0), (DIVER, 8.0)))
    candidates = table.class_ids[candidate_positions(graph, table)]
    assert candidates.tolist() == [GULL, PUFFIN, SEAL]


def test_a_grandchild_that_nothing_is_propagated_to_is_no_candidate(
    propagation: PropagationSession,
) -> None:
    """One step of propagation from Bird ends at Gull; a gull's image then reaches Herring Gull."""
    graph = seaside_graph()
    before = _table(propagation, graph, _shots((BIRD, 2.0)))
    after = _table(propagation, graph, _shots((BIRD, 2.0), (GULL, 3.0)))
    assert GULL in before.class_ids[candidate_positions(graph, before)]
    assert HERRING_GULL in after.class_ids[candidate_positions(graph, after)]
    assert GULL not in after.class_ids[candidate_positions(graph, after)]


@pytest.mark.parametrize("setting", EVERYDAY_SETTINGS)
def test_without_shots_there_is_nothing(propagation: PropagationSession, setting: Setting) -> None:
    """An empty table, not a crash."""
    graph = graph_of({"Animal": [], "Bird": ["Animal"]})
    table = _table(propagation, graph, no_shots(), setting=setting)
    assert table.final.shape == (0, WIDTH)
    assert candidate_positions(graph, table).tolist() == []
