"""Fits the everyday model: Eq. 2 to 6, leave-one-shot-out tuning, roll-up, and the collection stage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, final

import numpy as np

from engine.everyday.back_off import Policy, back_off
from engine.everyday.blocks import Flags, Floats, Integers, RowOrder, one_thread_each, stop_if_asked
from engine.everyday.branches import Branches
from engine.everyday.classifier import FitSnapshot, FittedClassifier, Setting
from engine.everyday.collection_stage.basis import CollectionBasis
from engine.everyday.collection_stage.fit_stage import StageInput, fit_stage
from engine.everyday.collection_stage.live_basis import LiveBasis
from engine.everyday.collection_stage.refinement import LinearPrototypes
from engine.everyday.excluded import excluded_classes
from engine.everyday.grouping.groups import BasisLinks
from engine.everyday.prototypical.classification import LinearClassifier, linear_classifier
from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.prototypical.prototypes import (
    PropagationSession,
    candidate_positions,
    prototype_table,
    support_of,
)
from engine.everyday.prototypical.tuning import (
    HeldOutCheck,
    Tuning,
    checked_places,
    held_out_check,
    held_out_shots,
    holdable_shots,
    lambda_for,
    right_places,
    sampled,
    tune,
)
from engine.everyday.scores import Scores
from engine.everyday.shots import Shots
from engine.everyday.teaching import teach_first_of
from engine.everyday.unseen import (
    ClassesSeen,
    RandomSample,
    classes_seen,
    seen_classes,
    unseen_classes,
)
from engine.graph.category_graph import CategoryGraph
from engine.model_card import BackboneCard

FROM_ELSEWHERE: Final = 0.65
"""Familiarity below which shots are none of the images that classes have in the collection (decision 104). It is higher
where nearly all images of some classes are labelled, so that nothing like them is left."""
SMALLEST_SPREAD_DIVISOR: Final = 0.25
"""Least s of a zero-shot class's 1 + 1/s (decision 6). Chosen: its temperature is at most five times the others'."""


@dataclass(frozen=True)
class Prior:
    """From the backbone's card: where tuning starts and what few shots keep."""

    shrinkage: float  # of the PPN+ setting
    shrinkage_guessed: float  # of the PPN setting, whose parents are guessed
    temperature: float  # divides squared distances (Eq. 2).

    def shrinkage_for(self, setting: Setting) -> float:
        return self.shrinkage_guessed if setting is Setting.PPN else self.shrinkage


def prior_of(card: BackboneCard) -> Prior:
    """Read the prior off a backbone's card."""
    return Prior(card.shrinkage, card.shrinkage_guessed, card.temperature)


@final
class EverydayClassifier:
    """The everyday model as a `Classifier`; keeps the session of the exported equations, and the basis."""

    def __init__(self, propagation: Path, prior: Prior, basis: LiveBasis) -> None:
        self._propagation, self._prior, self._basis = propagation, prior, basis
        self._session: PropagationSession | None = None

    def fit(self, snapshot: FitSnapshot) -> EverydayModel:
        shots = snapshot.shots
        self._session = self._session or PropagationSession(self._propagation)
        basis = (
            self._basis.current(snapshot.images, shots.image_ids)
            if snapshot.with_collection
            else None
        )
        model = fit(
            snapshot.graph, shots, self._session, self._prior, setting=snapshot.setting, policies=snapshot.policies,
            broadest_level=snapshot.broadest_level, shrinkage=snapshot.shrinkage, basis=basis,
            ignored=snapshot.images.ignored(), checked=snapshot.checked,
        )  # fmt: skip
        row_ids = snapshot.images.row_ids
        excluded = excluded_classes(snapshot.graph, model.candidate_ids, snapshot.excluded, row_ids)
        return replace(model, excluded=excluded)

    def look_alikes(self, snapshot: FitSnapshot) -> BasisLinks | None:
        basis = self._basis.current(snapshot.images, snapshot.shots.image_ids)
        return None if basis is None else BasisLinks(basis)

    def teach_first(
        self, snapshot: FitSnapshot, fitted: FittedClassifier, scores: Scores
    ) -> RowOrder | None:
        return teach_first_of(self._basis, snapshot, fitted, scores)


