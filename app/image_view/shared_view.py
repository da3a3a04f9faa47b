"""What part of a picture is seen, so that pictures of other sizes and shapes can show the same part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from app.image_view.canvas import ImageCanvas


@dataclass(frozen=True)
class SharedView:
    """Magnification and place, both relative to the picture."""

    zoom: float = 1.0  # times the fitted size
    x: float = 0.5  # of the picture's width, in the middle of the room
    y: float = 0.5


FITTED: Final = SharedView()


@final
class LockedCanvases(QObject):
    """Several canvases: what is zoomed or moved in one of them is in all, while they are locked."""

    def __init__(self, canvases: Sequence[ImageCanvas], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._canvases = tuple(canvases)
        self.is_locked = True
        for canvas in self._canvases:
            canvas.view_changed.connect(partial(self._on_view_changed, canvas))

    def set_locked(self, is_locked: bool, leader: ImageCanvas) -> None:
        """Lock them, all to what `leader` shows; or let each go its own way."""
        self.is_locked = is_locked
        self._on_view_changed(leader, leader.view)

    def _on_view_changed(self, leader: ImageCanvas, view: SharedView) -> None:
        for canvas in self._canvases if self.is_locked else ():
            if canvas is not leader:
                canvas.show_view(view)
