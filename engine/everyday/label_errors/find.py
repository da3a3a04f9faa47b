"""Label errors: labels that are improbable by neighbours and models fitted without them.

The labels themselves tell how many are wrong and how far the estimates can be trusted: an image
shows the class t with the estimated probability, its label is t with probability 1 - e, and with e
any other class. Temperature and e count by how probable they make all labels, and Bayes' rule then
gives the probability that each label is wrong. A hard image that is labelled rightly has few
classes that it is more like than its own, a gross error many, which counts as well.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import final

import numpy as np

from engine.arrays import Doubles, Flags, Floats, Integers
from engine.events import CancelToken
from engine.everyday.blocks import at_columns, one_thread_each, stop_if_requested, stopped_by
from engine.everyday.label_errors.labelled import JudgedLabels, LeaveOneOut, Neighbours
from engine.everyday.prototypical.classification import softmax
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS, UNKNOWN

LIKELY = 0.5  # from this probability on a label is called wrong
CONFIRMED = 0.1
"""How much less probably a confirmed label is wrong, where an equal image contradicts it."""
TEMPERATURES = np.geomspace(0.3, 6, 25)
"""Factors of the mean log-probabilities that are tried."""
NOISES = np.geomspace(0.002, 0.3, 12)  # shares of wrong labels that are tried
LEAST_WEIGHT = 0.01
"""Of the most probable fit's, for others to count. Chosen: all below are hardly seen."""
USUAL_NOISE = 0.02  # share of wrong labels that is expected before the labels are seen
USUAL_LABELS = 200
"""Labels that this expectation weighs as much as: few labels cannot tell noise from similarity."""
GROSS = 5.0
"""Logits by which a label is more probably wrong where all other classes are closer than where none
is. Measured on Grocery Store and cifar-half (decision 105)."""
TWIN = 0.9
"""Cosine from which two images are nearly the same. Measured: pairs of Grocery Store and cifar-half
from 0.85 on are all of one class, whose images have 0.3 on average."""
FEW = 2  # images of a label that cannot be judged by one another
STRONG = 0.9
"""Share of the nearest that must be of another class where a label has few images."""
LOOKED_AT = 10  # nearest images that count then
CLOSEST = 3  # of a class, whose likeness counts then
TOPS = 9  # most likely classes: one for each digit
BLOCK = 2048  # rows of one label that are judged at a time


@dataclass(frozen=True)
class LabelErrors:
    """How far each of n labels can be trusted."""

    images: JudgedLabels
    # (n,) float64, that the label is wrong: fine enough to order the surest ones
    probability: Doubles
    # (n,) bool: its class has enough labels, or its look-alikes are clear, or it was confirmed
    is_judged: Flags
    # (n,) int64, the class that the image seems to show, `NO_CLASS` without another one
    proposed: Integers
    score: Floats  # (n,) float32, probability of `proposed` without the label
    # (n,) int64, place of a nearly equal image with a contradicting label; -1 without
    twin: Integers
    neighbours: Neighbours
    noise: float  # share of wrong labels, as the labels themselves tell
    # (n, `TOPS`) int64, the most likely classes without the label, best first
    most_likely: Integers

    @cached_property
    def order(self) -> Integers:
        """(n,) the labels that are most probably wrong first."""
        return np.argsort(-self.probability, kind="stable").astype(np.int64)

    @property
    def suspects(self) -> Integers:
        """Those that are probably wrong, in that order."""
        return self.order[self.probability[self.order] >= LIKELY]

    def nearest_of(self, row: int, class_ids: frozenset[int], count: int) -> Integers:
        """(k,) the most similar images of one whose labels are among some classes."""
        others = np.flatnonzero(np.isin(self.images.labels, sorted(class_ids)))
        others = others[others != row]
        alike = self.images.vectors[others] @ self.images.vectors[row]
        return others[np.argsort(-alike, kind="stable")[:count]]


