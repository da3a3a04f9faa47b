"""Images and labels of a project with cached embeddings, also over all views (decision 109)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Flags, Floats, Integers
from engine.collection.embed import open_cache, open_views_cache
from engine.collection.image_list import EmbeddingStore, ImageList
from engine.collection.image_list_cache import ImageListCache
from engine.collection.models import ModelFiles
from engine.config import CacheFolders
from engine.embedding.cache import EmbeddingCache, cache_path
from engine.embedding.embedding_rows import FEWEST_CACHED, EmbeddingRows, EmbeddingRowsCache
from engine.embedding.views import MOST_IN_ALL_VIEWS, those_to_view, unit_length, views_hash
from engine.everyday.shots import EmbeddedSnapshot, ViewEmbeddings
from engine.file_parts import part_content
from engine.files import FoundFile
from engine.project import Project


@final
class ImageViews:
    """Embeddings over all views, if they are cached; replaced, never changed in place."""

    def __init__(self, model: ModelFiles, caches: CacheFolders) -> None:
        self._model = model
        self._caches = caches
        self._cache: EmbeddingCache | None = None
        self.embeddings = ViewEmbeddings()

    def close(self) -> None:
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def read(self, image_ids: Integers, hashes: Sequence[bytes | None]) -> None:
        """Read the embeddings of images (n,) again; a hash is None before the image was read."""
        before, known = self.embeddings, np.flatnonzero([key is not None for key in hashes])
        others = ~np.isin(before.image_ids, image_ids)
        found_ids, found = (
            image_ids[:0],
            np.zeros((0, self._model.card.embedding_width), dtype=np.float32),
        )
        if len(known) and (cache := self._opened()) is not None:
            vectors, is_found = cache.get_many([hashes[place] or b"" for place in known.tolist()])
            found_ids, found = image_ids[known[is_found]], vectors[is_found].astype(np.float32)
        if not len(found_ids) and others.all():
            return
        ids = np.concatenate([before.image_ids[others], found_ids])
        vectors = np.concatenate([before.vectors[others].reshape(-1, found.shape[1]), found])
        order = np.argsort(ids)
        now = ViewEmbeddings(ids[order], vectors[order].astype(np.float32))
        if not (
            np.array_equal(now.image_ids, before.image_ids)
            and np.array_equal(now.vectors, before.vectors)
        ):
            self.embeddings = now

    def look_up(
        self, hashes: Sequence[bytes], vectors: NDArray[np.float16], is_found: Flags
    ) -> None:
        """Replace embeddings (n, d) of one view by those of all views, if both are cached."""
        if (cache := self._opened()) is not None:
            better, is_better = cache.get_many(hashes)
            is_better &= is_found
            vectors[is_better] = better[is_better]

    def forget(self) -> None:
        self.embeddings = ViewEmbeddings()

    def _opened(self) -> EmbeddingCache | None:
        """Open the cache if it exists; it is made when a view is embedded."""
        card = self._model.card
        if self._cache is None:
            path = cache_path(
                self._caches.embeddings,
                views_hash(self._model.embedding_identity),
                card.embedding_width,
            )
            self._cache = open_views_cache(self._model, self._caches) if path.exists() else None
        return self._cache


@dataclass(frozen=True)
class EmbeddingNews:
    """Changes since the last reading of some images."""

    rows: Integers  # with an embedding now
    has_changed: bool  # whether an embedding was replaced or removed
    is_any: bool  # whether an embedding, one of views or a failure has changed


# share of embeddings to look up at each opening; with more, the mapped file is rewritten
MOST_LOOKED_UP = 0.01
# share of images with views from which on they are used; some files may be missing
ENOUGH_VIEWS = 0.95


@final
class EmbeddedImages:
    """Images, labels and embeddings of one backbone; rows of `store` are stable.

    Images are classified by one view until nearly all are embedded in all views.
    """

    def __init__(
        self, project: Project, model: ModelFiles, caches: CacheFolders, *, with_views: bool = True
    ) -> None:
        self._project = project
        self._width = model.card.embedding_width
        self.cache = open_cache(model, caches, project)
        # Key of the data stored for the next opening.
        self.name = f"{model.embedding_identity} {project.path} {self.project_id}"
        self._kept = EmbeddingRowsCache(caches.collections, self.name, self._width)
        self._kept_at = 0  # age of the store that the kept rows have
        lists = ImageListCache(caches.collections, str(project.path))
        self.images = ImageList(project, lists if project.is_writable else None)
        self.store = EmbeddingStore(
            self._width
        )  # of these images, and of those that were removed since `read`
        self.uses_views = False  # whether embeddings are over all views, where these are known
        self._views = ImageViews(model, caches)
        self._with_views = with_views
        self._rows: Integers | None = None
        self._rows_of = (self.images.ids, self.store.image_ids)

    def close(self) -> None:
        self.cache.close()
        self._views.close()

    @property
    def project_id(self) -> str:
        """Of the project, also if another one has its path."""
        return self._project.backups.project_id

    @property
    def rows(self) -> Integers:
        """(n,) rows of the listed images."""
        of = (self.images.ids, self.store.image_ids)
        if self._rows is None or any(
            now is not then for now, then in zip(of, self._rows_of, strict=True)
        ):
            self._rows, self._rows_of = self.rows_of(self.images.ids), of
        return self._rows

    @property
    def is_ready(self) -> Flags:
        """(n,) bool, whether each listed image has an embedding."""
        return self.store.is_filled[self.rows]

    @property
    def ready_rows(self) -> Integers:
        """Rows of the listed images that have an embedding, ascending."""
        rows, is_ready = self.rows, self.is_ready
        return rows if is_ready.all() else rows[is_ready]

    def embedding_of(self, content_hash: bytes) -> Floats | None:
        """Cached embedding (d,) of length 1 of a content; None if there is none."""
        vectors, found = self._look_up([content_hash])
        return unit_length(vectors.astype(np.float32))[0] if found[0] else None

    def rows_of(self, image_ids: Integers) -> Integers:
        rows = self.store.rows_of(image_ids)
        assert rows is not None, "every listed image has a row"
        return rows

    def ready_row(self, image_id: int) -> int | None:
        rows = self.store.rows_of([image_id])
        return None if rows is None or not self.store.is_filled[rows[0]] else int(rows[0])

    def read(self, *, reads_list: bool = True) -> None:
        if (
            reads_list or not self._project.is_writable
        ):  # another program may have changed a project that is only read here
            self.images.read()
        self.store = EmbeddingStore(self._width)
        self.uses_views = False
        kept = self._kept.read() if self.is_large else None
        if kept is None:
            self.store.append(self.images.ids)
        else:
            self.store.adopt(kept, self.images.ids, self.images.content_codes)
        self._kept_at = self.store.age
        self._fill(np.flatnonzero(~self.store.is_filled))
        self._views.forget()
        self._read_views(self.without_views())
        if self._has_enough_views():
            self._use_views()

    def read_changed(self, added: Sequence[int], *, reads_all: bool) -> Integers | None:
        """Read added images, or the whole list; rows of new embeddings, None to read all."""
        if reads_all:
            self.images.read()
        else:
            self.images.read_added(added)
        known = self.store.image_ids
        new = np.setdiff1d(self.images.ids, known, assume_unique=True)
        if len(new) and len(known) and new[0] < known[-1]:
            return None
        self.store.append(new)
        return self._fill(np.flatnonzero(~self.is_ready))

    def read_embeddings(self, image_ids: Integers) -> EmbeddingNews:
        """Read results and embeddings of listed images."""
        had_failed, views = self.images.has_failed, self._views.embeddings
        self.images.read_facts(image_ids)
        rows, age = self.rows_of(image_ids), self.store.age
        was_filled = self.store.is_filled[rows]
        self._read_views(image_ids)
        filled = self._fill(np.searchsorted(self.images.ids, image_ids))
        if not self.uses_views and self._has_enough_views():
            return EmbeddingNews(self._use_views(), has_changed=True, is_any=True)
        is_new = self.store.filled_at[rows] > age
        is_any = bool(is_new.any()) or views is not self._views.embeddings
        is_other_failure = not np.array_equal(had_failed, self.images.has_failed)
        return EmbeddingNews(filled, bool((was_filled & is_new).any()), is_any or is_other_failure)

    def read_moved(self, image_ids: Sequence[int]) -> EmbeddingNews | None:
        """Read images whose files or parts have changed; None if all are whole files."""
        self.images.read()
        moved = self.images.listed(image_ids)
        places = np.searchsorted(self.images.ids, moved).tolist()
        parts = moved[[bool(self.images.parts[place]) for place in places]]
        return self.read_embeddings(parts) if len(parts) else None

    def read_labels(self, image_ids: Sequence[int]) -> None:
        """Read the labels of some listed images, and their embeddings over all views."""
        self.images.read_labels(image_ids)
        labelled = np.array(sorted(image_ids), dtype=np.int64)
        self._read_views(labelled[self.images.labels_of(labelled) >= 0])

    def without_views(self) -> Integers:
        """Ids of the images to embed in all views, labelled ones first."""
        places = those_to_view(self.images.labels)
        image_ids = self.images.ids[places]
        return image_ids[
            self.store.is_filled[self.rows[places]] & ~self._views.embeddings.has(image_ids)
        ]

    def rows_to_store(self) -> Callable[[], None]:
        """Function that stores the embeddings of a large collection, on any thread.

        It does nothing if few are new: these are looked up at the next opening.
        """
        images, store, age = self.images, self.store, self.store.age
        new = int((store.filled_at > self._kept_at).sum())
        if (
            not self.is_large
            or len(store.image_ids) != len(images.ids)
            or new <= MOST_LOOKED_UP * len(images.ids)
        ):
            return nothing_to_store
        rows = EmbeddingRows(store.image_ids, store.contents, store.is_filled, store.embeddings)

        def write() -> None:
            self._kept_at = age  # only now: the fit may have been cancelled
            self._kept.write(rows, lambda: store.age == age)

        return write

    def store_list(self) -> None:
        """Store the list of a large collection, after its project was closed."""
        digest, is_of_file = self._project.closed_digest, not self._project.what_if.is_on
        if digest is not None and is_of_file and self.is_large:
            self.images.keep(digest)

    @property
    def is_large(self) -> bool:
        """Whether lists, embeddings and predictions are stored for the next opening."""
        return (
            self._project.is_writable
            and not self.uses_views
            and len(self.images.ids) >= FEWEST_CACHED
        )

    def snapshot(self) -> EmbeddedSnapshot:
        """A snapshot for another thread."""
        images, store = self.images, self.store
        return EmbeddedSnapshot(
            images.ids,
            images.labels,
            self.rows,
            images.has_failed,
            store.image_ids,
            store.embeddings,
            store.is_filled,
            store.age,
            self._views.embeddings,
            contents=store.contents if self.is_large else None,
        )

    def _fill(self, places: Integers) -> Integers:
        """Read the embeddings of images at these places; return the rows with one."""
        hashes = newest_hashes(self._project, self.images, self.cache, places)
        return self.store.fill(self.rows[places], hashes, self._look_up)

    def _read_views(self, image_ids: Integers) -> None:
        if self._with_views and len(image_ids):
            self._views.read(image_ids, self.images.hashes_of(image_ids))

    def _has_enough_views(self) -> bool:
        ready = self.images.ids[self.is_ready]
        if not 0 < len(ready) <= MOST_IN_ALL_VIEWS:
            return False
        return bool(self._views.embeddings.has(ready).mean() >= ENOUGH_VIEWS)

    def _use_views(self) -> Integers:
        """Classify images by all their views; return the rows with an embedding."""
        self.uses_views = True
        return self._fill(np.arange(len(self.images.ids)))

    def _look_up(self, hashes: Sequence[bytes]) -> tuple[NDArray[np.float16], Flags]:
        vectors, found = self.cache.get_many(hashes)
        if self.uses_views:
            self._views.look_up(hashes, vectors, found)
        return vectors, found


def nothing_to_store() -> None:
    """Do nothing."""


def newest_hashes(
    project: Project, images: ImageList, cache: EmbeddingCache, places: Integers
) -> Sequence[bytes | None]:
    """Content hashes of images, also of those that embedding could not store in the project.

    A project that is read-only, or open in another program, gets no results of `embed`. The
    embedding cache has the content of each file when it was embedded, valid while the file is
    unchanged. None before an image was read.
    """
    hashes = [images.content_hashes[place] for place in places.tolist()]
    if project.is_writable:
        return hashes
    folder = project.path.parent
    paths = [folder / images.paths[place] for place in places.tolist()]
    parts = [images.parts[place] for place in places.tolist()]
    remembered = _contents(cache.last_hashes(paths), parts)
    # Only the state of these files is read: that of 100,000 of them takes long on a share.
    others = [
        place for place, key in enumerate(remembered) if key is not None and key != hashes[place]
    ]
    files = {place: found for place in others if (found := FoundFile.at(paths[place])) is not None}
    now = _contents(cache.path_hashes(list(files.values())), [parts[place] for place in files])
    for place, key in zip(files, now, strict=True):
        hashes[place] = key or hashes[place]
    return hashes


def _contents(file_hashes: Sequence[bytes | None], parts: Sequence[str]) -> list[bytes | None]:
    """Content hashes of parts of files."""
    return [
        each and part_content(each, part) for each, part in zip(file_hashes, parts, strict=True)
    ]
