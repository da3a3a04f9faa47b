"""One worker of the embedding pipeline: read, hash, decode and embed a handful of files on one thread."""

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.embedding.cache import EmbeddingCache
from engine.embedding.messages import EmbedRequest
from engine.embedding.views import VIEWS, mean_of_views, views_of
from engine.errors import ImageError, ImageMissingError, ImageUnreachableError
from engine.events import CancelToken
from engine.files import FoundFile
from engine.images.decode import decode_square
from engine.images.details_messages import FileDetails, PhotoDetails
from engine.images.fingerprint import perceptual_hash
from engine.images.photo_details import details_in
from engine.images.read_file import FILES, content_hash, read_file
from engine.model_card import BackboneCard
from engine.runtime.backbone import BackboneSession

# A chunk of slow files is cut short, so that the last ones of a run end at about the same time and results come often;
# a GPU would rather have more images at once.
_PATIENCE_S: Final = 0.1
_GPU_PATIENCE_S: Final = 0.5
NOTHING: Final = content_hash(b"")  # identity of what is no readable file, such as an empty one
_LAST_PATIENCE: Final = 0.25  # share of it for the last files of a run


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
    content_hash: bytes
    details: PhotoDetails | None = None  # not of a file that is embedded in all its views: they are known


@dataclass
class ChunkOutcome:
    """The requests of a chunk, by what became of them."""

    vectors: NDArray[np.float32]  # (len(embedded), embedding width) float32
    embedded: list[HashedRequest] = field(default_factory=list)  # in the order of `vectors`
    pictures: Sequence[int] = ()  # perceptual hashes of `embedded`; not of images that are embedded in all their views
    cached: list[HashedRequest] = field(default_factory=list)  # whose content is in the cache already
    twins: list[HashedRequest] = field(default_factory=list)  # whose content another request of this run has claimed
    undecodable: list[tuple[HashedRequest, str]] = field(default_factory=list)  # no sound images, with the reason
    # that could not be read, with the reason, and the content hash where the file is out of reach
    unreadable: list[tuple[EmbedRequest, str, bytes | None]] = field(default_factory=list)
    missing: list[EmbedRequest] = field(default_factory=list)  # whose file is gone, but whose embedding is in the cache
    left: Sequence[EmbedRequest] = ()  # that were not begun because the others took long

    def details(self) -> Iterator[FileDetails]:
        """What the files that were read say of themselves."""
        undecodable = (hashed for hashed, _reason in self.undecodable)
        for hashed in (*self.embedded, *self.cached, *self.twins, *undecodable):
            if hashed.details is not None:
                yield FileDetails(hashed.request.image_id, hashed.file.modified_ns, hashed.details)


@dataclass(frozen=True)
class ChunkWorker:
    """What all workers share."""

    session: BackboneSession
    cache: EmbeddingCache  # of the same backbone; of its views where images are embedded in all of them
    claims: Claims  # on contents
    cancel: CancelToken  # stops between images
    with_views: bool = False  # whether each image is embedded in all its views

    @property
    def batch_size(self) -> int:
        return max(1, self.session.batch_size // self._views)

    @property
    def _views(self) -> int:
        return VIEWS if self.with_views else 1

    def embed_chunk(self, requests: Sequence[EmbedRequest], *, is_last: bool = False) -> ChunkOutcome:
        """Embed the new contents among the requests' files; slow ones are left, sooner at the end of a run.

        Raises:
            Cancelled: `cancel` was set; nothing of this chunk is kept.
            ModelError: the backbone fails.
        """
        card = self.session.card
        outcome = ChunkOutcome(np.zeros((0, card.embedding_width), dtype=np.float32))
        squares = np.empty((len(requests), self._views, card.input_side, card.input_side, 3), dtype=np.uint8)
        patience_s = _GPU_PATIENCE_S if self.session.is_on_gpu else _PATIENCE_S
        end_s = time.monotonic() + patience_s * (_LAST_PATIENCE if is_last else 1)
        for position, request in enumerate(requests):
            self.cancel.raise_if_cancelled()
            if position and time.monotonic() > end_s:
                outcome.left = requests[position:]
                break
            file = state_of(request)
            with FILES.holding(max(0, file.size_bytes)):
                self._take(request, file, outcome, squares)
        if outcome.embedded:
            found = self.session.embed(squares[: len(outcome.embedded)].reshape(-1, *squares.shape[2:]))
            outcome.vectors = mean_of_views(found) if self.with_views else found
            if not self.with_views:
                seen = (Image.fromarray(square[0]).convert("L") for square in squares[: len(outcome.embedded)])
                outcome.pictures = [perceptual_hash(grey) for grey in seen]
        return outcome

    def _take(self, request: EmbedRequest, file: FoundFile, outcome: ChunkOutcome, squares: NDArray[np.uint8]) -> None:
        """Read one file, sort it into the outcome, and write its pixels where the next one to embed belongs."""
        try:
            data = read_file(request.path)
        except ImageError as error:
            self._pass_over(request, error, outcome)
            return
        hashed = HashedRequest(request, file, content_hash(data), None if self.with_views else details_in(data))
        if not self.claims.take(hashed.content_hash):
            outcome.twins.append(hashed)
            return
        if not self.cache.missing([hashed.content_hash]):
            self.claims.release(hashed.content_hash)
            outcome.cached.append(hashed)
            return
        try:
            decode = views_of if self.with_views else network_input
            squares[len(outcome.embedded)] = decode(data, self.session.card)
        except ImageError as error:
            outcome.undecodable.append((hashed, error.message))
            return
        outcome.embedded.append(hashed)

    def _pass_over(self, request: EmbedRequest, error: ImageError, outcome: ChunkOutcome) -> None:
        """Keep the known content of an image whose file is out of reach, as on a share that vanished."""
        known = request.known_hash if isinstance(error, ImageUnreachableError) else NOTHING
        if isinstance(error, ImageMissingError) and known is not None and not self.cache.missing([known]):
            outcome.missing.append(request)
        else:
            outcome.unreadable.append((request, error.message, known))


def network_input(data: bytes, card: BackboneCard) -> NDArray[np.uint8]:
    """Decode an image file's bytes to what the backbone takes, (side, side, 3) uint8 RGB.

    Raises:
        ImageError: the bytes are no sound image.
    """
    return decode_square(data, card.input_side, card.resize_share)


def state_of(request: EmbedRequest) -> FoundFile:
    """The file's state before it is read: a change in between shows as another modification time later."""
    return FoundFile.at(request.path) or FoundFile(request.path, -1, -1)  # reading it says in words what is wrong
