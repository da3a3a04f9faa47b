"""Actions on the classes selected in the tree: menu and titles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication

from app.actions.keys import keys_in_use
from app.actions.row import WRITE, Needs, Section, action
from app.class_editing.editing import ClassEditing
from app.class_editing.questions import chosen_text
from app.drops import classes_text, refusal_text
from app.texts import fill, for_menu, marked, tr
from engine.graph.placement import placement_refusal

if TYPE_CHECKING:
    from app.class_editing.editing import ClassEditing
    from app.class_requests import ClassRequests
    from app.dragging import Places
    from app.inspector.page import PageRequests
    from app.shell import Shell
    from engine.project import Change, Project

READ_CLASS = Needs.PROJECT | Needs.CLASS
ON_CLASS = WRITE | Needs.CLASS
LONGEST_IN_MENU = 40  # maximum length of a class's name in the title of an action
action_new = partial(action, icon="class_new", section=Section.CLASSES_NEW)
action_change = partial(action, section=Section.CLASSES_CHANGE, needs=ON_CLASS)
action_parents = partial(action, section=Section.CLASSES_PARENTS, needs=ON_CLASS)
action_copy = partial(action, section=Section.CLASSES_COPY)


@dataclass(frozen=True)
class _Cut:
    """Cut classes; they are moved when pasted in the same project."""

    project: Path
    places: Places
    text: str


@final
class ClassClipboard:
    """Copy, cut and paste classes."""

    def __init__(self, shell: Shell, editing: ClassEditing) -> None:
        self._session, self._editing = shell.session, editing
        self._say, self._show = shell.toast.show_message, shell.tree.select_classes
        self._cut: _Cut | None = None

    def copy(self, places: Places) -> None:
        """Copy branches: names, edges, synonyms, notes, colours, minimum confidence; no labels."""
        self._take(places, lambda _text: self._say(tr("Copied {1}", self._chosen_text(places))))

    def cut(self, places: Places) -> None:
        """Copy classes, and move them if they are pasted in this project."""

        def remember(text: str) -> None:
            if self._session.info is not None:
                self._cut = _Cut(self._session.info.path, places, text)
                one, several = tr("Cut {1}. Paste to move it."), tr("Cut {1}. Paste to move them.")
                self._say(fill(one if len(places) == 1 else several, self._chosen_text(places)))

        self._take(places, remember)

    def paste(self, parent_id: int | None) -> None:
        """Move the cut classes, or insert the copied ones, under a class (None: top level)."""
        from engine.project.branch_text import is_copied_text

        text, cut, info = QGuiApplication.clipboard().text(), self._cut, self._session.info
        if not is_copied_text(text):
            key = keys_in_use().text_of("copy_classes")
            how = (
                tr("Choose classes and press {1} first.", key)
                if key
                else tr("Choose classes and copy them first.")
            )
            self._say(f"{tr('No class was copied.')} {how}")
        elif cut is not None and info is not None and text == cut.text and info.path == cut.project:
            self._move(cut, parent_id)
        else:
            self._add(text, parent_id)

    def _take(self, places: Places, on_text: Callable[[str], None]) -> None:
        class_ids = tuple(dict.fromkeys(class_id for class_id, _parent in places))
        if not class_ids:
            return

        def put(text: str) -> None:
            self._cut = None
            QGuiApplication.clipboard().setText(text)
            on_text(text)

        self._editing.copied_text(class_ids, put)

    def _move(self, cut: _Cut, parent_id: int | None) -> None:
        graph = self._session.graph
        places = tuple(place for place in cut.places if place[0] in graph)
        refusal = placement_refusal(graph, places, parent_id, is_link=False) if places else None
        if refusal is not None:
            self._say(
                refusal_text(graph, refusal, parent_id) or tr("These classes are here already.")
            )
        elif places:
            self._cut = None
            self._editing.place(places, parent_id, is_link=False)

    def _add(self, text: str, parent_id: int | None) -> None:
        pasted: list[int] = []

        def paste(project: Project) -> Change:
            change, class_ids = project.classes.paste(text, parent_id)
            pasted.extend(class_ids)
            return change

        self._session.act(paste, on_done=lambda _change: self._show(pasted))

    def _chosen_text(self, places: Places) -> str:
        graph = self._session.graph
        known = list(dict.fromkeys(class_id for class_id, _parent in places if class_id in graph))
        return chosen_text(graph, known) if known else classes_text(0)


@final
class Classes(ClassEditing):
    """Act on the selected classes, and on classes that views name."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._tree = shell.tree
        self.clipboard = ClassClipboard(shell, self)
        self._follow(shell.tree.requests, shell.inspector.requests)

    def _follow(self, requests: ClassRequests, inspector: PageRequests) -> None:
        requests.create_requested.connect(self.ask_new)
        requests.rename_requested.connect(self.rename)
        requests.classes_dropped.connect(self.place)
        requests.remove_requested.connect(self.remove)
        requests.unlink_requested.connect(self.unlink)
        requests.menu_requested.connect(self._open_menu)
        inspector.bar_requested.connect(
            lambda class_id, bar: self._change_policy(class_id, bar=bar)
        )
        inspector.deepest_requested.connect(
            lambda class_id, is_last: self._change_policy(class_id, is_deepest=is_last)
        )
        inspector.broadest_requested.connect(
            lambda class_id, is_it: self._change_policy(class_id, is_broadest=is_it)
        )
        inspector.parent_requested.connect(
            lambda class_id, parent_id: self.link(parent_id, [class_id])
        )
        inspector.parent_wanted.connect(self.ask_parent)
        inspector.unlink_requested.connect(lambda *place: self.unlink((place,)))
        inspector.attributes_changed.connect(
            lambda class_id, values: self.set_attributes([class_id], values)
        )
        inspector.colour_chosen.connect(self.set_colour_of_chosen)

    @action_new("new_class", marked("New class…"), keys="Ctrl+N", needs=WRITE)
    def ask_new_below(self) -> None:
        self.ask_new(self._tree.selected_class)

    @action_new(
        "new_sibling",
        marked("New sibling class…"),
        keys="Ctrl+Return Ctrl+Enter",
        needs=ON_CLASS,
        in_bar=False,
    )
    def ask_new_sibling(self) -> None:
        self.ask_new(self._tree.selected_parent)

    @action_new(
        "new_parent",
        marked("New class above it…"),
        keys="Ctrl+Shift+Return Ctrl+Shift+Enter",
        needs=ON_CLASS,
    )
    def ask_new_above(self) -> None:
        current = self._tree.selected_class, self._tree.selected_parent
        self.ask_new_parent(
            tuple(sorted(self._tree.selected_places, key=lambda place: place != current))
        )

    @action_new(
        "new_top_class",
        marked("New class at the top level…"),
        keys="Ctrl+Alt+Return Ctrl+Alt+Enter",
        needs=WRITE,
        in_bar=False,
    )
    def ask_new_top(self) -> None:
        self.ask_new(None)

    @action_change("rename_class", marked("Rename class…"), "rename", "F2")
    def ask_name_of_chosen(self) -> None:
        if self._tree.selected_class is not None:
            self.ask_name(self._tree.selected_class)

    @action_change("class_key", marked("Key for labelling…"), "keys", "")
    def ask_key_of_chosen(self) -> None:
        if self._tree.selected_class is not None:
            self.ask_key(self._tree.selected_class)

    @action(
        "class_rules",
        marked("Rules for the class list…"),
        "settings",
        "",
        Section.CLASSES_GRAPH,
        needs=WRITE,
    )
    def ask_rules_of_project(self) -> None:
        self.ask_rules()

    @action_parents("move_class", marked("Move under…"), "move", "Ctrl+Alt+M")
    def move_chosen(self) -> None:
        self.ask_place(self._tree.selected_places)

    @action_parents("link_parent", marked("Add another parent…"), "link", "Ctrl+L")
    def ask_parent_of_chosen(self) -> None:
        self.ask_parent(*self._tree.selected_classes)

    @action_parents(
        "unlink_parent",
        marked("Unlink from a parent"),
        "unlink",
        "Ctrl+U",
        needs=ON_CLASS | Needs.SEVERAL_PARENTS,
    )
    def unlink_chosen(self) -> None:
        self.unlink(self._places_to_unlink())

    @action_change("merge_class", marked("Merge class into…"), "merge", "Ctrl+J")
    def ask_heir_of_chosen(self) -> None:
        """Ask for the class to merge into; siblings are offered first."""
        graph, parent_id = self._session.graph, self._tree.selected_parent
        siblings = graph.roots() if parent_id is None else graph.children(parent_id)
        self.ask_heir(self._tree.selected_classes, first=siblings)

    @action_copy(
        "copy_classes", marked("Copy classes"), "copy", "Ctrl+C", needs=READ_CLASS, on_classes=True
    )
    def copy(self) -> None:
        self.clipboard.copy(self._tree.selected_places)

    @action_copy(
        "cut_classes", marked("Cut classes"), "cut", "Ctrl+X", needs=ON_CLASS, on_classes=True
    )
    def cut(self) -> None:
        self.clipboard.cut(self._tree.selected_places)

    @action_copy("paste_classes", marked("Paste classes"), "paste", "Ctrl+V", needs=WRITE)
    def paste(self) -> None:
        self.clipboard.paste(self._tree.selected_class)

    @action(
        "remove_class",
        marked("Remove class"),
        "delete",
        "Del",
        Section.CLASSES_REMOVE,
        needs=ON_CLASS,
        on_classes=True,
    )
    def remove_chosen(self) -> None:
        self.remove(self._tree.selected_classes)

    def there(self) -> Needs:
        chosen = Needs.CLASS if self._tree.selected_class is not None else Needs.NOTHING
        return chosen | (Needs.SEVERAL_PARENTS if self._places_to_unlink() else Needs.NOTHING)

    def titles(self) -> Mapping[str, str]:
        class_id, parent_id = self._tree.selected_class, self._tree.selected_parent
        new, unlink = tr("New class…"), tr("Unlink from a parent")
        if class_id is not None and class_id in self._session.graph:
            new = tr("New class under {1}…", self._name_in_menu(class_id))
            if parent_id is not None and self._places_to_unlink():
                unlink = tr("Unlink from {1}", self._name_in_menu(parent_id))
        merge, remove = tr("Merge class into…"), tr("Remove class")
        if (count := len(self._tree.selected_classes)) > 1:
            merge = tr("Merge {1} into…", classes_text(count))
            remove = tr("Remove {1}", classes_text(count))
        return {
            "new_class": new,
            "unlink_parent": unlink,
            "merge_class": merge,
            "remove_class": remove,
        }

    def _open_menu(self, class_id: int | None, place: QPoint) -> None:
        self._shell.needs_changed.emit()
        self._shell.registry.menu_of(self.menu(class_id), self._shell).popup(place)

    def menu(self, class_id: int | None) -> tuple[str, ...]:
        if class_id is None:
            return ("new_top_class", "paste_classes", "import_classes", "class_rules")
        unlink = ("unlink_parent",) if self._places_to_unlink() else ()
        new = ("new_class", "new_sibling", "new_parent")
        clipboard = ("copy_classes", "cut_classes", "paste_classes")
        placing = ("move_class", "link_parent", *unlink, "merge_class")
        return (*new, "rename_class", "class_key", *placing, *clipboard, "remove_class")

    def _places_to_unlink(self) -> Places:
        """Selected places whose class has another parent."""
        graph = self._session.graph
        return tuple(
            (class_id, parent_id)
            for class_id, parent_id in self._tree.selected_places
            if parent_id is not None and class_id in graph and len(graph.parents(class_id)) > 1
        )

    def _name_in_menu(self, class_id: int) -> str:
        return for_menu(self._session.graph.shown_name(class_id), LONGEST_IN_MENU)

    def set_colour_of_chosen(self, class_id: int, colour: str) -> None:
        chosen = self._tree.selected_classes
        self.set_attributes(chosen if class_id in chosen else (class_id,), {"colour": colour})

    def _change_policy(self, class_id: int, **changes: Any) -> None:
        def act(project: Project) -> Change:
            from engine.project import ClassPolicy

            known = project.policies.by_class().get(class_id, ClassPolicy())
            return project.policies.set(class_id, replace(known, **changes))

        self._session.act(act)
