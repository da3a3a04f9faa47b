"""Novelty detection: which images show none of the classes, by their similarity to labelled ones.

An image's evidence is its cosine with the nearest labelled image and with the nearest class mean. A
random walk with restart spreads it over look-alikes.

The threshold is learned without a label of an unknown image, by a bootstrap: labels are drawn again
and again from among the images that look like each class, as many as the class has, and what all
but a few of the others reach is expected of any image of a known class. Images that stay below are
left out of the next turn, until no more do. So classes of several looks, and labels of dozens of
look-alikes, expect no more than they show (decision 104). Ours, not the paper's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Doubles, Flags, Floats, Integers
from engine.everyday.blocks import Embeddings, filled_in_blocks, in_blocks, stop_if_requested
from engine.everyday.collection_stage.basis import MOST_COMPARED, CollectionBasis
from engine.everyday.collection_stage.neighbours import (
    COSINE_ONE,
    SEARCH_ROWS,
    Links,
    all_cosines,
    links_between,
    nearest,
)

ROUNDS = 20
"""Rounds of the walk. Chosen: with `RESTART` more rounds change nothing that can be seen."""
RESTART = np.float32(0.1)
"""Share of an image's own evidence in a round; the rest is its look-alikes' (decision 104)."""
LONELINESS = 0.25
"""Power of an image's similarity to its look-alikes relative to theirs (decision 104)."""
MOST_LABELS = 4096  # with more labels than this not every one is compared with


QUANTILE = 0.045
"""Share of the images of known classes that may be called unknown (decision 104)."""
CAUTION = 0.4
"""Labels at which the quantile is half: with n labels it is n / (n + this) of it (decision 104)."""
DRAWS = 4  # times that labels are drawn in a turn
TURNS = 6  # at most so many turns; three or four are usual
CORE = 0.5
"""Share of a class's images, the most similar, that its labels are compared with."""
ELSEWHERE = 0.6
"""Power of the familiarity of the labels: those taken in another place are less similar."""
FEWEST_IMAGES = 30  # fewer unlabelled images than this are too few for an estimate
SETTLED = 1e-3  # change of the threshold from which on turns are over


@final
class LabelledNearness:
    """Similarity of m anchors to any labelled ones, by unit vectors (m, d) or cosines."""

    def __init__(self, vectors: Floats, links: Links, cosines: NDArray[np.int16] | None) -> None:
        self.vectors = vectors
        self._cosines = cosines
        self._links = links
        self._followed = links.followed[:, 0]
        self._shares = _shares(links)

    def spread(
        self, labelled: Integers, classes: Integers, ignored: Integers | None = None
    ) -> Floats:
        """Evidence (m,), in [0, 1] but for images that are opposites, spread over look-alikes.

        Args:
            labelled: (l,) positions, at least one.
            classes: (l,) their labels; any numbers.
            ignored: positions of those that show none of the classes.
        """
        own = self._evidence(labelled, classes)
        own[labelled] = 1
        if ignored is not None:
            own[ignored] = 0
        values, kept = own, RESTART * own
        is_linked = self._followed > 0
        for _round in range(ROUNDS):
            around = _gather(self._shares, self._links.positions, values)
            values = np.where(is_linked, kept + (1 - RESTART) * around, own)
        return values

    def similarity(self, spread: Floats, links: Links | None = None) -> Floats:
        """Similarity (n,) to the labelled images by `spread` (m,) and links (n, k)."""
        shares = self._shares if links is None else _shares(links)
        links = self._links if links is None else links
        around = _gather(shares, links.positions, spread)
        usual = _gather(shares, links.positions, self._followed)
        company = np.divide(links.followed[:, 0], usual, out=np.zeros_like(around), where=usual > 0)
        return (around * np.minimum(company, 1) ** LONELINESS).astype(np.float32)

    def _evidence(self, labelled: Integers, classes: Integers) -> Floats:
        """Mean (m,) of the cosines with the nearest labelled image and class mean."""
        if self._cosines is not None:
            cosines = self._cosines[labelled]
            nearest = cosines.max(axis=0).astype(np.float32)
            return (nearest + _class_means(cosines, classes).max(axis=0)) / (2 * COSINE_ONE)
        compared = labelled
        if len(labelled) > MOST_LABELS:
            chosen = np.sort(
                np.random.default_rng(0).choice(len(labelled), MOST_LABELS, replace=False)
            )
            compared, classes = labelled[chosen], classes[chosen]
        images = self.vectors[compared]
        means = _class_means(images, classes)

        def evidence_of(rows: slice) -> NDArray[np.floating]:
            block = self.vectors[rows]
            return ((block @ images.T).max(axis=1) + (block @ means.T).max(axis=1)) / 2

        return filled_in_blocks(len(self.vectors), evidence_of, SEARCH_ROWS)


