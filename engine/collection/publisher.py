"""Makes the snapshots of a collection that screens show."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.collection.embedded_images import EmbeddedImages
from engine.collection.folding.folds import Folds
from engine.collection.image_knowledge import ImageKnowledge
from engine.collection.prediction_cache import PredictionCache
from engine.collection.predictions import Predictions
from engine.collection.row_scores import RowScores
from engine.collection.state import (
    NO_CLASS,
    CollectionState,
    ImageStatus,
    ShownCounts,
    counts_of,
    moved_counts,
    shown_classes,
)
from engine.graph.category_graph import CategoryGraph


@final
class Publisher:
    """Makes snapshots, and keeps what the next one can be made from quickly, in a folder for the next opening, too."""

    def __init__(self, embedded: EmbeddedImages, model_name: str, folder: Path) -> None:
        self._embedded = embedded
        self._model_name = model_name
        self._kept = PredictionCache(folder, embedded.name)
        self._before_fit: Predictions | None = None  # those of when the collection was closed
        self._counts = ShownCounts.none()
        self.state: CollectionState = embedded.images.blank_state(model_name)

    def publish_known(self, known: ImageKnowledge) -> CollectionState:
        """What people noted, what detectors found, and how images are sorted; the rest as it is."""
        self.state = replace(
            self.state,
            notes=known.notes,
            detections=known.detections,
            hidden=known.hidden,
            fields=known.fields,
            field_values=known.field_values,
            ranks=known.ranks(self.state.image_ids),
        )
        return self.state

    def publish_list(self, graph: CategoryGraph) -> CollectionState:
        """Images and labels, before embeddings were read; of a large collection predictions, too.

        They are those of when it was closed. Images that have one count as embedded.
        """
        images = self._embedded.images
        self._counts = ShownCounts.none()
        self.state = replace(images.blank_state(self._model_name), folds=self.state.folds)
        kept = self._before_fit = self._read_kept(graph) if self._embedded.is_large else None
        if kept is None:
            return self.state
        status = self.state.status.copy()
        status[(kept.best_class != NO_CLASS) & (status == ImageStatus.WAITING)] = ImageStatus.READY
        self.state = replace(self.state, status=status, **vars(kept))
        return self.publish_labels(graph)

    def _predictions_before_fit(self) -> Predictions:
        """Without a model: the predictions of when the collection was closed, or none."""
        return self._before_fit or Predictions.none(len(self._embedded.images.ids))

    def forget_kept(self) -> None:
        """Other images or classes came: predictions of when the collection was closed are shown no more."""
        self._before_fit = None

    def keep(self, graph: CategoryGraph) -> None:
        """Keep what is predicted of a large collection for its next opening."""
        embedded = self._embedded
        if embedded.is_large and not self.state.is_list_only:
            self._kept.write(self.state, embedded.images.content_codes, graph, embedded.project_id)

    def _read_kept(self, graph: CategoryGraph) -> Predictions | None:
        return self._kept.read(self._embedded.images, graph, self._embedded.project_id)

    def publish_folds(self, folds: Folds) -> CollectionState:
        """The same with other folds."""
        self.state = replace(self.state, folds=folds)
        return self.state

    def publish_teach_rank(self, teach_rank: NDArray[np.int32] | None) -> CollectionState:
        """The same with other ranks of images to label first."""
        self.state = replace(self.state, teach_rank=teach_rank)
        return self.state

    def publish(
        self, graph: CategoryGraph, scores: RowScores, teach_rank: NDArray[np.int32] | None = None
    ) -> CollectionState:
        """Images, labels, predictions, counts, and the ranks of images to label first."""
        predictions, models = scores.predictions(graph, self._predictions_before_fit), scores.models
        unseen = models[-1].figures.unseen if models else None
        images, is_ready = self._embedded.images, self._embedded.is_ready
        status = np.where(is_ready, ImageStatus.READY, ImageStatus.WAITING).astype(np.uint8)
        status[images.has_failed & ~is_ready] = ImageStatus.FAILED
        self.state = replace(
            self.state, image_ids=images.ids, status=status,
            paths=images.paths, parts=images.known_parts, items=images.items,
            failures=images.failures, is_list_only=False,
            best_class=predictions.best_class, best_score=predictions.best_score,
            safe_class=predictions.safe_class, safe_score=predictions.safe_score,
            is_unknown=predictions.is_unknown, teach_rank=teach_rank, unseen=unseen,
            error_odds=scores.error_odds,
        )  # fmt: skip
        return self.publish_labels(graph)

    def publish_labels(
        self, graph: CategoryGraph, labelled: Sequence[int] | None = None
    ) -> CollectionState:
        """Other labels of the same images, with the same predictions in the same graph.

        Args:
            labelled: the images with other labels; None for any.
        """
        labels, state = self._embedded.images.labels, self.state
        if labelled is None:
            self._counts = ShownCounts.of(
                graph, shown_classes(labels, state.best_class, state.is_unknown)
            )
            shots = counts_of(labels)
        else:
            places = np.searchsorted(state.image_ids, np.unique(np.array(labelled, dtype=np.int64)))
            before, after = state.label_class[places], labels[places]
            best, is_unknown = state.best_class[places], state.is_unknown[places]
            shown = shown_classes(before, best, is_unknown), shown_classes(after, best, is_unknown)
            self._counts = self._counts.moved(graph, *shown)
            shots = moved_counts(state.shot_counts, before, after)
        self.state = replace(
            state, label_class=labels, shot_counts=shots, image_counts=self._counts.or_below,
            outdated=self._embedded.images.outdated,
            without_views=state.without_views if state.is_list_only else self._embedded.without_views(),
        )  # fmt: skip
        return self.state
