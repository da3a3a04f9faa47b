"""Measure draws in parallel processes that hold the embeddings."""

import multiprocessing
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from dataclasses import dataclass

from engine.events import CancelToken
from engine.worker.client import children_without_ctrl_c
from research.pool_process import end_pool_process_with_parent
from research.transfer.draws import Situation
from research.transfer.embedded import EmbeddedCollection
from research.transfer.methods import METHODS
from research.transfer.results import Outcome

POLL_S = 0.2
"""Interval of checks for cancellation."""


@dataclass(frozen=True)
class AskedDraw:
    """A requested measurement.

    Attributes:
        method: identifier.
        situations: of the same number of shots.
        seed: of the draw.
    """

    method: str
    situations: tuple[Situation, ...]
    seed: int

    def measure(self, embedded: EmbeddedCollection) -> Mapping[Situation, Outcome]:
        """Measure it in this process."""
        return METHODS[self.method].measure(embedded, self.situations, self.seed)


def measure_all(
    embedded: EmbeddedCollection, asked: Sequence[AskedDraw], workers: int, cancel: CancelToken
) -> Generator[Mapping[Situation, Outcome]]:
    """Measure draws in parallel; yield outcomes in the order of the requests.

    Args:
        embedded: the collection; every process gets a copy.
        asked: the draws.
        workers: processes; with one, draws are measured in this process, one after the other.
        cancel: stops between draws; results of running ones are discarded.

    Raises:
        Cancelled: `cancel` was set.
    """
    if workers == 1:
        for each in asked:
            cancel.raise_if_cancelled()
            yield each.measure(embedded)
        return
    with ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), _Process.take, (embedded,)
    ) as pool:
        try:
            with children_without_ctrl_c():
                waiting = [pool.submit(_Process.measure, each) for each in asked]
            for future in waiting:
                cancel.raise_if_cancelled()
                while not future.done():
                    cancel.raise_if_cancelled()
                    wait([future], POLL_S)
                # Killing the process group ends workers, too; this is no failure of theirs.
                cancel.raise_if_cancelled()
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


class _Process:
    """Globals of a pool process, set at its start."""

    embedded: EmbeddedCollection

    @classmethod
    def take(cls, embedded: EmbeddedCollection) -> None:
        end_pool_process_with_parent()
        cls.embedded = embedded

    @classmethod
    def measure(cls, asked: AskedDraw) -> Mapping[Situation, Outcome]:
        return asked.measure(cls.embedded)