@dataclass(frozen=True)
class Novelty:
    """Fitted to labels."""

    basis: CollectionBasis  # the collection
    nearness: LabelledNearness  # over its anchors
    spread: Floats  # (m,) float32 of the labels
    threshold: float  # images whose similarity is below it show none of the classes

    def similarity(self, links: Links) -> Floats:
        """Similarity (n,) of images with links (n, k) to anchors."""
        return self.nearness.similarity(self.spread, links)

    def similarity_at(self, rows: Integers) -> Floats:
        """Similarity (n,) of images of the collection, by their rows in the basis."""
        return filled_in_blocks(
            len(rows), lambda part: self.similarity(self.basis.links_at(rows[part]))
        )

    def similarity_of_new(self, embeddings: Embeddings) -> Floats:
        """Similarity (n,) of any images (n, d)."""
        return self.similarity(self.basis.links_of_new(self.basis.whitening.apply(embeddings)))


def _class_means(rows: Floats | NDArray[np.int16], classes: Integers) -> Floats:
    """Mean (u, n) of the rows (l, n) of each class."""
    places, place, counts = np.unique(classes, return_inverse=True, return_counts=True)
    means = np.empty((len(places), rows.shape[1]), dtype=np.float32)
    for mean, own in zip(
        means, np.split(np.argsort(place, kind="stable"), np.cumsum(counts)[:-1]), strict=True
    ):
        np.add.reduce(rows[own], axis=0, dtype=np.float32, out=mean)
    means /= counts[:, None].astype(np.float32)
    return means


def _shares(links: Links) -> Floats:
    """Weights (n, k) that sum to 1; zeros where an image has no link."""
    followed = links.followed
    return np.divide(links.weights, followed, out=np.zeros_like(links.weights), where=followed > 0)


def _gather(shares: Floats, positions: NDArray[np.int32], values: Floats) -> Floats:
    """Mean (n,) of linked anchors' values (m,)."""
    return np.einsum("nk,nk->n", shares, np.take(values, positions))


@dataclass(frozen=True)
class LabelledAnchors:
    """Labels and predictions of m anchors."""

    positions: Integers  # (l,) int64 of the labelled ones, at least one
    classes: Integers  # (l,) int64, their labels, as places among `candidates_of`
    candidates_of: Sequence[Integers]  # for each label the candidates (int64) that agree with it
    best: Integers  # (m,) int64, the most probable candidate of each anchor
    ignored: Integers  # int64 positions of anchors that show none of the classes

    def members(self, place: int, is_chosen: Flags) -> Integers:
        """Positions of the chosen anchors that look like a label's class."""
        order, starts = self._by_candidate
        own = np.concatenate(
            [order[starts[one] : starts[one + 1]] for one in self.candidates_of[place].tolist()]
        )
        return own[is_chosen[own]]

    def by_candidate(self, is_chosen: Flags) -> list[Integers]:
        """Positions of the chosen anchors that look like each candidate."""
        order, starts = self._by_candidate
        return [own[is_chosen[own]] for own in np.split(order, starts[1:])]

    def at(self, anchors: Integers) -> "LabelledAnchors":
        """Those of some anchors, ascending."""
        place = np.full(len(self.best), -1, dtype=np.int64)
        place[anchors] = np.arange(len(anchors))
        kept, ignored = place[self.positions], place[self.ignored]
        return LabelledAnchors(
            kept[kept >= 0],
            self.classes[kept >= 0],
            self.candidates_of,
            self.best[anchors],
            ignored[ignored >= 0],
        )

    @cached_property
    def _by_candidate(self) -> tuple[Integers, Integers]:
        """The anchors by their most probable candidate, and where each candidate's begin."""
        width = max(int(self.best.max()), *(int(own.max()) for own in self.candidates_of)) + 2
        order = np.argsort(self.best, kind="stable")
        return order, np.searchsorted(self.best[order], np.arange(width))


