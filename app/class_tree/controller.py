"""Editing the category graph: create, rename, move, link, remove, bars."""

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from app.palette.logic import (
    Choice,
    ClassChoice,
    CreateChoice,
    NameChoice,
    PaletteRow,
    class_rows,
    create_choice,
    create_row,
)
from app.palette.view import Palette
from app.texts import fill, translate

if TYPE_CHECKING:
    from app.class_tree.view import ClassTree
    from app.session import Session
    from engine.project import Change, Project


@final
class Classes:
    """Acts on the chosen class."""

    def __init__(self, session: "Session", tree: "ClassTree", palette: Palette) -> None:
        self._session = session
        self._tree = tree
        self._palette = palette
        tree.create_requested.connect(self.ask_new)
        tree.rename_requested.connect(self._rename)
        tree.remove_requested.connect(self._remove)
        tree.class_dropped.connect(self._on_class_dropped)

    def callbacks(self) -> dict[str, Callable[[], None]]:
        """Actions by name."""
        return {
            "new_class": lambda: self.ask_new(self._tree.selected_class),
            "rename_class": self._ask_name,
            "link_parent": self._ask_parent,
            "remove_class": self._remove_chosen,
        }

    def ask_new(self, parent_id: int | None) -> None:
        """Ask for the name of a new class under `parent_id`; `Parent/Name` puts it elsewhere."""
        graph = self._session.graph

        def rows_for(text: str) -> list[PaletteRow]:
            choice = create_choice(graph, text, under=parent_id)
            if choice is None:
                return []
            return [create_row(choice, graph.name(choice.parent_id) if choice.parent_id is not None else "")]

        where = graph.name(parent_id) if parent_id is not None else translate("classes", "the top level")
        self._palette.ask(
            fill(translate("classes", "Name of the new class under %1"), where), rows_for, self._on_create,
            foot=translate("classes", "Type Parent/Name to put it elsewhere · Enter creates · Esc closes"),
        )  # fmt: skip

    def _on_create(self, choice: Choice) -> None:
        if not isinstance(choice, CreateChoice):
            return
        made: list[int] = []

        def create(project: "Project") -> "Change":
            change, class_id = project.add_class(choice.name, () if choice.parent_id is None else (choice.parent_id,))
            made.append(class_id)
            return change

        self._session.act(create, on_done=lambda _change: self._tree.select_class(made[0]))

    def _ask_name(self) -> None:
        class_id = self._tree.selected_class
        if class_id is None:
            return
        name = self._session.graph.name(class_id)

        def rows_for(text: str) -> list[PaletteRow]:
            new = text.strip()
            if not new or new == name:
                return []
            title = fill(translate("classes", "Rename to “%1”"), new)
            return [PaletteRow(title, name, "", "rename", NameChoice(new))]

        def on_choice(choice: Choice) -> None:
            if isinstance(choice, NameChoice):
                self._rename(class_id, choice.name)

        self._palette.ask(fill(translate("classes", "New name of %1"), name), rows_for, on_choice, text=name)

    def _ask_parent(self) -> None:
        class_id, graph = self._tree.selected_class, self._session.graph
        if class_id is None:
            return
        taken = graph.descendants(class_id) | {class_id} | set(graph.parents(class_id))

        def rows_for(text: str) -> list[PaletteRow]:
            rows = class_rows(graph, text)
            return [row for row in rows if not (isinstance(row.choice, ClassChoice) and row.choice.class_id in taken)]

        def on_choice(choice: Choice) -> None:
            if isinstance(choice, ClassChoice):
                self._session.act(lambda project: project.link(choice.class_id, class_id))

        prompt = fill(translate("classes", "Another parent for %1"), graph.name(class_id))
        self._palette.ask(prompt, rows_for, on_choice)

    def _rename(self, class_id: int, name: str) -> None:
        self._session.act(lambda project: project.rename_class(class_id, name))

    def _remove_chosen(self) -> None:
        if self._tree.selected_class is not None:
            self._remove(self._tree.selected_class)

    def _remove(self, class_id: int) -> None:
        self._session.act(lambda project: project.remove_class(class_id))

    def _on_class_dropped(self, class_id: int, from_parent: int | None, to_parent: int | None, is_link: bool) -> None:
        if is_link and to_parent is not None:
            self._session.act(lambda project: project.link(to_parent, class_id))
        else:
            self._session.act(lambda project: project.move_class(class_id, from_parent, to_parent))

    def link_parent(self, class_id: int, parent_id: int) -> None:
        """Put a class under a further parent."""
        self._session.act(lambda project: project.link(parent_id, class_id))

    def set_bar(self, class_id: int, bar: float | None) -> None:
        """Set a class's bar; None takes over the one from above."""
        self._session.act(lambda project: _with_policy(project, class_id, bar=bar))

    def set_deepest(self, class_id: int, is_deepest: bool) -> None:
        """Let predictions stop at a class, or go on below it."""
        self._session.act(lambda project: _with_policy(project, class_id, is_deepest=is_deepest))


def _with_policy(
    project: "Project", class_id: int, *, bar: float | str | None = "kept", is_deepest: bool | None = None
) -> "Change":
    """Change one part of a class's policy, on the project thread."""
    from engine.project import ClassPolicy

    known = project.policies().get(class_id, ClassPolicy())
    new_bar = known.bar if isinstance(bar, str) else bar
    return project.set_policy(class_id, ClassPolicy(new_bar, known.is_deepest if is_deepest is None else is_deepest))
