"""The card "Export": formats at the left, what is chosen for one at the right, the place below."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.controls import (
    fill_column,
    make_button,
    make_flowing_label,
    make_icon_button,
    make_label,
    make_separator,
    set_property,
)
from app.exporting.details import ExportDetails, FormatList
from app.exporting.logic import ExportLook, renamed_target
from app.exporting.wording import problem_text, target_facts, target_label
from app.palette.overlay import Overlay
from app.side_panel.cards import FailureNotice, ProgressView
from app.texts import tr
from app.theme.tokens import tokens
from engine.exporting.export import ExportChoice
from engine.interchange.labelled_images.formats import ImageFormat

if TYPE_CHECKING:
    from engine.events import Progress

WIDTH: Final = 960
HEIGHT: Final = 760
"""Logical pixels, less in small windows; the card keeps its size, whatever is chosen."""
LIST_SHARE: Final = 2
DETAILS_SHARE: Final = 5
"""Of the width, with that of the list."""


@final
class ExportCard(Overlay):
    """Floats over the window; Enter exports, Esc or a click beside it closes. An export that runs goes on.

    Signals:
        changed: something else is chosen; what would come of it is to be looked at.
        export_requested: an `ExportLook`.
        cancel_requested: stop the export that runs.
        browse_requested: let the person choose the place.

    Attributes:
        formats, details: the two halves.
        target: the field with the place.
    """

    changed = Signal()
    export_requested = Signal(ExportLook)
    cancel_requested = Signal()
    browse_requested = Signal()

    def __init__(self, host: QWidget, offered: Mapping[str, ImageFormat]) -> None:
        super().__init__(host, WIDTH)
        self._offered = offered
        self._look: ExportLook | None = None
        self._is_own_target = False
        self._failed_because = ""  # of the last export; until something else is chosen
        self.formats = FormatList(offered)
        self.details = ExportDetails()
        self.target = QLineEdit()
        self.browse_button = make_button(
            tr("Browse…"), self.browse_requested.emit, icon_name="folder"
        )
        self.failure = FailureNotice()
        self.progress = ProgressView(tr("Stop exporting"))
        self.export_button = make_button(tr("Export"), self._on_export, variant="primary")
        self.keep_button = make_button(tr("Cancel"), self.dismiss)
        self.close_button = make_icon_button("close", tr("Close"), self.dismiss)
        self._label = make_label("", "secondary")
        self._facts = make_flowing_label("", "secondary")
        self._middle = self._make_middle()
        self._place, self._answers = self._make_place(), self._make_answers()
        self._lay_out()
        self._connect()

    # -- putting together

    def _lay_out(self) -> None:
        spacing = tokens().spacing
        head = QHBoxLayout()
        head.setContentsMargins(spacing.large, spacing.medium, spacing.medium, spacing.small)
        head.addWidget(make_label(tr("Export"), "heading"), 1)
        head.addWidget(self.close_button)
        foot = QWidget()
        parts = (self._place, self._facts, self.failure, self.progress, self._answers)
        column = fill_column(foot, *parts, spacing=spacing.small)
        column.setContentsMargins(spacing.large, spacing.medium, spacing.large, spacing.medium)
        whole = QVBoxLayout(self.panel)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(head)
        whole.addWidget(self._middle, 1)
        whole.addWidget(make_separator())
        whole.addWidget(foot)
        self.failure.show_text("")
        self.progress.show_ended()

    def _make_middle(self) -> QWidget:
        middle = QFrame()
        row = QHBoxLayout(middle)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.formats, LIST_SHARE)
        row.addWidget(make_separator(vertical=True))
        row.addWidget(self.details, DETAILS_SHARE)
        return middle

    def _make_place(self) -> QWidget:
        place = QWidget()
        row = QHBoxLayout(place)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(tokens().spacing.small)
        self._label.setBuddy(self.target)
        row.addWidget(self._label)
        row.addWidget(self.target, 1)
        row.addWidget(self.browse_button)
        return place

    def _make_answers(self) -> QWidget:
        answers = QWidget()
        row = QHBoxLayout(answers)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(tokens().spacing.small)
        row.addStretch(1)
        row.addWidget(self.keep_button)
        row.addWidget(self.export_button)
        return answers

    def _connect(self) -> None:
        self.formats.chosen.connect(self._on_format_chosen)
        self.details.changed.connect(self._on_changed)
        self.target.textEdited.connect(self._on_target_edited)
        self.progress.cancel_requested.connect(self.cancel_requested)

    # -- what is chosen

    @property
    def offered(self) -> ImageFormat:
        return self._offered[self.formats.name]

    def choice(self, folder: Path) -> ExportChoice:
        """What is chosen now; its place is the folder where no name was given, which a relative name starts from."""
        return ExportChoice(
            self.formats.name,
            folder / Path(self.target.text()).expanduser() if self.is_own_target else folder,
            self.details.chosen_which,
            self.details.options,
            has_byte_order_mark=self.details.has_byte_order_mark,
            is_reduced=self.details.is_reduced,
        )

    @property
    def look(self) -> ExportLook | None:
        """What would come of what is chosen; None while nobody knows."""
        return self._look

    @property
    def is_own_target(self) -> bool:
        """Whether the person named the place."""
        return self._is_own_target and bool(self.target.text().strip())

    # -- what is shown

    def show_start(self, name: str) -> None:
        """Appear with a format chosen, and with nothing known of what would come of it."""
        self._is_own_target = False
        self._look = None
        self.details.show_unknown()
        self.show_failure("")
        if self.formats.buttons[name].isChecked():
            self._on_format_chosen(name)
        else:
            self.formats.choose(name)
        self.show_over()
        self.formats.buttons[name].setFocus()

    def show_target(self, path: Path) -> None:
        """Take the place that the person chose."""
        self._is_own_target = True
        self.target.setText(str(path))
        self._on_changed()

    def show_look(self, look: ExportLook) -> None:
        """Show what would come of the present choice."""
        self._look = look
        if not self.is_own_target:
            self.target.setText(str(look.target))
        self.details.show_look(look)
        self._facts.setText(target_facts(look))
        set_property(
            self._facts, "role", "warning" if look.is_taken and not look.problem else "secondary"
        )
        self.failure.show_text(problem_text(look.problem) or self._failed_because)
        self._show_answers()

    def show_failure(self, text: str) -> None:
        """Say what went wrong; an empty text when nothing did."""
        self.failure.show_text(text)

    def show_waiting(self, text: str) -> None:
        """Show that an export begins: nothing else can be chosen until it ends."""
        self._set_running(is_running=True)
        self.failure.show_text("")
        self.progress.show_step(text)
        self.progress.cancel_button.setFocus()

    def show_progress(self, progress: Progress) -> None:
        """Show how far the export is."""
        self.progress.show_progress(progress)

    def show_ended(self, text: str = "") -> None:
        """Show the choices again, and why nothing came of the export."""
        self.progress.show_ended()
        self._set_running(is_running=False)
        self._failed_because = text
        self.failure.show_text(text)
        if self.isVisible():
            self.export_button.setFocus()
        self.changed.emit()

    @property
    def is_running(self) -> bool:
        """Whether it shows an export that runs."""
        return not self.progress.isHidden()

    def _set_running(self, *, is_running: bool) -> None:
        self._middle.setEnabled(not is_running)
        self._place.setEnabled(not is_running)
        for part in (self._facts, self._answers):
            part.setVisible(not is_running)
        self.progress.setVisible(is_running)

    def _show_answers(self) -> None:
        look = self._look
        chosen = None if look is None else look.chosen.get(look.choice.which)
        has_some = not self.offered.has_labels or chosen is None or chosen.count > 0
        can_export = look is not None and not look.problem and has_some
        self.export_button.setEnabled(can_export)
        is_taken = look is not None and look.is_taken
        self.export_button.setText(tr("Replace") if is_taken else tr("Export"))

    # -- what the person does

    def _on_format_chosen(self, name: str) -> None:
        offered = self._offered[name]
        self._label.setText(target_label(is_folder=offered.is_folder))
        self.target.setAccessibleName(self._label.text())
        if self.is_own_target:
            renamed = renamed_target(
                Path(self.target.text()), offered, tuple(self._offered.values())
            )
            self.target.setText(str(renamed))
        self.details.show_format(offered)
        self._on_changed()

    def _on_target_edited(self) -> None:
        self._is_own_target = True
        self._on_changed()

    def _on_changed(self) -> None:
        """Nothing is exported before it was looked at: a file that is there would be replaced unasked."""
        self._look, self._failed_because = None, ""
        self._show_answers()
        self.changed.emit()

    def _on_export(self) -> None:
        if self._look is not None and self.export_button.isEnabled() and not self.is_running:
            self.export_requested.emit(self._look)

    # -- Qt

    def wanted_height(self, _width: int) -> int:
        """The same for every format."""
        return HEIGHT

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter exports, from wherever the keyboard is but a button that says otherwise.

        A file that is no earlier export is replaced by its button alone; Enter elsewhere leads there.
        """
        focused = QApplication.focusWidget()
        others = (self.keep_button, self.browse_button, self.close_button)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and focused not in others:
            if (
                self._look is not None
                and self._look.replaced_kind
                and focused is not self.export_button
            ):
                self.export_button.setFocus()
            else:
                self._on_export()
            return
        super().keyPressEvent(event)


def title_of_browsing(offered: ImageFormat) -> str:
    return tr("Export into a folder") if offered.is_folder else tr("Export")
