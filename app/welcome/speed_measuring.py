"""Measures the speed of each backbone on the photos of a new project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.jobs.slot import JobSlot
from app.texts import tr
from app.welcome.logic import ExpectedSpeed, Photos, speeds

if TYPE_CHECKING:
    from app.jobs.job import JobRunner
    from app.settings import Settings
    from engine.backbones.bundled import OfferedBackbone
    from engine.embedding.messages import MeasuredRates, PhotoRate


@final
class SpeedMeasuring(QObject):
    """Measures again when other photos were found."""

    changed = Signal()

    def __init__(self, jobs: JobRunner, settings: Settings) -> None:
        super().__init__(jobs)
        self.slot = JobSlot(jobs, keeps_finished=False)
        self.photos = Photos()
        self._settings = settings
        self._offered: Sequence[OfferedBackbone] = ()
        self._rates: dict[str, PhotoRate] = {}
        self.slot.finished.connect(self._on_measured)
        self.slot.stage_changed.connect(self.changed)

    def measure(self, offered: Sequence[OfferedBackbone], photos: Photos) -> None:
        """Measure these backbones once the photos are counted; skipped if there is only one."""
        before, self.photos, self._offered = self.photos, photos, offered
        is_known = bool(self._rates) and photos.some == before.some
        if len(offered) > 1 and not photos.is_counting and not is_known:
            self._begin()
        self.changed.emit()

    def _begin(self) -> None:
        from engine.embedding.messages import MeasureRates

        ready = tuple((one.file, one.card) for one in self._offered if one.file is not None)
        self.slot.abandon()
        self.slot.start(
            tr("Measuring the speed"), MeasureRates(ready, self.photos.some, self._settings.device)
        )

    def forget(self) -> None:
        self.slot.abandon()
        self.photos, self._rates = Photos(), {}

    @property
    def is_busy(self) -> bool:
        return self.photos.is_counting or self.slot.is_busy

    @property
    def speeds(self) -> dict[str, ExpectedSpeed]:
        """Speed of each backbone by name."""
        return speeds(self._offered, self._rates)

    def _on_measured(self, measured: MeasuredRates) -> None:
        self._rates = dict(measured.rates)
