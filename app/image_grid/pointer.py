"""Mouse interaction of the grid: selecting and dragging cards, and the rubber band."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from PySide6.QtCore import QModelIndex, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QDrag, QFontMetrics, QMouseEvent, QPainter, QPainterPath, QPen, QPixmap
from PySide6.QtWidgets import QAbstractItemView, QApplication, QWidget

from app.dragging import EdgeScroll, images_mime_data
from app.image_grid.choice import Choice
from app.image_grid.geometry import GridGeometry
from app.images.pixels import fitted
from app.painting import colour_of, font_of, paint_chip
from app.theme.tokens import tokens
from app.wording import number

# Drag pixmap, in logical pixels and pictures. Chosen by eye: shows several images compactly.
SIDE = 72
MOST_SHOWN = 3
STEP = 6  # offset of each picture of the pile, down and right
# Next to the pointer, so that the row below it stays readable.
HOT_SPOT = QPoint(-10, -10)
_BADGE_HEIGHT = 20  # of the count, in logical pixels
_ADDING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


def carry(grid: QWidget, image_ids: Sequence[int], thumbnails: Sequence[QPixmap | None]) -> None:
    pictures = [each for each in thumbnails if each is not None]
    drag = QDrag(grid)
    drag.setMimeData(images_mime_data(image_ids))
    drag.setPixmap(carried_picture(pictures, len(image_ids), grid.devicePixelRatioF()))
    drag.setHotSpot(HOT_SPOT)
    drag.exec(Qt.DropAction.CopyAction)


def carried_picture(pictures: Sequence[QPixmap], count: int, ratio: float) -> QPixmap:
    shown = pictures[:MOST_SHOWN]
    side = SIDE + STEP * (max(1, len(shown)) - 1) + _BADGE_HEIGHT // 2
    pile = QPixmap(QSize(side, side) * ratio)
    pile.setDevicePixelRatio(ratio)
    pile.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pile)
    painter.setRenderHints(
        QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform
    )
    top = _BADGE_HEIGHT // 2
    for depth in reversed(range(max(1, len(shown)))):
        frame = QRect(depth * STEP, top + depth * STEP, SIDE, SIDE)
        _paint_picture(painter, frame, shown[depth] if shown else None)
    if count > 1:
        _paint_badge(painter, SIDE + STEP * (max(1, len(shown)) - 1) + top, number(count))
    painter.end()
    return pile


def _paint_picture(painter: QPainter, frame: QRect, picture: QPixmap | None) -> None:
    radius = tokens().spacing.radius_small
    target = QRectF(frame) if picture is None else fitted(picture.size(), frame)
    shape = QPainterPath()
    shape.addRoundedRect(target, radius, radius)
    painter.save()
    painter.setClipPath(shape)
    if picture is None:
        painter.fillRect(target, colour_of("sunken"))
    else:
        painter.drawPixmap(target, picture, QRectF(picture.rect()))
    painter.restore()
    painter.strokePath(shape, QPen(colour_of("raised"), 1.5))


def _paint_badge(painter: QPainter, right: int, text: str) -> None:
    metrics = QFontMetrics(font_of("caption", is_strong=True))
    width = max(_BADGE_HEIGHT, metrics.horizontalAdvance(text) + 12)
    badge = QRectF(right - width, 0, width, _BADGE_HEIGHT)
    paint_chip(
        painter,
        badge,
        _BADGE_HEIGHT / 2,
        text,
        colour="on_accent",
        fill="accent",
        is_strong=True,
    )


@dataclass(frozen=True)
class _Press:
    """A pressed mouse button."""

    at: QPoint  # position in the viewport
    keys: Qt.KeyboardModifier  # modifiers at the press
    is_on_card: bool
    on_release: Callable[[], None]  # called if the button is released at the same place


@dataclass(frozen=True)
class _Band:
    """A rubber band."""

    origin: QPoint  # start, relative to the grid's top
    further: tuple[int, ...]  # images that stay selected
    former: tuple[int, ...]  # images selected before it started
    former_current: int | None  # the current image before it started


@final
class Pointer:
    """Handles the left mouse button."""

    def __init__(
        self,
        view: QAbstractItemView,
        choice: Choice,
        geometry: Callable[[], GridGeometry],
        take_along: Callable[[], None],
    ) -> None:
        self._view = view
        self._choice = choice
        self._geometry = geometry
        self._take_along = take_along
        self._press: _Press | None = None
        self._band: _Band | None = None
        self._end = QPoint()
        self._scroll = EdgeScroll(view, self._stretch)

    @property
    def band_rect(self) -> QRect | None:
        if self._band is None:
            return None
        return QRect(self._band.origin - self._offset(), self._end).normalized()

    def press(self, event: QMouseEvent, index: QModelIndex) -> None:
        """Handle a press on a card, or between cards if `index` is invalid."""
        point, keys = event.position().toPoint(), event.modifiers()
        if not index.isValid():
            self._press = _Press(
                point, keys, False, _nothing if keys & _ADDING else self._choice.let_go
            )
            return
        # A partly visible card must stay under the pointer.
        self._view.setAutoScroll(False)
        self._press = _Press(point, keys, True, self._choose_pressed(index.row(), keys))
        self._view.setAutoScroll(True)

    def _choose_pressed(self, row: int, keys: Qt.KeyboardModifier) -> Callable[[], None]:
        """Select a pressed card.

        Returns:
            What to do on release, as the press may begin a drag.
        """
        is_adding, choice = bool(keys & Qt.KeyboardModifier.ControlModifier), self._choice
        if keys & Qt.KeyboardModifier.ShiftModifier:
            choice.choose_up_to(row, keeps_others=is_adding)
        elif not choice.has(row):
            choice.toggle(row) if is_adding else choice.choose_alone(row)
        else:
            choice.make_current(row)
            image_id = choice.current_id  # other cards may leave before the release
            return lambda: self._release_chosen(image_id, is_adding=is_adding)
        return _nothing

    def _release_chosen(self, image_id: int | None, *, is_adding: bool) -> None:
        """Select only this card or deselect it, unless it was removed."""
        row = self._choice.row_of(image_id)
        if row is not None:
            self._choice.toggle(row) if is_adding else self._choice.choose_alone(row)

    def move(self, event: QMouseEvent) -> None:
        press, point = self._press, event.position().toPoint()
        if press is None or not event.buttons() & Qt.MouseButton.LeftButton:
            return
        if (
            self._band is None
            and (point - press.at).manhattanLength() < QApplication.startDragDistance()
        ):
            return
        if press.is_on_card:
            self._press = None
            self._take_along()
            return
        if self._band is None:
            self._begin_band(press)
        self._end = point
        self._scroll.follow(point.y())
        self._stretch()

    def release(self) -> None:
        press, self._press = self._press, None
        if self._band is not None:
            self._end_band()
        elif press is not None:
            press.on_release()

    def give_up(self) -> bool:
        """Cancel a rubber band and restore the selection; False if there was none."""
        band, self._press = self._band, None
        if band is None:
            return False
        self._end_band()
        if band.former_current is not None:
            self._choice.choose_ids(band.former, band.former_current)
        return True

    def _begin_band(self, press: _Press) -> None:
        former = self._choice.ids
        further = former if press.keys & _ADDING else ()
        self._band = _Band(press.at + self._offset(), further, former, self._choice.current_id)

    def _stretch(self) -> None:
        band, height = self._band, self._view.viewport().height()
        if band is None or not self._geometry().count:
            return
        end = QPoint(self._end.x(), max(0, min(height - 1, self._end.y()))) + self._offset()
        touched = self._geometry().places_in(QRect(band.origin, end).normalized())
        self._view.setAutoScroll(False)
        self._choice.choose_rows(touched, band.further)
        self._view.setAutoScroll(True)
        self._view.viewport().update()

    def _end_band(self) -> None:
        self._band = None
        self._scroll.stop()
        self._view.viewport().update()

    def _offset(self) -> QPoint:
        return QPoint(0, self._view.verticalScrollBar().value())


def _nothing() -> None:
    """Do nothing on release."""
