"""The fitted everyday model: the paper's prototypes (Eq. 2 to 6) and the collection stage."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from engine.arrays import Flags, Floats, Integers, no_flags
from engine.everyday.back_off import BackOff
from engine.everyday.blocks import Embeddings, at_columns, no_similarity, one_thread_each
from engine.everyday.classifier import (
    CollectionFigures,
    Explanation,
    FitFigures,
    Inheritance,
    LookAlike,
    ScoredClass,
    Setting,
    Share,
)
from engine.everyday.collection_stage.basis import CollectionBasis
from engine.everyday.collection_stage.neighbours import Whitening
from engine.everyday.collection_stage.novelty import Novelty
from engine.everyday.collection_stage.stage import CollectionStage
from engine.everyday.excluded import ExcludedClasses
from engine.everyday.prototypical.classification import LinearClassifier, classify_all, softmax
from engine.everyday.prototypical.onnx_export import answers_model
from engine.everyday.prototypical.prototypes import PrototypeTable
from engine.everyday.prototypical.tuning import Tuning, held_out_check, holdable_shots, squared_at
from engine.everyday.scores import HeldOutShots, Scores, distance_limit
from engine.everyday.shots import Shots
from engine.everyday.unseen import UnseenClasses
from engine.graph.category_graph import CategoryGraph

HELD_OUT_TOGETHER = 512
"""Shots held out at a time. Chosen: their distances to 10,000 classes take 100 MB."""


def _shares(table: PrototypeTable, shots: Shots, place: int) -> tuple[Share, tuple[Share, ...]]:
    """The own share of a prototype, by its place in the table, and its parents'; they sum to 1."""
    keep = float(table.lambda_[place])
    edges = np.flatnonzero(table.edges[1] == place)
    own = Share(int(table.class_ids[place]), keep, _images_of(table, shots, place))
    parents = tuple(
        Share(
            int(table.class_ids[parent]),
            (1 - keep) * float(weight),
            _images_of(table, shots, int(parent)),
        )
        for parent, weight in zip(table.edges[0, edges], table.edge_weights[edges], strict=True)
    )
    return own, tuple(sorted(parents, key=lambda share: -share.share))


def _refined(
    start: Explanation, shots: Shots, stage: CollectionStage, candidate: int
) -> Explanation:
    """The propagated prototype's share with the collection stage; shots count once more."""
    refined = stage.refined
    kept, unlabelled = float(refined.start[candidate]), float(refined.unlabelled[candidate])
    by_shots = 1 - kept - unlabelled - float(refined.coarse[candidate])
    own = replace(start.own, share=kept * start.own.share + by_shots)
    parents = tuple(replace(parent, share=kept * parent.share) for parent in start.parents)
    coarse = _coarse_shares(shots, stage, candidate)
    return replace(start, own=own, parents=parents, coarse=coarse, unlabelled=unlabelled)


def _coarse_shares(shots: Shots, stage: CollectionStage, candidate: int) -> tuple[Share, ...]:
    """The part that images with a coarse label have, by the class they are labelled with."""
    total, positions = float(stage.refined.coarse[candidate]), stage.labels.sharing(candidate)
    parts = stage.refined.chances.at(positions)[:, candidate]
    if total <= 0 or parts.sum() <= 0:
        return ()
    image_ids = stage.basis.image_ids[stage.basis.anchors[positions]]
    order = np.argsort(shots.image_ids, kind="stable")
    label_of = shots.class_ids[order][np.searchsorted(shots.image_ids[order], image_ids)]
    shares = []
    for label in np.unique(label_of):
        is_own = label_of == label
        part = total * float(parts[is_own].sum() / parts.sum())
        shares.append(Share(int(label), part, tuple(image_ids[is_own].tolist())))
    return tuple(sorted(shares, key=lambda share: -share.share))


def _look_alikes(basis: CollectionBasis, image_id: int) -> tuple[LookAlike, ...]:
    """Images whose classes this one's probabilities follow, strongest link first."""
    row = int(basis.rows_of(np.array([image_id]))[0])
    if row < 0:
        return ()
    links = basis.links_at(np.array([row]))
    positions, weights = links.positions[0], links.weights[0]
    linked = np.flatnonzero(weights > 0)
    ids = basis.image_ids[basis.anchors[positions[linked]]]
    return tuple(
        LookAlike(int(other), float(weight))
        for other, weight in zip(ids, weights[linked], strict=True)
    )


