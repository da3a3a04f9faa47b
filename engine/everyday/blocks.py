"""Work on blocks of rows with every processor core, each running a single-threaded matrix product."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Final

from threadpoolctl import ThreadpoolController

BLOCK_ROWS: Final = 1024
"""Rows of a block. Chosen: a block of embeddings as floats stays in a core's cache (decision 10)."""
SPANS_PER_CORE: Final = 3
"""Blocks are handed to the cores in this many spans each: handing over costs as much as a block of single columns."""


def in_blocks(count: int, work: Callable[[slice], None], block_rows: int = BLOCK_ROWS) -> None:
    """Run `work` over blocks of rows, one thread a core.

    Args:
        count: rows in all.
        work: called with each block; blocks do not overlap, so it may write its rows without a lock.
        block_rows: rows in a block.
    """
    blocks = [slice(start, min(start + block_rows, count)) for start in range(0, count, block_rows)]
    if len(blocks) <= 1:
        for block in blocks:
            work(block)
        return
    share = -(-len(blocks) // (SPANS_PER_CORE * (os.cpu_count() or 1)))
    spans = [blocks[start : start + share] for start in range(0, len(blocks), share)]

    def work_span(span: list[slice]) -> None:
        for block in span:
            work(block)

    with _blas().limit(limits=1, user_api="blas"):
        list(_workers().map(work_span, spans))


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


@cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="classify")
