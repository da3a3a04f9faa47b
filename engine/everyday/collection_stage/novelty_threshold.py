"""From what similarity on an image shows one of the classes, learned without a label of an image that shows none.

Labels are drawn again and again from among the images that look like each class, as many as the class has, and the
similarity of all others to them is measured (a bootstrap): what all but a few reach, in the draw that expects least, is
expected of any image of a known class. Images that stay below are left out of the next turn, until no more do
(decision 73). It needs no second label of a class, and classes of several looks and labels that were given to dozens
of look-alikes at once expect no more than they show.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.blocks import in_blocks, stop_if_asked
from engine.everyday.collection_stage.basis import MOST_COMPARED, CollectionBasis
from engine.everyday.collection_stage.neighbours import all_cosines, links_between, nearest
from engine.everyday.collection_stage.novelty import LabelledNearness, Novelty

QUANTILE: Final = 0.045
"""Share of the images of known classes that may be called unknown (decision 73)."""
CAUTION: Final = 0.4
"""The share is smaller where classes have few labels: of n it is n / (n + this) of it (decision 73)."""
DRAWS: Final = 4
"""Times that labels are drawn in a turn."""
TURNS: Final = 6
"""At most so many turns; three or four are usual."""
CORE: Final = 0.5
"""Share of a class's images, the likest, that its labels are compared with to see how much alike they are."""
ELSEWHERE: Final = 0.6
"""Power of the familiarity of the labels: those taken elsewhere are less like the collection than its own images."""
FEWEST_IMAGES: Final = 30
"""Fewer unlabelled images than this say nothing about what is usual."""
SETTLED: Final = 1e-3
"""Change of the threshold from which on turns are over."""

Matrix = NDArray[np.float32]
Positions = NDArray[np.int64]


@dataclass(frozen=True)
class LabelledAnchors:
    """What labels and predictions say of m anchors."""

    positions: Positions  # (l,) int64 of the labelled ones, at least one
    classes: NDArray[np.int64]  # (l,) int64, their labels, as places among `candidates_of`
    candidates_of: Sequence[NDArray[np.int64]]  # for each label the candidates (int64) that agree with it
    best: NDArray[np.int64]  # (m,) int64, the likeliest candidate of each anchor
    ignored: Positions  # int64 positions of anchors that show none of the classes

    def members(self, place: int, is_chosen: NDArray[np.bool_]) -> Positions:
        """Positions of the chosen anchors that look like a label's class."""
        order, starts = self._by_candidate
        own = np.concatenate([order[starts[one] : starts[one + 1]] for one in self.candidates_of[place].tolist()])
        return own[is_chosen[own]]

    def by_candidate(self, is_chosen: NDArray[np.bool_]) -> list[Positions]:
        """Positions of the chosen anchors that look like each candidate."""
        order, starts = self._by_candidate
        return [own[is_chosen[own]] for own in np.split(order, starts[1:])]

    def at(self, anchors: Positions) -> "LabelledAnchors":
        """What is said of some anchors, ascending."""
        place = np.full(len(self.best), -1, dtype=np.int64)
        place[anchors] = np.arange(len(anchors))
        kept, ignored = place[self.positions], place[self.ignored]
        return LabelledAnchors(
            kept[kept >= 0], self.classes[kept >= 0], self.candidates_of, self.best[anchors], ignored[ignored >= 0]
        )

    @cached_property
    def _by_candidate(self) -> tuple[Positions, Positions]:
        """The anchors by their likeliest candidate, and where each candidate's begin."""
        width = max(int(self.best.max()), *(int(own.max()) for own in self.candidates_of)) + 2
        order = np.argsort(self.best, kind="stable")
        return order, np.searchsorted(self.best[order], np.arange(width))


def fit_novelty(basis: CollectionBasis, labelled: LabelledAnchors, familiarity: float) -> Novelty | None:
    """Fit to labels; None where nothing can be said.

    Args:
        basis: the collection and its anchors.
        labelled: their labels and predictions.
        familiarity: of the labels with the collection, in (0, 1].
    """
    if len(labelled.positions) == 0:
        return None
    nearness = LabelledNearness(basis.vectors, basis.anchor_links, basis.cosines)
    spread = nearness.spread(labelled.positions, labelled.classes, labelled.ignored)
    if basis.cosines is None:
        threshold = _sampled_threshold(basis.vectors, labelled, familiarity)
    else:
        threshold = novelty_threshold(nearness, labelled, nearness.similarity(spread), familiarity)
    return None if threshold is None else Novelty(basis, nearness, spread, threshold)