def _images_of(table: PrototypeTable, shots: Shots, place: int) -> tuple[int, ...]:
    members = table.membership
    positions = members.image_positions[members.class_positions == place]
    return tuple(shots.image_ids[positions].tolist())


@dataclass(frozen=True)
class EverydayModel:
    """A fitted model; everything a screen or a file needs to classify and to explain."""

    setting: Setting  # what parents are
    shots: Shots  # the labelled images it was fitted to
    table: PrototypeTable  # prototypes of all reached classes
    candidates: Integers  # (c,) positions in the table of the classes to choose among
    tuning: Tuning  # shrinkage, temperature, and how they did on held-out shots
    classifier: LinearClassifier  # Eq. 2 over the candidates.
    back_off: BackOff  # roll-up and bars over the candidates
    # None where it is off, has no data, or would do worse on held-out shots
    stage: CollectionStage | None = None
    # How the stage did on held-out shots, also where it was dropped
    stage_check: CollectionFigures | None = None
    held_out: HeldOutShots | None = None  # None where nothing was held out
    novelty: Novelty | None = None  # detects unknown images; None where only distances do
    # What probabilities are divided with; None where all classes have examples
    unseen: UnseenClasses | None = None
    excluded: ExcludedClasses | None = None  # classes that are excluded for single images

    @property
    def candidate_ids(self) -> Integers:
        """(c,) int64 class ids of the candidates."""
        return self.table.class_ids[self.candidates]

    def place_of(self, class_id: int) -> int | None:
        """Position of a class in the table, None when it has no prototype."""
        place = int(np.searchsorted(self.table.class_ids, class_id))
        if place == len(self.table.class_ids) or self.table.class_ids[place] != class_id:
            return None
        return place if self.table.has_prototype[place] else None

    def prototype(self, class_id: int) -> Floats | None:
        """Final prototype (d,) of a class, None when it has none."""
        place = self.place_of(class_id)
        return None if place is None else self.table.final[place]

    @cached_property
    def inheritance(self) -> Inheritance:
        table = self.table
        ends = table.class_ids[table.edges]
        pairs = zip(ends[0].tolist(), ends[1].tolist(), strict=True)
        return Inheritance(
            dict(zip(table.class_ids.tolist(), table.lambda_.tolist(), strict=True)),
            dict(zip(pairs, table.edge_weights.tolist(), strict=True)),
        )

    @property
    def figures(self) -> FitFigures:
        tuning, collection, stage = self.tuning, self.stage_check, self.stage
        if collection is not None and stage is not None:
            collection = replace(
                collection,
                images=stage.basis.learned_from,
                anchors=len(stage.basis.anchors),
                familiarity=stage.familiarity,
                has_shots_from_elsewhere=stage.has_shots_from_elsewhere,
            )
        unseen = None if self.unseen is None else self.unseen.counts
        return FitFigures(
            tuning.shots_checked, tuning.accuracy, tuning.shrinkage, collection, unseen
        )

    @property
    def space(self) -> Whitening | None:
        return None if self.stage is None else self.stage.basis.whitening

    @property
    def has_links(self) -> Flags | None:
        return None if self.stage is None else self.stage.basis.scales > 0

    def classify(self, embeddings: Embeddings, rows: Integers | None = None) -> Scores:
        if self.stage is not None:
            scores = self.stage.classify_known(
                embeddings, self.back_off, self.classifier, rows=rows
            )
        else:
            at = np.arange(len(embeddings)) if rows is None else rows
            scores = self._by_prototypes(embeddings, at)
        if self.excluded is None:
            return scores
        return self.excluded.correct(scores, embeddings, rows, self, self.classifier)

    def classify_new(self, embeddings: Embeddings) -> Scores:
        if self.stage is not None:
            return self.stage.classify_new(embeddings, self.back_off, self.classifier)
        return self._by_prototypes(embeddings, None)

    def _by_prototypes(self, embeddings: Embeddings, rows: Integers | None) -> Scores:
        similarity = self._similarity(embeddings, rows)
        return classify_all(
            self.classifier, self.back_off, embeddings, unseen=self.unseen, similarity=similarity
        )

    def _similarity(self, embeddings: Embeddings, rows: Integers | None) -> Floats:
        """Similarity (n,) to the labelled images, at rows of the snapshot or of new images."""
        if self.novelty is None:
            return no_similarity(len(embeddings))
        if rows is None:
            return self.novelty.similarity_of_new(embeddings)
        return self.novelty.similarity_at(rows)

    def probabilities(self, embeddings: Embeddings, rows: Integers | None = None) -> Floats:
        with one_thread_each:
            found = self._probabilities(embeddings, rows)
        return found if self.excluded is None or rows is None else self.excluded.apply(found, rows)

    def _probabilities(self, embeddings: Embeddings, rows: Integers | None) -> Floats:
        if self.stage is not None:
            return self.stage.probabilities(embeddings, rows)
        found = softmax(self.classifier.logits(embeddings))
        if self.unseen is None:
            return found
        return self.unseen.divide(found, self._similarity(embeddings, rows))

    def is_unknown(self, scores: Scores) -> Flags:
        """Less similar, or further from its class, than known images are.

        See `FittedClassifier`.
        """
        if self.novelty is not None:
            return scores.similarity < self.novelty.threshold
        return self.distance(scores) > self.tuning.unknown_distance

    def distance(self, scores: Scores) -> Floats:
        return self.classifier.squared_distance(scores)

    def unknown_distance(self, scores: Scores, is_free: Flags) -> float:
        """See `Exports`: by labels, or by the distances of nearly all known unlabelled images."""
        by_labels = self.tuning.unknown_distance
        if self.novelty is None:
            return by_labels
        by_collection = distance_limit(self.distance(scores)[~self.is_unknown(scores) & is_free])
        return max(by_labels, by_collection) if np.isfinite(by_labels) else by_collection

    def explain(
        self,
        image_id: int,
        embedding: Floats,
        chances: Floats,
        *,
        class_id: int,
        safe: ScoredClass | None,
    ) -> Explanation | None:
        place = self.place_of(class_id)
        if place is None or len(self.candidates) == 0:
            return None
        score = self.back_off.probability_of(class_id, chances)
        is_unknown = self._is_unknown(
            image_id, embedding, int(self.candidate_ids[chances.argmax()])
        )
        own, parents = _shares(self.table, self.shots, place)
        explanation = Explanation(image_id, class_id, score, own, parents, safe, is_unknown)
        if self.stage is None:
            return explanation
        explanation = replace(explanation, look_alikes=_look_alikes(self.stage.basis, image_id))
        candidate = np.flatnonzero(self.candidates == place)
        if not len(candidate):
            return explanation
        return _refined(explanation, self.shots, self.stage, int(candidate[0]))

    def _is_unknown(self, image_id: int, embedding: Floats, nearest_class: int) -> bool:
        if self.novelty is None:
            prototype = self.prototype(nearest_class)
            assert prototype is not None, "a candidate"
            return bool(((embedding - prototype) ** 2).sum() > self.tuning.unknown_distance)
        rows = self.novelty.basis.rows_of(np.array([image_id]))
        similarity = self._similarity(embedding[None], rows if rows[0] >= 0 else None)
        return bool(similarity[0] < self.novelty.threshold)

    def hold_out_each(self, graph: CategoryGraph) -> Flags:
        held = holdable_shots(graph, self.shots, self.table, self.candidates)
        right = [no_flags()]
        for start in range(0, len(held), HELD_OUT_TOGETHER):
            part = held[start : start + HELD_OUT_TOGETHER]
            check = held_out_check(
                graph, self.shots, self.table, self.candidates, part, setting=self.setting
            )
            nearest = squared_at(check, self.tuning.shrinkage).argmin(axis=1)
            right.append(at_columns(check.is_right, nearest)[check.can_tell_leaf])
        return np.concatenate(right)

    def export(self, opset: int) -> Any:
        return answers_model(
            self.classifier,
            self.classifier.prototypes,
            self.back_off,
            opset,
            stage=self.stage,
            novelty=self.novelty,
            unseen=self.unseen,
        )
