"""Category graphs: small ones written by hand, large random ones, and comparisons."""

import random
from collections.abc import Iterable, Mapping, Sequence

from engine.graph.category_graph import CategoryGraph, ClassId


def graph_of(parents_of: Mapping[str, Sequence[str]]) -> CategoryGraph:
    """Build a graph from names, parents before children: {"Animal": [], "Bird": ["Animal"]}."""
    graph = CategoryGraph()
    ids: dict[str, ClassId] = {}
    for name, parents in parents_of.items():
        ids[name] = graph.add_class(name, [ids[parent] for parent in parents])
    return graph


def seaside_graph() -> CategoryGraph:
    """Nine classes, ids 1 to 9 in this order; Puffin has two parents, with two paths to Animal."""
    return graph_of(
        {
            "Animal": [],
            "Bird": ["Animal"],
            "Diver": ["Animal"],
            "Gull": ["Bird"],
            "Puffin": ["Bird", "Diver"],
            "Seal": ["Diver"],
            "Herring Gull": ["Gull"],
            "Plant": [],
            "Kelp": ["Plant"],
        }
    )


def big_graph(count: int, seed: int = 0) -> CategoryGraph:
    """A random graph of `count` classes, about one in ten with a second parent."""
    generator = random.Random(seed)
    graph = CategoryGraph()
    ids: list[ClassId] = []
    for number in range(count):
        parents = (
            {generator.choice(ids[-500:]) for _ in range(1 + (generator.random() < 0.1))}
            if ids
            else set()
        )
        ids.append(graph.add_class(f"class {number}", sorted(parents)))
    return graph


def content_of(graph: CategoryGraph) -> tuple[dict[ClassId, str], set[tuple[ClassId, ClassId]]]:
    """Names by id, and edges."""
    return {class_id: graph.name(class_id) for class_id in graph.classes()}, set(graph.edges())


def shape_of(graph: CategoryGraph) -> set[str]:
    """All paths as text: equal for graphs that differ in ids only."""
    return {
        " > ".join(names_of(graph, path))
        for class_id in graph.classes()
        for path in graph.paths(class_id)
    }


def names_of(graph: CategoryGraph, class_ids: Iterable[ClassId]) -> list[str]:
    """Names of classes in the order given."""
    return [graph.name(class_id) for class_id in class_ids]


def brute_force_level(graph: CategoryGraph, class_id: ClassId) -> int:
    """The level by definition: one more than the deepest parent's; 0 for a root."""
    return max(
        (brute_force_level(graph, parent) + 1 for parent in graph.parents(class_id)), default=0
    )
