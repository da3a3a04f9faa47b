"""The everyday model: from a graph and a person's shots to a classifier of the whole collection.

Composes the exported equations (Eq. 2 to 6) with leave-one-shot-out tuning, roll-up and the bar for unknown images.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.back_off import BackOff, Policy, back_off
from engine.everyday.blocks import one_thread_each, stop_if_asked
from engine.everyday.classification import LinearClassifier, Scores, classify_all, linear_classifier
from engine.everyday.collection_stage.basis import CollectionBasis
from engine.everyday.collection_stage.branches import Branches
from engine.everyday.collection_stage.novelty import Novelty
from engine.everyday.collection_stage.propagated_start import LinearPrototypes
from engine.everyday.collection_stage.stage import CollectionStage, StageCheck, StageInput, fit_stage
from engine.everyday.fixed_point import Embeddings
from engine.everyday.held_out import HeldOutShots, held_out_shots
from engine.everyday.held_out_check import checked_places, held_out_check, holdable_shots, right_places
from engine.everyday.propagation import PropagationSession
from engine.everyday.prototypes import (
    PrototypeTable,
    Setting,
    candidate_positions,
    prototype_table,
    support_of,
)
from engine.everyday.shots import Shots
from engine.everyday.tuning import HeldOutCheck, Tuning, lambda_for, sampled, tune
from engine.graph.category_graph import CategoryGraph
from engine.model_card import BackboneCard

SMALLEST_SPREAD_DIVISOR: Final = 0.25
"""Least s of a zero-shot class's 1 + 1/s (decision 7). Chosen: its temperature is at most five times the others'."""


@dataclass(frozen=True)
class Prior:
    """What the backbone's card says, from its training collection: where tuning starts and what few shots keep.

    Attributes:
        shrinkage: of the PPN+ setting.
        shrinkage_guessed: of the PPN setting, whose parents are guessed.
        temperature: divides squared distances (Eq. 2).
    """

    shrinkage: float
    shrinkage_guessed: float
    temperature: float

    def shrinkage_for(self, setting: Setting) -> float:
        """The shrinkage a setting starts from."""
        return self.shrinkage_guessed if setting is Setting.PPN else self.shrinkage


def prior_of(card: BackboneCard) -> Prior:
    """Read the prior off a backbone's card."""
    return Prior(card.shrinkage, card.shrinkage_guessed, card.temperature)