def find_label_errors(
    graph: CategoryGraph, images: JudgedLabels, cancel: CancelToken | None = None
) -> LabelErrors:
    """Judge each label by all the others.

    A label is not contradicted by one above or below it in the graph. Labels of few images, and
    "none of the classes", are only called wrong where look-alikes are clear; confirmed labels never
    are.

    Args:
        graph: of the classes; labels of others must not be among the images.
        images: at least their labels and vectors; `is_confirmed` empty for none.

    Raises:
        Cancelled: `cancel` was set.
    """
    with stopped_by(cancel):
        if len(images.class_ids) < 2:  # noqa: PLR2004 (nothing contradicts a single label)
            return _nothing(images)
        return _Judge(graph, images).judge()


def _nothing(images: JudgedLabels) -> LabelErrors:
    count = len(images)
    none = Neighbours(np.zeros((count, 0), dtype=np.int64), np.zeros((count, 0), dtype=np.float32))
    zeros, absent = np.zeros(count, dtype=np.float32), np.full(count, -1, dtype=np.int64)
    unknown = np.full(count, NO_CLASS, dtype=np.int64)
    nothing = np.zeros((count, 0), dtype=np.int64)
    never = np.zeros(count, dtype=bool)
    return LabelErrors(images, np.zeros(count), never, unknown, zeros, absent, none, 0.0, nothing)


@dataclass(frozen=True)
class _Fit:
    """A temperature and a share of wrong labels, and how probable both are."""

    temperature: float
    noise: float
    weight: float


