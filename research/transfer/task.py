"""A few-shot task as input of the peers, and preparation of its embeddings."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class CoarseLabels:
    """Coarse labels of some of the queries.

    Attributes:
        positions: (m,) int64 of these queries.
        leaves: (m, ways) bool, candidate classes of each label: those below the coarse class, at
            least one.
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
        coarse: coarse labels of queries; None without any, or where the method does not use them.
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
    """Rows (n, d) normalised to length 1; zero rows stay zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(norms, np.float32(1e-12))).astype(np.float32)


def centred(task: FewShotTask) -> FewShotTask:
    """The task centred by the mean of all its images, with rows of length 1.

    The papers subtract the mean of the training images of the backbone; here it is that of the
    collection.
    """
    mean = np.concatenate([task.support, task.queries]).mean(axis=0)
    return task.with_features(unit_rows(task.support - mean), unit_rows(task.queries - mean))


def squared_distances(left: Matrix, right: Matrix) -> Matrix:
    """(m, n) float32 squared distances between rows (m, d) and rows (n, d)."""
    squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None, :]
    return np.maximum(squares - 2 * left @ right.T, 0).astype(np.float32)


def softmax(logits: Matrix) -> Matrix:
    """Softmax (n, c) of each row."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