def fit_novelty(
    basis: CollectionBasis, labelled: LabelledAnchors, familiarity: float
) -> Novelty | None:
    """Fit to labels of this familiarity with the collection, in (0, 1]; or None."""
    if len(labelled.positions) == 0:
        return None
    nearness = LabelledNearness(basis.vectors, basis.anchor_links, basis.cosines)
    spread = nearness.spread(labelled.positions, labelled.classes, labelled.ignored)
    if basis.cosines is None:
        threshold = _sampled_threshold(basis.vectors, labelled, familiarity)
    else:
        threshold = novelty_threshold(nearness, labelled, nearness.similarity(spread), familiarity)
    return None if threshold is None else Novelty(basis, nearness, spread, threshold)


def _sampled_threshold(
    vectors: Floats, labelled: LabelledAnchors, familiarity: float
) -> float | None:
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
    nearness: LabelledNearness, labelled: LabelledAnchors, similarity: Floats, familiarity: float
) -> float | None:
    """Similarity from which on an image shows one of the classes; None with too little data.

    Args:
        similarity: (m,) of the anchors to the labels.
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
        reached = _reached(
            nearness, labelled, counts, is_free & (similarity >= threshold), generator
        )
        if reached is None:
            return None
        before, threshold = threshold, min(float(np.quantile(drawn, quantile)) for drawn in reached)
        if abs(before - threshold) < SETTLED:
            break
    return threshold * familiarity**ELSEWHERE


def _reached(
    nearness: LabelledNearness,
    labelled: LabelledAnchors,
    counts: Doubles,
    is_usual: Flags,
    generator: np.random.Generator,
) -> list[Floats] | None:
    """Similarity of the known images to labels drawn from them, by draw; or None."""
    members = [
        np.concatenate(
            [labelled.members(place, is_usual), labelled.positions[labelled.classes == place]]
        )
        for place in range(len(counts))
    ]
    draws = [
        [_drawn(own, count, generator) for own, count in zip(members, counts.tolist(), strict=True)]
        for _draw in range(DRAWS)
    ]
    if any(sum(map(len, drawn)) == 0 for drawn in draws):
        return None
    found: list[Floats] = [np.empty(0, dtype=np.float32)] * DRAWS

    def spread_draws(block: slice) -> None:
        for draw in range(DRAWS)[block]:
            positions = np.concatenate(draws[draw])
            spread = nearness.spread(
                positions, np.repeat(np.arange(len(members)), [*map(len, draws[draw])])
            )
            is_scored = is_usual.copy()
            is_scored[labelled.positions] = True
            is_scored[positions] = False
            found[draw] = nearness.similarity(spread)[is_scored]

    in_blocks(DRAWS, spread_draws, 1)
    return found


def _drawn(members: Integers, count: float, generator: np.random.Generator) -> Integers:
    """Draw so many members, at most half; a fraction is the probability of one more."""
    whole = int(count) + int(generator.random() < count % 1)
    return generator.choice(members, min(whole, len(members) // 2), replace=False)


def _core(labelled: LabelledAnchors, similarity: Floats, is_free: Flags) -> Flags:
    """(m,) bool: the most similar of the images that look like each candidate."""
    is_core = np.zeros(len(similarity), dtype=bool)
    for members in labelled.by_candidate(is_free):
        if len(members):
            is_core[members[similarity[members] >= np.quantile(similarity[members], 1 - CORE)]] = (
                True
            )
    return is_core


def _effective_counts(vectors: Floats, labelled: LabelledAnchors, is_core: Flags) -> Doubles:
    """Effective number of labels of each class, n / (1 + (n - 1) r) (Kish's design effect).

    r is how much more similar labelled images are to one another than the class's images are.
    """
    counts = np.bincount(labelled.classes, minlength=len(labelled.candidates_of)).astype(np.float64)
    for place in np.flatnonzero(counts > 1).tolist():
        stop_if_requested()
        core = labelled.members(place, is_core)
        if len(core) < 2:  # noqa: PLR2004 (one image is like no other)
            continue
        usual = _mean_cosine(vectors[core])
        alike = _mean_cosine(vectors[labelled.positions[labelled.classes == place]])
        excess = max(0.0, (alike - usual) / max(1 - usual, 1e-6))
        counts[place] /= 1 + (counts[place] - 1) * excess
    return counts


def _mean_cosine(vectors: Floats) -> float:
    """Mean cosine of n > 1 vectors (n, d) of length 1 with one another."""
    total = vectors.sum(axis=0, dtype=np.float64)
    count = len(vectors)
    return float((total @ total - count) / (count * (count - 1)))
