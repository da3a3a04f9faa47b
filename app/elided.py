"""A line of text that ends in an ellipsis where there is no room for it, as names of any length need."""

from typing import final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

from app.controls import set_property
from app.texts import plain_tip


@final
class ElidedLabel(QLabel):
    """One line that is cut with an ellipsis where it does not fit; its tip has all of it.

    Args:
        role: see `make_label`.
        mode: where the ellipsis stands.
        takes_rest: takes all the room that is left in its line; otherwise what its text needs, or less.
    """

    def __init__(
        self, role: str = "", *, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight, takes_rest: bool = True
    ) -> None:
        super().__init__()
        self._mode = mode
        self._takes_rest = takes_rest
        self.setTextFormat(Qt.TextFormat.PlainText)
        across = QSizePolicy.Policy.Expanding if takes_rest else QSizePolicy.Policy.Maximum
        self.setSizePolicy(across, QSizePolicy.Policy.Fixed)
        if role:
            self.setProperty("role", role)

    def show_text(self, text: str, *, role: str = "", tip: str = "") -> None:
        """Show a text, with its own tip where that says more."""
        self.setText(text)
        self.setToolTip(plain_tip(tip or text))
        if role:
            set_property(self, "role", role)

    @property
    def shown_text(self) -> str:
        """The text as it is painted, with its ellipsis."""
        return self.fontMetrics().elidedText(self.text(), self._mode, self.contentsRect().width())

    def sizeHint(self) -> QSize:
        """Ask for the height, and for the width of the text where nothing else is left to take."""
        wanted = super().sizeHint()
        return QSize(0, wanted.height()) if self._takes_rest else wanted

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint as much of the text as there is room for."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(
            self.contentsRect(), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self.shown_text
        )
        painter.end()
