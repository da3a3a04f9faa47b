"""Nearest-prototype classification (Eq. 2) of a whole collection, and its update when a few classes move.

One pass does a matrix product and a handful of sweeps over blocks that stay in the processor's cache. When only a few
prototypes moved, their old and new columns are enough for most images; the rest is done anew.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from engine.inference.back_off import BackOff

BLOCK_ROWS: Final = 1024
SMALL_SCORE: Final = 0.01
"""Moved classes that together held and hold less than this of an image's probability leave its safe class as it is."""
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

    def logits(self, embeddings: NDArray[np.float32], squares: NDArray[np.float32]) -> NDArray[np.float32]:
        """Logits (n, c) up to a constant of each row; `squares` (n,) are squared norms."""
        logits = embeddings @ self.weights.T
        logits += self.offsets
        broad = np.flatnonzero(self.breadth)
        if len(broad):
            logits[:, broad] += squares[:, None] * self.breadth[broad]
        return logits

    def column(
        self, position: int, embeddings: NDArray[np.float32], squares: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Logits (n,) of one class."""
        column: NDArray[np.float32] = embeddings @ self.weights[position]
        column += self.offsets[position]
        if self.breadth[position]:
            column += squares * self.breadth[position]
        return column

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
    classifier: LinearClassifier, back_off: BackOff, embeddings: NDArray[np.float32], squares: NDArray[np.float32]
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
    classifier: LinearClassifier, back_off: BackOff, embeddings: NDArray[np.float32], squares: NDArray[np.float32]
) -> Scores:
    """Classify n images with all processor cores."""
    scores = Scores.empty(len(embeddings))

    def work(rows: slice) -> None:
        scores.put(rows, classify_block(classifier, back_off, embeddings[rows], squares[rows]))

    _in_blocks(len(embeddings), work)
    return scores


def reclassify(
    before: Scores,
    old: LinearClassifier,
    new: LinearClassifier,
    back_off: BackOff,
    embeddings: NDArray[np.float32],
    *,
    squares: NDArray[np.float32],
) -> Scores:
    """Scores under `new`, from scores under `old`: the candidates, temperature and back-off are the same.

    The result equals a full pass up to rounding, except that the safe class of an image is not looked at again when
    the moved classes together hold less than `SMALL_SCORE` of its probability before and after.
    """
    moved = _moved(old, new)
    if len(moved) == 0:
        return before
    if len(moved) > _many_classes(len(old.offsets)):
        return classify_all(new, back_off, embeddings, squares)
    after, redo = before.copy(), np.empty(len(embeddings), dtype=bool)

    def work(rows: slice) -> None:
        gained, redo[rows] = _change(old, new, moved, before, embeddings[rows], squares=squares[rows], rows=rows)
        after.log_total[rows] += np.log1p(np.maximum(gained, np.float32(-0.5)))

    _in_blocks(len(embeddings), work)
    rows = np.flatnonzero(redo)
    if len(rows) > MANY_ROWS * len(embeddings):
        return classify_all(new, back_off, embeddings, squares)
    _redo(after, new, back_off, embeddings, squares, rows=rows)
    return after


def _change(
    old: LinearClassifier,
    new: LinearClassifier,
    moved: NDArray[np.int64],
    before: Scores,
    embeddings: NDArray[np.float32],
    *,
    squares: NDArray[np.float32],
    rows: slice,
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """What the moved classes add to each image's total, as a share of it, and which images to do anew."""
    log_total = before.log_total[rows]
    gained = np.zeros(len(embeddings), dtype=np.float32)
    touched = np.zeros(len(embeddings), dtype=np.float32)
    for position in moved.tolist():
        was = _share(old.column(position, embeddings, squares), log_total)
        now = _share(new.column(position, embeddings, squares), log_total)
        touched += np.maximum(was, now)
        gained += now
        gained -= was
    # The likeliest class itself, or what comes near it: among very many classes even that may hold little.
    near_best = np.exp(before.best_logit[rows] - log_total) * np.float32(0.99)
    return gained, touched > np.minimum(near_best, np.float32(SMALL_SCORE))


def _redo(
    scores: Scores,
    classifier: LinearClassifier,
    back_off: BackOff,
    embeddings: NDArray[np.float32],
    squares: NDArray[np.float32],
    *,
    rows: NDArray[np.int64],
) -> None:
    def work(part: slice) -> None:
        chosen = rows[part]
        scores.put(chosen, classify_block(classifier, back_off, embeddings[chosen], squares[chosen]))

    _in_blocks(len(rows), work)


def _moved(old: LinearClassifier, new: LinearClassifier) -> NDArray[np.int64]:
    same = (old.weights == new.weights).all(axis=1) & (old.offsets == new.offsets) & (old.breadth == new.breadth)
    return np.flatnonzero(~same)


def _many_classes(count: int) -> int:
    """Moved classes above which columns cost more than one matrix product: a product is about 8 times as dense."""
    return max(1, count // 16)


def _share(column: NDArray[np.float32], log_total: NDArray[np.float32]) -> NDArray[np.float32]:
    column -= log_total
    np.minimum(column, np.float32(50), out=column)
    return np.exp(column, out=column)


def _in_blocks(count: int, work: Callable[[slice], None]) -> None:
    """Run `work` over blocks of rows, one thread a core, each with a single-threaded matrix product."""
    blocks = [slice(start, min(start + BLOCK_ROWS, count)) for start in range(0, count, BLOCK_ROWS)]
    if len(blocks) <= 1:
        for block in blocks:
            work(block)
        return
    with _blas().limit(limits=1, user_api="blas"):
        list(_workers().map(work, blocks))


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


@cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="classify")
