"""An open collection that stays classified: after every change only what it touches is done again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from engine.collection.backbone_change.lost import model_or_lost
from engine.collection.embed import open_cache
from engine.collection.embedding_store import EmbeddingStore
from engine.collection.explain import (
    ClassFacts,
    Explanation,
    ScoredClass,
    class_facts,
    explain,
    suggested_parents,
    top_classes,
)
from engine.collection.image_list import ImageList
from engine.collection.kept_basis import KeptBasis
from engine.collection.live_basis import LiveBasis
from engine.collection.models import ModelFiles
from engine.collection.new_project import new_project
from engine.collection.policies import policies_of
from engine.collection.setting import COLLECTION_SETTING, is_collection_on
from engine.collection.state import NO_CLASS, UNKNOWN, CollectionState, ImageStatus
from engine.config import CacheFolders
from engine.everyday.classification import Scores, likeness
from engine.everyday.model import EverydayModel, fit, prior_of
from engine.everyday.propagation import PropagationSession
from engine.everyday.prototypes import Setting
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph
from engine.images.freed_memory import return_freed_memory
from engine.project import Change, Project

__all__ = ["ClassFacts", "Explanation", "LiveCollection", "ScoredClass"]

SETTING_NAME: Final = "setting"


@final
class LiveCollection:
    """Project, caches and current predictions. Use it from one thread at a time.

    Attributes:
        project: the open project.
        state: the newest snapshot; replaced, never changed.
        fitted: the fitted model, None before `load`.
    """

    def __init__(self, project: Project, caches: CacheFolders) -> None:
        self.project = project
        self.fitted: EverydayModel | None = None
        self._images = ImageList(project)
        self._model: ModelFiles = model_or_lost(project, caches)
        self._caches = caches
        self._cache = open_cache(self._model, caches)
        self._propagation: PropagationSession | None = None
        self._store = EmbeddingStore(self._model.card.embedding_width)
        self._basis = self._new_basis()
        self._scores = Scores.empty(0)
        self.state: CollectionState = self._images.blank_state(self._model.name)

    @staticmethod
    def open(path: Path, caches: CacheFolders, *, for_writing: bool = True) -> "LiveCollection":
        """Open a project file; who shows it makes its backups, beside the work."""
        return _or_close(Project.open(path, for_writing=for_writing, is_backed_up=False), caches)

    @staticmethod
    def create(path: Path, caches: CacheFolders) -> "LiveCollection":
        """Create a project with the bundled backbone and open it."""
        return _or_close(new_project(path), caches)

    def close(self) -> None:
        """Close project and cache."""
        self._cache.close()
        self.project.close()

    # -- keeping up -----------------------------------------------------------------------------------------------

    def load_list(self) -> CollectionState:
        """Read images and labels: enough to paint the grid."""
        self._images.read()
        self.state = self._images.blank_state(self._model.name)
        return self.state

    def load(self) -> CollectionState:
        """Read everything: images, labels, cached embeddings; then fit and classify."""
        self._images.read()
        self._store = EmbeddingStore(self._model.card.embedding_width)
        self._basis = self._new_basis()
        self._store.append(self._images.ids)
        self._store.fill(np.arange(len(self._images.ids)), self._images.content_hashes, self._cache)
        self._refit()
        return_freed_memory()
        return self._publish()

    def apply(self, change: Change) -> CollectionState:
        """Take an action, undo or redo into account."""
        if self.fitted is None:
            return self.load()
        if change.settings and (model := model_or_lost(self.project, self._caches)) != self._model:
            return self._change_model(model)
        if change.images_added or change.images_removed:
            self._images.read()
            if not self._take_new_images(change.images_added):
                return self.load()
        elif change.images_moved:
            self._images.read()
        elif change.labelled:
            self._images.read_labels(change.labelled)
        learns = bool(change.images_added) and self._has_more_to_learn()
        has_new_setting = not {SETTING_NAME, COLLECTION_SETTING}.isdisjoint(change.settings)
        is_touched = change.graph_edits or change.labelled or change.policies or change.images_removed
        if is_touched or has_new_setting or learns:
            self._refit()
        return self._publish()

    def take_embedded(self, image_ids: Sequence[int]) -> CollectionState:
        """Take new embeddings of these images from the cache, or note that they failed.

        Images that were removed while they were embedded are passed over. Files may have changed since they were
        embedded before: what the collection stage saw in the old ones is forgotten.
        """
        self._images.read()
        listed = np.intersect1d(np.array(image_ids, dtype=np.int64), self._images.ids)
        rows = self._store.rows_of(listed)
        if rows is None:
            return self.load()
        before, was_filled = self._store.embeddings[rows], self._store.is_filled[rows]
        filled = self._store.fill(rows, self._images.hashes_of(listed), self._cache)
        if (was_filled & (self._store.embeddings[rows] != before).any(axis=1)).any():
            self._basis = self._new_basis()
        has_new_shots = bool((self._images.labels_of(listed) != NO_CLASS).any())
        if has_new_shots or self.fitted is None or self._has_more_to_learn():
            self._refit()
        else:
            self._classify_rows(filled)
        return self._publish()

    def _take_new_images(self, added: Sequence[int]) -> bool:
        """Reserve rows for images that were added; False when an older image came back and all must be read."""
        known = self._store.image_ids
        fresh = np.setdiff1d(self._images.ids, known, assume_unique=True)
        if len(fresh) and len(known) and fresh[0] < known[-1]:
            return False
        self._store.append(fresh)
        self._grow_scores()
        rows = self._store.rows_of(self._images.ids)
        assert rows is not None, "every listed image has a row"
        # Also an image that comes back may have got its embedding while it was away.
        places = np.flatnonzero(~self._store.is_filled[rows])
        filled = self._store.fill(rows[places], self._images.hashes_of(self._images.ids[places]), self._cache)
        back = rows[np.isin(self._images.ids, added) & self._store.is_filled[rows]]
        self._classify_rows(np.union1d(filled, back))
        return True

    def _has_more_to_learn(self) -> bool:
        """Whether embeddings are there that the collection stage should take into account."""
        if not is_collection_on(self.project):
            return False
        rows = self._store.rows_of(self._images.ids)
        assert rows is not None, "every listed image has a row"
        is_last = bool((self._store.is_filled[rows] | self._images.has_failed).all())
        return self._basis.has_outgrown(self._images.ids, is_last=is_last)

    def _grow_scores(self) -> None:
        grown = Scores.empty(len(self._store.image_ids))
        grown.put(slice(0, len(self._scores.best)), self._scores)
        self._scores = grown

    def _change_model(self, model: ModelFiles) -> CollectionState:
        """Go on with the model version that the project uses now, and with its cache."""
        self._model = model
        self._cache.close()
        self._cache = open_cache(self._model, self._caches)
        self._propagation = None
        return self.load()

    # -- the model ------------------------------------------------------------------------------------------------

    def _refit(self) -> None:
        graph, policies = self.project.graph, policies_of(self.project)
        setting = Setting(str(self.project.setting(SETTING_NAME, Setting.PPN_PLUS.value)))
        prior = prior_of(self._model.card)
        shots, is_on = self._shots(graph), is_collection_on(self.project)
        gone = np.setdiff1d(self._store.image_ids, self._images.ids, assume_unique=True)
        self.fitted = fit(
            graph, shots, self._session(), prior, setting=setting, policies=policies,
            collection=self._basis.current(self._images.ids, shots.image_ids) if is_on else None,
            ignored=np.union1d(self._images.ids[self._images.labels == UNKNOWN], gone),
        )  # fmt: skip
        embeddings, squares = self._store.embeddings, self._store.squares
        has_candidates = len(self.fitted.candidates) > 0
        self._scores = self.fitted.classify(embeddings, squares) if has_candidates else Scores.empty(len(embeddings))

    def _new_basis(self) -> LiveBasis:
        name = f"{self._model.backbone_hash} {self.project.path}"
        return LiveBasis(self._store, KeptBasis(self._caches.collections, name))

    def _session(self) -> PropagationSession:
        if self._propagation is None:
            self._propagation = PropagationSession(self._model.propagation)
        return self._propagation

    def _shots(self, graph: CategoryGraph) -> Shots:
        image_ids, class_ids = self._images.labelled()
        known = np.array([class_id in graph for class_id in class_ids.tolist()], dtype=bool)
        image_ids, class_ids = image_ids[known], class_ids[known]
        rows = self._store.rows_of(image_ids)
        assert rows is not None, "every listed image has a row"
        ready = self._store.is_filled[rows]
        return Shots(image_ids[ready], class_ids[ready], self._store.floats(rows[ready]))

    def _classify_rows(self, rows: NDArray[np.int64]) -> None:
        """Classify images that are new to the fitted model; it has classified those that it knows."""
        if self.fitted is None or len(self.fitted.candidates) == 0:
            return
        if (stage := self.fitted.collection) is not None:
            rows = rows[stage.basis.rows_of(self._store.image_ids[rows]) < 0]
        if len(rows) == 0:
            return
        self._scores.put(rows, self.fitted.classify_new(self._store.embeddings[rows], self._store.squares[rows]))

    # -- answers --------------------------------------------------------------------------------------------------

    def _publish(self) -> CollectionState:
        rows = self._store.rows_of(self._images.ids)
        assert rows is not None, "every listed image has a row"
        ready = self._store.is_filled[rows]
        status = np.where(ready, ImageStatus.READY, ImageStatus.WAITING).astype(np.uint8)
        status[self._images.has_failed & ~ready] = ImageStatus.FAILED
        fitted = self.fitted
        has_prediction = ready if fitted is not None and len(fitted.candidates) else np.zeros_like(ready)
        self.state = self._images.state(
            self.project.graph, self._model.name, status, has_prediction, scores=self._scores_at(rows), fitted=fitted
        )
        return self.state

    def _scores_at(self, rows: NDArray[np.int64]) -> Scores:
        scores = self._scores
        if len(rows) == len(scores.best):
            return scores
        return Scores(*(array[rows] for array in vars(scores).values()))

    def top_classes(self, image_id: int, count: int = 5) -> tuple[ScoredClass, ...]:
        """The likeliest classes of an image, best first; none while it has no embedding."""
        row = self._filled_row(image_id)
        return () if row is None or self.fitted is None else top_classes(self.fitted, self._chances(row), count)

    def explain(self, image_id: int, class_id: int | None = None) -> Explanation | None:
        """Why an image is (or would be) of a class; None while nothing can be said."""
        row = self._filled_row(image_id)
        if row is None or self.fitted is None:
            return None
        place = self.state.position(image_id)
        safe = int(self.state.safe_class[place])
        safe_class = None if safe == NO_CLASS else ScoredClass(safe, float(self.state.safe_score[place]))
        embedding = self._store.floats(np.array([row]))[0]
        return explain(self.fitted, image_id, embedding, self._chances(row), class_id=class_id, safe=safe_class)

    def class_facts(self, class_id: int) -> ClassFacts:
        """What is known of a class: shots, lambda, where propagation comes from, bar."""
        policies = policies_of(self.project)
        shots = tuple(image_id for image_id, label in self._images.label_items() if label == class_id)
        return class_facts(self.fitted, self.project.graph, policies, class_id, shots=shots)

    def suggested_parents(self, class_id: int, count: int = 3) -> tuple[ScoredClass, ...]:
        """The coarse classes whose prototypes are nearest to a class's own images, nearest first."""
        return () if self.fitted is None else suggested_parents(self.fitted, self.project.graph, class_id, count)

    def candidates(self, class_id: int, count: int = 12) -> tuple[int, ...]:
        """The unlabelled images nearest to a class's prototype, nearest first."""
        if self.fitted is None:
            return ()
        prototype = self.fitted.prototype(class_id)
        if prototype is None:
            return ()
        rows = self._store.rows_of(self._images.ids)
        assert rows is not None, "every listed image has a row"
        free = rows[(self._images.labels == NO_CLASS) & self._store.is_filled[rows]]
        alike = likeness(self._store.embeddings, prototype)
        order = free[np.argsort(-alike[free], kind="stable")[:count]]
        return tuple(self._store.image_ids[order].tolist())

    def _filled_row(self, image_id: int) -> int | None:
        rows = self._store.rows_of([image_id])
        return None if rows is None or not self._store.is_filled[rows[0]] else int(rows[0])

    def _chances(self, row: int) -> NDArray[np.float32]:
        """Probability (c,) of each candidate for one image."""
        assert self.fitted is not None, "asked after fitting"
        if len(self.fitted.candidates) == 0:
            return np.zeros(0, dtype=np.float32)
        rows = np.array([row])
        stage = self.fitted.collection
        is_known = stage is None or stage.basis.rows_of(self._store.image_ids[rows])[0] >= 0
        return self.fitted.probabilities(
            self._store.embeddings[rows], self._store.squares[rows], rows if is_known else None
        )[0]


def _or_close(project: Project, caches: CacheFolders) -> LiveCollection:
    try:
        return LiveCollection(project, caches)
    except BaseException:
        project.close()
        raise
