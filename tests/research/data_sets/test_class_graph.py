"""The choice of classes, and the edges between them."""

from pathlib import Path

import numpy as np
import pytest

from engine.errors import InputError
from research.data_sets.ancestors import is_above
from research.data_sets.class_graph import ClassGraph, choose_classes
from research.data_sets.hierarchy import Hierarchy, read_hierarchy
from research.data_sets.recipe import Recipe
from tests.support.small_imagenet import FOLDERS, LEVELS, key

MANY = dict.fromkeys((key(name) for name in LEVELS[7]), 24)


@pytest.fixture(scope="module")
def hierarchy(wordnet: Path) -> Hierarchy:
    """All of the small WordNet."""
    return read_hierarchy(wordnet, [key(name) for name in FOLDERS])


@pytest.fixture(scope="module")
def graph(hierarchy: Hierarchy) -> ClassGraph:
    """The most few-shot classes possible: all but kind12, which is above kind11."""
    return choose_classes(hierarchy, MANY, Recipe(few_shot_share=1.0))


def edges_of(graph: ClassGraph) -> set[tuple[str, str]]:
    """Edges by names."""
    return {
        (graph.names[parent], graph.names[child]) for parent, child in graph.edge_index.T.tolist()
    }


def test_four_fifths_are_chosen_and_split_four_to_one(hierarchy: Hierarchy) -> None:
    """13 classes: 10 few-shot classes, 2 of them for testing; no class is in both parts."""
    graph = choose_classes(hierarchy, MANY, Recipe())
    assert (
        len(graph.training_few_shot),
        len(graph.test_few_shot),
        len(graph.other_last_level),
    ) == (8, 2, 3)
    assert not set(graph.training_few_shot.tolist()) & set(graph.test_few_shot.tolist())
    few_shot = {
        graph.keys[position] for position in (*graph.training_few_shot, *graph.test_few_shot)
    }
    assert few_shot | set(graph.other_last_level) == MANY.keys()


@pytest.mark.parametrize("seed", range(30))
def test_weak_labels_of_a_test_class_are_of_others_too(hierarchy: Hierarchy, seed: int) -> None:
    """kind3 is the only class left below saw, so it is for training."""
    images = MANY | {key("kind7"): 0, key("kind11"): 0}
    graph = choose_classes(hierarchy, images, Recipe(few_shot_share=1.0, seed=seed))
    assert key("kind3") in {graph.keys[position] for position in graph.training_few_shot}
    assert len(graph.test_few_shot) == 2


def test_a_class_above_another_few_shot_class_is_left_out(graph: ClassGraph) -> None:
    """kind12 would compete with its descendant kind11."""
    assert graph.other_last_level == (key("kind12"),)


def test_classes_are_ordered_by_level(graph: ClassGraph) -> None:
    """Coarse classes first; classes above no few-shot class are left out."""
    assert np.diff(graph.levels).min() == 0
    assert set(graph.names) == {
        *LEVELS[3],
        *LEVELS[4],
        "fruit",
        "device",
        *LEVELS[6],
        *LEVELS[7],
    } - {"kind12"}
    assert graph.names[graph.training_few_shot[0]].startswith("kind")


def test_edges_are_those_of_wordnet(graph: ClassGraph) -> None:
    """Every parent one level above stays, both of kind0."""
    edges = edges_of(graph)
    assert {
        ("berry", "kind0"),
        ("hammer", "kind0"),
        ("tool", "device"),
        ("substance", "food"),
    } <= edges
    assert len(edges - {("berry", "kind11"), ("part", "food")}) == 13 + 4 + 2 + 2
    assert (np.diff(graph.levels[graph.edge_index], axis=0) == 1).all()


def test_ancestors_by_a_detour_are_joined(graph: ClassGraph) -> None:
    """Ancestors through a class of their level, or through one not chosen, are joined."""
    assert {edge for edge in edges_of(graph) if edge[0] == "part"} == {("part", "food")}
    assert ("berry", "kind11") in edges_of(graph)


def test_ancestors_are_those_of_wordnet(graph: ClassGraph, hierarchy: Hierarchy) -> None:
    """Ancestors by edges are those of WordNet on the chosen levels."""
    for position, name in enumerate(graph.keys):
        marked = is_above(np.array([position]), graph.edge_index, len(graph.keys))
        coarser = {
            key
            for key in hierarchy.above(name)
            if 3 <= hierarchy.levels[key] < graph.levels[position]
        }
        assert {graph.keys[other] for other in np.flatnonzero(marked)} == coarser | {name}


def test_another_seed_chooses_others(hierarchy: Hierarchy) -> None:
    """The same seed chooses the same classes."""
    chosen = [
        choose_classes(hierarchy, MANY, Recipe(seed=seed)).test_few_shot.tolist()
        for seed in (0, 0, 1, 2, 3)
    ]
    assert chosen[0] == chosen[1]
    assert len({tuple(each) for each in chosen}) > 1


def test_poor_classes_are_no_few_shot_classes(hierarchy: Hierarchy) -> None:
    """A class with 19 images is not chosen where 20 are required, and blocks no test class."""
    graph = choose_classes(hierarchy, {**MANY, key("kind5"): 19}, Recipe(few_shot_share=1.0))
    assert set(graph.other_last_level) == {key("kind5"), key("kind12")}


def test_too_few_classes_are_refused(hierarchy: Hierarchy) -> None:
    """The message has the number found and a remedy."""
    poor = {name: 24 if number < 6 else 3 for number, name in enumerate(MANY)}
    with pytest.raises(
        InputError, match=r"at least 2 .* 13 classes on that level, 6 of them with enough images"
    ):
        choose_classes(hierarchy, poor, Recipe())
    with pytest.raises(InputError, match="found 0 classes on that level"):
        choose_classes(hierarchy, {}, Recipe(last_level=12))
