"""Rankings of labels by error probability: the program's, its parts, and cleanlab's.

cleanlab (Northcutt et al., Journal of Artificial Intelligence Research, 2021; under the AGPL, and
not part of the program) gets the program's own leave-one-out probabilities, those of the classifier
in its guide, and the embeddings themselves.
"""

import contextlib
import importlib.util
import io
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import UsageError
from engine.everyday.label_errors.find import LabelErrors, find_label_errors
from engine.everyday.label_errors.labelled import JudgedLabels, LeaveOneOut
from engine.everyday.prototypical.classification import softmax
from engine.graph.category_graph import CategoryGraph

FOLDS = 5  # of cross-validation, as in cleanlab's guide
OURS = "Protoleaf"
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class RankingTask:
    """n labelled images of one draw; shared intermediate results are cached."""

    graph: CategoryGraph
    images: JudgedLabels
    plain: NDArray[np.float32]  # (n, d) embeddings as the backbone has them
    with_peer: bool = True

    @cached_property
    def errors(self) -> LabelErrors:
        """Label errors found by the program."""
        return find_label_errors(self.graph, self.images)

    @cached_property
    def evidence(self) -> LeaveOneOut:
        """Leave-one-out evidence of the program."""
        return LeaveOneOut(self.images)

    @cached_property
    def left_out(self) -> Scores:
        """(n, c) class probabilities by the program, each image judged without its label."""
        rows = np.arange(len(self.images))
        return np.asarray(softmax(self.evidence.logits(rows)), dtype=np.float64)

    @cached_property
    def cross_validated(self) -> Scores:
        """(n, c) probabilities by scikit-learn's logistic regression, cross-validated."""
        return _cross_validated(self.plain, self.images.columns)

    @cached_property
    def cross_validated_whitened(self) -> Scores:
        """(n, c) the same on the whitened vectors."""
        return _cross_validated(self.images.vectors, self.images.columns)


def _cross_validated(vectors: NDArray[np.float32], columns: NDArray[np.int64]) -> Scores:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes of fewer images than folds
        found = cross_val_predict(
            LogisticRegression(max_iter=400), vectors, columns, cv=folds, method="predict_proba"
        )
    return np.asarray(found, dtype=np.float64)


def _by_cleanlab(
    score: str, probabilities: Callable[[RankingTask], Scores]
) -> Callable[[RankingTask], Scores]:
    """Labels that cleanlab's filter calls wrong first, the rest by the same score."""

    def rank(task: RankingTask) -> Scores:
        from cleanlab.filter import find_label_issues
        from cleanlab.rank import get_label_quality_scores

        given, labels = probabilities(task), task.images.columns
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = find_label_issues(labels, given, return_indices_ranked_by=score, n_jobs=1)
            quality = get_label_quality_scores(labels, given, method=score)
        ranks = -np.asarray(quality, dtype=np.float64)
        span = float(np.ptp(ranks)) + 1.0
        ranks[found] += 2 * span
        return ranks

    return rank


def _by_quality(
    score: str, probabilities: Callable[[RankingTask], Scores]
) -> Callable[[RankingTask], Scores]:
    """Cleanlab's score of each label, without its filter."""

    def rank(task: RankingTask) -> Scores:
        from cleanlab.rank import get_label_quality_scores

        return -np.asarray(
            get_label_quality_scores(task.images.columns, probabilities(task), method=score)
        )

    return rank


def _by_datalab(task: RankingTask) -> Scores:
    """Cleanlab's Datalab on the embeddings alone, by nearest neighbours."""
    from cleanlab import Datalab

    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        lab = Datalab(data={"label": task.images.columns.tolist()}, label_name="label", verbosity=0)
        lab.find_issues(features=task.plain, issue_types={"label": {}})
    return -lab.get_issues("label")["label_score"].to_numpy(dtype=np.float64)


def _own(task: RankingTask) -> Scores:
    return task.errors.probability


def _votes(task: RankingTask) -> Scores:
    """Neighbours alone."""
    return _improbable(task, task.evidence._votes)  # noqa: SLF001 (a part of the method, measured alone)


def _ridge(task: RankingTask) -> Scores:
    return _improbable(task, lambda rows: np.log(softmax(10 * task.evidence._ridge(rows)) + 1e-9))  # noqa: SLF001


def _prototypes(task: RankingTask) -> Scores:
    return _improbable(
        task,
        lambda rows: np.log(softmax(10 * task.evidence._to_prototypes(rows)) + 1e-9),  # noqa: SLF001
    )


def _improbable(task: RankingTask, logs: Callable[[Any], Any]) -> Scores:
    rows = np.arange(len(task.images))
    return -np.asarray(logs(rows)[rows, task.images.columns], dtype=np.float64)


def _left_out(task: RankingTask) -> Scores:
    return task.left_out


def _regression(task: RankingTask) -> Scores:
    return task.cross_validated


def _whitened(task: RankingTask) -> Scores:
    return task.cross_validated_whitened


METHODS: Mapping[str, Callable[[RankingTask], Scores]] = {
    OURS: _own,
    "its nearest neighbours alone": _votes,
    "its ridge regression alone": _ridge,
    "its prototypes alone": _prototypes,
}
PEERS: Mapping[str, Callable[[RankingTask], Scores]] = {
    "cleanlab filter, self-confidence, Protoleaf's probabilities": _by_cleanlab(
        "self_confidence", _left_out
    ),
    "cleanlab filter, normalized margin, Protoleaf's probabilities": _by_cleanlab(
        "normalized_margin", _left_out
    ),
    "cleanlab score, self-confidence, Protoleaf's probabilities": _by_quality(
        "self_confidence", _left_out
    ),
    "cleanlab filter, self-confidence, logistic regression": _by_cleanlab(
        "self_confidence", _regression
    ),
    "cleanlab filter, normalized margin, logistic regression": _by_cleanlab(
        "normalized_margin", _regression
    ),
    "cleanlab filter, self-confidence, whitened logistic regression": _by_cleanlab(
        "self_confidence", _whitened
    ),
    "cleanlab filter, normalized margin, whitened logistic regression": _by_cleanlab(
        "normalized_margin", _whitened
    ),
    "cleanlab Datalab, embeddings (k-NN)": _by_datalab,
}


def check_peer() -> None:
    """Check that the peer is installed.

    Raises:
        UsageError: a library is not installed.
    """
    missing = [
        name
        for name in ("cleanlab", "sklearn", "datasets")
        if importlib.util.find_spec(name) is None
    ]
    if missing:
        raise UsageError(
            "the peer is not installed",
            found="no {libraries}",
            remedy="pip install 'protoleaf[label-peers]', or measure with --no-peer",
            libraries=", ".join(missing),
        )
