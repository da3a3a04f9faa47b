"""Band at the top of the window during a what if: outcome, apply, discard."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from app.controls import ICON_SIZE, fill_column, fill_row, make_button, make_label
from app.feature import set_guide_page
from app.texts import tr
from app.theme.icons import icon_pixmap
from app.theme.tokens import tokens
from app.what_if.wording import accuracy_line, tried_line, would_change_line
from app.wording import SEPARATOR

if TYPE_CHECKING:
    from engine.review.what_if import WhatIfOutcome


@final
class WhatIfBand(QWidget):
    """Hidden without a what if."""

    images_requested = Signal()
    keep_requested = Signal()  # apply the edits to the project
    discard_requested = Signal()
    stay_requested = Signal()  # neither, and cancel leaving

    def __init__(self) -> None:
        super().__init__()
        set_guide_page(self, "taxonomy#what-if")
        self._first = make_label("", "strong", wraps=True)
        self._second = make_label("", "secondary", wraps=True)
        self._picture = QLabel()
        self.images_button = make_button(
            tr("Show images"), self.images_requested.emit, variant="flat"
        )
        self.discard_button = make_button(tr("Discard changes"), self.discard_requested.emit)
        self.keep_button = make_button(
            tr("Apply changes"), self.keep_requested.emit, variant="primary"
        )
        self.stay_button = make_button(tr("Stay"), self.stay_requested.emit, variant="flat")
        self.discard_button.setToolTip(tr("The project stays as it was"))
        self.keep_button.setToolTip(
            tr("Save the changes in the project, as one step that can be undone")
        )
        self._lay_out()
        self.hide()

    def _lay_out(self) -> None:
        spacing = tokens().spacing
        self.setProperty("surface", "window")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        frame = QFrame()
        frame.setProperty("role", "notice")
        frame.setProperty("tone", "accent")
        words = QWidget()
        fill_column(words, self._first, self._second, spacing=0)
        buttons = (self.stay_button, self.images_button, self.discard_button, self.keep_button)
        row = fill_row(frame, self._picture, words, *buttons)
        row.setContentsMargins(spacing.medium, spacing.small, spacing.small, spacing.small)
        row.setStretch(1, 1)
        fill_column(self, frame).setContentsMargins(spacing.small, spacing.small, spacing.small, 0)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._draw_picture()

    def _draw_picture(self) -> None:
        ratio = self.devicePixelRatioF()
        self._picture.setPixmap(
            icon_pixmap("what_if", ICON_SIZE, colour="accent_text", ratio=ratio)
        )

    @property
    def text(self) -> str:
        return "\n".join(label.text() for label in (self._first, self._second) if label.text())

    def show_begun(self) -> None:
        self._first.setText(
            tr("Trying changes: edit classes, labels and minimum confidences freely")
        )
        self._second.setText(tr("Nothing is saved until you choose Apply changes."))
        self._show(has_edits=False)

    def show_following(self) -> None:
        self._second.setText(tr("Updating predictions…"))

    def show_leaving(self) -> None:
        self._first.setText(tr("Your changes are not saved yet"))
        self._second.setText(tr("Apply or discard them to leave, or stay."))
        self._show(has_edits=True)
        self.images_button.hide()
        self.stay_button.show()
        self.keep_button.setFocus()

    def show_outcome(self, outcome: WhatIfOutcome) -> None:
        if not outcome.edits:
            self.show_begun()
            return
        changed = would_change_line(outcome.changes)
        self._first.setText(changed)
        lines = [tried_line(outcome.edits), accuracy_line(outcome.held_out)]
        if outcome.is_baseline_behind:
            lines.append(tr("some changes come from earlier labels"))
        self._second.setText(SEPARATOR.join(lines))
        self._show(has_edits=True)

    def _show(self, *, has_edits: bool) -> None:
        self.keep_button.setEnabled(has_edits)
        self.images_button.setVisible(has_edits)
        self.stay_button.hide()
        self._draw_picture()
        self.show()
