"""Make snapshots of a collection for the screens."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, final

import numpy as np

from engine.arrays import Ranks
from engine.collection.embedded_images import EmbeddedImages
from engine.collection.prediction_cache import PredictionCache
from engine.collection.predictions import Predictions
from engine.collection.row_scores import RowScores
from engine.collection.search.metadata import ImageMetadata
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
    """Makes snapshots, and stores predictions of a large collection for its next opening."""

    def __init__(self, embedded: EmbeddedImages, model_name: str, folder: Path) -> None:
        self._embedded = embedded
        self._model_name = model_name
        self._stored = PredictionCache(folder, embedded.name)
        self._before_fit: Predictions | None = None  # stored ones, until the first fit
        self._counts = ShownCounts.none()
        self.state: CollectionState = embedded.images.blank_state(model_name)

    def update(self, **changed: Any) -> CollectionState:
        """Publish the state with some other fields."""
        self.state = replace(self.state, **changed)
        return self.state

    def publish_metadata(self, metadata: ImageMetadata) -> CollectionState:
        return self.update(
            notes=metadata.notes,
            detections=metadata.detections,
            hidden=metadata.hidden,
            fields=metadata.fields,
            field_values=metadata.field_values,
            ranks=metadata.ranks(self.state.image_ids),
        )

    def publish_list(self, graph: CategoryGraph) -> CollectionState:
        """Publish images, labels and stored predictions before embeddings are read.

        Images with a stored prediction count as embedded.
        """
        embedded = self._embedded
        self._counts = ShownCounts.none()
        self.state = replace(embedded.images.blank_state(self._model_name), folds=self.state.folds)
        self._before_fit = None
        if embedded.is_large:
            self._before_fit = self._stored.read(embedded.images, graph, embedded.project_id)
        if self._before_fit is None:
            return self.state
        status, best_class = self.state.status.copy(), self._before_fit.best_class
        status[(best_class != NO_CLASS) & (status == ImageStatus.WAITING)] = ImageStatus.READY
        self.update(status=status, **vars(self._before_fit))
        return self.publish_labels(graph)

    def drop_stored(self) -> None:
        """Stop showing stored predictions, as images or classes have changed."""
        self._before_fit = None

    def store(self, graph: CategoryGraph) -> None:
        """Store the predictions of a large collection for its next opening."""
        embedded = self._embedded
        if embedded.is_large and not self.state.is_list_only:
            self._stored.write(
                self.state, embedded.images.content_codes, graph, embedded.project_id
            )

    def publish(
        self, graph: CategoryGraph, scores: RowScores, teach_rank: Ranks | None
    ) -> CollectionState:
        """Publish images, labels, predictions, counts, and ranks of images to label first."""
        images, is_ready = self._embedded.images, self._embedded.is_ready
        before_fit, models = self._before_fit or Predictions.none(len(images.ids)), scores.models
        status = np.where(is_ready, ImageStatus.READY, ImageStatus.WAITING).astype(np.uint8)
        status[images.has_failed & ~is_ready] = ImageStatus.FAILED
        self.update(
            image_ids=images.ids,
            status=status,
            paths=images.paths,
            parts=images.known_parts,
            items=images.items,
            failures=images.failures,
            is_list_only=False,
            teach_rank=teach_rank,
            unseen=models[-1].figures.unseen if models else None,
            error_odds=scores.error_odds,
            **vars(scores.predictions(graph, before_fit)),
        )
        return self.publish_labels(graph)

    def publish_labels(
        self, graph: CategoryGraph, labelled: Sequence[int] | None = None
    ) -> CollectionState:
        """Publish other labels of the same images, with the same predictions and graph.

        Args:
            graph: the classes.
            labelled: the images with other labels; None for any.
        """
        images, state = self._embedded.images, self.state
        if labelled is None:
            shown = shown_classes(images.labels, state.best_class, state.is_unknown)
            self._counts = ShownCounts.none().moved(graph, shown[:0], shown)
            shots = counts_of(images.labels)
        else:
            places = np.searchsorted(state.image_ids, np.unique(np.array(labelled, dtype=np.int64)))
            before, after = state.label_class[places], images.labels[places]
            best, is_unknown = state.best_class[places], state.is_unknown[places]
            self._counts = self._counts.moved(
                graph,
                shown_classes(before, best, is_unknown),
                shown_classes(after, best, is_unknown),
            )
            shots = moved_counts(state.shot_counts, before, after)
        if not state.is_list_only:
            self.update(without_views=self._embedded.without_views())
        return self.update(
            label_class=images.labels,
            shot_counts=shots,
            image_counts=self._counts.or_below,
            outdated=images.outdated,
        )
