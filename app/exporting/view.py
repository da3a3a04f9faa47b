"""View of the "Export" card: formats on the left, options on the right, target below."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Signal
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
from app.key_names import ENTER_KEYS
from app.palette.overlay import Overlay
from app.side_panel.cards import FailureNotice, ProgressView
from app.texts import tr
from app.theme.tokens import tokens
from engine.exporting.export import ExportChoice
from engine.interchange.labelled_images.formats import ImageFormat

if TYPE_CHECKING:
    from engine.events import Progress

WIDTH = 960
HEIGHT = 760
"""In logical pixels, less in small windows; the same for all formats."""
LIST_SHARE = 2
DETAILS_SHARE = 5
"""Share of the width, relative to that of the list."""


@final
class ExportCard(Overlay):
    """Card over the window; Enter exports, Esc or a click outside closes it, not a running export.

    Signals:
        changed: an option was changed; the preview must be updated.
        export_requested: an `ExportLook`.
        cancel_requested: stop the running export.
        browse_requested: show a dialog for the target.

    Attributes:
        formats, details: the two halves.
        target: field with the target path.
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
        self.keep_button = make_button(tr("Cancel"), self.dismiss)
        self.close_button = make_icon_button("close", tr("Close"), self.dismiss)
        self._label = make_label("", "secondary")
        self._facts = make_flowing_label("", "secondary")
        self._middle = self._make_middle()
        self._place, self._answers = self._make_place(), self._make_answers()
        self._lay_out()
        self._connect()

    # -- layout

    def _lay_out(self) -> None:
        spacing = tokens().spacing
        head = QHBoxLayout()
        head.setContentsMargins(spacing.large, spacing.medium, spacing.medium, spacing.small)
        head.addWidget(make_label(tr("Export"), "heading"), 1)
        head.addWidget(self.close_button)
        footer = QWidget()
        parts = (self._place, self._facts, self.failure, self.progress, self._answers)
        column = fill_column(footer, *parts, spacing=spacing.small)
        column.setContentsMargins(spacing.large, spacing.medium, spacing.large, spacing.medium)
        whole = QVBoxLayout(self.panel)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(head)
        whole.addWidget(self._middle, 1)
        whole.addWidget(make_separator())
        whole.addWidget(footer)
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
    def look(self) -> ExportLook | None:
        """Preview of the current options; None while unknown."""
        return self._look

    @property
    def is_own_target(self) -> bool:
        """Whether the user entered a target."""
        return self._is_own_target and bool(self.target.text().strip())

    # -- display

    def show_start(self, name: str) -> None:
        """Show the card with a format chosen, before its preview is known."""
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
        """Set the target from the dialog."""
        self._is_own_target = True
        self.target.setText(str(path))
        self._on_changed()

    def show_look(self, look: ExportLook) -> None:
        """Show the preview of the current options."""
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
        """Show an error message; "" hides it."""
        self.failure.show_text(text)

    def show_waiting(self, text: str) -> None:
        """Show the start of an export and disable the options."""
        self._set_running(is_running=True)
        self.failure.show_text("")
        self.progress.show_step(text)
        self.progress.cancel_button.setFocus()

    def show_progress(self, progress: Progress) -> None:
        """Show the progress of the export."""
        self.progress.show_progress(progress)

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
        look = self._look
        chosen = None if look is None else look.chosen.get(look.choice.which)
        has_some = not self.offered.has_labels or chosen is None or chosen.count > 0
        can_export = look is not None and not look.problem and has_some
        self.export_button.setEnabled(can_export)
        is_taken = look is not None and look.is_taken
        self.export_button.setText(tr("Replace") if is_taken else tr("Export"))

    # -- user actions

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
        """Disable the button until the preview is known: no file is replaced without consent."""
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
        """Export on Enter, unless another button has the focus.

        An unrelated file is replaced only by the button itself; Enter elsewhere focuses that
        button.
        """
        focused = QApplication.focusWidget()
        others = (self.keep_button, self.browse_button, self.close_button)
        if event.key() in ENTER_KEYS and focused not in others:
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
