"""What images look like in all their views, as far as anybody embedded them (decision 55)."""

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.collection.embed import open_views_cache
from engine.collection.models import ModelFiles
from engine.config import CacheFolders
from engine.embedding.cache import EmbeddingCache, cache_file
from engine.embedding.views import views_hash
from engine.everyday.shots import ViewEmbeddings


@final
class ImageViews:
    """Reads them from their cache, where there is one. The embeddings are replaced, never changed.

    Attributes:
        embeddings: those that were read.
    """

    def __init__(self, model: ModelFiles, caches: CacheFolders) -> None:
        self._model = model
        self._caches = caches
        self._cache: EmbeddingCache | None = None
        self.embeddings = ViewEmbeddings()

    def close(self) -> None:
        """Close the cache."""
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def read(self, image_ids: NDArray[np.int64], hashes: Sequence[bytes | None]) -> None:
        """Read those of these images anew.

        Args:
            image_ids: (n,) in any order.
            hashes: n contents, None for an image that nobody read.
        """
        before, known = self.embeddings, np.flatnonzero([key is not None for key in hashes])
        others = ~np.isin(before.image_ids, image_ids)
        found_ids, found = image_ids[:0], np.zeros((0, self._model.card.embedding_width), dtype=np.float32)
        if len(known) and (cache := self._opened()) is not None:
            vectors, is_found = cache.get_many([hashes[place] or b"" for place in known.tolist()])
            found_ids, found = image_ids[known[is_found]], vectors[is_found].astype(np.float32)
        if not len(found_ids) and others.all():
            return
        ids = np.concatenate([before.image_ids[others], found_ids])
        vectors = np.concatenate([before.vectors[others].reshape(-1, found.shape[1]), found])
        order = np.argsort(ids)
        self.embeddings = ViewEmbeddings(ids[order], vectors[order].astype(np.float32))

    def look_up(self, hashes: Sequence[bytes], vectors: NDArray[np.float16], is_found: NDArray[np.bool_]) -> None:
        """Put embeddings over all views in place of those (n, d) of one, where both are known."""
        if (cache := self._opened()) is not None:
            better, is_better = cache.get_many(hashes)
            is_better &= is_found
            vectors[is_better] = better[is_better]

    def forget(self) -> None:
        """Know of none."""
        self.embeddings = ViewEmbeddings()

    def _opened(self) -> EmbeddingCache | None:
        """The cache; None, and nothing is made, while nobody embedded a view."""
        card = self._model.card
        if self._cache is None:
            path = cache_file(self._caches.embeddings, views_hash(self._model.backbone_hash), card.embedding_width)
            self._cache = open_views_cache(self._model, self._caches) if path.exists() else None
        return self._cache
