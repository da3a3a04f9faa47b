"""Prototypes refined by the whole collection: soft k-means from the propagated ones, shots fixed.

Each image belongs to the candidates in part: by its similarity to their prototypes (Eq. 2 in the
whitened space) and by where its look-alikes belong, as in label propagation (Zhou et al., 2004) and
LaplacianShot (Ziko et al., 2020). A step takes as much of an image's probabilities from its
look-alikes as it is similar to them, and the rest from the prototypes: a random walk that is
absorbed at labelled images, and at others by the share that it does not follow on.
"""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from engine.arrays import Flags, Floats, Integers
from engine.everyday.blocks import filled_in_blocks, in_blocks, sums_by_class
from engine.everyday.collection_stage.anchor_labels import AnchorChances, AnchorLabels
from engine.everyday.collection_stage.calibration import PSEUDO_COUNT
from engine.everyday.collection_stage.neighbours import Links, follow
from engine.everyday.prototypical.classification import LinearClassifier, linear_classifier, softmax
from engine.everyday.prototypical.prototypes import PrototypeTable
from engine.everyday.prototypical.tuning import lambda_for

ROUNDS = 3  # turns of assigning images and moving prototypes (decision 52)
STEPS = 8  # steps along links in a round (decision 52)
UNLABELLED = np.float32(1.0)
"""Weight of an unlabelled image in a prototype; a labelled one has 1, too (decision 52)."""
DAMPING = 1.0
"""Log factor by which unlabelled images count less at an imbalance of 1 (decision 52)."""
CLASS_PRIORS = 0.5  # power of the estimated class priors at an imbalance of 1 (decision 52)
START = np.float32(1.0)  # weight of the propagated prototype in the refined one, in shots
TEMPERATURE = 0.2  # in mean cosines to the sixth link (decision 52)
JUDGED = 6
"""Rank of the link whose cosine measures similarity: the last of `NEIGHBOURS` (decision 52)."""
LEAST_TEMPERATURE = 0.5
"""In cosines of unrelated images, which scatter around 0 by 1 / sqrt(width)."""
SMOOTH_CHANCES = 65_536
"""Probabilities smoothed at a time by a core. Chosen: with those of their links they take 3 MB."""
PRODUCT_ROWS = 64
"""Fewest images multiplied with all prototypes at a time. Chosen: fewer make a slow product."""
MOST_PRODUCTS = 4_000_000
"""Anchor-prototype products that a median is taken over; more anchors are subsampled."""
SUM_ROWS = 512
"""Images summed at a time, in a fixed order. Chosen: a block stays in a core's cache."""


@dataclass(frozen=True)
class LinearPrototypes:
    """Prototypes (Eq. 3, 4, 6) in any space, linear in the shots once edges are weighed (Eq. 5)."""

    table: PrototypeTable  # for membership, edges and their weights
    shrinkage: float  # for lambda; 0 where propagation did not pay

    def final(self, vectors: Floats, kept: Flags) -> Floats:
        """Prototypes (C, d) of the shots (n, d) that `kept` (n,) selects."""
        table, members = self.table, self.table.membership
        stays = kept[members.image_positions]
        images, classes = members.image_positions[stays], members.class_positions[stays]
        counts = np.bincount(classes, minlength=len(table.class_ids))
        initial = sums_by_class(vectors[images], classes, len(table.class_ids))
        initial /= np.maximum(counts, 1).astype(np.float32)[:, None]
        propagated, weight = self._propagated(initial, counts)
        keep = np.where(
            weight > 0, lambda_for(counts.astype(np.int64), self.shrinkage), np.float32(1)
        )[:, None]
        return (keep * initial + (1 - keep) * propagated).astype(np.float32)

    def _propagated(self, initial: Floats, counts: Integers) -> tuple[Floats, Floats]:
        """Weighted mean over the parents that have images (Eq. 4), and the sum of the weights."""
        parents, children = self.table.edges
        weights = np.where(counts[parents] > 0, self.table.edge_weights, 0).astype(np.float32)
        total = np.bincount(children, weights=weights, minlength=len(initial)).astype(np.float32)
        sums = sums_by_class(weights[:, None] * initial[parents], children, len(initial))
        return (sums / np.maximum(total, np.float32(1e-6))[:, None]).astype(np.float32), total


@dataclass(frozen=True)
class InitialPrototypes:
    """Where refinement starts."""

    prototypes: Floats  # (c, d) float32, propagated (Eq. 6) in the whitened space.
    # (c,) bool; such a class has no image, and stays where its ancestors put it
    is_zero_shot: Flags
    spread: float  # of zero-shot classes, see `linear_classifier`


