"""Rows of the palette for a typed text: classes, a new class, commands. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from app.texts import fill, marked, short_path, shortened, tr
from app.wording import at_most
from engine.errors import GraphError
from engine.project.actions import action
from engine.search_folding import folded

if TYPE_CHECKING:  # deferred so that the window opens sooner
    from engine.graph.category_graph import CategoryGraph
    from engine.project import Change, Project

ROW_LIMIT = 40
MOST_PLACES = 999
NEAR_CLASSES = 4  # suggestions for a word that is not a class; chosen: readable at a glance
LABEL_AS = marked("Label as {1}")
SHOW_CLASS = marked("Show {1}")


@dataclass(frozen=True)
class CreateChoice:
    """A new class; at the top level when `parent_id` is None."""

    name: str
    parent_id: int | None

    @property
    def parents(self) -> tuple[int, ...]:
        return () if self.parent_id is None else (self.parent_id,)


@dataclass(frozen=True)
class AskChoice:
    """A new class in a locked class list: the question is shown first."""

    question: str
    answers: Callable[[], Sequence[PaletteRow]] = field(compare=False)


NO_CLASS_ADDED = ""  # the answer that leaves a class list as it is


@dataclass(frozen=True)
class PaletteRow:
    """One row of a palette; `choice` is whatever its callback understands, such as a class id."""

    title: str
    subtitle: str
    hint: str  # a shortcut, a score or a count at the trailing end
    icon: str  # icon name of the theme
    choice: object  # None for a row that cannot be chosen
    act: str = ""  # effect of Enter, where it is not the title

    @property
    def act_text(self) -> str:
        return self.act or self.title


KeyText = Callable[[int], str]


def no_key_text(_digit: int) -> str:
    return ""


def class_ids_for(graph: CategoryGraph, text: str, *, first: Sequence[int] = ()) -> list[int]:
    """Find classes for a typed text, best match first.

    Args:
        graph: where to search.
        text: part of a name, source id or synonym, or a path such as `Bird/Gull`; where empty, only
            `first` is returned.
        first: recent or likely classes, suggested before anything is typed and preferred among
            equal matches.
    """
    wanted = text.strip()
    known_first = [class_id for class_id in dict.fromkeys(first) if class_id in graph]
    if not wanted:
        return known_first or list(graph.roots())[:ROW_LIMIT]
    return graph.search(wanted, ROW_LIMIT, known_first)


def class_rows(
    graph: CategoryGraph,
    text: str,
    *,
    first: Sequence[int] = (),
    act: str = LABEL_AS,
    key_text: KeyText = no_key_text,
) -> list[PaletteRow]:
    """Rows for the classes that match a text.

    A name in the user's language is followed by the project's name; other names by the id or
    synonym that matched.

    Args:
        act: effect of choosing a class, marked for translation, with {1} for its name.
        key_text: returns the shortcut of a class with a digit as its key.
    """
    found = class_ids_for(graph, text, first=first)
    return [_class_row(graph, each, text, act, key_text(graph.key_of(each))) for each in found]


def _class_row(
    graph: CategoryGraph, class_id: int, text: str, act: str, key: str = ""
) -> PaletteRow:
    title, name = _title(graph, class_id, text), shortened(graph.shown_name(class_id))
    place = place_of(graph, class_id)
    return PaletteRow(title, place, key, "class", class_id, fill(tr(act), name))


def label_rows(
    graph: CategoryGraph,
    text: str,
    *,
    first: Sequence[int] = (),
    under: int | None = None,
    is_locked: bool = False,
    key_text: KeyText = no_key_text,
) -> list[PaletteRow]:
    """Rows for labelling: matching classes, and last a new class of that name.

    Args:
        under: parent of the new class where the text names none.
        is_locked: whether a question precedes a new class.
    """
    rows = class_rows(graph, text, first=first, key_text=key_text)
    new = create_choice(graph, text, under=under)
    if new is None:
        return rows
    return [
        *rows,
        _question_row(graph, new, is_alone=not rows) if is_locked else create_row(graph, new),
    ]


def _question_row(graph: CategoryGraph, new: CreateChoice, *, is_alone: bool) -> PaletteRow:
    missing, wanted = tr("“{1}” is not in the class list…"), tr("Add “{1}” to the class list…")
    title = fill(missing if is_alone else wanted, new.name)
    act = tr("Ask whether to add “{1}”", shortened(new.name))
    choice = AskChoice(tr("“{1}” is not in the class list", new.name), lambda: _answers(graph, new))
    return PaletteRow(title, "", "", "class_new", choice, act)


def _answers(graph: CategoryGraph, new: CreateChoice) -> list[PaletteRow]:
    """The answers: similar classes, not adding the class, adding it."""
    near = [_class_row(graph, each, "", LABEL_AS) for each in graph.nearest(new.name, NEAR_CLASSES)]
    none = PaletteRow(tr("Do not add it"), "", "", "close", NO_CLASS_ADDED)
    added = replace(create_row(graph, new), title=tr("Add “{1}” to the class list", new.name))
    return [*near, none, replace(added, act="")]


def _title(graph: CategoryGraph, class_id: int, text: str) -> str:
    name, typed = graph.shown_name(class_id), text.rpartition("/")[2].strip()
    alias = graph.second_name(class_id)
    if typed.casefold() not in f"{name} {alias}".casefold():
        alias = graph.attributes(class_id).name_with(typed)
    return f"{name} ({alias})" if alias else name


def create_choice(graph: CategoryGraph, text: str, *, under: int | None) -> CreateChoice | None:
    """The new class that a text stands for; None when empty, existing, or with an unknown parent.

    Args:
        graph: the classes.
        text: a name, or `Parent/Name`.
        under: the parent where the text names none.
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
    """The path above a class, `Animal / Bird`, with the number of additional paths."""
    above = short_path(map(graph.shown_name, graph.paths(class_id)[0][:-1]))
    more = graph.path_count(class_id) - 1
    return f"{above}  +{at_most(more, MOST_PLACES)}" if more else above


def commands_for(rows: Iterable[PaletteRow], text: str) -> list[PaletteRow]:
    """Commands with all typed words in their title; titles starting with the text first."""
    words = text.casefold().split()
    fitting = [row for row in rows if all(word in row.title.casefold() for word in words)]
    return sorted(
        fitting, key=lambda row: not row.title.casefold().startswith(text.strip().casefold())
    )


def found_rows(
    commands: Sequence[PaletteRow], classes: Sequence[PaletteRow], text: str
) -> list[PaletteRow]:
    """Merge commands and classes; a class of exactly that name precedes partial matches."""
    typed = folded(text.strip())
    begins = [row for row in commands if folded(row.title).startswith(typed)]
    called = [row for row in classes[:1] if folded(row.title) == typed]
    return list(dict.fromkeys([*begins, *called, *commands, *classes]))


def create_row(graph: CategoryGraph, choice: CreateChoice) -> PaletteRow:
    where = (
        tr("top level")
        if choice.parent_id is None
        else tr("under {1}", graph.shown_name(choice.parent_id))
    )
    title = tr("Create “{1}”", choice.name)
    act = f"{tr('Create “{1}”', shortened(choice.name))} {where}"
    return PaletteRow(title, where, "", "class_new", choice, act)


def create_with_labels(project: Project, choice: CreateChoice, image_ids: Sequence[int]) -> Change:
    """Create a class with its first labels, in one action."""
    created = action("class_created", choice.name, images=len(image_ids))
    with project.history.one_step(created) as step:
        _, class_id = project.classes.add(choice.name, choice.parents)
        project.labels.set(image_ids, class_id)
    return step.change
