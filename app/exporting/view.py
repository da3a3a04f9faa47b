"""View of the "Export" card: formats on the left, options on the right, target below."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from app.controls import (
    fill_column,
    fill_row,
    make_button,
    make_flowing_label,
    make_label,
    make_row,
    make_separator,
    set_property,
)
from app.exporting.details import ExportDetails, FormatList
from app.exporting.logic import ExportLook, renamed_target
from app.exporting.wording import target_facts
from app.palette.overlay import FloatingCard
from app.side_panel.cards import FailureNotice, ProgressView
from app.texts import tr
from app.theme.tokens import tokens
from app.wording import sentence
from engine.exporting.export import ExportChoice
from engine.interchange.labelled_images.formats import ImageFormat

WIDTH = 960
HEIGHT = 760
"""In logical pixels, less in small windows; the same for all formats."""
LIST_SHARE = 2
DETAILS_SHARE = 5
"""Share of the width, relative to that of the list."""


@final
class ExportCard(FloatingCard):
    """Card over the window; Enter exports, Esc or a click outside closes it, not a running export.

    Attributes:
        formats, details: the two halves.
        target: field with the target path.
        look: preview of the current options; None while unknown.
    """

    changed = Signal()  # an option was changed; the preview must be updated
    export_requested = Signal(ExportLook)
    browse_requested = Signal()  # show a dialog for the target

    def __init__(self, host: QWidget, offered: Mapping[str, ImageFormat]) -> None:
        super().__init__(host, WIDTH, tr("Export"))
        self._offered = offered
        self.look: ExportLook | None = None
        self._is_own_target = False
        self._failed_because = ""  # of the last export; until an option is changed
        self.formats = FormatList(offered)
        self.details = ExportDetails()
        self.target = QLineEdit()
        self.browse_button = make_button(
            tr("Browse…"), self.browse_requested.emit, icon_name="folder"
        )
        self.failure = FailureNotice()
        self.progress = ProgressView(tr("Stop exporting"))
        self.export_button = make_button(tr("Export"), self._on_export, variant="primary")
        self.primary = self.export_button
        self.keep_button = make_button(tr("Cancel"), self.dismiss)
        self._label = make_label("", "secondary")
        self._facts = make_flowing_label("", "secondary")
        self._middle = QFrame()
        self._place = make_row(self._label, self.target, self.browse_button, grows=1)
        self._answers = make_row(None, self.keep_button, self.export_button)
        self._lay_out()
        self.formats.chosen.connect(self._on_format_chosen)
        self.details.changed.connect(self._on_changed)
        self.target.textEdited.connect(self._on_target_edited)

    def _lay_out(self) -> None:
        spacing = tokens().spacing
        halves = (self.formats, make_separator(vertical=True), self.details)
        row = fill_row(self._middle, *halves, spacing=0)
        row.setStretch(0, LIST_SHARE)
        row.setStretch(2, DETAILS_SHARE)
        self._label.setBuddy(self.target)
        footer = fill_column(
            None,
            *(self._place, self._facts, self.failure, self.progress, self._answers),
            margins=(spacing.large, spacing.medium, spacing.large, spacing.medium),
        )
        whole = (self._head, self._middle, make_separator(), footer)
        fill_column(self.panel, *whole, spacing=0, grows=1)
        self.failure.show_text("")
        self.progress.show_ended()

    # -- options

    @property
    def offered(self) -> ImageFormat:
        return self._offered[self.formats.name]

    def choice(self, folder: Path) -> ExportChoice:
        """Current options; without a name, the target is the folder."""
        return ExportChoice(
            self.formats.name,
            folder / Path(self.target.text()).expanduser() if self.is_own_target else folder,
            self.details.chosen_which,
            self.details.options,
            has_byte_order_mark=self.details.has_byte_order_mark,
            is_reduced=self.details.is_reduced,
        )

    @property
    def is_own_target(self) -> bool:
        """Whether the user entered a target."""
        return self._is_own_target and bool(self.target.text().strip())

    # -- display

    def show_start(self, name: str) -> None:
        """Show the card with a format chosen, before its preview is known."""
        self._is_own_target = False
        self.look = None
        self.details.show_look(None)
        self.failure.show_text("")
        if self.formats.buttons[name].isChecked():
            self._on_format_chosen(name)
        else:
            self.formats.choose(name)
        self.show_over()
        self.formats.buttons[name].setFocus()

    def show_target(self, path: Path) -> None:
        """Set the target from the dialog."""
        self._is_own_target = True
        self.target.setText(str(path))
        self._on_changed()

    def show_look(self, look: ExportLook) -> None:
        """Show the preview of the current options."""
        self.look = look
        if not self.is_own_target:
            self.target.setText(str(look.target))
        self.details.show_look(look)
        self._facts.setText(target_facts(look))
        set_property(
            self._facts, "role", "warning" if look.is_taken and not look.problem else "secondary"
        )
        self.failure.show_text(sentence(look.problem) or self._failed_because)
        self._show_answers()

    def show_waiting(self, text: str) -> None:
        """Show the start of an export and disable the options."""
        self._set_running(is_running=True)
        self.failure.show_text("")
        self.progress.show_step(text)
        self.progress.cancel_button.setFocus()

    def show_ended(self, text: str = "") -> None:
        """Return to the options, with the error if the export failed."""
        self.progress.show_ended()
        self._set_running(is_running=False)
        self._failed_because = text
        self.failure.show_text(text)
        if self.isVisible():
            self.export_button.setFocus()
        self.changed.emit()

    @property
    def is_running(self) -> bool:
        """Whether an export is running."""
        return not self.progress.isHidden()

    def _set_running(self, *, is_running: bool) -> None:
        self._middle.setEnabled(not is_running)
        self._place.setEnabled(not is_running)
        for part in (self._facts, self._answers):
            part.setVisible(not is_running)
        self.progress.setVisible(is_running)

    def _show_answers(self) -> None:
        look = self.look
        chosen = None if look is None else look.chosen.get(look.choice.which)
        has_some = not self.offered.has_labels or chosen is None or chosen.count > 0
        can_export = look is not None and not look.problem and has_some
        self.export_button.setEnabled(can_export)
        is_taken = look is not None and look.is_taken
        self.export_button.setText(tr("Replace") if is_taken else tr("Export"))

    # -- user actions

    def _on_format_chosen(self, name: str) -> None:
        offered = self._offered[name]
        self._label.setText(tr("Folder") if offered.is_folder else tr("File"))
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
        """Disable the button until the preview is known: no file is replaced without consent."""
        self.look, self._failed_because = None, ""
        self._show_answers()
        self.changed.emit()

    def _on_export(self) -> None:
        if self.look is not None and not self.is_running:
            self.export_requested.emit(self.look)

    # -- Qt

    def wanted_height(self, _width: int) -> int:
        """The same for every format."""
        return HEIGHT

    def on_enter(self) -> None:
        """Export, unless an unrelated file would be replaced: then focus the button, which does."""
        if self.look is not None and self.look.replaced_kind:
            self.export_button.setFocus()
        else:
            super().on_enter()
