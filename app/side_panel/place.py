"""The place at the right: the inspector, or a panel that stands in for it until it is closed."""

from typing import Final, final

from PySide6.QtWidgets import QStackedWidget, QWidget

NARROWEST: Final = 320
"""Every panel fits into it: in all but small windows the inspector is wider, so that opening one moves nothing."""


@final
class SidePlace(QStackedWidget):
    """Shows `usual` unless something else was asked for."""

    def __init__(self, usual: QWidget) -> None:
        super().__init__()
        self._usual = usual
        self._usual_width = 0
        self.addWidget(usual)

    def show_panel(self, panel: QWidget) -> None:
        """Put a panel in front, with the room that it needs."""
        if self.indexOf(panel) < 0:
            other = self.currentWidget()
            if other is not None and other is not self._usual:
                self.close_panel(other)
            self.addWidget(panel)
            self._usual_width = self.minimumWidth()
            self.setMinimumWidth(max(self._usual_width, NARROWEST))
        self.setCurrentWidget(panel)
        panel.setFocus()

    def close_panel(self, panel: QWidget) -> None:
        """Back to the usual; the panel no longer asks for room, and is kept for the next time."""
        if self.indexOf(panel) < 0:
            return
        self.setCurrentWidget(self._usual)
        self.removeWidget(panel)
        panel.hide()
        self.setMinimumWidth(self._usual_width)
