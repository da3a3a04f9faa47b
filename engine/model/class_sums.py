"""Sums of rows that belong to the same class: the one place where the model scatters."""

from torch import Tensor


def sum_by_class(rows: Tensor, class_positions: Tensor, class_count: int) -> Tensor:
    """Add up the rows of each class.

    The index is expanded to the rows' shape on purpose: `scatter_add` then becomes ONNX `ScatterElements`, whereas
    `index_add` becomes `ScatterND`, whose CPU kernel in ONNX Runtime adds from several threads without a lock and
    loses terms when many rows fall on one class. The price is 8 bytes of index for each number in `rows`.

    Args:
        rows: (k,) or (k, d) float.
        class_positions: (k,) int64 in [0, class_count).

    Returns:
        (C,) or (C, d) float, zeros for classes without rows.
    """
    totals = rows.new_zeros((class_count, *rows.shape[1:]))
    index = class_positions if rows.ndim == 1 else class_positions[:, None].expand(-1, rows.shape[1])
    return totals.scatter_add(0, index, rows)
