"""Nearest-prototype classification (Eq. 2) of a whole collection, in blocks that stay in the processor's cache."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from engine.everyday.back_off import BackOff
from engine.everyday.blocks import SCALE, Embeddings, Flags, Floats, Integers, block_of, in_blocks
from engine.everyday.scores import Scores
from engine.everyday.unseen import UnseenClasses


@dataclass(frozen=True)
class LinearClassifier:
    """Eq. 2 written as logits = embeddings @ weights.T + offsets (+ a term for broader classes)."""

    weights: Floats  # (c, d) float32, prototypes times 2 / temperature
    offsets: Floats  # (c,) float32
    # (c,) float32, 0 for classes with shots; the temperature of a zero-shot class is (1 + spread) times as high.
    breadth: Floats
    temperature: float  # divides squared distances

    def logits(self, embeddings: Embeddings, squares: Floats) -> Floats:
        """Logits (n, c) up to a constant of each row; `squares` (n,) are squared norms."""
        logits = block_of(embeddings) @ self._weights_for(embeddings).T
        logits += self.offsets
        broad = np.flatnonzero(self.breadth)
        if len(broad):
            logits[:, broad] += squares[:, None] * self.breadth[broad]
        return logits

    def _weights_for(self, embeddings: Embeddings) -> Floats:
        return self._fixed_point_weights if embeddings.dtype == np.int16 else self.weights

    @cached_property
    def prototypes(self) -> Floats:
        """(c, d) float32, back from the weights."""
        return (self.weights / (2 * self._slope)[:, None]).astype(np.float32)

    @property
    def _slope(self) -> Floats:
        return (1 / self.temperature - self.breadth).astype(np.float32)

    @cached_property
    def _fixed_point_weights(self) -> Floats:
        return self.weights * np.float32(1 / SCALE)

    def squared_distance(self, scores: Scores) -> Floats:
        """Squared distance (n,) of unit-length embeddings to their most probable class, back from the logits."""
        slope = self._slope
        constant = 1 / self.temperature + self.offsets + slope * (self.prototypes**2).sum(axis=1)
        return ((constant[scores.best] - scores.best_logit) / slope[scores.best]).astype(np.float32)


def softmax(logits: Floats) -> Floats:
    """Probabilities (n, c) of logits (n, c), in their memory."""
    logits -= logits.max(axis=1, keepdims=True, initial=-np.inf)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return logits


def linear_classifier(
    prototypes: Floats,
    temperature: float,
    *,
    is_zero_shot: Flags | None = None,
    spread: float = 0.0,
    own_distance: float = 0.0,
) -> LinearClassifier:
    """Build the linear form of Eq. 2.

    A zero-shot class is known only to lie somewhere around what its parents propagate, `spread` times as far as an
    image lies from its own class's mean. Its density is that much broader and lower; without this a vague prototype
    in the middle of its siblings would be nearest to all their images. Ours, not the paper's.

    Args:
        prototypes: (c, d) float32.
        is_zero_shot: (c,) bool.
        spread: variance of sibling classes over variance within a class.
        own_distance: typical squared distance of an image to its own class's prototype.
    """
    zero_shot = np.zeros(len(prototypes), dtype=bool) if is_zero_shot is None else is_zero_shot
    slope = np.where(zero_shot, 1 / (1 + spread), 1.0).astype(np.float32)
    squares = (prototypes**2).sum(axis=1)
    lower = np.where(zero_shot, own_distance / temperature * np.log1p(spread), 0.0)
    return LinearClassifier(
        weights=np.ascontiguousarray(
            prototypes * (2 * slope / temperature)[:, None], dtype=np.float32
        ),
        offsets=(-slope * squares / temperature - lower).astype(np.float32),
        breadth=((1 - slope) / temperature).astype(np.float32),
        temperature=temperature,
    )


def scores_of(
    probabilities: Floats,
    similarity: Floats,
    back_off: BackOff,
    logit_of: Callable[[Integers], Floats],
) -> Scores:
    """Scores (n,) of probabilities (n, c); `logit_of` gives the logits (n,) of a candidate of each image."""
    best = probabilities.argmax(axis=1)
    score = np.take_along_axis(probabilities, best[:, None], axis=1)[:, 0]
    safe_class, safe_score = back_off.decide(best, score, probabilities @ back_off.roll_up)
    logit = logit_of(best)
    codes = best.astype(np.int32), safe_class.astype(np.int32)
    return Scores(codes[0], logit, logit - np.log(score), codes[1], safe_score, similarity)


def classify_block(
    classifier: LinearClassifier, back_off: BackOff, embeddings: Embeddings, squares: Floats
) -> Scores:
    """Classify a block of images that fits the cache, where all classes are candidates."""
    logits = classifier.logits(embeddings, squares)
    best = logits.argmax(axis=1)
    best_logit = np.take_along_axis(logits, best[:, None], axis=1)
    logits -= best_logit
    powers = np.exp(logits, out=logits)
    total = powers.sum(axis=1, keepdims=True)
    mass = powers @ back_off.roll_up
    mass /= total
    best_score = 1 / total[:, 0]
    safe_class, safe_score = back_off.decide(best, best_score, mass)
    log_total = best_logit[:, 0] + np.log(total[:, 0])
    similarity = np.full(len(best), np.nan, dtype=np.float32)
    codes = best.astype(np.int32), safe_class.astype(np.int32)
    return Scores(codes[0], best_logit[:, 0], log_total, codes[1], safe_score, similarity)


def classify_all(
    classifier: LinearClassifier,
    back_off: BackOff,
    embeddings: Embeddings,
    squares: Floats,
    *,
    unseen: UnseenClasses | None = None,
    similarity: Floats | None = None,
) -> Scores:
    """Classify n images with all processor cores.

    Args:
        squares: (n,) squared norms of the embeddings.
        unseen: what the probabilities are divided with; None where all classes have examples.
        similarity: (n,) to the labelled images; None where it is not known.
    """
    scores = Scores.empty(len(embeddings))
    scores.similarity[:] = np.nan if similarity is None else similarity

    def work(rows: slice) -> None:
        block, similar = (
            (classifier, back_off, embeddings[rows], squares[rows]),
            scores.similarity[rows],
        )
        found = (
            classify_block(*block)
            if unseen is None
            else _divided(*block, unseen=unseen, similarity=similar)
        )
        scores.put(rows, replace(found, similarity=similar))

    in_blocks(len(embeddings), work)
    return scores


def _divided(
    classifier: LinearClassifier,
    back_off: BackOff,
    embeddings: Embeddings,
    squares: Floats,
    *,
    unseen: UnseenClasses,
    similarity: Floats,
) -> Scores:
    """Classify a block of images where some classes have no examples."""
    logits = classifier.logits(embeddings, squares)
    probabilities = unseen.divide(softmax(logits.copy()), similarity)
    return scores_of(
        probabilities, similarity, back_off, lambda best: logits[np.arange(len(best)), best]
    )
