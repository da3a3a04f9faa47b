"""The actions on classes: what is chosen in the tree, and what its menu and its titles say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, final

from app.class_drops import classes_text
from app.class_editing.clipboard import ClassClipboard
from app.class_editing.editing import ClassEditing
from app.palette.view import Palette
from app.texts import for_menu, tr

if TYPE_CHECKING:
    from app.class_tree.view import ClassTree
    from app.dragging import Places
    from app.session import Session
    from engine.project import Change, Project

LONGEST_IN_MENU: Final = 40  # letters of a class's name in the title of an action


@final
class Classes(ClassEditing):
    """Acts on the chosen classes, and on any others that a view names."""

    def __init__(self, session: Session, tree: ClassTree, palette: Palette, say: Callable[[str], None]) -> None:
        super().__init__(session, palette, tree)
        self._tree = tree
        # whether images are shown, not the drawing of the graph
        self.is_grid_in_front: Callable[[], bool] = lambda: True
        self.clipboard = ClassClipboard(session, self, say)
        tree.create_requested.connect(self.ask_new)
        tree.rename_requested.connect(self.rename)
        tree.classes_dropped.connect(self.place)

    def show_classes(self, class_ids: Sequence[int]) -> None:
        self._tree.select_classes(class_ids)

    def show_made(self, class_ids: Sequence[int]) -> None:
        """Show where new classes stand: the grid of images stays as it was. Without one they are chosen, to go on."""
        state = self._session.state
        if self.is_grid_in_front() and state is not None and len(state.image_ids):
            self._tree.reveal_class(class_ids[0])
        else:
            self._tree.select_classes(class_ids)

    def callbacks(self) -> dict[str, Callable[[], None]]:
        return {
            "new_class": lambda: self.ask_new(self._tree.selected_class),
            "new_sibling": lambda: self.ask_new(self._tree.selected_parent),
            "new_parent": lambda: self.ask_new_parent(self._current_first()),
            "new_top_class": lambda: self.ask_new(None),
            "rename_class": self._ask_name_of_chosen,
            "move_class": lambda: self.ask_place(self._tree.selected_places),
            "link_parent": lambda: self.ask_parent(*self._tree.selected_classes),
            "unlink_parent": lambda: self.unlink(self._places_to_unlink()),
            "merge_class": self._ask_heir_of_chosen,
            "remove_class": lambda: self.remove(self._tree.selected_classes),
            "copy_classes": lambda: self.clipboard.copy(self._tree.selected_places),
            "cut_classes": lambda: self.clipboard.cut(self._tree.selected_places),
            "paste_classes": lambda: self.clipboard.paste(self._tree.selected_class),
            "go_to_classes": self._tree.take_keyboard,
        }

    def titles(self) -> Mapping[str, str]:
        """Titles of the actions that name the class they would act on, by name of the action."""
        class_id, parent_id = self._tree.selected_class, self._tree.selected_parent
        new, unlink = tr("New class…"), tr("Unlink from a parent")
        if class_id is not None and class_id in self._session.graph:
            new = tr("New class under %1…", self._name_in_menu(class_id))
            if parent_id is not None and self.can_unlink:
                unlink = tr("Unlink from %1", self._name_in_menu(parent_id))
        merge, remove = tr("Merge class into…"), tr("Remove class")
        if (count := len(self._tree.selected_classes)) > 1:
            merge = tr("Merge %1 into…", classes_text(count))
            remove = tr("Remove %1", classes_text(count))
        return {"new_class": new, "unlink_parent": unlink, "merge_class": merge, "remove_class": remove}

    def menu(self, class_id: int | None) -> tuple[str, ...]:
        """Names of the actions in the menu of a class, or of the room where no class stands."""
        if class_id is None:
            return ("new_top_class", "paste_classes", "import_classes")
        unlink = ("unlink_parent",) if self.can_unlink else ()
        new = ("new_class", "new_sibling", "new_parent")
        clipboard = ("copy_classes", "cut_classes", "paste_classes")
        placing = ("move_class", "link_parent", *unlink, "merge_class")
        return (*new, "rename_class", *placing, *clipboard, "remove_class")

    @property
    def can_unlink(self) -> bool:
        """Whether a chosen class has a parent left when it is taken away from the one that it is shown under."""
        return bool(self._places_to_unlink())

    def _places_to_unlink(self) -> Places:
        """The chosen classes that have a parent left."""
        graph = self._session.graph
        return tuple(
            (class_id, parent_id)
            for class_id, parent_id in self._tree.selected_places
            if parent_id is not None and class_id in graph and len(graph.parents(class_id)) > 1
        )

    def _current_first(self) -> Places:
        """The chosen classes, the current one first."""
        places, current = self._tree.selected_places, (self._tree.selected_class, self._tree.selected_parent)
        return tuple(sorted(places, key=lambda place: place != current))

    def _name_in_menu(self, class_id: int) -> str:
        return for_menu(self._session.graph.name(class_id), LONGEST_IN_MENU)

    def _ask_name_of_chosen(self) -> None:
        if self._tree.selected_class is not None:
            self.ask_name(self._tree.selected_class)

    def _ask_heir_of_chosen(self) -> None:
        """Those beside the chosen class are offered first."""
        graph, parent_id = self._session.graph, self._tree.selected_parent
        beside = graph.roots() if parent_id is None else graph.children(parent_id)
        self.ask_heir(self._tree.selected_classes, first=beside)

    def set_colour_of_chosen(self, class_id: int, colour: str) -> None:
        """Give a class a colour of its own, and all others that are chosen with it."""
        chosen = self._tree.selected_classes
        self.set_attributes(chosen if class_id in chosen else (class_id,), {"colour": colour})

    # -- how sure the program must be

    def set_bar(self, class_id: int, bar: float | None) -> None:
        """Set the confidence needed for a class; None inherits it from above."""
        self._change_policy(class_id, bar=bar)

    def set_deepest(self, class_id: int, is_deepest: bool) -> None:
        """Let predictions stop at a class, or go on below it."""
        self._change_policy(class_id, is_deepest=is_deepest)

    def _change_policy(self, class_id: int, **changes: Any) -> None:
        def act(project: Project) -> Change:
            from engine.project import ClassPolicy

            known = project.policies.by_class().get(class_id, ClassPolicy())
            return project.policies.set(class_id, replace(known, **changes))

        self._session.act(act)
