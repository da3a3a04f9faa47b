"""Parallel work on blocks of rows, one single-threaded matrix product a core; 16-bit embeddings.

A component x in [-1, 1] is stored as round(32767 x): half the memory, and no slower to multiply.
The scale is folded into what a block is multiplied with.
"""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ContextDecorator, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, final

import numpy as np
from numpy.typing import DTypeLike, NDArray
from threadpoolctl import ThreadpoolController

from engine.arrays import Floats, Integers
from engine.events import CancelToken
from engine.priority import lower_thread_priority

SCALE = 32767  # what 1 is in 16 bits, the largest number that they hold (decision 109)

"""Rows in some order: for millions of images half the memory of 64 bits."""
Embeddings = Floats | NDArray[np.int16]  # (n, d): floats, or fixed-point numbers of `to_fixed`

_buffers = threading.local()
BLOCK_ROWS = 1024
"""Rows of a block. Chosen: a block of float embeddings stays in a core's cache (decision 109)."""
SPANS_PER_CORE = 3
"""Spans of blocks for each core: scheduling one costs as much as a block of single columns."""

_cancel: ContextVar[CancelToken | None] = ContextVar("cancel", default=None)


def to_fixed(embeddings: Floats) -> NDArray[np.int16]:
    """Embeddings (n, d) float32 with components in [-1, 1] as int16."""
    return np.rint(embeddings * np.float32(SCALE)).astype(np.int16)


def to_floats(embeddings: Embeddings) -> Floats:
    """Embeddings (n, d) as float32 in their own scale."""
    if embeddings.dtype == np.int16:
        return embeddings.astype(np.float32) / np.float32(SCALE)
    return np.asarray(embeddings, dtype=np.float32)


def factor_of(embeddings: Embeddings) -> np.float32:
    """What products with `block_of` must be multiplied by."""
    return np.float32(1 / SCALE) if embeddings.dtype == np.int16 else np.float32(1)


def block_of(embeddings: Embeddings) -> Floats:
    """A block (rows, d) as float32, scaled by 1 / `factor_of`.

    Fixed-point blocks come in a buffer of this thread, which the next call overwrites.
    """
    if embeddings.dtype != np.int16:
        return np.asarray(embeddings, dtype=np.float32)
    rows, width = embeddings.shape
    buffer: Floats | None = getattr(_buffers, "block", None)
    if buffer is None or buffer.shape[0] < rows or buffer.shape[1] != width:
        buffer = _buffers.block = np.empty((rows, width), dtype=np.float32)
    block = buffer[:rows]
    np.copyto(block, embeddings)
    return block


def unit_rows(vectors: NDArray[np.floating]) -> Floats:
    """Scale rows (n, d) to length 1; rows shorter than 1e-6 are divided by that."""
    lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))[:, None]
    return (vectors / np.maximum(lengths, np.float32(1e-6))).astype(np.float32)


def sums_by_class(rows: Floats, classes: Integers, count: int) -> Floats:
    """Sum (count, d) float32 of the rows (n, d) of each class; `classes` (n,) are in [0, count)."""
    sums = np.zeros((count, rows.shape[1]), dtype=np.float32)
    np.add.at(sums, classes, rows)
    return sums


def at_columns(values: NDArray[Any], columns: Integers) -> NDArray[Any]:
    """The value (n,) of each row of values (n, c) at its column (n,)."""
    return np.take_along_axis(values, columns[:, None], axis=1)[:, 0]


def no_similarity(count: int) -> Floats:
    """NaN (count,), the similarity to the labelled images where it is not known."""
    return np.full(count, np.nan, dtype=np.float32)


@contextmanager
def stopped_by(cancel: CancelToken | None) -> Iterator[None]:
    """Run blocks within this context on background threads, until `Cancelled`."""
    before = _cancel.set(cancel or CancelToken())
    try:
        yield
    finally:
        _cancel.reset(before)


def stop_if_requested() -> None:
    """Raise `Cancelled` if the token of `stopped_by` is set: for long steps outside of blocks."""
    if (cancel := _cancel.get()) is not None:
        cancel.raise_if_cancelled()


def filled_in_blocks(
    shape: int | tuple[int, ...],
    values_of: Callable[[slice], NDArray[Any]],
    block_rows: int = BLOCK_ROWS,
    dtype: DTypeLike = np.float32,
) -> NDArray[Any]:
    """An array of this shape, whose rows `values_of` computes block by block, see `in_blocks`."""
    filled = np.empty(shape, dtype=dtype)

    def fill(rows: slice) -> None:
        filled[rows] = values_of(rows)

    in_blocks(len(filled), fill, block_rows)
    return filled


def in_blocks(count: int, work: Callable[[slice], None], block_rows: int = BLOCK_ROWS) -> None:
    """Run `work` over blocks of `count` rows, one thread a core; blocks do not overlap.

    Raises:
        Cancelled: the token of `stopped_by` was set.
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
    """Limit BLAS to one thread while active; for small products waking others takes longer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limiter: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limiter = _controller().limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_raised: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limiter.restore_original_limits()


one_thread_each = _OneThreadEach()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@cache
def _workers(name: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, name, lower_thread_priority)
