"""The page of a single image, opened from the grid."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import final

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from app.actions.key_tips import set_key_tip
from app.actions.page_keys import PageKey, PageKeys
from app.controls import ElidedLabel, fill_column, make_icon_button, make_label
from app.image_view.canvas import ImageCanvas, picture_of
from app.mirroring import is_mirrored
from app.texts import marked, plural, tr
from app.theme.tokens import tokens
from app.wording import image_name, number, percent_of_size
from engine.file_parts import BoundingBox, ImageSource

Key = Qt.Key
_SIDES = (
    ("left", "Left", marked("Move the box to the left"), marked("Make the box narrower")),
    ("right", "Right", marked("Move the box to the right"), marked("Make the box wider")),
    ("up", "Up", marked("Move the box up"), marked("Make the box shorter")),
    ("down", "Down", marked("Move the box down"), marked("Make the box taller")),
)
_STEPS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
"""Direction (right, down) of each key, in steps of `BOX_STEP`."""
BOX_STEP = 0.01
"""Step of moving or resizing a box by a key, in shares of the picture."""
NEW_BOX = BoundingBox(1 / 3, 1 / 3, 1 / 3, 1 / 3)
"""Box drawn by a key. Chosen: handles and surroundings are visible."""
KEYS = PageKeys(
    "image_view",
    marked("One image"),
    (
        PageKey("back", marked("Back to all images"), "Space"),
        PageKey("previous", marked("Previous image"), "PgUp"),
        PageKey("next", marked("Next image"), "PgDown"),
        PageKey("larger", marked("Zoom in"), "="),
        PageKey("smaller", marked("Zoom out"), "-"),
        PageKey("fit", marked("Fit to the window"), "0"),
        PageKey("actual_size", marked("Actual size"), "Z"),
        PageKey("turn_left", marked("Rotate left"), "[ Ctrl+Left"),
        PageKey("turn_right", marked("Rotate right"), "] Ctrl+Right"),
        PageKey("new_box", marked("New box in the middle"), "D"),
        *(PageKey(f"move_{name}", text, f"Alt+{key}") for name, key, text, _ in _SIDES),
        *(PageKey(f"resize_{name}", text, f"Alt+Shift+{key}") for name, key, _, text in _SIDES),
    ),
    with_images=True,
)
_OTHER_KEYS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
# Direction of each arrow key: right, down.
_ARROWS = {
    Key.Key_Left: (-1, 0),
    Key.Key_Right: (1, 0),
    Key.Key_Up: (0, -1),
    Key.Key_Down: (0, 1),
}


@final
class ImageBar(QWidget):
    """`7 of 186 · IMG_0007.jpg`, buttons for previous and next image, and `- 100% +`."""

    requested = Signal(str)  # name of a key of the page

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        spacing = tokens().spacing
        self._before = self._button("chevron_left", tr("Previous image"), "previous")
        self._after = self._button("chevron_right", tr("Next image"), "next")
        self._place = make_label("", "strong")
        self._name = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self.pages = make_label("", "secondary")
        self.pages.setToolTip(tr("Only the first page is shown and classified"))
        self.pages.hide()
        self._things = make_label("", "secondary")
        self._things.hide()
        self._scale = make_label("", "secondary")
        self._scale.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._scale.setMinimumWidth(self._scale.fontMetrics().horizontalAdvance("0,000%"))
        self._zooming = (
            self._button("rotate_left", tr("Rotate left"), "turn_left"),
            self._button("rotate_right", tr("Rotate right"), "turn_right"),
            self._button("zoom_out", tr("Zoom out"), "smaller"),
            self._scale,
            self._button("zoom_in", tr("Zoom in"), "larger"),
            self._button("fit", tr("Fit to the window"), "fit"),
            self._button("actual_size", tr("Actual size"), "actual_size"),
        )
        layout = QHBoxLayout(self)
        layout.setContentsMargins(spacing.small, 0, spacing.small, spacing.tiny)
        layout.setSpacing(spacing.tiny)
        for part in (self._before, self._after, self._place):
            layout.addWidget(part)
        layout.addSpacing(spacing.small)
        layout.addWidget(self._name, 1)
        layout.addWidget(self._things)
        layout.addWidget(self.pages)
        for part in self._zooming:
            layout.addWidget(part)
        layout.addSpacing(spacing.small)
        close = make_icon_button("close", tr("Back to all images (Esc)"))
        layout.addWidget(close)
        close.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        close.clicked.connect(lambda: self.requested.emit("back"))

    def _button(self, icon_name: str, tip: str, key: str) -> QToolButton:
        """A button for a key of the page; does not take the focus when clicked."""
        button = make_icon_button(icon_name, tip, lambda: self.requested.emit(key))
        set_key_tip(button, tip, key, KEYS)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def show_place(self, name: str, place: int, count: int) -> None:
        """Show name and position: the `place`-th of `count`, counted from one."""
        self._name.show_text(name)
        self._place.setText(tr("{1} of {2}", number(place), number(count)) if count else "")
        self.show_pages(1)
        self._before.setEnabled(place > 1)
        self._after.setEnabled(place < count)

    def show_pages(self, count: int) -> None:
        """Show that the image is the first of several pages; nothing for a single page."""
        self.pages.setText(
            plural(count, "First of 1 page", "First of {n} pages") if count > 1 else ""
        )
        self.pages.setVisible(count > 1)

    def show_things(self, count: int, place: int) -> None:
        """Show the number of things in the image and the current one; `place` is 0 for none."""
        total = plural(count, "1 thing", "{n} things")
        self._things.setText(
            tr("Thing {1} of {2}", number(place), number(count)) if place else total
        )
        self._things.setVisible(count > 0)

    def show_scale(self, scale: float) -> None:
        """Show the scale in percent; nothing without an image."""
        self._scale.setText(percent_of_size(scale) if scale else "")
        for part in self._zooming:
            part.setEnabled(scale > 0)


@final
class ImageView(QWidget):
    """A single image fitted to the page, below a bar with its name and position.

    Digits label here as in the grid, so actual size has the key Z.
    """

    left = Signal()  # Esc, Space, the close button or a double click
    step_requested = Signal(int)  # -1 or 1: previous or next image of the grid
    menu_requested = Signal(QPoint)  # global position

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Image"))
        self.bar = ImageBar()
        self.canvas = ImageCanvas()
        column = fill_column(self, self.bar, self.canvas, spacing=0)
        column.setStretch(1, 1)
        self.bar.requested.connect(self._on_requested)
        self.canvas.pages_counted.connect(self._on_pages_counted)
        self.canvas.zoom_changed.connect(self.bar.show_scale)
        self.canvas.double_clicked.connect(self.left)
        canvas = self.canvas
        self._acts: dict[str, Callable[[], None]] = {
            "back": self.left.emit,
            "previous": lambda: self.step_requested.emit(-1),
            "next": lambda: self.step_requested.emit(1),
            "larger": lambda: canvas.zoom(1),
            "smaller": lambda: canvas.zoom(-1),
            "fit": canvas.fit,
            "turn_left": lambda: canvas.rotate(-1),
            "turn_right": lambda: canvas.rotate(1),
            "new_box": lambda: canvas.box_drawn.emit(NEW_BOX),
            "actual_size": lambda: canvas.show_pixels() if canvas.is_fitted else canvas.fit(),
        }
        for name, (x, y) in _STEPS.items():
            self._acts[f"move_{name}"] = partial(self._change_box, x, y, 0, 0)
            self._acts[f"resize_{name}"] = partial(self._change_box, 0, 0, x, y)

    @property
    def has_image(self) -> bool:
        return self.canvas.has_image

    @property
    def path(self) -> Path | None:
        return None if self.canvas.source is None else self.canvas.source.path

    def show_image(self, image: ImageSource | Path, *, place: int = 1, count: int = 1) -> None:
        name = image_name(picture_of(image))
        self.setAccessibleDescription(name)
        self.bar.show_place(name, place, count)
        self.canvas.show_image(image)

    def _on_requested(self, name: str) -> None:
        """Carry out a button of the bar: like its key, but actual size does not fit again."""
        self.canvas.show_pixels() if name == "actual_size" else self._acts[name]()

    def _on_pages_counted(self, count: int) -> None:
        """Show the number of pages, unless each page is an image of its own."""
        source = self.canvas.source
        self.bar.show_pages(1 if source is None or source.part else count)

    def stop(self) -> None:
        self.canvas.stop()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the keys of the page.

        Arrow keys pan a zoomed image, otherwise go to the next one; Esc goes back.
        """
        key = Key(event.key())
        if key in _ARROWS and not event.modifiers() & _OTHER_KEYS:
            self._on_arrow(*_ARROWS[key])
        elif key == Key.Key_Escape and self.canvas.boxes.current_box is not None:
            self.canvas.box_chosen.emit(-1)
        elif key == Key.Key_Escape:
            self.left.emit()
        elif not KEYS.press(event, self._acts):
            super().keyPressEvent(event)

    def focusNextPrevChild(self, is_forward: bool) -> bool:
        """Tab cycles through the boxes, then moves on to the next widget."""
        ids = [each.image_id for each in self.canvas.boxes.boxes]
        current = self.canvas.boxes.current
        if not self.hasFocus() or not ids or not self.canvas.boxes.can_edit:
            return super().focusNextPrevChild(is_forward)
        if current not in ids:
            self.canvas.box_chosen.emit(ids[0 if is_forward else -1])
            return True
        place = ids.index(current) + (1 if is_forward else -1)
        if not 0 <= place < len(ids):
            return super().focusNextPrevChild(is_forward)
        self.canvas.box_chosen.emit(ids[place])
        return True

    def _change_box(self, x: int, y: int, wider: int, higher: int) -> None:
        """Move or resize the current box by steps, within the picture."""
        shown = self.canvas.boxes.current_box
        if shown is None or not self.canvas.boxes.can_edit:
            return
        left, top, width, height = shown.box
        width = min(max(width + wider * BOX_STEP, BOX_STEP), 1 - left)
        height = min(max(height + higher * BOX_STEP, BOX_STEP), 1 - top)
        left = min(max(left + x * BOX_STEP, 0.0), 1 - width)
        top = min(max(top + y * BOX_STEP, 0.0), 1 - height)
        box = BoundingBox.of(left, top, width, height)
        if box != shown.box:
            self.canvas.box_changed.emit(shown.image_id, box)

    def _on_arrow(self, x: int, y: int) -> None:
        if self.canvas.can_move(x, y):
            self.canvas.move_by(x, y)
        else:
            self.step_requested.emit(y - x if is_mirrored() else y + x)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self.setFocus()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Request the context menu at the pointer, or in the centre if opened by a key."""
        is_by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        if self.has_image:
            self.menu_requested.emit(
                self.mapToGlobal(self.rect().center()) if is_by_key else event.globalPos()
            )
