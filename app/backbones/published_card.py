"""The card of a published network: facts, confirmation of its download, and its use."""

from collections.abc import Mapping
from typing import final

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSpinBox, QWidget

from app.backbones.jobs import BackboneJobs, JobSlotView
from app.backbones.logic import PublishedRow
from app.backbones.wording import (
    download_button,
    download_question,
    licence_and_work,
    licence_text,
    pixels,
    published_facts,
)
from app.controls import (
    dress_number_box,
    fill_column,
    make_button,
    make_form,
    make_label,
    make_used_mark,
)
from app.texts import breakable, tr
from app.theme.tokens import tokens
from app.wording import number, titled
from engine.backbones.preprocessing import LARGEST_SIDE, SMALLEST_SIDE
from engine.backbones.published.facts import PublishedNetwork

USUAL_STEP = 32  # pixels: most networks take multiples of it


@final
class InputSize(QWidget):
    """Spin box for the input size, with a hint; hidden if the network takes only one size."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._usual = self._patch = 0
        self.box = dress_number_box(QSpinBox())
        self.box.setRange(SMALLEST_SIDE, LARGEST_SIDE)
        self.box.setKeyboardTracking(False)
        self.box.setSuffix(tr(" px"))
        self._hint = make_label("", "caption", wraps=True)
        self._problem = make_label("", "danger", wraps=True)
        column = fill_column(self, self._hint, self._problem)
        column.insertLayout(0, make_form({tr("Input size"): self.box}))
        self.box.valueChanged.connect(self._on_changed)
        self.show_network(None)

    @property
    def side(self) -> int:
        """The chosen side in pixels; 0 if the network takes only one size."""
        return self.box.value() if self._usual else 0

    @property
    def is_usable(self) -> bool:
        """Whether the size is a multiple of the network's patch size, if known."""
        return not (self._usual and self._patch and self.side % self._patch)

    def show_network(self, network: PublishedNetwork | None) -> None:
        takes_others = network is not None and network.takes_other_sides
        self._usual = network.input_side if network is not None and takes_others else 0
        self._patch = 0 if network is None else network.patch
        with QSignalBlocker(self.box):
            self.box.setSingleStep(self._patch or USUAL_STEP)
            self.box.setValue(self._usual)
        self._show_state()
        self.setVisible(takes_others)

    def _show_state(self) -> None:
        hint = tr(
            "Trained at {1}. Smaller is faster; speed is measured once it is on this computer.",
            pixels(self._usual),
        )
        self._hint.setText(hint)
        self._hint.setVisible(self.is_usable and self.side != self._usual)
        self._problem.setText(tr("The input size must be a multiple of {1}.", number(self._patch)))
        self._problem.setVisible(not self.is_usable)

    def _on_changed(self) -> None:
        self._show_state()
        self.changed.emit()


@final
class PublishedCard(QFrame):
    """Card of a network. Nothing is downloaded without confirmation."""

    download_requested = Signal(PublishedRow)  # the network, after confirmation

    def __init__(self, jobs: BackboneJobs, purpose: str = "") -> None:
        super().__init__()
        self._jobs = jobs
        self.row: PublishedRow | None = None  # the network, at the chosen input size
        # Speed of each installed backbone by name; None if unknown.
        self.here: Mapping[str, float | None] = {}
        self._listed: PublishedRow | None = None
        self._can_change = True
        self.setProperty("role", "card")
        self._name = make_label("", "strong", wraps=True)
        self._facts = make_label("", "caption", wraps=True)
        self._more = make_label("", "caption", wraps=True)
        self.input_size = InputSize()
        self.input_size.changed.connect(lambda: self._show(is_asking=self.is_asking))
        self.download_button = make_button("", self._on_ask, icon_name="download")
        self.use_button = make_button(tr("Use in this project…"), self._on_use, variant="primary")
        self._question_text = make_label("", wraps=True)
        self._question_licence = make_label("", "secondary", wraps=True)
        self.agree_button = make_button(
            tr("Download"), self._on_agree, variant="primary", icon_name="download"
        )
        self.refuse_button = make_button(tr("Not now"), self.refuse)
        self.question = QWidget()
        fill_column(
            self.question,
            self._question_text,
            self._question_licence,
            self.agree_button,
            self.refuse_button,
        )
        stop = tr("Stop; the download can be resumed")
        self.run = JobSlotView(jobs.download, cancel_tip=stop)
        self._run_place = QWidget()
        fill_column(self._run_place, self.run)
        self._lay_out(purpose)
        jobs.download.stage_changed.connect(lambda _stage: self._arrange(is_asking=False))
        self.show_row(None)

    def _lay_out(self, purpose: str) -> None:
        spacing = tokens().spacing
        parts = (
            self._facts,
            self._more,
            self.input_size,
            self.download_button,
            self.use_button,
            self.question,
        )
        column = fill_column(self, *parts, self._run_place, spacing=spacing.tiny)
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
        return not self.question.isHidden()

    @property
    def question_text(self) -> str:
        texts = (self._question_text.text(), self._question_licence.text())
        return "\n".join(texts) if self.is_asking else ""

    def set_can_change(self, *, can_change: bool) -> None:
        self._can_change = can_change
        self._arrange(is_asking=False)

    def show_row(self, row: PublishedRow | None) -> None:
        """Show a network; an open question stays if it is the same one."""
        is_same = row is not None and self._listed is not None and row.source == self._listed.source
        self._listed = row
        if not is_same:
            self.input_size.show_network(None if row is None else row.network)
        self._show(is_asking=is_same and self.is_asking)

    def _show(self, *, is_asking: bool) -> None:
        row = self._listed
        if row is not None and self.input_size.side:
            row = row.at_side(self.input_size.side, self.here)
        self.row = row
        self.setVisible(row is not None)
        if row is None:
            return
        self._name.setText(breakable(row.name))
        self._facts.setText(published_facts(row))
        self._more.setText(licence_and_work(row))
        self.download_button.setText(download_button(row))
        self.download_button.setAccessibleName(titled(row.name, download_button(row)))
        self.use_button.setAccessibleName(tr("Use {1} in this project", row.name))
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
