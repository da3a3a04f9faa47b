"""The actions on classes: what is chosen in the tree, and what its menu and its titles say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, final

from PySide6.QtCore import QPoint

from app.actions.row import WRITE, Needs, Section, action
from app.class_editing.clipboard import ClassClipboard
from app.class_editing.editing import ClassEditing
from app.drops import classes_text
from app.texts import for_menu, marked, tr

if TYPE_CHECKING:
    from app.dragging import Places
    from app.graph_view.view import GraphView
    from app.inspector.view import Inspector
    from app.shell import Shell
    from engine.project import Change, Project

ON_CLASS: Final = WRITE | Needs.CLASS
LONGEST_IN_MENU: Final = 40  # letters of a class's name in the title of an action


@final
class Classes(ClassEditing):
    """Acts on the chosen classes, and on any others that a view names."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._tree = shell.tree
        self.clipboard = ClassClipboard(self._session, self, self._toast.say)
        self._tree.create_requested.connect(self.ask_new)
        self._tree.rename_requested.connect(self.rename)
        self._tree.classes_dropped.connect(self.place)
        self._tree.menu_requested.connect(self._open_menu)
        self._follow(shell.workspace.graph, shell.inspector)

    def _follow(self, graph: GraphView, inspector: Inspector) -> None:
        """What is wanted in the drawing and on the page of a class is done as in the tree."""
        graph.create_requested.connect(self.ask_new)
        graph.remove_requested.connect(self.remove)
        graph.unlink_requested.connect(self.unlink)
        graph.classes_dropped.connect(self.place)
        inspector.bar_requested.connect(self.set_bar)
        inspector.deepest_requested.connect(self.set_deepest)
        inspector.parent_requested.connect(self.link_parent)
        inspector.parent_wanted.connect(self.ask_parent)
        inspector.unlink_requested.connect(self.unlink_parent)
        inspector.attributes_changed.connect(lambda class_id, values: self.set_attributes([class_id], values))
        inspector.colour_chosen.connect(self.set_colour_of_chosen)

    # -- actions

    @action("new_class", marked("New class…"), "class_new", "Ctrl+N", Section.CLASSES_NEW, needs=WRITE)
    def ask_new_below(self) -> None:
        self.ask_new(self._tree.selected_class)

    @action(
        "new_sibling",
        marked("New class beside it…"),
        "class_new",
        "Ctrl+Return Ctrl+Enter",
        Section.CLASSES_NEW,
        needs=ON_CLASS,
    )
    def ask_new_beside(self) -> None:
        self.ask_new(self._tree.selected_parent)

    @action(
        "new_parent",
        marked("New class above it…"),
        "class_new",
        "Ctrl+Shift+Return Ctrl+Shift+Enter",
        Section.CLASSES_NEW,
        needs=ON_CLASS,
    )
    def ask_new_above(self) -> None:
        self.ask_new_parent(self._current_first())

    @action(
        "new_top_class",
        marked("New class at the top level…"),
        "class_new",
        "Ctrl+Alt+Return Ctrl+Alt+Enter",
        Section.CLASSES_NEW,
        needs=WRITE,
    )
    def ask_new_top(self) -> None:
        self.ask_new(None)

    @action("rename_class", marked("Rename class…"), "rename", "F2", Section.CLASSES_CHANGE, needs=ON_CLASS)
    def ask_name_of_chosen(self) -> None:
        if self._tree.selected_class is not None:
            self.ask_name(self._tree.selected_class)

    @action("move_class", marked("Move under…"), "move", "Ctrl+M", Section.CLASSES_CHANGE, needs=ON_CLASS)
    def move_chosen(self) -> None:
        self.ask_place(self._tree.selected_places)

    @action("link_parent", marked("Add another parent…"), "link", "Ctrl+L", Section.CLASSES_CHANGE, needs=ON_CLASS)
    def ask_parent_of_chosen(self) -> None:
        self.ask_parent(*self._tree.selected_classes)

    @action(
        "unlink_parent",
        marked("Unlink from a parent"),
        "unlink",
        "Ctrl+U",
        Section.CLASSES_CHANGE,
        needs=ON_CLASS | Needs.SEVERAL_PARENTS,
    )
    def unlink_chosen(self) -> None:
        self.unlink(self._places_to_unlink())

    @action("merge_class", marked("Merge class into…"), "merge", "Ctrl+J", Section.CLASSES_CHANGE, needs=ON_CLASS)
    def ask_heir_of_chosen(self) -> None:
        """Those beside the chosen class are offered first."""
        graph, parent_id = self._session.graph, self._tree.selected_parent
        beside = graph.roots() if parent_id is None else graph.children(parent_id)
        self.ask_heir(self._tree.selected_classes, first=beside)

    @action(
        "copy_classes",
        marked("Copy classes"),
        "copy",
        "Ctrl+C",
        Section.CLASSES_COPY,
        needs=Needs.PROJECT | Needs.CLASS,
        on_classes=True,
    )
    def copy(self) -> None:
        self.clipboard.copy(self._tree.selected_places)

    @action(
        "cut_classes", marked("Cut classes"), "cut", "Ctrl+X", Section.CLASSES_COPY, needs=ON_CLASS, on_classes=True
    )
    def cut(self) -> None:
        self.clipboard.cut(self._tree.selected_places)

    @action("paste_classes", marked("Paste classes"), "paste", "Ctrl+V", Section.CLASSES_COPY, needs=WRITE)
    def paste(self) -> None:
        self.clipboard.paste(self._tree.selected_class)

    @action(
        "remove_class", marked("Remove class"), "delete", "Del", Section.CLASSES_REMOVE, needs=ON_CLASS, on_classes=True
    )
    def remove_chosen(self) -> None:
        self.remove(self._tree.selected_classes)

    # -- what actions and menus say

    def there(self) -> Needs:
        chosen = Needs.CLASS if self._tree.selected_class is not None else Needs.NOTHING
        return chosen | (Needs.SEVERAL_PARENTS if self.can_unlink else Needs.NOTHING)

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

    def _open_menu(self, class_id: int | None, place: QPoint) -> None:
        self._shell.needs_changed.emit()
        self._shell.registry.menu_of(self.menu(class_id), self._shell).popup(place)

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
