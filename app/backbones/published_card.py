"""What can be done with a published network: download it, after a question; stop; go on; use it."""

from typing import TYPE_CHECKING, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from app.backbones.job_slot_view import JobSlotView
from app.backbones.logic import PublishedRow
from app.backbones.wording import download_button, download_question, licence_text, published_facts
from app.controls import fill_column, make_button, make_label
from app.texts import breakable, fill
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from app.backbones.jobs import BackboneJobs


@final
class PublishedCard(QFrame):
    """One network. Nothing is fetched before the question was answered.

    Signals:
        download_requested: the `PublishedRow`; the person has agreed.
    """

    download_requested = Signal(object)

    def __init__(self, jobs: "BackboneJobs") -> None:
        super().__init__()
        self._jobs = jobs
        self._download = jobs.download
        self.row: PublishedRow | None = None
        self._can_change = True
        self.setProperty("role", "card")
        self._name = make_label("", "strong", wraps=True)
        self._facts = make_label("", "caption", wraps=True)
        self.download_button = make_button("", self._on_ask, icon_name="download")
        self.use_button = make_button(self.tr("Use in this project…"), self._on_use, variant="primary")
        self.question = self._make_question()
        self.run = JobSlotView(
            jobs.download,
            getting_ready=self.tr("Preparing…"),
            cancel_tip=self.tr("Stop; what was downloaded is kept, and the download can be resumed"),
        )
        self._lay_out()
        jobs.download.stage_changed.connect(lambda _stage: self._arrange(is_asking=False))
        self.show_row(None)

    def _make_question(self) -> QWidget:
        self._question_text = make_label("", wraps=True)
        self._question_licence = make_label("", "secondary", wraps=True)
        self.agree_button = make_button(self.tr("Download"), self._on_agree, variant="primary", icon_name="download")
        self.refuse_button = make_button(self.tr("Not now"), self._on_refuse)
        question = QWidget()
        fill_column(question, self._question_text, self._question_licence, self.agree_button, self.refuse_button)
        return question

    def _lay_out(self) -> None:
        spacing = tokens().spacing
        parts = (self._name, self._facts, self.download_button, self.use_button, self.question, self.run)
        column = fill_column(self, *parts, spacing=spacing.tiny)
        column.setContentsMargins(spacing.medium, spacing.small, spacing.medium, spacing.medium)
        column.insertSpacing(2, spacing.tiny)

    @property
    def question_text(self) -> str:
        """What is asked before a download; empty while nothing is asked."""
        texts = (self._question_text.text(), self._question_licence.text())
        return "" if self.question.isHidden() else "\n".join(texts)

    def set_can_change(self, *, can_change: bool) -> None:
        """Say whether the project may be changed."""
        self._can_change = can_change
        self._arrange(is_asking=False)

    def show_row(self, row: PublishedRow | None) -> None:
        """Show another network, or what is known of the same one now."""
        is_same = row is not None and self.row is not None and row.source == self.row.source
        is_asking = is_same and not self.question.isHidden()
        self.row = row
        self.setVisible(row is not None)
        if row is None:
            return
        self._name.setText(row.name)
        self._facts.setText(published_facts(row))
        self.download_button.setText(download_button(row))
        self.download_button.setAccessibleName(f"{row.name}: {download_button(row)}")
        self.use_button.setAccessibleName(fill(self.tr("Use %1 in this project"), row.name))
        self._question_text.setText(download_question(row))
        self._question_licence.setText(breakable(licence_text(row)))
        self._arrange(is_asking=is_asking)

    def _arrange(self, *, is_asking: bool) -> None:
        row, is_busy = self.row, self._download.is_busy
        is_here = row is not None and row.is_here
        self.download_button.setVisible(not is_here and not is_asking and not is_busy)
        self.use_button.setVisible(is_here and not is_busy)
        self.use_button.setEnabled(self._can_change)
        self.question.setVisible(is_asking and not is_here and not is_busy)

    def _on_ask(self) -> None:
        self._download.dismiss()
        self._arrange(is_asking=True)
        self.agree_button.setFocus()

    def _on_agree(self) -> None:
        if self.row is not None:
            self.download_requested.emit(self.row)

    def _on_refuse(self) -> None:
        self._arrange(is_asking=False)
        self.download_button.setFocus()

    def _on_use(self) -> None:
        if self.row is not None:
            self._jobs.prepare_change(self.row.source, self.row.name)
