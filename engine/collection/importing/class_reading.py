"""Find the class of a project that a foreign label names: by path, name, synonym or source id.

Ids are compared with ids only. If path or name mean one class and the id another, the label is of
neither. An id alone is enough only if both ids are known to be of one source. Names that differ
only by capitals, blanks, underscores or composed accents match if there is no exact match.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.limits import DEEPEST_LEVEL
from engine.graph.names import clean_path, join_path, loose_name, split_path
from engine.interchange.versions.source_version import SourceVersion
from engine.project import Project

Names = tuple[str, ...]

# WordNet's ids, and addresses: globally unique, unlike "17"
NAMES_ITS_SOURCE = re.compile(r"n\d{8}|https?://\S+|urn:\S+", re.IGNORECASE)


@dataclass(frozen=True)
class ClassReading:
    """The class that a label names."""

    class_id: ClassId | None = None  # None if there is none, or it is ambiguous
    named: tuple[ClassId, ...] = ()  # by path, name or synonym
    identified: tuple[ClassId, ...] = ()  # by the source id
    is_loosely_spelled: bool = False  # whether the class's name differs by capitals and the like

    @property
    def is_conflict(self) -> bool:
        return self.class_id is None and bool(self.named or self.identified)

    @property
    def candidates(self) -> tuple[ClassId, ...]:
        return self.named or self.identified if self.class_id is None else (self.class_id,)


@final
class ClassReader:
    """Finds classes, with a cache; imported taxonomies are read only for a label without a name."""

    def __init__(
        self, graph: CategoryGraph, known: Callable[[], Iterable[SourceVersion]] = tuple
    ) -> None:
        self._graph = graph
        self._known = known
        self._read: dict[tuple[Names, str, Names, bool], ClassReading] = {}

    def read(
        self,
        names: Names,
        source_id: str = "",
        other_names: Names = (),
        *,
        ignores_synonyms: bool = False,
    ) -> ClassReading:
        """Find the class of a label by its path, the end of it, or its name, and source id.

        Args:
            names: path of the class.
            source_id: "" for none.
            other_names: alternative names, if no class has this path; the first match counts.
            ignores_synonyms: whether to ignore synonyms: in WordNet a stranger is an "unknown".
        """
        key = names, source_id.strip(), other_names, ignores_synonyms
        if key not in self._read:
            readings = (
                self._reading(each, an_id, ignores_synonyms)
                for each, an_id in ((names, key[1]), *(((name,), "") for name in other_names))
            )
            self._read[key] = next((each for each in readings if each.candidates), ClassReading())
        return self._read[key]

    def known_as(self, name: str) -> list[ClassId]:
        """Classes of a name, path, source id or synonym; else the one loosely spelled so."""
        fitting = self._graph.fitting(name)
        other = self._loosely_spelled((name,)) if not fitting else ()
        return list(other) if len(other) == 1 else fitting

    def _reading(self, names: Names, source_id: str, ignores_synonyms: bool) -> ClassReading:
        exact = self._named(names)
        named = exact or self._loosely_spelled(names)
        if ignores_synonyms:
            named = tuple(
                each
                for each in named
                if loose_name(self._graph.name(each)) == loose_name(names[-1])
            )
        if not named and not source_id and len(names) == 1 and NAMES_ITS_SOURCE.fullmatch(names[0]):
            source_id = names[0]  # folders of ImageNet are called by their ids
        identified = self._by_source_id.get(source_id, ()) if source_id else ()
        is_loosely_spelled = bool(named) and not exact
        agreed = self._agreed(named, identified, names, source_id)
        return ClassReading(agreed, named, identified, is_loosely_spelled)

    def _agreed(
        self,
        named: tuple[ClassId, ...],
        identified: tuple[ClassId, ...],
        names: Names,
        source_id: str,
    ) -> ClassId | None:
        both = (
            [each for each in named if each in identified]
            if named and identified
            else [*named, *identified]
        )
        if len(both) != 1:
            return None
        is_unique = len(named) == 1 or bool(NAMES_ITS_SOURCE.fullmatch(source_id))
        return both[0] if is_unique or (both[0], source_id, names[-1]) in self._remembered else None

    def _named(self, names: Names) -> tuple[ClassId, ...]:
        """The class at this path; else those whose path ends so; else those with this synonym."""
        text = join_path(names)
        written = split_path(text)
        found = tuple(
            each
            for each in self._graph.fitting(text)  # which compares ids, too
            if self._graph.name(each) == text or self._ends_as(each, written)
        )
        return found or (self._with_synonym(names[0]) if len(names) == 1 else ())

    def _ends_as(
        self, class_id: ClassId, names: Names, compared: Callable[[str], str] = str
    ) -> bool:
        classes = {class_id}
        for place, name in enumerate(reversed(names)):
            above = (
                classes
                if place == 0
                else {parent for each in classes for parent in self._graph.parents(each)}
            )
            classes = {each for each in above if compared(self._graph.name(each)) == compared(name)}
        return bool(classes)

    def _loosely_spelled(self, names: Names) -> tuple[ClassId, ...]:
        """Classes whose path ends so, or with this name or synonym, loosely spelled."""
        found = self._loosely_named.get(loose_name(names[-1]), {})
        return tuple(
            each for each in found if len(names) == 1 or self._ends_as(each, names, loose_name)
        )

    def _with_synonym(self, name: str) -> tuple[ClassId, ...]:
        cleaned = "".join(split_path(join_path((name,))))
        return tuple(
            each
            for each in self._graph.fitting(cleaned)
            if cleaned in self._graph.attributes(each).other_names
        )

    @cached_property
    def _loosely_named(self) -> dict[str, dict[ClassId, None]]:
        found: dict[str, dict[ClassId, None]] = defaultdict(dict)
        for class_id in self._graph.classes():
            for text in (self._graph.name(class_id), *self._graph.attributes(class_id).other_names):
                found[loose_name(text)][class_id] = None
        return found

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


@final
class PathSpelling:
    """Spells new paths like existing classes, so that no classes differ only by capitals."""

    def __init__(self, graph: CategoryGraph) -> None:
        self._places: dict[tuple[Hashable, str], dict[str, Hashable]] = defaultdict(dict)
        for class_id in graph.classes():
            name = graph.name(class_id)
            for parent_id in graph.parents(class_id) or (None,):
                self._places[parent_id, loose_name(name)][name] = class_id

    def spelled(
        self, names: Iterable[str], under: ClassId | None = None, *, keeps_new: bool = False
    ) -> Names:
        """Spell the names of a path below a class, or from the top.

        Args:
            names: of the classes, from the top down.
            under: the class; None for the top.
            keeps_new: whether two spellings of new paths are two classes, as in our exports.
        """
        place: Hashable = under
        spelled = list[str]()
        for name in names:
            known = self._places[place, loose_name(name)]
            others = [
                each for each, at in known.items() if not (keeps_new and isinstance(at, tuple))
            ]
            spelled.append(name if name in known or len(others) != 1 else others[0])
            place = known.setdefault(spelled[-1], (place, spelled[-1]))
        return tuple(spelled)


class KeywordMeaning(NamedTuple):
    """The class of a keyword."""

    class_id: int | None = None  # the deepest class of its path, if any
    missing: Names = ()  # path of the class to make of it; () for a known class or a flat keyword
    several: Names = ()  # paths of classes, if it is ambiguous


@final
class KeywordClasses:
    """Finds classes of photo keywords, which often are about something else."""

    def __init__(self, graph: CategoryGraph) -> None:
        self._graph = graph
        self._reader = ClassReader(graph)
        self._known: dict[Names, KeywordMeaning] = {}

    def meaning(self, names: Names) -> KeywordMeaning:
        """Find the class of a keyword, from its deepest name up."""
        if names not in self._known:
            # A longer one names no class, and looking up each part of it would take long.
            self._known[names] = (
                self._find(names)
                if len(names) <= DEEPEST_LEVEL + 1
                else KeywordMeaning(missing=names)
            )
        return self._known[names]

    def _find(self, names: Names) -> KeywordMeaning:
        for depth in range(len(names), 0, -1):
            named = names[:depth]  # by this path or the end of it; else by this name or synonym
            found = self._reader.read(named).candidates or self._reader.read(named[-1:]).candidates
            if len(found) > 1:
                return KeywordMeaning(several=tuple(map(self._graph.path_text, found)))
            if found:
                rest, path = names[depth:], self._graph.paths(found[0])[0]
                return KeywordMeaning(
                    found[0], (*map(self._graph.name, path), *rest) if rest else ()
                )
        return KeywordMeaning(missing=names if len(names) > 1 else ())


def make_classes(project: Project, paths: Iterable[tuple[str, ...]]) -> int:
    """Make missing classes of these paths, with their parents; return their number."""
    graph, before = project.classes.graph, len(project.classes.graph)
    for names in paths:
        parent: int | None = None
        for name in clean_path(names):
            child = graph.child_named(parent, name)
            parent = (
                project.classes.add(name, () if parent is None else (parent,))[1]
                if child is None
                else child
            )
    return len(graph) - before
