"""The probability of classes without examples.

A model knows the classes with examples alone, and images of any other class look to it like one of
these. How many such images there are is expected from the graph: if classes are of about one size,
as many as their share of the leaves. Which ones they are shows in the collection: those that are
least similar to the labelled images. So the odds that the class of an image has examples grow with
its similarity, and their mean over the unlabelled images is the expected share (decision 104).
Ours, not the paper's.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from engine.arrays import Flags, Floats, Integers
from engine.everyday.back_off import LEAST_PROBABILITY, Branches
from engine.everyday.shots import Shots
from engine.graph.arrays import roll_up_matrix
from engine.graph.category_graph import CategoryGraph

EVIDENCE = 3.5
"""Power of the similarity in the odds that the class of an image has examples (decision 104)."""
CONCENTRATION = 2.0
"""How even class sizes are assumed to be: the share of k classes of n is uncertain as by a beta
distribution whose parameters are this times k and n - k. Chosen: a class of three times the mean is
no surprise."""
QUANTILES = (-1.28, -0.52, 0.0, 0.52, 1.28)
"""Quantiles, in standard deviations, of five equally likely parts of a normal distribution."""
USUAL_WEIGHT = 0.1
"""Weight of the usual probability of a branch relative to an image's (decision 104)."""
USUAL_WEIGHT_OF_FEW = 5.0
"""Added to it, divided by the number of classes with examples: with one, all images look alike."""
LEAST_BRANCH = np.float32(0.03)
"""Added to both: any image may be taken for a branch with a single example class by chance."""
LEAST_SIMILARITY = np.float32(1e-3)
"""Of which a logarithm is taken. Chosen: below that of any image."""
MOST_KNOWN = np.float32(1 - 1e-6)
"""Largest probability. Chosen: so that logarithms of the rest exist."""
DOUBT = 4.5
"""Images that n labels are weighed against, of which the expected share is of classes without
examples: no image is of one with examples with a probability above n / (n + this times the share).
Chosen: decision 104."""
HALVINGS = 30
"""Of an interval of log odds. Chosen: what is left of it changes no probability."""
LEAST_LEFT = 0.3
"""Share of a class's images that are unlabelled at least. Chosen: classes are uneven."""
CHECKS = 4.0
"""Random images that the count of leaves weighs as much as. Chosen: twenty of them decide."""
FEWEST_CLASSES = 2  # no collection is taken to be of one class alone


@dataclass(frozen=True)
class ClassesSeen:
    """What is known of the leaves of a graph.

    Attributes:
        seen, unseen: leaves with and without examples.
        share: share in [0, 1] of the unlabelled images that is expected to be of unseen leaves.
    """

    seen: int
    unseen: int
    share: float

    def checked(self, sample: "RandomSample", *, unlabelled: float) -> "ClassesSeen":
        """The same with a share that is corrected by a random sample.

        Args:
            unlabelled: share of all images without a label: the sample represents what was
                unlabelled before.
        """
        images, new = sample.images * unlabelled, sample.new * unlabelled
        return replace(self, share=(CHECKS * self.share + new) / (CHECKS + images))

    @property
    def log_odds(self) -> Floats:
        """(q,) equally likely log odds of the share of images whose classes have examples."""
        share = min(max(1 - self.share, 1e-4), 1 - 1e-4)
        spread = np.sqrt((1 / max(self.seen, 1) + 1 / max(self.unseen, 1)) / CONCENTRATION)
        return (np.log(share / (1 - share)) + spread * np.array(QUANTILES)).astype(np.float32)


@dataclass(frozen=True)
class RandomSample:
    """Images that were labelled after they had been drawn at random.

    Attributes:
        images: how many.
        new: of them, those of a class without any other example, or of none of the classes. Their
            share is expected of the next image, too (Good, Biometrika, 1953).
    """

    images: int
    new: int

    @staticmethod
    def of(shots: Shots, ignored: Integers, checked: Sequence[int]) -> "RandomSample":
        """Count images: `checked` ones among shots, and among those of none of the classes."""
        classes, counts = np.unique(shots.class_ids, return_counts=True)
        drawn = shots.class_ids[np.isin(shots.image_ids, checked)]
        none = int(np.isin(ignored, checked).sum())
        alone = int((counts[np.searchsorted(classes, drawn)] == 1).sum())
        return RandomSample(len(drawn) + none, alone + none)


def seen_classes(graph: CategoryGraph, labels: Collection[int]) -> frozenset[int]:
    """Labelled classes of the graph and all below; of nested ones only what is below the deepest.

    An image that is labelled "dog" is an example of each breed where no breed has a label, and of
    none where one has.
    """
    known = {label for label in labels if label in graph}
    above = set[int]().union(*map(graph.ancestors, known))
    deepest = known - above
    return frozenset(deepest.union(*map(graph.descendants, deepest)))


def classes_seen(
    graph: CategoryGraph,
    seen: Collection[int],
    labels: Mapping[int, int],
    images: int,
) -> ClassesSeen:
    """Count leaves, and expect how many images they have, as if all had equally many.

    Args:
        seen: see `seen_classes`.
        labels: labelled images of each class, that many less are unlabelled.
        images: in all, labelled or not.
    """
    leaves = graph.leaves()
    count = sum(leaf in seen for leaf in leaves)
    unseen = max(len(leaves), FEWEST_CLASSES) - count
    usual = max(images, 1) / (count + unseen)
    own = {class_id: usual * _leaves_at(graph, class_id) for class_id in labels if class_id in seen}
    left = sum(max(size - labels[class_id], LEAST_LEFT * size) for class_id, size in own.items())
    return ClassesSeen(count, unseen, unseen * usual / (unseen * usual + left))


