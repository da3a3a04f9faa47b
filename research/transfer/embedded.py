"""Embeddings of a collection as in a project: by the program's pipeline, cache and rounding."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.collection.embed import embed_project, embed_views, open_views_cache
from engine.collection.embedded_images import EmbeddedImages
from engine.collection.models import ModelFiles
from engine.collection.new_project import new_project
from engine.config import PROJECT_SUFFIX, CacheFolders
from engine.embedding.views import MOST_IN_ALL_VIEWS, first_of_each
from engine.errors import InputError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.everyday.blocks import to_floats
from engine.everyday.collection_stage.basis import CollectionBasis, collection_basis
from engine.everyday.shots import Shots
from engine.new_folder import scratch_folder
from research.transfer.collection import TransferCollection


@dataclass(frozen=True)
class EmbeddedCollection:
    """A collection embedded by one backbone.

    Attributes:
        collection: the n images.
        model: the backbone.
        embeddings: (n, d) int16, of length 1 in fixed point.
        over_views: (n, d) float32, mean over views for images that may be labelled, else the same;
            None without views.
    """

    collection: TransferCollection
    model: ModelFiles
    embeddings: NDArray[np.int16]
    over_views: NDArray[np.float32] | None = None

    @cached_property
    def floats(self) -> NDArray[np.float32]:
        """(n, d) the same as float32."""
        return to_floats(self.embeddings)

    def shots(self, rows: NDArray[np.int64], class_ids: NDArray[np.int64]) -> Shots:
        """Labelled images as in a project: the most informative of each class, over all views.

        Args:
            rows: (n,) of the collection.
            class_ids: (n,) their labels.
        """
        alone = self.floats[rows]
        if self.over_views is None:
            return Shots(rows, class_ids, alone)
        embeddings, viewed = alone.copy(), first_of_each(class_ids)
        embeddings[viewed] = self.over_views[rows[viewed]]
        return Shots(rows, class_ids, embeddings, alone)

    def basis_of(
        self, rows: NDArray[np.int64], labelled: NDArray[np.int64]
    ) -> CollectionBasis | None:
        """Basis of the collection stage; rows are image ids there.

        The basis of all images is cached, that of a subset is computed on every call.

        Args:
            rows: (k,) of the collection, ascending.
            labelled: labelled rows.
        """
        if len(rows) < len(self.embeddings):
            return collection_basis(
                rows, self.embeddings[rows], labelled=np.searchsorted(rows, labelled)
            )
        return None if self._basis is None else self._basis.with_anchors(self.embeddings, labelled)

    @cached_property
    def _basis(self) -> CollectionBasis | None:
        rows = np.arange(len(self.embeddings), dtype=np.int64)
        return collection_basis(rows, self.embeddings, labelled=rows[:0])


def embed_collection(
    collection: TransferCollection,
    model: ModelFiles,
    caches: CacheFolders,
    *,
    device: str = "auto",
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> EmbeddedCollection:
    """Embed all images by a temporary project, using the cache.

    Args:
        collection: the images.
        model: the backbone; it need not be in the library, and is not added to it.
        caches: with the embedding cache.
        device: "auto", "cpu" or "cuda".
        on_progress: listener.
        cancel: stops between batches; finished ones stay in the cache.

    Raises:
        ModelError: the backbone cannot be used.
        InputError: an image has no embedding.
        Cancelled: `cancel` was set.
    """
    with (
        scratch_folder() as folder,
        new_project(folder / f"embed{PROJECT_SUFFIX}") as project,
    ):
        project.images.add(collection.files)
        done = embed_project(
            project, caches, model=model, device=device, on_progress=on_progress, cancel=cancel
        )
        for _, path, reason in done.failed[:1]:
            raise InputError(
                f"{len(done.failed)} images cannot be embedded",
                found=f"{path}: {reason}",
                remedy="take them out",
            )
        ids = np.array(project.images.table().ids)
        viewed = (ids if len(ids) <= MOST_IN_ALL_VIEWS else ids[collection.is_train]).tolist()
        embed_views(
            project, caches, viewed, model, device=device, on_progress=on_progress, cancel=cancel
        )
        embedded = EmbeddedImages(project, model, caches)
        embedded.read()
        embedded.close()
        with open_views_cache(model, caches) as cache:
            vectors, found = cache.get_many(
                [each or b"" for each in embedded.images.content_hashes]
            )
    over_views = to_floats(embedded.store.embeddings)
    over_views[found] = vectors[found].astype(np.float32)
    return EmbeddedCollection(collection, model, embedded.store.embeddings.copy(), over_views)
