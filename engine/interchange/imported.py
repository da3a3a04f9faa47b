"""A category graph as a file tells it, before it meets a project: plain classes and edges between keys."""

from collections.abc import Iterable
from dataclasses import dataclass
from graphlib import CycleError as OrderError
from graphlib import TopologicalSorter
from typing import Any

from engine.errors import FormatError, InputError
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import IN_FILES, NO_ATTRIBUTES, ClassAttributes
from engine.graph.limits import DEEPEST_LEVEL
from engine.graph.names import clean_name


@dataclass(frozen=True, slots=True)
class ImportedClass:
    """A class in a source."""

    key: str  # what tells it from the other classes of that source: an id, a path or a name
    name: str  # its clean name
    attributes: ClassAttributes = NO_ATTRIBUTES  # what else the source says of it


@dataclass(frozen=True)
class ImportedGraph:
    """What a source holds."""

    classes: tuple[ImportedClass, ...]  # every class once
    edges: tuple[tuple[str, str], ...]  # (parent key, child key), every edge once

    def parent_keys(self) -> dict[str, list[str]]:
        """Keys of the parents of each class, in the order of the classes and edges."""
        parents: dict[str, list[str]] = {each.key: [] for each in self.classes}
        for parent, child in self.edges:
            parents[child].append(parent)
        return parents


def exported_graph(graph: CategoryGraph) -> ImportedGraph:
    """A project's graph as a file would tell it: what every format is written from.

    Returns:
        Every class, the oldest first, and every edge; the key is the number of the class.
    """
    return ImportedGraph(
        tuple(ImportedClass(str(each), graph.name(each), graph.attributes(each)) for each in graph.classes()),
        tuple((str(parent), str(child)) for parent, child in graph.edges()),
    )


def clean_name_at(place: str, name: str) -> str:
    """Clean a class name, with the place it comes from in the error.

    Args:
        place: such as "line 3 of birds.csv".
        name: as it stands there.

    Raises:
        FormatError: it cannot be the name of a class.
    """
    try:
        return clean_name(name)
    except InputError as error:
        raise _error_at(place, error) from error


def attributes_at(place: str, name: str, **values: Any) -> ClassAttributes:
    """What a source says of the class of this name, cleaned, with the place it comes from in the error.

    Args:
        place: such as "line 3 of birds.csv".
        name: of the class.
        values: by attribute, as they stand there.

    Raises:
        FormatError: a source id or synonym cannot be one, or there are too many.
    """
    given = {each.name: each.fit(values[each.name]) for each in IN_FILES if values.get(each.name)}
    try:
        return ClassAttributes(**given).cleaned(name) if given else NO_ATTRIBUTES
    except InputError as error:
        raise _error_at(place, error) from error


def _error_at(place: str, error: InputError) -> FormatError:
    return FormatError(
        "{place}: {problem}",
        expected=error.expected,
        found=error.found,
        remedy=error.remedy,
        place=place,
        problem=error.what,
    )


def find_cycle(edges: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Find keys along which edges lead back to where they began.

    Args:
        edges: (parent key, child key).

    Returns:
        Keys from parent to child, the first and the last one equal; empty when there is no cycle.
    """
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for parent, child in edges:
        sorter.add(child, parent)
    try:
        sorter.prepare()
    except OrderError as error:
        return tuple(error.args[1])
    return ()


def parents_first(imported: ImportedGraph) -> tuple[str, ...]:
    """Order the keys so that each comes after those of all its parents.

    Returns:
        Every key once, but for those on a cycle or below one: they have no place in such an order.
    """
    waiting_for = {key: len(parents) for key, parents in imported.parent_keys().items()}
    children: dict[str, list[str]] = {}
    for parent, child in imported.edges:
        children.setdefault(parent, []).append(child)
    ordered = [key for key, count in waiting_for.items() if not count]
    for key in ordered:  # grows while it is walked
        for child in children.get(key, ()):
            waiting_for[child] -= 1
            if not waiting_for[child]:
                ordered.append(child)
    return tuple(ordered)


def checked(imported: ImportedGraph, source_name: str) -> ImportedGraph:
    """Make sure that a source holds a category graph.

    Args:
        imported: what was read.
        source_name: the file's or folder's name, for the error.

    Returns:
        The same graph.

    Raises:
        FormatError: it holds no class, a cycle, two classes of one name in one place, or is too deep.
    """
    if not imported.classes:
        raise FormatError(
            "{source_name} holds no classes", remedy="choose a source with at least one class", source_name=source_name
        )
    names = {each.key: each.name for each in imported.classes}
    ordered = parents_first(imported)
    if len(ordered) < len(names):
        path = " > ".join(names[key] for key in find_cycle(imported.edges))
        raise FormatError(
            "{source_name} makes a class its own ancestor",
            found=path,
            remedy="cut one of these edges",
            source_name=source_name,
        )
    _check_sibling_names(imported, names, source_name)
    _check_depth(imported, ordered, source_name)
    return imported


def check_level(level: int, source_name: str) -> None:
    """Refuse a class that lies deeper than any taxonomy: screens and paths are not made for it.

    Args:
        level: of the class; a root has level 0.
        source_name: the file's or folder's name, for the error.

    Raises:
        FormatError: it lies too deep.
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


def _check_depth(imported: ImportedGraph, ordered: Iterable[str], source_name: str) -> None:
    parent_keys, level_of = imported.parent_keys(), dict[str, int]()
    for key in ordered:
        level_of[key] = max((level_of[parent] + 1 for parent in parent_keys[key]), default=0)
        check_level(level_of[key], source_name)


def _check_sibling_names(imported: ImportedGraph, names: dict[str, str], source_name: str) -> None:
    key_at: dict[tuple[str | None, str], str] = {}
    top: list[str | None] = [None]
    for key, parents in imported.parent_keys().items():
        for parent in parents or top:
            other = key_at.setdefault((parent, names[key]), key)
            if other != key:
                place = "at the top level" if parent is None else f'under "{names[parent]}"'
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
