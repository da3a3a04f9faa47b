"""A device that takes its time and computes nothing, so that what feeds it can be measured without one."""

import time
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from engine.errors import UsageError
from engine.model_card import BackboneCard
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import CPU_CHOICE

SIMULATED: Final = "simulated:"  # before the images a second, as a name of a device
BATCH: Final = (
    64  # images of one run. Chosen: less than what a GPU takes, so that a short run has many.
)
LEAST_WAIT_S: Final = 1e-4


@dataclass(frozen=True)
class DeviceUse:
    """How busy a device was from its first run to the end of its last.

    Attributes:
        runs: batches.
        sizes: different numbers of images in one.
        busy_s: seconds that it computed.
        seconds: from the first run to the end of the last.
    """

    runs: int
    sizes: int
    busy_s: float
    seconds: float

    @property
    def idle(self) -> float:
        """Share of the time that it waited."""
        return 1 - self.busy_s / self.seconds if self.seconds > 0 else 0.0

    def fullness(self, images: int) -> float:
        """Images that were wanted over those that ran."""
        return images / (self.runs * BATCH) if self.runs else 0.0


@final
class SimulatedDevice(BackboneSession):
    """Runs one batch after the other at a given rate; embeddings are zeros."""

    def __init__(
        self, model: Path, card: BackboneCard, rate: float, threads: int | None = None
    ) -> None:
        self._rate = 0.0
        self._spans: list[tuple[float, float, int]] = []
        self._turn = Lock()
        super().__init__(model, card, CPU_CHOICE, threads)
        self.batch_size, self._rate = BATCH, rate

    @property
    def is_on_gpu(self) -> bool:
        """As if."""
        return True

    @property
    def device_name(self) -> str:
        """With its rate."""
        return f"simulated device of {self._rate:g} images/s"

    def embed(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Zeros (n, width), after the time that the device takes."""
        if not self._rate:
            return super().embed(images)
        with self._turn:
            started_s = time.perf_counter()
            end_s = started_s + len(images) / self._rate
            while (left_s := end_s - time.perf_counter()) > LEAST_WAIT_S:
                time.sleep(left_s)
            self._spans.append((started_s, time.perf_counter(), len(images)))
        return np.zeros((len(images), self.card.embedding_width), dtype=np.float32)

    def take_use(self) -> DeviceUse:
        """What it did since the last call."""
        spans, self._spans = self._spans, []
        if not spans:
            return DeviceUse(0, 0, 0.0, 0.0)
        busy_s = sum(end - start for start, end, _count in spans)
        return DeviceUse(
            len(spans), len({count for *_, count in spans}), busy_s, spans[-1][1] - spans[0][0]
        )


def simulated_rate(device: str) -> float | None:
    """The rate in the name of a simulated device, or None of another.

    Raises:
        UsageError: it is no positive number.
    """
    if not device.startswith(SIMULATED):
        return None
    text = device.removeprefix(SIMULATED)
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate < float("inf"):
        raise UsageError("a simulated device has a rate", expected=f"{SIMULATED}300", found=device)
    return rate
