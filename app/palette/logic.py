"""The rows of a palette for a typed text: classes, a class to be made, commands. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.texts import short_path, tr
from app.wording import at_most
from engine.errors import GraphError

if TYPE_CHECKING:  # the window shows first
    from engine.graph.category_graph import CategoryGraph

ROW_LIMIT: Final = 40
MOST_PLACES: Final = 999


@dataclass(frozen=True)
class ClassChoice:
    """An existing class."""

    class_id: int


@dataclass(frozen=True)
class CreateChoice:
    """A class to be made; at the top level when `parent_id` is None."""

    name: str
    parent_id: int | None


@dataclass(frozen=True)
class CommandChoice:
    """An action of the window."""

    name: str


@dataclass(frozen=True)
class NameChoice:
    """A typed name."""

    name: str


@dataclass(frozen=True)
class OptionChoice:
    """An option, by its index."""

    place: int


Choice = ClassChoice | CreateChoice | CommandChoice | NameChoice | OptionChoice


@dataclass(frozen=True)
class PaletteRow:
    """One row of a palette."""

    title: str
    subtitle: str
    hint: str  # a key, a score or a count at the right end
    icon: str  # name of an icon of the theme
    choice: Choice | None  # None for a row that cannot be chosen


def class_ids_for(graph: CategoryGraph, text: str, *, first: Sequence[int] = ()) -> list[int]:
    """Classes for a typed text, best first.

    Args:
        graph: where to search.
        text: a part of a name, source id or synonym, or a path such as `Bird/Gull`; empty for `first` only.
        first: classes to offer before anything is typed (recent, likely); they also win among equal matches.
    """
    wanted = text.strip()
    known_first = [class_id for class_id in dict.fromkeys(first) if class_id in graph]
    if not wanted:
        return known_first or list(graph.roots())[:ROW_LIMIT]
    return graph.search(wanted, ROW_LIMIT, known_first)


def class_rows(graph: CategoryGraph, text: str, *, first: Sequence[int] = ()) -> list[PaletteRow]:
    """Behind a name in the person's language is the one in the project; behind others the id or synonym that fits."""
    return [
        PaletteRow(_title(graph, class_id, text), place_of(graph, class_id), "", "class", ClassChoice(class_id))
        for class_id in class_ids_for(graph, text, first=first)
    ]


def _title(graph: CategoryGraph, class_id: int, text: str) -> str:
    name, typed = graph.shown_name(class_id), text.rpartition("/")[2].strip()
    alias = graph.name_beside(class_id)
    if typed.casefold() not in f"{name} {alias}".casefold():
        alias = graph.attributes(class_id).name_with(typed)
    return f"{name} ({alias})" if alias else name


def create_choice(graph: CategoryGraph, text: str, *, under: int | None) -> CreateChoice | None:
    """The class that the text would make; None when it is empty, exists, or its parent does not.

    Args:
        graph: the classes.
        text: a name, or `Parent/Name`.
        under: the parent when the text names none.
    """
    *parent_names, name = [part.strip() for part in text.split("/")]
    if not name or any(character < " " for character in name):
        return None
    parent_id = under
    if any(parent_names):
        parent_id = _parent_named("/".join(part for part in parent_names if part), graph)
        if parent_id is None:
            return None
    siblings = graph.roots() if parent_id is None else graph.children(parent_id)
    is_there = any(graph.name(sibling) == name for sibling in siblings)
    return None if is_there else CreateChoice(name, parent_id)


def _parent_named(text: str, graph: CategoryGraph) -> int | None:
    try:
        return graph.find(text)
    except GraphError:
        return None


def place_of(graph: CategoryGraph, class_id: int) -> str:
    """The path above a class, `Animal / Bird`, with the number of further paths."""
    above = short_path(map(graph.shown_name, graph.paths(class_id)[0][:-1]))
    more = graph.path_count(class_id) - 1
    return f"{above}  +{at_most(more, MOST_PLACES)}" if more else above


def commands_for(rows: Iterable[PaletteRow], text: str) -> list[PaletteRow]:
    """Commands with all typed words in their title, those that begin with the text first."""
    words = text.casefold().split()
    fitting = [row for row in rows if all(word in row.title.casefold() for word in words)]
    return sorted(fitting, key=lambda row: not row.title.casefold().startswith(text.strip().casefold()))


def create_row(graph: CategoryGraph, choice: CreateChoice) -> PaletteRow:
    where = tr("top level") if choice.parent_id is None else tr("under %1", graph.shown_name(choice.parent_id))
    return PaletteRow(tr("Create “%1”", choice.name), where, "", "class_new", choice)
