"""A few-shot task as the peers see it: some images with a class, the others without; and how they bring it in order."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class CoarseLabels:
    """Labels of coarse classes that some of the queries have.

    Attributes:
        positions: (m,) int64 of these queries.
        leaves: (m, ways) bool, the classes that each label leaves open: those below the coarse class, one at least.
    """

    positions: NDArray[np.int64]
    leaves: NDArray[np.bool_]


@dataclass(frozen=True)
class FewShotTask:
    """Labelled and unlabelled images of one collection.

    Attributes:
        support: (s, d) float32 embeddings of the shots.
        classes: (s,) int64 in [0, ways), each shot's class; every class has at least one.
        queries: (q, d) float32 embeddings of everything else.
        ways: number of classes.
        coarse: coarse labels of queries, None where there are none or the method has no use for them.
    """

    support: Matrix
    classes: NDArray[np.int64]
    queries: Matrix
    ways: int
    coarse: CoarseLabels | None = None

    @property
    def one_hot(self) -> Matrix:
        """(s, ways) float32, 1 where the shot is of the class."""
        return np.eye(self.ways, dtype=np.float32)[self.classes]

    def with_features(self, support: Matrix, queries: Matrix) -> "FewShotTask":
        """The same task on transformed embeddings."""
        return replace(self, support=support, queries=queries)

    def prototypes(self) -> Matrix:
        """(ways, d) mean of each class's shots."""
        one_hot = self.one_hot
        return (one_hot.T @ self.support / one_hot.sum(axis=0)[:, None]).astype(np.float32)


def unit_rows(vectors: Matrix) -> Matrix:
    """The rows (n, d) with length 1; a row of zeros stays."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(norms, np.float32(1e-12))).astype(np.float32)


def centred(task: FewShotTask) -> FewShotTask:
    """The task with the mean of all its images taken away and rows of length 1.

    The papers take away the mean of the training images of the backbone. Those of the collection stand in: they are
    nearer to what is classified.
    """
    mean = np.concatenate([task.support, task.queries]).mean(axis=0)
    return task.with_features(unit_rows(task.support - mean), unit_rows(task.queries - mean))


def squared_distances(left: Matrix, right: Matrix) -> Matrix:
    """(m, n) float32 squared distances between rows (m, d) and rows (n, d)."""
    squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None, :]
    return np.maximum(squares - 2 * left @ right.T, 0).astype(np.float32)


def softmax(logits: Matrix) -> Matrix:
    """Probabilities (n, c) of each row."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
