"""Edits of a category graph as plain values: what an action did, what undo does back, what a mirror replays."""

from dataclasses import dataclass

from engine.graph.aliases import NO_ALIASES, Aliases


@dataclass(frozen=True, slots=True)
class ClassAdded:
    """A class without edges came into being."""

    class_id: int
    name: str
    aliases: Aliases = NO_ALIASES


@dataclass(frozen=True, slots=True)
class ClassRenamed:
    """A class has a new name; `old_name` is what its inverse needs, empty where nobody will invert it."""

    class_id: int
    name: str
    old_name: str = ""


@dataclass(frozen=True, slots=True)
class AliasesChanged:
    """A class has another source id or other synonyms; `old_aliases` is what its inverse needs."""

    class_id: int
    aliases: Aliases
    old_aliases: Aliases = NO_ALIASES


@dataclass(frozen=True, slots=True)
class ClassRemoved:
    """A class without edges went away; `name` is what its inverse needs, empty where nobody will invert it."""

    class_id: int
    name: str = ""
    aliases: Aliases = NO_ALIASES


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


GraphEdit = ClassAdded | ClassRenamed | AliasesChanged | ClassRemoved | EdgeAdded | EdgeRemoved
