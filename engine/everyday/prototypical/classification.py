"""Nearest-prototype classification (Eq. 2) of a whole collection, in cache-sized blocks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from engine.arrays import Flags, Floats, Integers
from engine.everyday.back_off import BackOff
from engine.everyday.blocks import SCALE, Embeddings, at_columns, block_of, in_blocks, no_similarity
from engine.everyday.scores import Scores
from engine.everyday.unseen import UnseenClasses


@dataclass(frozen=True)
class LinearClassifier:
    """Eq. 2 written as logits = embeddings @ weights.T + offsets (+ a term for broader classes)."""

    weights: Floats  # (c, d) float32, prototypes times 2 / temperature
    offsets: Floats  # (c,) float32
    # (c,) float32, 0 for classes with shots; a zero-shot class has (1 + spread) times the
    # temperature.
    breadth: Floats
    temperature: float  # divides squared distances

    def logits(self, embeddings: Embeddings) -> Floats:
        """Logits (n, c), up to a constant of each row, of embeddings (n, d) of length 1."""
        is_fixed = embeddings.dtype == np.int16
        weights = self._fixed_point_weights if is_fixed else self.weights
        logits = block_of(embeddings) @ weights.T
        logits += self.offsets
        broad = np.flatnonzero(self.breadth)
        if len(broad):
            logits[:, broad] += self.breadth[broad]
        return logits

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
        """Squared distance (n,) of unit embeddings to their most probable class, by logits."""
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

    A zero-shot class is only known to be somewhere around what its parents propagate, `spread`
    times as far as an image is from its own class's mean. Its density is that much broader and
    lower; without this a vague prototype in the middle of its siblings would be nearest to all
    their images. Ours, not the paper's.

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
    """Scores (n,) of probabilities (n, c); `logit_of` gives the logit of one candidate each."""
    best = probabilities.argmax(axis=1)
    score = at_columns(probabilities, best)
    safe_class, safe_score = back_off.decide(best, score, probabilities @ back_off.roll_up)
    logit = logit_of(best)
    codes = best.astype(np.int32), safe_class.astype(np.int32)
    return Scores(codes[0], logit, logit - np.log(score), codes[1], safe_score, similarity)


def classify_block(
    classifier: LinearClassifier, back_off: BackOff, embeddings: Embeddings
) -> Scores:
    """Classify a block of images that fits the cache, where all classes are candidates."""
    logits = classifier.logits(embeddings)
    best = logits.argmax(axis=1)
    best_logit = at_columns(logits, best)
    logits -= best_logit[:, None]
    powers = np.exp(logits, out=logits)
    total = powers.sum(axis=1, keepdims=True)
    mass = powers @ back_off.roll_up
    mass /= total
    best_score = 1 / total[:, 0]
    safe_class, safe_score = back_off.decide(best, best_score, mass)
    log_total = best_logit + np.log(total[:, 0])
    codes, unknown = (best.astype(np.int32), safe_class.astype(np.int32)), no_similarity(len(best))
    return Scores(codes[0], best_logit, log_total, codes[1], safe_score, unknown)


def classify_all(
    classifier: LinearClassifier,
    back_off: BackOff,
    embeddings: Embeddings,
    *,
    unseen: UnseenClasses | None = None,
    similarity: Floats | None = None,
) -> Scores:
    """Classify n images with all processor cores.

    Args:
        unseen: what the probabilities are divided with; None where all classes have examples.
        similarity: (n,) to the labelled images; None where it is not known.
    """
    scores = Scores.empty(len(embeddings))
    scores.similarity[:] = np.nan if similarity is None else similarity

    def classify_rows(rows: slice) -> None:
        block, similar = embeddings[rows], scores.similarity[rows]
        if unseen is None:
            found = replace(classify_block(classifier, back_off, block), similarity=similar)
        else:
            logits = classifier.logits(block)
            probabilities = unseen.divide(softmax(logits.copy()), similar)
            found = scores_of(probabilities, similar, back_off, partial(at_columns, logits))
        scores.put(rows, found)

    in_blocks(len(embeddings), classify_rows)
    return scores
