"""Canvases that zoom and pan together."""

from collections.abc import Sequence
from functools import partial
from typing import final

from PySide6.QtCore import QObject

from app.image_view.canvas import ImageCanvas
from app.image_view.shared_view import SharedView


@final
class LockedCanvases(QObject):
    """Canvases that share zoom and position while locked."""

    def __init__(self, canvases: Sequence[ImageCanvas], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._canvases = tuple(canvases)
        self.is_locked = True
        for canvas in self._canvases:
            canvas.view_changed.connect(partial(self._on_view_changed, canvas))

    def set_locked(self, is_locked: bool, leader: ImageCanvas) -> None:
        """Lock all canvases to the view of `leader`, or unlock them."""
        self.is_locked = is_locked
        self._on_view_changed(leader, leader.view)

    def _on_view_changed(self, leader: ImageCanvas, view: SharedView) -> None:
        for canvas in self._canvases if self.is_locked else ():
            if canvas is not leader:
                canvas.show_view(view)
