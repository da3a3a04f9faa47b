"""Runs that outlive their device: smaller batches when its memory is full, the CPU when it fails. No batch is lost."""

import logging
import threading
from collections.abc import Callable
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.runtime.bound_runs import Run
from engine.runtime.devices.reasons import is_out_of_memory

CPU_BATCH: Final = 8
"""Images in one run on the CPU: one core is as fast with 8 as with 32, and holds a quarter of the memory."""

_log = logging.getLogger(__name__)


@final
class DeviceFallback:
    """Runs batches on a device, and gives way when it fails. May be called from several threads.

    Attributes:
        notice: what a person must be told once; empty while all is well.

    Args:
        open_cpu: makes what runs on the CPU instead; None where the device is the CPU.
    """

    def __init__(
        self,
        run: Run,
        open_cpu: Callable[[], Run] | None = None,
        *,
        device_name: str = "",
        can_shrink: bool = True,
        notice: str = "",
    ) -> None:
        self.notice = notice
        self._run = run
        self._open_cpu = open_cpu
        self._device_name = device_name
        self._can_shrink = can_shrink
        self._most: int | None = None
        self._lock = threading.Lock()

    @property
    def has_given_way(self) -> bool:
        """Whether the device was given up."""
        return self.notice != "" and self._open_cpu is None

    def __call__(self, batch: NDArray[Any]) -> NDArray[Any]:
        """Run a batch, in smaller ones if need be.

        Raises:
            ModelError: it fails on the CPU, too.
        """
        parts: list[NDArray[Any]] = []
        start = 0
        while start < len(batch):
            rows = batch[start : start + (self._most or len(batch))]
            result = self._attempt(rows)
            if result is not None:
                parts.append(result)
                start += len(rows)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _attempt(self, rows: NDArray[Any]) -> NDArray[Any] | None:
        """Run rows; None when the device failed and something was changed for the next attempt."""
        run = self._run
        try:
            return run(rows)
        except ModelError as error:
            with self._lock:
                if run is self._run:  # else another thread gave way meanwhile
                    self._give_way(len(rows), error)
            return None

    def _give_way(self, rows: int, error: ModelError) -> None:
        if self._open_cpu is None:
            raise error
        is_memory = is_out_of_memory(str(error))
        if is_memory and self._can_shrink and rows > 1:
            self._most = min(self._most or rows, max(1, rows // 2))
            return
        why = "its memory is full, even for one image" if is_memory and self._can_shrink else error.found or error.what
        self._run, self._open_cpu = self._open_cpu(), None
        self._most = CPU_BATCH  # a GPU's batch, on every core at once, would be too much for the memory
        self.notice = f"{self._device_name} failed ({why}); the CPU takes over from there"
        _log.info(self.notice)