@final
@dataclass(frozen=True)
class UnseenClasses:
    """How the probability of each image is divided between classes with examples and others.

    Attributes:
        is_unseen: (c,) bool, candidates without examples, which only have ancestors' prototypes.
        leaves: (c,) float32, the leaves of the graph that are at or below each candidate.
        outside: leaves without examples that are below no candidate.
        branches: classes above the candidates.
        usual: (k,) float32, share of the candidates with examples below each of the k branches.
        offsets: (q,) float32 log odds of an image whose similarity is 1; equally likely ones.
        evidence: power of the similarity in the odds; 0 where it is not known.
        most_known: largest probability that an image's class has examples.
        counts: what the share of the images of such classes is expected from.
    """

    is_unseen: Flags
    leaves: Floats
    outside: float
    branches: Branches
    usual: Floats
    offsets: Floats
    evidence: float
    most_known: float
    counts: ClassesSeen

    def divide(self, probabilities: Floats, similarity: Floats) -> Floats:
        """Divide probabilities (n, c) between classes with and without examples.

        They sum to less than 1.

        What is left is of classes that are not candidates. A candidate without examples gets its
        share by its number of leaves, times how likely its branches are.

        Args:
            similarity: (n,) to the labelled images, see `Scores`.
        """
        seen = np.where(self.is_unseen, np.float32(0), probabilities)
        seen /= np.maximum(seen.sum(axis=1, keepdims=True), LEAST_PROBABILITY)
        known = self.known(similarity)[:, None]
        divided = seen * known
        places = np.flatnonzero(self.is_unseen)
        if len(places):
            weights = self._lift(seen)[:, places] * self.leaves[places]
            weights /= weights.sum(axis=1, keepdims=True) + np.float32(self.outside)
            divided[:, places] = (1 - known) * weights
        return divided

    def known(self, similarity: Floats) -> Floats:
        """Probability (n,) float32 that an image's class has examples, by similarity (n,).

        See `Scores`.
        """
        odds = np.zeros(len(similarity), dtype=np.float32)
        if self.evidence:
            odds = np.float32(self.evidence) * _logs(similarity)
        known = (1 / (1 + np.exp(-odds[:, None] - self.offsets))).mean(axis=1)
        return np.clip(known, 1 - MOST_KNOWN, np.float32(self.most_known)).astype(np.float32)

    @property
    def usual_weight(self) -> float:
        """Weight of the usual probability of a branch relative to the one that an image shows."""
        return USUAL_WEIGHT + USUAL_WEIGHT_OF_FEW / max(1, int(np.count_nonzero(~self.is_unseen)))

    def _lift(self, seen: Floats) -> Floats:
        """Probability (n, c) of each candidate's branches by taught classes, over the usual."""
        ratios = seen @ self.branches.roll_up
        ratios += np.float32(self.usual_weight) * self.usual + LEAST_BRANCH
        ratios /= np.float32(1 + self.usual_weight) * self.usual + LEAST_BRANCH
        return self.branches.factors(ratios, np.float32(1))


def unseen_classes(
    graph: CategoryGraph,
    candidate_ids: Integers,
    seen: frozenset[int],
    counts: ClassesSeen,
    similarity: Floats | None,
    *,
    labels: int,
) -> UnseenClasses | None:
    """Fit to unlabelled images; None where all classes have examples.

    Args:
        seen: see `seen_classes`.
        similarity: (n,) of unlabelled images to the labelled ones; None where it is not known.
        labels: labelled images in all.
    """
    if not counts.unseen:
        return None
    candidates = candidate_ids.tolist()
    is_unseen = np.array([candidate not in seen for candidate in candidates], dtype=bool)
    leaves = np.array([_leaves_at(graph, each) for each in candidates], dtype=np.float32)
    above = sorted(set[int]().union(*map(graph.ancestors, candidates)))
    branches = Branches.telling(roll_up_matrix(graph, above, candidates))
    usual = branches.roll_up[~is_unseen].sum(axis=0) / max(1, np.count_nonzero(~is_unseen))
    outside = max(0.0, counts.unseen - float(leaves[is_unseen].sum()))
    offsets, evidence = counts.log_odds, 0.0
    if similarity is not None and len(similarity):
        offsets, evidence = _offsets_for(EVIDENCE * _logs(similarity), offsets), EVIDENCE
    most = min(float(MOST_KNOWN), labels / (labels + DOUBT * counts.share))
    usual = usual.astype(np.float32)
    return UnseenClasses(
        is_unseen, leaves, outside, branches, usual, offsets, evidence, most, counts
    )


def _leaves_at(graph: CategoryGraph, class_id: int) -> int:
    return len(graph.leaves_below(class_id)) if graph.children(class_id) else 1


def _logs(similarity: Floats) -> Floats:
    """Logarithms (n,) of similarities (n,)."""
    return np.log(np.maximum(np.nan_to_num(similarity), LEAST_SIMILARITY))


def _offsets_for(evidence: Floats, log_odds: Floats) -> Floats:
    """Offsets (q,) for evidence (n,) whose mean probabilities are those of the log odds (q,)."""
    wanted = 1 / (1 + np.exp(-log_odds.astype(np.float64)))
    low, high = log_odds - float(evidence.max()) - 1, log_odds - float(evidence.min()) + 1
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        is_above = (1 / (1 + np.exp(-evidence[:, None] - middle))).mean(axis=0) > wanted
        low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
    return ((low + high) / 2).astype(np.float32)
