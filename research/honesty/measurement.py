"""Measure claimed and true accuracy in each stage, of the program and its peers."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.everyday.back_off import back_off
from engine.everyday.collection_stage.basis import FEWEST_IMAGES
from engine.everyday.prototypical.model import EverydayModel
from engine.graph.codes import NO_CLASS
from research.honesty import records
from research.honesty.claims import ClaimTally, ImageClaims, claims_by, claims_of
from research.honesty.labelled_part import GivenLabels, LabelledPart
from research.honesty.labels import LABELS, RANDOM
from research.honesty.peers import PEERS, PeerTask
from research.honesty.records import OURS, WITHOUT, HonestyCell, HonestyDraw
from research.honesty.stages import HonestyStage, classes_with_examples, stages_of
from research.transfer.collection import TransferCollection
from research.transfer.embedded import EmbeddedCollection
from research.transfer.measurement import TransferPlan, check_plan


@dataclass(frozen=True)
class HonestyPlan:
    """Options of a measurement.

    Attributes:
        shots: of each class with examples.
        draws: of classes and labels.
        labels: the way of labelling.
        is_elsewhere: whether labels are given in `train` and the collection is these and `val`.
    """

    shots: tuple[int, ...] = (1, 3, 10)
    draws: int = 10
    labels: str = RANDOM
    is_elsewhere: bool = False


@dataclass(frozen=True)
class StageResult:
    """The draws of a stage."""

    stage: HonestyStage
    draws: tuple[HonestyDraw, ...]


def check_collection(collection: TransferCollection, *, is_elsewhere: bool) -> None:
    """Check that there are images to learn from and to score.

    Raises:
        InputError: there are too few images to label, or `val` is to be classified and has no image
            of a class of `train`.
    """
    check_plan(collection, TransferPlan(with_coarse_labels=False, is_elsewhere=is_elsewhere))
    images = int(collection.is_train.sum()) if is_elsewhere else len(collection.files)
    if images < FEWEST_IMAGES:
        raise InputError(
            "there are too few images to label",
            expected=f"{FEWEST_IMAGES} or more",
            found=str(images),
            remedy="choose a larger collection",
        )


def measure_honesty(
    embedded: EmbeddedCollection,
    plan: HonestyPlan,
    *,
    runs: Path | None = None,
    is_from_scratch: bool = False,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> tuple[StageResult, ...]:
    """Measure every stage of the plan; draws stored in `runs` are read from there.

    Args:
        embedded: the collection.
        plan: what to measure.
        runs: folder for results of draws; none are stored when None.
        is_from_scratch: whether to ignore results in `runs`.
        on_progress: called with draws of stages.
        cancel: stops between two draws.

    Raises:
        FormatError: a file in `runs` is corrupt.
        StorageError: `runs` cannot be written.
        Cancelled: `cancel` was set.
    """
    stages = stages_of(len(embedded.collection.leaf_ids), plan.shots)
    meter = ProgressMeter(len(stages) * plan.draws, on_progress, unit="draws")
    project = _Project(embedded, plan)
    found = []
    for stage in stages:
        cell = HonestyCell.of(
            embedded.collection.identity,
            embedded.model,
            plan.labels,
            stage.folder,
            is_elsewhere=plan.is_elsewhere,
        )
        draws = [] if runs is None or is_from_scratch else records.read(cell, runs)
        for seed in range(plan.draws):
            (cancel or CancelToken()).raise_if_cancelled()
            if len(draws) <= seed:
                draws.append(project.measure(stage, seed))
                if runs is not None:
                    records.write(cell, draws, runs)
            meter.advance()
        found.append(StageResult(stage, tuple(draws[: plan.draws])))
    return tuple(found)


@final
class _Project:
    """A collection in which any classes get labels."""

    def __init__(self, embedded: EmbeddedCollection, plan: HonestyPlan) -> None:
        self._embedded, self._plan = embedded, plan

    @cached_property
    def _labelling(self) -> LabelledPart:
        """The images that may be labelled."""
        everything = np.arange(len(self._embedded.embeddings))
        is_train = self._embedded.collection.is_train
        return LabelledPart(
            self._embedded, np.flatnonzero(is_train) if self._plan.is_elsewhere else everything
        )

    def measure(self, stage: HonestyStage, seed: int) -> HonestyDraw:
        classes = classes_with_examples(self._embedded.collection, stage, seed)
        labels = LABELS[self._plan.labels](self._labelling, classes, stage.shots, seed)
        part = self._labelling
        if self._plan.is_elsewhere:
            others = np.flatnonzero(~self._embedded.collection.is_train)
            part = LabelledPart(self._embedded, np.union1d(labels.rows, others))
        return draw_of(part, labels)


def draw_of(part: LabelledPart, labels: GivenLabels) -> HonestyDraw:
    """Claims of each method about the unlabelled images of known class."""
    graph = part.embedded.collection.graph
    fitted = part.fit(labels)
    is_scored = part.is_free(labels) & (part.truth != NO_CLASS)
    truth = part.truth[is_scored]
    found: dict[str, ImageClaims] = {}
    for name, model in ((OURS, fitted), (WITHOUT, without_unseen(fitted))):
        scores = part.scores(model).at(np.flatnonzero(is_scored))
        found[name] = claims_of(model, scores, truth, graph)
    hidden = fitted.back_off.coarse_ids[np.isinf(fitted.back_off.coarse_bars)]
    found |= _of_peers(part, labels, is_scored, hidden)
    has_examples = np.isin(truth, labels.class_ids)
    before = found[WITHOUT].rightly_sure & has_examples
    return {name: ClaimTally.of(claims, before) for name, claims in found.items()}


def without_unseen(fitted: EverydayModel) -> EverydayModel:
    """Copy of the model as if all images were of its candidates, each with an example."""
    stage = None if fitted.stage is None else replace(fitted.stage, unseen=None)
    return replace(fitted, unseen=None, stage=stage)


def _of_peers(
    part: LabelledPart, labels: GivenLabels, is_scored: NDArray[np.bool_], hidden: NDArray[np.int64]
) -> dict[str, ImageClaims]:
    """Claims of the peers, by the same rules: hidden classes are not predicted either."""
    graph, classes = part.embedded.collection.graph, np.unique(labels.class_ids)
    shots = part.embedded.shots(labels.rows, labels.class_ids)
    places = np.searchsorted(classes, labels.class_ids)
    queries = part.embedded.floats[part.rows[is_scored]]
    task = PeerTask(shots.embeddings, places, queries, len(classes) / len(graph.leaves()))
    rules, truth = back_off(graph, classes, {}), part.truth[is_scored]
    is_hidden = np.isin(rules.coarse_ids, hidden)
    rules = replace(rules, coarse_bars=np.where(is_hidden, np.float32(np.inf), rules.coarse_bars))

    def claims(probabilities: NDArray[np.float32]) -> ImageClaims:
        best = probabilities.argmax(axis=1)
        score = probabilities.max(axis=1)
        safe, safe_score = rules.decide(best, score, probabilities @ rules.roll_up)
        return claims_by(classes[best], score, safe, safe_score, truth=truth, graph=graph)

    return {name: claims(predict(task)) for name, predict in PEERS.items()}
