"""The report page: tabs of sections, the comparison, and saving."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.controls import (
    fill_column,
    fill_row,
    make_button,
    make_choice_box,
    make_flowing_label,
    make_label,
    make_row,
    show_text,
)
from app.report.blocks import OnClass, OnImages, section_view
from app.report.logic import Made, ReportChoice, Stale
from app.report.wording import SETTINGS, stale_text, truth_text
from app.side_panel.cards import FailureNotice, ProgressView
from app.status.notice import Notice
from app.texts import plain_button, plain_tip, tr
from app.theme.tokens import tokens
from engine.everyday.classifier import Setting

if TYPE_CHECKING:
    from pathlib import Path


# Logical pixels.
NARROW_START = 460
RIVAL_WIDTH = 260


@final
class ReportPage(QWidget):
    """Shows a report, its progress, or why there is none.

    Args:
        on_images: called with ids and title of the images of a cell.
        on_class: called with the id of a class.
    """

    make_requested = Signal()  # make a report with the chosen options
    truth_requested = Signal()  # choose a truth file
    save_requested = Signal()

    def __init__(self, on_images: OnImages, on_class: OnClass) -> None:
        super().__init__()
        self.setProperty("surface", "window")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._on_images, self._on_class = on_images, on_class
        self.made: Made | None = None
        self.truth: Path | None = None
        self._stale = Stale()
        self.chips: dict[str, QPushButton] = {}
        self._group = QButtonGroup(self)
        self._views: dict[str, QWidget] = {}
        self.sections = QStackedWidget()
        self.notice = Notice(tone="")
        self.failure = FailureNotice()
        self.progress = ProgressView(tr("Stop building the report"))
        self.truth_button = make_button(
            truth_text(None), self.truth_requested.emit, variant="muted", icon_name="file"
        )
        self.truth_button.setToolTip(
            plain_tip(
                tr(
                    "Labels that predictions are compared with. Choose a CSV file with the "
                    "columns image and class."
                )
            )
        )
        self.labels_button = make_button(
            tr("Use held-out labels"), self._use_labels, variant="muted"
        )
        self.rival = make_choice_box({None: tr("No comparison")})
        self.save_button = make_button(
            tr("Save…"), self.save_requested.emit, variant="primary", icon_name="export"
        )
        self._chip_row = QHBoxLayout()
        self._lay_out()
        self.rival.activated.connect(lambda _place: self.make_requested.emit())

    def _lay_out(self) -> None:
        spacing = tokens().spacing
        self._chip_row.setSpacing(spacing.tiny)
        below = (spacing.large, 0, spacing.large, spacing.small)
        self.rival.setProperty("variant", "flat")
        self.rival.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.rival.setMaximumWidth(RIVAL_WIDTH)
        self.rival.setAccessibleName(tr("Compare with"))
        options = (self.truth_button, self.labels_button, self.rival)
        self._tools = make_row(*options, None, self.save_button, margins=below)
        chips = fill_row(None, self._chip_row, None, margins=below)
        self._start = self._make_start()
        self._stack = QStackedWidget()
        self._stack.addWidget(self._start)
        self._stack.addWidget(self.sections)
        notices = fill_column(None, self.notice, margins=(spacing.large, 0, spacing.large, 0))
        fill_column(self, self._tools, chips, notices, self._stack, spacing=0, grows=3)

    def _make_start(self) -> QWidget:
        """The page shown while there is no report."""
        start = QWidget()
        column = QVBoxLayout(start)
        spacing = tokens().spacing
        column.setContentsMargins(spacing.large, spacing.huge, spacing.large, spacing.large)
        column.setSpacing(spacing.medium)
        self._title = make_label("", "heading")
        self._text = make_flowing_label("", "secondary")
        for part in (self._title, self._text, self.failure, self.progress):
            part.setMaximumWidth(NARROW_START)
            column.addWidget(part)
        self.again_button = make_button(
            tr("Build the report"), self.make_requested.emit, variant="primary"
        )
        column.addWidget(self.again_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        return start

    def _use_labels(self) -> None:
        self.truth = None
        self.make_requested.emit()

    # -- options

    def choice(self) -> ReportChoice:
        """The options as currently chosen."""
        rival = self.rival.currentData()
        if isinstance(rival, str):  # `currentData` returns enum members of str as str
            return ReportChoice(self.truth, rival_setting=Setting(rival))
        return ReportChoice(self.truth, rival_version=rival)

    def choose_truth(self, path: Path) -> None:
        self.truth = path
        self.make_requested.emit()

    # -- content

    def show_making(self) -> None:
        """Hide the previous report while a new one is made, so that its figures are not misread."""
        self._show_start(tr("Building the report…"), "", can_make=False)
        self.progress.show_step(tr("Reading the project…"))
        self.progress.cancel_button.setFocus()

    def show_stopped(self, reason: str = "") -> None:
        """Show the previous report again, or why there is none."""
        self.progress.show_ended()
        if self.made is not None:
            self.truth = self.made.choice.truth
            self._stack.setCurrentWidget(self.sections)
            self._fill_rivals(self.made)
            self._show_tools()
            if reason:
                self.notice.ask(reason, [(tr("Update"), self.make_requested.emit)])
            return
        self._show_start(
            tr("No report yet"),
            tr("A report shows how much is labelled, and how often predictions are correct."),
            can_make=True,
        )
        self.failure.show_text(reason)

    def _show_start(self, title: str, text: str, *, can_make: bool) -> None:
        self._title.setText(title)
        show_text(self._text, text)
        self.failure.show_text("")
        self.progress.setVisible(not can_make)
        self.again_button.setVisible(can_make)
        self.notice.hide()
        self._tools.setEnabled(can_make)
        for chip in self.chips.values():
            chip.setEnabled(False)
        self._stack.setCurrentWidget(self._start)
        self._show_tools()

    def show_made(self, made: Made) -> None:
        """Show a report, at the section that was open before."""
        before = next((key for key, chip in self.chips.items() if chip.isChecked()), "")
        self.progress.show_ended()
        self.made, self.truth = made, made.choice.truth
        self._clear_sections()
        for section in made.document.sections:
            chip = self._make_chip(section.key, section.title)
            self._chip_row.addWidget(chip)
        self._fill_rivals(made)
        self.notice.hide()
        self._stack.setCurrentWidget(self.sections)
        self._show_tools()
        keys = list(self.chips)
        wanted = "compare" if made.report.comparison is not None and before != "compare" else before
        self.show_section(wanted if wanted in keys else keys[0])

    def _make_chip(self, key: str, title: str) -> QPushButton:
        chip = QPushButton(plain_button(title))
        chip.setProperty("role", "chip")
        chip.setCheckable(True)
        chip.setCursor(Qt.CursorShape.PointingHandCursor)
        chip.clicked.connect(lambda _is_checked=False: self.show_section(key))
        self._group.addButton(chip)
        self.chips[key] = chip
        return chip

    def _clear_sections(self) -> None:
        for chip in self.chips.values():
            self._group.removeButton(chip)
            self._chip_row.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        for view in self._views.values():
            self.sections.removeWidget(view)
            view.deleteLater()
        self.chips.clear()
        self._views.clear()

    def _fill_rivals(self, made: Made) -> None:
        self.rival.clear()
        self.rival.addItem(tr("No comparison"), None)
        if made.gathered.material.classified is not None:
            for setting in SETTINGS:
                if setting is not made.gathered.setting:
                    self.rival.addItem(tr("Compare with {1}", tr(SETTINGS[setting])), setting)
            for version_id, name in made.gathered.versions.items():
                self.rival.addItem(tr("Compare with {1}", name), version_id)
        chosen = made.choice.rival_setting or made.choice.rival_version
        self.rival.setCurrentIndex(max(0, self.rival.findData(chosen)))

    def _show_tools(self) -> None:
        self._tools.setVisible(self.made is not None)
        self.truth_button.setText(plain_button(truth_text(self.truth)))
        self.labels_button.setVisible(self.truth is not None)
        is_shown = self._stack.currentWidget() is self.sections
        self._tools.setEnabled(is_shown)
        for chip in self.chips.values():
            chip.setEnabled(is_shown)

    def show_section(self, key: str) -> None:
        """Show a section; its widgets are made on first use."""
        if self.made is None:
            return
        if key not in self._views:
            section = next(each for each in self.made.document.sections if each.key == key)
            self._views[key] = section_view(section, self._on_images, self._on_class)
            self.sections.addWidget(self._views[key])
        self.chips[key].setChecked(True)
        self.sections.setCurrentWidget(self._views[key])

    @property
    def section(self) -> str:
        """Key of the current section."""
        return next(
            (key for key, view in self._views.items() if view is self.sections.currentWidget()), ""
        )

    def view_of(self, key: str) -> QWidget:
        return self._views[key]

    @property
    def stale(self) -> Stale:
        """Changes since the report was made; displayed while the page is visible."""
        return self._stale

    @stale.setter
    def stale(self, stale: Stale) -> None:
        self._stale = stale
        if self.isVisible():
            self._show_stale()

    def _show_stale(self) -> None:
        is_shown = self._stack.currentWidget() is self.sections
        if self.made is not None and self._stale.is_stale and is_shown:
            text = stale_text(self.made.report.about.made_at, self._stale)
            self.notice.ask(text, [(tr("Update"), self.make_requested.emit)])
        else:
            self.notice.hide()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_stale()

    def forget(self) -> None:
        """Clear everything of a closed project."""
        self.made, self.truth = None, None
        self._clear_sections()
        self.rival.clear()
        self.rival.addItem(tr("No comparison"), None)
        self.show_stopped()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the next or previous section by Ctrl+PageDown or Ctrl+PageUp."""
        step = {Qt.Key.Key_PageDown: 1, Qt.Key.Key_PageUp: -1}.get(Qt.Key(event.key()))
        if (
            step is not None
            and event.modifiers() & Qt.KeyboardModifier.ControlModifier
            and self.chips
        ):
            keys = list(self.chips)
            at = keys.index(self.section) if self.section in keys else 0
            self.show_section(keys[(at + step) % len(keys)])
        else:
            super().keyPressEvent(event)
