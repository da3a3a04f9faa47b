import numpy as np
import pytest

from engine.everyday.back_off import (
    DEFAULT_BAR,
    BackOff,
    Policy,
    back_off,
    bars_in_effect,
    too_broad,
    too_deep,
    where_bar_is_set,
)
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS
from tests.support.deep_graphs import add_all, ladder
from tests.support.graphs import big_graph, graph_of, seaside_graph

ANIMAL, BIRD, DIVER, GULL, PUFFIN, SEAL, HERRING_GULL, PLANT, KELP = range(1, 10)
LEAVES = (PUFFIN, SEAL, HERRING_GULL, KELP)


def _rules(
    policies: dict[int, Policy] | None = None, graph: CategoryGraph | None = None
) -> BackOff:
    return back_off(graph or seaside_graph(), np.array(LEAVES, dtype=np.int64), policies or {})


def _decide(rules: BackOff, *scores: float) -> tuple[int, float]:
    """Safe class and its score of one image with these scores of the leaves."""
    row = np.array([scores], dtype=np.float32)
    best = row.argmax(axis=1)
    classes, safe = rules.decide(best, row.max(axis=1), row @ rules.roll_up)
    return int(classes[0]), float(safe[0])


def _masses(rules: BackOff, *scores: float) -> dict[int, float]:
    masses = np.array(scores, dtype=np.float32) @ rules.roll_up
    return dict(zip(rules.coarse_ids.tolist(), masses.tolist(), strict=True))


# -- roll-up ---------------------------------------------------------------------------------------


def test_roll_up_counts_a_leaf_with_two_paths_once() -> None:
    """Puffin 0.4, Seal 0.3, Herring Gull 0.2, Kelp 0.1.

    Animal reaches Puffin twice and scores 0.9, not 1.3.
    """
    masses = _masses(_rules(), 0.4, 0.3, 0.2, 0.1)
    expected = {GULL: 0.2, BIRD: 0.6, DIVER: 0.7, ANIMAL: 0.9, PLANT: 0.1}
    assert masses == pytest.approx(expected)


def test_roll_up_of_a_random_graph_follows_its_definition() -> None:
    """The score of a class is the sum over the set of leaves below it."""
    graph = big_graph(120, seed=2)
    leaves = graph.leaves()
    scores = np.random.default_rng(0).dirichlet(np.ones(len(leaves)))
    rules = back_off(graph, np.array(leaves), {})
    score_of = dict(zip(leaves, scores.tolist(), strict=True))
    for class_id, mass in _masses(rules, *scores.tolist()).items():
        assert mass == pytest.approx(
            sum(score_of[leaf] for leaf in graph.leaves_below(class_id)), rel=1e-5
        )
    assert set(rules.coarse_ids.tolist()) == set(graph.classes()) - set(leaves)


def test_only_classes_above_candidates_are_rolled_up() -> None:
    """With nothing but Kelp to choose, Animal's branch is out of the question."""
    rules = back_off(seaside_graph(), np.array([KELP]), {})
    assert rules.coarse_ids.tolist() == [PLANT]


# -- bars ------------------------------------------------------------------------------------------


def test_bars_are_inherited_downwards() -> None:
    """Bird's bar counts for Gull and Herring Gull until Gull sets its own; Kelp has the default."""
    graph, classes = seaside_graph(), (GULL, HERRING_GULL, SEAL, KELP)
    bars = bars_in_effect(graph, {BIRD: Policy(bar=0.6)}, classes)
    assert bars == {GULL: 0.6, HERRING_GULL: 0.6, SEAL: DEFAULT_BAR, KELP: DEFAULT_BAR}
    bars = bars_in_effect(graph, {BIRD: Policy(bar=0.6), GULL: Policy(bar=0.3)}, classes)
    assert (bars[GULL], bars[HERRING_GULL]) == (0.3, 0.3)


def test_of_several_parents_the_strictest_bar_is_inherited() -> None:
    """Puffin lies below Bird (0.6) and Diver (0.95); its own bar would win over both."""
    policies = {BIRD: Policy(bar=0.6), DIVER: Policy(bar=0.95)}
    assert bars_in_effect(seaside_graph(), policies, [PUFFIN]) == {PUFFIN: 0.95}
    policies[PUFFIN] = Policy(bar=0.1)
    assert bars_in_effect(seaside_graph(), policies, [PUFFIN]) == {PUFFIN: 0.1}


