"""The two-part switch between the grid of images and the drawing of the graph."""

from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QSizePolicy, QToolButton, QWidget

from app.controls import make_icon_button
from app.texts import tr


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
        self.images = self._make("images", tr("Images (Ctrl+G)"), is_graph=False)
        self.graph = self._make("graph", tr("Class graph (Ctrl+G)"), is_graph=True)
        self.images.setChecked(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        row.addWidget(self.images)
        row.addWidget(self.graph)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def _make(self, icon_name: str, tip: str, *, is_graph: bool) -> QToolButton:
        button = make_icon_button(icon_name, tip, lambda: self.graph_chosen.emit(is_graph))
        button.setCheckable(True)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        self._group.addButton(button)
        return button

    def show_view(self, *, is_graph: bool) -> None:
        """Light the half that is shown."""
        (self.graph if is_graph else self.images).setChecked(True)
