"""A category graph as a file holds it, before it meets a project: plain classes and edges between keys."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from graphlib import CycleError as OrderError
from graphlib import TopologicalSorter
from typing import Any, Final, TypeVar

from engine.errors import FormatError, InputError
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import IN_FILES, NO_ATTRIBUTES, ClassAttributes
from engine.graph.identities import NO_IDENTITY, distinct
from engine.graph.limits import DEEPEST_LEVEL, MOST_SYNONYMS
from engine.graph.names import clean_name
from engine.texts import Message, marked

Edge = tuple[str, str]  # (parent key, child key)
OURS: Final = "urn:protoleaf:class:"
"""Ids in exports of classes without a source id of their own; the number behind it is the class's own."""
_SHOWN: Final = 40  # characters of what is left out


NAMED: Final = 5  # of each kind, where they are shown


class LeftOutReason(StrEnum):
    """Why something is left out; its value is a sentence for people."""

    NO_NAME = marked("rows without a name")
    BAD_NAME = marked("names that no class can have")
    NO_PARENT = marked("classes whose parent is not in the list lie at the top")
    NO_ACCEPTED = marked("synonyms of a class that is not in the list")
    REPEATED = marked("rows with the id or place of an earlier one")
    SYNONYM = marked("synonyms that are too long or too many")
    ATTRIBUTE = marked("ids, ranks or notes that a class cannot have")
    DEPRECATED = marked("concepts that were withdrawn or have no name")
    NO_FILE = marked("tables of the archive that are not there")


@dataclass(frozen=True, slots=True)
class LeftOutItem:
    """One of them."""

    reason: LeftOutReason
    name: str  # of a class or synonym, or a place such as "line 3 of birds.csv"


@dataclass(frozen=True)
class LeftOutGroup:
    """All of one reason."""

    reason: LeftOutReason
    count: int
    names: tuple[str, ...]  # the first of them


def left_out_groups(left_out: Iterable[LeftOutItem]) -> Sequence[LeftOutGroup]:
    """By reason, in the order of the reasons."""
    each_one = list(left_out)
    counts = Counter(each.reason for each in each_one)
    return [
        LeftOutGroup(
            reason,
            counts[reason],
            tuple(each.name for each in each_one if each.reason is reason)[:NAMED],
        )
        for reason in LeftOutReason
        if reason in counts
    ]


def left_out_plain(groups: Iterable[LeftOutGroup]) -> list[dict[str, Any]]:
    """The same for a JSON file."""
    return [
        {"reason": each.reason.value, "count": each.count, "names": list(each.names)}
        for each in groups
    ]


@dataclass(frozen=True, slots=True)
class ImportedClass:
    """A class in a source."""

    key: str  # identifies the class in that source: an id, a path or a name
    name: str  # cleaned
    attributes: ClassAttributes = NO_ATTRIBUTES
    identity: str = NO_IDENTITY  # in our own lists, which may be of this project


@dataclass(frozen=True)
class ImportedGraph:
    """The graph of a source."""

    classes: tuple[ImportedClass, ...]  # every class once
    edges: tuple[Edge, ...]  # every edge once
    left_out: tuple[LeftOutItem, ...] = ()  # what of the source could not be taken over

    @cached_property
    def parent_keys(self) -> dict[str, list[str]]:
        """Keys of the parents of each class, in the order of the classes and edges."""
        parents: dict[str, list[str]] = {each.key: [] for each in self.classes}
        for parent, child in self.edges:
            parents[child].append(parent)
        return parents

    @cached_property
    def child_keys(self) -> dict[str, list[str]]:
        """Keys of the children of each class that has some."""
        return grouped(self.edges)

    @cached_property
    def parents_first(self) -> Sequence[str]:
        """Keys in topological order (Kahn's algorithm), without those on a cycle or below one."""
        waiting_for = {key: len(parents) for key, parents in self.parent_keys.items()}
        ordered = [key for key, count in waiting_for.items() if not count]
        for key in ordered:  # grows while it is walked
            for child in self.child_keys.get(key, ()):
                waiting_for[child] -= 1
                if not waiting_for[child]:
                    ordered.append(child)
        return ordered

    @cached_property
    def identities(self) -> dict[str, str]:
        """Identity of each key that has one of its own: a row that was copied by hand is another class."""
        known = distinct(each.identity for each in self.classes)
        return {each.key: each.identity for each in self.classes if each.identity in known}

    def cycle(self) -> tuple[str, ...]:
        """Keys along a cycle; see `find_cycle`."""
        return find_cycle(self.edges) if len(self.parents_first) < len(self.classes) else ()


