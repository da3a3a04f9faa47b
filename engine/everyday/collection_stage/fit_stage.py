"""Fit the collection stage: refined prototypes, calibration, and a check on held-out shots."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from engine.arrays import Flags, Floats, Integers, no_integers
from engine.everyday.back_off import LEAST_PROBABILITY, Branches
from engine.everyday.classifier import CollectionFigures
from engine.everyday.collection_stage.anchor_labels import AnchorLabels, familiarity_of
from engine.everyday.collection_stage.basis import CollectionBasis
from engine.everyday.collection_stage.calibration import (
    Calibration,
    HeldOutChances,
    class_priors,
    expected_power,
    power_from,
    prior_power,
    smoothing_for,
)
from engine.everyday.collection_stage.class_balance import ClassBalance, class_balance_of
from engine.everyday.collection_stage.novelty import LabelledAnchors, Novelty, fit_novelty
from engine.everyday.collection_stage.refinement import (
    InitialPrototypes,
    LinearPrototypes,
    Refined,
    chances_of,
    joined,
    refine,
)
from engine.everyday.collection_stage.ridge import ridge_classifier
from engine.everyday.collection_stage.stage import CollectionStage
from engine.everyday.prototypical.classification import LinearClassifier
from engine.everyday.scores import HeldOutShots
from engine.everyday.shots import Shots

FOLDS = 4
"""At most so many shots of a class are held out, in turn, together with one of every other
class."""
ENOUGH_HELD_OUT = 200
"""No further turn once so many shots were held out, and of more classes so many take turns."""


@dataclass(frozen=True)
class StageInput:
    """Everything the stage starts from."""

    basis: CollectionBasis
    shots: Shots  # n of them
    # (n,) int64 of the shots among the anchors, -1 for those the basis does not know
    positions: Integers
    # For each label the places of the candidates that agree with it
    allowed: Mapping[int, Integers]
    recipe: LinearPrototypes  # of the propagated prototypes
    candidates: Integers  # (c,) int64 positions in the recipe's table
    spread: float  # of zero-shot classes
    ignored: Integers  # anchors that show none of the classes
    branches: Branches  # the classes above the c candidates
    taught: float  # expected share of the unlabelled images whose class has shots
    # The classifier without the stage, of prototypes (c, d)
    without: Callable[[Floats], LinearClassifier]

    @cached_property
    def classes(self) -> Mapping[int, Integers]:
        """Candidates of each label that counts as a class: one, or several not separated."""
        found, taken = {}, set[int]()
        for label, places in sorted(self.allowed.items(), key=lambda each: (len(each[1]), each[0])):
            if len(places) == 1 or (len(places) and taken.isdisjoint(places.tolist())):
                found[label] = places
                taken.update(places.tolist())
        return found


def fit_stage(given: StageInput) -> CollectionStage:
    """Refine the prototypes, and calibrate their probabilities."""
    labels = _labels(given)
    familiarity = familiarity_of(given.basis, labels)
    whole = _fit_all(given, labels, _Known(familiarity))
    if whole.balance.compared < 1 and whole.balance.is_doubtful(whole.agreement):
        whole = _fit_all(given, labels, _Known(familiarity, in_all_directions=True))
    known, balance, refined, agreement = whole.known, whole.balance, whole.refined, whole.agreement
    regression = whole.regression if balance.has_regression else None
    held_out = _hold_out(given, known)
    counts = labels.shot_counts()
    shots = float(np.exp(np.log(counts[counts > 0]).mean())) if counts.any() else 1.0
    expected = expected_power(
        similarity=float(given.basis.anchor_links.followed.mean()),
        shots=shots,
        familiarity=familiarity,
        imbalance=balance.imbalance,
        agreement=agreement,
        compared=balance.compared,
    )
    calibration = Calibration(
        power_from(held_out, expected, familiarity), smoothing_for(counts), given.branches
    )
    power = prior_power(shots=shots, imbalance=balance.imbalance, agreement=agreement)
    if power > 0:
        found = class_priors(calibration.apply(_unlabelled(given, refined)), power)
        calibration = replace(calibration, priors=found)
    hits, hits_without = held_out.hits, held_out.hits_without
    check = CollectionFigures(hits >= hits_without, len(held_out.classes), hits, hits_without)
    image_ids = given.shots.image_ids[held_out.shots]
    class_ids = given.recipe.table.class_ids[given.candidates[held_out.classes]]
    scores = HeldOutShots(image_ids, class_ids, held_out.claims(calibration.power))
    novelty = _novelty(given, labels, refined, familiarity)
    return CollectionStage(
        given.basis,
        labels,
        balance,
        regression,
        refined,
        familiarity,
        calibration,
        check,
        scores,
        novelty,
    )


@dataclass(frozen=True)
class _Found:
    """A fit to all labels."""

    known: "_Known"  # for fits without some of the shots
    balance: ClassBalance
    refined: Refined
    regression: LinearClassifier | None  # of the shots alone; None where nothing depends on it
    agreement: float  # of both


def _fit_all(given: StageInput, labels: AnchorLabels, known: "_Known") -> _Found:
    kept = np.ones(len(given.shots), dtype=bool)
    balance, refined = _refine(given, labels, kept, known)
    known = replace(known, sizes=_unlabelled(given, refined).sum(axis=0))
    if balance.with_sizes(known.sizes).imbalance > balance.imbalance:
        balance, refined = _refine(given, labels, kept, known)
    regression = _regression(given, kept) if balance.imbalance > 0 or balance.compared < 1 else None
    agreement = 1.0 if regression is None else _agreement(given, refined, regression)
    return _Found(known, balance, refined, regression, agreement)


def _unlabelled(given: StageInput, refined: Refined) -> Floats:
    """Chances (f, c) of the anchors without a label that show one of the classes."""
    counted = ~np.isin(refined.chances.free_positions, given.ignored)
    return refined.chances.free[counted]


def _agreement(given: StageInput, refined: Refined, regression: LinearClassifier) -> float:
    """Share of the unlabelled anchors that refined prototypes and the regression classify alike."""
    basis = given.basis
    free = refined.chances.free_positions
    weights = basis.unfold(regression.weights)
    constant = regression.offsets + regression.weights @ basis.whitening.mean
    lengths = np.maximum(basis.scales[basis.anchors[free]], LEAST_PROBABILITY)
    logits = (basis.vectors[free] @ weights.T) / lengths[:, None] + constant
    counted = ~np.isin(free, given.ignored)
    same = logits.argmax(axis=1) == refined.chances.free.argmax(axis=1)
    return float(same[counted].mean()) if counted.any() else 1.0


def _novelty(
    given: StageInput, labels: AnchorLabels, refined: Refined, familiarity: float
) -> Novelty | None:
    named, classes = np.unique(labels.labels, return_inverse=True)
    candidates_of = [labels.allowed[label] for label in named.tolist()]
    best = refined.chances.best()
    labelled = LabelledAnchors(labels.positions, classes, candidates_of, best, given.ignored)
    return fit_novelty(given.basis, labelled, familiarity)


def _labels(given: StageInput) -> AnchorLabels:
    usable = _usable(given)
    labels = given.shots.class_ids[usable]
    return AnchorLabels(given.positions[usable], labels, given.allowed, len(given.candidates))


def _usable(given: StageInput) -> Integers:
    """Positions of the labelled images that the stage learns from, among all labelled ones."""
    agrees = np.array(
        [len(given.allowed[label]) > 0 for label in given.shots.class_ids.tolist()], dtype=bool
    )
    return np.flatnonzero((given.positions >= 0) & agrees)


def _regression(given: StageInput, kept: Flags) -> LinearClassifier:
    """Fit a regression to the shots selected by `kept` (n,) alone: propagation merges a branch.

    Candidates that are known by a coarse label alone have equal parts of its class.
    """
    first_of = {label: places[0] for label, places in given.classes.items()}
    labels, twins = given.shots.class_ids, given.shots.twin_groups
    shots = np.flatnonzero(kept & np.isin(labels, list(first_of)))
    places = np.array([first_of[label] for label in labels[shots].tolist()], dtype=np.int64)
    has_copies = np.bincount(twins)[twins[shots]] > 1
    width = len(given.candidates)
    found = ridge_classifier(given.shots.embeddings[shots], places, width, has_copies=has_copies)
    for several in (places for places in given.classes.values() if len(places) > 1):
        found.weights[several] = found.weights[several[0]]
        found.offsets[several] = found.offsets[several[0]] - np.float32(np.log(len(several)))
    return found


@dataclass(frozen=True)
class _Known:
    """What is known of a collection before a fit without some of its shots."""

    familiarity: float  # of the shots with the collection
    sizes: Floats | None = None  # (c,) of the classes; None before the first fit
    in_all_directions: bool = False  # images are compared, however few the shots


def _refine(
    given: StageInput, labels: AnchorLabels, kept: Flags, known: _Known
) -> tuple[ClassBalance, Refined]:
    """Class balance and prototypes by the labelled images in `kept`; `labels` are theirs."""
    shots = np.flatnonzero(kept & np.isin(given.shots.class_ids, list(given.classes)))
    balance = class_balance_of(
        given.basis.whitening,
        given.shots.embeddings[shots],
        given.shots.class_ids[shots],
        familiarity=known.familiarity,
        taught=given.taught,
        in_all_directions=known.in_all_directions,
    )
    balance = balance.with_sizes(known.sizes)
    whitened = balance.whitening(given.basis.whitening).apply(given.shots.embeddings)
    prototypes = given.recipe.final(whitened, kept)[given.candidates]
    start = InitialPrototypes(
        prototypes, given.recipe.table.is_zero_shot[given.candidates], given.spread
    )
    vectors = balance.around(given.basis.vectors, given.basis.scales[given.basis.anchors])
    refined = refine(
        vectors,
        given.basis.anchor_links,
        labels,
        start,
        ignored=given.ignored,
        imbalance=balance.imbalance,
    )
    return balance, refined


def _hold_out(given: StageInput, known: _Known) -> HeldOutChances:
    """Hold out one shot of every class that has two, `FOLDS` times, and fit without them."""
    labels, twins = _labels(given), given.shots.twin_groups[_usable(given)]
    parts: list[HeldOutChances] = []
    for turn in range(FOLDS):
        fold = _fold(labels, twins, turn)
        if len(fold) and sum(len(part.classes) for part in parts) < ENOUGH_HELD_OUT:
            left_out = np.flatnonzero(np.isin(twins, twins[fold]))
            parts.append(_fit_without(given, labels, fold, left_out, known))
    width = len(given.candidates)
    if not parts:
        none = np.zeros((0, width), dtype=np.float32)
        return HeldOutChances(none, *2 * (no_integers(),), none, 0, given.branches)
    return HeldOutChances(
        np.concatenate([part.chances for part in parts]),
        np.concatenate([part.shots for part in parts]),
        np.concatenate([part.classes for part in parts]),
        np.concatenate([part.shot_counts for part in parts]),
        sum(part.hits_without for part in parts),
        given.branches,
    )


def _fold(labels: AnchorLabels, twins: Integers, turn: int) -> Integers:
    """Places of the turn-th shot of every class with two or more; of twins (l,) the first."""
    shots = np.flatnonzero(labels.is_shot)
    shots = shots[
        np.sort(
            np.unique(
                np.stack([labels.candidates[shots], twins[shots]]), axis=1, return_index=True
            )[1]
        )
    ]
    classes = labels.candidates[shots]
    order = np.argsort(classes, kind="stable")
    first = np.searchsorted(classes[order], np.arange(labels.width))
    counts = np.bincount(classes, minlength=labels.width)
    chosen = np.flatnonzero((counts > 1) & (counts > turn))
    if len(chosen) > ENOUGH_HELD_OUT:
        chosen = np.sort(np.random.default_rng(turn).choice(chosen, ENOUGH_HELD_OUT, replace=False))
    return shots[order[first[chosen] + turn]].astype(np.int64)


def _fit_without(
    given: StageInput, labels: AnchorLabels, fold: Integers, left_out: Integers, known: _Known
) -> HeldOutChances:
    """Probabilities of the labelled anchors at `fold`, fitted without them and their twins."""
    held = labels.positions[fold]
    classes = labels.candidates[fold]
    rest = labels.without(left_out)
    kept = ~np.isin(given.positions, labels.positions[left_out])
    balance, refined = _refine(given, rest, kept, known)
    links = given.basis.anchor_links.rows(held)
    vectors = balance.around(
        given.basis.vectors[held], given.basis.scales[given.basis.anchors[held]]
    )
    chances = joined(chances_of(refined.classifier, vectors), links, refined.chances)
    counts = np.broadcast_to(rest.shot_counts(), chances.shape)
    place_of = {position: place for place, position in enumerate(given.positions.tolist())}
    shots = np.array([place_of[position] for position in held.tolist()], dtype=np.int64)
    prototypes = given.recipe.final(given.shots.embeddings, kept)[given.candidates]
    rows = given.shots.as_classified[shots]
    hits_without = int(
        (chances_of(given.without(prototypes), rows).argmax(axis=1) == classes).sum()
    )
    if balance.has_regression:
        chances = balance.blend(chances, chances_of(_regression(given, kept), rows))
    return HeldOutChances(chances, shots, classes, counts, hits_without, given.branches)
