"""One of the backbones that a new project can have: a click anywhere on its card chooses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QRadioButton

from app.controls import fill_column, make_flowing_label, set_property
from app.texts import tr
from app.theme.tokens import tokens
from app.welcome.logic import ExpectedSpeed, Photos
from app.welcome.wording import PURPOSES, TITLES, duration_text, preparation_text, speed_text

if TYPE_CHECKING:
    from engine.backbones.bundled import OfferedBackbone


@final
class ChoiceCard(QFrame):
    """What a backbone is good for, how fast it is here, and how long the images at hand take."""

    def __init__(self, offered: OfferedBackbone) -> None:
        super().__init__()
        self.offered = offered
        self.button = QRadioButton(tr(TITLES[offered.choice]))
        self.button.setProperty("role", "strong")
        self._purpose = make_flowing_label(tr(PURPOSES[offered.choice]))
        self._speed = make_flowing_label("", "secondary")
        self._duration = make_flowing_label("", "secondary")
        self._preparation = make_flowing_label(preparation_text(offered), "secondary")
        self.setProperty("role", "card")
        self.setProperty("interactive", "true")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        spacing = tokens().spacing
        lines = (self.button, self._purpose, self._speed, self._duration, self._preparation)
        column = fill_column(self, *lines, spacing=spacing.tiny)
        column.setContentsMargins(spacing.medium, spacing.medium, spacing.medium, spacing.medium)
        column.insertSpacing(1, spacing.tiny)
        column.insertSpacing(3, spacing.tiny)
        column.addStretch(1)
        self._preparation.setVisible(not offered.is_ready)
        self.button.toggled.connect(lambda is_on: set_property(self, "chosen", "true" if is_on else "false"))

    @property
    def facts(self) -> tuple[str, ...]:
        return tuple(line.text() for line in (self._speed, self._duration, self._preparation) if not line.isHidden())

    def show_speed(self, speed: ExpectedSpeed | None, photos: Photos, *, is_measuring: bool) -> None:
        """Show how fast it is; lines about what is not known take no room."""
        for line, text in (
            (self._speed, speed_text(speed, is_measuring=is_measuring)),
            (self._duration, duration_text(speed, photos)),
        ):
            line.setText(text)
            line.setVisible(bool(text))
        self.button.setAccessibleDescription(" ".join((self._purpose.text(), *self.facts)))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.button.setChecked(True)
            self.button.setFocus()
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()
