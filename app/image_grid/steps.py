"""Where arrows, Page, Home and End lead from a card."""

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView

from app.image_grid.geometry import GridGeometry

Action = QAbstractItemView.CursorAction
KEYS: Final = {
    Qt.Key.Key_Left: Action.MoveLeft, Qt.Key.Key_Right: Action.MoveRight,
    Qt.Key.Key_Up: Action.MoveUp, Qt.Key.Key_Down: Action.MoveDown,
    Qt.Key.Key_PageUp: Action.MovePageUp, Qt.Key.Key_PageDown: Action.MovePageDown,
    Qt.Key.Key_Home: Action.MoveHome, Qt.Key.Key_End: Action.MoveEnd,
}  # fmt: skip
"""What keys do. Ctrl changes nothing: the current card is always chosen, so there is no going without choosing."""


def row_after(action: Action, row: int, geometry: GridGeometry, height: int) -> int:
    """The row that a step leads to, within the cards."""
    count, columns = geometry.count, geometry.columns
    page = max(1, height // geometry.row_height) * columns
    steps = {
        Action.MoveLeft: -1, Action.MovePrevious: -1, Action.MoveRight: 1, Action.MoveNext: 1,
        Action.MoveUp: -columns, Action.MoveDown: columns, Action.MovePageUp: -page, Action.MovePageDown: page,
        Action.MoveHome: -count, Action.MoveEnd: count,
    }  # fmt: skip
    return max(0, min(count - 1, row + steps[action]))