def test_a_lenient_parent_does_not_undercut_one_without_a_bar() -> None:
    """Bird is lenient; Diver has the default, which is stricter."""
    assert bars_in_effect(seaside_graph(), {BIRD: Policy(bar=0.1)}, [PUFFIN]) == {
        PUFFIN: DEFAULT_BAR
    }


def test_a_policy_without_a_bar_inherits() -> None:
    """To stop at a class says nothing about its bar."""
    policies = {ANIMAL: Policy(bar=0.7), BIRD: Policy(is_deepest=True)}
    assert bars_in_effect(seaside_graph(), policies, [BIRD]) == {BIRD: 0.7}


# -- safe class ------------------------------------------------------------------------------------


def test_the_leaf_is_safe_when_it_passes_its_bar() -> None:
    """0.8 is the default bar; exactly the bar passes."""
    assert _decide(_rules(), 0.81, 0.09, 0.05, 0.05) == pytest.approx((PUFFIN, 0.81))
    exact = _rules({PUFFIN: Policy(bar=0.5)})
    assert _decide(exact, 0.5, 0.25, 0.25, 0.0)[0] == PUFFIN


def test_otherwise_the_deepest_class_that_passes() -> None:
    """No leaf passes 0.8: Puffin and Seal together make Diver sure.

    Gull and Puffin make Bird sure.
    """
    assert _decide(_rules(), 0.5, 0.4, 0.05, 0.05) == pytest.approx((DIVER, 0.9))
    assert _decide(_rules(), 0.5, 0.05, 0.4, 0.05) == pytest.approx((BIRD, 0.9))


def test_far_up_when_only_the_top_is_sure() -> None:
    """Puffin, Seal and Herring Gull alike: Bird 0.62 and Diver 0.64 fail, Animal 0.95 passes."""
    assert _decide(_rules(), 0.31, 0.33, 0.31, 0.05) == pytest.approx((ANIMAL, 0.95))


def test_no_class_when_nothing_passes() -> None:
    """Half animal, half plant."""
    assert _decide(_rules(), 0.2, 0.2, 0.1, 0.5) == (NO_CLASS, 0.0)


def test_of_two_sure_classes_on_one_level_the_likelier() -> None:
    """Bird and Diver share Puffin: 0.83 and 0.93 both pass the default bar."""
    assert _decide(_rules(), 0.78, 0.15, 0.05, 0.02) == pytest.approx((DIVER, 0.93))
    assert _decide(_rules(), 0.78, 0.05, 0.15, 0.02) == pytest.approx((BIRD, 0.93))


def test_of_two_classes_on_one_level_with_low_bars_the_likelier() -> None:
    """Animal 0.45 and Plant 0.55, both with a bar of 0.3 that no class below them inherits."""
    low, high = Policy(bar=0.3), Policy(bar=0.9)
    policies = {ANIMAL: low, PLANT: low, BIRD: high, DIVER: high, KELP: high}
    assert _decide(_rules(policies), 0.2, 0.15, 0.1, 0.55) == pytest.approx((PLANT, 0.55))
    assert _decide(_rules(policies), 0.25, 0.2, 0.1, 0.45) == pytest.approx((ANIMAL, 0.55))


def test_depth_goes_before_likelihood() -> None:
    """Gull 0.85 is deeper than Bird 0.95, though its child is not sure."""
    graph = graph_of(
        {
            "Animal": [],
            "Bird": ["Animal"],
            "Gull": ["Bird"],
            "A": ["Gull"],
            "B": ["Gull"],
            "C": ["Bird"],
        }
    )
    rules = back_off(graph, np.array([4, 5, 6]), {})
    assert _decide(rules, 0.5, 0.35, 0.15) == pytest.approx((3, 0.85))


def test_a_deepest_class_caps_all_below_it() -> None:
    """Never below Bird: neither Gull nor its leaf, however sure.

    Nor Puffin, though it is below Diver too.
    """
    graph, policies = seaside_graph(), {BIRD: Policy(is_deepest=True)}
    assert too_deep(graph, policies) == {GULL, PUFFIN, HERRING_GULL}
    rules = _rules(policies)
    assert GULL not in rules.coarse_ids
    assert _decide(rules, 0.01, 0.0, 0.98, 0.01) == pytest.approx((BIRD, 0.99))
    assert _decide(rules, 0.01, 0.97, 0.01, 0.01)[0] == SEAL


