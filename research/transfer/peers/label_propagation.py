"""Label propagation: classes of shots spread along a graph of nearest neighbours over all images.

Source: Zhou, Bousquet, Lal, Weston, Schölkopf: Learning with Local and Global Consistency, NeurIPS
2003. The affinity is the cosine to the third power among nearest neighbours, as in Iscen et al.
(2019) and iLPC (Lazarou et al., 2021).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.transfer.task import FewShotTask, Matrix, centred, unit_rows

NEIGHBOURS = (5, 10)
ALPHAS = (0.8, 0.9, 0.99)
"""Share of a label that comes from neighbours."""
GAMMA = 3
STEPS = 100
TOLERANCE = 1e-6
DEFAULT = "length 1, 10 neighbours, alpha = 0.99"
"""The paper's alpha, with free class sizes."""


def predict(task: FewShotTask) -> Mapping[str, NDArray[np.int64]]:
    """Spread the classes of shots, and of coarse labels where the task has some, over the graph.

    Returns:
        Class (q,) int64 of each query by option: whether the images are centred, neighbours of an
        image, alpha, and whether the labels of each class have the same total weight.
    """
    plain = task.with_features(unit_rows(task.support), unit_rows(task.queries))
    start = labels_at_start(task)
    found: dict[str, NDArray[np.int64]] = {}
    for name, features in (("length 1", plain), ("centred", centred(task))):
        cosines = cosines_of(features)
        for count in NEIGHBOURS:
            affinity = normalised_affinity(cosines, count)
            for alpha in ALPHAS:
                reached = spread(affinity, start, alpha)[len(task.support) :]
                option = f"{name}, {count} neighbours, alpha = {alpha:g}"
                found[option] = reached.argmax(axis=1)
                found[f"{option}, even"] = (
                    reached / np.maximum(reached.sum(axis=0), 1e-30)
                ).argmax(axis=1)
    return found


def cosines_of(task: FewShotTask) -> Matrix:
    """Cosines (n, n) of all images, shots first; clipped at 0, and 0 on the diagonal."""
    images = np.concatenate([task.support, task.queries])
    cosines = np.maximum(images @ images.T, 0).astype(np.float32)
    np.fill_diagonal(cosines, 0)
    return cosines


def normalised_affinity(cosines: Matrix, count: int) -> Any:
    """Symmetrically normalised affinity among nearest neighbours: sparse (n, n) of scipy.

    Args:
        cosines: (n, n), not negative, 0 on the diagonal.
        count: neighbours of an image.
    """
    from scipy import sparse

    size = len(cosines)
    count = min(count, size - 1)
    nearest = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
    values = np.take_along_axis(cosines, nearest, axis=1).astype(np.float64) ** GAMMA
    rows = np.repeat(np.arange(size), count)
    one_way = sparse.csr_matrix((values.ravel(), (rows, nearest.ravel())), shape=(size, size))
    both_ways = one_way + one_way.T
    scale = sparse.diags(1 / np.sqrt(np.maximum(np.asarray(both_ways.sum(axis=1)).ravel(), 1e-12)))
    return scale @ both_ways @ scale


def labels_at_start(task: FewShotTask) -> NDArray[np.float64]:
    """Initial labels (n, ways), shots first; a coarse label is divided among its leaves.

    The source starts from known classes only. All labels have the same total weight.
    """
    start = np.zeros((len(task.support) + len(task.queries), task.ways))
    start[: len(task.support)] = task.one_hot
    if task.coarse is not None:
        leaves = task.coarse.leaves
        start[len(task.support) + task.coarse.positions] = leaves / leaves.sum(
            axis=1, keepdims=True
        )
    return start


def spread(affinity: Any, start: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Closed form (1 - alpha * affinity) labels = start, solved by conjugate gradients.

    Args:
        affinity: of `normalised_affinity`.
        start: (n, ways) labels of labelled images.
        alpha: share that comes from neighbours.

    Returns:
        (n, ways) propagated labels of each image.
    """
    labels, rest = np.zeros_like(start), start
    direction, squares = rest.copy(), (rest**2).sum(axis=0)
    enough = TOLERANCE**2 * squares
    for _ in range(STEPS):
        if (squares <= enough).all():
            break
        image = direction - alpha * (affinity @ direction)
        step = squares / np.maximum((direction * image).sum(axis=0), 1e-300)
        labels += step * direction
        rest = rest - step * image
        before, squares = squares, (rest**2).sum(axis=0)
        direction = rest + squares / np.maximum(before, 1e-300) * direction
    return labels
