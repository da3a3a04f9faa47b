"""Edits of a category graph as plain values: what an action did, what undo does back, what a mirror replays."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.graph.class_attributes import ATTRIBUTE, NO_ATTRIBUTES, ClassAttributes


@dataclass(frozen=True, slots=True)
class ClassAdded:
    """A class without edges came into being."""

    class_id: int
    name: str
    attributes: ClassAttributes = NO_ATTRIBUTES


@dataclass(frozen=True, slots=True)
class ClassRenamed:
    """A class has a new name; `old_name` is what its inverse needs, empty where nobody will invert it."""

    class_id: int
    name: str
    old_name: str = ""


@dataclass(frozen=True, slots=True)
class AttributesChanged:
    """Some attributes of a class have other values, by their names; `old_values` is what its inverse needs."""

    class_id: int
    values: Mapping[str, Any]
    old_values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClassRemoved:
    """A class without edges went away; `name` is what its inverse needs, empty where nobody will invert it."""

    class_id: int
    name: str = ""
    attributes: ClassAttributes = NO_ATTRIBUTES


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


def changes_look(edit: GraphEdit) -> bool:
    """Whether names, places or other names of classes change; notes, colours and bars are shown by others."""
    return not isinstance(edit, AttributesChanged) or any(ATTRIBUTE[name].is_name for name in edit.values)
