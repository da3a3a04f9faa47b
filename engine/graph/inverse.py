"""The way back: edits that undo edits."""

from collections.abc import Sequence

from engine.graph.edits import (
    AttributesChanged,
    ClassAdded,
    ClassRemoved,
    ClassRenamed,
    EdgeAdded,
    EdgeRemoved,
    GraphEdit,
)
from engine.graph.structure import GraphStructure


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


def with_what_was(edit: GraphEdit, structure: GraphStructure) -> GraphEdit:
    """Complete an edit that is about to be made, so that it can be inverted.

    Args:
        edit: may leave out the earlier name and attributes.
        structure: as it is before the edit.

    Returns:
        The same edit with what was there before.
    """
    match edit:
        case ClassRenamed(class_id, name):
            return ClassRenamed(class_id, name, structure.names[class_id])
        case AttributesChanged(class_id, values):
            own = structure.attributes.of(class_id)
            return AttributesChanged(class_id, values, {name: getattr(own, name) for name in values})
        case ClassRemoved(class_id):
            return ClassRemoved(class_id, structure.names[class_id], structure.attributes.of(class_id))
        case _:
            return edit


def _opposite(edit: GraphEdit) -> GraphEdit:
    match edit:
        case ClassAdded(class_id, name, attributes):
            return ClassRemoved(class_id, name, attributes)
        case ClassRemoved(class_id, name, attributes):
            return ClassAdded(class_id, _known(name), attributes)
        case AttributesChanged(class_id, values, old_values):
            return AttributesChanged(class_id, old_values, values)
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
