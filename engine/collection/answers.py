"""Answers to what screens ask of an open collection: of one image, of several, of a class."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.embeddings.embedded_images import EmbeddedImages
from engine.collection.explain import top_classes
from engine.collection.state import NO_CLASS, CollectionState
from engine.everyday.classifier import Explanation, FittedClassifier, ScoredClass, Share
from engine.everyday.scores import similarity
from engine.graph.category_graph import CategoryGraph
from engine.project.records import Label

TOPS: Final = 9
"""Classes of a guess: one for each digit."""


@dataclass(frozen=True)
class Guess:
    """What a person is told of an image before they decide."""

    image_id: int  # the image
    label: Label | None  # the person's, None without one
    tops: tuple[ScoredClass, ...]  # the likeliest classes, best first, at most `TOPS`; none while it has no embedding
    explanation: Explanation | None  # why the likeliest; None while nothing can be said


@dataclass(frozen=True)
class Answers:
    """A fitted model beside what the project lists by now: what is gone from the project is in no answer."""

    fitted: FittedClassifier  # the model
    graph: CategoryGraph  # the project's, as it is now
    embedded: EmbeddedImages  # the images
    state: CollectionState  # the newest snapshot
    seen: NDArray[np.bool_]  # (r,) bool, the rows of `embedded.store` that the model was fitted with

    def tops(self, image_id: int, count: int) -> tuple[ScoredClass, ...]:
        """The likeliest classes of an image, best first; none while it has no embedding."""
        row = self.embedded.ready_row(image_id)
        return () if row is None else self._tops(self.chances(np.array([row]))[0], count)

    def explain(self, image_id: int, class_id: int | None = None) -> Explanation | None:
        """Why an image is (or would be) of a class; None while nothing can be said."""
        row = self.embedded.ready_row(image_id)
        return None if row is None else self._explain(image_id, row, self.chances(np.array([row]))[0], class_id)

    def guess_parts(self, image_ids: Sequence[int]) -> dict[int, tuple[tuple[ScoredClass, ...], Explanation | None]]:
        """The `TOPS` likeliest classes, and why, of those of these images that have an embedding."""
        rows = {i: row for i in image_ids if (row := self.embedded.ready_row(i)) is not None}
        chances = self.chances(np.array(list(rows.values()), dtype=np.int64))
        return {
            image_id: (self._tops(of_image, TOPS), self._explain(image_id, row, of_image, None))
            for (image_id, row), of_image in zip(rows.items(), chances, strict=True)
        }

    def nearest_unlabelled(self, class_id: int, count: int) -> tuple[int, ...]:
        """The unlabelled images nearest to a class's prototype, nearest first."""
        prototype = self.fitted.prototype(class_id)
        if prototype is None:
            return ()
        rows, store = self.embedded.rows, self.embedded.store
        free = rows[(self.embedded.images.labels == NO_CLASS) & self.embedded.is_ready]
        alike = similarity(store.embeddings, prototype)
        order = free[np.argsort(-alike[free], kind="stable")[:count]]
        return tuple(store.image_ids[order].tolist())

    def chances(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Probability (k, c) of each candidate for images with an embedding."""
        store = self.embedded.store
        found = np.zeros((len(rows), len(self.fitted.candidate_ids)), dtype=np.float32)
        if found.size == 0:
            return found
        for places, is_seen in ((np.flatnonzero(self.seen[rows]), True), (np.flatnonzero(~self.seen[rows]), False)):
            if len(places):
                chosen = rows[places]
                known = chosen if is_seen else None
                found[places] = self.fitted.probabilities(store.embeddings[chosen], known)
        return found

    def _tops(self, chances: NDArray[np.float32], count: int) -> tuple[ScoredClass, ...]:
        tops = top_classes(self.fitted, np.where(self._is_gone, np.float32(-1), chances), count)
        return tuple(top for top in tops if top.score >= 0)

    def _explain(
        self, image_id: int, row: int, chances: NDArray[np.float32], class_id: int | None
    ) -> Explanation | None:
        tops = self._tops(chances, 1)
        if not tops or (class_id is not None and class_id not in self.graph):
            return None
        place = self.state.position(image_id)
        safe = int(self.state.safe_class[place])
        safe_class = None if safe == NO_CLASS else ScoredClass(safe, float(self.state.safe_score[place]))
        embedding = self.embedded.store.floats(np.array([row]))[0]
        asked = tops[0].class_id if class_id is None else class_id
        found = self.fitted.explain(image_id, embedding, chances, class_id=asked, safe=safe_class)
        return None if found is None else self._without_what_is_gone(found)

    def _without_what_is_gone(self, found: Explanation) -> Explanation:
        """Classes and images may be gone since the model was fitted: until the next fit their shares are left out."""
        return replace(
            found,
            own=self._listed(found.own),
            parents=tuple(self._listed(share) for share in found.parents if share.class_id in self.graph),
            coarse=tuple(self._listed(share) for share in found.coarse if share.class_id in self.graph),
            look_alikes=tuple(one for one in found.look_alikes if self.embedded.images.has(one.image_id)),
        )

    def _listed(self, share: Share) -> Share:
        gone = self._gone_shots
        return replace(share, image_ids=tuple(i for i in share.image_ids if i not in gone)) if gone else share

    @cached_property
    def _is_gone(self) -> NDArray[np.bool_]:
        """(c,) bool: candidates that are in the graph no more."""
        return np.array([class_id not in self.graph for class_id in self.fitted.candidate_ids.tolist()], dtype=bool)

    @cached_property
    def _gone_shots(self) -> frozenset[int]:
        """Labelled images that were removed since."""
        shots = self.fitted.shots.image_ids
        return frozenset(shots[~np.isin(shots, self.embedded.images.ids)].tolist())