def exported_graph(graph: CategoryGraph) -> ImportedGraph:
    """A project's graph, the oldest class first; the keys are the class ids."""
    return ImportedGraph(
        tuple(
            ImportedClass(str(each), graph.name(each), graph.attributes(each), graph.identity(each))
            for each in graph.classes()
        ),
        tuple((str(parent), str(child)) for parent, child in graph.edges()),
    )


def own_ids(graph: ImportedGraph, is_fit: Callable[[str], bool]) -> dict[str, str]:
    """The id of each class by its key in an export: its source id if that fits and no other class has it."""
    ids = {each.key: each.attributes.source_id for each in graph.classes}
    counts = Counter(ids.values())
    own = {
        each
        for each, count in counts.items()
        if each and count == 1 and is_fit(each) and not each.startswith(OURS)
    }
    return {
        key: source_id if source_id in own else f"{OURS}{key}" for key, source_id in ids.items()
    }


def clean_name_at(place: str, name: str) -> str:
    """Clean a class name.

    Args:
        place: such as "line 3 of birds.csv", for the error.

    Raises:
        FormatError: it cannot be the name of a class.
    """
    try:
        return clean_name(name)
    except InputError as error:
        raise _error_at(place, error) from error


def attributes_at(place: str, name: str, **values: Any) -> ClassAttributes:
    """Cleaned attributes of the class of this name; see `clean_name_at`.

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
    """Attributes as the class of this name can have them; what it cannot is added to `left_out`."""
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
    """Second parts by the first ones, in their order."""
    groups: dict[Node, list[Value]] = {}
    for first, second in pairs:
        groups.setdefault(first, []).append(second)
    return groups


def find_cycle(edges: Iterable[tuple[Node, Node]]) -> tuple[Node, ...]:
    """Nodes along a cycle from parent to child, the first and the last one equal; () without a cycle."""
    sorter: TopologicalSorter[Node] = TopologicalSorter()
    for parent, child in edges:
        sorter.add(child, parent)
    try:
        sorter.prepare()
    except OrderError as error:
        return tuple(error.args[1])
    return ()


def levels_of(imported: ImportedGraph) -> dict[str, int]:
    """Level of each key: its longest path from a root."""
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
    """A checked graph in which siblings of one name have their id behind it, as in "crane (n02012849)".

    Args:
        names: clean name of each class by its key.
        edges: of these keys.
        source_name: for errors.
        class_of: makes a class from its key and its name.
        id_of: the id of a key as people know it.
        left_out: what of the source could not be taken over; `class_of` may add to it.

    Raises:
        FormatError: see `checked`; or a name with its id cannot be the name of a class.
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
    """A graph that a project can take over, with what of the source was left out.

    Raises:
        FormatError: it has no class, a cycle, two classes of one name in one place, or is too deep.
    """
    imported = ImportedGraph(tuple(classes), tuple(edges), tuple(left_out))
    if not imported.classes:
        first = next(iter(imported.left_out), None)
        raise FormatError(
            "{source_name} holds no classes",
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
    """The refusal of a class that is its own ancestor.

    Args:
        cycle: keys along it; see `find_cycle`.
        names: of the classes, by key.
        place: of the edge that closes it, or the name of the source.
    """
    return FormatError(
        "{source_name} makes a class its own ancestor",
        found=" > ".join(names[key] for key in cycle),
        remedy="cut one of these edges",
        source_name=place,
    )


def check_level(level: int, source_name: str) -> None:
    """Refuse a class that lies too deep for screens and paths; a root has level 0.

    Raises:
        FormatError: it lies below `DEEPEST_LEVEL`.
    """
    if level > DEEPEST_LEVEL:
        raise FormatError(
            "{source_name} nests its classes too deeply",
            expected="at most {deepest:,} classes above one another",
            found="more",
            remedy="take the part of it that you need",
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
