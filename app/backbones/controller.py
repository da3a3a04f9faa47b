"""Backbones of the three sources, and changing the project to one of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from PySide6.QtCore import QObject

from app.backbones.logic import BackboneRow, Installed, PublishedRow, Removal, Source
from app.backbones.questions import fetched_sizes, installed_backbones, remove_added, some_images, use_ready
from app.jobs.job_slot import JobSlot, Stage
from app.side_panel.place import SidePlace
from app.texts import fill, translate

if TYPE_CHECKING:
    from app.backbones.jobs import BackboneJobs
    from app.backbones.view import BackbonePanel
    from app.session import Session
    from app.settings import Settings
    from app.status.toast import Toast
    from engine.backbones.messages import PublishedList
    from engine.backbones.onnx_files.facts import OnnxFacts, Trial
    from engine.project import Change

INSTALLED: Final = "installed backbones"
FETCHED: Final = "fetched weights"


@final
class Backbones(QObject):
    """Opens the backbone panel and does what is asked for there."""

    def __init__(
        self, session: "Session", jobs: "BackboneJobs", side: SidePlace, toast: "Toast", settings: "Settings"
    ) -> None:
        super().__init__(side)
        self.panel: BackbonePanel | None = None
        self._session = session
        self._jobs = jobs
        self._side = side
        self._toast = toast
        self._settings = settings
        self._published: tuple[PublishedRow, ...] = ()
        self._installed = Installed((), "")
        jobs.listing.finished.connect(self._on_listed)
        jobs.download.stage_changed.connect(self._on_download_stage)
        jobs.inspection.finished.connect(self._on_inspected)
        jobs.trial.finished.connect(self._on_tried)
        jobs.adding.finished.connect(self._on_added)
        jobs.change.stage_changed.connect(self._on_change_stage)
        session.loaded.connect(self._on_loaded)
        session.change_made.connect(self._on_change_made)
        session.state_changed.connect(lambda _state: self._show_images())
        session.closed.connect(self.close_panel)

    def callbacks(self) -> dict[str, Callable[[], None]]:
        """Actions by name."""
        return {"choose_backbone": self.open_panel}

    def open_panel(self, source: Source | None = None) -> None:
        """Show the panel in the place of the inspector."""
        if self.panel is None:
            self.panel = self._make_panel()
        self._side.show_panel(self.panel)
        if source is not None:
            self.panel.show_source(source)
        if self.panel.source is Source.PUBLISHED:
            self.panel.published.begin()
        self._show_images()
        self._ask_for_installed()

    def close_panel(self) -> None:
        """Put the panel away; what was started goes on."""
        if self.panel is not None:
            self._side.close_panel(self.panel)

    def _make_panel(self) -> "BackbonePanel":
        from app.backbones.view import BackbonePanel

        panel = BackbonePanel(self._jobs)
        panel.close_requested.connect(self.close_panel)
        panel.use_requested.connect(self._prepare)
        panel.ready_accepted.connect(self._use_ready)
        panel.ready_refused.connect(self._jobs.dismiss_change)
        panel.computer.remove_requested.connect(self._remove)
        panel.published.proxy.show_address(self._settings.proxy)
        panel.published.proxy.address_changed.connect(self._remember_proxy)
        panel.published.list_requested.connect(self._list)
        panel.published.download_requested.connect(self._download)
        panel.file.file_chosen.connect(self._inspect)
        panel.file.trial_requested.connect(self._try)
        panel.file.add_requested.connect(self._add)
        return panel

    @property
    def _is_shown(self) -> bool:
        return self.panel is not None and self.panel.isVisible()

    # -- what is on this computer

    def _ask_for_installed(self) -> None:
        caches = self._session.caches
        self._session.ask(
            lambda live: installed_backbones(live.project, caches), self._on_installed, owner=self, topic=INSTALLED
        )

    def _on_installed(self, installed: Installed) -> None:
        self._installed = installed
        info = self._session.info
        if self.panel is not None:
            self.panel.show_installed(installed, can_change=info is not None and info.is_writable)
            self._show_published()
        if installed.lost_reason and not self._is_shown:
            self._toast.say_failure(
                translate(
                    "backbones", "This project's backbone is missing. Your labels are safe; choose another backbone."
                ),
                action=translate("backbones", "Choose…"),
                on_action=self.open_panel,
            )

    def _on_loaded(self) -> None:
        """Look once whether the backbone is still there; later only while somebody looks."""
        self._ask_for_installed()

    def _on_change_made(self, change: "Change") -> None:
        if change.settings and self.panel is not None:
            self._ask_for_installed()

    def _remove(self, row: BackboneRow) -> None:
        caches, name = self._session.caches, row.source
        self._session.ask(lambda live: remove_added(live.project, caches, name), self._on_removed, owner=self)

    def _on_removed(self, removal: Removal) -> None:
        self._ask_for_installed()
        if removal.error:
            self._toast.say_failure(removal.error)
        else:
            self._toast.say(fill(translate("backbones", "%1 is no longer on this computer"), removal.name))

    # -- published networks

    def _list(self) -> None:
        from engine.backbones.messages import ListPublished

        request = ListPublished(self._session.caches.root)
        self._jobs.listing.start(translate("backbones", "Loading the list of published networks"), request)

    def _on_listed(self, listed: "PublishedList") -> None:
        self._published = tuple(PublishedRow(network) for network in listed.networks)
        self._show_published()
        self._ask_for_fetched()

    def _ask_for_fetched(self) -> None:
        caches = self._session.caches
        self._session.ask(lambda _live: fetched_sizes(caches), self._on_fetched, owner=self, topic=FETCHED)

    def _on_fetched(self, sizes: Mapping[str, int]) -> None:
        self._published = tuple(
            replace(row, fetched_bytes=sizes.get(row.network.library_name, 0)) for row in self._published
        )
        self._show_published()

    def _show_published(self) -> None:
        if self.panel is None or not self._published:
            return
        here = {row.source for row in self._installed.rows}
        self.panel.published.show_rows(
            [replace(row, is_here=row.network.library_name in here) for row in self._published]
        )

    def _remember_proxy(self, address: str) -> None:
        self._settings.proxy = address

    def _download(self, row: PublishedRow, proxy: str) -> None:
        from engine.backbones.messages import AddPublished

        request = AddPublished(self._session.caches.root, row.network.network, row.network.weights, proxy)
        title = fill(translate("backbones", "Downloading %1"), row.name)
        self._jobs.download.start(title, request, subject=row.name)

    def _on_download_stage(self, stage: Stage) -> None:
        if stage in (Stage.WAITING, Stage.RUNNING):
            return
        self._ask_for_installed()
        self._ask_for_fetched()
        if stage is Stage.DONE:
            self._tell_added(self._jobs.download.subject, Source.PUBLISHED)
        elif stage is Stage.FAILED:
            self._tell_failure(self._jobs.download)

    # -- an ONNX file

    def _inspect(self, path: Path) -> None:
        from engine.backbones.messages import InspectFile

        title = fill(translate("backbones", "Inspecting %1"), path.name)
        self._jobs.inspection.start(title, InspectFile(path))

    def _on_inspected(self, facts: "OnnxFacts") -> None:
        if self.panel is not None:
            self.panel.file.show_facts(facts)

    def _show_images(self) -> None:
        """Give the panel some images that were read well, spread over the collection."""
        state = self._session.state
        if self.panel is None or state is None or self.panel.isHidden():
            return
        self.panel.file.show_images(some_images(state))

    def _try(self, path: Path, facts: "OnnxFacts", preprocessing: Mapping[str, Any], images: Sequence[Path]) -> None:
        from engine.backbones.messages import TryFile

        request = TryFile(path, facts, preprocessing, tuple(images))
        self._jobs.trial.start(fill(translate("backbones", "Trying %1"), path.name), request)

    def _on_tried(self, trial: "Trial") -> None:
        if self.panel is not None:
            self.panel.file.show_trial(trial)

    def _add(self, path: Path, name: str, preprocessing: Mapping[str, Any]) -> None:
        from engine.backbones.messages import AddFile

        info = self._session.info
        request = AddFile(path, name, preprocessing, None if info is None else info.path)
        self._jobs.adding.start(fill(translate("backbones", "Adding %1"), name), request, subject=name)

    def _on_added(self, _added: object) -> None:
        self._ask_for_installed()
        if self.panel is not None:
            self.panel.file.forget_file()
            self.panel.show_source(Source.COMPUTER)
        self._tell_added(self._jobs.adding.subject, Source.COMPUTER)

    def _tell_added(self, name: str, source: Source) -> None:
        text = fill(translate("backbones", "%1 is now on this computer"), name)
        if self._is_shown:
            self._toast.say(text)
        else:
            self._toast.say(text, action=translate("backbones", "Show"), on_action=lambda: self.open_panel(source))

    def _tell_failure(self, slot: JobSlot) -> None:
        """Tell somebody who looks elsewhere."""
        if not self._is_shown:
            self._toast.say_failure(slot.error)

    # -- changing the project

    def _prepare(self, source: str, name: str) -> None:
        self._jobs.prepare_change(source, name, device=self._settings.device)

    def _use_ready(self) -> None:
        ready = self._jobs.ready
        if ready is not None:
            self._session.act(
                lambda project: use_ready(project, ready), on_done=lambda _change: self._on_used(ready.name)
            )

    def _on_used(self, name: str) -> None:
        self._jobs.dismiss_change()
        text = fill(translate("backbones", "Now using %1"), name)
        self._toast.say(text, action=translate("backbones", "Undo"), on_action=self._session.undo)

    def _on_change_stage(self, stage: Stage) -> None:
        """Tell somebody who looks elsewhere how it ended."""
        if self._is_shown:
            return
        if stage is Stage.FAILED:
            self._tell_failure(self._jobs.change)
        elif stage is Stage.DONE and self._jobs.ready is not None:
            text = fill(translate("backbones", "%1 is ready to use"), self._jobs.ready.name)
            self._toast.say(text, action=translate("backbones", "Show"), on_action=self.open_panel)
