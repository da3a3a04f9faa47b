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
from engine.everyday.collection_stage.propagated_start import LinearPrototypes
from engine.everyday.collection_stage.stage import CollectionStage, StageCheck, StageInput, fit_stage
from engine.everyday.fixed_point import Embeddings
from engine.everyday.held_out import HeldOutShots, held_out_shots
from engine.everyday.leave_one_out import held_out_distances, membership_matrix, with_fresh_neighbours
from engine.everyday.propagation import PropagationSession
from engine.everyday.prototypes import (
    NEIGHBOURS,
    PrototypeTable,
    Setting,
    Support,
    candidate_positions,
    prototype_table,
    support_of,
)
from engine.everyday.shots import Shots
from engine.everyday.tuning import HeldOutCheck, Tuning, lambda_for, tune
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
        if self.stage is None:
            return classify_all(self.classifier, self.back_off, embeddings, squares)
        return self.stage.classify(embeddings, self.back_off, self.classifier, rows=rows)

    def classify_new(self, embeddings: Embeddings, squares: NDArray[np.float32]) -> Scores:
        """Classify images (n, d) that need not be in the collection that was fitted to."""
        if self.stage is None:
            return classify_all(self.classifier, self.back_off, embeddings, squares)
        return self.stage.classify_new(embeddings, self.back_off, self.classifier)

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
        """(n,) bool: the image is further from its likeliest class than images of known classes are."""
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
        check = held_out_check(graph, shots, support, start, candidates, setting=setting)
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
    told = None if check is None else held_out_shots(check, tuning, _checked(start, candidates), len(candidates))
    model = EverydayModel(setting, shots, table, candidates, tuning, classifier, rules, held_out=told)
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
    places = {int(class_id): place for place, class_id in enumerate(model.candidate_ids.tolist())}
    stage = fit_stage(
        StageInput(
            basis=basis,
            embeddings=shots.embeddings,
            as_classified=shots.as_classified,
            positions=basis.positions_of(basis.rows_of(shots.image_ids)),
            allowed=_right_candidates(graph, shots, places).astype(np.float32),
            recipe=LinearPrototypes(model.table, tuning.shrinkage),
            candidates=candidates,
            spread=_spread(tuning, prior, model.setting),
            ignored=left_out[left_out >= 0],
            branches=Branches.telling(back_off(graph, model.candidate_ids, {}).roll_up),
            without=lambda prototypes: _classifier(prototypes, is_zero_shot, tuning, prior, model.setting),
        )
    )
    if not stage.check.pays:
        return replace(model, stage_check=stage.check)
    said = stage.held_out
    told = HeldOutShots(shots.image_ids[said.shots], model.candidate_ids[said.classes], said.probabilities)
    return replace(model, stage=stage, stage_check=stage.check, held_out=told)


def _checked(table: PrototypeTable, candidates: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places of the candidates that have images, which are those that held-out shots are measured against."""
    return np.flatnonzero(table.has_initial[candidates])


def held_out_check(
    graph: CategoryGraph,
    shots: Shots,
    support: Support,
    table: PrototypeTable,
    candidates: NDArray[np.int64],
    *,
    setting: Setting,
) -> HeldOutCheck:
    """Hold every shot out once and lay out which candidates would be right for it.

    The only shot of a class is left out of the check: without it nobody could name that class, and which other class
    it goes to says little about lambda or the temperature.
    """
    with_shots = candidates[table.has_initial[candidates]]
    class_ids = support.class_ids[with_shots]
    rows = membership_matrix(support.membership, len(shots), len(support.class_ids))
    distances = held_out_distances(shots, rows, table.propagation_matrix(), with_shots)
    place_of = {int(class_id): place for place, class_id in enumerate(class_ids.tolist())}
    places = np.array([place_of.get(label, -1) for label in shots.class_ids.tolist()], dtype=np.int64)
    if setting is Setting.PPN:
        own = np.searchsorted(support.class_ids, shots.class_ids)
        distances = with_fresh_neighbours(
            distances, shots, table.initial, class_positions=own, places=places, count=NEIGHBOURS
        )
    is_right = _right_candidates(graph, shots, place_of)
    has_right_left = np.any(is_right & (distances.shots_left > 0), axis=1)
    can_tell = _can_tell(graph, shots, place_of)
    check = HeldOutCheck(distances, is_right, can_tell, shots.class_ids, shots.image_ids)
    return check.rows(np.flatnonzero(has_right_left))


def _right_candidates(graph: CategoryGraph, shots: Shots, place_of: Mapping[int, int]) -> NDArray[np.bool_]:
    is_right = np.zeros((len(shots), len(place_of)), dtype=bool)
    right: dict[int, NDArray[np.int64]] = {}
    for row, label in enumerate(shots.class_ids.tolist()):
        if label not in right:
            right[label] = _places_on_line(graph, label, place_of)
        is_right[row, right[label]] = True
    return is_right


def _places_on_line(graph: CategoryGraph, label: int, place_of: Mapping[int, int]) -> NDArray[np.int64]:
    """Candidates that are the label, below it, or above it, as when a level of the graph is chosen among."""
    line: frozenset[int] = graph.descendants(label) | graph.ancestors(label) | {label}
    return np.array([place_of[class_id] for class_id in line & place_of.keys()], dtype=np.int64)


def _can_tell(graph: CategoryGraph, shots: Shots, place_of: Mapping[int, int]) -> NDArray[np.bool_]:
    """(n,) bool: the shot's class is a candidate or below one, so one candidate is right, not several."""
    labels = shots.class_ids.tolist()
    told = {label: not place_of.keys().isdisjoint(graph.ancestors(label) | {label}) for label in set(labels)}
    return np.array([told[label] for label in labels], dtype=bool)
