"""A simulated device that computes nothing at a given rate, to measure what feeds it."""

import time
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.errors import UsageError
from engine.model_card import BackboneCard
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import CPU_CHOICE

SIMULATED = "simulated:"  # prefix of the device name, before the images a second
BATCH = 64
"""Images of a run. Chosen: fewer than on a GPU, so that short benchmarks have many runs."""
LEAST_WAIT_S = 1e-4


@dataclass(frozen=True)
class DeviceUse:
    """Load of a device from its first run to the end of its last.

    Attributes:
        runs: batches.
        sizes: distinct batch sizes.
        busy_s: seconds of computing.
        seconds: from the first run to the end of the last.
    """

    runs: int
    sizes: int
    busy_s: float
    seconds: float

    @property
    def idle(self) -> float:
        """Share of the time that it was idle."""
        return 1 - self.busy_s / self.seconds if self.seconds > 0 else 0.0

    def fullness(self, images: int) -> float:
        """Requested images over images that ran, padding included."""
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
        """Whether it counts as a GPU: yes."""
        return True

    @property
    def device_name(self) -> str:
        """Name with its rate."""
        return f"simulated device of {self._rate:g} images/s"

    def embed(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Zeros (n, width), after the simulated time."""
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
        """Load since the last call."""
        spans, self._spans = self._spans, []
        if not spans:
            return DeviceUse(0, 0, 0.0, 0.0)
        busy_s = sum(end - start for start, end, _count in spans)
        return DeviceUse(
            len(spans), len({count for *_, count in spans}), busy_s, spans[-1][1] - spans[0][0]
        )


def simulated_rate(device: str) -> float | None:
    """Rate in the name of a simulated device; None for another device.

    Raises:
        UsageError: the rate is no positive number.
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
