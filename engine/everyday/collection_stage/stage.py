"""The collection stage: what the unlabelled and coarse-labelled images add to the paper's model.

A named step on top of Eq. 2 to 6 that can be switched off. It is checked by shots held out, and drops itself where it
would do worse on them than the model without it. Ours, not the paper's; the paper's experiments never use it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from engine.everyday.back_off import BackOff
from engine.everyday.blocks import Embeddings, Flags, Floats, Integers, block_of, factor_of, in_blocks, to_floats
from engine.everyday.collection_stage.anchor_labels import AnchorLabels, familiarity_of
from engine.everyday.collection_stage.basis import CollectionBasis
from engine.everyday.collection_stage.calibration import (
    PRIORS,
    Branches,
    Calibration,
    HeldOutChances,
    class_priors,
    expected_power,
    power_from,
    smoothing_for,
)
from engine.everyday.collection_stage.class_balance import ClassBalance, class_balance_of
from engine.everyday.collection_stage.neighbours import Links, links_to
from engine.everyday.collection_stage.novelty import LabelledAnchors, Novelty, fit_novelty
from engine.everyday.collection_stage.refinement import (
    InitialPrototypes,
    LinearPrototypes,
    Refined,
    chances_of,
    joined,
    refine,
)
from engine.everyday.prototypical.classification import LinearClassifier, softmax
from engine.everyday.scores import HeldOutShots, Scores
from engine.everyday.shots import Shots

FOLDS: Final = 4  # at most so many shots of a class are held out, one at a time, together with one of every other class
ENOUGH_HELD_OUT: Final = 200  # no further turn once so many shots were held out, and of more classes so many take turns
PASS_ROWS: Final = 256  # images classified at a time by a core. Chosen: their links and chances stay in its cache.
ELSEWHERE: Final = 0.8
"""Shots that are less familiar than this were taken elsewhere: their like is missing in the collection."""
ENOUGH_TO_TELL: Final = 10  # fewer shots may be odd by chance

Rows = slice | Integers


@dataclass(frozen=True)
class StageInput:
    """Everything the stage starts from."""

    basis: CollectionBasis
    shots: Shots  # n of them
    positions: Integers  # (n,) int64 of the shots among the anchors, -1 for those the basis does not know
    allowed: Mapping[int, Integers]  # for each label the places of the candidates that agree with it
    recipe: LinearPrototypes  # of the propagated prototypes
    candidates: Integers  # (c,) int64 positions in the recipe's table
    spread: float  # of zero-shot classes
    ignored: Integers  # anchors that show none of the classes
    branches: Branches  # the classes above the c candidates
    taught: float  # share of the graph's deepest classes that have shots
    without: Callable[[Floats], LinearClassifier]  # the classifier without the stage, of prototypes (c, d)


@dataclass(frozen=True)
class StageCheck:
    """Shots held out: `hits` of `shots` with the stage, `hits_without` without it."""

    shots: int
    hits: int
    hits_without: int

    @property
    def pays(self) -> bool:
        """The stage does no worse than the model without it."""
        return self.hits >= self.hits_without


@dataclass(frozen=True)
class CollectionStage:
    """A fitted stage."""

    basis: CollectionBasis  # that it was fitted to
    labels: AnchorLabels  # what was held fixed
    balance: ClassBalance  # the mean from which images are compared with prototypes
    without: LinearClassifier  # by class means of the shots alone, which counts where classes are imbalanced
    refined: Refined  # prototypes and chances of the anchors
    familiarity: float  # how alike shots are to the unlabelled images, in (0, 1]
    calibration: Calibration  # from chances to probabilities
    check: StageCheck  # how it did on held-out shots
    held_out: HeldOutShots  # with calibrated probabilities
    novelty: Novelty | None  # detects images that show none of the classes; None with too little data

    @property
    def has_shots_from_elsewhere(self) -> bool:
        """Whether a few labels among the other images would teach most."""
        return self.familiarity < ELSEWHERE and int(self.labels.is_shot.sum()) >= ENOUGH_TO_TELL

    def probabilities(self, embeddings: Embeddings) -> Floats:
        """Probabilities (n, c) of any images, by the anchors they look like."""
        return self._new(embeddings)[0]

    def probabilities_at(self, embeddings: Embeddings, rows: Integers) -> Floats:
        """Probabilities (k, c) of images of the collection, of embeddings (k, d) at these rows (k,) of the basis."""
        return self._finish(self._by_prototype(embeddings), self.basis.links_at(rows), to_floats(embeddings))

    def classify(
        self, embeddings: Embeddings, back_off: BackOff, classifier: LinearClassifier, *, rows: Integers | None = None
    ) -> Scores:
        """Classify images of the collection.

        Args:
            embeddings: (k, d) of these rows; all without `rows`.
            classifier: of the model without the stage. Scores keep its logits, from which distances are computed; the
                probabilities in them are the stage's.
            rows: (k,) rows in the basis; by default all, in order.
        """
        scores = Scores.empty(len(embeddings))
        factor = factor_of(embeddings)
        logits_of = self._folded(factor)

        def classify_some(part: Rows, at: Rows, links: Links) -> None:
            block = block_of(embeddings[part])
            logits = logits_of(block, self.basis.scales[at])
            images = block * factor
            chances = self._finish(softmax(logits), links, images)
            scores.put(part, _scores(chances, self._similarity(links), back_off, classifier, images))

        run = None if rows is None else _run(rows)

        def work(part: slice) -> None:
            at: Rows = part if rows is None else rows[part] if run is None else slice(run + part.start, run + part.stop)
            classify_some(part, at, links_to(self.basis.found.rows(at)))

        # Anchors have more links than others. They are few: doing them once more is quicker than picking them out.
        anchors = self.basis.anchors if rows is None else np.flatnonzero(self.basis.positions_of(rows) >= 0)

        def work_anchors(part: slice) -> None:
            at = anchors[part] if rows is None else rows[anchors[part]]
            classify_some(anchors[part], at, self.basis.links_at(at))

        in_blocks(len(embeddings), work, PASS_ROWS)
        in_blocks(len(anchors), work_anchors, PASS_ROWS)
        return scores

    def classify_new(self, embeddings: Embeddings, back_off: BackOff, classifier: LinearClassifier) -> Scores:
        """Classify images (n, d) that need not be in the collection; otherwise like `classify`."""
        scores = Scores.empty(len(embeddings))
        for start in range(0, len(embeddings), PASS_ROWS):
            part = slice(start, start + PASS_ROWS)
            chances, links = self._new(embeddings[part])
            images = block_of(embeddings[part]) * factor_of(embeddings)
            scores.put(part, _scores(chances, self._similarity(links), back_off, classifier, images))
        return scores

    def _folded(self, factor: np.float32) -> Callable[[Floats, Floats], Floats]:
        """What gives logits (n, c) of plain embeddings (n, d), times `factor`, and their scales (n,)."""
        classifier, balance, basis = self.refined.classifier, self.balance, self.basis
        constant = classifier.offsets + classifier.breadth
        weights = classifier.weights
        if balance.is_moved:
            weights = np.concatenate([weights, balance.shift[None]])
        folded, shifts = basis.fold(weights)
        folded = (folded.T * factor).astype(np.float32)
        moved = (classifier.weights @ balance.shift).astype(np.float32)

        def logits_of(block: Floats, scales: Floats) -> Floats:
            logits: Floats = block @ folded
            logits -= shifts
            if balance.is_moved:
                logits, along = np.ascontiguousarray(logits[:, :-1]), logits[:, -1]
                logits -= moved
                scales = balance.scales(along, scales)
            logits *= scales[:, None]
            logits += constant
            return logits

        return logits_of

    def _similarity(self, links: Links) -> Floats:
        """Similarity (n,) to the labelled images; NaN without a detector of novelty."""
        if self.novelty is None:
            return np.full(len(links.positions), np.nan, dtype=np.float32)
        return self.novelty.similarity(links)

    def _new(self, embeddings: Embeddings) -> tuple[Floats, Links]:
        """Probabilities (n, c) and links of any images."""
        links = self.basis.links_of_new(self.basis.whitening.apply(embeddings))
        return self._finish(self._by_prototype(embeddings), links, to_floats(embeddings)), links

    def _by_prototype(self, embeddings: Embeddings) -> Floats:
        """Chances (n, c) by the refined prototypes alone."""
        whitening = self.balance.whitening(self.basis.whitening)
        return chances_of(self.refined.classifier, whitening.apply(embeddings))

    def _finish(self, by_prototype: Floats, links: Links, images: Floats) -> Floats:
        chances = joined(by_prototype, links, self.refined.chances)
        if self.balance.imbalance > 0:
            chances = self.balance.blend(chances, chances_of(self.without, images))
        return self.calibration.apply(chances)


def _run(rows: Integers) -> int | None:
    """The first of rows (k,) that follow each other without a gap, which are read in place; None of others."""
    return int(rows[0]) if len(rows) and bool((np.diff(rows) == 1).all()) else None


def _scores(
    chances: Floats, similarity: Floats, back_off: BackOff, classifier: LinearClassifier, images: Floats
) -> Scores:
    best = chances.argmax(axis=1)
    score = np.take_along_axis(chances, best[:, None], axis=1)[:, 0]
    logit = np.einsum("nd,nd->n", images, np.take(classifier.weights, best, axis=0))
    logit += classifier.offsets[best] + classifier.breadth[best]
    safe_class, safe_score = back_off.decide(best, score, chances @ back_off.roll_up)
    codes = best.astype(np.int32), safe_class.astype(np.int32)
    return Scores(codes[0], logit, logit - np.log(score), codes[1], safe_score, similarity)


def fit_stage(given: StageInput) -> CollectionStage:
    """Refine the prototypes, and calibrate their probabilities."""
    labels, kept = _labels(given), np.ones(len(given.shots), dtype=bool)
    familiarity = familiarity_of(given.basis, labels)
    balance, refined = _refine(given, labels, kept, _Known(familiarity))
    known = _Known(familiarity, _unlabelled(given, refined).sum(axis=0))
    if balance.with_sizes(known.sizes).imbalance > balance.imbalance:
        balance, refined = _refine(given, labels, kept, known)
    held_out = _hold_out(given, known)
    counts = labels.shot_counts()
    expected = expected_power(
        similarity=float(given.basis.anchor_links.followed.mean()),
        shots=float(np.exp(np.log(counts[counts > 0]).mean())) if counts.any() else 1.0,
        familiarity=familiarity,
        imbalance=balance.imbalance,
    )
    calibration = Calibration(power_from(held_out, expected, familiarity), smoothing_for(counts), given.branches)
    if balance.imbalance > 0:
        shots = max(1.0, float(counts.sum() / max(np.count_nonzero(counts), 1)))
        power = PRIORS * balance.imbalance * (1 - 1 / shots)
        found = class_priors(calibration.apply(_unlabelled(given, refined)), power)
        calibration = replace(calibration, priors=found)
    check = StageCheck(len(held_out.classes), held_out.hits, held_out.hits_without)
    image_ids = given.shots.image_ids[held_out.shots]
    class_ids = given.recipe.table.class_ids[given.candidates[held_out.classes]]
    scores = HeldOutShots(image_ids, class_ids, held_out.claims(calibration.power))
    novelty = _novelty(given, labels, refined, familiarity)
    without = _without(given, kept)
    return CollectionStage(
        given.basis, labels, balance, without, refined, familiarity, calibration, check, scores, novelty
    )


def _unlabelled(given: StageInput, refined: Refined) -> Floats:
    """Chances (f, c) of the anchors without a label that show one of the classes."""
    counted = ~np.isin(refined.chances.free_positions, given.ignored)
    return refined.chances.free[counted]


def _novelty(given: StageInput, labels: AnchorLabels, refined: Refined, familiarity: float) -> Novelty | None:
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
    agrees = np.array([len(given.allowed[label]) > 0 for label in given.shots.class_ids.tolist()], dtype=bool)
    return np.flatnonzero((given.positions >= 0) & agrees)


def _without(given: StageInput, kept: Flags) -> LinearClassifier:
    """By class means alone of the kept ones (n,) of the labelled images: propagation draws a branch together."""
    means = replace(given.recipe, shrinkage=0.0).final(given.shots.embeddings, kept)
    return given.without(means[given.candidates])


@dataclass(frozen=True)
class _Known:
    """What is known of a collection before a fit without some of its shots."""

    familiarity: float  # of the shots with the collection
    sizes: Floats | None = None  # (c,) of the classes; None before the first fit


def _refine(given: StageInput, labels: AnchorLabels, kept: Flags, known: _Known) -> tuple[ClassBalance, Refined]:
    """Class balance and prototypes by the kept ones (n,) of the labelled images; `labels` are of these."""
    is_shot = np.array([len(given.allowed[label]) == 1 for label in given.shots.class_ids.tolist()], dtype=bool)
    shots = np.flatnonzero(is_shot & kept)
    balance = class_balance_of(
        given.basis.whitening,
        given.shots.embeddings[shots],
        given.shots.class_ids[shots],
        familiarity=known.familiarity,
        taught=given.taught,
    )
    balance = balance.with_sizes(known.sizes)
    whitened = balance.whitening(given.basis.whitening).apply(given.shots.embeddings)
    prototypes = given.recipe.final(whitened, kept)[given.candidates]
    start = InitialPrototypes(prototypes, given.recipe.table.is_zero_shot[given.candidates], given.spread)
    vectors = balance.around(given.basis.vectors, given.basis.scales[given.basis.anchors])
    refined = refine(
        vectors, given.basis.anchor_links, labels, start, ignored=given.ignored, imbalance=balance.imbalance
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
        return HeldOutChances(none, *2 * (np.zeros(0, dtype=np.int64),), none, 0, given.branches)
    return HeldOutChances(
        np.concatenate([part.chances for part in parts]),
        np.concatenate([part.shots for part in parts]),
        np.concatenate([part.classes for part in parts]),
        np.concatenate([part.shot_counts for part in parts]),
        sum(part.hits_without for part in parts),
        given.branches,
    )


def _fold(labels: AnchorLabels, twins: Integers, turn: int) -> Integers:
    """Places of the turn-th shot of every class that has at least two; of twins (l,) the first one stands for all."""
    shots = np.flatnonzero(labels.is_shot)
    shots = shots[np.sort(np.unique(np.stack([labels.candidates[shots], twins[shots]]), axis=1, return_index=True)[1])]
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
    """Chances of the labelled anchors at places `fold`, without them and their twins at `left_out`."""
    held = labels.positions[fold]
    classes = labels.candidates[fold]
    rest = labels.without(left_out)
    kept = ~np.isin(given.positions, labels.positions[left_out])
    balance, refined = _refine(given, rest, kept, known)
    links = given.basis.anchor_links.rows(held)
    vectors = balance.around(given.basis.vectors[held], given.basis.scales[given.basis.anchors[held]])
    chances = joined(chances_of(refined.classifier, vectors), links, refined.chances)
    counts = np.broadcast_to(rest.shot_counts(), chances.shape)
    place_of = {position: place for place, position in enumerate(given.positions.tolist())}
    shots = np.array([place_of[position] for position in held.tolist()], dtype=np.int64)
    prototypes = given.recipe.final(given.shots.embeddings, kept)[given.candidates]
    rows = given.shots.as_classified[shots]
    hits_without = int((chances_of(given.without(prototypes), rows).argmax(axis=1) == classes).sum())
    plain = chances_of(_without(given, kept), rows)
    return HeldOutChances(balance.blend(chances, plain), shots, classes, counts, hits_without, given.branches)
