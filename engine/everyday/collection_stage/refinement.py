"""Prototypes refined by the whole collection: soft k-means from the propagated ones, with the shots held fixed.

Each image belongs to the candidates in part: by its likeness to their prototypes (Eq. 2 in the whitened space) and by
where its look-alikes belong, as in label propagation (Zhou et al., 2004) and LaplacianShot (Ziko et al., 2020). A step
takes as much of an image's chances from its look-alikes as it is like them, and the rest from the prototypes: a walk
from image to image that stops at a labelled one, or at any image where it does not follow on, and answers there.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.blocks import in_blocks
from engine.everyday.classification import LinearClassifier, linear_classifier
from engine.everyday.collection_stage.neighbours import Links, follow
from engine.everyday.collection_stage.sharing import AnchorLabels

ROUNDS: Final = 3
"""Times that classes of images and prototypes are found in turn (decision 20)."""
STEPS: Final = 8
"""Steps along links in a round (decision 20)."""
UNLABELLED: Final = np.float32(1.0)
"""Weight of an unlabelled image in a prototype; a labelled one has 1, too (decision 52)."""
START: Final = np.float32(1.0)
"""Weight of the propagated prototype in the refined one, in shots."""
TEMPERATURE: Final = 0.2
"""In mean cosines to the sixth link (decision 52)."""
JUDGED: Final = 6
"""Place of the link whose cosine says how alike images are: the last of `NEIGHBOURS` (decision 20)."""
LEAST_TEMPERATURE: Final = 0.5
"""In cosines of unrelated images, which scatter around 0 by 1 / sqrt(width)."""
SMOOTH_ROWS: Final = 256
"""Images smoothed at a time by a core. Chosen: a block stays in its cache."""
SUM_ROWS: Final = 512
"""Images summed at a time, in a fixed order whatever the cores. Chosen: a block stays in a core's cache."""

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class InitialPrototypes:
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


def refine(
    vectors: Matrix, links: Links, labels: AnchorLabels, start: InitialPrototypes, *, ignored: NDArray[np.int64]
) -> Refined:
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
    temperature = temperature_for(links, vectors)
    for _ in range(ROUNDS):
        _, chances = _belong(vectors, links, labels, prototypes, start, temperature=temperature, chances=chances)
        prototypes = _moved(vectors, weights, chances, start)
    classifier, chances = _belong(vectors, links, labels, prototypes, start, temperature=temperature, chances=chances)
    return Refined(prototypes, classifier, chances, *_shares(weights, chances, labels, start))


def temperature_for(links: Links, vectors: Matrix) -> float:
    """Eq. 2's temperature in the whitened space: a share of how alike linked images are.

    Backbones differ in how much of an embedding says what an image shows, and with it in how large the cosines of
    alike images are. Of each image its `JUDGED`-th link counts: the first may be a copy.
    """
    linked = np.flatnonzero(links.weights[:, JUDGED - 1] > 0)
    others = links.positions[linked, JUDGED - 1]
    alike = np.einsum("nd,nd->n", vectors[linked], vectors[others]) if len(linked) else np.zeros(1)
    return max(TEMPERATURE * float(alike.mean()), LEAST_TEMPERATURE / float(np.sqrt(vectors.shape[1])))


def chances_of(classifier: LinearClassifier, vectors: Matrix) -> Matrix:
    """Probabilities (n, c) by the prototypes alone (Eq. 2)."""
    return softmax(classifier.logits(vectors, np.ones(len(vectors), dtype=np.float32)))


def softmax(logits: Matrix) -> Matrix:
    """Probabilities (n, c) of logits (n, c), in their memory."""
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return logits


def joined(by_prototype: Matrix, links: Links, chances: Matrix) -> Matrix:
    """One step: chances (n, c) by prototypes and by the linked anchors' chances (m, c)."""
    found = follow(links, chances)
    found += (1 - links.followed) * by_prototype
    return found


def _belong(
    vectors: Matrix,
    links: Links,
    labels: AnchorLabels,
    prototypes: Matrix,
    start: InitialPrototypes,
    *,
    temperature: float,
    chances: Matrix | None,
) -> tuple[LinearClassifier, Matrix]:
    classifier = _classifier(vectors, prototypes, start, temperature)
    by_prototype = np.empty((len(vectors), len(prototypes)), dtype=np.float32)

    def work(rows: slice) -> None:
        by_prototype[rows] = chances_of(classifier, vectors[rows])

    in_blocks(len(vectors), work, SMOOTH_ROWS)
    chances = by_prototype.copy() if chances is None else chances
    labels.hold(chances)
    by_prototype *= 1 - links.followed
    for _ in range(STEPS):
        chances = _step(by_prototype, links, chances)
        labels.hold(chances)
    return classifier, chances


def _step(rest: Matrix, links: Links, chances: Matrix) -> Matrix:
    """The same as `joined`, with its factor in `rest` already."""
    after = rest.copy()

    def work(rows: slice) -> None:
        after[rows] += follow(links.rows(rows), chances)

    in_blocks(len(chances), work, SMOOTH_ROWS)
    return after


def _classifier(vectors: Matrix, prototypes: Matrix, start: InitialPrototypes, temperature: float) -> LinearClassifier:
    lengths = np.maximum(np.linalg.norm(prototypes, axis=1, keepdims=True), np.float32(1e-6))
    directions = (prototypes / lengths).astype(np.float32)
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


def _moved(vectors: Matrix, weights: Matrix, chances: Matrix, start: InitialPrototypes) -> Matrix:
    parts = chances * weights[:, None]
    sums = _weighted_sums(parts, vectors) + START * start.prototypes
    means = sums / (parts.sum(axis=0) + START)[:, None]
    return np.where(start.is_zero_shot[:, None], start.prototypes, means).astype(np.float32)


def _weighted_sums(parts: Matrix, vectors: Matrix) -> Matrix:
    """parts.T @ vectors, a block of rows at a time, always added up in the same order."""
    sums = np.zeros((-(-len(parts) // SUM_ROWS), parts.shape[1], vectors.shape[1]), dtype=np.float32)

    def work(rows: slice) -> None:
        sums[rows.start // SUM_ROWS] = parts[rows].T @ vectors[rows]

    in_blocks(len(parts), work, SUM_ROWS)
    return sums.sum(axis=0)


def _shares(
    weights: Matrix, chances: Matrix, labels: AnchorLabels, start: InitialPrototypes
) -> tuple[Matrix, Matrix, Matrix]:
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