@dataclass(frozen=True)
class Refined:
    """The outcome."""

    prototypes: Floats  # (c, d) float32
    classifier: LinearClassifier  # Eq. 2 over them, for whitened embeddings of length 1.
    chances: AnchorChances  # in which part each anchor belongs to each candidate; labels are held
    unlabelled: Floats  # (c,) float32, share of the prototype that unlabelled images make up
    coarse: Floats  # (c,) float32, share that coarse-labelled images make up
    start: Floats  # (c,) float32, share of the propagated prototype; the rest is the shots again


def refine(
    vectors: Floats,
    links: Links,
    labels: AnchorLabels,
    start: InitialPrototypes,
    *,
    ignored: Integers,
    imbalance: float = 0.0,
) -> Refined:
    """Run the rounds over whitened anchors.

    Args:
        vectors: (m, d) of length 1.
        ignored: positions of those that teach nothing.
        imbalance: of the classes, in [0, 1]. The larger it is, the less unlabelled images move
            prototypes, and the more class priors count, estimated by expectation maximisation
            (Saerens et al., 2002).
    """
    weights = np.full(len(vectors), UNLABELLED * np.exp(-DAMPING * imbalance), dtype=np.float32)
    weights[labels.positions] = 1
    weights[ignored] = 0
    chances = AnchorChances.held(labels, len(vectors))
    walk = _Walk(vectors[chances.free_positions], links.rows(chances.free_positions), labels)
    shots = _of_shots(chances, vectors, weights)
    prototypes, temperature = start.prototypes, temperature_for(links, vectors)
    classifier = _classifier(vectors, prototypes, start, temperature)
    for turn in range(ROUNDS):
        walk.take_steps(chances, classifier, starts_from_prototypes=turn == 0)
        free = weights[chances.free_positions]
        prototypes = _moved(walk.vectors, free, chances, shots, start)
        classifier = _classifier(vectors, prototypes, start, temperature)
        classifier = replace(
            classifier,
            offsets=classifier.offsets + _prior_logits(free > 0, chances.free, imbalance),
        )
    walk.take_steps(chances, classifier, starts_from_prototypes=False)
    return Refined(
        prototypes, classifier, chances, *_shares(weights, chances, labels, shots, start)
    )


def temperature_for(links: Links, vectors: Floats) -> float:
    """Temperature of Eq. 2 in the whitened space: a share of the mean cosine of links.

    Of each image its `JUDGED`-th link counts: the first may be a copy.
    """
    linked = np.flatnonzero(links.weights[:, JUDGED - 1] > 0)
    others = links.positions[linked, JUDGED - 1]
    alike = np.einsum("nd,nd->n", vectors[linked], vectors[others]) if len(linked) else np.zeros(1)
    return max(
        TEMPERATURE * float(alike.mean()), LEAST_TEMPERATURE / float(np.sqrt(vectors.shape[1]))
    )


def chances_of(classifier: LinearClassifier, vectors: Floats) -> Floats:
    """Probabilities (n, c) by the prototypes alone (Eq. 2)."""
    return softmax(classifier.logits(vectors))


def joined(by_prototype: Floats, links: Links, chances: AnchorChances) -> Floats:
    """One step: chances (n, c) by prototypes and by the linked anchors' chances."""
    found = chances.follow(links)
    found += (1 - links.followed) * by_prototype
    return found


@final
@dataclass(frozen=True)
class _Walk:
    """Steps along the links of the f anchors that are not shots."""

    vectors: Floats  # (f, d) float32
    links: Links  # of these to any anchor
    labels: AnchorLabels  # of anchors

    def take_steps(
        self, chances: AnchorChances, classifier: LinearClassifier, *, starts_from_prototypes: bool
    ) -> None:
        """Take `STEPS` steps from the current probabilities, or from the prototypes'."""
        rest = self._by_prototype(classifier)
        if starts_from_prototypes:
            chances.free[:] = rest
        self.labels.share_out(chances.free, chances.row_of)
        rest *= 1 - self.links.followed
        chances.add_shots(rest, self.links)
        among = _strongest_first(chances.links_to_free(self.links))
        after = np.empty_like(rest)
        for _ in range(STEPS):
            self._step(rest, among, chances.free, after)
            chances.free[:] = after
            self.labels.share_out(chances.free, chances.row_of)

    def _by_prototype(self, classifier: LinearClassifier) -> Floats:
        width = len(classifier.weights)
        return filled_in_blocks(
            (len(self.vectors), width),
            lambda rows: chances_of(classifier, self.vectors[rows]),
            max(rows_for(width), PRODUCT_ROWS),
        )

    @staticmethod
    def _step(rest: Floats, among: Links, before: Floats, after: Floats) -> None:
        def step(rows: slice) -> None:
            np.add(rest[rows], follow(among.rows(rows), before), out=after[rows])

        in_blocks(len(after), step, rows_for(after.shape[1]))