@final
class _Judge:
    """Judges n labels of c classes."""

    def __init__(self, graph: CategoryGraph, images: JudgedLabels) -> None:
        self._graph, self._images = graph, images
        self._evidence = LeaveOneOut(images)
        self._column = {class_id: place for place, class_id in enumerate(images.class_ids.tolist())}
        self._agreeing = [
            self._places(self._kin(class_id)) for class_id in images.class_ids.tolist()
        ]

    @one_thread_each
    def judge(self) -> LabelErrors:
        images, count = self._images, len(self._images)
        fits = self._fitted()
        best = max(fits, key=lambda fit: fit.weight)
        wrong, score, closer = np.zeros(count), *np.zeros((2, count), dtype=np.float32)
        proposed = np.full(count, NO_CLASS, dtype=np.int64)
        most_likely = np.zeros((count, min(TOPS, len(images.class_ids))), dtype=np.int64)
        for column, rows in self._rows_of_labels():
            stop_if_requested()
            logits = self._evidence.logits(rows)
            wrong[rows] = self._wrong_by(fits, column, logits)
            chances = softmax(logits * np.float32(best.temperature))
            proposed[rows], score[rows] = self._proposals(column, chances)
            closer[rows] = self._evidence.closer_classes(rows, self._agreeing[column])
            most_likely[rows] = images.class_ids[_largest(chances, most_likely.shape[1])]
        probability = _with_gross_errors(wrong, closer)
        is_judged = (proposed != NO_CLASS) & ~self._cannot_tell(proposed)
        probability[~is_judged] = 0
        twin = self._twins()
        self._weigh_twins(twin, probability, proposed)
        is_judged |= probability >= LIKELY
        if len(images.is_confirmed):
            probability[images.is_confirmed] = 0
            is_judged |= images.is_confirmed  # by a person
        near, noise = self._evidence.neighbours, sum(fit.weight * fit.noise for fit in fits)
        return LabelErrors(
            images, probability, is_judged, proposed, score, twin, near, noise, most_likely
        )

    def _wrong_by(self, fits: list[_Fit], column: int, logits: Floats) -> Doubles:
        """Probability (r,) that a label is wrong, for images with this label and logits (r, c)."""
        wrong = np.zeros(len(logits))
        for temperature, same in groupby(fits, key=lambda fit: fit.temperature):
            stop_if_requested()
            chances = softmax(logits * np.float32(temperature))
            agreed = chances[:, self._agreeing[column]].sum(axis=1)
            for fit in same:
                wrong += fit.weight * _wrong(agreed, fit.noise, chances.shape[1])
        return wrong

    def _kin(self, class_id: int) -> frozenset[int]:
        """Labels that do not contradict one: itself, and all above and below."""
        if class_id == UNKNOWN:
            return frozenset({UNKNOWN})
        return (
            frozenset({class_id})
            | self._graph.ancestors(class_id)
            | self._graph.descendants(class_id)
        )

    def _at_or_below(self, class_id: int) -> frozenset[int]:
        only = frozenset({class_id})
        return only if class_id == UNKNOWN else only | self._graph.descendants(class_id)

    def _places(self, class_ids: frozenset[int]) -> Integers:
        return np.array(
            sorted(self._column[each] for each in class_ids if each in self._column), dtype=np.int64
        )

    def _rows_of_labels(self) -> Iterator[tuple[int, Integers]]:
        """Rows with the same label, a block at a time."""
        order = np.argsort(self._images.columns, kind="stable")
        stops = np.cumsum(self._images.counts)
        for column, (stop, count) in enumerate(
            zip(stops.tolist(), self._images.counts.tolist(), strict=True)
        ):
            for start in range(stop - count, stop, BLOCK):
                yield column, order[start : min(start + BLOCK, stop)]

    def _fitted(self) -> list[_Fit]:
        """What makes all labels most probable, and everything that is not much less probable."""
        rows = self._evidence.sample()
        logits = self._evidence.logits(rows)
        agreeing = [self._agreeing[column] for column in self._images.columns[rows].tolist()]
        places, columns = (
            np.repeat(np.arange(len(rows)), [len(each) for each in agreeing]),
            np.concatenate(agreeing),
        )
        tried, likelihoods, others = [], [], max(1, len(self._images.class_ids) - 1)
        for temperature in TEMPERATURES.tolist():
            stop_if_requested()
            chances = softmax(logits * np.float32(temperature))[places, columns]
            agreed = np.minimum(np.bincount(places, weights=chances, minlength=len(rows)), 1)
            for noise in NOISES.tolist():
                likelihood = float(
                    np.log((1 - noise) * agreed + noise * (1 - agreed) / others + 1e-30).mean()
                )
                likelihoods.append(len(self._images) * likelihood + _expected(noise))
                tried.append((temperature, noise))
        weights = np.exp(np.array(likelihoods) - max(likelihoods))
        weights[weights < LEAST_WEIGHT] = 0
        weights /= weights.sum()
        return [
            _Fit(*each, weight)
            for each, weight in zip(tried, weights.tolist(), strict=True)
            if weight
        ]

    def _proposals(self, column: int, chances: Floats) -> tuple[Integers, Floats]:
        """The alternative class of images (r,) with one label, and its probability."""
        against = chances.copy()
        against[:, self._agreeing[column]] = 0
        best, total = against.argmax(axis=1), against.sum(axis=1)
        share = at_columns(against, best)
        proposed = np.where(total > 0, self._images.class_ids[best], NO_CLASS)
        score = share.copy()
        for row in np.flatnonzero((share < LIKELY * total) & (1 - total < LIKELY)).tolist():
            proposed[row], score[row] = self._broader(
                column, int(best[row]), against[row], float(total[row])
            )
        return proposed, score

    def _broader(self, column: int, best: int, against: Floats, total: float) -> tuple[int, float]:
        """The deepest ancestor of the best class that most contradicting mass agrees on."""
        class_id = int(self._images.class_ids[best])
        if class_id == UNKNOWN:
            return class_id, float(against[best])
        label_kin = self._kin(int(self._images.class_ids[column]))
        above = self._graph.ancestors(class_id) - label_kin
        for each in sorted(above, key=lambda above: (-self._graph.level(above), above)):
            mass = float(against[self._places(self._at_or_below(each))].sum())
            if mass >= LIKELY * total:
                return each, mass
        return class_id, float(against[best])

    def _cannot_tell(self, proposed: Integers) -> Flags:
        """(n,) bool: labels of few images, or of no class, whose look-alikes are unclear."""
        images, near = self._images, self._evidence.neighbours
        is_few = (images.counts[images.columns] <= FEW) | (images.labels == UNKNOWN)
        typical: dict[int, float] = {}
        found = np.zeros(len(images), dtype=bool)
        for row in np.flatnonzero(is_few & (proposed != NO_CLASS)).tolist():
            wanted = int(proposed[row])
            inside = self._places(self._at_or_below(wanted))
            votes = np.isin(images.columns[near.positions[row, :LOOKED_AT]], inside)
            if wanted not in typical:
                typical[wanted] = self._typical_similarity(inside)
            is_clear = len(votes) > FEW and votes.mean() >= STRONG
            found[row] = not (is_clear and near.cosines[row, :CLOSEST].mean() >= typical[wanted])
        return found

    def _typical_similarity(self, columns: Integers) -> float:
        """Median cosine of images of some labels with their nearest; infinite with too few."""
        near, images = self._evidence.neighbours, self._images
        rows = np.flatnonzero(np.isin(images.columns, columns))
        is_own = np.isin(images.columns[near.positions[rows]], columns)
        has_enough = is_own.sum(axis=1) >= CLOSEST
        rank = np.cumsum(is_own, axis=1)
        means = np.where(is_own & (rank <= CLOSEST), near.cosines[rows], 0).sum(axis=1) / CLOSEST
        return float(np.median(means[has_enough])) if has_enough.any() else np.inf

    def _twins(self) -> Integers:
        """(n,) the most similar nearly equal image whose label contradicts; -1 without."""
        near, images = self._evidence.neighbours, self._images
        twin = np.full(len(images), -1, dtype=np.int64)
        if near.cosines.shape[1] == 0:
            return twin
        for row in np.flatnonzero(near.cosines[:, 0] >= TWIN).tolist():
            for other, cosine in zip(
                near.positions[row].tolist(), near.cosines[row].tolist(), strict=True
            ):
                if (
                    cosine >= TWIN
                    and images.columns[other] not in self._agreeing[images.columns[row]]
                ):
                    twin[row] = other
                    break
        return twin

    def _weigh_twins(self, twin: Integers, probability: Doubles, proposed: Integers) -> None:
        """Of two equal images with different labels, blame the one with more against it.

        Their probabilities are divided by their sum; in a tie the later image is taken.
        """
        before, images = probability + 1e-6, self._images
        if len(images.is_confirmed):
            before[images.is_confirmed] *= CONFIRMED
        for row in np.flatnonzero(twin >= 0).tolist():
            other = int(twin[row])
            if (before[row], row) < (before[other], other):
                continue
            probability[row] = max(probability[row], before[row] / (before[row] + before[other]))
            if before[row] < LIKELY:
                proposed[row] = images.labels[other]


