"""Changing the backbone of a project: everything is embedded and measured first, then the project changes at once.

Nothing of the project changes before `use_backbone`, so a change that is cancelled or fails leaves it as it was; the
embeddings that are finished stay in the new backbone's cache, and the next attempt goes on from there. The old
backbone's cache stays too: undo and redo embed nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter

from engine.collection.backbone_change.shot_comparison import ShotComparison, compare_on_shots
from engine.collection.embed import embed_project
from engine.collection.lost_model import CARD_SETTING
from engine.collection.models import ModelFiles, find_model, model_of
from engine.config import CacheFolders, backbones_folder
from engine.embedding.messages import EmbedBatch, EmbedResult
from engine.errors import InputError, ModelError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.files import FileFailure
from engine.model_card import card_text
from engine.project import BackupReason, Change, ModelVersion, Project
from engine.project.actions import action

SOURCE_SETTING = "backbone_source"
"""Setting of a model version: by which name or path the person chose its backbone."""


@dataclass(frozen=True)
class PreparedChange:
    """A backbone whose embeddings of the project are ready; the project does not know of it yet."""

    source: str  # name or path that finds the backbone
    name: str  # what people call it
    backbone_hash: str  # SHA-256 of its file as hex
    comparison: ShotComparison  # how often it is right about the person's labels, beside the backbone in use
    embedded: int  # images that were embedded for it now
    failed: tuple[FileFailure, ...] = ()  # images that it has no embedding of, and why
    news: tuple[EmbedResult, ...] = ()  # what was found out about images that the project does not know yet
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
    """Embed all images of a project with another backbone and measure both; goes on where an earlier run stopped.

    Args:
        project: may be open for reading only; it is not changed.
        caches: where the embedding caches lie.
        source: name of a bundled backbone or one of the library, or path of an ONNX file with its card.
        device: "auto", "cpu" or "cuda".
        cancel: stops between images; what is embedded stays in the cache.

    Raises:
        ModelError: there is no such backbone, or it cannot run.
        InputError: the project uses it already.
        StorageError: the cache folder refuses.
        Cancelled: stopped by the person.
    """
    cancel = cancel or CancelToken()
    model = find_model(source)
    version = _version_of(model)
    _check_is_another(project, caches, model)
    known = _KnownFacts(project)
    summary = embed_project(
        project, caches, model=model, device=device, on_progress=on_progress, on_batch=known.take, cancel=cancel
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


def use_backbone(project: Project, source: str, backbone_hash: str, news: Sequence[EmbedResult] = ()) -> Change:
    """Use a prepared backbone from now on: one action, a new model version; classes, labels and bars stay.

    Args:
        project: open for writing.
        source: as given to `prepare_change`.
        backbone_hash: of the prepared backbone; another file by this name has other embeddings.
        news: what the preparation found out about images.

    Raises:
        ModelError: the backbone is gone, or is another by now.
        StorageError: the disk refuses; the project uses the backbone that it did.
        ProjectReadOnlyError: the project is open for reading only.
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
        project.images.record_scan(news)  # first: what is true of the files is true without the change, too
    version = _version_of(model)
    called = action("backbone_changed", backbone=version.backbone_name)
    with project.history.one_step(called, backup=BackupReason.MODEL) as step:
        project.models.choose(_known_version(project, version) or _added(project, version, model, source))
    return step.change


def _check_is_another(project: Project, caches: CacheFolders, model: ModelFiles) -> None:
    """Refuse the backbone that the project uses already."""
    try:
        in_use = model_of(project, caches, project.models.current).backbone_hash
    except ModelError:
        in_use = ""  # gone or another by now: putting it in place again is a change
    if in_use == model.backbone_hash and not project.models.current.is_trained_here:
        raise InputError("the project uses this backbone already", found=_version_of(model).backbone_name)


def _version_of(model: ModelFiles) -> ModelVersion:
    """A model version that is in no project yet.

    Bundled and added backbones go by their name, and only a file outside the library has to be found by its path
    (decision 22).
    """
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
    """A version that is just this: going back to a backbone does not add it again."""
    same = attrgetter("is_trained_here", "backbone_hash", "propagation_hash", "backbone_path")
    found = [version.version_id for version in project.models.versions() if same(version) == same(wanted)]
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
    """Keeps of what embedding finds out only what the project does not know.

    An image that was read once keeps the identity of its content when its file cannot be read now: the embeddings of
    other backbones are still found by it.
    """

    def __init__(self, project: Project) -> None:
        table = project.images.table()
        self._facts = dict(zip(table.ids, zip(table.content_hashes, table.failures, strict=True), strict=True))
        self.news: list[EmbedResult] = []

    def take(self, batch: EmbedBatch) -> None:
        """Compare some results with what is known."""
        for result in batch.results:
            known = self._facts.get(result.image_id, (None, None))
            found = result._replace(content_hash=result.content_hash or known[0])
            if (found.content_hash, found.failure) != known:
                self.news.append(found)
