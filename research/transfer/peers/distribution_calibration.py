"""Distribution Calibration: features generated from statistics of similar base classes.

Source: Yang, Liu, Xu: Free Lunch for Few-Shot Learning: Distribution Calibration, ICLR 2021.

The paper uses the labelled base classes of the backbone's training, which are not available here:
clusters of the unlabelled images, as many as classes, replace them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from research.transfer.peers.logistic_regression import fitted
from research.transfer.peers.pt_map import power_transformed
from research.transfer.task import FewShotTask, Matrix, squared_distances, unit_rows

LENDERS = 2
"""K of the paper: base classes whose statistics a shot uses."""
SPREADS = (0.0, 0.21)
"""Alpha of the paper, added to every entry of a covariance, in units of the mean variance."""
DRAWS = 3750
"""Generated embeddings: the paper's 750 for each of 5 classes, divided among all classes."""
STRENGTH = 10.0
"""C of logistic regression: ten times scikit-learn's, since embeddings have length 1."""
ITERATIONS = 100
"""Iterations of logistic regression; convergence is not required."""
DEFAULT = "power transform, alpha = 0.21"
"""The paper's."""


@dataclass(frozen=True)
class BaseClasses:
    """Statistics of the base classes.

    Attributes:
        means: (b, d).
        members: of each base class, (m, d) its centred images.
    """

    means: Matrix
    members: tuple[Matrix, ...]


def predict(task: FewShotTask) -> Mapping[str, NDArray[np.int64]]:
    """Classify the queries by logistic regression on shots and generated embeddings.

    Returns:
        Class (q,) int64 of each query by option: whether values go through the power transform, and
        alpha.
    """
    plain = task.with_features(unit_rows(task.support), unit_rows(task.queries))
    found: dict[str, NDArray[np.int64]] = {}
    for name, features in (("length 1", plain), ("power transform", power_transformed(task))):
        base = base_classes(features.queries, features.ways)
        for alpha in SPREADS:
            drawn = with_draws(features, base, alpha)
            found[f"{name}, alpha = {alpha:g}"] = fitted(drawn, STRENGTH, ITERATIONS)
    return found


def base_classes(images: Matrix, count: int) -> BaseClasses:
    """Clusters (k-means) of the images, in place of base classes."""
    from sklearn.cluster import KMeans

    count = min(count, len(images))
    labels = KMeans(count, n_init=1, max_iter=50, random_state=0).fit_predict(images)
    groups = [images[labels == label] for label in np.unique(labels)]
    means = np.stack([group.mean(axis=0) for group in groups])
    return BaseClasses(
        means, tuple(group - mean for group, mean in zip(groups, means, strict=True))
    )


def with_draws(
    task: FewShotTask, base: BaseClasses, alpha: float, draws: int = DRAWS
) -> FewShotTask:
    """The task with generated embeddings added to every shot (Eq. 5 to 7)."""
    count = max(1, draws // len(task.support))
    generator = np.random.default_rng(0)
    common = np.sqrt(
        alpha * np.mean([(member**2).mean() for member in base.members if len(member)])
    )
    nearest = np.argsort(squared_distances(task.support, base.means), axis=1, kind="stable")[
        :, :LENDERS
    ]
    drawn = []
    for shot, lenders in zip(task.support, nearest.tolist(), strict=True):
        mean = (base.means[lenders].sum(axis=0) + shot) / (len(lenders) + 1)
        around = sum(
            _deviations(base.members[lender], count, generator) for lender in lenders
        ) / np.sqrt(len(lenders))
        drawn.append(mean + around + common * generator.normal(size=(count, 1)))
    support = np.concatenate([task.support, *drawn]).astype(np.float32)
    classes = np.concatenate([task.classes, np.repeat(task.classes, count)])
    return FewShotTask(support, classes, task.queries, task.ways)


def _deviations(members: Matrix, count: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Draws (count, d) of a normal distribution with the members' covariance."""
    mixtures = generator.normal(size=(count, len(members))) / np.sqrt(max(1, len(members) - 1))
    return np.asarray(mixtures @ members, dtype=np.float64)
