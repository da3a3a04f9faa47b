"""What the backbone panel lets workers do: list, examine files, download, and prepare a change."""

from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject

from app.backbones.logic import ReadyChange
from app.jobs.job_slot import JobSlot

if TYPE_CHECKING:
    from app.session import Session
    from engine.collection.backbone_change.change import PreparedChange


@final
class BackboneJobs(QObject):
    """A slot for each kind of work of the panel, and a change that is ready.

    Attributes:
        listing: reads the list of published networks; asks no other computer.
        download: fetches one of them and keeps it; only when the person said so.
        inspection: reads what an ONNX file says of itself.
        trial: runs it on some of the person's images.
        adding: takes it into the library.
        change: embeds the project with another backbone.
        ready: a change that waits for the person's word.
    """

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self.listing = JobSlot(session.jobs)
        self.download = JobSlot(session.jobs)
        self.inspection = JobSlot(session.jobs)
        self.trial = JobSlot(session.jobs)
        self.adding = JobSlot(session.jobs, keeps_finished=False)
        self.change = JobSlot(session.jobs, is_heavy=True)
        self.ready: ReadyChange | None = None
        self._project: Path | None = None
        self.change.finished.connect(self._on_change_ready)
        session.closed.connect(self._on_closed)

    @property
    def slots(self) -> tuple[JobSlot, ...]:
        """All of them."""
        return self.listing, self.download, self.inspection, self.trial, self.adding, self.change

    def prepare_change(self, source: str, name: str, *, device: str = "auto") -> None:
        """Embed the open project with another backbone; nothing while nobody may write."""
        from engine.collection.messages import PrepareChange

        info = self._session.info
        if info is None or not info.is_writable:
            return
        if self.change.is_busy:
            return
        self._project, self.ready = info.path, None
        request = PrepareChange(info.path, self._session.caches.root, source, device)
        self.change.start(self.tr("Embedding images with %1").replace("%1", name), request, subject=name)

    def dismiss_change(self) -> None:
        """The person has decided."""
        self.ready = None
        self.change.dismiss()

    def _on_change_ready(self, prepared: "PreparedChange") -> None:
        info = self._session.info
        if info is not None and info.path == self._project:  # it may have ended just when another project was opened
            self.ready = ReadyChange.of_prepared(prepared, self.change.news)

    def _on_closed(self) -> None:
        self.ready = None
        for slot in (self.change, self.trial):
            slot.cancel()
            slot.dismiss()
