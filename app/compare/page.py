"""Base of both compare pages: a bar, canvases with locked zoom, and keys for viewing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from app.actions.key_tips import set_key_tip
from app.compare.keys import KEYS
from app.controls import ElidedLabel, make_icon_button, make_label
from app.image_view.canvas import ImageCanvas
from app.image_view.locked import LockedCanvases
from app.mirroring import is_mirrored
from app.texts import tr
from app.theme.icons import icon
from app.theme.tokens import tokens
from app.wording import percent_of_size

Key = Qt.Key
# Direction of each arrow key: right, down.
ARROWS = {
    Key.Key_Left: (-1, 0),
    Key.Key_Right: (1, 0),
    Key.Key_Up: (0, -1),
    Key.Key_Down: (0, 1),
}


@final
class CompareBar(QWidget):
    """A line of text, `- 100% +`, and the lock button."""

    requested = Signal(str)  # name of a page key

    def __init__(self) -> None:
        super().__init__()
        spacing = tokens().spacing
        self.text = ElidedLabel("muted")
        self._scale = make_label("", "secondary")
        self._scale.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._scale.setMinimumWidth(self._scale.fontMetrics().horizontalAdvance("0,000%"))
        self.lock = self._make("lock", tr("Zoom and place are the same in all"), "lock")
        self.lock.setCheckable(True)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(spacing.medium, spacing.tiny, spacing.medium, spacing.tiny)
        layout.setSpacing(spacing.tiny)
        layout.addWidget(self.text, 1)
        parts = (
            self._make("zoom_out", tr("Zoom out"), "smaller"),
            self._scale,
            self._make("zoom_in", tr("Zoom in"), "larger"),
            self._make("fit", tr("Fit to the window"), "fit"),
            self._make("actual_size", tr("Actual size"), "actual_size"),
            self.lock,
        )
        for part in parts:
            layout.addWidget(part)

    def _make(self, icon_name: str, tip: str, key: str) -> QToolButton:
        button = make_icon_button(icon_name, tip, lambda: self.requested.emit(key))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        set_key_tip(button, tip, key, KEYS)
        return button

    def show_scale(self, scale: float) -> None:
        self._scale.setText(percent_of_size(scale) if scale else "")

    def show_locked(self, *, is_locked: bool) -> None:
        self.lock.setChecked(is_locked)
        self.lock.setIcon(icon("lock" if is_locked else "unlink"))


class ComparedPage(QWidget):
    """Base class: a subclass adds its layout below `bar` and calls `lock_together`."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.bar = CompareBar()
        self._canvases: tuple[ImageCanvas, ...] = ()
        self._locked = LockedCanvases(())
        self._acts: dict[str, Callable[[], object]] = {
            "lock": self._toggle_lock,
            "larger": lambda: self.active_canvas.zoom(1),
            "smaller": lambda: self.active_canvas.zoom(-1),
            "fit": self._fit,
            "actual_size": self._toggle_size,
            "previous": lambda: self.step(-1, 0),
            "next": lambda: self.step(1, 0),
        }
        self.bar.requested.connect(lambda name: self._acts[name]())
        self.bar.show_locked(is_locked=True)

    @property
    @abstractmethod
    def active_canvas(self) -> ImageCanvas:
        """The canvas that keys zoom and move."""

    @abstractmethod
    def step(self, x: int, y: int) -> None:
        """Go to a neighbouring image; each of -1, 0 and 1."""

    @property
    def is_locked(self) -> bool:
        return self._locked.is_locked

    def lock_together(self, canvases: Sequence[ImageCanvas]) -> None:
        """Zoom and pan these canvases together."""
        self._canvases = tuple(canvases)
        self._locked.deleteLater()
        is_locked, self._locked = self._locked.is_locked, LockedCanvases(canvases, self)
        self._locked.is_locked = is_locked
        for canvas in canvases:
            canvas.zoom_changed.connect(lambda _scale: self.show_scale())

    def show_scale(self) -> None:
        self.bar.show_scale(self.active_canvas.scale)

    def _toggle_lock(self) -> None:
        self._locked.set_locked(not self._locked.is_locked, self.active_canvas)
        self.bar.show_locked(is_locked=self._locked.is_locked)

    def _fit(self) -> None:
        self.active_canvas.fit()

    def _toggle_size(self) -> None:
        canvas = self.active_canvas
        if canvas.is_fitted:
            canvas.show_pixels()
        else:
            canvas.fit()

    def abandon(self) -> None:
        """Cancel decoding before the page is deleted."""
        for canvas in self._canvases:
            canvas.abandon()

    def stop(self) -> None:
        """Stop decoding before the program exits."""
        for canvas in self._canvases:
            canvas.stop()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the keys of the page.

        Arrow keys pan a zoomed image, otherwise they go to the next one.
        """
        key = Key(event.key())
        if (
            key in ARROWS
            and event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            == Qt.KeyboardModifier.NoModifier
        ):
            self._on_arrow(*ARROWS[key])
        elif not KEYS.press(event, self._acts):
            super().keyPressEvent(event)

    def _on_arrow(self, x: int, y: int) -> None:
        if self.active_canvas.can_move(x, y):
            self.active_canvas.move_by(x, y)
        else:
            self.step(-x if is_mirrored() else x, y)