@dataclass(frozen=True)
class EverydayModel:
    """A fitted model; everything a screen or a file needs to classify and to explain.

    Attributes:
        setting: what parents are.
        shots: the labelled images it was fitted to.
        table: prototypes of all reached classes.
        candidates: (c,) positions in the table of the classes to choose among.
        tuning: shrinkage, temperature, and how they did on held-out shots.
        classifier: Eq. 2 over the candidates.
        back_off: roll-up and bars over the candidates.
        stage: what the unlabelled and coarse-labelled images add; None where the collection stage is off, has nothing
            to go by, or would do worse on held-out shots.
        stage_check: how the stage did on held-out shots, also where it was dropped.
        held_out: what it says of shots that it did not learn from; None where tuning was kept from before.
        novelty: tells images of the collection that show none of the classes; None where only distances do.
    """

    setting: Setting
    shots: Shots
    table: PrototypeTable
    candidates: NDArray[np.int64]
    tuning: Tuning
    classifier: LinearClassifier
    back_off: BackOff
    stage: CollectionStage | None = None
    stage_check: StageCheck | None = None
    held_out: HeldOutShots | None = None
    novelty: Novelty | None = None

    @property
    def candidate_ids(self) -> NDArray[np.int64]:
        """(c,) int64 class ids of the candidates."""
        return self.table.class_ids[self.candidates]

    def place_of(self, class_id: int) -> int | None:
        """Position of a class in the table, None when it has no prototype."""
        place = int(np.searchsorted(self.table.class_ids, class_id))
        if place == len(self.table.class_ids) or self.table.class_ids[place] != class_id:
            return None
        return place if self.table.has_prototype[place] else None

    def prototype(self, class_id: int) -> NDArray[np.float32] | None:
        """Final prototype (d,) of a class, None when it has none."""
        place = self.place_of(class_id)
        return None if place is None else self.table.final[place]

    def squared_distance(self, embedding: NDArray[np.float32], class_id: int) -> float:
        """Squared distance of an embedding (d,) to a class's prototype; infinite without one."""
        prototype = self.prototype(class_id)
        return float("inf") if prototype is None else float(((embedding - prototype) ** 2).sum())

    def classify(
        self, embeddings: Embeddings, squares: NDArray[np.float32], rows: NDArray[np.int64] | None = None
    ) -> Scores:
        """Classify images.

        Args:
            embeddings: (n, d).
            squares: (n,) float32 squared norms.
            rows: (n,) rows of the images in the collection that was fitted to; by default all, in order.
        """
        if self.stage is not None:
            return self.stage.classify(embeddings, self.back_off, self.classifier, rows=rows)
        scores = classify_all(self.classifier, self.back_off, embeddings, squares)
        if self.novelty is None:
            return scores
        return replace(
            scores, similarity=self.novelty.similarity_at(np.arange(len(embeddings)) if rows is None else rows)
        )

    def classify_new(self, embeddings: Embeddings, squares: NDArray[np.float32]) -> Scores:
        """Classify images (n, d) that need not be in the collection that was fitted to."""
        if self.stage is not None:
            return self.stage.classify_new(embeddings, self.back_off, self.classifier)
        scores = classify_all(self.classifier, self.back_off, embeddings, squares)
        return (
            scores if self.novelty is None else replace(scores, similarity=self.novelty.similarity_of_new(embeddings))
        )

    def probabilities(
        self, embeddings: Embeddings, squares: NDArray[np.float32], rows: NDArray[np.int64] | None = None
    ) -> NDArray[np.float32]:
        """Probability (n, c) of each candidate.

        Args:
            embeddings: (n, d), at most a few thousand.
            squares: (n,) float32 squared norms.
            rows: (n,) rows of the images in the collection; None for images that need not be in it.
        """
        with one_thread_each:
            if self.stage is None:
                logits = self.classifier.logits(embeddings, squares)
                powers = np.exp(logits - logits.max(axis=1, keepdims=True))
                return (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
            if rows is None:
                return self.stage.probabilities(embeddings)
            return self.stage.probabilities_at(embeddings, rows)

    @property
    def has_shots_from_elsewhere(self) -> bool:
        """Whether the shots look unlike most images, so that a few labels among those would teach most."""
        return self.stage is not None and self.stage.has_shots_from_elsewhere

    def is_unknown(self, scores: Scores) -> NDArray[np.bool_]:
        """(n,) bool: the image shows none of the classes.

        It and its look-alikes are less like the labelled images than images of known classes are; without the
        collection, it is further from its likeliest class than these are.
        """
        if self.novelty is not None:
            return scores.similarity < self.novelty.threshold
        return self.classifier.squared_distance(scores) > self.tuning.unknown_distance


@one_thread_each
def fit(
    graph: CategoryGraph,
    shots: Shots,
    session: PropagationSession,
    prior: Prior,
    *,
    setting: Setting = Setting.PPN_PLUS,
    policies: Mapping[int, Policy] | None = None,
    allowed: Sequence[int] | None = None,
    tuning: Tuning | None = None,
    basis: CollectionBasis | None = None,
    ignored: NDArray[np.int64] | None = None,
) -> EverydayModel:
    """Fit the model to a person's labels.

    Args:
        graph: the category graph.
        shots: n labelled images of width d; n may be 0, then nothing is a candidate.
        session: the exported equations.
        prior: the backbone card's shrinkage and temperature.
        setting: PPN+, PPN or prototypes alone.
        policies: bars and deepest classes by class id.
        allowed: classes to choose among, none above another; by default the deepest that have a prototype.
        tuning: an earlier outcome to keep, so that a single new shot moves only the classes it touches.
        basis: of all images, for the collection stage; None leaves the model as the paper has it. The stage is never
            used with prototypes alone.
        ignored: ids of images that a person said show none of the classes: they teach the collection stage nothing.
    """
    support = support_of(graph, shots, setting)
    stop_if_asked()
    start = prototype_table(session, support, shots, lambda_for(support.own_counts, prior.shrinkage_for(setting)))
    candidates = candidate_positions(graph, start, allowed)
    stop_if_asked()
    check: HeldOutCheck | None = None
    if tuning is None:
        held = sampled(holdable_shots(graph, shots, start, candidates))
        check = held_out_check(graph, shots, start, candidates, held, setting=setting)
        tuning = tune(
            check,
            shrinkage=prior.shrinkage_for(setting),
            temperature=prior.temperature,
            may_propagate=setting is not Setting.PROTOTYPES,
        )
    table = prototype_table(session, support, shots, lambda_for(support.own_counts, tuning.shrinkage))
    stop_if_asked()
    classifier = _classifier(table.final[candidates], table.is_zero_shot[candidates], tuning, prior, setting)
    rules = back_off(graph, table.class_ids[candidates], policies or {})
    held_out = (
        None if check is None else held_out_shots(check, tuning, checked_places(start, candidates), len(candidates))
    )
    model = EverydayModel(setting, shots, table, candidates, tuning, classifier, rules, held_out=held_out)
    if basis is None or setting is Setting.PROTOTYPES or len(candidates) == 0:
        return model
    return _with_stage(model, graph, prior, basis, np.zeros(0, dtype=np.int64) if ignored is None else ignored)


def _classifier(
    prototypes: NDArray[np.float32],
    is_zero_shot: NDArray[np.bool_],
    tuning: Tuning,
    prior: Prior,
    setting: Setting,
) -> LinearClassifier:
    return linear_classifier(
        prototypes,
        tuning.temperature,
        is_zero_shot=is_zero_shot,
        spread=_spread(tuning, prior, setting),
        own_distance=tuning.own_distance,
    )


def _spread(tuning: Tuning, prior: Prior, setting: Setting) -> float:
    return 1 / max(tuning.shrinkage or prior.shrinkage_for(setting), SMALLEST_SPREAD_DIVISOR)


def _with_stage(
    model: EverydayModel,
    graph: CategoryGraph,
    prior: Prior,
    basis: CollectionBasis,
    ignored: NDArray[np.int64],
) -> EverydayModel:
    shots, tuning, candidates = model.shots, model.tuning, model.candidates
    is_zero_shot = model.table.is_zero_shot[candidates]
    left_out = basis.positions_of(basis.rows_of(ignored))
    stage = fit_stage(
        StageInput(
            basis=basis,
            embeddings=shots.embeddings,
            as_classified=shots.as_classified,
            positions=basis.positions_of(basis.rows_of(shots.image_ids)),
            class_ids=shots.class_ids,
            allowed=right_places(graph, shots.class_ids.tolist(), model.candidate_ids),
            recipe=LinearPrototypes(model.table, tuning.shrinkage),
            candidates=candidates,
            spread=_spread(tuning, prior, model.setting),
            ignored=left_out[left_out >= 0],
            branches=Branches.telling(back_off(graph, model.candidate_ids, {}).roll_up),
            without=lambda prototypes: _classifier(prototypes, is_zero_shot, tuning, prior, model.setting),
        )
    )
    if not stage.check.pays:
        return replace(model, stage_check=stage.check, novelty=stage.novelty)
    own = stage.held_out
    held_out = HeldOutShots(shots.image_ids[own.shots], model.candidate_ids[own.classes], own.probabilities)
    return replace(model, stage=stage, stage_check=stage.check, held_out=held_out, novelty=stage.novelty)
