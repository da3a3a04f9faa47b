"""What removing or merging classes would do, in counts, before it is done."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.graph import group_edits
from engine.graph.category_graph import CategoryGraph
from engine.graph.removal import ChildrenOfRemoved, classes_that_go, label_heir
from engine.project.records import ClassId


@dataclass(frozen=True, slots=True)
class RemovalPreview:
    """Consequences of a removal."""

    classes: int  # classes that go, the chosen ones included
    edges: int  # edges that go with them
    children: int  # classes that stay and lose a parent
    labels_moved: int  # labels that go to another class
    labels_removed: int  # labels that are taken away
    heir: ClassId | None  # the class that gets the labels; None for none or several


@dataclass(frozen=True, slots=True)
class MergePreview:
    """Consequences of a merge; labels and children are those of the remaining class."""

    classes_before: int
    classes_after: int
    edges_after: int
    labels_before: int
    labels_after: int
    children_before: int
    children_after: int


def removal_preview(
    graph: CategoryGraph,
    labelled: Mapping[ClassId, int],
    class_ids: Sequence[ClassId],
    children: ChildrenOfRemoved,
) -> RemovalPreview:
    """Count what `ProjectClasses.remove` would remove; `labelled` counts labelled images by class.

    Raises:
        UnknownClassError: there is no such class.
    """
    going = dict.fromkeys(classes_that_go(graph, class_ids, children))
    down = [(each, child) for each in going for child in graph.children(each)]
    up = [(parent, each) for each in going for parent in graph.parents(each) if parent not in going]
    labels_by_heir = Counter[ClassId | None]()
    for class_id in going:
        if count := labelled.get(class_id, 0):
            labels_by_heir[label_heir(graph, class_id, going)] += count
    removed = labels_by_heir.pop(None, 0)
    return RemovalPreview(
        classes=len(going),
        edges=len(down) + len(up),
        children=len({child for _, child in down if child not in going}),
        labels_moved=sum(labels_by_heir.values()),
        labels_removed=removed,
        heir=next(iter(labels_by_heir)) if len(labels_by_heir) == 1 else None,
    )


def merge_preview(
    graph: CategoryGraph,
    labelled: Mapping[ClassId, int],
    class_ids: Sequence[ClassId],
    heir_id: ClassId,
) -> MergePreview:
    """Count what `ProjectClasses.merge` would do, on a copy of the graph.

    Raises:
        GraphError: it cannot be done.
    """
    after = graph.copy()
    group_edits.merge_classes(after, class_ids, heir_id)
    return MergePreview(
        classes_before=len(graph),
        classes_after=len(after),
        edges_after=after.edge_count,
        labels_before=labelled.get(heir_id, 0),
        labels_after=sum(labelled.get(each, 0) for each in {*class_ids, heir_id}),
        children_before=len(graph.children(heir_id)),
        children_after=len(after.children(heir_id)),
    )
