"""Which class of a project a foreign label names: by path, by name or synonym, and by source id, each for itself.

Ids are compared with ids only. What they say can stop a label: where path or name say one class and the id another, it
is of neither. An id alone gives the class only where both ids are known to be of one source.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.names import join_path, split_path
from engine.interchange.versions.source_version import SourceVersion

Names = tuple[str, ...]

_NAMES_ITS_SOURCE: Final = re.compile(r"n\d{8}|https?://\S+|urn:\S+", re.IGNORECASE)
"""WordNet's ids, and addresses: everywhere the same thing. "17" is something else in each list."""


@dataclass(frozen=True)
class ClassReading:
    """What a label's class says of itself."""

    class_id: ClassId | None = None  # the class; None where there is none, or where it is not clear which
    named: tuple[ClassId, ...] = ()  # what path, name or synonym say: one class, several, or none
    identified: tuple[ClassId, ...] = ()  # what the source id says

    @property
    def is_conflict(self) -> bool:
        """Whether something is found, and it is not one class."""
        return self.class_id is None and bool(self.named or self.identified)

    @property
    def candidates(self) -> tuple[ClassId, ...]:
        """The class, or what it may be."""
        return self.named or self.identified if self.class_id is None else (self.class_id,)


def _none_known() -> Iterable[SourceVersion]:
    return ()


@final
class ClassReader:
    """Reads classes, each once.

    Args:
        graph: the project's.
        known: the taxonomies that the project remembers; asked where an id stands alone.
    """

    def __init__(self, graph: CategoryGraph, known: Callable[[], Iterable[SourceVersion]] = _none_known) -> None:
        self._graph = graph
        self._known = known
        self._read: dict[tuple[Names, str], ClassReading] = {}

    def read(self, names: Names, source_id: str = "") -> ClassReading:
        """The class that a label names.

        Args:
            names: its path from the top down, the end of it, or its name alone.
            source_id: its id in the taxonomy that it came from; "" where the file has none.
        """
        key = names, source_id.strip()
        if key not in self._read:
            self._read[key] = self._reading(*key)
        return self._read[key]

    def _reading(self, names: Names, source_id: str) -> ClassReading:
        named = self._named(names)
        if not named and not source_id and len(names) == 1 and _NAMES_ITS_SOURCE.fullmatch(names[0]):
            source_id = names[0]  # folders of ImageNet are called by their ids
        identified = self._by_source_id.get(source_id, ()) if source_id else ()
        return ClassReading(self._agreed(named, identified, names, source_id), named, identified)

    def _agreed(
        self, named: tuple[ClassId, ...], identified: tuple[ClassId, ...], names: Names, source_id: str
    ) -> ClassId | None:
        both = [each for each in named if each in identified] if named and identified else [*named, *identified]
        if len(both) != 1:
            return None
        is_by_name = len(named) == 1
        return both[0] if is_by_name or self._is_same_source(both[0], names, source_id) else None

    def _named(self, names: Names) -> tuple[ClassId, ...]:
        """The class at this path; else those whose path ends so; else those with this synonym. Ids are no names."""
        text = join_path(names)
        written = split_path(text)
        found = tuple(
            each
            for each in self._graph.fitting(text)  # which asks ids, too
            if self._graph.name(each) == text or self._ends_as(each, written)
        )
        return found or (self._with_synonym(names[0]) if len(names) == 1 else ())

    def _ends_as(self, class_id: ClassId, names: Names) -> bool:
        """Whether a path to the class ends with these names."""
        classes = {class_id}
        for place, name in enumerate(reversed(names)):
            above = classes if place == 0 else {parent for each in classes for parent in self._graph.parents(each)}
            classes = {each for each in above if self._graph.name(each) == name}
        return bool(classes)

    def _with_synonym(self, name: str) -> tuple[ClassId, ...]:
        cleaned = "".join(split_path(join_path((name,))))
        return tuple(each for each in self._graph.fitting(cleaned) if cleaned in self._graph.attributes(each).synonyms)

    def _is_same_source(self, class_id: ClassId, names: Names, source_id: str) -> bool:
        """Whether the id says so itself, or a remembered taxonomy gave the class this id and this name."""
        return bool(_NAMES_ITS_SOURCE.fullmatch(source_id)) or (class_id, source_id, names[-1]) in self._remembered

    @cached_property
    def _by_source_id(self) -> dict[str, tuple[ClassId, ...]]:
        found: dict[str, tuple[ClassId, ...]] = {}
        for class_id in self._graph.classes():
            if source_id := self._graph.attributes(class_id).source_id:
                found[source_id] = (*found.get(source_id, ()), class_id)
        return found

    @cached_property
    def _remembered(self) -> frozenset[tuple[ClassId, str, str]]:
        return frozenset(
            (class_id, each.source_id, each.name)
            for version in self._known()
            for class_id, each in version.classes.items()
        )
