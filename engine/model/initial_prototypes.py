"""Initial prototypes `P0` (Eq. 3): what a class's own images say."""

from typing import NamedTuple

import torch
from torch import Tensor

from engine.model.class_sums import sum_by_class


class Prototypes(NamedTuple):
    """One vector for each class, and which classes have one."""

    vectors: Tensor  # (C, d) float32, zeros where there is none
    exists: Tensor  # (C,) bool


def initial_prototypes(
    embeddings: Tensor, image_positions: Tensor, class_positions: Tensor, class_count: int
) -> Prototypes:
    """Mean embedding of each class's images.

    Paper: Eq. 3. An image may belong to several classes, so membership comes as pairs. A class without images has
    no prototype, which the paper leaves undefined; here it is marked, and propagation may still reach it.

    Args:
        embeddings: (n, d) float32, one row for each image.
        image_positions: (m,) int64 in [0, n), the image of each pair.
        class_positions: (m,) int64 in [0, C), the class of each pair.

    Returns:
        Prototypes of C classes.
    """
    members = embeddings.index_select(0, image_positions)
    counts = sum_by_class(torch.ones_like(class_positions, dtype=embeddings.dtype), class_positions, class_count)
    sums = sum_by_class(members, class_positions, class_count)
    return Prototypes(sums / counts.clamp(min=1.0)[:, None], counts > 0)
