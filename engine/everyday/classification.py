"""Nearest-prototype classification (Eq. 2) of a whole collection, and its update when a few classes move.

One pass does a matrix product and a handful of sweeps over blocks that stay in the processor's cache. When only a few
prototypes moved, their old and new columns are enough for most images; the rest is done anew.
"""

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.back_off import BackOff
from engine.everyday.blocks import BLOCK_ROWS, in_blocks
from engine.everyday.fixed_point import SCALE, Embeddings, block_of, factor_of

SMALL_SCORE: Final = 0.01
"""Moved classes that together held and hold less than this of an image's probability leave its safe class as it is."""
NEAR_BEST: Final = np.float32(0.01)
"""A moved class whose logit comes this close to the best one's may have become, or been, the best."""
COLUMN_BLOCK_ROWS: Final = 4096
"""Rows that are multiplied with single columns at once: all columns share one reading of the embeddings."""
SMALLEST_SHARE: Final = 128
"""Fewer rows than this are not worth another core."""
MANY_ROWS: Final = 0.6
"""Share of images to redo above which a full pass is cheaper."""


@dataclass(frozen=True)
class LinearClassifier:
    """Eq. 2 written as logits = embeddings @ weights.T + offsets (+ a term for broader classes).

    Attributes:
        weights: (c, d) float32, prototypes times 2 / temperature.
        offsets: (c,) float32.
        breadth: (c,) float32, 0 for classes with shots. A zero-shot class is broader: its temperature is
            (1 + spread) times the others', and ||x||² does not cancel from its logit.
        temperature: divides squared distances.
    """

    weights: NDArray[np.float32]
    offsets: NDArray[np.float32]
    breadth: NDArray[np.float32]
    temperature: float

    def logits(self, embeddings: Embeddings, squares: NDArray[np.float32]) -> NDArray[np.float32]:
        """Logits (n, c) up to a constant of each row; `squares` (n,) are squared norms."""
        logits = block_of(embeddings) @ self._weights_for(embeddings).T
        logits += self.offsets
        broad = np.flatnonzero(self.breadth)
        if len(broad):
            logits[:, broad] += squares[:, None] * self.breadth[broad]
        return logits

    def finish(self, column: NDArray[np.float32], position: int, squares: NDArray[np.float32]) -> None:
        """Turn inner products (n,) with a class's weights into its logits, in place."""
        column += self.offsets[position]
        if self.breadth[position]:
            column += squares * self.breadth[position]

    def _weights_for(self, embeddings: Embeddings) -> NDArray[np.float32]:
        return self._fixed_point_weights if embeddings.dtype == np.int16 else self.weights

    @cached_property
    def _fixed_point_weights(self) -> NDArray[np.float32]:
        return self.weights * np.float32(1 / SCALE)

    def squared_distance(self, scores: "Scores") -> NDArray[np.float32]:
        """Squared distance (n,) of unit-length embeddings to their likeliest class, back from the logits."""
        slope = 1 / self.temperature - self.breadth
        squared_norm = (self.weights**2).sum(axis=1) / (4 * slope**2)
        constant = 1 / self.temperature + self.offsets + slope * squared_norm
        return ((constant[scores.best] - scores.best_logit) / slope[scores.best]).astype(np.float32)


def linear_classifier(
    prototypes: NDArray[np.float32],
    temperature: float,
    *,
    is_zero_shot: NDArray[np.bool_] | None = None,
    spread: float = 0.0,
    own_distance: float = 0.0,
) -> LinearClassifier:
    """Build the linear form of Eq. 2.

    A zero-shot class is known only to lie somewhere around what its parents propagate, `spread` times as far as an
    image lies from its own class's mean. Its density is that much broader and lower; without this a vague prototype
    in the middle of its siblings would be nearest to all their images. Ours, not the paper's.

    Args:
        prototypes: (c, d) float32.
        temperature: divides squared distances.
        is_zero_shot: (c,) bool.
        spread: variance of sibling classes over variance within a class.
        own_distance: typical squared distance of an image to its own class's prototype.
    """
    zero_shot = np.zeros(len(prototypes), dtype=bool) if is_zero_shot is None else is_zero_shot
    slope = np.where(zero_shot, 1 / (1 + spread), 1.0).astype(np.float32)
    squares = (prototypes**2).sum(axis=1)
    lower = np.where(zero_shot, own_distance / temperature * np.log1p(spread), 0.0)
    return LinearClassifier(
        weights=np.ascontiguousarray(prototypes * (2 * slope / temperature)[:, None], dtype=np.float32),
        offsets=(-slope * squares / temperature - lower).astype(np.float32),
        breadth=((1 - slope) / temperature).astype(np.float32),
        temperature=temperature,
    )


@dataclass(frozen=True)
class Scores:
    """Outcome for n images.

    Attributes:
        best: (n,) int64 position of the likeliest candidate.
        best_logit, log_total: (n,) float32; probability is exp(best_logit - log_total).
        safe_class: (n,) int64 class id, or -1.
        safe_score: (n,) float32.
    """

    best: NDArray[np.int64]
    best_logit: NDArray[np.float32]
    log_total: NDArray[np.float32]
    safe_class: NDArray[np.int64]
    safe_score: NDArray[np.float32]

    @property
    def best_score(self) -> NDArray[np.float32]:
        """(n,) probability of the likeliest candidate."""
        return np.exp(self.best_logit - self.log_total)

    @classmethod
    def empty(cls, count: int) -> "Scores":
        """Scores to be filled, for `count` images; zeros until then, so that `best` never points outside."""
        integers, floats = np.zeros((2, count), dtype=np.int64), np.zeros((3, count), dtype=np.float32)
        return cls(integers[0], floats[0], floats[1], integers[1], floats[2])

    def put(self, rows: slice | NDArray[np.int64], part: "Scores") -> None:
        """Write `part` into these rows."""
        for name in ("best", "best_logit", "log_total", "safe_class", "safe_score"):
            getattr(self, name)[rows] = getattr(part, name)

    def copy(self) -> "Scores":
        """Same values, own memory."""
        return Scores(*(array.copy() for array in vars(self).values()))


