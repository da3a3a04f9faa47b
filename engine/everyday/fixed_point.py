"""Unit-length embeddings in 16 bits: half the memory of a collection, and no slower to multiply.

A component x in [-1, 1] is kept as round(32767 x). Blocks are turned back into floats where they are used, in a buffer
that stays in the processor's cache; the scale is folded into what they are multiplied with.
"""

import threading
from typing import Final

import numpy as np
from numpy.typing import NDArray

SCALE: Final = 32767
"""What 1 is in 16 bits, the largest number that they hold (decision 10)."""

Embeddings = NDArray[np.float32] | NDArray[np.int16]
"""(n, d): floats, or fixed-point numbers of `to_fixed`."""

_buffers = threading.local()


def to_fixed(embeddings: NDArray[np.float32]) -> NDArray[np.int16]:
    """Embeddings (n, d) float32 with components in [-1, 1] as int16."""
    return np.rint(embeddings * np.float32(SCALE)).astype(np.int16)


def to_floats(embeddings: Embeddings) -> NDArray[np.float32]:
    """Embeddings (n, d) as float32 in their own scale."""
    if embeddings.dtype == np.int16:
        return embeddings.astype(np.float32) / np.float32(SCALE)
    return np.asarray(embeddings, dtype=np.float32)


def factor_of(embeddings: Embeddings) -> np.float32:
    """What products with `block_of` must be multiplied by."""
    return np.float32(1 / SCALE) if embeddings.dtype == np.int16 else np.float32(1)


def block_of(embeddings: Embeddings) -> NDArray[np.float32]:
    """A block (rows, d) as float32, scaled by 1 / `factor_of`.

    Fixed-point blocks come in a buffer of this thread, which the next call overwrites.
    """
    if embeddings.dtype != np.int16:
        return np.asarray(embeddings, dtype=np.float32)
    rows, width = embeddings.shape
    buffer: NDArray[np.float32] | None = getattr(_buffers, "block", None)
    if buffer is None or buffer.shape[0] < rows or buffer.shape[1] != width:
        buffer = _buffers.block = np.empty((rows, width), dtype=np.float32)
    block = buffer[:rows]
    np.copyto(block, embeddings)
    return block
