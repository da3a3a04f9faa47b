"""Actions on the window: undo and redo, command palette, shortcuts, panes and sort orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.actions.keys import keys_in_use
from app.actions.keys_sheet import KeysSheet
from app.actions.row import WRITE, Method, Needs, Section, action
from app.feature import Feature
from app.image_grid.held_order import Order
from app.image_view.view import KEYS as IMAGE_VIEW_KEYS
from app.palette.logic import SHOW_CLASS, PaletteRow, class_rows, commands_for, found_rows
from app.session.subsets import Subset
from app.texts import for_menu, marked, tr

if TYPE_CHECKING:
    from app.shell import Shell


ANY = Needs.NOTHING
ON_CLASS = Needs.PROJECT | Needs.CLASS
IN_GRAPH = Section.VIEW_GRAPH


def _order(order: Order, text: str) -> Callable[[Method], Method]:
    return action(f"order_{order.value}", text, "sort", "", Section.VIEW_SORT, given=(order,))


def _subset(subset: Subset, name: str, text: str, keys: str) -> Callable[[Method], Method]:
    return action(name, text, name, keys, Section.VIEW_SHOW, given=(subset,))


def _on_image(name: str, text: str, icon: str, keys: str) -> Callable[[Method], Method]:
    needs = Needs.PROJECT | Needs.IMAGES
    return action(name, text, icon, keys, Section.IMAGES_OPEN, needs=needs, on_images=True)


@final
class WindowActions(Feature):
    """Actions on the panes and on the whole window."""

    page_keys = (IMAGE_VIEW_KEYS,)

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._tree, self._workspace, self._grid = shell.tree, shell.workspace, shell.workspace.grid
        self._keys: KeysSheet | None = None
        self._undo_text = self._redo_text = ""  # of the next step; empty where there is none
        keys_in_use().changed.connect(self._forget_sheet)
        shell.inspector.requests.folder_requested.connect(self.show_in_folder)
        self._session.undo_state_changed.connect(self._on_undo_state_changed)

    def there(self) -> Needs:
        images = Needs.IMAGES if self._workspace.active_images.chosen_ids else Needs.NOTHING
        undo, redo = (
            Needs.UNDO if self._undo_text else Needs.NOTHING,
            Needs.REDO if self._redo_text else Needs.NOTHING,
        )
        return images | undo | redo

    @_on_image("open_image", marked("Open the image"), "open_image", "Space")
    def open_image(self) -> None:
        if self._grid.current_id is not None:
            self._workspace.open_image(self._grid.current_id)

    @_on_image("show_in_folder", marked("Show in folder"), "folder", "")
    def show_in_folder(self) -> None:
        """Show the folder of the current image in the system's file browser."""
        state, image_id = self._session.state, self._workspace.active_images.current_id
        if state is not None and image_id is not None:
            self.show_folder(state.path_of(image_id).parent)

    @_on_image("copy_path", marked("Copy path"), "copy", "Ctrl+Shift+C")
    def copy_path(self) -> None:
        """Copy the paths of the selected images, one per line."""
        state = self._session.state
        if state is not None:
            paths = "\n".join(str(state.path_of(image_id)) for image_id in self._grid.selected_ids)
            QGuiApplication.clipboard().setText(paths)

    @action(
        "next_pane", marked("Go to the next pane"), "class", "F6", Section.VIEW_PANES, given=(1,)
    )
    @action(
        "previous_pane",
        marked("Go to the previous pane"),
        "class",
        "Shift+F6",
        Section.VIEW_PANES,
        given=(-1,),
        in_bar=False,
    )
    def go_to_pane(self, step: int) -> None:
        """Move the keyboard focus between classes, images and right panel, in a cycle."""
        self._shell.panes.go_round(step, (self._tree.take_keyboard, self._workspace.take_keyboard))

    @_subset(Subset.ALL, "show_all", marked("All images"), "Ctrl+6")
    @_subset(Subset.TO_REVIEW, "show_to_review", marked("Images to review"), "Ctrl+7")
    @_subset(Subset.LABELLED, "show_labelled", marked("Labelled images"), "Ctrl+8")
    @_subset(Subset.UNKNOWN, "show_unknown", marked("Unknown images"), "Ctrl+9")
    def show_subset(self, subset: Subset) -> None:
        self._tree.select_subset(subset)

    @_order(Order.TEACH_FIRST, marked("Teach first"))
    @_order(Order.UNSURE_FIRST, marked("Least certain first"))
    @_order(Order.SUREST_FIRST, marked("Most certain first"))
    @_order(Order.CLASS, marked("Class"))
    @_order(Order.ADDED, marked("Order added"))
    @_order(Order.NAME, marked("Name"))
    @_order(Order.TAKEN, marked("Date taken"))
    @_order(Order.FOLDER, marked("Folder"))
    @_order(Order.SIZE, marked("File size"))
    def choose_order(self, order: Order) -> None:
        self._workspace.choose_order(order)

    @action("sort_again", marked("Sort again"), "refresh", "", Section.VIEW_SORT_AGAIN)
    def sort_again(self) -> None:
        self._workspace.sort_again()

    @action(
        "right_panel",
        marked("Show or hide the right panel"),
        "right_panel",
        "F8",
        Section.VIEW_PANES,
    )
    def toggle_right(self) -> None:
        self._shell.panes.toggle_right()

    @action("full_screen", marked("Full screen"), "fit", "F11", Section.VIEW_PANES, needs=ANY)
    def toggle_full_screen(self) -> None:
        """Toggle full screen; the window's earlier size is restored."""
        self._shell.setWindowState(self._shell.windowState() ^ Qt.WindowState.WindowFullScreen)

    @action("show_graph", marked("Class graph or images"), "graph", "Ctrl+G", IN_GRAPH)
    def toggle_graph(self) -> None:
        self._workspace.show_graph(not self._workspace.is_graph_shown)

    @action("fit_graph", marked("See the whole class graph"), "fit", "Ctrl+0", IN_GRAPH)
    def fit_graph(self) -> None:
        self._workspace.look_at_graph().fit()

    @action(
        "focus_class",
        marked("Show what is around the class"),
        "target",
        "Ctrl+Shift+F",
        IN_GRAPH,
        needs=ON_CLASS,
    )
    def focus_class(self) -> None:
        self._workspace.look_at_graph().toggle_focus()

    @action(
        "zoom_in",
        marked("Larger thumbnails"),
        "zoom_in",
        "Ctrl++ Ctrl+=",
        Section.VIEW_ZOOM,
        given=(1,),
    )
    @action(
        "zoom_out",
        marked("Smaller thumbnails"),
        "zoom_out",
        "Ctrl+-",
        Section.VIEW_ZOOM,
        given=(-1,),
    )
    def zoom(self, steps: int) -> None:
        self._workspace.zoom(steps)

    @action(
        "show_failures", marked("Files that could not be read"), "failure", "", Section.VIEW_FOUND
    )
    def show_failures(self) -> None:
        self._shell.status_line.job_bar.show_failures()

    @action("undo", marked("Undo"), "undo", "Ctrl+Z", Section.EDIT_UNDO, needs=WRITE | Needs.UNDO)
    def undo(self) -> None:
        self._session.undo()

    @action(
        "redo",
        marked("Redo"),
        "redo",
        "Ctrl+Shift+Z Ctrl+Y",
        Section.EDIT_UNDO,
        needs=WRITE | Needs.REDO,
    )
    def redo(self) -> None:
        self._session.redo()

    def titles(self) -> Mapping[str, str]:
        undo, redo = tr("Undo"), tr("Redo")
        if self._undo_text:
            undo = tr("Undo {1}", for_menu(self._undo_text))
        if self._redo_text:
            redo = tr("Redo {1}", for_menu(self._redo_text))
        return {"undo": undo, "redo": redo}

    def _on_undo_state_changed(self, undo_text: str, redo_text: str) -> None:
        self._undo_text, self._redo_text = undo_text, redo_text

    @action(
        "command_palette",
        marked("Search commands and classes…"),
        "search",
        "Ctrl+K",
        Section.EDIT_SEARCH,
        needs=ANY,
    )
    def open_palette(self) -> None:
        self._palette.ask(tr("Search commands and classes"), self._palette_rows, self._on_choice)

    @action("search_images", marked("Search images"), "search", "Ctrl+F", Section.EDIT_SEARCH)
    def search_images(self) -> None:
        """Focus the search for images, or for classes in the class graph."""
        if self._workspace.is_graph_shown and self._workspace.page is None:
            self._workspace.look_at_graph().take_keyboard()
        else:
            self._workspace.open_search()

    @action("clear_search", marked("Clear the search"), "close", "", Section.EDIT_SEARCH)
    def clear_search(self) -> None:
        self._workspace.search_bar.close_search()

    def _palette_rows(self, text: str) -> list[PaletteRow]:
        commands = commands_for(self._shell.registry.palette_rows(), text)
        return found_rows(commands, self._class_rows(text), text) if text.strip() else commands

    def _class_rows(self, text: str) -> list[PaletteRow]:
        return class_rows(
            self._session.graph, text, act=SHOW_CLASS, key_text=keys_in_use().text_of_class
        )

    def _on_choice(self, choice: str | int) -> None:
        """Trigger an action, or select a class."""
        if isinstance(choice, str):
            self._shell.trigger(choice)
        else:
            self._shell.tree.select_class(choice)

    @action("show_keys", marked("Keyboard shortcuts"), "keys", "?", Section.HELP_READ, needs=ANY)
    def show_keys(self) -> None:
        if self._keys is None:
            self._keys = KeysSheet(self._host, self._shell.rows.values(), self._shell.page_keys)
            self._keys.change_requested.connect(self._change_keys)
        self._keys.show_over()
        self._keys.setFocus()

    def _change_keys(self) -> None:
        if self._keys is not None:
            self._keys.dismiss()
        self._shell.trigger("change_keys")

    def _forget_sheet(self) -> None:
        if self._keys is not None:
            self._keys.deleteLater()
            self._keys = None