def _sampled_threshold(vectors: Matrix, labelled: LabelledAnchors, familiarity: float) -> float | None:
    """The threshold of a part of many anchors, as if there were no others."""
    part = np.sort(np.random.default_rng(0).choice(len(vectors), MOST_COMPARED, replace=False))
    rows, fewer = vectors[part], labelled.at(part)
    if len(fewer.positions) == 0:
        return None
    links = links_between(nearest(rows, rows, own=np.arange(len(rows))))
    nearness = LabelledNearness(rows, links, all_cosines(rows, rows))
    similarity = nearness.similarity(nearness.spread(fewer.positions, fewer.classes, fewer.ignored))
    return novelty_threshold(nearness, fewer, similarity, familiarity)


def novelty_threshold(
    nearness: LabelledNearness, labelled: LabelledAnchors, similarity: Matrix, familiarity: float
) -> float | None:
    """Similarity from which on an image shows one of the classes; None where too little is there to tell.

    Args:
        nearness: over the anchors.
        labelled: their labels and predictions.
        similarity: (m,) to the labels.
        familiarity: of the labels with the collection, in (0, 1].
    """
    is_free = np.ones(len(similarity), dtype=bool)
    is_free[labelled.positions] = False
    is_free[labelled.ignored] = False
    if int(is_free.sum()) < FEWEST_IMAGES:
        return None
    counts = _effective_counts(nearness.vectors, labelled, _core(labelled, similarity, is_free))
    shots = float(counts[counts > 0].mean())
    quantile = QUANTILE * shots / (shots + CAUTION)
    generator = np.random.default_rng(0)
    threshold = float(similarity.min())
    for _turn in range(TURNS):
        reached = _reached(nearness, labelled, counts, is_free & (similarity >= threshold), generator)
        if reached is None:
            return None
        before, threshold = threshold, min(float(np.quantile(drawn, quantile)) for drawn in reached)
        if abs(before - threshold) < SETTLED:
            break
    return threshold * familiarity**ELSEWHERE


def _reached(
    nearness: LabelledNearness,
    labelled: LabelledAnchors,
    counts: NDArray[np.float64],
    is_usual: NDArray[np.bool_],
    generator: np.random.Generator,
) -> list[Matrix] | None:
    """Similarity of the usual images to labels drawn from them, draw by draw; None where classes are too small."""
    members = [
        np.concatenate([labelled.members(place, is_usual), labelled.positions[labelled.classes == place]])
        for place in range(len(counts))
    ]
    draws = [
        [_drawn(own, count, generator) for own, count in zip(members, counts.tolist(), strict=True)]
        for _draw in range(DRAWS)
    ]
    if any(sum(map(len, drawn)) == 0 for drawn in draws):
        return None
    found: list[Matrix] = [np.empty(0, dtype=np.float32)] * DRAWS

    def work(block: slice) -> None:
        for draw in range(DRAWS)[block]:
            positions = np.concatenate(draws[draw])
            spread = nearness.spread(positions, np.repeat(np.arange(len(members)), [*map(len, draws[draw])]))
            is_scored = is_usual.copy()
            is_scored[labelled.positions] = True
            is_scored[positions] = False
            found[draw] = nearness.similarity(spread)[is_scored]

    in_blocks(DRAWS, work, 1)
    return found


def _drawn(members: Positions, count: float, generator: np.random.Generator) -> Positions:
    """So many of the members, at most half of them; the fraction of the count is the chance of one more."""
    whole = int(count) + int(generator.random() < count % 1)
    return generator.choice(members, min(whole, len(members) // 2), replace=False)


def _core(labelled: LabelledAnchors, similarity: Matrix, is_free: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(m,) bool: the likest of the images that look like each candidate."""
    is_core = np.zeros(len(similarity), dtype=bool)
    for members in labelled.by_candidate(is_free):
        if len(members):
            is_core[members[similarity[members] >= np.quantile(similarity[members], 1 - CORE)]] = True
    return is_core


def _effective_counts(vectors: Matrix, labelled: LabelledAnchors, is_core: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Effective number of labels of each class: dozens of look-alikes say no more than a few images do.

    n / (1 + (n - 1) r), where r is how much more similar its labelled images are to one another than any of its images
    (Kish's design effect of a clustered sample).
    """
    counts = np.bincount(labelled.classes, minlength=len(labelled.candidates_of)).astype(np.float64)
    for place in np.flatnonzero(counts > 1).tolist():
        stop_if_asked()
        core = labelled.members(place, is_core)
        if len(core) < 2:  # noqa: PLR2004 (one image is like no other)
            continue
        usual = _mean_cosine(vectors[core])
        alike = _mean_cosine(vectors[labelled.positions[labelled.classes == place]])
        excess = max(0.0, (alike - usual) / max(1 - usual, 1e-6))
        counts[place] /= 1 + (counts[place] - 1) * excess
    return counts


def _mean_cosine(vectors: Matrix) -> float:
    """Mean cosine of n > 1 vectors (n, d) of length 1 with one another."""
    total = vectors.sum(axis=0, dtype=np.float64)
    count = len(vectors)
    return float((total @ total - count) / (count * (count - 1)))
