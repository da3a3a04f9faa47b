"""The page of published networks. Listing makes no network request; downloads need confirmation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from app.backbones.jobs import BackboneJobs, JobSlotView
from app.backbones.logic import PublishedRow, recommended_rows
from app.backbones.network_table import NetworkTable, PublishedModel
from app.backbones.published_card import PublishedCard
from app.backbones.wording import ADVICE
from app.controls import fill_column, fill_row, make_button, make_choice_box, make_label
from app.jobs.slot import Stage
from app.texts import breakable, plain_button, plain_tip, tr
from app.theme.tokens import tokens
from engine.backbones.published.facts import TIMM, TORCHVISION
from engine.backbones.published.route import Route, proxy_address, without_password
from engine.backbones.published.titles import Advice
from engine.errors import UsageError

if TYPE_CHECKING:
    from app.settings import Settings


SHOWN_WIDTH = 190  # logical pixels of the value in the button


@final
class QuietField(QWidget):
    """A rarely changed setting: a flat button that opens a field.

    Args:
        setting: its name in `Settings`.
        check: raises a `UsageError` for an invalid value.
        line: text of the button for a value, "" for none.
        has_password: whether the value may contain a password, which is not displayed.
    """

    def __init__(
        self,
        settings: Settings,
        setting: str,
        check: Callable[[str], object],
        *,
        name: str,
        example: str,
        tip: str,
        field_tip: str,
        hint: str,
        line: Callable[[str], str],
        has_password: bool = False,
    ) -> None:
        super().__init__()
        self._settings, self._setting = settings, setting
        self._check, self._line, self._has_password = check, line, has_password
        self.value: str = getattr(settings, setting)  # applied value; "" for none
        self.open_button = make_button("", self._on_open, variant="flat")
        self.open_button.setToolTip(plain_tip(tip))
        self.field = QLineEdit(self.value)
        self.field.setPlaceholderText(example)
        self.field.setToolTip(plain_tip(field_tip))
        self.field.setAccessibleName(name)
        self.field.editingFinished.connect(self.take_typed)
        self.problem = make_label("", "danger", wraps=True)
        self._hint = make_label(hint, "secondary", wraps=True)
        fill_column(
            self,
            self.open_button,
            self.field,
            self.problem,
            self._hint,
            spacing=tokens().spacing.tiny,
        )
        self.field.hide()
        self._show_problem("")

    def take_typed(self) -> bool:
        """Apply the typed value, or show why it is invalid; returns whether it is valid."""
        typed, problem = self.field.text().strip(), ""
        try:
            self._check(typed)
        except UsageError as error:
            problem = error.translated()
        if not problem and typed != self.value:
            self.value = typed
            setattr(self._settings, self._setting, typed)
        self._show_problem(problem)
        return not problem

    def open(self) -> None:
        self.field.show()
        self._show_problem(self.problem.text())
        self.field.setFocus()

    def _show_problem(self, text: str) -> None:
        public = without_password(self.value) if self._has_password else self.value
        shown = self.open_button.fontMetrics().elidedText(
            public, Qt.TextElideMode.ElideMiddle, SHOWN_WIDTH
        )
        self.open_button.setText(plain_button(self._line(shown)))
        self.problem.setText(breakable(text))
        self.problem.setVisible(bool(text))
        needs_hint = public != self.value or not self._has_password
        self._hint.setVisible(not self.field.isHidden() and not text and needs_hint)

    def _on_open(self) -> None:
        if self.field.isHidden():
            self.open()
        elif self.take_typed():
            self.field.hide()
            self._show_problem("")


def _mirror_field(settings: Settings) -> QuietField:
    """Setting for the mirror, a folder or a URL; by default the publishers' servers."""
    return QuietField(
        settings,
        "mirror",
        lambda typed: Route(mirror=typed).check(),
        name=tr("Folder or address of the mirror"),
        example=tr("/folder or https://host"),
        tip=tr("If this computer has no internet access, or weights come from a shared folder"),
        field_tip=tr("Leave it empty to download from the publisher"),
        hint=tr("Same layout as on the publisher's server: owner/name/file."),
        line=lambda shown: tr("Mirror: {1}", shown) if shown else tr("Use a mirror…"),
    )


def _proxy_field(settings: Settings) -> QuietField:
    """Setting for the proxy's URL; by default the system's proxy."""
    return QuietField(
        settings,
        "proxy",
        lambda typed: typed and proxy_address(typed),
        name=tr("Address of the proxy"),
        example=tr("http://host:port"),
        tip=tr("If this computer reaches the internet only through a proxy"),
        field_tip=tr("Leave it empty to use the system's proxy"),
        hint=tr("The address is remembered, the password only until the program ends."),
        line=lambda shown: tr("Proxy: {1}", shown) if shown else tr("Use a proxy…"),
        has_password=True,
    )


