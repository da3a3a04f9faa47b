"""The fitted everyday model, in the paper's prototypes (Eq. 2 to 6) and what the collection adds to them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.back_off import BackOff
from engine.everyday.blocks import one_thread_each
from engine.everyday.classifier import (
    CollectionFigures,
    Explanation,
    FitFigures,
    Inheritance,
    ScoredClass,
    Setting,
)
from engine.everyday.collection_stage.novelty import Novelty
from engine.everyday.collection_stage.stage import CollectionStage, StageCheck
from engine.everyday.collection_stage.whitening import Whitening
from engine.everyday.fixed_point import Embeddings
from engine.everyday.measures import distance_limit
from engine.everyday.prototypical.answers_graph import answers_model
from engine.everyday.prototypical.classification import LinearClassifier, classify_all
from engine.everyday.prototypical.explanation import look_alikes, made_of
from engine.everyday.prototypical.held_out_check import held_out_check, holdable_shots
from engine.everyday.prototypical.prototypes import PrototypeTable
from engine.everyday.prototypical.tuning import Tuning, squared_at
from engine.everyday.scores import HeldOutShots, Scores
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph

HELD_OUT_TOGETHER: Final = 512
"""Shots held out at a time. Chosen: their distances to 10,000 classes take 100 MB."""


@dataclass(frozen=True)
class EverydayModel:
    """A fitted model; everything a screen or a file needs to classify and to explain."""

    setting: Setting  # what parents are
    shots: Shots  # the labelled images it was fitted to
    table: PrototypeTable  # prototypes of all reached classes
    candidates: NDArray[np.int64]  # (c,) positions in the table of the classes to choose among
    tuning: Tuning  # shrinkage, temperature, and how they did on held-out shots
    classifier: LinearClassifier  # Eq. 2 over the candidates.
    back_off: BackOff  # roll-up and bars over the candidates
    # what the unlabelled and coarse-labelled images add; None where the collection stage is off, has nothing to go by,
    # or would do worse on held-out shots
    stage: CollectionStage | None = None
    stage_check: StageCheck | None = None  # how the stage did on held-out shots, also where it was dropped
    # what it says of shots that it did not learn from; None where tuning was kept from before
    held_out: HeldOutShots | None = None
    # tells images of the collection that show none of the classes; None where only distances do
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

    @cached_property
    def inheritance(self) -> Inheritance:
        """See `FittedClassifier`."""
        table = self.table
        ends = table.class_ids[table.edges]
        pairs = zip(ends[0].tolist(), ends[1].tolist(), strict=True)
        return Inheritance(
            dict(zip(table.class_ids.tolist(), table.lambda_.tolist(), strict=True)),
            dict(zip(pairs, table.edge_weights.tolist(), strict=True)),
        )

    @property
    def figures(self) -> FitFigures:
        """See `FittedClassifier`."""
        tuning, check, stage = self.tuning, self.stage_check, self.stage
        collection = None if check is None else CollectionFigures(False, check.shots, check.hits, check.hits_without)
        if collection is not None and stage is not None:
            collection = replace(
                collection, is_used=True, images=stage.basis.learned_from, anchors=len(stage.basis.anchors),
                familiarity=stage.familiarity, has_shots_from_elsewhere=stage.has_shots_from_elsewhere,
            )  # fmt: skip
        return FitFigures(tuning.shots_checked, tuning.accuracy, tuning.shrinkage, collection)

    @property
    def space(self) -> Whitening | None:
        """See `FittedClassifier`."""
        return None if self.stage is None else self.stage.basis.whitening

    @property
    def has_links(self) -> NDArray[np.bool_] | None:
        """See `FittedClassifier`."""
        return None if self.stage is None else self.stage.basis.scales > 0

    def classify(self, embeddings: Embeddings, rows: NDArray[np.int64] | None = None) -> Scores:
        """See `FittedClassifier`."""
        if self.stage is not None:
            return self.stage.classify(embeddings, self.back_off, self.classifier, rows=rows)
        scores = self._by_prototypes(embeddings)
        if self.novelty is None:
            return scores
        return replace(
            scores, similarity=self.novelty.similarity_at(np.arange(len(embeddings)) if rows is None else rows)
        )

    def classify_new(self, embeddings: Embeddings) -> Scores:
        """See `FittedClassifier`."""
        if self.stage is not None:
            return self.stage.classify_new(embeddings, self.back_off, self.classifier)
        scores = self._by_prototypes(embeddings)
        return (
            scores if self.novelty is None else replace(scores, similarity=self.novelty.similarity_of_new(embeddings))
        )

    def _by_prototypes(self, embeddings: Embeddings) -> Scores:
        return classify_all(self.classifier, self.back_off, embeddings, np.ones(len(embeddings), dtype=np.float32))

    def probabilities(self, embeddings: Embeddings, rows: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """See `FittedClassifier`."""
        with one_thread_each:
            if self.stage is None:
                logits = self.classifier.logits(embeddings, np.ones(len(embeddings), dtype=np.float32))
                powers = np.exp(logits - logits.max(axis=1, keepdims=True))
                return (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
            if rows is None:
                return self.stage.probabilities(embeddings)
            return self.stage.probabilities_at(embeddings, rows)

    def is_unknown(self, scores: Scores) -> NDArray[np.bool_]:
        """(n,) bool: the image shows none of the classes.

        It and its look-alikes are less like the labelled images than images of known classes are; without the
        collection, it is further from its likeliest class than these are.
        """
        if self.novelty is not None:
            return scores.similarity < self.novelty.threshold
        return self.distance(scores) > self.tuning.unknown_distance

    def distance(self, scores: Scores) -> NDArray[np.float32]:
        """See `FittedClassifier`."""
        return self.classifier.squared_distance(scores)

    def unknown_distance(self, scores: Scores, is_free: NDArray[np.bool_]) -> float:
        """The limit by labels, or that within which nearly all unlabelled images lie that are not unknown."""
        by_labels = self.tuning.unknown_distance
        if self.novelty is None:
            return by_labels
        by_collection = distance_limit(self.distance(scores)[~self.is_unknown(scores) & is_free])
        return max(by_labels, by_collection) if np.isfinite(by_labels) else by_collection

    def explain(
        self,
        image_id: int,
        embedding: NDArray[np.float32],
        chances: NDArray[np.float32],
        *,
        class_id: int,
        safe: ScoredClass | None,
    ) -> Explanation | None:
        """See `FittedClassifier`."""
        place = self.place_of(class_id)
        if place is None or len(self.candidates) == 0:
            return None
        candidate = np.flatnonzero(self.candidates == place)
        shares = made_of(self.table, self.shots, place, self.stage, int(candidate[0]) if len(candidate) else None)
        return Explanation(
            image_id, class_id, self.back_off.probability_of(class_id, chances), shares.own, shares.parents, safe,
            is_unknown=self._is_unknown(image_id, embedding, int(self.candidate_ids[chances.argmax()])),
            coarse=shares.coarse, unlabelled=shares.unlabelled,
            look_alikes=() if self.stage is None else look_alikes(self.stage.basis, image_id),
        )  # fmt: skip

    def _is_unknown(self, image_id: int, embedding: NDArray[np.float32], nearest_class: int) -> bool:
        if self.novelty is None:
            prototype = self.prototype(nearest_class)
            assert prototype is not None, "a candidate"
            return bool(((embedding - prototype) ** 2).sum() > self.tuning.unknown_distance)
        rows = self.novelty.basis.rows_of(np.array([image_id]))
        at = self.novelty.similarity_at(rows) if rows[0] >= 0 else self.novelty.similarity_of_new(embedding[None])
        return bool(at[0] < self.novelty.threshold)

    def hold_out_each(self, graph: CategoryGraph) -> NDArray[np.bool_]:
        """See `FittedClassifier`."""
        held = holdable_shots(graph, self.shots, self.table, self.candidates)
        right = [np.zeros(0, dtype=bool)]
        for start in range(0, len(held), HELD_OUT_TOGETHER):
            part = held[start : start + HELD_OUT_TOGETHER]
            check = held_out_check(graph, self.shots, self.table, self.candidates, part, setting=self.setting)
            nearest = squared_at(check, self.tuning.shrinkage).argmin(axis=1)[:, None]
            right.append(np.take_along_axis(check.is_right, nearest, axis=1)[check.can_tell_leaf, 0])
        return np.concatenate(right)

    def export(self, opset: int) -> Any:
        """See `FittedClassifier`."""
        return answers_model(self.classifier, self.classifier.prototypes, self.stage, self.back_off, opset)
