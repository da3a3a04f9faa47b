"""A handful of files: read on one thread, sorted by what became of them, and embedded together."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from engine.arrays import Floats, Pixels
from engine.embedding.messages import EmbedRequest
from engine.embedding.photo_caches import PhotoCaches
from engine.embedding.photo_messages import PhotoRead, WantedPixels
from engine.embedding.read_photo import NOTHING, FilePixelReader, Missing
from engine.embedding.views import VIEWS, mean_of_views
from engine.events import CancelToken
from engine.file_parts import part_content, picture_part
from engine.files import FoundFile, PhotoDetails
from engine.images.details_messages import FileDetails
from engine.runtime.backbone import BackboneSession

PATIENCE_S = 0.1
"""Time limit of a chunk of slow files, so that the last chunks of a run end together."""


class Claims:
    """Contents that a worker has claimed, so that no other embeds the same."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._claimed: set[bytes] = set()

    def take(self, key: bytes) -> bool:
        with self._lock:
            is_free = key not in self._claimed
            self._claimed.add(key)
            return is_free

    def release(self, key: bytes) -> None:
        """Release a claim, once the result is in the cache or the content failed."""
        with self._lock:
            self._claimed.discard(key)

    def __contains__(self, key: bytes) -> bool:
        with self._lock:
            return key in self._claimed


@dataclass(frozen=True, slots=True)
class HashedRequest:
    """A request whose file was read: its state on disk before reading, and its content hash."""

    request: EmbedRequest
    file: FoundFile
    content_hash: bytes  # of the file
    details: PhotoDetails | None = None

    @property
    def content(self) -> bytes:
        """The content hash of the image, which may be a part of the file."""
        return self.request.content(self.content_hash)

    @property
    def picture(self) -> bytes:
        """The content hash of the picture that the image is, or is in."""
        return part_content(self.content_hash, picture_part(self.request.part))


@dataclass
class ChunkOutcome:
    """The requests of a chunk, by what became of them."""

    vectors: Floats  # (len(embedded), embedding width) float32, of the whole images
    # the same over all views; None where these are not embedded
    means: Floats | None = None
    embedded: list[HashedRequest] = field(default_factory=list)  # in the order of `vectors`
    # perceptual, of the pictures that `embedded` are in
    picture_hashes: list[int] = field(default_factory=list)
    # whose content is in the cache already
    cached: list[HashedRequest] = field(default_factory=list)
    # whose content another request of this run has claimed
    twins: list[HashedRequest] = field(default_factory=list)
    # no sound images, with the reason
    undecodable: list[tuple[HashedRequest, str]] = field(default_factory=list)
    # that could not be read, with the reason, and the content hash where the file is out of reach
    unreadable: list[tuple[EmbedRequest, str, bytes | None]] = field(default_factory=list)
    # whose file is missing, but whose embedding is cached
    missing: list[EmbedRequest] = field(default_factory=list)

    def take_vectors(self, vectors: Floats, views: int) -> None:
        """Set the embeddings (len(embedded) * views, width); the first view is the whole image."""
        self.vectors = vectors[::views]
        self.means = mean_of_views(vectors) if views > 1 else None

    def details(self) -> Iterator[FileDetails]:
        """Metadata of the files that were read."""
        undecodable = (hashed for hashed, _reason in self.undecodable)
        for hashed in (*self.embedded, *self.cached, *self.twins, *undecodable):
            if hashed.details is not None:
                yield FileDetails(hashed.request.image_id, hashed.file.modified_ns, hashed.details)


@dataclass(frozen=True)
class ReadChunk:
    """Files that were read.

    Attributes:
        requests: of the whole chunk.
        photos: what the first of them gave; the others were left, because these took long.
        pixels: (p, views, side, side, 3) of those that have any, in order.
        release: to be called once the pixels are not needed any more.
        outcome: where they were sorted and embedded, too; None where they are still to be.
    """

    requests: Sequence[EmbedRequest]
    photos: Sequence[PhotoRead]
    pixels: Pixels
    release: Callable[[], None] = lambda: None
    outcome: ChunkOutcome | None = None