def _largest(values: Floats, count: int) -> Integers:
    """Places (r, count) of the largest of each row of values (r, c), in falling order."""
    found = np.argpartition(-values, count - 1, axis=1)[:, :count]
    order = np.argsort(-np.take_along_axis(values, found, axis=1), axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1)


def _expected(noise: float) -> float:
    """Logarithm of the prior of a share of wrong labels (a beta distribution)."""
    return USUAL_LABELS * float(USUAL_NOISE * np.log(noise) + (1 - USUAL_NOISE) * np.log(1 - noise))


def _wrong(agreed: Floats, noise: float, classes: int) -> Doubles:
    """Probability (n,) that labels are wrong which have these probabilities (n,) (Bayes' rule)."""
    right = np.minimum(agreed.astype(np.float64), 1)
    by_error = noise * (1 - right) / max(1, classes - 1)
    found: Doubles = by_error / (by_error + (1 - noise) * right + 1e-30)
    return found


def _with_gross_errors(probability: Doubles, closer: Floats) -> Doubles:
    """Raise probabilities (n,) where more other classes (n,) are closer, the total kept."""
    share = np.clip(probability, 1e-12, 1 - 1e-12)
    logits = np.log(share / (1 - share)) + GROSS * (closer - (share @ closer) / share.sum())
    found: Doubles = 1 / (1 + np.exp(-logits))
    return found
