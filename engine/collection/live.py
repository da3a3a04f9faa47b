"""An open project that stays classified: after every change what it touches is done again.

The window keeps it open; the command line uses it once (`engine.collection.classify`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.collection.embeddings.cached_basis import CachedBasis
from engine.collection.embeddings.embedded_images import EmbeddedImages
from engine.collection.embeddings.live_basis import LiveBasis
from engine.collection.explain import (
    ClassFacts,
    Explanation,
    ScoredClass,
    class_facts,
    explain,
    suggested_parents,
    top_classes,
)
from engine.collection.lost_model import model_or_lost
from engine.collection.models import ModelFiles
from engine.collection.new_project import new_project
from engine.collection.project_settings import SETTING_NAME, STAGE_SETTING, is_stage_on, policies_of, setting_of
from engine.collection.state import NO_CLASS, CollectionState, ImageStatus
from engine.config import CacheFolders
from engine.everyday.classification import Scores, likeness
from engine.everyday.model import EverydayModel, fit, prior_of
from engine.everyday.propagation import PropagationSession
from engine.everyday.prototypes import Setting
from engine.images.freed_memory import return_freed_memory
from engine.project import Change, Project

__all__ = ["ClassFacts", "Explanation", "LiveCollection", "ScoredClass"]


@final
class LiveCollection:
    """Project, embeddings, fitted model and current predictions. Use it from one thread at a time.

    Args:
        project: may be open for reading only.
        caches: where embeddings are.
        model: by default that of the version in use, also where its file is gone.
        setting: by default as the project is set.
        with_stage: whether the collection stage is on; by default as the project is set.

    Attributes:
        project: the open project.
        model: the model files in use.
        embedded: images, labels and embeddings.
        state: the newest snapshot; replaced, never changed.
        fitted: the fitted model, None before `load`.
        scores: outcome for each row of `embedded.store`.
    """

    def __init__(
        self,
        project: Project,
        caches: CacheFolders,
        *,
        model: ModelFiles | None = None,
        setting: Setting | None = None,
        with_stage: bool | None = None,
    ) -> None:
        self.project = project
        self.fitted: EverydayModel | None = None
        self.scores = Scores.empty(0)
        self._caches = caches
        self._setting, self._with_stage = setting, with_stage
        self._use(model or model_or_lost(project, caches))
        self.state: CollectionState = self.embedded.images.blank_state(self.model.name)

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
        self.embedded.close()
        self.project.close()

    # -- keeping up -----------------------------------------------------------------------------------------------

    def load_list(self) -> CollectionState:
        """Read images and labels: enough to paint the grid."""
        self.embedded.images.read()
        self.state = self.embedded.images.blank_state(self.model.name)
        return self.state

    def load(self) -> CollectionState:
        """Read everything: images, labels, cached embeddings; then fit and classify."""
        self.embedded.read()
        self._basis = self._new_basis()
        self._refit()
        return_freed_memory()
        return self._publish()

    def apply(self, change: Change) -> CollectionState:
        """Take an action, undo or redo into account."""
        if self.fitted is None:
            return self.load()
        if change.settings and (model := model_or_lost(self.project, self._caches)) != self.model:
            self.embedded.close()
            self._use(model)
            return self.load()
        if change.images_added or change.images_removed:
            reads_all = bool(change.images_removed or change.images_moved)
            filled = self.embedded.read_changed(change.images_added, reads_all=reads_all)
            if filled is None:
                return self.load()
            self._classify_added(filled, change.images_added)
        elif change.images_moved:
            self.embedded.images.read()
        if not (change.images_removed or change.images_moved):
            self.embedded.images.read_labels(change.labelled)
        learns = bool(change.images_added) and self._has_more_to_learn()
        has_new_setting = not {SETTING_NAME, STAGE_SETTING}.isdisjoint(change.settings)
        is_touched = change.graph_edits or change.policies or change.images_removed
        if is_touched or self._has_embedded(change.labelled) or has_new_setting or learns:
            self._refit()
        return self._publish()

    def take_embedded(self, image_ids: Sequence[int]) -> CollectionState:
        """Take new embeddings of these images from the cache, or note that they failed.

        Images that were removed while they were embedded are passed over. Files may have changed since they were
        embedded before: what the collection stage learned from the old ones is forgotten.
        """
        images = self.embedded.images
        if not self.project.is_writable:
            images.read()  # another program may have added and removed images
        listed = np.intersect1d(np.array(image_ids, dtype=np.int64), images.ids)
        if self.embedded.store.rows_of(listed) is None:
            return self.load()
        filled, has_changed = self.embedded.read_embeddings(listed)
        if has_changed:
            self._basis = self._new_basis()
        has_new_shots = bool((images.labels_of(listed) != NO_CLASS).any())
        if has_new_shots or self.fitted is None or self._has_more_to_learn():
            self._refit()
        else:
            self._classify_rows(filled)
        return self._publish()

    def _classify_added(self, filled: NDArray[np.int64], added: Sequence[int]) -> None:
        """Classify added images: those whose embedding was just read, and those that came back with theirs."""
        grown = Scores.empty(len(self.embedded.store.image_ids))
        grown.put(slice(0, len(self.scores.best)), self.scores)
        self.scores = grown
        back = self.embedded.rows[np.isin(self.embedded.images.ids, added) & self.embedded.is_ready]
        self._classify_rows(np.union1d(filled, back))

    def _has_embedded(self, image_ids: Sequence[int]) -> bool:
        """Whether one of these images has an embedding; the labels of others change no prototype."""
        return bool((np.isin(self.embedded.images.ids, image_ids) & self.embedded.is_ready).any())

    def _has_more_to_learn(self) -> bool:
        """Whether embeddings are there that the collection stage should take into account."""
        return self._is_stage_on() and self._basis.has_outgrown()

    # -- the model ------------------------------------------------------------------------------------------------

    def _use(self, model: ModelFiles) -> None:
        """Go on with this model and its cache of embeddings."""
        self.model = model
        self.embedded = EmbeddedImages(self.project, model, self._caches)
        self._basis = self._new_basis()
        self._propagation: PropagationSession | None = None

    def _new_basis(self) -> LiveBasis:
        name = f"{self.model.backbone_hash} {self.project.path}"
        return LiveBasis(self.embedded, CachedBasis(self._caches.collections, name))

    def _is_stage_on(self) -> bool:
        return is_stage_on(self.project) if self._with_stage is None else self._with_stage

    def _refit(self) -> None:
        """Fit the model to the labels and classify every image."""
        graph, store = self.project.graph, self.embedded.store
        if self._propagation is None:
            self._propagation = PropagationSession(self.model.propagation)
        shots = self.embedded.shots(graph)
        self.fitted = fit(
            graph, shots, self._propagation, prior_of(self.model.card),
            setting=self._setting or setting_of(self.project), policies=policies_of(self.project),
            basis=self._basis.current(shots.image_ids) if self._is_stage_on() else None,
            ignored=self.embedded.ignored(),
        )  # fmt: skip
        has_candidates = len(self.fitted.candidates) > 0
        self.scores = (
            self.fitted.classify(store.embeddings, store.squares)
            if has_candidates
            else Scores.empty(len(store.squares))
        )

    def _classify_rows(self, rows: NDArray[np.int64]) -> None:
        """Classify images that are new to the fitted model; it has classified those that it knows."""
        if self.fitted is None or len(self.fitted.candidates) == 0:
            return
        store = self.embedded.store
        if (stage := self.fitted.stage) is not None:
            rows = rows[stage.basis.rows_of(store.image_ids[rows]) < 0]
        if len(rows) == 0:
            return
        self.scores.put(rows, self.fitted.classify_new(store.embeddings[rows], store.squares[rows]))

    # -- answers --------------------------------------------------------------------------------------------------

    def _publish(self) -> CollectionState:
        ready, images, fitted = self.embedded.is_ready, self.embedded.images, self.fitted
        status = np.where(ready, ImageStatus.READY, ImageStatus.WAITING).astype(np.uint8)
        status[images.has_failed & ~ready] = ImageStatus.FAILED
        has_prediction = ready if fitted is not None and len(fitted.candidates) else np.zeros_like(ready)
        self.state = images.state(
            self.project.graph, self.model.name, status, has_prediction,
            scores=self.scores.at(self.embedded.rows), fitted=fitted,
        )  # fmt: skip
        return self.state

    def top_classes(self, image_id: int, count: int = 5) -> tuple[ScoredClass, ...]:
        """The likeliest classes of an image, best first; none while it has no embedding."""
        row = self.embedded.ready_row(image_id)
        return () if row is None or self.fitted is None else top_classes(self.fitted, self._chances(row), count)

    def explain(self, image_id: int, class_id: int | None = None) -> Explanation | None:
        """Why an image is (or would be) of a class; None while nothing can be said."""
        row = self.embedded.ready_row(image_id)
        if row is None or self.fitted is None:
            return None
        place = self.state.position(image_id)
        safe = int(self.state.safe_class[place])
        safe_class = None if safe == NO_CLASS else ScoredClass(safe, float(self.state.safe_score[place]))
        embedding = self.embedded.store.floats(np.array([row]))[0]
        return explain(self.fitted, image_id, embedding, self._chances(row), class_id=class_id, safe=safe_class)

    def class_facts(self, class_id: int) -> ClassFacts:
        """What is known of a class: shots, lambda, where propagation comes from, bar."""
        policies = policies_of(self.project)
        shots = tuple(image_id for image_id, label in self.embedded.images.label_items() if label == class_id)
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
        rows, store = self.embedded.rows, self.embedded.store
        free = rows[(self.embedded.images.labels == NO_CLASS) & self.embedded.is_ready]
        alike = likeness(store.embeddings, prototype)
        order = free[np.argsort(-alike[free], kind="stable")[:count]]
        return tuple(store.image_ids[order].tolist())

    def _chances(self, row: int) -> NDArray[np.float32]:
        """Probability (c,) of each candidate for one image."""
        assert self.fitted is not None, "asked after fitting"
        if len(self.fitted.candidates) == 0:
            return np.zeros(0, dtype=np.float32)
        rows, store, stage = np.array([row]), self.embedded.store, self.fitted.stage
        is_known = stage is None or stage.basis.rows_of(store.image_ids[rows])[0] >= 0
        known = rows if is_known else None
        return self.fitted.probabilities(store.embeddings[rows], store.squares[rows], known)[0]


def _or_close(project: Project, caches: CacheFolders) -> LiveCollection:
    try:
        return LiveCollection(project, caches)
    except BaseException:
        project.close()
        raise