def read_chunk(
    requests: Sequence[EmbedRequest],
    wanted: WantedPixels,
    missing: Missing,
    cancel: CancelToken,
    *,
    patience_s: float,
    pixels: Pixels | None = None,
    on_begun: Callable[[int], None] = lambda _place: None,
) -> ReadChunk:
    """Read images file by file, at least those of the first file, for about `patience_s`.

    Args:
        requests: those of one file follow one another.
        missing: see `FilePixelReader`.
        pixels: (n, views, side, side, 3) of the n files, to be written; by default new ones.
        on_begun: called with the place of each image before it is read.

    Raises:
        Cancelled: `cancel` was set.
    """
    pixels = np.empty((len(requests), *wanted.shape), dtype=np.uint8) if pixels is None else pixels
    photos, count, end_s = list[PhotoRead](), 0, time.monotonic() + patience_s
    for _path, of_file in groupby(requests, key=lambda request: request.path):
        if photos and time.monotonic() > end_s:
            break
        together = list(of_file)
        cancel.raise_if_cancelled()
        on_begun(len(photos))
        with FilePixelReader(together, wanted, missing) as reader:
            for request in together:
                cancel.raise_if_cancelled()
                on_begun(len(photos))
                photos.append(reader.read(request, pixels[count]))
                count += photos[-1].has_pixels
    return ReadChunk(requests, photos, pixels[:count])


@dataclass(frozen=True)
class ChunkWorker:
    """What all workers share."""

    session: BackboneSession
    caches: PhotoCaches  # of the same backbone
    claims: Claims  # on contents
    cancel: CancelToken  # stops between images

    @property
    def wanted(self) -> WantedPixels:
        card, views = self.session.card, 1 if self.caches.views is None else VIEWS
        return WantedPixels(card.input_side, card.resize_share, views, self.caches.thumbnail_side)

    def missing(self, contents: Sequence[bytes]) -> set[bytes]:
        """The contents that are neither in the caches nor about to be."""
        return {key for key in self.caches.missing(contents) if key not in self.claims}

    def sort(self, chunk: ReadChunk) -> tuple[ChunkOutcome, Pixels]:
        """Sort requests by what their files gave.

        Returns:
            the outcome, without vectors, and the pixels (n, views, side, side, 3) of its new
            contents, which it has claimed.
        """
        outcome = ChunkOutcome(np.zeros((0, self.session.card.embedding_width), dtype=np.float32))
        claimed, place = list[tuple[HashedRequest, PhotoRead, int]](), 0
        for request, photo in zip(chunk.requests, chunk.photos, strict=False):
            hashed = self._claimed(request, photo, outcome)
            if hashed is not None:
                claimed.append((hashed, photo, place))
            place += photo.has_pixels
        missing = self.caches.missing(hashed.content for hashed, _photo, _place in claimed)
        chosen = [
            place
            for hashed, photo, place in claimed
            if self._is_to_embed(hashed, photo, outcome, is_missing=hashed.content in missing)
        ]
        return outcome, chunk.pixels if len(chosen) == len(chunk.pixels) else chunk.pixels[chosen]

    def _claimed(
        self, request: EmbedRequest, photo: PhotoRead, outcome: ChunkOutcome
    ) -> HashedRequest | None:
        """Claim the content of an image; record it where it has none or its content is claimed."""
        if photo.content_hash is None:
            self._pass_over(request, photo, outcome)
            return None
        hashed = HashedRequest(request, photo.file, photo.content_hash, photo.details)
        if self.claims.take(hashed.content):
            return hashed
        outcome.twins.append(hashed)
        return None

    def _is_to_embed(
        self, hashed: HashedRequest, photo: PhotoRead, outcome: ChunkOutcome, *, is_missing: bool
    ) -> bool:
        """Sort an image in whose content was claimed; whether its pixels are to be embedded.

        Args:
            is_missing: whether the caches lack its content.
        """
        if photo.has_pixels and is_missing:
            outcome.embedded.append(hashed)
            outcome.picture_hashes.append(photo.picture_hash)
            return True
        if photo.failure:
            outcome.undecodable.append((hashed, photo.failure))
            return False
        self.claims.release(hashed.content)
        (outcome.twins if is_missing else outcome.cached).append(hashed)
        return False

    def _pass_over(self, request: EmbedRequest, photo: PhotoRead, outcome: ChunkOutcome) -> None:
        """Record an image whose file cannot be read; an unreachable one keeps its known content."""
        known = request.known_hash if photo.is_unreachable else NOTHING
        content = None if known is None else request.content(known)
        if photo.is_missing and content is not None and not self.caches.images.missing([content]):
            outcome.missing.append(request)
        else:
            outcome.unreadable.append((request, photo.failure, known))
