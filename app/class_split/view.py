"""View of the "Split class" card: images of both classes, name and place of the new class."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import final

from PySide6.QtCore import QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QButtonGroup, QLineEdit, QRadioButton, QWidget

from app.controls import make_button, make_flowing_label, make_label, make_row
from app.dragging import paint_rubber_band
from app.images.pixels import RADIUS
from app.images.strip import ThumbnailStrip
from app.images.thumbnails import Thumbnails
from app.key_names import ENTER_KEYS
from app.mirroring import key_in_reading_order
from app.palette.overlay import ScrollingCard
from app.side_panel.cards import FailureNotice
from app.texts import plain_button, tr
from app.theme.tokens import tokens
from app.wording import images
from engine.collection.state import CollectionState

# In logical pixels.
WIDTH = 720
SIDE = 72  # of a picture: five kinds of daisy can be distinguished
STEPS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


@dataclass(frozen=True)
class SplitDraft:
    """A proposed split."""

    class_id: int
    name: str
    # Labelled images in display order, each in one of the two tuples.
    staying: tuple[int, ...]
    leaving: tuple[int, ...] = ()

    def moved(self, image_ids: Collection[int]) -> SplitDraft:
        chosen = frozenset(image_ids)
        arriving = tuple(each for each in self.staying if each in chosen)
        returning = tuple(each for each in self.leaving if each in chosen)
        return replace(
            self,
            staying=(*(each for each in self.staying if each not in chosen), *returning),
            leaving=(*(each for each in self.leaving if each not in chosen), *arriving),
        )

    def exchanged(self) -> SplitDraft:
        return replace(self, staying=self.leaving, leaving=self.staying)


def first_draft(
    class_id: int,
    name: str,
    labelled: Sequence[int],
    chosen: Collection[int],
    kinds: Sequence[Sequence[int]],
) -> SplitDraft:
    """Move the chosen images; without any, the smaller of two `kinds` (sorted by size)."""
    known = frozenset(labelled)
    leaving = known & frozenset(chosen)
    if not leaving or leaving == known:
        leaving = known & frozenset(kinds[1]) if len(kinds) > 1 else frozenset()
    return SplitDraft(class_id, name, tuple(labelled)).moved(leaving)


@final
class PictureBoard(ThumbnailStrip):
    """Grid of square pictures, which are moved by a click, a rubber band or the keyboard."""

    moved = Signal(tuple)  # ids of the images to move to the other class

    def __init__(self, thumbnails: Thumbnails, name: str) -> None:
        super().__init__(thumbnails, side=SIDE, tip=None)
        self._current = 0
        self._pressed: QPoint | None = None
        self._pointer = QPoint()
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_images(self, image_ids: Sequence[int], state: CollectionState) -> None:
        super().show_images(image_ids, state)
        self._current = max(0, min(self._current, len(self._images) - 1))
        self.show()  # also while empty

    def heightForWidth(self, width: int) -> int:
        return max(SIDE, super().heightForWidth(width))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed = self._pointer = event.position().toPoint()
            event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is not None:
            self._pointer = event.position().toPoint()
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None or event.button() != Qt.MouseButton.LeftButton:
            return
        touched = [each for place, each in enumerate(self.image_ids) if self._is_touched(place)]
        self._pressed = None
        self.update()
        if touched:
            self.moved.emit(tuple(touched))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = key_in_reading_order(event.key())
        if key in STEPS and self._images:
            across, down = STEPS[key]
            step = across + down * self._columns(self.width())
            self._current = max(0, min(len(self._images) - 1, self._current + step))
            self.update()
        elif key == Qt.Key.Key_Space and self._images:
            self.moved.emit((self._images[self._current][0],))
        else:
            super().keyPressEvent(event)

    @property
    def _box(self) -> QRect | None:
        """Rubber band; None below the drag distance."""
        if self._pressed is None:
            return None
        is_click = (
            self._pointer - self._pressed
        ).manhattanLength() < QApplication.startDragDistance()
        return None if is_click else QRect(self._pressed, self._pointer).normalized()

    def _is_touched(self, place: int) -> bool:
        rect, box = self.rect_of(place), self._box
        return rect.contains(self._pointer) if box is None else rect.intersects(box)

    def is_framed(self, place: int) -> bool:
        if self._pressed is None:
            return self.hasFocus() and place == self._current
        return self._box is not None and self._is_touched(place)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter, box = QPainter(self), self._box
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self._images:
            self._paint_well(painter)
        if box is not None:
            paint_rubber_band(painter, box)
        painter.end()

    def _paint_well(self, painter: QPainter) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens().colours.sunken))
        painter.drawRoundedRect(QRectF(self.rect()), RADIUS, RADIUS)
        painter.setPen(QColor(tokens().colours.text_muted))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, tr("No images yet"))


@final
class SplitCard(ScrollingCard):
    """Card over the window; Enter splits if there is a name, Esc or a click outside cancels."""

    # The `SplitDraft`, the name of the new class, and whether it becomes a child of the class.
    split_requested = Signal(SplitDraft, str, bool)

    def __init__(self, host: QWidget, thumbnails: Thumbnails) -> None:
        super().__init__(host, WIDTH, tr("Split class"))
        self.draft = SplitDraft(0, "", ())
        self._state: CollectionState | None = None
        self.staying = PictureBoard(thumbnails, tr("Images that stay"))
        self.leaving = PictureBoard(thumbnails, tr("Images of the new class"))
        self.name = QLineEdit()
        self.name.setAccessibleName(tr("Name of the new class"))
        self.name.setPlaceholderText(self.name.accessibleName())
        self.below, self.as_siblings = QRadioButton(), QRadioButton()
        self.failure = FailureNotice()
        self.exchange_button = make_button(
            tr("Swap"), lambda: self._show(self.draft.exchanged()), variant="flat"
        )
        self.split_button = make_button(tr("Split"), self._on_split, variant="primary")
        self.keep_button = make_button(tr("Cancel"), self.dismiss)
        self._staying_title, self._leaving_title = (
            make_label("", "strong"),
            make_label("", "strong"),
        )
        self._lay_out()
        for board in (self.staying, self.leaving):
            board.moved.connect(lambda image_ids: self._show(self.draft.moved(image_ids)))
        self.name.textChanged.connect(self._on_name_changed)

    def _lay_out(self) -> None:
        spacing = tokens().spacing
        for title in (self._staying_title, self._leaving_title):
            title.setContentsMargins(0, spacing.small, 0, 0)
        place = make_row(self.below, self.as_siblings, None, spacing=spacing.medium)
        self._places = QButtonGroup(self)
        for button in (self.below, self.as_siblings):
            self._places.addButton(button)
        hint = tr(
            "Click an image, or drag a box around several, to move them to the other class. "
            "Only labelled images are listed."
        )
        first = (make_flowing_label(hint, "secondary"), self._staying_title, self.staying)
        parts = (*first, self._leaving_title, self.leaving, self.name, place, self.failure)
        self.fill_body(*parts, None)
        self.add_footer(self.exchange_button, None, self.keep_button, self.split_button)

    def show_draft(self, draft: SplitDraft, state: CollectionState) -> None:
        self._state = state
        self.name.clear()
        self.below.setText(plain_button(tr("Below {1}", draft.name)))
        self.as_siblings.setText(plain_button(tr("Next to {1}", draft.name)))
        self.as_siblings.setChecked(True)
        self.failure.show_text("")
        self._show(draft)
        self.show_over()
        self.name.setFocus()

    def show_failure(self, reason: str) -> None:
        self.failure.show_text(reason)
        self._settle()

    def _show(self, draft: SplitDraft) -> None:
        self.draft = draft
        self._staying_title.setText(tr("{1} keeps {2}", draft.name, images(len(draft.staying))))
        self._leaving_title.setText(tr("The new class gets {1}", images(len(draft.leaving))))
        if self._state is not None:
            self.staying.show_images(draft.staying, self._state)
            self.leaving.show_images(draft.leaving, self._state)
        self._enable_split()
        self._settle()

    def _enable_split(self) -> None:
        self.split_button.setEnabled(bool(self.draft.leaving and self.name.text().strip()))

    def _on_name_changed(self) -> None:
        self.failure.show_text("")
        self._enable_split()

    def _on_split(self) -> None:
        if self.split_button.isEnabled():
            self.split_requested.emit(self.draft, self.name.text().strip(), self.below.isChecked())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS:
            self._on_split()
        else:
            super().keyPressEvent(event)
