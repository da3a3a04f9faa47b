"""Category graphs read from files: plain classes and edges between keys; skipped items."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from graphlib import CycleError as OrderError
from graphlib import TopologicalSorter
from typing import Any, TypeVar

from engine.errors import FormatError, InputError
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import IN_FILES, NO_ATTRIBUTES, ClassAttributes
from engine.graph.identities import NO_IDENTITY, distinct
from engine.graph.limits import DEEPEST_LEVEL, MOST_SYNONYMS
from engine.graph.names import clean_name
from engine.texts import Message, marked

Edge = tuple[str, str]  # (parent key, child key)
OURS = "urn:protoleaf:class:"
"""Prefix of ids in exports of classes without a source id; followed by the class id."""
_SHOWN = 40  # characters of skipped items


NAMED = 5  # examples of each reason


class LeftOutReason(StrEnum):
    """Why an item is skipped; its value is a text for users."""

    NO_NAME = marked("rows without a name")
    BAD_NAME = marked("names that no class can have")
    NO_PARENT = marked("classes whose parent is not in the list are at the top level")
    NO_ACCEPTED = marked("synonyms of a class that is not in the list")
    REPEATED = marked("rows with the id or place of an earlier one")
    SYNONYM = marked("synonyms that are too long or too many")
    ATTRIBUTE = marked("ids, ranks or notes that a class cannot have")
    DEPRECATED = marked("concepts that were withdrawn or have no name")
    NO_FILE = marked("missing tables of the archive")


@dataclass(frozen=True, slots=True)
class LeftOutItem:
    """A skipped item of a source."""

    reason: LeftOutReason
    name: str  # of a class or synonym, or a place such as "line 3 of birds.csv"


@dataclass(frozen=True)
class LeftOutGroup:
    """The skipped items of one reason."""

    reason: LeftOutReason
    count: int
    names: tuple[str, ...]  # examples


def left_out_groups(left_out: Iterable[LeftOutItem]) -> Sequence[LeftOutGroup]:
    """Group items by reason, in the order of the reasons."""
    items = list(left_out)
    counts = Counter(each.reason for each in items)
    return [
        LeftOutGroup(
            reason,
            counts[reason],
            tuple(each.name for each in items if each.reason is reason)[:NAMED],
        )
        for reason in LeftOutReason
        if reason in counts
    ]


def left_out_plain(groups: Iterable[LeftOutGroup]) -> list[dict[str, Any]]:
    """Groups as JSON objects."""
    return [
        {"reason": each.reason.value, "count": each.count, "names": list(each.names)}
        for each in groups
    ]


@dataclass(frozen=True, slots=True)
class ImportedClass:
    """A class in a source."""

    key: str  # unique in the source: an id, a path or a name
    name: str  # cleaned
    attributes: ClassAttributes = NO_ATTRIBUTES
    identity: str = NO_IDENTITY  # in our own lists


@dataclass(frozen=True)
class ImportedGraph:
    """The graph of a source."""

    classes: tuple[ImportedClass, ...]  # without duplicates
    edges: tuple[Edge, ...]  # without duplicates
    left_out: tuple[LeftOutItem, ...] = ()  # skipped items

    @cached_property
    def parent_keys(self) -> dict[str, list[str]]:
        """Keys of the parents of each class, in the order of the classes and edges."""
        parents: dict[str, list[str]] = {each.key: [] for each in self.classes}
        for parent, child in self.edges:
            parents[child].append(parent)
        return parents

    @cached_property
    def child_keys(self) -> dict[str, list[str]]:
        """Keys of the children of each class that has any."""
        return grouped(self.edges)

    @cached_property
    def parents_first(self) -> Sequence[str]:
        """Keys in topological order (Kahn's algorithm), without those on a cycle or below one."""
        missing = {key: len(parents) for key, parents in self.parent_keys.items()}
        ordered = [key for key, count in missing.items() if not count]
        for key in ordered:  # grows during the loop
            for child in self.child_keys.get(key, ()):
                missing[child] -= 1
                if not missing[child]:
                    ordered.append(child)
        return ordered

    @cached_property
    def identities(self) -> dict[str, str]:
        """Identity by key, if it is unique: a row that was copied by hand is another class."""
        known = distinct(each.identity for each in self.classes)
        return {each.key: each.identity for each in self.classes if each.identity in known}

    def cycle(self) -> tuple[str, ...]:
        """Keys along a cycle; see `find_cycle`."""
        return find_cycle(self.edges) if len(self.parents_first) < len(self.classes) else ()


def exported_graph(graph: CategoryGraph) -> ImportedGraph:
    """Export a project's graph, the oldest class first; the keys are the class ids."""
    return ImportedGraph(
        tuple(
            ImportedClass(str(each), graph.name(each), graph.attributes(each), graph.identity(each))
            for each in graph.classes()
        ),
        tuple((str(parent), str(child)) for parent, child in graph.edges()),
    )


def own_ids(graph: ImportedGraph, is_fit: Callable[[str], bool]) -> dict[str, str]:
    """Ids of classes in an export, by key: the source id if it is valid and unique, else `OURS`."""
    ids = {each.key: each.attributes.source_id for each in graph.classes}
    counts = Counter(ids.values())

    def is_own(text: str) -> bool:
        return bool(text) and counts[text] == 1 and is_fit(text) and not text.startswith(OURS)

    return {key: text if is_own(text) else f"{OURS}{key}" for key, text in ids.items()}


def clean_name_at(place: str, name: str) -> str:
    """Clean a class name.

    Args:
        place: such as "line 3 of birds.csv", for the error.

    Raises:
        FormatError: it is not a valid name.
    """
    try:
        return clean_name(name)
    except InputError as error:
        raise _error_at(place, error) from error


def attributes_at(place: str, name: str, **values: Any) -> ClassAttributes:
    """Clean the attributes of a class; see `clean_name_at`.

    Raises:
        FormatError: a source id or synonym is invalid, or there are too many.
    """
    given = {each.name: each.fit(values[each.name]) for each in IN_FILES if values.get(each.name)}
    try:
        return ClassAttributes(**given).cleaned(name) if given else NO_ATTRIBUTES
    except InputError as error:
        raise _error_at(place, error) from error


def fitting_attributes(
    place: str, name: str, left_out: list[LeftOutItem], **values: Any
) -> ClassAttributes:
    """Clean the attributes of a class; invalid ones are added to `left_out`."""
    try:
        return attributes_at(place, name, **values)
    except FormatError:
        pass
    fitting: dict[str, Any] = {}
    for attribute, value in values.items():
        is_list = isinstance(value, tuple)
        found = [
            each
            for each in (value if is_list else [value])
            if _fits(attribute, each, name, left_out)
        ]
        too_many = found[MOST_SYNONYMS:]
        left_out += [LeftOutItem(LeftOutReason.SYNONYM, each[:_SHOWN]) for each in too_many]
        fitting[attribute] = tuple(found[:MOST_SYNONYMS]) if is_list else found[0] if found else ""
    return attributes_at(place, name, **fitting)


def _fits(attribute: str, value: str, name: str, left_out: list[LeftOutItem]) -> bool:
    is_synonym = attribute == "synonyms"
    try:
        attributes_at(name, name, **{attribute: (value,) if is_synonym else value})
    except FormatError:
        left_out.append(
            LeftOutItem(
                LeftOutReason.SYNONYM if is_synonym else LeftOutReason.ATTRIBUTE,
                f"{name}: {value[:_SHOWN]}",
            )
        )
        return False
    return True


def _error_at(place: str, error: InputError) -> FormatError:
    return FormatError(
        "{place}: {problem}",
        expected=error.expected,
        found=error.found,
        remedy=error.remedy,
        place=place,
        problem=error.what,
    )


Node = TypeVar("Node", bound=Hashable)
Value = TypeVar("Value")


def grouped(pairs: Iterable[tuple[Node, Value]]) -> dict[Node, list[Value]]:
    """Group the second items of pairs by the first ones."""
    groups: dict[Node, list[Value]] = {}
    for first, second in pairs:
        groups.setdefault(first, []).append(second)
    return groups


def find_cycle(edges: Iterable[tuple[Node, Node]]) -> tuple[Node, ...]:
    """Nodes along a cycle from parent to child, with equal ends; () without a cycle."""
    sorter: TopologicalSorter[Node] = TopologicalSorter()
    for parent, child in edges:
        sorter.add(child, parent)
    try:
        sorter.prepare()
    except OrderError as error:
        return tuple(error.args[1])
    return ()


def levels_of(imported: ImportedGraph) -> dict[str, int]:
    """Level of each key: length of the longest path from a root."""
    level_of: dict[str, int] = {}
    for key in imported.parents_first:
        level_of[key] = max(
            (level_of[parent] + 1 for parent in imported.parent_keys[key]), default=0
        )
    return level_of


def disambiguated(
    names: Mapping[str, str],
    edges: Collection[Edge],
    source_name: str,
    class_of: Callable[[str, str], ImportedClass],
    *,
    id_of: Callable[[str], str] = str,
    left_out: Iterable[LeftOutItem] = (),
) -> ImportedGraph:
    """Make a checked graph, with the ids of siblings of the same name: "crane (n02012849)".

    Args:
        names: cleaned name by key.
        edges: of these keys.
        source_name: for errors.
        class_of: makes a class of its key and name.
        id_of: the id of a key for users.
        left_out: skipped items; `class_of` may add to it.

    Raises:
        FormatError: see `checked`; or a name with its id is invalid.
    """
    children = {child for _, child in edges}
    places = [*edges, *(("", key) for key in names if key not in children)]
    counts = Counter((parent, names[key]) for parent, key in places)
    clashing = {key for parent, key in places if counts[parent, names[key]] > 1}
    classes = [
        class_of(
            key, clean_name_at(source_name, f"{name} ({id_of(key)})") if key in clashing else name
        )
        for key, name in names.items()
    ]
    return checked(classes, edges, source_name, left_out)


def checked(
    classes: Iterable[ImportedClass],
    edges: Iterable[Edge],
    source_name: str,
    left_out: Iterable[LeftOutItem] = (),
) -> ImportedGraph:
    """Make a graph and validate it.

    Raises:
        FormatError: it has no class, a cycle, siblings of the same name, or is too deep.
    """
    imported = ImportedGraph(tuple(classes), tuple(edges), tuple(left_out))
    if not imported.classes:
        first = next(iter(imported.left_out), None)
        raise FormatError(
            "{source_name} contains no classes",
            found="{reason}: {place}" if first else "",
            remedy="choose a source with at least one class",
            source_name=source_name,
            reason=first and Message(first.reason.value),
            place=first and first.name,
        )
    names = {each.key: each.name for each in imported.classes}
    if cycle := imported.cycle():
        raise cycle_error(cycle, names, source_name)
    _check_sibling_names(imported, names, source_name)
    check_level(max(levels_of(imported).values()), source_name)
    return imported


def cycle_error(cycle: Iterable[str], names: Mapping[str, str], place: str) -> FormatError:
    """The error for a class that is its own ancestor.

    Args:
        cycle: keys along it; see `find_cycle`.
        names: of the classes, by key.
        place: of the edge that closes the cycle, or the name of the source.
    """
    return FormatError(
        "{source_name} makes a class its own ancestor",
        found=" > ".join(names[key] for key in cycle),
        remedy="remove one of these edges",
        source_name=place,
    )


def check_level(level: int, source_name: str) -> None:
    """Check the level of a class; a root has level 0.

    Raises:
        FormatError: it is deeper than `DEEPEST_LEVEL`.
    """
    if level > DEEPEST_LEVEL:
        raise FormatError(
            "{source_name} nests its classes too deeply",
            expected="at most {deepest:,} classes above one another",
            found="more",
            remedy="use only the part that you need",
            source_name=source_name,
            deepest=DEEPEST_LEVEL,
        )


def _check_sibling_names(imported: ImportedGraph, names: dict[str, str], source_name: str) -> None:
    key_at: dict[tuple[str | None, str], str] = {}
    top: list[str | None] = [None]
    for key, parents in imported.parent_keys.items():
        for parent in parents or top:
            other = key_at.setdefault((parent, names[key]), key)
            if other != key:
                below = {} if parent is None else {"parent": names[parent]}
                place = Message('under "{parent}"', below) if below else Message("at the top level")
                raise FormatError(
                    '{source_name} has two classes "{name}" {place}',
                    found="{other} and {key}",
                    remedy="rename one of them",
                    source_name=source_name,
                    name=names[key],
                    place=place,
                    other=other,
                    key=key,
                )
