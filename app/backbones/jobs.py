"""Background jobs of the backbone panel, and a widget for their progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from app.controls import fill_column
from app.jobs.slot import JobSlot, Stage
from app.side_panel.cards import FailureNotice, ProgressView
from app.texts import tr

if TYPE_CHECKING:
    from app.backbones.logic import PublishedRow
    from app.session import Session
    from app.settings import Settings
    from engine.backbones.messages import OnnxFacts
    from engine.collection.backbone_change import PreparedChange
    from engine.model_card import BackboneCard
    from engine.worker.protocol import Request


@final
class BackboneJobs(QObject):
    """One job slot for each kind of work, and the prepared change."""

    def __init__(self, session: Session, settings: Settings) -> None:
        super().__init__(session)
        self.settings = settings
        self._session = session
        # Reads the list of published networks; makes no network request.
        self.listing = JobSlot(session.jobs)
        # Downloads and stores a published network, after the user agreed.
        self.download = JobSlot(session.jobs)
        self.inspection = JobSlot(session.jobs)  # reads the metadata of an ONNX file
        self.trial = JobSlot(session.jobs)  # embeds some images with it
        self.adding = JobSlot(session.jobs, keeps_finished=False)
        # Measures the speed of bundled backbones.
        self.measuring = JobSlot(session.jobs, keeps_finished=False)
        # Prepares a bundled backbone before its first use.
        self.preparation = JobSlot(session.jobs, keeps_finished=False)
        # Embeds the project with another backbone.
        self.change = JobSlot(session.jobs, is_heavy=True)
        # A prepared change that the user has not decided about.
        self.ready: PreparedChange | None = None
        self._project: Path | None = None
        self._next_source = ""
        self.preparation.finished.connect(self._on_prepared)
        self.change.finished.connect(self._on_change_ready)
        session.closed.connect(self._on_closed)

    def list_published(self) -> None:
        from engine.backbones.messages import ListPublished

        request = ListPublished(self._session.caches.root)
        self.listing.start(tr("Loading the list of published networks"), request)

    def download_network(self, row: PublishedRow, proxy: str, mirror: str) -> None:
        """Download a network; "" means the system's proxy, and the publisher's server as mirror."""
        from engine.backbones.messages import AddPublished

        network = row.network
        side = network.input_side if network.has_chosen_side else None
        request = AddPublished(
            self._session.caches.root,
            network.source,
            network.weights or None,
            proxy,
            mirror,
            input_side=side,
        )
        self.download.start(tr("Downloading {1}", row.name), request, subject=row.name)

    def inspect_file(self, path: Path) -> None:
        from engine.backbones.messages import InspectFile

        self.inspection.start(tr("Inspecting {1}", path.name), InspectFile(path))

    def try_file(
        self, path: Path, facts: OnnxFacts, preprocessing: Mapping[str, Any], images: Sequence[Path]
    ) -> None:
        from engine.backbones.messages import TryFile

        request = TryFile(path, facts, preprocessing, tuple(images))
        self.trial.start(tr("Trying {1}", path.name), request)

    def add_file(self, path: Path, name: str, preprocessing: Mapping[str, Any]) -> None:
        from engine.backbones.messages import AddFile

        info = self._session.info
        request = AddFile(path, name, preprocessing, None if info is None else info.path)
        self.adding.start(tr("Adding {1}", name), request, subject=name)

    @property
    def is_changing(self) -> bool:
        return self.preparation.is_busy or self.change.is_busy

    def measure(
        self, backbones: Sequence[tuple[Path, BackboneCard]], photos: Sequence[Path]
    ) -> None:
        from engine.embedding.messages import MeasureRates

        request = MeasureRates(tuple(backbones), tuple(photos), self.settings.device)
        self.measuring.start(tr("Measuring the speed"), request)

    def prepare_change(
        self, source: str, name: str, preparation: Request[Any] | None = None
    ) -> None:
        """Embed the open project with another backbone, unless it is read-only or changing."""
        from engine.requests import PrepareChange

        info = self._session.info
        if info is None or not info.is_writable or self.is_changing:
            return
        self._project, self.ready = info.path, None
        if preparation is not None:
            self._next_source = source
            self.preparation.start(tr("Preparing {1}", name), preparation, subject=name)
            return
        request = PrepareChange(info.path, self._session.caches.root, source, self.settings.device)
        self.change.start(tr("Analysing images with {1}", name), request, subject=name)

    def dismiss_change(self) -> None:
        self.ready = None
        self.change.dismiss()

    def _on_change_ready(self, prepared: PreparedChange) -> None:
        info = self._session.info
        # Another project may have been opened just before the job ended.
        if info is not None and info.path == self._project:
            self.ready = replace(prepared, news=tuple(self.change.news))

    def _on_prepared(self, _added: object) -> None:
        """Continue with the change, after all slots connected to the preparation have run."""
        source, name, project = self._next_source, self.preparation.subject, self._project
        QTimer.singleShot(0, self, lambda: self._go_on(source, name, project))

    def _go_on(self, source: str, name: str, project: Path | None) -> None:
        self.preparation.dismiss()
        info = self._session.info
        # Another project may have been opened.
        if info is not None and info.path == project:
            self.prepare_change(source, name)

    def _on_closed(self) -> None:
        self.ready = None
        for slot in (self.preparation, self.change, self.trial):
            slot.cancel()
            slot.dismiss()


@final
class JobSlotView(QWidget):
    """Progress or failure of a job slot; hidden while idle.

    Without a `cancel_tip` there is no Cancel button.
    """

    def __init__(self, slot: JobSlot, *, getting_ready: str = "", cancel_tip: str = "") -> None:
        super().__init__()
        self._slot = slot
        self._getting_ready = getting_ready or tr("Preparing…")
        self.progress = ProgressView(cancel_tip)
        self.failure = FailureNotice()
        fill_column(self, self.progress, self.failure)
        self.progress.cancel_requested.connect(slot.cancel)
        slot.stage_changed.connect(self._on_stage_changed)
        slot.progressed.connect(self.progress.show_progress)
        self._on_stage_changed(slot.stage)

    @property
    def error(self) -> str:
        return self._slot.error if self._slot.stage is Stage.FAILED else ""

    def _on_stage_changed(self, stage: Stage) -> None:
        if stage is Stage.WAITING:
            self.progress.show_waiting()
        elif stage is Stage.RUNNING:
            self.progress.show_step(self._getting_ready)
        else:
            self.progress.show_ended()
        self.failure.show_text(self.error)
        self.setVisible(self._slot.is_busy or stage is Stage.FAILED)
