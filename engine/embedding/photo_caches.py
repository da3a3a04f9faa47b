"""The caches of results of reading and embedding photos, by content or file."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.config import CacheFolders
from engine.embedding.cache import EmbeddingCache
from engine.embedding.photo_messages import OpenedWith
from engine.files import FoundFile
from engine.images.fingerprint import Fingerprint
from engine.images.fingerprint_cache import FingerprintCache
from engine.images.thumbnail_cache import ThumbnailCache

NO_PREVIEWS = 0  # instead of the side of thumbnails: neither these nor fingerprints are made


class PreviewCaches:
    """Thumbnails, and fingerprints that find duplicates.

    Args:
        side: longer side of the thumbnails, in pixels.
    """

    def __init__(self, caches: CacheFolders, side: int) -> None:
        self.side = side
        self._thumbnails = ThumbnailCache(caches.thumbnails)
        self._fingerprints = FingerprintCache(caches.fingerprints)

    def close(self) -> None:
        self._thumbnails.close()
        self._fingerprints.close()

    def put(
        self,
        thumbnails: Sequence[tuple[FoundFile, str, bytes]],
        fingerprints: Iterable[tuple[bytes, Fingerprint]],
    ) -> None:
        """Store thumbnails of parts of files and fingerprints of contents; never fails."""
        self._thumbnails.put_many(thumbnails, self.side)
        self._fingerprints.put_many(fingerprints)


@dataclass(frozen=True)
class PhotoCaches:
    """Where a run looks up what is known, and puts what it makes.

    Attributes:
        images: embeddings of whole images.
        views: embeddings over all views; None where images are embedded as a whole alone.
        previews: None where none are made.
    """

    images: EmbeddingCache
    views: EmbeddingCache | None = None
    previews: PreviewCaches | None = None

    @property
    def embeddings(self) -> tuple[EmbeddingCache, ...]:
        return (self.images,) if self.views is None else (self.images, self.views)

    @property
    def opened_with(self) -> tuple[OpenedWith, ...]:
        """What opens the embeddings in another process."""
        return tuple(cache.opened_with for cache in self.embeddings)

    @property
    def thumbnail_side(self) -> int:
        return NO_PREVIEWS if self.previews is None else self.previews.side

    def missing(self, contents: Iterable[bytes]) -> set[bytes]:
        """The contents that lack an embedding."""
        return missing_in(self.embeddings, list(contents))


def missing_in(caches: Iterable[EmbeddingCache], contents: Sequence[bytes]) -> set[bytes]:
    """The contents of which one of the caches has no embedding."""
    return {key for cache in caches for key in cache.missing(contents)}
