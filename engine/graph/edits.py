"""Edits of a category graph as plain values: recorded by actions, inverted by undo, replayed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.graph.class_attributes import ATTRIBUTE, NO_ATTRIBUTES, ClassAttributes
from engine.graph.identities import NO_IDENTITY


@dataclass(frozen=True, slots=True)
class ClassAdded:
    """A class without edges came into being."""

    class_id: int
    name: str
    attributes: ClassAttributes = NO_ATTRIBUTES
    identity: str = field(default=NO_IDENTITY, compare=False)


@dataclass(frozen=True, slots=True)
class ClassRenamed:
    """A class has a new name; its inverse needs `old_name`."""

    class_id: int
    name: str
    old_name: str = ""


@dataclass(frozen=True, slots=True)
class AttributesChanged:
    """Attributes of a class changed, by name; its inverse needs `old_values`."""

    class_id: int
    values: Mapping[str, Any]
    old_values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClassRemoved:
    """A class without edges was removed; its inverse needs `name`."""

    class_id: int
    name: str = ""
    attributes: ClassAttributes = NO_ATTRIBUTES
    identity: str = field(default=NO_IDENTITY, compare=False)


@dataclass(frozen=True, slots=True)
class EdgeAdded:
    """A parent and a child were linked."""

    parent_id: int
    child_id: int


@dataclass(frozen=True, slots=True)
class EdgeRemoved:
    """A parent and a child were unlinked."""

    parent_id: int
    child_id: int


GraphEdit = ClassAdded | ClassRenamed | AttributesChanged | ClassRemoved | EdgeAdded | EdgeRemoved


def inverse(edits: Sequence[GraphEdit]) -> tuple[GraphEdit, ...]:
    """The opposite edits, last one first.

    Raises:
        ValueError: a rename or removal lacks the name that was there before.
    """
    return tuple(_opposite(edit) for edit in reversed(edits))


def _opposite(edit: GraphEdit) -> GraphEdit:
    match edit:
        case ClassAdded(class_id, name, attributes, identity):
            return ClassRemoved(class_id, name, attributes, identity)
        case ClassRemoved(class_id, name, attributes, identity):
            return ClassAdded(class_id, _known(name), attributes, identity)
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


def changes_look(edit: GraphEdit) -> bool:
    """Whether an edit changes names, positions or synonyms, and so lists and drawings."""
    return not isinstance(edit, AttributesChanged) or any(
        ATTRIBUTE[name].is_name for name in edit.values
    )
