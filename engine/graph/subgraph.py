"""Parts of a category graph as graphs of their own, with the same ids."""

from collections.abc import Collection, Sequence

import numpy as np

from engine.errors import GraphError
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.edits import ClassAdded, EdgeAdded


def subgraph_with_ancestors(graph: CategoryGraph, classes: Collection[ClassId]) -> CategoryGraph:
    """Take classes with everything above them.

    Args:
        graph: the whole graph; it stays as it is.
        classes: the classes to keep.

    Returns:
        Those classes, all their ancestors, and the edges among them.

    Raises:
        UnknownClassError: a class is not in the graph.
    """
    kept: set[ClassId] = set()
    for class_id in classes:
        if class_id not in kept:
            kept |= {class_id, *graph.ancestors(class_id)}
    return _induced(graph, kept)


def subgraph_under(graph: CategoryGraph, class_id: ClassId) -> CategoryGraph:
    """Take a class with everything below it; other parents of the classes below are left out.

    Raises:
        UnknownClassError: the class is not in the graph.
    """
    return _induced(graph, {class_id, *graph.descendants(class_id)})


def sample_subgraph(
    graph: CategoryGraph, leaves: Sequence[ClassId], count: int, generator: np.random.Generator
) -> CategoryGraph:
    """Draw some of the leaves, without repeats, with everything above them: the graph of one training episode.

    Args:
        graph: the whole graph; it stays as it is.
        leaves: the classes to draw from.
        count: how many to draw.
        generator: source of chance.

    Returns:
        The drawn classes, all their ancestors, and the edges among them.

    Raises:
        GraphError: there are fewer than `count` leaves.
        UnknownClassError: a drawn class is not in the graph.
    """
    if not 0 <= count <= len(leaves):
        raise GraphError(
            "a subgraph cannot be drawn",
            expected=f"at least {count} leaves",
            found=str(len(leaves)),
            remedy="draw fewer classes, or give more of them images",
        )
    positions = generator.choice(len(leaves), size=count, replace=False)
    return subgraph_with_ancestors(graph, [leaves[int(position)] for position in positions])


def _induced(graph: CategoryGraph, kept: set[ClassId]) -> CategoryGraph:
    part = CategoryGraph()
    ordered = sorted(kept)
    part.apply(ClassAdded(class_id, graph.name(class_id)) for class_id in ordered)
    part.apply(EdgeAdded(parent, child) for child in ordered for parent in graph.parents(child) if parent in kept)
    return part
