"""The table of published networks: names can be told apart at every width, and columns that do not fit go away."""

from typing import Final, final

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView

from app.backbones.published_model import COLUMNS, PublishedModel
from app.texts import tr
from app.theme.tokens import tokens

ROWS_IN_SIGHT: Final = 7
NAME: Final = 0
LEAST_NAME_WIDTH: Final = 168  # in logical pixels: all but the longest names of torchvision fit
MOST_NAME_WIDTH: Final = 300
"""timm's are longer and differ anywhere; they come before other columns; the longest are cut in the middle."""
MEASURED_NAMES: Final = 8  # the longest ones, as letters are not of one width


@final
class NetworkTable(QTableView):
    """Searched and sorted by its model; one row is chosen."""

    def __init__(self, model: PublishedModel) -> None:
        super().__init__()
        self._networks = model
        self.setModel(model)
        self.setAccessibleName(tr("Published networks"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setSortingEnabled(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(tokens().spacing.control_height)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        header.setSortIndicator(NAME, Qt.SortOrder.AscendingOrder)
        self.setMinimumHeight(header.sizeHint().height() + ROWS_IN_SIGHT * tokens().spacing.control_height)
        model.modelReset.connect(self._fit_columns)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and self.model() is not None:
            self._fit_columns()

    def _fit_columns(self) -> None:
        """Show as many columns as leave the names their room, what matters most first."""
        room = self.viewport().width() - self._name_width()
        for place in sorted(range(1, len(COLUMNS)), key=lambda place: COLUMNS[place].rank):
            width, is_known = self._width_of(place), self._networks.tells(place)
            room -= width if is_known else 0
            self.setColumnHidden(place, room < 0 or not is_known)
            self.horizontalHeader().resizeSection(place, width)

    def _name_width(self) -> int:
        """What the names in the list need, within bounds."""
        longest = sorted((row.name for row in self._networks.rows), key=len)[-MEASURED_NAMES:]
        widest = max(map(self.fontMetrics().horizontalAdvance, longest), default=0) + tokens().spacing.large
        return max(LEAST_NAME_WIDTH, min(widest, MOST_NAME_WIDTH))

    def _width_of(self, place: int) -> int:
        """What the column's longest texts need, measured without asking a thousand cells."""
        widest = max((self.fontMetrics().horizontalAdvance(text) for text in self._networks.widest[place]), default=0)
        return max(widest + tokens().spacing.large, self.horizontalHeader().sectionSizeHint(place))
