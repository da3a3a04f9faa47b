"""May a graph grow so? Asked of every edit of a project, whichever action made it, before anything is written."""

from collections.abc import Iterable, Sequence
from typing import Final

from engine.errors import GraphError
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.edits import ClassAdded, EdgeAdded, GraphEdit
from engine.graph.inverse import inverse
from engine.graph.limits import DEEPEST_LEVEL, MOST_CLASSES
from engine.graph.traversal import longest_way

FEW: Final = 32
"""New edges up to which each is looked at by itself: the levels of all classes take longer."""


def check_growth(graph: CategoryGraph, edits: Sequence[GraphEdit]) -> None:
    """Refuse edits by which a graph outgrows its limits; what lay beyond them before may stay.

    Args:
        graph: as it is after them.
        edits: as `CategoryGraph.record` gave them.

    Raises:
        GraphError: there are too many classes, or one lies too deep.
    """
    if len(graph) > MOST_CLASSES and any(isinstance(edit, ClassAdded) for edit in edits):
        raise GraphError(
            "there would be too many classes",
            expected="at most {limit:,}",
            found=f"{len(graph):,}",
            remedy="take the part of the classes that you need",
            limit=MOST_CLASSES,
        )
    links = [(edit.parent_id, edit.child_id) for edit in edits if isinstance(edit, EdgeAdded)]
    links = [edge for edge in links if edge[0] in graph and edge[1] in graph]
    if len(links) > FEW or any(_deepest_level_over(graph, *edge) > DEEPEST_LEVEL for edge in links):
        _check_depth(graph, edits)


def _deepest_level_over(graph: CategoryGraph, parent_id: ClassId, child_id: ClassId) -> int:
    """Level of the deepest class on the ways over an edge; asks only what is above and below it."""
    return longest_way(graph.parents, parent_id) + 1 + graph.height(child_id)


def _check_depth(graph: CategoryGraph, edits: Sequence[GraphEdit]) -> None:
    too_deep = {each for level in graph.levels()[DEEPEST_LEVEL + 1 :] for each in level}
    if too_deep:
        before = graph.copy()
        before.apply(inverse(edits))
        _check_none_sank(graph, before, too_deep)


def _check_none_sank(graph: CategoryGraph, before: CategoryGraph, class_ids: Iterable[ClassId]) -> None:
    sank = [each for each in class_ids if each not in before or graph.level(each) > before.level(each)]
    if sank:
        deepest = max(sank, key=graph.level)
        raise GraphError(
            "the classes would nest too deeply",
            expected="at most {deepest:,} levels below the top",
            found='"{name}" on level {level:,}',
            remedy="put them further up",
            deepest=DEEPEST_LEVEL,
            name=graph.name(deepest),
            level=graph.level(deepest),
        )
