"""Cohen's kappa by hand, and agreement at each level of the graph."""

from collections import Counter

import pytest

from engine.graph.category_graph import CategoryGraph
from engine.merging.agreement import AnnotatorAgreement, agreement_table, cohen_kappa


def test_kappa_and_its_interval_by_hand() -> None:
    """50 images: both yes 20, both no 15, yes and no 5, no and yes 10.

    Observed 35/50 = 0.7. Expected 0.5 x 0.6 + 0.5 x 0.4 = 0.5. Kappa = 0.2/0.5 = 0.4.
    Equal cells: 0.4 (1 - 1.1 x 0.6)^2 + 0.3 (1 - 0.9 x 0.6)^2 = 0.10972.
    Others: 0.6^2 (0.1 (0.6 + 0.5)^2 + 0.2 (0.4 + 0.5)^2) = 0.10188. Less (0.4 - 0.5 x 0.6)^2 =
    0.01. Variance 0.2016 / (50 x 0.5^2) = 0.016128; half an interval 1.96 x 0.126996 = 0.24891.
    """
    found = cohen_kappa(
        Counter({("yes", "yes"): 20, ("no", "no"): 15, ("yes", "no"): 5, ("no", "yes"): 10})
    )
    assert (found.images, found.agreed, found.observed) == (50, 35, 0.7)
    assert found.kappa == pytest.approx(0.4)
    assert found.low == pytest.approx(0.15109, abs=1e-5)
    assert found.high == pytest.approx(0.64891, abs=1e-5)


def test_kappa_at_its_ends() -> None:
    """Nothing to compare, one class only, always equal, never equal."""
    assert cohen_kappa(Counter()) == AnnotatorAgreement()
    assert cohen_kappa(Counter({("a", "a"): 9})) == AnnotatorAgreement(9, 9)
    always = cohen_kappa(Counter({("a", "a"): 5, ("b", "b"): 5}))
    never = cohen_kappa(Counter({("a", "b"): 5, ("b", "a"): 5}))
    assert (always.kappa, always.low, always.high, never.kappa) == (1.0, 1.0, 1.0, -1.0)


def graph_of_birds() -> CategoryGraph:
    graph = CategoryGraph()
    animal = graph.add_class("Animal")  # 1
    bird = graph.add_class("Bird", [animal])  # 2
    graph.add_class("Gull", [bird])  # 3
    graph.add_class("Heron", [bird])  # 4
    graph.add_class("Fox", [animal])  # 5
    return graph


def test_each_level_counts_the_labels_that_reach_it() -> None:
    """Gull and Heron agree as birds; a label "Bird" does not count below.

    "None of the classes" is a class.
    """
    pairs = [(3, 4), (3, 3), (2, 3), (5, 3), (None, None), (3, None)]
    found = agreement_table(graph_of_birds(), pairs)
    assert (found.exact.images, found.exact.agreed) == (6, 2)
    assert [(each.images, each.agreed) for each in found.levels] == [(6, 5), (6, 4), (4, 2)]
    assert dict(found.disagreed) == {(3, 4): 1, (2, 3): 1, (5, 3): 1, (3, None): 1}


def test_a_class_that_skips_a_level_stands_for_itself_there() -> None:
    """Fox is one level below Animal by one parent, two by the other; its first path counts."""
    graph = graph_of_birds()
    mammal = graph.add_class("Mammal", [1])
    graph.link(mammal, 5)
    found = agreement_table(graph, [(5, 5), (5, 6)])
    assert [(each.images, each.agreed) for each in found.levels] == [(2, 2), (2, 1), (1, 1)]


def test_agreement_is_symmetrical() -> None:
    """Exchanging the copies gives the same figures with pairs reversed."""
    pairs = [(3, 4), (3, 4), (3, 3), (2, 3), (5, 3), (None, None), (4, None), (4, 4)]
    one, other = (
        agreement_table(graph_of_birds(), each) for each in (pairs, [(b, a) for a, b in pairs])
    )
    assert (one.exact, one.levels) == (other.exact, other.levels)
    assert {((b, a), count) for (a, b), count in one.disagreed} == set(other.disagreed)
    assert one.disagreed[0] == ((3, 4), 2)
