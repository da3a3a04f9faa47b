"""Where the faces of a row lie: plain arithmetic, so that a row of 10,000 images costs as much as one of ten."""

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QPoint, QRect

from app.theme.tokens import tokens

FACE: Final = 50  # side of a face. Chosen: five lie beside one another in the narrowest panel.
GAP: Final = 6  # between faces


@dataclass(frozen=True)
class FaceLayout:
    """Lines of faces below a line of text."""

    row: QRect  # the whole row
    text_height: int  # of the line above them
    images: int
    is_open: bool  # whether all of them are shown, or one line

    @property
    def columns(self) -> int:
        return max(1, (self.row.width() - 2 * tokens().spacing.medium + GAP) // (FACE + GAP))

    @property
    def count(self) -> int:
        return self.images if self.is_open else min(self.columns, self.images)

    @property
    def has_more(self) -> bool:
        return self.images > self.columns

    @property
    def height(self) -> int:
        lines = -(-self.count // self.columns)
        return self._faces_top - self.row.top() + lines * (FACE + GAP) - GAP + tokens().spacing.small

    @property
    def _faces_top(self) -> int:
        return self.row.top() + tokens().spacing.small + self.text_height + tokens().spacing.tiny

    def rect(self, place: int) -> QRect:
        line, column = divmod(place, self.columns)
        left = self.row.left() + tokens().spacing.medium + column * (FACE + GAP)
        return QRect(left, self._faces_top + line * (FACE + GAP), FACE, FACE)

    def places_in(self, seen: QRect) -> range:
        """Faces in the lines that a rectangle touches."""
        first = max(0, (seen.top() - self._faces_top) // (FACE + GAP))
        last = (seen.bottom() - self._faces_top) // (FACE + GAP)
        return range(min(first * self.columns, self.count), max(0, min((last + 1) * self.columns, self.count)))

    def place_at(self, point: QPoint) -> int:
        """The face there, -1 for none."""
        touched = self.places_in(QRect(point.x(), point.y(), 1, 1))
        return next((place for place in touched if self.rect(place).contains(point)), -1)