def rows_for(candidates: int) -> int:
    """Images smoothed at a time, each with so many chances."""
    return max(1, SMOOTH_CHANCES // max(candidates, 1))


def _strongest_first(links: Links) -> Links:
    """The same links without places that no image needs."""
    order = np.argsort(-links.weights, axis=1, kind="stable")
    order = order[:, : max(1, int((links.weights > 0).sum(axis=1).max(initial=0)))]
    return Links(
        np.take_along_axis(links.positions, order, axis=1),
        np.take_along_axis(links.weights, order, axis=1),
        np.take_along_axis(links.cosines, order, axis=1),
    )


def _classifier(
    vectors: Floats, prototypes: Floats, start: InitialPrototypes, temperature: float
) -> LinearClassifier:
    lengths = np.maximum(np.linalg.norm(prototypes, axis=1, keepdims=True), np.float32(1e-6))
    directions = (prototypes / lengths).astype(np.float32)
    if not start.is_zero_shot.any():
        return linear_classifier(directions, temperature)
    known = directions[~start.is_zero_shot]
    some = vectors[:: max(1, len(vectors) * len(known) // MOST_PRODUCTS)]
    apart = 2 - 2 * (some @ known.T).max(axis=1) if len(known) else np.full(1, 2.0)
    own = float(np.median(apart))
    zero_shot, spread = start.is_zero_shot, start.spread
    return linear_classifier(
        directions, temperature, is_zero_shot=zero_shot, spread=spread, own_distance=own
    )


@dataclass(frozen=True)
class _ShotSums:
    """What shots add to the prototypes."""

    vectors: Floats  # (c, d) sums
    weights: Floats  # (c,) sums


def _of_shots(chances: AnchorChances, vectors: Floats, weights: Floats) -> _ShotSums:
    shots = np.flatnonzero(chances.shot_of >= 0)
    classes, count = chances.shot_of[shots], chances.free.shape[1]
    sums = sums_by_class(weights[shots, None] * vectors[shots], classes, count)
    return _ShotSums(
        sums, np.bincount(classes, weights=weights[shots], minlength=count).astype(np.float32)
    )


def _moved(
    vectors: Floats,
    weights: Floats,
    chances: AnchorChances,
    shots: _ShotSums,
    start: InitialPrototypes,
) -> Floats:
    """Means by chances; `vectors` (f, d) and `weights` (f,) are of the anchors that are not shots.

    The share of a class's images that is uncertain, by their chances, belongs to other classes. It
    is taken out, with the mean of all images.
    """
    sums = _weighted_sums(chances.free, weights, vectors)
    mean = weights @ vectors / max(float(weights.sum()), 1e-12)
    certain = np.einsum("n,nc,nc->c", weights, chances.free, chances.free)
    sums -= (weights @ chances.free - certain)[:, None] * mean
    sums += shots.vectors + START * start.prototypes
    total = certain + shots.weights + START
    return np.where(start.is_zero_shot[:, None], start.prototypes, sums / total[:, None]).astype(
        np.float32
    )


def _prior_logits(counts: Flags, chances: Floats, imbalance: float) -> Floats:
    """Log priors (c,) to add to logits, by probabilities (f, c) of anchors that count (f,)."""
    width = chances.shape[1]
    if imbalance == 0 or not counts.any():
        return np.zeros(width, dtype=np.float32)
    sizes = chances[counts].sum(axis=0, dtype=np.float64)
    sizes += PSEUDO_COUNT * sizes.sum() / width
    return (CLASS_PRIORS * imbalance * np.log(width * sizes / sizes.sum())).astype(np.float32)


def _weighted_sums(parts: Floats, weights: Floats, vectors: Floats) -> Floats:
    """parts.T @ (weights * vectors) in blocks of rows, always added up in the same order."""
    sums = np.zeros(
        (-(-len(parts) // SUM_ROWS), parts.shape[1], vectors.shape[1]), dtype=np.float32
    )

    def add_up(rows: slice) -> None:
        sums[rows.start // SUM_ROWS] = parts[rows].T @ (weights[rows, None] * vectors[rows])

    in_blocks(len(parts), add_up, SUM_ROWS)
    return sums.sum(axis=0)


def _shares(
    weights: Floats,
    chances: AnchorChances,
    labels: AnchorLabels,
    shots: _ShotSums,
    start: InitialPrototypes,
) -> tuple[Floats, Floats, Floats]:
    """Shares of unlabelled and coarse-labelled images, and of the start; see `Refined`."""
    free = weights[chances.free_positions]
    total = free @ chances.free + shots.weights + START
    positions = labels.positions[~labels.is_shot]
    coarse = weights[positions] @ chances.free[chances.row_of[positions]]
    free[chances.row_of[positions]] = 0
    moves = ~start.is_zero_shot
    unlabelled_share = np.where(moves, (free @ chances.free) / total, 0)
    coarse_share = np.where(moves, coarse / total, 0)
    start_share = np.where(moves, START / total, 1)
    return (
        unlabelled_share.astype(np.float32),
        coarse_share.astype(np.float32),
        start_share.astype(np.float32),
    )
