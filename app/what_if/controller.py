"""What edits do to the predictions: the badge in the grid's header, and the panel that shows the images."""

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.texts import translate
from app.what_if.edit_watch import EditWatch

if TYPE_CHECKING:
    from app.images.thumbnails import Thumbnails
    from app.session import Session
    from app.side_panel.place import SidePlace
    from app.what_if.changed_panel import ChangedPanel
    from engine.collection.what_if.changed_images import ChangedImages


@final
class WhatIf(QObject):
    """Tells what each edit changed.

    Signals:
        changes_shown: the `ChangedImages` for the badge; None for none.
        image_requested: an image to bring into sight.
    """

    changes_shown = Signal(object)
    image_requested = Signal(int)

    def __init__(self, session: "Session", thumbnails: "Thumbnails", side: "SidePlace") -> None:
        super().__init__(side)
        self.panel: ChangedPanel | None = None
        self._session = session
        self._thumbnails = thumbnails
        self._side = side
        self._changes: ChangedImages | None = None
        self._edits = EditWatch(session, self)
        self._edits.changes_found.connect(self._on_changes_found)
        self._edits.forgotten.connect(self._on_forgotten)

    def callbacks(self) -> dict[str, Callable[[], None]]:
        """Actions by name."""
        return {"show_changed_images": self.open_panel}

    def open_panel(self) -> None:
        """Show the images in the place of the inspector."""
        if self.panel is None:
            self.panel = self._make_panel()
        self._fill_panel()
        self._side.show_panel(self.panel)
        if self.panel.moves.isVisible():
            self.panel.moves.setFocus()

    def name_of(self, class_id: int) -> str:
        """Name of a class, also of one that an edit removed."""
        graph = self._session.graph
        if class_id in graph:
            return graph.name(class_id)
        return self._edits.gone.get(class_id, translate("what_if", "a removed class"))

    def _make_panel(self) -> "ChangedPanel":
        from app.what_if.changed_panel import ChangedPanel

        panel = ChangedPanel(self._thumbnails)
        panel.image_requested.connect(self.image_requested)
        panel.close_requested.connect(lambda: self._side.close_panel(panel))
        return panel

    def _fill_panel(self) -> None:
        if self.panel is not None:
            from engine.collection.what_if.changed_images import ChangedImages

            changes = self._changes or ChangedImages()
            self.panel.show_changes(changes, self._edits.texts, self._session.state, self.name_of)

    def _on_changes_found(self, changes: "ChangedImages") -> None:
        self._changes = changes
        self._fill_panel()
        self.changes_shown.emit(changes)

    def _on_forgotten(self) -> None:
        self._changes = None
        self.changes_shown.emit(None)
        if self.panel is not None:
            self._fill_panel()
            self._side.close_panel(self.panel)
