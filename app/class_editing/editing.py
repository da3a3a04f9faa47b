"""Edits of the category graph: prompts, and one undoable action for each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from app.class_editing import questions
from app.feature import Feature
from app.palette.logic import CreateChoice, PaletteRow, class_rows, create_choice, create_row
from app.texts import fill, marked, tr

if TYPE_CHECKING:
    from app.dragging import Places
    from engine.project import Change, Project
    from engine.project.removal_preview import MergePreview

MOVE_UNDER = marked("Move under {1}")
ADD_PARENT = marked("Add the parent {1}")
MERGE_INTO = marked("Merge into {1}")
TOP_LEVEL = -1  # in place of a parent's id


class ClassEditing(Feature):
    """Actions on classes, given by id, or by `Places` where the parent matters."""

    def show_made(self, class_ids: Sequence[int]) -> None:
        """Reveal new classes; without images in the grid they are also selected."""
        state, tree = self._session.state, self._shell.tree
        if not self._shell.workspace.is_graph_shown and state is not None and len(state.image_ids):
            tree.reveal_class(class_ids[0])
        else:
            tree.select_classes(class_ids)

    def ask_new(self, parent_id: int | None) -> None:
        """Ask for the name of a new class below `parent_id` or at the top level (None)."""
        graph = self._session.graph

        def rows_for(text: str) -> list[PaletteRow]:
            choice = create_choice(graph, text, under=parent_id)
            return [] if choice is None else [create_row(graph, choice)]

        def on_choice(choice: CreateChoice) -> None:
            self._make(lambda project: project.classes.add(choice.name, choice.parents))

        under, top = (
            tr("Name of the new class under {1}"),
            tr("Name of the new class at the top level"),
        )
        prompt = top if parent_id is None else fill(under, graph.shown_name(parent_id))
        footer = tr("Parent/Name puts it elsewhere")
        self._palette.ask(prompt, rows_for, on_choice, footer=footer)

    def ask_new_parent(self, places: Places) -> None:
        """Ask for the name of a class to insert above the given ones, below the first parent."""
        if not places:
            return
        from_parent = places[0][1]
        children = tuple(class_id for class_id, parent_id in places if parent_id == from_parent)
        name = questions.chosen_text(self._session.graph, children)
        title, where = tr("Create “{1}”"), tr("above {1}", name)
        self._ask_text(
            tr("Name of the new class above {1}", name),
            lambda new: PaletteRow(fill(title, new), where, "", "class_new", new),
            lambda new: self._make(
                lambda project: project.classes.add_parent(new, children, from_parent)
            ),
        )

    def _make(self, make: Callable[[Project], tuple[Change, int]]) -> None:
        made: list[int] = []

        def act(project: Project) -> Change:
            change, class_id = make(project)
            made.append(class_id)
            return change

        self._session.act(act, on_done=lambda _change: self.show_made(made))

    def ask_name(self, class_id: int) -> None:
        name = self._session.graph.name(class_id)
        self._ask_text(
            tr("New name of {1}", name),
            lambda new: PaletteRow(tr("Rename to “{1}”", new), name, "", "rename", new),
            lambda new: self.rename(class_id, new),
            text=name,
        )

    def _ask_text(
        self,
        prompt: str,
        row_of: Callable[[str], PaletteRow],
        on_text: Callable[[str], None],
        *,
        text: str = "",
    ) -> None:
        """Ask for a text that differs from the given one."""

        def rows_for(typed: str) -> list[PaletteRow]:
            new = typed.strip()
            return [row_of(new)] if new and new != text else []

        self._palette.ask(prompt, rows_for, on_text, text=text)

    def ask_key(self, class_id: int) -> None:
        """Ask for the key that labels images as a class."""
        graph = self._session.graph
        rows, free = questions.key_rows(graph, class_id), questions.first_free_key(graph)

        def give(digit: int) -> None:
            self._session.act(lambda project: project.classes.set_key(class_id, digit))

        self._ask_option(
            tr("Key that labels as {1}", graph.shown_name(class_id)), rows, give, at=free
        )

    def ask_rules(self) -> None:
        """Ask for a rule to change: lock of the class list, or broadest level."""
        marks = self._session.marks
        rows = questions.project_rules(
            self._session.graph, is_locked=marks.is_locked, level=marks.broadest_level
        )
        self._ask_option(tr("Rules for the class list"), rows, self._session.act)

    def rename(self, class_id: int, name: str) -> None:
        self._session.act(lambda project: project.classes.rename(class_id, name))

    def place(self, places: Places, to_parent: int | None, is_link: bool) -> None:
        """Move or link classes to a parent; None: move to the top level."""
        if places and is_link and to_parent is not None:
            self.link(to_parent, [class_id for class_id, _parent in places])
        elif places:
            self._session.act(lambda project: project.classes.move(places, to_parent))

    def link(self, parent_id: int, class_ids: Sequence[int]) -> None:
        self._session.act(lambda project: project.classes.link(parent_id, class_ids))

    def ask_place(self, places: Places) -> None:
        if not places:
            return
        graph = self._session.graph
        class_ids = [class_id for class_id, _parent in places]
        self._ask_class(
            tr("Move {1} under", questions.chosen_text(graph, class_ids)),
            lambda parent_id: self.place(
                places, None if parent_id == TOP_LEVEL else parent_id, is_link=False
            ),
            act=MOVE_UNDER,
            without={*class_ids}.union(*map(graph.descendants, class_ids)),
            other=PaletteRow(tr("The top level"), "", "", "arrow_up", TOP_LEVEL),
        )

    def ask_parent(self, *class_ids: int) -> None:
        graph = self._session.graph
        known = tuple(class_id for class_id in class_ids if class_id in graph)
        if not known:
            return
        parents = set.intersection(*(set(graph.parents(class_id)) for class_id in known))
        template = tr("Add another parent to {1}") if parents else tr("Add a parent to {1}")
        self._ask_class(
            fill(template, questions.chosen_text(graph, known)),
            lambda parent_id: self.link(parent_id, known),
            act=ADD_PARENT,
            without=parents.union(known, *map(graph.descendants, known)),
        )

    def unlink(self, places: Places) -> None:
        """Remove the edges to the given parents; top-level places are ignored."""
        edges = [(parent_id, class_id) for class_id, parent_id in places if parent_id is not None]
        if edges:
            self._session.act(lambda project: project.classes.unlink(edges))

    def remove(self, class_ids: Sequence[int]) -> None:
        """Remove classes; ask how if children or labels are affected."""
        wanted = tuple(class_ids)
        if wanted:
            ways, ask = (
                lambda live: questions.removal_ways(live.project, wanted),
                partial(self._ask_removal, wanted),
            )
            self._session.ask(ways, ask, owner=self, topic="removal")

    def _ask_removal(self, class_ids: Sequence[int], ways: Sequence[questions.RemovalWay]) -> None:
        known = [class_id for class_id in class_ids if class_id in self._session.graph]
        if not known or not ways:
            return

        def remove(way: questions.RemovalWay) -> None:
            self._session.act(lambda project: project.classes.remove(known, way.children))

        if ways[0].is_harmless:
            remove(ways[0])
            return
        graph, footer = self._session.graph, tr("can be undone in one step")
        prompt, rows = (
            questions.removal_prompt(graph, known),
            questions.removal_rows(graph, known, ways),
        )
        self._ask_option(prompt, rows, remove, footer=footer)

    def ask_heir(self, class_ids: Sequence[int], *, first: Sequence[int] = ()) -> None:
        if not class_ids:
            return
        graph, is_one = self._session.graph, len(class_ids) == 1
        self._ask_class(
            tr("Merge {1} into", questions.chosen_text(graph, class_ids)),
            lambda heir_id: self.merge(class_ids, heir_id),
            without=class_ids if is_one else (),
            first=first if is_one else class_ids,
            act=MERGE_INTO,
            footer=tr("labels, children and parents are merged too"),
        )

    def merge(self, class_ids: Sequence[int], heir_id: int) -> None:
        from engine.project.removal_preview import merge_preview

        going = tuple(class_id for class_id in class_ids if class_id != heir_id)
        if going:
            self._session.ask(
                lambda live: merge_preview(
                    live.project.classes.graph, live.project.labels.counts(), going, heir_id
                ),
                partial(self._ask_merge, going, heir_id),
                owner=self,
                topic="merge",
            )

    def _ask_merge(self, going: Sequence[int], heir_id: int, seen: MergePreview) -> None:
        graph = self._session.graph
        if heir_id not in graph or any(class_id not in graph for class_id in going):
            return

        def merge(_heir_id: int) -> None:
            show = lambda _change: self._shell.tree.select_classes([heir_id])  # noqa: E731
            self._session.act(lambda project: project.classes.merge(going, heir_id), on_done=show)

        row = questions.merge_row(graph, going, heir_id, seen)
        footer = tr("can be undone in one step")
        self._ask_option(row.title, [row], merge, footer=footer)

    def set_attributes(self, class_ids: Sequence[int], values: Mapping[str, Any]) -> None:
        if class_ids:
            self._session.act(lambda project: project.classes.set_attributes(class_ids, **values))

    def copied_text(self, class_ids: Sequence[int], on_text: Callable[[str], None]) -> None:
        """Serialize branches as text for `ProjectClasses.paste`."""
        self._session.ask(
            lambda live: live.project.classes.copied(class_ids),
            on_text,
            owner=self,
            topic="copied classes",
        )

    def _ask_option(
        self,
        prompt: str,
        rows: Sequence[PaletteRow],
        on_choice: Callable[[Any], None],
        *,
        footer: str = "",
        at: int = 0,
    ) -> None:
        def rows_for(text: str) -> list[PaletteRow]:
            words = text.casefold().split()
            return [row for row in rows if all(word in row.title.casefold() for word in words)]

        self._palette.ask(prompt, rows_for, on_choice, footer=footer, at=at)

    def _ask_class(
        self,
        prompt: str,
        on_class: Callable[[int], None],
        *,
        act: str,
        footer: str = "",
        without: Collection[int] = (),
        first: Sequence[int] = (),
        other: PaletteRow | None = None,
    ) -> None:
        """Ask for a class.

        Args:
            prompt: of the palette.
            on_class: called with the class, or the choice of the other row.
            act: text of the action on a class, marked for translation, with {1} for its name.
            foot: hint below the list.
            without: excluded classes.
            first: classes listed first.
            other: a row that is not a class, listed first.
        """
        graph = self._session.graph

        def rows_for(text: str) -> list[PaletteRow]:
            found = class_rows(graph, text, first=first, act=act)
            rows = [row for row in found if row.choice not in without]
            is_offered = other is not None and text.strip().casefold() in other.title.casefold()
            return [other, *rows] if other is not None and is_offered else rows

        self._palette.ask(prompt, rows_for, on_class, footer=footer)
