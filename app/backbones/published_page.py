"""The second source: published networks. The list asks no other computer; a download begins when the person says so."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QItemSelectionModel, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QLineEdit, QTableView, QWidget

from app.backbones.job_slot_view import JobSlotView
from app.backbones.logic import PublishedRow
from app.backbones.proxy_field import ProxyField
from app.backbones.published_model import PublishedModel
from app.backbones.wording import download_button, download_question, licence_text, published_facts
from app.controls import fill_column, make_button, make_label
from app.jobs.job_slot import Stage
from app.texts import breakable, fill
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from app.backbones.jobs import BackboneJobs

ROWS_IN_SIGHT: Final = 9


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
        self.refuse_button = make_button(self.tr("Not now"), self.refuse)
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

    def show_row(self, row: PublishedRow | None) -> None:
        """Show another network, or what is known of the same one now."""
        is_same = row is not None and self.row is not None and row.source == self.row.source
        is_asking = is_same and self.is_asking
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
        row, is_busy = self.row, self._jobs.download.is_busy
        is_here = row is not None and row.is_here
        self.download_button.setVisible(not is_here and not is_asking and not is_busy)
        self.use_button.setVisible(is_here and not is_busy)
        self.use_button.setEnabled(self._can_change)
        self.question.setVisible(is_asking and not is_here and not is_busy)

    def _on_ask(self) -> None:
        self._jobs.download.dismiss()
        self._arrange(is_asking=True)
        self.agree_button.setFocus()

    def _on_agree(self) -> None:
        if self.row is not None:
            self.download_requested.emit(self.row)

    def refuse(self) -> None:
        """Fetch nothing."""
        self._arrange(is_asking=False)
        self.download_button.setFocus()

    def _on_use(self) -> None:
        if self.row is not None:
            self._jobs.prepare_change(self.row.source, self.row.name)


@final
class PublishedPage(QWidget):
    """A table to search and sort, and below it what can be done with the chosen network."""

    def __init__(self, jobs: "BackboneJobs") -> None:
        super().__init__()
        self._jobs = jobs
        self.model = PublishedModel()
        self.search = self._make_search()
        self.table = self._make_table()
        self.list_view = JobSlotView(jobs.listing, getting_ready=self.tr("Loading the list…"))
        self._nothing = make_label("", "secondary", wraps=True)
        self.card = PublishedCard(jobs)
        self.proxy = ProxyField(jobs.settings)
        parts = (self.search, self.list_view, self._nothing, self.table, self.card, self.proxy)
        fill_column(self, *parts).addStretch(1)
        self.card.download_requested.connect(self._on_download_wanted)
        jobs.listing.stage_changed.connect(lambda _stage: self._show_emptiness())
        self._show_emptiness()

    def _make_search(self) -> QLineEdit:
        field = QLineEdit()
        field.setProperty("variant", "search")
        field.setClearButtonEnabled(True)
        field.setPlaceholderText(self.tr("Search by name or licence"))
        field.setAccessibleName(field.placeholderText())
        field.textChanged.connect(self._on_words_changed)
        return field

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setModel(self.model)
        table.setAccessibleName(self.tr("Published networks"))
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        table.setWordWrap(False)
        table.setSortingEnabled(True)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(tokens().spacing.control_height)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSortIndicator(0, Qt.SortOrder.AscendingOrder)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        table.setMinimumHeight(header.sizeHint().height() + ROWS_IN_SIGHT * tokens().spacing.control_height)
        table.setFrameShape(QFrame.Shape.NoFrame)
        table.selectionModel().currentRowChanged.connect(lambda _now, _before: self.card.show_row(self.current))
        return table

    @property
    def current(self) -> PublishedRow | None:
        """The chosen network."""
        place = self.table.currentIndex().row()
        return self.model.rows[place] if 0 <= place < len(self.model.rows) else None

    def begin(self) -> None:
        """Ask for the list when it is not there yet."""
        if not self.model.rows and not self._jobs.listing.is_busy:
            self._jobs.list_published()

    def show_rows(self, rows: Sequence[PublishedRow]) -> None:
        """List networks; the chosen one stays chosen."""
        self._refill(lambda: self.model.show_rows(rows))

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
        """Begin, unless what stands in the proxy's field is no address: then the person mends it first."""
        if self.proxy.take_typed():
            self._jobs.download_network(row, self.proxy.address)
        else:
            self.proxy.open()

    def _show_emptiness(self) -> None:
        """An empty list says why, and what next."""
        stage = self._jobs.listing.stage
        text = ""
        if not self.model.rows and self.search.text():
            text = self.tr("No network matches. Search for a family, such as resnet, or clear the search.")
        elif not self.model.rows and stage in (Stage.DONE, Stage.FAILED):
            text = self.tr("The list could not be loaded. Come back to this page to try again.")
        self._nothing.setText(text)
        self._nothing.setVisible(bool(text))
        self.table.setVisible(bool(self.model.rows))
        self.search.setEnabled(bool(self.model.rows or self.search.text()))
