"""Geometry of the grid by arithmetic, independent of the number of cards. No Qt widgets."""

from dataclasses import dataclass, field

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QAbstractItemView

from app.images.pixels import SQUARE
from app.mirroring import is_mirrored

GAP = 12  # between cards, in pixels
MARGIN = 16  # around the grid, in pixels
PADDING = 4  # around a picture, in pixels
CAPTION_HEIGHT = 40  # pixels
SMALLEST_SIDE = 96  # of a thumbnail, in pixels
LARGEST_SIDE = 384  # of a thumbnail, in pixels
Action = QAbstractItemView.CursorAction
KEYS = {
    Qt.Key.Key_Left: Action.MoveLeft,
    Qt.Key.Key_Right: Action.MoveRight,
    Qt.Key.Key_Up: Action.MoveUp,
    Qt.Key.Key_Down: Action.MoveDown,
    Qt.Key.Key_PageUp: Action.MovePageUp,
    Qt.Key.Key_PageDown: Action.MovePageDown,
    Qt.Key.Key_Home: Action.MoveHome,
    Qt.Key.Key_End: Action.MoveEnd,
}
"""Keys that move the current card.

Ctrl has no effect, as the current card is always selected.
"""


@dataclass(frozen=True)
class GridGeometry:
    """A grid of cards of equal size."""

    width: int  # of the viewport
    side: int  # least side of a thumbnail; cards grow to fill the row
    count: int
    caption: int = CAPTION_HEIGHT  # height below each thumbnail
    # Whether rows run from right to left.
    is_mirrored: bool = field(default_factory=is_mirrored)
    shape: float = SQUARE  # aspect ratio of the picture's frame, height by width

    @property
    def columns(self) -> int:
        return max(1, (self.width - 2 * MARGIN + GAP) // (self.side + GAP))

    @property
    def card_width(self) -> int:
        return max(self.side // 2, (self.width - 2 * MARGIN + GAP) // self.columns - GAP)

    @property
    def frame_height(self) -> int:
        """Greatest height of a picture."""
        return round(self.shape * (self.card_width - 2 * PADDING))

    @property
    def picture_side(self) -> int:
        """Longest side of a picture."""
        return max(self.card_width, self.frame_height)

    @property
    def card_height(self) -> int:
        return self.frame_height + 2 * PADDING + self.caption

    @property
    def row_height(self) -> int:
        """Vertical distance of rows."""
        return self.card_height + GAP

    @property
    def rows(self) -> int:
        return -(-self.count // self.columns)

    @property
    def total_height(self) -> int:
        return 2 * MARGIN + self.rows * self.row_height - GAP if self.count else 0

    def rect(self, place: int) -> QRect:
        row, column = divmod(place, self.columns)
        left = MARGIN + column * (self.card_width + GAP)
        return self._seen(
            QRect(left, MARGIN + row * self.row_height, self.card_width, self.card_height)
        )

    def _seen(self, area: QRect) -> QRect:
        """Mirror a rectangle in right-to-left layouts; its own inverse."""
        return (
            area.translated(self.width - 2 * area.x() - area.width(), 0)
            if self.is_mirrored
            else area
        )

    def place_at(self, x: int, y: int) -> int | None:
        """The card at a point relative to the grid's top; None between cards."""
        x = self._seen(QRect(x, y, 1, 1)).x()
        column, in_column = divmod(x - MARGIN, self.card_width + GAP)
        row, in_row = divmod(y - MARGIN, self.row_height)
        place = row * self.columns + column
        is_inside = in_column < self.card_width and in_row < self.card_height
        is_card = 0 <= column < self.columns and row >= 0 and 0 <= place < self.count
        return place if is_inside and is_card else None

    def places_between(self, top: int, bottom: int) -> range:
        first = max(0, (top - MARGIN) // self.row_height)
        last = max(0, (bottom - MARGIN) // self.row_height)
        return range(
            min(first * self.columns, self.count), min((last + 1) * self.columns, self.count)
        )

    def places_in(self, area: QRect) -> list[int]:
        area, step = self._seen(area), self.card_width + GAP
        left = max(0, (area.left() - MARGIN - self.card_width) // step + 1)
        right = min(self.columns - 1, (area.right() - MARGIN) // step)
        top = max(0, (area.top() - MARGIN - self.card_height) // self.row_height + 1)
        bottom = min(self.rows - 1, (area.bottom() - MARGIN) // self.row_height)
        rows, columns = range(top, bottom + 1), range(left, right + 1)
        places = [row * self.columns + column for row in rows for column in columns]
        return [place for place in places if place < self.count]


def row_after(action: Action, row: int, geometry: GridGeometry, height: int) -> int:
    count, columns = geometry.count, geometry.columns
    page = max(1, height // geometry.row_height) * columns
    steps = {
        Action.MoveLeft: -1,
        Action.MovePrevious: -1,
        Action.MoveRight: 1,
        Action.MoveNext: 1,
        Action.MoveUp: -columns,
        Action.MoveDown: columns,
        Action.MovePageUp: -page,
        Action.MovePageDown: page,
        Action.MoveHome: -count,
        Action.MoveEnd: count,
    }
    return max(0, min(count - 1, row + steps[action]))
