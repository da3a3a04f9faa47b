"""Fit the everyday model: Eq. 2 to 6, leave-one-shot-out tuning, roll-up, and collection stage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

import numpy as np

from engine.arrays import Floats, Integers, no_integers
from engine.everyday.back_off import Branches, Policy, back_off
from engine.everyday.blocks import one_thread_each, stop_if_requested
from engine.everyday.classifier import FitSnapshot, Setting
from engine.everyday.collection_stage.basis import CollectionBasis
from engine.everyday.collection_stage.fit_stage import StageInput, fit_stage
from engine.everyday.collection_stage.live_basis import LiveBasis
from engine.everyday.collection_stage.refinement import LinearPrototypes
from engine.everyday.excluded import excluded_classes
from engine.everyday.prototypical.classification import LinearClassifier, linear_classifier
from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.prototypical.prototypes import (
    PropagationSession,
    candidate_positions,
    prototype_table,
    support_of,
)
from engine.everyday.prototypical.tuning import (
    checked_places,
    held_out_check,
    held_out_shots,
    holdable_shots,
    lambda_for,
    right_places,
    sampled,
    tune,
)
from engine.everyday.shots import Shots
from engine.everyday.teaching import BasisClassifier
from engine.everyday.unseen import (
    ClassesSeen,
    RandomSample,
    classes_seen,
    seen_classes,
    unseen_classes,
)
from engine.graph.category_graph import CategoryGraph
from engine.model_card import BackboneCard

FROM_ELSEWHERE = 0.65
"""Familiarity below which shots do not belong to the images that classes have in the collection
(decision 104). It is higher where nearly all images of some classes are labelled, so that nothing
like them is left."""
SMALLEST_SPREAD_DIVISOR = 0.25
"""Least s of a zero-shot class's 1 + 1/s (decision 6). Chosen: at most five times the
temperature."""


def shrinkage_prior(card: BackboneCard, setting: Setting) -> float:
    """Prior of s in lambda = n / (n + s) (Eq. 6), by the backbone's card."""
    return card.shrinkage_guessed if setting is Setting.PPN else card.shrinkage


@final
class EverydayClassifier(BasisClassifier):
    """The everyday model as a `Classifier`; it keeps the equations' session."""

    def __init__(self, propagation: Path, card: BackboneCard, basis: LiveBasis) -> None:
        super().__init__(basis)
        self._propagation, self._card = propagation, card
        self._session: PropagationSession | None = None

    def fit(self, snapshot: FitSnapshot) -> EverydayModel:
        shots = snapshot.shots
        self._session = self._session or PropagationSession(self._propagation)
        basis = None
        if snapshot.with_collection:
            basis = self._basis.current(snapshot.images, shots.image_ids)
        model = fit(
            snapshot.graph,
            shots,
            self._session,
            self._card,
            setting=snapshot.setting,
            policies=snapshot.policies,
            broadest_level=snapshot.broadest_level,
            shrinkage=snapshot.shrinkage,
            basis=basis,
            ignored=snapshot.images.ignored(),
            checked=snapshot.checked,
        )
        row_ids = snapshot.images.row_ids
        excluded = excluded_classes(snapshot.graph, model.candidate_ids, snapshot.excluded, row_ids)
        return replace(model, excluded=excluded)