@one_thread_each
def fit(
    graph: CategoryGraph,
    shots: Shots,
    session: PropagationSession,
    prior: Prior,
    *,
    setting: Setting = Setting.PPN_PLUS,
    policies: Mapping[int, Policy] | None = None,
    broadest_level: int = 0,
    shrinkage: float | None = None,
    allowed: Sequence[int] | None = None,
    tuning: Tuning | None = None,
    basis: CollectionBasis | None = None,
    ignored: Integers | None = None,
    checked: Sequence[int] = (),
) -> EverydayModel:
    """Fit the model to a person's labels.

    Args:
        shots: n labelled images of width d; n may be 0, then nothing is a candidate.
        policies, broadest_level, shrinkage: see `FitSnapshot`.
        allowed: classes to choose among, none above another; by default the deepest that have a prototype.
        tuning: an earlier outcome to keep, so that a single new shot moves only the classes it touches.
        basis: of all images, for the collection stage, which is never used with prototypes alone.
        ignored: ids of images labelled as none of the classes, which teach the collection stage nothing.
        checked: see `FitSnapshot`.
    """
    support = support_of(graph, shots, setting)
    stop_if_asked()
    first = prototype_table(
        session, support, shots, lambda_for(support.own_counts, prior.shrinkage_for(setting))
    )
    candidates = candidate_positions(graph, first, allowed)
    stop_if_asked()
    check: HeldOutCheck | None = None
    if tuning is None:
        held = sampled(holdable_shots(graph, shots, first, candidates))
        check = held_out_check(graph, shots, first, candidates, held, setting=setting)
        start, propagates = prior.shrinkage_for(setting), setting is not Setting.PROTOTYPES
        tuning = tune(
            check,
            shrinkage=start,
            temperature=prior.temperature,
            may_propagate=propagates,
            fixed=shrinkage,
        )
    table = prototype_table(
        session, support, shots, lambda_for(support.own_counts, tuning.shrinkage)
    )
    stop_if_asked()
    classifier = _classifier(
        table.final[candidates], table.is_zero_shot[candidates], tuning, prior, setting
    )
    rules = back_off(
        graph, table.class_ids[candidates], policies or {}, broadest_level=broadest_level
    )
    model = EverydayModel(setting, shots, table, candidates, tuning, classifier, rules)
    if check is not None:
        held_out = held_out_shots(check, tuning, checked_places(first, candidates), len(candidates))
        model = replace(model, held_out=held_out)
    if len(candidates) == 0:
        return model
    none = np.zeros(0, dtype=np.int64)
    random = RandomSample.of(shots, none if ignored is None else ignored, checked)
    seen = seen_classes(graph, shots.counts())
    classes = _Classes(graph, graph.leaves() if allowed is None else allowed, seen, random)
    return _with_collection(model, classes, prior, basis, none if ignored is None else ignored)


def _with_collection(
    model: EverydayModel,
    classes: "_Classes",
    prior: Prior,
    basis: CollectionBasis | None,
    ignored: Integers,
) -> EverydayModel:
    """With what all images add, where there is a basis, and with room for classes without examples."""
    counts, left_out = classes.counts(model.shots, basis), np.zeros(0, dtype=np.int64)
    if basis is not None and model.setting is not Setting.PROTOTYPES:
        left_out = basis.positions_of(basis.rows_of(ignored))
        left_out = left_out[left_out >= 0]
        model = _with_stage(
            model, classes.graph, prior, basis, ignored=left_out, taught=1 - counts.share
        )
    return _with_unseen(model, classes, counts, left_out)


