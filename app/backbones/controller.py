"""The feature for choosing, adding, and removing backbones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, final

from app.actions.row import READ_FOR_GOOD, Section, action
from app.backbones.jobs import BackboneJobs
from app.backbones.logic import (
    BackboneRow,
    Installed,
    PublishedRow,
    Source,
    fetched_sizes,
    installed_backbones,
    remove_added,
    some_images,
    with_rates,
)
from app.backbones.wording import offer_text
from app.feature import PanelFeature
from app.jobs.slot import Stage
from app.texts import marked, tr
from engine.backbones.published.titles import library_title
from engine.config import sample_folder
from engine.texts import translated

if TYPE_CHECKING:
    from app.backbones.view import BackbonePanel
    from app.shell import Shell
    from engine.backbones.bundled import OfferedBackbone
    from engine.backbones.messages import PublishedList
    from engine.collection.live import LiveCollection
    from engine.embedding.messages import MeasuredRates, PhotoRate
    from engine.events import Progress
    from engine.project import Change

MOST_TIMED = 24  # images on which the speed of a backbone is measured


@final
class Backbones(PanelFeature["BackbonePanel"]):
    """Show the backbone panel, keep it up to date, and apply its requests."""

    guide_page = "backbones"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        session = shell.session
        self.jobs = BackboneJobs(session, self._settings)
        self._published: tuple[PublishedRow, ...] = ()
        self._installed = Installed((), "")
        self._rates: dict[str, PhotoRate] = {}
        self._timed: set[str] = set()  # names of backbones measured so far, failures included
        self.jobs.measuring.finished.connect(self._on_measured)
        self.jobs.listing.finished.connect(self._on_listed)
        self.jobs.download.stage_changed.connect(self._on_download_stage)
        self.jobs.adding.finished.connect(self._on_added)
        self.jobs.change.stage_changed.connect(self._on_change_stage)
        self.jobs.change.progressed.connect(self._on_change_progressed)
        session.loaded.connect(self._ask_for_installed)
        session.loaded.connect(self._look_for_offer)
        session.change_made.connect(self._on_change_made)
        session.state_changed.connect(lambda _state: self._show_images())
        session.closed.connect(self.close_panel)

    @action(
        "choose_backbone",
        marked("Backbone…"),
        "backbone",
        "Ctrl+B",
        Section.MODEL_CHOOSE,
        needs=READ_FOR_GOOD,
    )
    def open_panel(self, source: Source | None = None) -> None:
        panel = self.show_panel()
        if source is not None:
            panel.show_source(source)
        if panel.source is Source.PUBLISHED:
            panel.published.begin()
        self._show_images()
        self._ask_for_installed()

    def make_panel(self) -> BackbonePanel:
        from app.backbones.view import BackbonePanel

        panel = BackbonePanel(self.jobs)
        panel.outcome.use_requested.connect(self._use_ready)
        panel.computer.remove_requested.connect(self._remove)
        return panel

    def _show_status(self, text: str, source: Source | None = None) -> None:
        """Show a toast; if the panel is closed, with a button that opens it."""
        if self.is_panel_shown:
            self._toast.show_message(text)
        else:
            self._toast.show_message(
                text, action=tr("Show"), on_action=lambda: self.open_panel(source)
            )

    def _ask_for_installed(self) -> None:
        caches = self._session.caches
        self._session.ask(
            lambda live: installed_backbones(live.project, caches),
            self._on_installed,
            owner=self,
            topic="installed backbones",
        )

    def _on_installed(self, installed: Installed) -> None:
        self._installed = installed
        self._show_installed()
        self._measure()
        if installed.missing_model_reason and not self.is_panel_shown:
            text = tr(
                "This project's backbone is missing. Your labels are safe; choose another backbone."
            )
            self._toast.report_failure(text, action=tr("Choose…"), on_action=self.open_panel)

    def _show_installed(self) -> None:
        if self.panel is not None:
            shown = replace(self._installed, rows=with_rates(self._installed.rows, self._rates))
            self.panel.show_installed(shown, can_change=self._session.is_writable)
            self._show_published()

    def _compare(self, offered: OfferedBackbone) -> None:
        """Open the panel and prepare the change to a bundled backbone, to compare the two."""
        self.open_panel(Source.COMPUTER)
        self.jobs.prepare_change(offered.name, library_title(offered.name), offered.preparation)

    def _measure(self) -> None:
        """Measure the speed of bundled backbones once, while the panel is visible and idle."""
        if not self._installed.is_choice_open:
            return
        rows = [
            row
            for row in self._installed.rows
            if row.choice is not None and row.preparation is None
        ]
        state, names = self._session.state, {row.files.name for row in rows}
        if (
            self.is_panel_shown
            and state is not None
            and not self._session.jobs.jobs
            and not names <= self._timed
        ):
            self._timed |= names
            self.jobs.measure(
                [(row.files.backbone, row.files.card) for row in rows],
                some_images(state, MOST_TIMED),
            )

    def _on_measured(self, measured: MeasuredRates) -> None:
        self._rates |= measured.rates
        self._show_installed()

    def _on_change_made(self, change: Change) -> None:
        if not change.settings:
            return
        self._shell.workspace.offer_notice.hide()
        if self.panel is not None:
            self._ask_for_installed()

    def _look_for_offer(self) -> None:
        """Offer the accurate backbone once to a project that uses the fast one."""
        info = self._session.info
        # The sample project gets no offer.
        if info is not None and not info.path.is_relative_to(sample_folder()):
            self._session.ask(
                _accurate_offer,
                lambda offered: self._on_offer(info.project_id, offered),
                owner=self,
                topic="accurate backbone",
            )

    def _on_offer(self, project_id: str, offered: OfferedBackbone | None) -> None:
        if offered is None or self._settings.was_offered(project_id):
            return
        self._settings.remember_offered(project_id)
        answers = [(tr("Compare…"), lambda: self._compare(offered)), (tr("Not now"), lambda: None)]
        self._shell.workspace.offer_notice.ask(offer_text(offered), answers)

    def _remove(self, row: BackboneRow) -> None:
        caches = self._session.caches
        self._session.ask(
            lambda live: remove_added(live.project, caches, row.source),
            lambda error: self._on_removed(row.name, error),
            owner=self,
        )

    def _on_removed(self, name: str, error: str) -> None:
        self._ask_for_installed()
        if error:
            self._toast.report_failure(error)
        else:
            self._toast.show_message(tr("Removed {1}", name))

    def _on_listed(self, listed: PublishedList) -> None:
        self._published = tuple(PublishedRow(network) for network in listed.networks)
        self._show_published()
        self._ask_for_fetched()

    def _ask_for_fetched(self) -> None:
        caches = self._session.caches
        self._session.ask(
            lambda _live: fetched_sizes(caches),
            self._on_fetched,
            owner=self,
            topic="fetched weights",
        )

    def _on_fetched(self, sizes: Mapping[str, int]) -> None:
        self._published = tuple(
            replace(row, fetched_bytes=sizes.get(row.source, 0)) for row in self._published
        )
        self._show_published()

    def _show_published(self) -> None:
        if self.panel is not None and self._published:
            here = {row.source: row.images_per_s for row in self._installed.rows}
            rows = [
                replace(row, is_here=row.source in here, images_per_s=here.get(row.source))
                for row in self._published
            ]
            self.panel.published.show_rows(rows, here)

    def _on_download_stage(self, stage: Stage) -> None:
        if self.jobs.download.is_busy:
            return
        self._ask_for_installed()
        self._ask_for_fetched()
        if stage is Stage.DONE:
            self._show_status(tr("Added {1}", self.jobs.download.subject), Source.PUBLISHED)
        elif stage is Stage.FAILED and not self.is_panel_shown:
            self._toast.report_failure(self.jobs.download.error)

    def _show_images(self) -> None:
        state = self._session.state
        if self.panel is not None and state is not None and not self.panel.isHidden():
            self.panel.file.show_images(some_images(state))

    def _on_added(self, _added: object) -> None:
        self._ask_for_installed()
        if self.panel is not None:
            self.panel.file.forget_file()
            self.panel.show_source(Source.COMPUTER)
        self._show_status(tr("Added {1}", self.jobs.adding.subject), Source.COMPUTER)

    def _use_ready(self) -> None:
        ready = self.jobs.ready
        if ready is None:
            return
        from engine.collection.backbone_change import use_backbone

        self._session.act(
            lambda project: use_backbone(project, ready.source, ready.backbone_hash, ready.news),
            on_done=lambda _change: self._on_used(library_title(ready.name)),
        )

    def _on_used(self, name: str) -> None:
        self.jobs.dismiss_change()
        self.show_undoable(tr("Now using {1}", name))

    def _on_change_progressed(self, progress: Progress) -> None:
        if progress.notice:
            self._shell.device_failed.emit(translated(progress.notice))

    def _on_change_stage(self, stage: Stage) -> None:
        if self.is_panel_shown:
            return
        if stage is Stage.FAILED:
            self._toast.report_failure(self.jobs.change.error)
        elif stage is Stage.DONE and self.jobs.ready is not None:
            self._show_status(tr("{1} is ready to use", library_title(self.jobs.ready.name)))


def _accurate_offer(live: LiveCollection) -> OfferedBackbone | None:
    from engine.collection.recommendations import accurate_offer

    return accurate_offer(live)
