"""May a graph grow so? Asked of every edit of a project, whichever action made it, before anything is written."""

from collections.abc import Iterable, Sequence

from engine.errors import GraphError
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.edits import ClassAdded, EdgeAdded, GraphEdit
from engine.graph.inverse import inverse
from engine.graph.limits import DEEPEST_LEVEL, MOST_CLASSES
from engine.graph.traversal import reachable


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
            expected=f"at most {MOST_CLASSES:,}",
            found=f"{len(graph):,}",
            remedy="take the part of the classes that you need",
        )
    too_deep = _too_deep(graph, edits)
    if too_deep:
        before = graph.copy()
        before.apply(inverse(edits))
        _check_none_sank(graph, before, too_deep)


def _too_deep(graph: CategoryGraph, edits: Iterable[GraphEdit]) -> list[ClassId]:
    """Classes that got a parent, or lie below such a class, and are too deep."""
    placed = {edit.child_id for edit in edits if isinstance(edit, EdgeAdded) and edit.child_id in graph}
    return [each for each in reachable(graph.children, *placed) | placed if graph.level(each) > DEEPEST_LEVEL]


def _check_none_sank(graph: CategoryGraph, before: CategoryGraph, class_ids: Iterable[ClassId]) -> None:
    sank = [each for each in class_ids if each not in before or graph.level(each) > before.level(each)]
    if sank:
        deepest = max(sank, key=graph.level)
        raise GraphError(
            "the classes would nest too deeply",
            expected=f"at most {DEEPEST_LEVEL:,} levels below the top",
            found=f'"{graph.name(deepest)}" on level {graph.level(deepest):,}',
            remedy="put them further up",
        )
