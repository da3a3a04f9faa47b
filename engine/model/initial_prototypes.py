"""Initial prototypes `P0` (Eq. 3): what a class's own images say."""

from typing import NamedTuple

import torch
from torch import Tensor


class Prototypes(NamedTuple):
    """One vector for each class, and which classes have one."""

    vectors: Tensor  # (C, d) float32, zeros where there is none
    exists: Tensor  # (C,) bool


def initial_prototypes(
    embeddings: Tensor, image_positions: Tensor, class_positions: Tensor, class_count: int
) -> Prototypes:
    """Mean embedding of each class's images, of C classes.

    Paper: Eq. 3. An image may belong to several classes, so membership comes as pairs. A class without images has
    no prototype, which the paper leaves undefined; here it is marked, and propagation may still reach it.

    Args:
        embeddings: (n, d) float32, one row for each image.
        image_positions: (m,) int64 in [0, n), the image of each pair.
        class_positions: (m,) int64 in [0, C), the class of each pair.
    """
    members = embeddings.index_select(0, image_positions)
    counts = sum_by_class(torch.ones_like(class_positions, dtype=embeddings.dtype), class_positions, class_count)
    sums = sum_by_class(members, class_positions, class_count)
    return Prototypes(sums / counts.clamp(min=1.0)[:, None], counts > 0)


def sum_by_class(rows: Tensor, class_positions: Tensor, class_count: int) -> Tensor:
    """Add up the rows of each class, (C,) or (C, d) float; zeros for classes without rows.

    The index is expanded to the rows' shape on purpose: `scatter_add` then becomes ONNX `ScatterElements`, whereas
    `index_add` becomes `ScatterND`, whose CPU kernel in ONNX Runtime adds from several threads without a lock and
    loses terms when many rows fall on one class. The price is 8 bytes of index for each number in `rows`.

    Args:
        rows: (k,) or (k, d) float.
        class_positions: (k,) int64 in [0, class_count).
    """
    totals = rows.new_zeros((class_count, *rows.shape[1:]))
    index = class_positions if rows.ndim == 1 else class_positions[:, None].expand(-1, rows.shape[1])
    return totals.scatter_add(0, index, rows)