def classify_block(
    classifier: LinearClassifier, back_off: BackOff, embeddings: Embeddings, squares: NDArray[np.float32]
) -> Scores:
    """Classify a block of images that fits the cache."""
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
    return Scores(best, best_logit[:, 0], best_logit[:, 0] + np.log(total[:, 0]), safe_class, safe_score)


def classify_all(
    classifier: LinearClassifier, back_off: BackOff, embeddings: Embeddings, squares: NDArray[np.float32]
) -> Scores:
    """Classify n images with all processor cores."""
    scores = Scores.empty(len(embeddings))

    def work(rows: slice) -> None:
        scores.put(rows, classify_block(classifier, back_off, embeddings[rows], squares[rows]))

    in_blocks(len(embeddings), work)
    return scores


def reclassify(
    scores: Scores,
    old: LinearClassifier,
    new: LinearClassifier,
    back_off: BackOff,
    embeddings: Embeddings,
    *,
    squares: NDArray[np.float32],
) -> Scores:
    """Bring scores under `old` up to `new`, in place: the candidates, temperature and back-off are the same.

    The result equals a full pass up to rounding, except that the safe class of an image is not looked at again when
    the moved classes together hold less than `SMALL_SCORE` of its probability before and after.

    Returns:
        `scores`, or new ones when so much moved that a full pass is cheaper.
    """
    moved = _moved(old, new)
    if len(moved) > _many_classes(len(old.offsets)):
        return classify_all(new, back_off, embeddings, squares)
    if len(moved) == 0:
        return scores
    rows = np.flatnonzero(_change(scores, old, new, moved.tolist(), embeddings, squares=squares))
    if len(rows) > MANY_ROWS * len(embeddings):
        return classify_all(new, back_off, embeddings, squares)
    _redo(scores, new, back_off, embeddings, squares, rows=rows)
    return scores


def _change(
    scores: Scores,
    old: LinearClassifier,
    new: LinearClassifier,
    moved: list[int],
    embeddings: Embeddings,
    *,
    squares: NDArray[np.float32],
) -> NDArray[np.bool_]:
    """Bring `log_total` up to date by the columns of the moved classes; returns which images to do anew."""
    columns = _columns([*((old, position) for position in moved), *((new, position) for position in moved)], embeddings)
    gained, touched = np.zeros((2, len(embeddings)), dtype=np.float32)
    redo = np.zeros(len(embeddings), dtype=bool)
    for position, was, now in zip(moved, columns[: len(moved)], columns[len(moved) :], strict=True):
        old.finish(was, position, squares)
        new.finish(now, position, squares)
        redo |= np.maximum(was, now) > scores.best_logit - NEAR_BEST
        share_was, share_now = _share(was, scores.log_total), _share(now, scores.log_total)
        touched += np.maximum(share_was, share_now)
        gained += share_now
        gained -= share_was
    scores.log_total[:] += np.log1p(np.maximum(gained, np.float32(-0.5)))
    redo |= touched > SMALL_SCORE
    return redo


def _columns(asked: list[tuple[LinearClassifier, int]], embeddings: Embeddings) -> list[NDArray[np.float32]]:
    """Inner products (n,) of all embeddings with the weights of single classes; a block is read once for all."""
    factor = factor_of(embeddings)
    vectors = [classifier.weights[position] * factor for classifier, position in asked]
    columns = [np.empty(len(embeddings), dtype=np.float32) for _ in asked]

    def work(rows: slice) -> None:
        block = block_of(embeddings[rows])
        for vector, column in zip(vectors, columns, strict=True):
            np.matmul(block, vector, out=column[rows])

    in_blocks(len(embeddings), work, COLUMN_BLOCK_ROWS)
    return columns


def likeness(embeddings: Embeddings, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Inner products (n,) of all embeddings with a vector (d,)."""
    found = np.empty(len(embeddings), dtype=np.float32)

    def work(rows: slice) -> None:
        np.matmul(block_of(embeddings[rows]), vector * factor_of(embeddings), out=found[rows])

    in_blocks(len(embeddings), work, COLUMN_BLOCK_ROWS)
    return found


def _redo(
    scores: Scores,
    classifier: LinearClassifier,
    back_off: BackOff,
    embeddings: Embeddings,
    squares: NDArray[np.float32],
    *,
    rows: NDArray[np.int64],
) -> None:
    def work(part: slice) -> None:
        chosen = rows[part]
        scores.put(chosen, classify_block(classifier, back_off, embeddings[chosen], squares[chosen]))

    share = -(-len(rows) // (os.cpu_count() or 1))
    in_blocks(len(rows), work, max(SMALLEST_SHARE, min(BLOCK_ROWS, share)))


def _moved(old: LinearClassifier, new: LinearClassifier) -> NDArray[np.int64]:
    same = (old.weights == new.weights).all(axis=1) & (old.offsets == new.offsets) & (old.breadth == new.breadth)
    return np.flatnonzero(~same)


def _many_classes(count: int) -> int:
    """Moved classes above which columns cost more than one matrix product: a product is about 8 times as dense."""
    return max(1, count // 16)


def _share(column: NDArray[np.float32], log_total: NDArray[np.float32]) -> NDArray[np.float32]:
    """Share (n,) of the total that a class with these logits holds; no more than e^50 of it."""
    share = column - log_total
    np.minimum(share, np.float32(50), out=share)
    return np.exp(share, out=share)
