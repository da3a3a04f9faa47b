"""One thread that runs a backbone on a device, always with batches of one size.

A GPU is set up again for every other shape, and idles while others compute. So one batch is filled
while another one runs, and the thread does nothing but run.
"""

import queue
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Pixels
from engine.runtime.backbone import BackboneSession

BATCHES = 3
"""Batches in memory: one running, one full, one filling. Chosen: a fourth did not help."""

Vectors = NDArray[np.float32]


@dataclass
class _Waiting:
    """Images that were added together."""

    future: "Future[Vectors]"
    count: int  # of images
    parts: list[Vectors] = field(default_factory=list)  # of those that were run

    def take(self, vectors: Vectors) -> None:
        self.parts.append(vectors)
        if sum(map(len, self.parts)) == self.count:
            self.future.set_result(np.concatenate(self.parts))


@dataclass
class _Batch:
    """Images that run together.

    Attributes:
        pixels: (size, side, side, 3) uint8.
        count: of them that are filled.
        owners: whose images they are, in order, and how many of each.
    """

    pixels: Pixels
    count: int = 0
    owners: list[tuple[_Waiting, int]] = field(default_factory=list)

    @property
    def room(self) -> int:
        return len(self.pixels) - self.count


@final
class FullBatches:
    """A queue of images to embed, filled from one thread; at its end pending ones are dropped."""

    def __init__(self, session: BackboneSession) -> None:
        self._session = session
        side = session.card.input_side
        shape = session.batch_size, side, side, 3
        self._free: queue.SimpleQueue[_Batch] = queue.SimpleQueue()
        for _ in range(BATCHES):
            self._free.put(_Batch(np.zeros(shape, dtype=np.uint8)))
        self._filling: _Batch | None = None
        self._network = ThreadPoolExecutor(1, thread_name_prefix="network")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._network.shutdown(cancel_futures=True)

    @property
    def is_well(self) -> bool:
        """False once the device has failed: the session goes on on the CPU."""
        return self._session.is_on_gpu

    @property
    def has_room(self) -> bool:
        """Whether images can be added without waiting for the device."""
        return self._filling is not None or not self._free.empty()

    def add(self, pixels: Pixels) -> "Future[Vectors]":
        """Add images (n > 0, side, side, 3); waits while all batches are full.

        Returns:
            their embeddings (n, width), once batches are full or `flush` is called; a `ModelError`
            on failure.
        """
        waiting = _Waiting(Future(), len(pixels))
        start = 0
        while start < len(pixels):
            batch = self._filling = self._filling or self._free.get()
            part = min(batch.room, len(pixels) - start)
            batch.pixels[batch.count : batch.count + part] = pixels[start : start + part]
            batch.owners.append((waiting, part))
            batch.count += part
            start += part
            if not batch.room:
                self.flush()
        return waiting.future

    def flush(self) -> None:
        """Run what was added although its batch is not full: nothing more is to come.

        The rest of it has images of earlier batches: the shape stays, and their embeddings are
        dropped.
        """
        if self._filling is not None:
            batch, self._filling = self._filling, None
            run = self._network.submit(self._session.embed, batch.pixels)
            run.add_done_callback(partial(self._share_out, batch))

    def _share_out(self, batch: _Batch, run: "Future[Vectors]") -> None:
        """On the network's thread: give everybody the embeddings of their images, or the error."""
        start, owners = 0, list(batch.owners)
        error = None if run.cancelled() else run.exception()
        vectors = None if run.cancelled() or error is not None else run.result()
        batch.count = 0
        batch.owners.clear()
        self._free.put(batch)
        for waiting, count in owners:
            if error is not None and not waiting.future.done():
                waiting.future.set_exception(error)
            elif vectors is not None and not waiting.future.done():
                waiting.take(vectors[start : start + count])
            start += count
