"""The everyday model as a scikit-learn classifier of embeddings."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from engine.backbones.model_files import width_agnostic_propagation
from engine.everyday.back_off import DEFAULT_BAR, Policy
from engine.everyday.blocks import to_fixed
from engine.everyday.classifier import FitSnapshot, ScoredClass, Setting
from engine.everyday.in_use import Classifiers
from engine.everyday.shots import EmbeddedSnapshot
from engine.graph.codes import NO_CLASS
from engine.model_card import BackboneCard
from protoleaf.labels import ClassExplanation, Label, known_classes, with_missing_marked

if TYPE_CHECKING:
    from protoleaf.graph import GraphSource

NEW_ROW = -1  # row of an embedding that was not in `fit`
ROWS = 64
"""Rows classified together, so that one alone gets the same probabilities as among others."""
MOST_ROWS = 4096  # whose similarity to all anchors is in memory at once: 50 MB
TEMPERATURE = 0.1
"""Where tuning of the temperature (Eq. 2) starts, as for the bundled backbones."""
FLOATS = (np.float64, np.float32)
METHODS = tuple(setting.value for setting in Setting)


@final
class PrototypePropagationClassifier(ClassifierMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Few-shot classifier of embeddings that propagates prototypes over a graph of classes.

    The mean embedding of each class is blended with what attention takes from its parents' (Eq. 3
    to 6); unlabelled and coarsely labelled rows refine the prototypes and calibrate the
    probabilities. Rows of `X` are scaled to length 1. Deterministic: there is no random state.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> centres = rng.normal(size=(3, 64))
    >>> truth = np.repeat([0, 1, 2], 20)
    >>> X = centres[truth] + 0.5 * rng.normal(size=(60, 64))
    >>> y = np.full(60, None, dtype=object)  # one label for each class, 57 unlabelled rows
    >>> y[[0, 20, 40]] = ["apple", "pear", "carrot"]
    >>> edges = [("fruit", "apple"), ("fruit", "pear"), ("vegetable", "carrot")]
    >>> model = PrototypePropagationClassifier(edges).fit(X, y)
    >>> str(model.predict(X[50:51])[0]), model.predict_safe(-X[:1])[0] is None
    ('carrot', True)

    Args:
        graph: what `category_graph` takes; None for classes without a hierarchy. It names every
            class in `y`; where several classes share a name, `y` has paths such as "fruit/apple".
        lambda_: weight of a class's own prototype with one labelled row, in (0, 1]; with n rows it
            is n / (n + (1 - lambda_) / lambda_) (Eq. 6), so 1 propagates nothing. "auto" chooses
            it by holding out each labelled row in turn.
        method: "ppn+" takes parents from the graph, "ppn" takes the nearest prototypes for
            parents, as the paper does where none are known, "prototypes" propagates nothing,
            "regression" is logistic regression on the same labels.
        threshold: probability in [0, 1] that a class needs in `predict_safe`.
        use_unlabelled: whether unlabelled and coarsely labelled rows teach.
        unknown: what `predict_safe` returns where no class is sure, or the row looks like none of
            the classes.

    Attributes:
        classes_: (c,) labels to choose among, sorted: the deepest classes that have a prototype,
            which are leaves of the graph or coarse classes below which nothing is known.
        prototypes_: (c, d) float32 of them.
        transduction_: (n,) given label of each row of `fit`, and the predicted one of unlabelled
            rows.
        own_shares_: weight of the own prototype (Eq. 6) by class, 0 for a class without labelled
            rows.
        attention_: weight of each (parent, child) (Eq. 5).
        graph_: the category graph.
        n_features_in_, feature_names_in_: as scikit-learn has it.
    """

    def __init__(
        self,
        graph: GraphSource | None = None,
        *,
        lambda_: float | str = "auto",
        method: str = "ppn+",
        threshold: float = DEFAULT_BAR,
        use_unlabelled: bool = True,
        unknown: Label | None = None,
    ) -> None:
        self.graph = graph
        self.lambda_ = lambda_
        self.method = method
        self.threshold = threshold
        self.use_unlabelled = use_unlabelled
        self.unknown = unknown

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from labelled rows and, if `use_unlabelled`, from all others.

        Args:
            X: (n, d) embeddings.
            y: (n,) labels, fine or coarse; -1 or None for unlabelled rows, but where -1 and 1 are
                all there is without a graph, they are two classes.

        Raises:
            ValueError: a parameter, a shape or a label cannot be used.
        """
        shrinkage = self._check_parameters()
        rows, labels = validate_data(self, X, with_missing_marked(y), dtype=FLOATS)
        self._known, codes = known_classes(self.graph, labels)
        self.graph_ = self._known.graph
        embeddings = _unit(rows)
        snapshot = FitSnapshot(
            self.graph_,
            _snapshot(embeddings, codes),
            {root: Policy(bar=self.threshold) for root in self.graph_.roots()},
            Setting(self.method),
            with_collection=self.use_unlabelled,
            shrinkage=shrinkage,
        )
        self._fitted = _classifiers(rows.shape[1]).of(snapshot.setting).fit(snapshot)
        self._publish(embeddings, codes)
        return self

    def _check_parameters(self) -> float | None:
        """The shrinkage of `lambda_`, None for "auto"."""
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {self.method!r}")
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold must be in [0, 1], got {self.threshold!r}")
        if self.lambda_ == "auto":
            return None
        if isinstance(self.lambda_, str) or not 0 < self.lambda_ <= 1:
            raise ValueError(f'lambda_ must be "auto" or a number in (0, 1], got {self.lambda_!r}')
        return (1 - self.lambda_) / self.lambda_

    def _publish(self, embeddings: NDArray[np.float32], codes: NDArray[np.int32]) -> None:
        fitted, known = self._fitted, self._known
        self._order = known.order_of(fitted.candidate_ids)
        candidates = fitted.candidate_ids[self._order]
        self.classes_ = known.labels_of(candidates)
        prototypes = map(fitted.prototype, candidates.tolist())
        self.prototypes_ = np.stack([each for each in prototypes if each is not None])
        inherited, label_of = fitted.inheritance, known.label_of
        self.own_shares_ = {label_of[each]: share for each, share in inherited.own_shares.items()}
        self.attention_ = {
            (label_of[parent], label_of[child]): weight
            for (parent, child), weight in inherited.edge_weights.items()
        }
        predicted = fitted.classify(embeddings, np.arange(len(embeddings)))
        chosen = fitted.candidate_ids[predicted.best]
        self.transduction_ = known.labels_of(np.where(codes == NO_CLASS, chosen, codes))
        self._row_of = {digest: row for row, digest in enumerate(_digests(embeddings))}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class of `classes_` for each row (n, d): (n,) labels."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Probability (n, c) of each of `classes_` for rows (n, d); each row sums to 1."""
        found = self._probabilities(self._embeddings(X))
        probabilities = found[:, self._order].astype(np.float64)
        return probabilities / probabilities.sum(axis=1, keepdims=True)

    def predict_safe(self, X: ArrayLike) -> NDArray[Any]:
        """The deepest class that reaches `threshold` for each row (n, d), or `unknown`.

        Where several classes of one level reach it, the more probable one. Labels (n,) are objects.
        """
        embeddings = self._embeddings(X)
        scores = self._fitted.classify_new(_padded(embeddings))
        is_unknown = self._fitted.is_unknown(scores) | (scores.safe_class == NO_CLASS)
        found = np.full(len(embeddings), self.unknown, dtype=object)
        for row in np.flatnonzero(~is_unknown[: len(embeddings)]).tolist():
            found[row] = self._known.label_of[int(scores.safe_class[row])]
        return found

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Squared distance (n, c) of rows (n, d), of length 1, to the prototypes of `classes_`."""
        return cdist(self._embeddings(X), self.prototypes_, "sqeuclidean")

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """(c,) names of the columns of `transform`: the classes."""
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        return np.array([f"distance_{label}" for label in self.classes_.tolist()], dtype=object)

    def explain(self, X: ArrayLike) -> list[ClassExplanation]:
        """Why each row (n, d) was classified as it was; see `ClassExplanation`."""
        embeddings = self._embeddings(X)
        scores = self._fitted.classify_new(_padded(embeddings))
        chances = self._probabilities(embeddings)
        explanations = []
        for row, digest in enumerate(_digests(embeddings)):
            safe_id, score = int(scores.safe_class[row]), float(scores.safe_score[row])
            safe = None if safe_id == NO_CLASS else ScoredClass(safe_id, score)
            found = self._fitted.explain(
                self._row_of.get(digest, NEW_ROW),
                embeddings[row],
                chances[row],
                class_id=int(self._fitted.candidate_ids[scores.best[row]]),
                safe=safe,
            )
            assert found is not None, "candidates have prototypes"
            explanations.append(self._known.explanation(found))
        return explanations

    def _probabilities(self, embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        """(n, c) of the candidates, in their own order."""
        padded = _padded(embeddings)
        parts = [padded[start : start + MOST_ROWS] for start in range(0, len(padded), MOST_ROWS)]
        return np.concatenate(list(map(self._fitted.probabilities, parts)))[: len(embeddings)]

    def _embeddings(self, X: ArrayLike) -> NDArray[np.float32]:
        check_is_fitted(self)
        return _unit(validate_data(self, X, reset=False, dtype=FLOATS))


def _unit(X: NDArray[np.floating]) -> NDArray[np.float32]:
    """Rows (n, d) scaled to length 1; rows of zeros stay."""
    largest = np.abs(X).max(axis=1, keepdims=True)
    scaled = X / np.where(largest > 0, largest, 1)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return (scaled / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def _padded(embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
    """With rows of zeros up to a multiple of `ROWS`.

    Matrix products of other shapes are rounded differently.
    """
    return np.pad(embeddings, ((0, -len(embeddings) % ROWS), (0, 0)))


def _digests(embeddings: NDArray[np.float32]) -> Iterator[bytes]:
    """What identifies each embedding (n, d), to the precision that the engine has."""
    return (blake2b(row.tobytes(), digest_size=8).digest() for row in to_fixed(embeddings))


def _snapshot(embeddings: NDArray[np.float32], codes: NDArray[np.int32]) -> EmbeddedSnapshot:
    rows, count = np.arange(len(codes), dtype=np.int64), len(codes)
    has_failed, is_filled = np.zeros(count, dtype=bool), np.ones(count, dtype=bool)
    return EmbeddedSnapshot(
        rows, codes, rows, has_failed, rows, to_fixed(embeddings), is_filled, age=1
    )


def _classifiers(width: int) -> Classifiers:
    none = (0.0, 0.0, 0.0)
    card = BackboneCard("features", 1, none, (1.0, 1.0, 1.0), width, temperature=TEMPERATURE)
    return Classifiers(width_agnostic_propagation(), card)
