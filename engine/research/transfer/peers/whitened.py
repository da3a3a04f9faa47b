"""A peer on whitened embeddings: what the everyday model prepares for itself, lent to a method without it."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from engine.everyday.collection_stage.whitening import whitening_of
from engine.research.transfer.task import FewShotTask


def predict_whitened(
    predict: Callable[[FewShotTask], Mapping[str, NDArray[np.int64]]], task: FewShotTask
) -> Mapping[str, NDArray[np.int64]]:
    """Classify after whitening by the covariance of all images of the task.

    It is in none of the peers' papers. Beside the plain peer it shows how much of a difference is the preparation's.

    Args:
        predict: the peer.
        task: shots and queries; as it is where all images are the same.

    Returns:
        Class (q,) int64 of each query by option of the peer.
    """
    whitening = whitening_of(np.concatenate([task.support, task.queries]))
    if whitening is None:
        return predict(task)
    return predict(task.with_features(whitening.apply(task.support), whitening.apply(task.queries)))
