"""Change the backbone of a project: embed and compare first, then change in one step.

Nothing in the project changes before `use_backbone`, so it stays intact if the change is cancelled
or fails; finished embeddings stay in the new backbone's cache for the next attempt. The old
backbone's cache stays too: undo and redo embed nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from operator import attrgetter

import numpy as np

from engine.arrays import Flags, Integers
from engine.collection.classify import classify_project
from engine.collection.embed import embed_project
from engine.collection.folding.folds import Folds
from engine.collection.models import CARD_SETTING, ModelFiles, find_model, model_of
from engine.config import CacheFolders, backbones_folder
from engine.embedding.messages import EmbedBatch, EmbedResult
from engine.errors import InputError, ModelError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.everyday.scores import gain_interval
from engine.files import FileFailure
from engine.model_card import card_text
from engine.project import BackupReason, Change, ModelVersion, Project
from engine.project.actions import action

# of a model version: name or path that the backbone was chosen by
SOURCE_SETTING = "backbone_source"


@dataclass(frozen=True)
class ShotComparison:
    """Leave-one-shot-out accuracy with two backbones."""

    before: float | None  # accuracy with the backbone in use, 0..1; None without held-out shots
    after: float | None  # the same with the other one
    shots: int  # that were held out, one by one
    gained: int | None = None  # shots that only the other one gets right; None for different shots
    lost: int | None = None  # shots that only the one in use gets right; None for different shots

    @property
    def interval(self) -> tuple[float, float] | None:
        """95% confidence interval of `after - before`; None for different shots."""
        if self.gained is None or self.lost is None or not self.shots:
            return None
        return gain_interval(self.shots, self.gained, self.lost)

    @property
    def may_be_chance(self) -> bool:
        """Whether there is a difference that is not significant at 5%."""
        interval = self.interval
        return interval is not None and self.gained != self.lost and interval[0] <= 0 <= interval[1]

    @property
    def is_better(self) -> bool:
        """Whether the other backbone is significantly more accurate."""
        return self._differs and (self.after or 0.0) > (self.before or 0.0)

    @property
    def is_worse(self) -> bool:
        """Whether the other backbone is significantly less accurate."""
        return self._differs and (self.after or 0.0) < (self.before or 0.0)

    @property
    def _differs(self) -> bool:
        return self.interval is not None and not self.may_be_chance


def compare_on_shots(
    project: Project, caches: CacheFolders, before: ModelVersion, after: ModelVersion
) -> ShotComparison:
    """Compare two backbones by their cached embeddings; `after` may be in no project yet."""
    for with_views in (True, False):  # by as many views of both
        first = _held_out(project, caches, before, with_views=with_views)
        folds = None if first is None else first.folds
        second = _held_out(project, caches, after, with_views=with_views, folds=folds)
        if first is None or second is None or first.uses_views == second.uses_views:
            break
    shots = next((len(each.is_right) for each in (second, first) if each is not None), 0)
    compared = ShotComparison(_accuracy(first), _accuracy(second), shots)
    if first is None or second is None or not np.array_equal(first.image_ids, second.image_ids):
        return compared
    return replace(
        compared,
        gained=int((second.is_right & ~first.is_right).sum()),
        lost=int((first.is_right & ~second.is_right).sum()),
    )


@dataclass(frozen=True)
class _HeldOut:
    """Result of holding out the shots of a version."""

    image_ids: Integers  # (n,)
    is_right: Flags  # (m,) of those that can be held out
    folds: Folds
    uses_views: bool


def _held_out(
    project: Project,
    caches: CacheFolders,
    version: ModelVersion,
    *,
    with_views: bool,
    folds: Folds | None = None,
) -> _HeldOut | None:
    """None if the version has no embedded label, or its files are missing."""
    try:
        classified = classify_project(
            project, caches, version=version, with_views=with_views, folds=folds
        )
    except (InputError, ModelError):
        return None
    is_right = classified.fitted.hold_out_each(project.classes.graph)
    return _HeldOut(
        classified.fitted.shots.image_ids, is_right, classified.folds, classified.uses_views
    )


def _accuracy(found: _HeldOut | None) -> float | None:
    return None if found is None or not len(found.is_right) else float(found.is_right.mean())


@dataclass(frozen=True)
class PreparedChange:
    """A backbone whose embeddings of the project are ready, not yet in use."""

    source: str  # name or path of the backbone
    name: str
    backbone_hash: str  # SHA-256 of its file as hex
    comparison: ShotComparison  # with the backbone in use, on the labels
    embedded: int  # number of images that were embedded now
    failed: tuple[FileFailure, ...] = ()  # images without an embedding, with reasons
    news: tuple[EmbedResult, ...] = ()  # results that are not stored in the project yet
    seconds: float = 0.0  # duration of the embedding


def prepare_change(
    project: Project,
    caches: CacheFolders,
    source: str,
    *,
    device: str = "auto",
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> PreparedChange:
    """Embed all images of a project with another backbone, and compare both.

    Embeddings stay in the cache.

    Args:
        source: name of a bundled backbone or one of the library, or path of an ONNX file with card.
        device: "auto", "cpu" or "cuda".

    Raises:
        ModelError: there is no such backbone, or it cannot run.
        InputError: the project uses it already.
        StorageError: the cache folder is not writable.
        Cancelled: `cancel` was set.
    """
    cancel = cancel or CancelToken()
    model = find_model(source)
    version = _version_of(model)
    _check_is_another(project, caches, model)
    known = _KnownFacts(project)
    summary = embed_project(
        project,
        caches,
        model=model,
        device=device,
        with_views=True,
        on_progress=on_progress,
        on_batch=known.take,
        cancel=cancel,
    )
    cancel.raise_if_cancelled()
    comparison = compare_on_shots(project, caches, project.models.current, version)
    cancel.raise_if_cancelled()
    return PreparedChange(
        source,
        version.backbone_name,
        version.backbone_hash,
        comparison,
        embedded=summary.embedded,
        failed=tuple(FileFailure(path, reason) for _image_id, path, reason in summary.failed),
        news=tuple(known.news),
        seconds=summary.seconds,
    )


def use_backbone(
    project: Project, source: str, backbone_hash: str, news: Sequence[EmbedResult] = ()
) -> Change:
    """Use a prepared backbone: one action, a new model version; labels and classes stay.

    The source is that of `prepare_change`; hash and news are those of its result.

    Raises:
        ModelError: the backbone is missing, or has changed.
        StorageError: the disk is full or fails; the project keeps its backbone.
        ProjectReadOnlyError: the project is read-only.
    """
    model = find_model(source)
    if model.backbone_hash != backbone_hash:
        raise ModelError(
            "the backbone has changed since the images were embedded with it",
            expected=backbone_hash[:12],
            found="{backbone_hash} in {backbone}",
            remedy="choose it again",
            backbone_hash=model.backbone_hash[:12],
            backbone=model.backbone,
        )
    if news:
        project.images.record_scan(
            news
        )  # first: what is true of the files is true without the change, too
    version = _version_of(model)
    called = action("backbone_changed", backbone=version.backbone_name)
    with project.history.one_step(called, backup=BackupReason.MODEL) as step:
        project.models.choose(
            _known_version(project, version) or _added(project, version, model, source)
        )
    return step.change


def _check_is_another(project: Project, caches: CacheFolders, model: ModelFiles) -> None:
    try:
        in_use = model_of(project, caches, project.models.current).backbone_hash
    except ModelError:
        in_use = ""  # gone or another by now: putting it in place again is a change
    if in_use == model.backbone_hash and not project.models.current.is_trained_here:
        raise InputError(
            "the project uses this backbone already", found=_version_of(model).backbone_name
        )


def _version_of(model: ModelFiles) -> ModelVersion:
    """Make a model version; only a file outside the library is found by path (decision 22)."""
    is_named = model.is_bundled or model.backbone.is_relative_to(backbones_folder())
    return ModelVersion(
        0,
        model.name if model.is_bundled else model.backbone.stem,
        model.backbone_hash,
        "" if is_named else str(model.backbone),
        model.propagation_hash,
        datetime.now(UTC),
    )


def _known_version(project: Project, wanted: ModelVersion) -> int | None:
    """Find the same version in the project."""
    same = attrgetter("is_trained_here", "backbone_hash", "propagation_hash", "backbone_path")
    found = [
        version.version_id for version in project.models.versions() if same(version) == same(wanted)
    ]
    return found[-1] if found else None


def _added(project: Project, version: ModelVersion, model: ModelFiles, source: str) -> int:
    return project.models.add(
        backbone_name=version.backbone_name,
        backbone_hash=version.backbone_hash,
        backbone_path=version.backbone_path,
        propagation_hash=version.propagation_hash,
        settings={SOURCE_SETTING: source, CARD_SETTING: card_text(model.card)},
    ).version_id


class _KnownFacts:
    """Collects results that the project does not have; unreadable images keep their hashes.

    Changed contents are left to the next embedding, which compares the pictures (decision 110).
    """

    def __init__(self, project: Project) -> None:
        table = project.images.table()
        self._facts = dict(
            zip(table.ids, zip(table.content_hashes, table.failures, strict=True), strict=True)
        )
        self.news: list[EmbedResult] = []

    def take(self, batch: EmbedBatch) -> None:
        for result in batch.results:
            known = self._facts.get(result.image_id, (None, None))
            found = result._replace(content_hash=result.content_hash or known[0])
            is_other_content = (
                known[0] is not None and found.failure is None and found.content_hash != known[0]
            )
            if (found.content_hash, found.failure) != known and not is_other_content:
                self.news.append(found)
