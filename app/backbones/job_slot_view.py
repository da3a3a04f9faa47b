"""A job at work: a bar, how far it is, and Cancel; a failure is one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtWidgets import QWidget

from app.controls import fill_column
from app.jobs.process_job import Stage
from app.side_panel.cards import FailureNotice, ProgressView
from app.texts import tr

if TYPE_CHECKING:
    from app.jobs.process_job import JobSlot


@final
class JobSlotView(QWidget):
    """Follows one slot; hidden while idle. Without a tip for it, the job cannot be cancelled here."""

    def __init__(self, slot: JobSlot, *, getting_ready: str = "", cancel_tip: str = "") -> None:
        super().__init__()
        self._slot = slot
        self._getting_ready = getting_ready or tr("Preparing…")
        self._progress = ProgressView(cancel_tip)
        self.cancel_button = self._progress.cancel_button
        self.failure = FailureNotice()
        fill_column(self, self._progress, self.failure)
        self._progress.cancel_requested.connect(slot.cancel)
        slot.stage_changed.connect(self._on_stage_changed)
        slot.progressed.connect(self._progress.show_progress)
        self._on_stage_changed(slot.stage)

    @property
    def facts(self) -> str:
        return self._progress.facts

    @property
    def error(self) -> str:
        return self._slot.error if self._slot.stage is Stage.FAILED else ""

    def _on_stage_changed(self, stage: Stage) -> None:
        if stage is Stage.WAITING:
            self._progress.show_waiting()
        elif stage is Stage.RUNNING:
            self._progress.show_step(self._getting_ready)
        else:
            self._progress.show_ended()
        self.failure.show_text(self.error)
        self.setVisible(self._slot.is_busy or stage is Stage.FAILED)
