"""The slim bar above a single image: which one it is, and zoom."""

from collections.abc import Callable
from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from app.controls import ElidedLabel, make_icon_button, make_label
from app.texts import tr
from app.theme.tokens import tokens
from app.wording import number, percent_of_size


@final
class ImageBar(QWidget):
    """`7 of 186 · IMG_0007.jpg`, buttons for the images beside it, and `- 100% +`."""

    step_requested = Signal(int)  # -1 or 1
    zoom_requested = Signal(int)  # -1 or 1
    fit_requested = Signal()
    pixels_requested = Signal()
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        spacing = tokens().spacing
        self._before = _quiet("chevron_left", tr("Previous image (Page Up)"), lambda: self.step_requested.emit(-1))
        self._after = _quiet("chevron_right", tr("Next image (Page Down)"), lambda: self.step_requested.emit(1))
        self._place = make_label("", "strong")
        self._name = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self.pages = make_label("", "secondary")
        self.pages.setToolTip(tr("Only the first page is shown and classified"))
        self.pages.hide()
        self._scale = make_label("", "secondary")
        self._scale.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._scale.setMinimumWidth(self._scale.fontMetrics().horizontalAdvance("0,000%"))
        self._zooming = (
            _quiet("zoom_out", tr("Smaller (-)"), lambda: self.zoom_requested.emit(-1)),
            self._scale,
            _quiet("zoom_in", tr("Larger (+)"), lambda: self.zoom_requested.emit(1)),
            _quiet("fit", tr("Fit to the window (0)"), self.fit_requested.emit),
            _quiet("actual_size", tr("Actual size (Z)"), self.pixels_requested.emit),
        )
        layout = QHBoxLayout(self)
        layout.setContentsMargins(spacing.small, 0, spacing.small, spacing.tiny)
        layout.setSpacing(spacing.tiny)
        for part in (self._before, self._after, self._place):
            layout.addWidget(part)
        layout.addSpacing(spacing.small)
        layout.addWidget(self._name, 1)
        layout.addWidget(self.pages)
        for part in self._zooming:
            layout.addWidget(part)
        layout.addSpacing(spacing.small)
        layout.addWidget(_quiet("close", tr("Back to all images (Esc)"), self.left.emit))

    def show_place(self, name: str, place: int, count: int) -> None:
        """Say which image it is: the `place`-th of `count`, counted from one."""
        self._name.show_text(name)
        self._place.setText(tr("%1 of %2", number(place), number(count)) if count else "")
        self.show_pages(1)
        self._before.setEnabled(place > 1)
        self._after.setEnabled(place < count)

    def show_pages(self, count: int) -> None:
        """Say that the image is the first of so many pages; nothing where there are no others."""
        self.pages.setText(tr("First of %1 pages", number(count)) if count > 1 else "")
        self.pages.setVisible(count > 1)

    def show_scale(self, scale: float) -> None:
        """Say how large the image is shown; nothing while there is none."""
        self._scale.setText(percent_of_size(scale) if scale else "")
        for part in self._zooming:
            part.setEnabled(scale > 0)


def _quiet(icon_name: str, tip: str, on_click: Callable[[], None]) -> QToolButton:
    """A button that leaves the keys to the image when it is clicked."""
    button = make_icon_button(icon_name, tip, on_click)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button
