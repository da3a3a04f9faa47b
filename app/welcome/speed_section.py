"""The choice between accuracy and speed for a new project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Qt
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QButtonGroup, QFrame, QRadioButton, QWidget

from app.controls import fill_column, make_flowing_label, set_property
from app.texts import tr
from app.theme.tokens import tokens
from app.welcome.logic import ExpectedSpeed, Photos
from app.welcome.wording import PURPOSES, TITLES, duration_text, preparation_text, speed_text

if TYPE_CHECKING:
    from engine.backbones.bundled import OfferedBackbone


@final
class ChoiceCard(QFrame):
    """A backbone: its purpose, speed and expected duration. A click anywhere selects it."""

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
        margins = (spacing.medium, spacing.small, spacing.medium, spacing.small)
        fill_column(self, *lines, None, spacing=spacing.tiny, margins=margins)
        self._preparation.setVisible(not offered.is_ready)
        self.button.toggled.connect(
            lambda is_on: set_property(self, "chosen", "true" if is_on else "false")
        )

    @property
    def facts(self) -> tuple[str, ...]:
        return tuple(
            line.text()
            for line in (self._speed, self._duration, self._preparation)
            if not line.isHidden()
        )

    def show_speed(
        self, speed: ExpectedSpeed | None, photos: Photos, *, is_measuring: bool
    ) -> None:
        self._speed.setText(speed_text(speed, is_measuring=is_measuring))
        self._duration.setText(duration_text(speed, photos))
        for line in (self._speed, self._duration):
            line.setVisible(bool(line.text()))
        self.button.setAccessibleDescription(" ".join((self._purpose.text(), *self.facts)))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(
            event.position().toPoint()
        ):
            self.button.setChecked(True)
            self.button.setFocus()
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()


ROOM_FOR_BOTH: Final = 440  # logical pixels that two cards need side by side


@final
class SpeedSection(QWidget):
    """The offered backbones, side by side if they fit."""

    def __init__(self) -> None:
        super().__init__()
        self.choices: dict[str, ChoiceCard] = {}
        self._group: QButtonGroup | None = None
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(tokens().spacing.small)
        fill_column(self, self._row)

    def offer(self, offered: Sequence[OfferedBackbone], chosen: str) -> None:
        """Offer backbones; `chosen` is the name of one."""
        for card in self.choices.values():
            self._row.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.choices = {each.name: ChoiceCard(each) for each in offered}
        self._group = QButtonGroup(self)
        for card in self.choices.values():
            self._group.addButton(card.button)
            self._row.addWidget(card, 1)
        if chosen in self.choices:
            self.choices[chosen].button.setChecked(True)

    @property
    def chosen(self) -> str:
        return next((name for name, card in self.choices.items() if card.button.isChecked()), "")

    def show_speeds(
        self, speeds: Mapping[str, ExpectedSpeed], photos: Photos, *, is_measuring: bool
    ) -> None:
        """Show the speed of each backbone, by name."""
        for name, card in self.choices.items():
            card.show_speed(
                speeds.get(name), photos, is_measuring=is_measuring and card.offered.is_ready
            )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the cards side by side, or one below the other if they do not fit."""
        beside, below = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._row.setDirection(beside if event.size().width() >= ROOM_FOR_BOTH else below)
        super().resizeEvent(event)
