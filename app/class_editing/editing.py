"""Editing the category graph: what a person is asked, and what is done then. Each act is one step that can be undone.

The tree and the graph view act through this alike. Classes are named by their ids, and where it matters under which
parent a class was taken, by `Places`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from app.class_editing.asking import and_below, ask_class, ask_option
from app.class_editing.removal import RemovalWay, chosen_text, merge_row, removal_prompt, removal_rows, removal_ways
from app.feature import Feature
from app.palette.logic import Choice, CreateChoice, NameChoice, OptionChoice, PaletteRow, create_choice, create_row
from app.texts import fill, tr

if TYPE_CHECKING:
    from app.dragging import Places
    from engine.project import Change, Project
    from engine.project.removal_preview import MergePreview


class ClassEditing(Feature):
    """Acts on classes."""

    def show_classes(self, class_ids: Sequence[int]) -> None:
        """Choose classes in the tree."""
        self._shell.tree.select_classes(class_ids)

    def show_made(self, class_ids: Sequence[int]) -> None:
        """Show where new classes stand: the grid of images stays as it was. Without one they are chosen, to go on."""
        state, tree = self._session.state, self._shell.tree
        if not self._shell.workspace.is_graph_shown and state is not None and len(state.image_ids):
            tree.reveal_class(class_ids[0])
        else:
            tree.select_classes(class_ids)

    # -- new classes and names

    def ask_new(self, parent_id: int | None) -> None:
        """Ask for the name of a new class under `parent_id`, or at the top level; `Parent/Name` puts it elsewhere."""
        graph = self._session.graph

        def rows_for(text: str) -> list[PaletteRow]:
            choice = create_choice(graph, text, under=parent_id)
            if choice is None:
                return []
            return [create_row(choice, graph.name(choice.parent_id) if choice.parent_id is not None else "")]

        def on_choice(choice: Choice) -> None:
            if isinstance(choice, CreateChoice):
                parents = () if choice.parent_id is None else (choice.parent_id,)
                self._make(lambda project: project.classes.add(choice.name, parents))

        prompt = tr("Name of the new class at the top level")
        if parent_id is not None:
            prompt = tr("Name of the new class under %1", graph.name(parent_id))
        foot = tr("Type Parent/Name to put it elsewhere · Enter creates · Esc closes")
        self._palette.ask(prompt, rows_for, on_choice, foot=foot)

    def ask_new_parent(self, places: Places) -> None:
        """Ask for the name of a new class between a parent and some of its children.

        Of the places, those count that lie under the same parent as the first one.
        """
        if not places:
            return
        from_parent = places[0][1]
        children = tuple(class_id for class_id, parent_id in places if parent_id == from_parent)
        name = chosen_text(self._session.graph, children)
        title = tr("Create “%1”")
        where = tr("above %1", name)

        def rows_for(text: str) -> list[PaletteRow]:
            new = text.strip()
            return [PaletteRow(fill(title, new), where, "", "class_new", NameChoice(new))] if new else []

        def on_choice(choice: Choice) -> None:
            if isinstance(choice, NameChoice):
                self._make(lambda project: project.classes.add_parent(choice.name, children, from_parent))

        prompt = tr("Name of the new class above %1", name)
        self._palette.ask(prompt, rows_for, on_choice, foot=tr("Enter creates · Esc closes"))

    def _make(self, make: Callable[[Project], tuple[Change, int]]) -> None:
        """Make a class and bring it into sight."""
        made: list[int] = []

        def act(project: Project) -> Change:
            change, class_id = make(project)
            made.append(class_id)
            return change

        self._session.act(act, on_done=lambda _change: self.show_made(made))

    def ask_name(self, class_id: int) -> None:
        name = self._session.graph.name(class_id)

        def rows_for(text: str) -> list[PaletteRow]:
            new = text.strip()
            if not new or new == name:
                return []
            title = tr("Rename to “%1”", new)
            return [PaletteRow(title, name, "", "rename", NameChoice(new))]

        def on_choice(choice: Choice) -> None:
            if isinstance(choice, NameChoice):
                self.rename(class_id, choice.name)

        self._palette.ask(tr("New name of %1", name), rows_for, on_choice, text=name)

    def rename(self, class_id: int, name: str) -> None:
        self._session.act(lambda project: project.classes.rename(class_id, name))

    # -- where classes stand

    def place(self, places: Places, to_parent: int | None, is_link: bool) -> None:
        """Put classes under a parent, or at the top level (None)."""
        if not places:
            return
        if is_link and to_parent is not None:
            children = tuple(class_id for class_id, _parent in places)
            self._session.act(lambda project: project.classes.link(to_parent, children))
        else:
            self._session.act(lambda project: project.classes.move(places, to_parent))

    def ask_place(self, places: Places) -> None:
        if not places:
            return
        graph = self._session.graph
        class_ids = [class_id for class_id, _parent in places]
        top = PaletteRow(tr("The top level"), "", "", "arrow_up", OptionChoice(0))
        ask_class(
            self._palette,
            graph,
            tr("Move %1 under", chosen_text(graph, class_ids)),
            lambda parent_id: self.place(places, parent_id, is_link=False),
            foot=tr("Enter moves · Esc closes"),
            without=and_below(graph, class_ids),
            other=(top, lambda: self.place(places, None, is_link=False)),
        )

    def ask_parent(self, *class_ids: int) -> None:
        """Ask under which further class classes are to stand."""
        graph = self._session.graph
        known = tuple(class_id for class_id in class_ids if class_id in graph)
        if not known:
            return
        parents = set.intersection(*(set(graph.parents(class_id)) for class_id in known))
        template = tr("Add another parent to %1") if parents else tr("Add a parent to %1")
        ask_class(
            self._palette,
            graph,
            fill(template, chosen_text(graph, known)),
            lambda parent_id: self._session.act(lambda project: project.classes.link(parent_id, known)),
            foot=tr("Enter adds the parent · Esc closes"),
            without=and_below(graph, known) | parents,
        )

    def link_parent(self, class_id: int, parent_id: int) -> None:
        self._session.act(lambda project: project.classes.link(parent_id, [class_id]))

    def unlink_parent(self, class_id: int, parent_id: int) -> None:
        """Take a class away from one of its parents."""
        self.unlink(((class_id, parent_id),))

    def unlink(self, places: Places) -> None:
        """Take classes away from the parents that they are named with; those at the top level stay."""
        edges = [(parent_id, class_id) for class_id, parent_id in places if parent_id is not None]
        if edges:
            self._session.act(lambda project: project.classes.unlink(edges))

    # -- classes that go away

    def remove(self, class_ids: Sequence[int]) -> None:
        """Remove classes; where classes below or labels are concerned, ask what is to become of them."""
        wanted = tuple(class_ids)
        if wanted:
            self._session.ask(
                lambda live: removal_ways(live.project, wanted),
                lambda ways: self._ask_removal(wanted, ways), owner=self, topic="removal",
            )  # fmt: skip

    def _ask_removal(self, class_ids: Sequence[int], ways: Sequence[RemovalWay]) -> None:
        known = [class_id for class_id in class_ids if class_id in self._session.graph]
        if not known or not ways:
            return

        def remove(way: RemovalWay) -> None:
            self._session.act(lambda project: project.classes.remove(known, way.children))

        if ways[0].is_harmless:
            remove(ways[0])
            return
        rows = removal_rows(self._session.graph, known, ways)
        ask_option(
            self._palette, removal_prompt(self._session.graph, known), rows, lambda place: remove(ways[place]),
            foot=tr("Enter removes · Esc closes · one undo brings all of it back"),
        )  # fmt: skip

    def ask_heir(self, class_ids: Sequence[int], *, first: Sequence[int] = ()) -> None:
        """Ask for the class that classes are to be merged into: one of several, or another one."""
        graph = self._session.graph
        if not class_ids:
            return
        is_one = len(class_ids) == 1
        ask_class(
            self._palette,
            graph,
            tr("Merge %1 into", chosen_text(graph, class_ids)),
            lambda heir_id: self.merge(class_ids, heir_id),
            without=class_ids if is_one else (),
            first=first if is_one else class_ids,
            foot=tr("Labels, children and parents go along · Enter chooses · Esc closes"),
        )

    def merge(self, class_ids: Sequence[int], heir_id: int) -> None:
        """Say what a merge of classes into another one would do, and do it when the person agrees."""
        from engine.project.removal_preview import merge_preview

        going = tuple(class_id for class_id in class_ids if class_id != heir_id)
        if going:
            self._session.ask(
                lambda live: merge_preview(live.project.classes.graph, live.project.labels.counts(), going, heir_id),
                lambda seen: self._ask_merge(going, heir_id, seen), owner=self, topic="merge",
            )  # fmt: skip

    def _ask_merge(self, going: Sequence[int], heir_id: int, seen: MergePreview) -> None:
        graph = self._session.graph
        if heir_id not in graph or any(class_id not in graph for class_id in going):
            return
        row = merge_row(graph, going, heir_id, seen)
        ask_option(
            self._palette,
            row.title,
            [row],
            lambda _place: self._session.act(
                lambda project: project.classes.merge(going, heir_id),
                on_done=lambda _change: self.show_classes([heir_id]),
            ),
            foot=tr("Enter merges · Esc closes · one undo brings all of it back"),
        )

    # -- what is said of classes

    def set_attributes(self, class_ids: Sequence[int], values: Mapping[str, Any]) -> None:
        """Give classes the same values of some attributes, such as a colour of their own."""
        if class_ids:
            self._session.act(lambda project: project.classes.set_attributes(class_ids, **values))

    # -- copies

    def copied_text(self, class_ids: Sequence[int], on_text: Callable[[str], None]) -> None:
        """Write classes and all below them down as text that `ProjectClasses.paste` reads."""
        self._session.ask(
            lambda live: live.project.classes.copied(class_ids), on_text, owner=self, topic="copied classes"
        )
