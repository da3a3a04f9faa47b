"""The two-part switch between the grid of images and the drawing of the graph."""

from typing import Final, final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QSizePolicy, QWidget

from app.theme.icons import icon

ICON_SIDE: Final = 16


@final
class ViewSwitch(QWidget):
    """Images, or the graph.

    Signals:
        graph_chosen: whether the graph is wanted.
    """

    graph_chosen = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        self.images = self._make(self.tr("Images"), "images")
        self.graph = self._make(self.tr("Graph"), "graph")
        for button in (self.images, self.graph):
            button.setToolTip(self.tr("%1 (Ctrl+G switches)").replace("%1", button.text()))
        self.images.setChecked(True)
        self.images.clicked.connect(lambda _is_checked=False: self.graph_chosen.emit(False))
        self.graph.clicked.connect(lambda _is_checked=False: self.graph_chosen.emit(True))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        row.addWidget(self.images)
        row.addWidget(self.graph)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def _make(self, text: str, icon_name: str) -> QPushButton:
        button = QPushButton(icon(icon_name), text)
        button.setProperty("role", "chip")
        button.setIconSize(QSize(ICON_SIDE, ICON_SIDE))
        button.setCheckable(True)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        self._group.addButton(button)
        return button

    def show_view(self, *, is_graph: bool) -> None:
        """Light the half that is shown."""
        (self.graph if is_graph else self.images).setChecked(True)
