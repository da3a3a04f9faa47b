"""The second source: published networks. The list asks no other computer; a download begins when the person says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QItemSelectionModel
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QWidget

from app.backbones.download_fields import MirrorField, ProxyField
from app.backbones.job_slot_view import JobSlotView
from app.backbones.logic import PublishedRow, recommended_rows
from app.backbones.network_table import NetworkTable
from app.backbones.published_card import PublishedCard
from app.backbones.published_model import PublishedModel
from app.backbones.wording import ADVICE
from app.controls import fill_column, make_choice_box, make_label
from app.jobs.process_job import Stage
from app.texts import tr
from app.theme.tokens import tokens
from engine.backbones.published.facts import TIMM, TORCHVISION
from engine.backbones.published.recommended import Advice

if TYPE_CHECKING:
    from app.backbones.jobs import BackboneJobs


@final
class PublishedPage(QWidget):
    """Three recommended networks; then all of them to search and sort, and what can be done with the chosen one."""

    def __init__(self, jobs: BackboneJobs) -> None:
        super().__init__()
        self._jobs = jobs
        self.model = PublishedModel()
        self.search = self._make_search()
        self.publisher = self._make_publisher_box()
        self.table = NetworkTable(self.model)
        self.table.selectionModel().currentRowChanged.connect(self._on_row_chosen)
        self.list_view = JobSlotView(jobs.listing, getting_ready=tr("Loading the list…"))
        self._nothing = make_label("", "secondary", wraps=True)
        self.card = PublishedCard(jobs)
        self.recommended = {advice: PublishedCard(jobs, tr(ADVICE[advice])) for advice in Advice}
        self._headings = [make_label(text, "section") for text in (tr("Recommended"), tr("All networks"))]
        self.proxy = ProxyField(jobs.settings)
        self.mirror = MirrorField(jobs.settings)
        first, all_networks = self._headings
        above = (self.list_view, first, *self.recommended.values(), all_networks)
        self._more = make_label(
            tr("More than a thousand other networks, DINOv2 and SigLIP among them, come with timm: %1").replace(
                "%1", f"pip install protoleaf[{TIMM}]"
            ),
            "secondary",
            wraps=True,
        )
        search_row = self._make_search_row()
        below = (self._nothing, self.table, self.card, self._more, self.proxy, self.mirror)
        fill_column(self, *above, search_row, *below).addStretch(1)
        for card in self._cards:
            card.download_requested.connect(self._on_download_wanted)
        jobs.listing.stage_changed.connect(lambda _stage: self._show_emptiness())
        self._show_emptiness()

    def _make_search(self) -> QLineEdit:
        field = QLineEdit()
        field.setProperty("variant", "search")
        field.setClearButtonEnabled(True)
        field.setPlaceholderText(tr("Name or licence"))
        field.setAccessibleName(tr("Search by name or licence"))
        field.textChanged.connect(self._on_words_changed)
        return field

    def _make_publisher_box(self) -> QComboBox:
        names = {"": tr("All"), TORCHVISION: "torchvision", TIMM: "timm"}
        box = make_choice_box(names)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        box.setAccessibleName(tr("Publisher"))
        box.setToolTip(tr("Whose networks are listed"))
        box.currentIndexChanged.connect(self._on_publisher_chosen)
        return box

    def _make_search_row(self) -> QWidget:
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(tokens().spacing.small)
        line.addWidget(self.search, 1)
        line.addWidget(self.publisher)
        return row

    @property
    def current(self) -> PublishedRow | None:
        place = self.table.currentIndex().row()
        return self.model.rows[place] if 0 <= place < len(self.model.rows) else None

    @property
    def _cards(self) -> tuple[PublishedCard, ...]:
        return *self.recommended.values(), self.card

    def set_can_change(self, *, can_change: bool) -> None:
        """Say whether the project may be changed."""
        for card in self._cards:
            card.set_can_change(can_change=can_change)

    def begin(self) -> None:
        """Ask for the list when it is not there yet."""
        if not self.model.rows and not self._jobs.listing.is_busy:
            self._jobs.list_published()

    def show_rows(self, rows: Sequence[PublishedRow], here: Mapping[str, float | None]) -> None:
        """List networks; the chosen one stays chosen."""
        for card in self._cards:
            card.here = here
        advised = {each.advice: each for each in recommended_rows(rows)}
        for advice, card in self.recommended.items():
            if advice in advised:
                card.show_recommended(advised[advice])
            else:
                card.show_row(None)
        self._refill(lambda: self.model.show_rows(rows))

    def _on_row_chosen(self) -> None:
        self.card.show_row(self.current)

    def _on_publisher_chosen(self) -> None:
        publisher = str(self.publisher.currentData())
        self._refill(lambda: self.model.show_publisher(publisher))

    def _on_words_changed(self, words: str) -> None:
        self._refill(lambda: self.model.search(words))

    def _refill(self, change: Callable[[], None]) -> None:
        """Change what the table lists; the first network is chosen where the chosen one is not among it."""
        chosen = self.current
        change()
        if self.model.rows:
            sources = [row.source for row in self.model.rows]
            place = sources.index(chosen.source) if chosen is not None and chosen.source in sources else 0
            every = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            self.table.selectionModel().setCurrentIndex(self.model.index(place, 0), every)
        self.card.show_row(self.current)
        self._show_emptiness()

    def _on_download_wanted(self, row: PublishedRow) -> None:
        """Begin, unless what stands in a field leads nowhere: then the person mends it first."""
        for field in (self.proxy, self.mirror):
            if not field.take_typed():
                field.open()
                return
        self._jobs.download_network(row, self.proxy.address, self.mirror.place)

    def _show_emptiness(self) -> None:
        """An empty list says why, and what next."""
        stage = self._jobs.listing.stage
        text = ""
        if not self.model.rows and self.search.text():
            text = tr("No network matches. Search for a family, such as resnet, or clear the search.")
        elif not self.model.rows and stage in (Stage.DONE, Stage.FAILED):
            text = tr("The list could not be loaded. Come back to this page to try again.")
        self._nothing.setText(text)
        self._nothing.setVisible(bool(text))
        self.table.setVisible(bool(self.model.rows))
        has_advice = any(card.row is not None for card in self.recommended.values())
        for heading in self._headings:
            heading.setVisible(has_advice)
        has_list, publishers = bool(self.model.publishers), self.model.publishers
        self.publisher.setVisible(len(publishers) > 1)
        self._more.setVisible(has_list and TIMM not in publishers)
        self.search.setEnabled(bool(self.model.rows or self.search.text()))
