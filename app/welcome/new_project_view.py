"""The card "New project": accuracy or speed, before a project is made."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QBoxLayout, QButtonGroup, QFrame, QRadioButton, QWidget

from app.controls import fill_column, fill_row, make_button, make_flowing_label, set_property
from app.feature import set_guide_page
from app.palette.overlay import ScrollingCard
from app.side_panel.cards import FailureNotice, ProgressView
from app.texts import tr
from app.theme.tokens import tokens
from app.welcome.logic import ExpectedSpeed, NewProject, Photos
from app.welcome.wording import PURPOSES, TITLES, duration_text, place_text, preparation_text, speed_text, subject

if TYPE_CHECKING:
    from engine.backbones.bundled import OfferedBackbone


@final
class ChoiceCard(QFrame):
    """A backbone: its purpose, speed and expected duration. A click anywhere chooses it."""

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
        column.setContentsMargins(*4 * (spacing.medium,))
        column.insertSpacing(1, spacing.tiny)
        column.insertSpacing(3, spacing.tiny)
        column.addStretch(1)
        self._preparation.setVisible(not offered.is_ready)
        self.button.toggled.connect(lambda is_on: set_property(self, "chosen", "true" if is_on else "false"))

    @property
    def facts(self) -> tuple[str, ...]:
        return tuple(line.text() for line in (self._speed, self._duration, self._preparation) if not line.isHidden())

    def show_speed(self, speed: ExpectedSpeed | None, photos: Photos, *, is_measuring: bool) -> None:
        self._speed.setText(speed_text(speed, is_measuring=is_measuring))
        self._duration.setText(duration_text(speed, photos))
        for line in (self._speed, self._duration):
            line.setVisible(bool(line.text()))
        self.button.setAccessibleDescription(" ".join((self._purpose.text(), *self.facts)))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.button.setChecked(True)
            self.button.setFocus()
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()


WIDTH: Final = 640
ROOM_FOR_BOTH: Final = 520  # logical pixels that two cards need beside each other


@final
class NewProjectCard(ScrollingCard):
    """Floats over the window; Enter makes the project, Esc or a click beside it makes none."""

    made = Signal(str)  # name of the chosen backbone
    cancel_requested = Signal()  # stop preparing the backbone

    def __init__(self, host: QWidget) -> None:
        super().__init__(host, WIDTH, tr("New project"))
        set_guide_page(self, "first-collection")
        self.choices: dict[str, ChoiceCard] = {}
        self._project: NewProject | None = None
        self._group: QButtonGroup | None = None
        self._subject = make_flowing_label("", "strong")
        self._place = make_flowing_label("", "secondary")
        self.create_button = make_button(tr("Create project"), self._on_create, variant="primary")
        self.keep_button = make_button(tr("Cancel"), self.dismiss)
        self.failure = FailureNotice()
        self.progress = ProgressView(tr("Stop; no project is made"))
        self.progress.cancel_requested.connect(self.cancel_requested)
        self.progress.hide()
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._foot = QWidget()
        fill_row(self._foot, self.keep_button, self.create_button).insertStretch(0, 1)
        self._fill_body()

    def _fill_body(self) -> None:
        spacing = tokens().spacing
        words = tr("Choose accuracy or speed. You can change it later; classes and labels stay.")
        question = make_flowing_label(words, "secondary")
        column = fill_column(self.body, self._subject, question, spacing=spacing.small)
        column.setContentsMargins(spacing.large, spacing.small, spacing.large, spacing.small)
        self._row.setSpacing(spacing.medium)
        column.addSpacing(spacing.tiny)
        column.addLayout(self._row)
        column.addSpacing(spacing.tiny)
        for widget in (self.failure, self.progress, self._place, self._foot):
            column.addWidget(widget)
        column.addStretch(1)

    def show_project(self, project: NewProject, chosen: str) -> None:
        """Offer the backbones; `chosen` is the name of one."""
        self._project = project
        self._replace_choices(project)
        self.choices[chosen].button.setChecked(True)
        self.show_place(project.place)
        self.show_preparing("")
        self.show_photos(Photos(is_counting=bool(project.dropped)), {}, is_measuring=True)
        self.show_over()
        self.create_button.setFocus()

    def show_place(self, place: Path | None) -> None:
        """Show where the project will be saved; None where the user chooses later."""
        self._place.setText(place_text(place))
        self._place.setVisible(place is not None)
        self.create_button.setText(tr("Create project…") if place is None else tr("Create project"))
        self._settle()

    def _replace_choices(self, project: NewProject) -> None:
        for card in self.choices.values():
            self._row.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.choices = {offered.name: ChoiceCard(offered) for offered in project.offered}
        self._group = QButtonGroup(self)
        for card in self.choices.values():
            self._group.addButton(card.button)
            self._row.addWidget(card, 1)
        stops = [*(card.button for card in self.choices.values()), self.keep_button, self.create_button]
        for first, second in pairwise(stops):
            QWidget.setTabOrder(first, second)

    def show_photos(self, photos: Photos, speeds: Mapping[str, ExpectedSpeed], *, is_measuring: bool) -> None:
        """Show the images and the speed of each backbone, by its name."""
        if self._project is None:
            return
        self._subject.setText(subject(self._project, photos))
        self._subject.setVisible(bool(self._project.dropped))
        for name, card in self.choices.items():
            card.show_speed(speeds.get(name), photos, is_measuring=is_measuring and card.offered.is_ready)
        self._settle()

    def show_preparing(self, text: str) -> None:
        """Show that the backbone is being prepared; not where the text is empty."""
        is_preparing = bool(text)
        for card in self.choices.values():
            card.setEnabled(not is_preparing)
        self._foot.setVisible(not is_preparing)
        self.show_failure("")
        if is_preparing:
            self.progress.show_step(text)
            self.progress.cancel_button.setFocus()
        else:
            self.progress.show_ended()
            self.create_button.setFocus()
        self._settle()

    def show_failure(self, text: str) -> None:
        self.failure.show_text(text)
        self._settle()

    @property
    def chosen(self) -> str:
        return next((name for name, card in self.choices.items() if card.button.isChecked()), "")

    @property
    def is_preparing(self) -> bool:
        return not self.progress.isHidden()

    def _on_create(self) -> None:
        if not self.is_preparing:
            self.made.emit(self.chosen)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter makes the project, unless the focus is on "Cancel"."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self.keep_button.hasFocus():
            self._on_create()
            return
        super().keyPressEvent(event)

    def place_panel(self) -> None:
        """Put the cards below each other where there is no room for both."""
        has_room = self.panel_width() >= ROOM_FOR_BOTH
        beside, below = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._row.setDirection(beside if has_room else below)
        super().place_panel()