def test_a_broadest_class_hides_all_above_it() -> None:
    """Never above Bird: not Animal, however sure; where only Animal would pass, nothing is safe."""
    graph, policies = seaside_graph(), {BIRD: Policy(is_broadest=True)}
    assert too_broad(graph, policies, 0) == {ANIMAL}
    assert _decide(_rules(), 0.3, 0.35, 0.3, 0.05) == pytest.approx((ANIMAL, 0.95))
    rules = _rules(policies)
    assert ANIMAL not in rules.coarse_ids
    assert _decide(rules, 0.3, 0.35, 0.3, 0.05) == (NO_CLASS, 0.0)
    assert _decide(rules, 0.45, 0.05, 0.45, 0.05) == pytest.approx((BIRD, 0.9))


@pytest.mark.parametrize(
    ("level", "named"),
    [
        (0, {ANIMAL, PLANT, BIRD, DIVER, GULL}),
        (1, {BIRD, DIVER, GULL}),
        (2, {GULL}),
        (3, set()),
        (9, set()),
    ],
)
def test_no_coarse_class_above_the_broadest_level_is_named(level: int, named: set[int]) -> None:
    """A leaf is named wherever it lies: nothing is finer than Kelp, on level 1."""
    rules = back_off(seaside_graph(), np.array(LEAVES), {}, broadest_level=level)
    assert set(rules.coarse_ids.tolist()) == named
    assert _decide(rules, 0.02, 0.02, 0.02, 0.94)[0] == KELP


def test_a_leaf_marked_deepest_is_no_cap() -> None:
    """Nothing lies below it."""
    assert _decide(_rules({SEAL: Policy(is_deepest=True)}), 0.0, 1.0, 0.0, 0.0)[0] == SEAL


def test_safe_classes_of_random_scores_follow_the_definition() -> None:
    """The deepest class whose mass passes its threshold, for many images and thresholds."""
    graph = seaside_graph()
    policies = {
        BIRD: Policy(bar=0.7),
        DIVER: Policy(bar=0.4),
        KELP: Policy(bar=0.95),
        HERRING_GULL: Policy(bar=0.6),
    }
    rules = _rules(policies, graph)
    bars = bars_in_effect(graph, policies, graph.classes())
    scores = np.random.default_rng(1).dirichlet(np.full(4, 0.7), size=300).astype(np.float32)
    best = scores.argmax(axis=1)
    found, _ = rules.decide(best, scores.max(axis=1), scores @ rules.roll_up)
    for row, place, safe in zip(scores.tolist(), best.tolist(), found.tolist(), strict=True):
        score_of = dict(zip(LEAVES, row, strict=True))
        mass = {
            class_id: sum(score_of[leaf] for leaf in graph.leaves_below(class_id))
            for class_id in (GULL, BIRD, DIVER, ANIMAL, PLANT)
        }
        passing = [class_id for class_id in mass if mass[class_id] >= bars[class_id]]
        expected = max(
            passing, key=lambda class_id: (graph.level(class_id), mass[class_id]), default=NO_CLASS
        )
        leaf = LEAVES[place]
        assert safe == (leaf if score_of[leaf] >= bars[leaf] else expected)


def test_a_graph_without_levels_has_only_leaves() -> None:
    """Roots without children: safe or nothing."""
    graph = graph_of({"a": [], "b": []})
    rules = back_off(graph, np.array([1, 2]), {})
    assert _decide(rules, 0.9, 0.1) == pytest.approx((1, 0.9))
    assert _decide(rules, 0.6, 0.4) == (NO_CLASS, 0.0)


def test_no_candidates_no_rules() -> None:
    """An empty project."""
    rules = back_off(seaside_graph(), np.empty(0, np.int64), {})
    assert rules.coarse_ids.tolist() == []
    assert rules.roll_up.shape == (0, 0)


def test_bars_on_a_graph_as_deep_as_may_be() -> None:
    """A bar holds for all that is below, five hundred levels down and along any number of paths."""
    graph = CategoryGraph()
    ids = add_all(graph, ladder())
    policies = {ids["left 3"]: Policy(0.6), ids["right 3"]: Policy(0.9)}
    assert bars_in_effect(graph, policies, [ids["end 0"], ids["left 2"]]) == {
        ids["end 0"]: 0.9,
        ids["left 2"]: 0.8,
    }
    assert where_bar_is_set(graph, policies, ids["end 0"]) == ids["right 3"]
    assert where_bar_is_set(graph, policies, ids["left 2"]) is None