@final
class PublishedPage(QWidget):
    """Three recommended networks, a searchable table of all, and the card of the selected one."""

    def __init__(self, jobs: BackboneJobs) -> None:
        super().__init__()
        self._jobs = jobs
        self.model = PublishedModel()
        self.search = self._make_search()
        self.publisher = self._make_publisher_box()
        self.table = NetworkTable(self.model)
        self.list_view = JobSlotView(jobs.listing, getting_ready=tr("Loading the list…"))
        self._nothing = make_label("", "secondary", wraps=True)
        self.card = PublishedCard(jobs)
        self.table.selectionModel().currentRowChanged.connect(
            lambda: self.card.show_row(self.current)
        )
        self.recommended = {advice: PublishedCard(jobs, tr(ADVICE[advice])) for advice in Advice}
        self._headings = [
            make_label(text, "section") for text in (tr("Recommended"), tr("All networks"))
        ]
        self.proxy = _proxy_field(jobs.settings)
        self.mirror = _mirror_field(jobs.settings)
        first, all_networks = self._headings
        above = (self.list_view, first, *self.recommended.values(), all_networks)
        more = tr("timm has more than a thousand other networks, including DINOv2 and SigLIP: {1}")
        self._more = make_label(
            more.replace("{1}", f"pip install protoleaf[{TIMM}]"), "secondary", wraps=True
        )
        search_row = QWidget()
        fill_row(search_row, self.search, self.publisher).setStretch(0, 1)
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
        field.textChanged.connect(lambda words: self._refill(lambda: self.model.search(words)))
        return field

    def _make_publisher_box(self) -> QComboBox:
        box = make_choice_box({"": tr("All"), TORCHVISION: "torchvision", TIMM: "timm"})
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        box.setAccessibleName(tr("Publisher"))
        box.setToolTip(tr("Publisher of the networks"))
        box.currentIndexChanged.connect(
            lambda: self._refill(lambda: self.model.show_publisher(box.currentData()))
        )
        return box

    @property
    def current(self) -> PublishedRow | None:
        place = self.table.currentIndex().row()
        return self.model.rows[place] if 0 <= place < len(self.model.rows) else None

    @property
    def _cards(self) -> tuple[PublishedCard, ...]:
        return *self.recommended.values(), self.card

    def set_can_change(self, *, can_change: bool) -> None:
        for card in self._cards:
            card.set_can_change(can_change=can_change)

    def begin(self) -> None:
        if not self.model.rows and not self._jobs.listing.is_busy:
            self._jobs.list_published()

    def show_rows(self, rows: Sequence[PublishedRow], here: Mapping[str, float | None]) -> None:
        """Show networks; the selection is kept."""
        for card in self._cards:
            card.here = here
        advised = recommended_rows(rows)
        for advice, card in self.recommended.items():
            card.show_row(advised.get(advice))
        self._refill(lambda: self.model.show_rows(rows))

    def _refill(self, change: Callable[[], None]) -> None:
        """Change the list; select the first network if the selected one is no longer in it."""
        chosen = self.current
        change()
        if self.model.rows:
            sources = [row.source for row in self.model.rows]
            place = (
                sources.index(chosen.source)
                if chosen is not None and chosen.source in sources
                else 0
            )
            every = (
                QItemSelectionModel.SelectionFlag.ClearAndSelect
                | QItemSelectionModel.SelectionFlag.Rows
            )
            self.table.selectionModel().setCurrentIndex(self.model.index(place, 0), every)
        self.card.show_row(self.current)
        self._show_emptiness()

    def _on_download_wanted(self, row: PublishedRow) -> None:
        """Start a download; an invalid proxy or mirror has to be corrected first."""
        for field in (self.proxy, self.mirror):
            if not field.take_typed():
                field.open()
                return
        self._jobs.download_network(row, self.proxy.value, self.mirror.value)

    def _show_emptiness(self) -> None:
        stage = self._jobs.listing.stage
        text = ""
        if not self.model.rows and self.search.text():
            text = tr(
                "No network matches. Search for a family, such as resnet, or clear the search."
            )
        elif not self.model.rows and stage in (Stage.DONE, Stage.FAILED):
            text = tr("The list could not be loaded. Come back to this page to try again.")
        rows, publishers = self.model.rows, self.model.publishers
        self._nothing.setText(text)
        self._nothing.setVisible(bool(text))
        self.table.setVisible(bool(rows))
        has_advice = any(card.row is not None for card in self.recommended.values())
        for heading in self._headings:
            heading.setVisible(has_advice)
        self.publisher.setVisible(len(publishers) > 1)
        self._more.setVisible(bool(publishers) and TIMM not in publishers)
        self.search.setEnabled(bool(rows or self.search.text()))