def _classifier(
    prototypes: Floats, is_zero_shot: Flags, tuning: Tuning, prior: Prior, setting: Setting
) -> LinearClassifier:
    spread, apart = _spread(tuning, prior, setting), tuning.own_distance
    return linear_classifier(
        prototypes, tuning.temperature, is_zero_shot=is_zero_shot, spread=spread, own_distance=apart
    )


def _spread(tuning: Tuning, prior: Prior, setting: Setting) -> float:
    return 1 / max(tuning.shrinkage or prior.shrinkage_for(setting), SMALLEST_SPREAD_DIVISOR)


@dataclass(frozen=True)
class _Classes:
    """The classes of a project, with and without examples."""

    graph: CategoryGraph
    leaves: Sequence[int]  # to choose among
    seen: frozenset[int]  # see `seen_classes`
    random: RandomSample  # of images

    def counts(
        self, shots: Shots, basis: CollectionBasis | None, *, from_elsewhere: bool = False
    ) -> ClassesSeen:
        """With the images of a basis; shots `from_elsewhere` are none of those that classes have there."""
        # Images without an embedding, or no longer listed, do not count.
        images = len(shots) if basis is None else int(np.count_nonzero(basis.scales > 0))
        labels = dict.fromkeys(shots.counts(), 0) if from_elsewhere else shots.counts()
        counts = classes_seen(self.graph, self.leaves, self.seen, labels, images)
        return counts.checked(self.random, unlabelled=1 - min(1.0, len(shots) / max(images, 1)))


def _with_stage(
    model: EverydayModel,
    graph: CategoryGraph,
    prior: Prior,
    basis: CollectionBasis,
    *,
    ignored: Integers,
    taught: float,
) -> EverydayModel:
    shots, tuning, candidates = model.shots, model.tuning, model.candidates
    is_zero_shot = model.table.is_zero_shot[candidates]
    stage = fit_stage(
        StageInput(
            basis=basis,
            shots=shots,
            positions=basis.positions_of(basis.rows_of(shots.image_ids)),
            allowed=right_places(graph, shots.class_ids.tolist(), model.candidate_ids),
            recipe=LinearPrototypes(model.table, tuning.shrinkage),
            candidates=candidates,
            spread=_spread(tuning, prior, model.setting),
            ignored=ignored,
            branches=Branches.telling(back_off(graph, model.candidate_ids, {}).roll_up),
            taught=taught,
            without=lambda prototypes: _classifier(
                prototypes, is_zero_shot, tuning, prior, model.setting
            ),
        )
    )
    if not stage.check.pays:
        return replace(model, stage_check=stage.check, novelty=stage.novelty)
    return replace(
        model, stage=stage, stage_check=stage.check, held_out=stage.held_out, novelty=stage.novelty
    )


def _with_unseen(
    model: EverydayModel, classes: _Classes, counts: ClassesSeen, ignored: Integers
) -> EverydayModel:
    """Divide probabilities with the classes that have no examples; `ignored` are positions among the anchors."""
    similarity = None
    if model.stage is not None and model.stage.familiarity < FROM_ELSEWHERE:
        counts = classes.counts(model.shots, model.stage.basis, from_elsewhere=True)
    if model.novelty is not None and counts.unseen:
        basis = model.novelty.basis
        labelled = basis.positions_of(basis.rows_of(model.shots.image_ids))
        free = np.setdiff1d(np.arange(len(basis.anchors)), np.concatenate([labelled, ignored]))
        similarity = model.novelty.similarity(basis.anchor_links.rows(free))
    unseen = unseen_classes(
        classes.graph,
        model.candidate_ids,
        classes.seen,
        counts,
        similarity,
        labels=len(model.shots),
    )
    if unseen is None:
        return model
    rules = model.back_off.without_obvious(unseen.leaves, len(classes.leaves))
    stage = None if model.stage is None else replace(model.stage, unseen=unseen)
    return replace(model, stage=stage, unseen=unseen, back_off=rules)
