"""The way back: edits that undo edits."""

from collections.abc import Mapping, Sequence

from engine.graph.edits import ClassAdded, ClassRemoved, ClassRenamed, EdgeAdded, EdgeRemoved, GraphEdit


def inverse(edits: Sequence[GraphEdit]) -> tuple[GraphEdit, ...]:
    """Undo a sequence of edits.

    Args:
        edits: in the order they were made.

    Returns:
        The opposite edits, last one first.

    Raises:
        ValueError: a rename or removal does not say the name that was there before.
    """
    return tuple(_opposite(edit) for edit in reversed(edits))


def with_old_name(edit: GraphEdit, names: Mapping[int, str]) -> GraphEdit:
    """Complete an edit that is about to be made, so that it can be inverted.

    Args:
        edit: a rename or removal may leave the earlier name empty.
        names: name of each class before the edit.

    Returns:
        The same edit with the earlier name.
    """
    match edit:
        case ClassRenamed(class_id, name):
            return ClassRenamed(class_id, name, names[class_id])
        case ClassRemoved(class_id):
            return ClassRemoved(class_id, names[class_id])
        case _:
            return edit


def _opposite(edit: GraphEdit) -> GraphEdit:
    match edit:
        case ClassAdded(class_id, name):
            return ClassRemoved(class_id, name)
        case ClassRemoved(class_id, name):
            return ClassAdded(class_id, _known(name))
        case ClassRenamed(class_id, name, old_name):
            return ClassRenamed(class_id, _known(old_name), name)
        case EdgeAdded(parent_id, child_id):
            return EdgeRemoved(parent_id, child_id)
        case EdgeRemoved(parent_id, child_id):
            return EdgeAdded(parent_id, child_id)


def _known(name: str) -> str:
    if not name:
        raise ValueError("an edit without the earlier name cannot be inverted")
    return name
