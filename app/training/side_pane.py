"""The place at the right: the inspector, or a panel that stands in for it until it is closed."""

from typing import final

from PySide6.QtWidgets import QStackedWidget, QWidget


@final
class SidePane(QStackedWidget):
    """Shows `usual` unless something else was asked for."""

    def __init__(self, usual: QWidget) -> None:
        super().__init__()
        self._usual = usual
        self.addWidget(usual)

    def show_panel(self, panel: QWidget) -> None:
        """Put a panel in front."""
        if self.indexOf(panel) < 0:
            self.addWidget(panel)
        self.setCurrentWidget(panel)
        panel.setFocus()

    def close_panel(self, panel: QWidget) -> None:
        """Back to the usual; the panel no longer asks for room, and is kept for the next time."""
        self.setCurrentWidget(self._usual)
        self.removeWidget(panel)
        panel.hide()
