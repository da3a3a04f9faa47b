"""Work on blocks of rows with every processor core, each running a single-threaded matrix product."""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ContextDecorator, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Final, final

from threadpoolctl import ThreadpoolController

from engine.events import CancelToken

BLOCK_ROWS: Final = 1024
"""Rows of a block. Chosen: a block of embeddings as floats stays in a core's cache (decision 10)."""
SPANS_PER_CORE: Final = 3
"""Blocks are handed to the cores in this many spans each: handing over costs as much as a block of single columns."""

_cancel: ContextVar[CancelToken | None] = ContextVar("cancel", default=None)


@contextmanager
def stopped_by(cancel: CancelToken | None) -> Iterator[None]:
    """Work on blocks within this context is work behind: nothing else waits for it, and it can be stopped.

    It has threads of its own, so that a question that is asked meanwhile need not wait for its turn.

    Args:
        cancel: says when to stop before the next block; None for never.

    Raises:
        Cancelled: where the work stands, then.
    """
    before = _cancel.set(cancel or CancelToken())
    try:
        yield
    finally:
        _cancel.reset(before)


def stop_if_asked() -> None:
    """Between two steps of some length that are not done in blocks: stop where `stopped_by` says so.

    Raises:
        Cancelled: it does.
    """
    if (cancel := _cancel.get()) is not None:
        cancel.raise_if_cancelled()


def in_blocks(count: int, work: Callable[[slice], None], block_rows: int = BLOCK_ROWS) -> None:
    """Run `work` over blocks of rows, one thread a core.

    Args:
        count: rows in all.
        work: called with each block; blocks do not overlap, so it may write its rows without a lock.
        block_rows: rows in a block.

    Raises:
        Cancelled: the token of `stopped_by` says so.
    """
    cancel = _cancel.get()
    blocks = [slice(start, min(start + block_rows, count)) for start in range(0, count, block_rows)]

    def work_span(span: list[slice]) -> None:
        for block in span:
            if cancel is not None:
                cancel.raise_if_cancelled()
            work(block)

    if len(blocks) <= 1:
        work_span(blocks)
        return
    share = -(-len(blocks) // (SPANS_PER_CORE * (os.cpu_count() or 1)))
    spans = [blocks[start : start + share] for start in range(0, len(blocks), share)]
    with one_thread_each:
        list(_workers("classify" if cancel is None else "fit").map(work_span, spans))


@final
class _OneThreadEach(ContextDecorator):
    """One thread for each matrix product while anybody is inside, on whatever thread; as before once all have left.

    A small product is quickest so: waking other threads takes longer than multiplying, most of all on a busy computer.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limiter: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limiter = _blas().limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_raised: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limiter.restore_original_limits()


one_thread_each: Final = _OneThreadEach()


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


@cache
def _workers(name: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix=name)