@one_thread_each
def fit(
    graph: CategoryGraph,
    shots: Shots,
    session: PropagationSession,
    card: BackboneCard,
    *,
    setting: Setting = Setting.PPN_PLUS,
    policies: Mapping[int, Policy] | None = None,
    broadest_level: int = 0,
    shrinkage: float | None = None,
    basis: CollectionBasis | None = None,
    ignored: Integers | None = None,
    checked: Sequence[int] = (),
) -> EverydayModel:
    """Fit the everyday model to labelled images.

    Args:
        shots: n labelled images of width d; n may be 0, then nothing is a candidate.
        card: of the backbone, for the prior of shrinkage and temperature.
        policies, broadest_level, shrinkage: see `FitSnapshot`.
        basis: of all images, for the collection stage, which is never used with prototypes alone.
        ignored: ids of images labelled as none of the classes, which the collection stage leaves
            out.
        checked: see `FitSnapshot`.
    """
    support, prior = support_of(graph, shots, setting), shrinkage_prior(card, setting)
    stop_if_requested()
    first = prototype_table(session, support, shots, lambda_for(support.own_counts, prior))
    candidates = candidate_positions(graph, first)
    stop_if_requested()
    held = sampled(holdable_shots(graph, shots, first, candidates))
    check = held_out_check(graph, shots, first, candidates, held, setting=setting)
    tuning = tune(
        check,
        shrinkage=prior,
        temperature=card.temperature,
        may_propagate=setting is not Setting.PROTOTYPES,
        fixed=shrinkage,
    )
    lambda_ = lambda_for(support.own_counts, tuning.shrinkage)
    table = prototype_table(session, support, shots, lambda_)
    stop_if_requested()
    class_ids, is_zero_shot = table.class_ids[candidates], table.is_zero_shot[candidates]
    spread = 1 / max(tuning.shrinkage or prior, SMALLEST_SPREAD_DIVISOR)

    def classifier_of(prototypes: Floats) -> LinearClassifier:
        return linear_classifier(
            prototypes,
            tuning.temperature,
            is_zero_shot=is_zero_shot,
            spread=spread,
            own_distance=tuning.own_distance,
        )

    classifier = classifier_of(table.final[candidates])
    rules = back_off(graph, class_ids, policies or {}, broadest_level=broadest_level)
    held_out = held_out_shots(check, tuning, checked_places(first, candidates), len(candidates))
    model = EverydayModel(setting, shots, table, candidates, tuning, classifier, rules)
    model = replace(model, held_out=held_out)
    if len(candidates) == 0:
        return model
    ignored = no_integers() if ignored is None else ignored
    seen = seen_classes(graph, shots.counts())
    classes = _Classes(graph, seen, RandomSample.of(shots, ignored, checked))
    counts, left_out = classes.counts(shots, basis), ignored[:0]
    if basis is not None and setting is not Setting.PROTOTYPES:
        left_out = basis.positions_of(basis.rows_of(ignored))
        left_out = left_out[left_out >= 0]
        stage = fit_stage(
            StageInput(
                basis=basis,
                shots=shots,
                positions=basis.positions_of(basis.rows_of(shots.image_ids)),
                allowed=right_places(graph, shots.class_ids.tolist(), class_ids),
                recipe=LinearPrototypes(table, tuning.shrinkage),
                candidates=candidates,
                spread=spread,
                ignored=left_out,
                branches=Branches.telling(back_off(graph, class_ids, {}).roll_up),
                taught=1 - counts.share,
                without=classifier_of,
            )
        )
        model = replace(model, stage_check=stage.check, novelty=stage.novelty)
        if stage.check.is_used:
            model = replace(model, stage=stage, held_out=stage.held_out)
    return _with_unseen(model, classes, counts, left_out)


@dataclass(frozen=True)
class _Classes:
    """The classes of a project, with and without examples."""

    graph: CategoryGraph
    seen: frozenset[int]  # see `seen_classes`
    random: RandomSample  # of images

    def counts(
        self, shots: Shots, basis: CollectionBasis | None, *, from_elsewhere: bool = False
    ) -> ClassesSeen:
        """Count classes and images; shots `from_elsewhere` are not images of the collection."""
        # Images without an embedding, or no longer listed, do not count.
        images = len(shots) if basis is None else int(np.count_nonzero(basis.scales > 0))
        labels = dict.fromkeys(shots.counts(), 0) if from_elsewhere else shots.counts()
        counts = classes_seen(self.graph, self.seen, labels, images)
        return counts.checked(self.random, unlabelled=1 - min(1.0, len(shots) / max(images, 1)))


def _with_unseen(
    model: EverydayModel, classes: _Classes, counts: ClassesSeen, ignored: Integers
) -> EverydayModel:
    """Reserve probability for classes without examples; `ignored` are positions of anchors."""
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
    rules = model.back_off.without_obvious(unseen.leaves, len(classes.graph.leaves()))
    stage = None if model.stage is None else replace(model.stage, unseen=unseen)
    return replace(model, stage=stage, unseen=unseen, back_off=rules)
