"""One published network: its facts, the question before its download, and what can be done with it once it is here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app.backbones.input_size import InputSize
from app.backbones.job_slot_view import JobSlotView
from app.backbones.logic import PublishedRow, RecommendedRow
from app.backbones.wording import download_button, download_question, licence_and_work, licence_text, published_facts
from app.controls import fill_column, make_button, make_label, make_used_mark
from app.texts import breakable, tr
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from app.backbones.jobs import BackboneJobs


@final
class PublishedCard(QFrame):
    """One network. Nothing is fetched before the question was answered."""

    download_requested = Signal(PublishedRow)  # the `PublishedRow`; the person has agreed

    def __init__(self, jobs: BackboneJobs, purpose: str = "") -> None:
        super().__init__()
        self._jobs = jobs
        self.row: PublishedRow | None = None  # the network, at the input size that the person chose
        # speed of each backbone of this computer by its name, None where it was not measured
        self.here: Mapping[str, float | None] = {}
        self._listed: PublishedRow | None = None
        self._can_change = True
        self.setProperty("role", "card")
        self._name = make_label("", "strong", wraps=True)
        self._facts = make_label("", "caption", wraps=True)
        self._more = make_label("", "caption", wraps=True)
        self.input_size = InputSize()
        self.input_size.changed.connect(self._on_size_changed)
        self.download_button = make_button("", self._on_ask, icon_name="download")
        self.use_button = make_button(tr("Use in this project…"), self._on_use, variant="primary")
        self.question = self._make_question()
        self.run = JobSlotView(
            jobs.download,
            getting_ready=tr("Preparing…"),
            cancel_tip=tr("Stop; what was downloaded is kept, and the download can be resumed"),
        )
        self._run_place = QWidget()
        fill_column(self._run_place, self.run)
        self._lay_out(purpose)
        jobs.download.stage_changed.connect(lambda _stage: self._arrange(is_asking=False))
        self.show_row(None)

    def _make_question(self) -> QWidget:
        self._question_text = make_label("", wraps=True)
        self._question_licence = make_label("", "secondary", wraps=True)
        self.agree_button = make_button(tr("Download"), self._on_agree, variant="primary", icon_name="download")
        self.refuse_button = make_button(tr("Not now"), self.refuse)
        question = QWidget()
        fill_column(question, self._question_text, self._question_licence, self.agree_button, self.refuse_button)
        return question

    def _lay_out(self, purpose: str) -> None:
        spacing = tokens().spacing
        buttons = (self.download_button, self.use_button)
        parts = (self._facts, self._more, self.input_size, *buttons, self.question, self._run_place)
        column = fill_column(self, *parts, spacing=spacing.tiny)
        column.setContentsMargins(spacing.medium, spacing.small, spacing.medium, spacing.medium)
        column.insertSpacing(2, spacing.tiny)
        head = QHBoxLayout()
        head.addWidget(self._name, 1)
        if purpose:
            head.addWidget(make_used_mark(purpose), 0, Qt.AlignmentFlag.AlignTop)
        column.insertLayout(0, head)
        self._more.setVisible(bool(purpose))

    @property
    def is_asking(self) -> bool:
        """Whether the person is asked before a download."""
        return not self.question.isHidden()

    @property
    def question_text(self) -> str:
        """What is asked before a download; empty while nothing is asked."""
        texts = (self._question_text.text(), self._question_licence.text())
        return "\n".join(texts) if self.is_asking else ""

    def set_can_change(self, *, can_change: bool) -> None:
        """Say whether the project may be changed."""
        self._can_change = can_change
        self._arrange(is_asking=False)

    def show_recommended(self, recommended: RecommendedRow) -> None:
        self._more.setText(licence_and_work(recommended))
        self.show_row(recommended.row)

    def show_row(self, row: PublishedRow | None) -> None:
        """Show another network, or what is known of the same one now."""
        is_same = row is not None and self._listed is not None and row.source == self._listed.source
        self._listed = row
        if not is_same:
            self.input_size.show_network(None if row is None else row.network)
        self._show(is_asking=is_same and self.is_asking)

    def _show(self, *, is_asking: bool) -> None:
        """Show the network at the input size that was chosen."""
        row = self._listed
        if row is not None and self.input_size.side:
            row = row.at_side(self.input_size.side, self.here)
        self.row = row
        self.setVisible(row is not None)
        if row is None:
            return
        self._name.setText(breakable(row.name))
        self._facts.setText(published_facts(row))
        self.download_button.setText(download_button(row))
        self.download_button.setAccessibleName(f"{row.name}: {download_button(row)}")
        self.use_button.setAccessibleName(tr("Use %1 in this project", row.name))
        self._question_text.setText(breakable(download_question(row, self._jobs.settings.mirror)))
        self._question_licence.setText(breakable(licence_text(row)))
        self._arrange(is_asking=is_asking)

    def _arrange(self, *, is_asking: bool) -> None:
        row, download = self.row, self._jobs.download
        is_here = row is not None and row.is_here
        is_mine = row is not None and download.subject == row.name
        is_coming = is_mine and download.is_busy
        self.download_button.setVisible(not is_here and not is_asking and not is_coming)
        self.download_button.setEnabled(self.input_size.is_usable and not download.is_busy)
        self.agree_button.setEnabled(self.input_size.is_usable)
        self.input_size.setEnabled(not is_coming)
        self.use_button.setVisible(is_here and not is_coming)
        self.use_button.setEnabled(self._can_change)
        self.question.setVisible(is_asking and not is_here and not download.is_busy)
        self._run_place.setVisible(is_mine)

    def _on_size_changed(self) -> None:
        self._show(is_asking=self.is_asking)

    def _on_ask(self) -> None:
        self._jobs.download.dismiss()
        self.show_row(self._listed)
        self._arrange(is_asking=True)
        self.agree_button.setFocus()

    def _on_agree(self) -> None:
        if self.row is not None:
            self.download_requested.emit(self.row)

    def refuse(self) -> None:
        self._arrange(is_asking=False)
        self.download_button.setFocus()

    def _on_use(self) -> None:
        if self.row is not None:
            self._jobs.prepare_change(self.row.source, self.row.name)
