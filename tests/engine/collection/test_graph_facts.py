"""Values shown with classes in a drawing of the graph."""

from contextlib import closing

import pytest

from engine.collection.answers import decided_shares, faces
from engine.collection.live import LiveCollection
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import UNKNOWN
from tests.support.collections import Collection
from tests.support.states import Picture, state_of


@pytest.fixture
def graph() -> CategoryGraph:
    """Animal (1) above bird (2) and fish (3); gull (4) below bird and below sea (5)."""
    graph = CategoryGraph()
    animal = graph.add_class("Animal")
    bird = graph.add_class("Bird", [animal])
    graph.add_class("Fish", [animal])
    gull = graph.add_class("Gull", [bird])
    sea = graph.add_class("Sea")
    graph.link(sea, gull)
    return graph


def test_a_class_has_the_faces_of_its_shots_and_a_coarse_one_those_below_in_turn(
    graph: CategoryGraph,
) -> None:
    """Faces alternate between subclasses: gull, fish, another gull; none is unlabelled."""
    labels = (4, 4, 4, 3, 2, UNKNOWN)
    state = state_of([Picture(label=label) for label in labels])
    assert faces(graph, state, most=3) == {
        4: (11, 12, 13),
        3: (14,),
        2: (15, 11, 12),
        5: (11, 12, 13),
        1: (15, 14, 11),
    }


def test_each_image_counts_once_however_many_ways_lead_to_it(graph: CategoryGraph) -> None:
    """Labelled or certain at a leaf is decided, coarse is not; unknown counts for no class."""
    state = state_of(
        [
            Picture(label=4),
            Picture(best=4, safe=4),
            Picture(best=4, safe=2),
            Picture(best=3),
            Picture(best=3, is_unknown=True),
        ]
    )
    shares = decided_shares(graph, state)
    assert shares == {
        4: pytest.approx(2 / 3),
        2: pytest.approx(2 / 3),
        5: pytest.approx(2 / 3),
        1: 0.5,
        3: 0.0,
    }


def test_weights_of_all_edges_at_once(collection: Collection) -> None:
    """The weights equal those on each class's page."""
    with closing(
        LiveCollection.open(collection.project, collection.caches, for_writing=False)
    ) as live:
        live.load()
        assert live.fitted is not None
        weights, own = live.fitted.inheritance.edge_weights, live.fitted.inheritance.own_shares
        assert weights
        for parent, child in weights:
            facts = live.class_facts(child)
            assert {each.class_id: each.score for each in facts.parents}[parent] == weights[
                parent, child
            ]
            assert own[child] == facts.lambda_
