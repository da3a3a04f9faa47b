"""An open project whose predictions are updated after every change.

The window keeps it open; the command line uses it once (`engine.collection.classify`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import final

from engine.arrays import Floats, Ranks, no_integers
from engine.collection.answers import Answers, ClassFacts, Guess, class_facts
from engine.collection.embedded_images import EmbeddedImages
from engine.collection.find_folds import folds_now
from engine.collection.fitting import (
    FirstAnswers,
    FitInput,
    FitOutcome,
    concerns_fit,
    fit_snapshot,
    is_stage_on,
    policies_of,
    rows_to_answer_first,
    run_fit,
    setting_of,
    teach_ranks,
)
from engine.collection.folding.folds import Folds
from engine.collection.models import ModelFiles, model_or_fallback
from engine.collection.new_project import new_project
from engine.collection.publisher import Publisher
from engine.collection.replaced_images import record_embedded
from engine.collection.review_groups import GroupInput, ReviewMemory
from engine.collection.row_scores import RowScores
from engine.collection.search.metadata import ImageMetadata
from engine.collection.similar import LikeImages, like_images
from engine.collection.state import NO_CLASS, CollectionState
from engine.config import CacheFolders
from engine.embedding.messages import EmbedBatch
from engine.everyday.blocks import stopped_by
from engine.everyday.classifier import Explanation, ProjectClassifier, ScoredClass, Setting
from engine.everyday.in_use import Classifiers
from engine.everyday.shots import has_outgrown
from engine.graph.category_graph import CategoryGraph
from engine.graph.edits import changes_look
from engine.images.read_file import return_freed_memory
from engine.project import Change, Project

FEW_TO_GROUP = 20_000
"""Images up to which every fit prepares groups for review. Chosen: that takes some megabytes."""


@final
class LiveCollection:
    """Project, embeddings, fitted model and predictions. Use it from one thread at a time.

    `apply` updates everything for a change, and fits. The window must not wait for a fit: it calls
    `take`, and while `is_behind`, runs `run_fit` on `fit_input` on another thread and passes the
    outcome to `adopt`.

    Args:
        model: by default that of the version in use, also if its file is missing.
        setting, with_stage: by default those of the project.
        with_views: whether to use embeddings over all views where they are known.

    Attributes:
        metadata: notes, fields and image metadata.
        folds: copies and bursts, as found last.
        wants_teaching: whether fits rank the images to label first.
        wants_look_alikes: whether fits prepare groups for review.
    """

    def __init__(
        self,
        project: Project,
        caches: CacheFolders,
        *,
        model: ModelFiles | None = None,
        setting: Setting | None = None,
        with_stage: bool | None = None,
        with_views: bool = True,
    ) -> None:
        self.project = project
        self._caches = caches
        self._setting, self._with_stage, self._with_views = setting, with_stage, with_views
        self.wants_teaching = self.wants_look_alikes = False
        self.folds = Folds.none()
        # Of labels, graph, rules and embeddings; incremented by changes that need a fit.
        self._version = 0
        self._read_version = 0  # version of the last complete reading; older fits are outdated
        self._fitted_version = 0
        self._has_teaching = self._has_look_alikes = False  # outputs of the last fit
        self._graph_copy: CategoryGraph | None = None
        self.metadata = ImageMetadata(project)
        self._use(model or model_or_fallback(project, caches))

    @staticmethod
    def open(path: Path, caches: CacheFolders, *, for_writing: bool = True) -> "LiveCollection":
        """Open a project file, without backing it up."""
        return _or_close(Project.open(path, for_writing=for_writing, is_backed_up=False), caches)

    @staticmethod
    def create(path: Path, caches: CacheFolders, backbone: str = "") -> "LiveCollection":
        """Create a project and open it."""
        return _or_close(new_project(path, backbone) if backbone else new_project(path), caches)

    def close(self) -> None:
        if self.fitted is not None and not self.project.what_if.is_on:
            self._publisher.store(self.project.classes.graph)
        self.embedded.close()
        self.project.close()
        self.embedded.store_list()

    @property
    def state(self) -> CollectionState:
        """The newest snapshot; replaced, never changed in place."""
        return self._publisher.state

    @property
    def fitted(self) -> ProjectClassifier | None:
        return self.row_scores.fitted

    def load_list(self) -> CollectionState:
        """Read images and labels alone, to show the grid."""
        self.embedded.images.read()
        self.metadata.read()
        self._is_loaded, self._is_listed = False, True
        self._publisher.publish_list(self.project.classes.graph)
        return self.publish_metadata()

    def load(self, *, fits: bool = True, folds: Folds | None = None) -> CollectionState:
        """Read images, labels and cached embeddings; then find folds, fit and classify.

        Args:
            fits: whether to fit at all.
            folds: to use instead.
        """
        if not self._is_listed:
            self._publisher.drop_stored()
        self.embedded.read(reads_list=not self._is_listed)
        self.metadata.read()
        self._forget_fit()
        self._is_loaded, self._is_listed = True, False
        self._publish()
        if fits:
            self.adopt_folds(folds or folds_now(self.project, self.embedded, self._caches))
            return self._catch_up()
        return_freed_memory()
        return self.state

    def apply(self, change: Change) -> CollectionState:
        """Update everything for an action, undo or redo; fit and classify if needed."""
        self.take(change)
        return self._catch_up()

    def take(self, change: Change) -> CollectionState:
        """Update everything but the fit for an action, undo or redo; see `is_behind`."""
        if not self._is_loaded:
            self._is_listed = False
            return self.load(fits=False)
        self.metadata.update(change)
        if (
            change.settings
            and (model := model_or_fallback(self.project, self._caches)) != self.model
        ):
            self.embedded.close()
            self._use(model)
            return self.load(fits=False)
        if change.images_added or change.images_removed:
            filled = self.embedded.read_changed(change.images_added, reads_all=change.leaves_images)
            if filled is None:
                return self.load(fits=False)
            self.row_scores.classify_new(self.embedded.ready_rows)
        elif change.images_moved and (news := self.embedded.read_moved(change.images_moved)):
            self._reset_classifiers()
            self._version += 1
            self.row_scores.classify_new(news.rows)
        if not change.leaves_images:
            self.embedded.read_labels(change.labelled)
        if change.graph_edits:
            self._graph_copy = None
        if concerns_fit(change, self.embedded) or (
            change.images_added and self._has_more_to_learn()
        ):
            self._version += 1
        if (
            change.images_added
            or change.leaves_images
            or any(map(changes_look, change.graph_edits))
        ):
            self._publisher.drop_stored()
            return self._publish()
        self._publisher.publish_labels(self.project.classes.graph, change.labelled)
        return self.publish_metadata()

    def record_embedded_batch(self, batch: EmbedBatch) -> tuple[int, ...]:
        """Record results and metadata of embedded files; return images whose labels changed."""
        changed: tuple[int, ...] = ()
        if self.project.is_writable:
            changed = record_embedded(self.project, self.embedded.cache, batch)
        self.metadata.store_details(batch.details, has_replaced=bool(changed))
        return changed

    def take_embedded(
        self, image_ids: Sequence[int], *, relabelled: Sequence[int] = (), fits: bool = True
    ) -> CollectionState:
        """Read new embeddings, also of all views, and failures of images from the caches.

        Changed embeddings reset what the collection stage has learned.

        Args:
            image_ids: images that were embedded.
            relabelled: images whose labels became outdated or valid; see `record_embedded_batch`.
            fits: whether to fit if needed.
        """
        images = self.embedded.images
        if not self.project.is_writable:
            images.read()  # another program may have added and removed images
        listed = images.listed(image_ids)
        if not self._is_loaded or self.embedded.store.rows_of(listed) is None:
            self._is_listed = False
            return self.load(fits=fits)
        news = self.embedded.read_embeddings(listed)
        if len(relabelled := images.listed(relabelled).tolist()):
            self.embedded.read_labels(relabelled)
            self._version += 1
        if news.has_changed and self._is_stage_on():
            self._reset_classifiers()
            self._version += 1
        elif news.is_any and (
            (images.labels_of(listed) != NO_CLASS).any() or self._has_more_to_learn()
        ):
            self._version += 1
        if fits and self.is_behind:
            return self._catch_up()
        if not news.is_any and not relabelled and self.state.image_ids is images.ids:
            return self.state
        self.row_scores.classify_new(news.rows)
        return self._publish()

    def publish_metadata(self) -> CollectionState:
        """Publish notes, detections, fields and ranks of `metadata`."""
        return self._publisher.publish_metadata(self.metadata)

    @property
    def is_behind(self) -> bool:
        """Whether a fit is needed: its input has changed, or it lacks a requested output."""
        return self._is_loaded and (
            self._version != self._fitted_version
            or self.wants_teaching > self._has_teaching
            or self.wants_look_alikes > self._has_look_alikes
        )

    def fit_input(self, in_view: Sequence[int] = ()) -> FitInput:
        """Snapshot to fit on another thread; images in view are classified first."""
        ids = self.embedded.images.ids
        together = self.folds.held_together(ids) if len(self.folds.image_ids) else None
        images = replace(self.embedded.snapshot(), folds=together)
        self._learned_from = images.ready_rows
        setting = self._setting or setting_of(self.project)
        is_small = len(images.row_ids) <= FEW_TO_GROUP
        return FitInput(
            self._version,
            fit_snapshot(
                self.project,
                self._graph_now(),
                images,
                setting,
                with_collection=self._is_stage_on(),
            ),
            self._classifiers.of(setting),
            with_teaching=self.wants_teaching,
            with_look_alikes=self.wants_look_alikes or is_small,
            known=self.row_scores.fit if self._version == self._fitted_version else None,
            keep=self.embedded.rows_to_store(),
            first_rows=rows_to_answer_first(images, in_view),
        )

    def adopt(self, outcome: FitOutcome) -> CollectionState:
        """Use a fitted model and its scores, and classify new images; unless it is outdated."""
        given = outcome.given
        if given.version < max(self._read_version, self._fitted_version):
            return self.state
        self._fitted_version = given.version
        self._teach_first, self._look_alikes = outcome.teach_first, outcome.look_alikes
        self._has_teaching, self._has_look_alikes = given.with_teaching, given.with_look_alikes
        if given.known is not None and outcome.fitted is self.fitted:
            return self._publisher.update(teach_rank=self._teach_ranks())
        self._publisher.drop_stored()
        self.row_scores.adopt(outcome)
        self.row_scores.classify_new(self.embedded.ready_rows)
        return self._publish()

    def adopt_first(self, first: FirstAnswers) -> CollectionState:
        """Show a newer model's predictions of a few images before it has classified all."""
        version = first.given.version
        if version < self._read_version or version <= self._fitted_version:
            return self.state
        self.row_scores.adopt_first(first)
        return self._publish()

    def adopt_folds(self, folds: Folds) -> CollectionState:
        """Use folds, whose labelled images are held out together; another fit may be needed."""
        labelled = self.embedded.images.ids[self.embedded.images.labels >= 0]
        before, self.folds = self.folds, folds
        self._version += not before.holds_as(folds, labelled)
        return self._publisher.update(folds=folds)

    def rank_images_to_label(self, *, is_wanted: bool) -> None:
        """Choose whether fits rank the images to label first."""
        self.wants_teaching = is_wanted

    def prepare_review_groups(self, *, is_wanted: bool) -> None:
        """Choose whether fits prepare groups for review, see `group_input`."""
        self.wants_look_alikes = is_wanted

    def group_input(self, memory: ReviewMemory) -> GroupInput | None:
        """Snapshot to make groups for review from on any thread; None before a fit prepared it."""
        if self._look_alikes is None or self.fitted is None:
            return None
        images, scores = self.embedded.snapshot().without(self.state.hidden), self.row_scores.scores
        return GroupInput(self._look_alikes, images, self.fitted, scores, self._graph_now(), memory)

    def _graph_now(self) -> CategoryGraph:
        """A copy for other threads, made after a change of the graph."""
        self._graph_copy = self._graph_copy or self.project.classes.graph.copy()
        return self._graph_copy

    def _catch_up(self) -> CollectionState:
        if self.is_behind:
            wanted = self.fit_input()
            self.adopt(run_fit(wanted))
            wanted.keep()
        return self.state

    def _has_more_to_learn(self) -> bool:
        return self._is_stage_on() and has_outgrown(self.embedded.snapshot(), self._learned_from)

    def _is_stage_on(self) -> bool:
        return is_stage_on(self.project) if self._with_stage is None else self._with_stage

    def _use(self, model: ModelFiles) -> None:
        self.model = model
        self.embedded = EmbeddedImages(
            self.project, model, self._caches, with_views=self._with_views
        )
        self._publisher = Publisher(self.embedded, model.name, self._caches.collections)
        self._publisher.update(folds=self.folds)
        self._is_loaded = False  # whether everything was read
        self._is_listed = False  # whether images and labels alone were read
        self._forget_fit()

    def _reset_classifiers(self) -> None:
        """Drop what the collection stage has learned."""
        model, name = self.model, self.embedded.name
        folder = self._caches.collections
        self._classifiers = Classifiers(model.propagation, model.card, folder, name)

    def _forget_fit(self) -> None:
        """Drop everything about rows, and make running fits outdated."""
        self._version += 1
        self._read_version, self._graph_copy = self._version, None
        self._reset_classifiers()
        self._learned_from = no_integers()
        self.row_scores, self._teach_first, self._look_alikes = RowScores(self.embedded), None, None

    def _publish(self) -> CollectionState:
        graph = self.project.classes.graph
        self._publisher.publish(graph, self.row_scores, self._teach_ranks())
        return self.publish_metadata()

    def _teach_ranks(self) -> Ranks | None:
        first = self._teach_first
        return None if first is None else teach_ranks(first, self.embedded.rows)

    def top_classes(self, image_id: int, count: int = 5) -> tuple[ScoredClass, ...]:
        """The most probable classes of an image, best first; none without an embedding."""
        answers = self._answers_on(image_id)
        return () if answers is None else answers.tops(image_id, count)

    def explain(self, image_id: int, class_id: int | None = None) -> Explanation | None:
        """Explain a prediction or another class; None without an embedding or prototype."""
        answers = self._answers_on(image_id)
        return None if answers is None else answers.explain(image_id, class_id)

    def _answers_on(self, image_id: int) -> Answers | None:
        """Answers of the newest model that has classified an image."""
        return next((answers for answers, own in self._answers([image_id]) if own), None)

    def guesses(self, image_ids: Sequence[int]) -> dict[int, Guess]:
        """Labels and predictions of images; removed ones are left out."""
        listed = [image_id for image_id in image_ids if self.embedded.images.has(image_id)]
        parts: dict[int, tuple[tuple[ScoredClass, ...], Explanation | None]] = {}
        for answers, own in self._answers(listed):
            parts |= answers.guess_parts(own)
        return {i: Guess(i, self.project.labels.of(i), *parts.get(i, ((), None))) for i in listed}

    def class_facts(self, class_id: int) -> ClassFacts:
        policies, shots = policies_of(self.project), self.embedded.images.labelled_as(class_id)
        return class_facts(self.fitted, self.project.classes.graph, policies, class_id, shots)

    def candidates(self, class_id: int, count: int = 12) -> tuple[int, ...]:
        """Unlabelled images that are most probably of a class; see `Answers.likely_unlabelled`."""
        found = (each.likely_unlabelled(class_id, self.state, count) for each, _ in self._answers())
        return next(found, ())

    def nearest_shots(self, image_id: int, class_id: int, count: int = 3) -> tuple[int, ...]:
        """Labelled images of a class most similar to an image; see `Answers.nearest_shots`."""
        found = (each.nearest_shots(image_id, class_id, count) for each, _ in self._answers())
        return next(found, ())

    def like(self, image_ids: Sequence[int], *, outside: Floats | None = None) -> LikeImages:
        """All images by similarity to these and an outside embedding (d,); see `like_images`."""
        return like_images(
            self.embedded, image_ids, outside=outside, similarity=self._classifiers.similarity
        )

    def know_space(self) -> None:
        """Compute the whitened space of the collection unless it is known; takes seconds."""
        with stopped_by(None):
            self._classifiers.know_space(self.embedded.snapshot())

    def _answers(self, image_ids: Sequence[int] = ()) -> Iterator[tuple[Answers, list[int]]]:
        return self.row_scores.answers(image_ids, self.project.classes.graph, self.state)


def _or_close(project: Project, caches: CacheFolders) -> LiveCollection:
    try:
        return LiveCollection(project, caches)
    except BaseException:
        project.close()
        raise
