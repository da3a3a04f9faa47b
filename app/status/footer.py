"""Strips below the images for hints and optional questions, one at a time."""

from typing import final

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

from app.controls import fill_column, make_column

MARGIN = 16  # logical pixels at both sides, as of the cards


@final
class StatusFooter(QWidget):
    """Shows the most recently shown strip; when it is hidden, the previous one reappears.

    A strip is shown and hidden by its own `show` and `hide`; `isHidden` is true only after its own
    `hide`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._column = fill_column(self, spacing=0, margins=(MARGIN, 0, MARGIN, 0))
        self._holders: dict[QWidget, QWidget] = {}
        self._shown: list[QWidget] = []  # the newest last

    @property
    def strips(self) -> tuple[QWidget, ...]:
        """All added strips, shown or not."""
        return tuple(self._holders)

    def add(self, strip: QWidget) -> None:
        """Add a strip, which must be hidden."""
        holder = make_column(strip)
        holder.hide()
        self._holders[strip] = holder
        self._column.addWidget(holder)
        strip.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Update the visible strip when a strip is shown or hidden."""
        if event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self._shown = [each for each in self._shown if each is not watched]
            if event.type() is QEvent.Type.ShowToParent:
                self._shown.append(next(each for each in self._holders if each is watched))
            for strip, holder in self._holders.items():
                holder.setVisible(self._shown[-1:] == [strip])
        return super().eventFilter(watched, event)
