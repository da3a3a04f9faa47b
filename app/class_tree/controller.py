"""Editing the category graph: create, rename, move, link, unlink, merge, remove, confidence needed."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final, final

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
from app.texts import fill, for_menu, translate

if TYPE_CHECKING:
    from app.class_tree.view import ClassTree
    from app.dragging import Places
    from app.session import Session
    from engine.project import Change, Project

LONGEST_IN_MENU: Final = 40
"""Letters of a class's name in the title of an action."""


@final
class Classes:
    """Acts on the chosen class."""

    def __init__(self, session: "Session", tree: "ClassTree", palette: Palette) -> None:
        self._session = session
        self._tree = tree
        self._palette = palette
        tree.create_requested.connect(self.ask_new)
        tree.rename_requested.connect(self.rename)
        tree.classes_dropped.connect(self.place)

    def callbacks(self) -> dict[str, Callable[[], None]]:
        """Actions by name."""
        return {
            "new_class": lambda: self.ask_new(self._tree.selected_class),
            "new_top_class": lambda: self.ask_new(None),
            "rename_class": self._ask_name,
            "link_parent": self._ask_parent_of_chosen,
            "unlink_parent": self._unlink_chosen,
            "merge_class": self._ask_heir,
            "remove_class": lambda: self.remove(self._tree.selected_classes),
        }

    def titles(self) -> Mapping[str, str]:
        """Titles of the actions that name the class they would act on, by name of the action."""
        class_id, parent_id = self._tree.selected_class, self._tree.selected_parent
        new, unlink = translate("classes", "New class…"), translate("classes", "Unlink from a parent")
        if class_id is not None and class_id in self._session.graph:
            new = fill(translate("classes", "New class under %1…"), self._name_in_menu(class_id))
            if parent_id is not None and self.can_unlink:
                unlink = fill(translate("classes", "Unlink from %1"), self._name_in_menu(parent_id))
        return {"new_class": new, "unlink_parent": unlink}

    def menu(self, class_id: int | None) -> tuple[str, ...]:
        """Names of the actions in the menu of a class, or of the room where no class stands."""
        if class_id is None:
            return ("new_top_class", "import_classes")
        unlink = ("unlink_parent",) if self.can_unlink else ()
        return ("new_class", "rename_class", "link_parent", *unlink, "merge_class", "remove_class")

    @property
    def can_unlink(self) -> bool:
        """Whether the chosen class has a parent left when it is taken away from the one that it is shown under."""
        class_id = self._tree.selected_class
        return (
            class_id is not None and class_id in self._session.graph and len(self._session.graph.parents(class_id)) > 1
        )

    def _name_in_menu(self, class_id: int) -> str:
        return for_menu(self._session.graph.name(class_id), LONGEST_IN_MENU)

    def ask_new(self, parent_id: int | None) -> None:
        """Ask for the name of a new class under `parent_id`; `Parent/Name` puts it elsewhere."""
        graph = self._session.graph

        def rows_for(text: str) -> list[PaletteRow]:
            choice = create_choice(graph, text, under=parent_id)
            if choice is None:
                return []
            return [create_row(choice, graph.name(choice.parent_id) if choice.parent_id is not None else "")]

        prompt = translate("classes", "Name of the new class at the top level")
        if parent_id is not None:
            prompt = fill(translate("classes", "Name of the new class under %1"), graph.name(parent_id))
        self._palette.ask(
            prompt, rows_for, self._on_create,
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
                self.rename(class_id, choice.name)

        self._palette.ask(fill(translate("classes", "New name of %1"), name), rows_for, on_choice, text=name)

    def _ask_parent_of_chosen(self) -> None:
        if self._tree.selected_class is not None:
            self.ask_parent(self._tree.selected_class)

    def ask_parent(self, class_id: int) -> None:
        """Ask under which further class a class is to stand."""
        graph = self._session.graph
        if class_id not in graph:
            return
        parents = graph.parents(class_id)
        template = (
            translate("classes", "Add another parent to %1") if parents else translate("classes", "Add a parent to %1")
        )
        self._ask_class(
            fill(template, graph.name(class_id)),
            graph.descendants(class_id) | {class_id} | set(parents),
            lambda parent_id: self.link_parent(class_id, parent_id),
            foot=translate("classes", "Enter adds the parent · Esc closes"),
        )

    def _ask_heir(self) -> None:
        """Ask for the class that the chosen one is to be merged into; those beside it are offered first."""
        class_id, graph = self._tree.selected_class, self._session.graph
        if class_id is None:
            return
        parent_id = self._tree.selected_parent
        self._ask_class(
            fill(translate("classes", "Merge %1 into"), graph.name(class_id)),
            frozenset({class_id}),
            lambda heir_id: self._merge(class_id, heir_id),
            first=graph.roots() if parent_id is None else graph.children(parent_id),
            foot=translate("classes", "Labels, children and parents go along · Enter merges · Esc closes"),
        )

    def _ask_class(
        self,
        prompt: str,
        without: Collection[int],
        on_class: Callable[[int], None],
        *,
        first: Sequence[int] = (),
        foot: str,
    ) -> None:
        """Ask for one of the classes.

        Args:
            prompt: what to type.
            without: classes that are not offered.
            on_class: called with the chosen class.
            first: classes to offer before anything is typed.
            foot: which keys work.
        """
        graph = self._session.graph

        def rows_for(text: str) -> list[PaletteRow]:
            rows = class_rows(graph, text, first=first)
            return [row for row in rows if not (isinstance(row.choice, ClassChoice) and row.choice.class_id in without)]

        def on_choice(choice: Choice) -> None:
            if isinstance(choice, ClassChoice):
                on_class(choice.class_id)

        self._palette.ask(prompt, rows_for, on_choice, foot=foot)

    def _merge(self, class_id: int, heir_id: int) -> None:
        self._session.act(
            lambda project: project.merge_class(class_id, heir_id),
            on_done=lambda _change: self._tree.select_class(heir_id),
        )

    def rename(self, class_id: int, name: str) -> None:
        """Give a class another name."""
        self._session.act(lambda project: project.rename_class(class_id, name))

    def remove(self, class_ids: Sequence[int]) -> None:
        """Remove classes in one step; their children go to their parents."""
        if class_ids:
            self._session.act(lambda project: _removed(project, class_ids))

    def place(self, places: "Places", to_parent: int | None, is_link: bool) -> None:
        """Put classes under a parent, or at the top level (None), in one step.

        Args:
            places: the classes, each with the parent that it is taken from.
            to_parent: where they go.
            is_link: whether they stay where they are as well.
        """
        self._session.act(lambda project: _placed(project, places, to_parent, is_link=is_link))

    def link_parent(self, class_id: int, parent_id: int) -> None:
        """Put a class under a further parent."""
        self._session.act(lambda project: project.link(parent_id, class_id))

    def unlink_parent(self, class_id: int, parent_id: int) -> None:
        """Take a class away from one of its parents."""
        self._session.act(lambda project: project.unlink(parent_id, class_id))

    def _unlink_chosen(self) -> None:
        """Take the chosen class away from the parent that it is shown under."""
        class_id, parent_id = self._tree.selected_class, self._tree.selected_parent
        if class_id is not None and parent_id is not None and self.can_unlink:
            self.unlink_parent(class_id, parent_id)

    def set_bar(self, class_id: int, bar: float | None) -> None:
        """Set the confidence needed for a class; None inherits it from above."""
        self._session.act(lambda project: _with_policy(project, class_id, bar=bar))

    def set_deepest(self, class_id: int, is_deepest: bool) -> None:
        """Let predictions stop at a class, or go on below it."""
        self._session.act(lambda project: _with_policy(project, class_id, is_deepest=is_deepest))


def _removed(project: "Project", class_ids: Sequence[int]) -> "Change":
    """Remove classes in one step, on the project thread."""
    if len(class_ids) == 1:
        return project.remove_class(class_ids[0])
    with project.one_step(f"Removed {len(class_ids)} classes") as step:
        for class_id in class_ids:
            project.remove_class(class_id)
    return step.change


def _placed(project: "Project", places: "Places", to_parent: int | None, *, is_link: bool) -> "Change":
    """Move or link classes in one step, on the project thread."""
    verb = "Linked" if is_link else "Moved"
    with project.one_step(f"{verb} {len(places)} classes") as step:
        for class_id, from_parent in places:
            if is_link and to_parent is not None:
                step.text = project.link(to_parent, class_id).text if len(places) == 1 else step.text
            elif from_parent != to_parent:
                change = project.move_class(class_id, from_parent, to_parent)
                step.text = change.text if len(places) == 1 else step.text
    return step.change


def _with_policy(
    project: "Project", class_id: int, *, bar: float | str | None = "kept", is_deepest: bool | None = None
) -> "Change":
    """Change one part of a class's policy, on the project thread."""
    from engine.project import ClassPolicy

    known = project.policies().get(class_id, ClassPolicy())
    new_bar = known.bar if isinstance(bar, str) else bar
    return project.set_policy(class_id, ClassPolicy(new_bar, known.is_deepest if is_deepest is None else is_deepest))
