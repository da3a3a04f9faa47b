"""Prototypes refined by the whole collection: soft k-means from the propagated ones, with the shots held fixed.

Each image belongs to the candidates in part: by its likeness to their prototypes (Eq. 2 in the whitened space) and by
where its look-alikes belong, as in label propagation (Zhou et al., 2004) and LaplacianShot (Ziko et al., 2020). A step
takes `FOLLOW` of an image's chances from its look-alikes and the rest from the prototypes: a walk from image to image
that stops at a labelled one, or at any image with probability 1 - `FOLLOW`, and answers there.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.inference.blocks import in_blocks
from engine.inference.classification import LinearClassifier, linear_classifier
from engine.inference.collection.neighbours import Links, mean_over
from engine.inference.collection.sharing import AnchorLabels

FOLLOW: Final = np.float32(0.9)
ROUNDS: Final = 3
STEPS: Final = 8
UNLABELLED: Final = np.float32(0.5)
"""Weight of an unlabelled image in a prototype; a labelled one has 1."""
START: Final = np.float32(1.0)
"""Weight of the propagated prototype in the refined one, in shots."""
SMOOTH_ROWS: Final = 256

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Start:
    """Where refinement starts.

    Attributes:
        prototypes: (c, d) float32, propagated (Eq. 6) in the whitened space.
        is_zero_shot: (c,) bool: no image says what it looks like; it stays where its ancestors put it.
        spread: of zero-shot classes, see `linear_classifier`.
    """

    prototypes: Matrix
    is_zero_shot: NDArray[np.bool_]
    spread: float


@dataclass(frozen=True)
class Refined:
    """The outcome.

    Attributes:
        prototypes: (c, d) float32.
        classifier: Eq. 2 over them, for whitened embeddings of length 1.
        chances: (m, c) float32, in which part each anchor belongs to each candidate; labels are held.
        unlabelled: (c,) float32, share of the prototype that unlabelled images make up.
        coarse: (c,) float32, share that coarse-labelled images make up.
        start: (c,) float32, share of the propagated prototype; the rest is the shots again.
    """

    prototypes: Matrix
    classifier: LinearClassifier
    chances: Matrix
    unlabelled: Matrix
    coarse: Matrix
    start: Matrix


def refine(vectors: Matrix, links: Links, labels: AnchorLabels, start: Start, *, ignored: NDArray[np.int64]) -> Refined:
    """Run the rounds.

    Args:
        vectors: (m, d) float32, whitened anchors of length 1.
        links: among them.
        labels: of those that have one.
        start: propagated prototypes of c candidates.
        ignored: positions of anchors that show none of the classes.
    """
    weights = np.full(len(vectors), UNLABELLED, dtype=np.float32)
    weights[labels.positions] = 1
    weights[ignored] = 0
    prototypes, chances = start.prototypes, None
    for _ in range(ROUNDS):
        _, chances = _belong(vectors, links, labels, prototypes, start, chances=chances)
        prototypes = _moved(vectors, weights, chances, start)
    classifier, chances = _belong(vectors, links, labels, prototypes, start, chances=chances)
    return Refined(prototypes, classifier, chances, *_shares(weights, chances, labels, start))


def temperature_for(width: int) -> float:
    """Eq. 2's temperature for whitened embeddings of this width: logits count how far a cosine is from chance.

    Cosines of unrelated whitened images scatter around 0 by 1 / sqrt(width), and squared distances of vectors of length
    1 are 2 - 2 cosine.
    """
    return float(2 / np.sqrt(width))


def chances_of(classifier: LinearClassifier, vectors: Matrix) -> Matrix:
    """Probabilities (n, c) by the prototypes alone (Eq. 2)."""
    logits = classifier.logits(vectors, np.ones(len(vectors), dtype=np.float32))
    logits -= logits.max(axis=1, keepdims=True)
    powers = np.exp(logits, out=logits)
    return powers / powers.sum(axis=1, keepdims=True)


def joined(by_prototype: Matrix, links: Links, chances: Matrix) -> Matrix:
    """One step: chances (n, c) by prototypes and by the linked anchors' chances (m, c)."""
    follow = FOLLOW * (links.weights[:, :1] > 0)
    return (1 - follow) * by_prototype + follow * mean_over(links, chances)


def _belong(
    vectors: Matrix, links: Links, labels: AnchorLabels, prototypes: Matrix, start: Start, *, chances: Matrix | None
) -> tuple[LinearClassifier, Matrix]:
    classifier = _classifier(vectors, prototypes, start)
    by_prototype = chances_of(classifier, vectors)
    chances = by_prototype.copy() if chances is None else chances
    labels.hold(chances)
    for _ in range(STEPS):
        chances = _step(by_prototype, links, chances)
        labels.hold(chances)
    return classifier, chances


def _step(by_prototype: Matrix, links: Links, chances: Matrix) -> Matrix:
    after = np.empty_like(chances)

    def work(rows: slice) -> None:
        after[rows] = joined(by_prototype[rows], Links(links.positions[rows], links.weights[rows]), chances)

    in_blocks(len(chances), work, SMOOTH_ROWS)
    return after


def _classifier(vectors: Matrix, prototypes: Matrix, start: Start) -> LinearClassifier:
    lengths = np.maximum(np.linalg.norm(prototypes, axis=1, keepdims=True), np.float32(1e-6))
    directions = (prototypes / lengths).astype(np.float32)
    temperature = temperature_for(vectors.shape[1])
    if not start.is_zero_shot.any():
        return linear_classifier(directions, temperature)
    known = directions[~start.is_zero_shot]
    apart = 2 - 2 * (vectors @ known.T).max(axis=1) if len(known) else np.full(1, 2.0)
    return linear_classifier(
        directions,
        temperature,
        is_zero_shot=start.is_zero_shot,
        spread=start.spread,
        own_distance=float(np.median(apart)),
    )


def _moved(vectors: Matrix, weights: Matrix, chances: Matrix, start: Start) -> Matrix:
    parts = chances * weights[:, None]
    sums = parts.T @ vectors + START * start.prototypes
    means = sums / (parts.sum(axis=0) + START)[:, None]
    return np.where(start.is_zero_shot[:, None], start.prototypes, means).astype(np.float32)


def _shares(weights: Matrix, chances: Matrix, labels: AnchorLabels, start: Start) -> tuple[Matrix, Matrix, Matrix]:
    """What the refined prototypes are made of; see `Refined`."""
    parts = chances * weights[:, None]
    total = parts.sum(axis=0) + START
    coarse = parts[labels.positions[~labels.is_shot]].sum(axis=0)
    labelled = parts[labels.positions].sum(axis=0)
    moves = ~start.is_zero_shot
    unlabelled_share = np.where(moves, (parts.sum(axis=0) - labelled) / total, 0)
    coarse_share = np.where(moves, coarse / total, 0)
    start_share = np.where(moves, START / total, 1)
    return unlabelled_share.astype(np.float32), coarse_share.astype(np.float32), start_share.astype(np.float32)
