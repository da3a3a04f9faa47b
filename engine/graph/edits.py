"""Edits of a category graph as plain values: what an action did, what undo does back, what a mirror replays."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClassAdded:
    """A class without edges came into being."""

    class_id: int
    name: str


@dataclass(frozen=True, slots=True)
class ClassRenamed:
    """A class has a new name; `old_name` is what its inverse needs, empty where nobody will invert it."""

    class_id: int
    name: str
    old_name: str = ""


@dataclass(frozen=True, slots=True)
class ClassRemoved:
    """A class without edges went away; `name` is what its inverse needs, empty where nobody will invert it."""

    class_id: int
    name: str = ""


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


GraphEdit = ClassAdded | ClassRenamed | ClassRemoved | EdgeAdded | EdgeRemoved
