"""Drawing with other processes: each takes its share, and what one of them leaves undone is drawn here."""

import os
import queue
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, final

from engine.events import CancelToken
from engine.sample_collection.messages import DrawShare, PictureDrawn, ShareDrawn
from engine.sample_collection.orders import PictureOrder, orders_of, share_of
from engine.worker.client import Worker

MOST_PROCESSES: Final = 4
"""The drawing takes seconds: the start of yet another process would cost more than it brings."""
_LOOK_S: Final = 0.02

OnDrawn = Callable[[Path], None]


def ignore_drawn(_path: Path) -> None:
    """Be the listener of callers that want all pictures at once."""


def usual_processes() -> int:
    """How many processes draw on this computer."""
    return max(1, min(MOST_PROCESSES, os.cpu_count() or 1))


def draw_share(request: DrawShare, send: Callable[[object], None], cancel: CancelToken) -> ShareDrawn:
    """Draw one share of a collection; what a worker does."""
    orders = share_of(orders_of(request.images_per_class, request.seed), request.share, request.shares)
    for order in orders:
        cancel.raise_if_cancelled()
        send(PictureDrawn(order.take(request.folder, request.seed)))
    return ShareDrawn(len(orders))


def draw_together(
    folder: Path, *, seed: int, images_per_class: int, processes: int, cancel: CancelToken
) -> Iterator[Path]:
    """Draw all pictures of a collection, with other processes when more than one is asked for.

    Args:
        folder: of the collection; the folder of its pictures is there.
        seed: see `draw_collection`.
        images_per_class: see `draw_collection`.
        processes: how many draw, this one included.
        cancel: stops between two pictures.

    Yields:
        The file of each picture once, as soon as it is there.

    Raises:
        OSError: a picture cannot be written.
        Cancelled: `cancel` was set.
    """
    orders = orders_of(images_per_class, seed)
    others = _Others([DrawShare(folder, seed, images_per_class, share, processes) for share in range(1, processes)])
    try:
        for order in share_of(orders, 0, processes):
            cancel.raise_if_cancelled()
            yield order.take(folder, seed)
            yield from others.drawn_by_now()
        while others.are_drawing():
            cancel.raise_if_cancelled()
            yield from others.drawn_by_now()
        yield from others.drawn_by_now()
        for order in _left_over(folder, orders, processes, others.drawn):
            cancel.raise_if_cancelled()
            yield order.take(folder, seed)
    finally:
        others.stop()


def _left_over(
    folder: Path, orders: Sequence[PictureOrder], processes: int, drawn: set[Path]
) -> Iterator[PictureOrder]:
    """What another process could not draw: it did not start, or it failed, which happens again here, with its error."""
    for share in range(1, processes):
        for order in share_of(orders, share, processes):
            if folder / order.path not in drawn:
                yield order


@final
class _Others:
    """Worker processes that draw, and what they have drawn."""

    def __init__(self, shares: Sequence[DrawShare]) -> None:
        self.drawn: set[Path] = set()
        self._came: queue.SimpleQueue[Path] = queue.SimpleQueue()
        self._workers: list[Worker] = []
        for share in shares:
            with suppress(OSError):  # it cannot be started: its share is left over
                worker = Worker()
                self._workers.append(worker)
                worker.send(share, self._on_event, lambda _ending: None)

    def drawn_by_now(self) -> Iterator[Path]:
        """Files that were drawn since the last call."""
        while not self._came.empty():
            path = self._came.get()
            self.drawn.add(path)
            yield path

    def are_drawing(self) -> bool:
        """Wait for a moment; whether one of them is still at work."""
        return not all(worker.join(_LOOK_S) for worker in self._workers)

    def stop(self) -> None:
        """End those that still work."""
        for worker in self._workers:
            worker.stop()

    def _on_event(self, event: object) -> None:
        """Take what a worker says, on a thread of its own."""
        if isinstance(event, PictureDrawn):
            self._came.put(event.path)
