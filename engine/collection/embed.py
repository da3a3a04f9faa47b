"""Embed the images of a project into the caches, by one view or all views."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing

import numpy as np

from engine.collection.details import as_stored
from engine.collection.models import ModelFiles, model_of
from engine.collection.replaced_images import record_embedded
from engine.config import THUMBNAIL_SIDES, CacheFolders
from engine.embedding.cache import EmbeddingCache
from engine.embedding.messages import EmbedBatch, EmbedRequest, EmbedSummary
from engine.embedding.views import MOST_IN_ALL_VIEWS, those_to_view, views_hash
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.graph.codes import NO_CLASS
from engine.project import Project


def open_cache(
    model: ModelFiles, caches: CacheFolders, project: Project | None = None
) -> EmbeddingCache:
    """Open the embedding cache of a backbone, with imported embeddings of a project."""
    project_id = "" if project is None else project.backups.project_id
    width = model.card.embedding_width
    return EmbeddingCache(caches.embeddings, model.embedding_identity, width, project_id=project_id)


def open_views_cache(model: ModelFiles, caches: CacheFolders) -> EmbeddingCache:
    """Open the cache of embeddings over all views."""
    return EmbeddingCache(
        caches.embeddings, views_hash(model.embedding_identity), model.card.embedding_width
    )


def embed_project(
    project: Project,
    caches: CacheFolders,
    *,
    model: ModelFiles | None = None,
    device: str = "auto",
    with_views: bool = False,
    on_progress: OnProgress = ignore_progress,
    on_batch: Callable[[EmbedBatch], None] | None = None,
    cancel: CancelToken | None = None,
) -> EmbedSummary:
    """Embed every image of a project that is not cached.

    A missing file keeps its embedding: its disk may be connected again.

    Args:
        model: by default the backbone in use.
        with_views: embed all views, with thumbnails and fingerprints, unless the collection is
            large.
        device: one of `providers.DEVICES`.
        on_batch: called with results; by default they are stored in a writable project. Otherwise
            they are in the cache alone, where `embedded_images.newest_hashes` finds them.

    Raises:
        UsageError: there is no such device, or it cannot be used.
        ModelError: the backbone cannot run.
        Cancelled: finished embeddings are kept.
    """
    from engine.embedding.photo_caches import PreviewCaches
    from engine.embedding.pipeline import embed_files
    from engine.runtime.backbone import BackboneSession
    from engine.runtime.providers import choose_providers

    model = model or model_of(project, caches)
    session = BackboneSession(model.backbone, model.card, choose_providers(device))
    folder = project.path.parent
    requests = (
        EmbedRequest(each.image_id, folder / each.path, each.content_hash, each.part)
        for each in project.images.each_content()
    )

    is_whole = with_views and project.images.count <= MOST_IN_ALL_VIEWS
    with open_cache(model, caches, project) as cache, ExitStack() as stack:
        views = stack.enter_context(open_views_cache(model, caches)) if is_whole else None
        previews = (
            stack.enter_context(closing(PreviewCaches(caches, THUMBNAIL_SIDES[0])))
            if is_whole
            else None
        )

        def record(batch: EmbedBatch) -> None:
            if project.is_writable:
                record_embedded(project, cache, batch)
                project.details.store(as_stored(batch.details))

        return embed_files(
            requests,
            session,
            cache,
            total=project.images.count,
            on_progress=on_progress,
            cancel=cancel or CancelToken(),
            on_batch=on_batch or record,
            views=views,
            previews=previews,
        )


def embed_closer(
    project: Project,
    caches: CacheFolders,
    *,
    device: str = "auto",
    on_progress: OnProgress = ignore_progress,
) -> EmbedSummary | None:
    """Embed images in all their views: labelled ones, or all unless the collection is large.

    Predictions improve. Unreadable files are skipped. As `embed_project`; None, without opening a
    backbone, if there is nothing to do.
    """
    model = model_of(project, caches)
    image_ids, table = np.array(project.images.table().ids, dtype=np.int64), project.labels.table()
    labels = np.full(len(image_ids), NO_CLASS, dtype=np.int32)
    places = np.searchsorted(image_ids, np.array(table.image_ids, dtype=np.int64))
    labels[places] = [NO_CLASS if class_id is None else class_id for class_id in table.class_ids]
    wanted = image_ids[those_to_view(labels)].tolist()
    return embed_views(project, caches, wanted, model, device=device, on_progress=on_progress)


def embed_views(
    project: Project,
    caches: CacheFolders,
    image_ids: Sequence[int],
    model: ModelFiles,
    *,
    device: str = "auto",
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> EmbedSummary | None:
    """Embed these images of a project in all their views; as `embed_closer`."""
    from engine.embedding.pipeline import embed_files
    from engine.runtime.backbone import BackboneSession
    from engine.runtime.providers import choose_providers

    table, folder = project.images.table(image_ids), project.path.parent
    with open_cache(model, caches, project) as cache, open_views_cache(model, caches) as views:
        contents = table.contents()
        missing = set(views.missing(content for content in contents if content is not None))
        columns = zip(
            table.ids, table.paths, table.content_hashes, table.parts, contents, strict=True
        )
        requests = [
            EmbedRequest(image_id, folder / path, known, part)
            for image_id, path, known, part, content in columns
            if content in missing
        ]
        if not requests:
            return None
        session = BackboneSession(model.backbone, model.card, choose_providers(device))
        return embed_files(
            requests, session, cache, on_progress=on_progress, cancel=cancel, views=views
        )
