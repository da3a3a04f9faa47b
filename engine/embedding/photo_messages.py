"""What is wanted of photos, and what reading them gave, as it goes from process to process."""

from dataclasses import dataclass
from pathlib import Path

from engine.embedding.messages import EmbedRequest
from engine.files import FoundFile, PhotoDetails
from engine.images.fingerprint import Fingerprint
from engine.worker.protocol import Request

OpenedWith = tuple[Path, str, int, str]
"""What opens an embedding cache in another process."""


@dataclass(frozen=True, slots=True)
class WantedPixels:
    """Requested results of a photo: squares for a backbone, and a thumbnail.

    Attributes:
        side: of the squares.
        resize_share: see `decode_square`.
        views: how many of each image; 1 for the whole of it.
        thumbnail_side: longer side of a thumbnail, in pixels; 0 for neither thumbnail nor
            fingerprint.
    """

    side: int
    resize_share: float
    views: int = 1
    thumbnail_side: int = 0

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of the pixels of one image: (views, side, side, 3)."""
        return self.views, self.side, self.side, 3

    @property
    def bytes(self) -> int:
        """Of the pixels of one image."""
        return self.views * self.side * self.side * 3


@dataclass(frozen=True, slots=True)
class PhotoRead:
    """What reading one image gave, but for its pixels.

    Attributes:
        file: its state before reading: a later change shows as another modification time.
        content_hash: of the file; None where it could not be read.
        has_pixels: they were decoded.
        failure: why there are none, in one line; "" where the content is known.
        is_missing: the file is not there.
        is_unreachable: it cannot be read now, as on a share that vanished.
        details: None where it could not be read.
        picture_hash: perceptual hash (64 bits) of the whole picture, as the backbone sees it.
        fingerprint: of the image as displayed, where a thumbnail was requested.
        thumbnail: a JPEG, where it was requested.
    """

    file: FoundFile
    content_hash: bytes | None = None
    has_pixels: bool = False
    failure: str = ""
    is_missing: bool = False
    is_unreachable: bool = False
    details: PhotoDetails | None = None
    picture_hash: int = 0
    fingerprint: Fingerprint | None = None
    thumbnail: bytes = b""


@dataclass(frozen=True)
class IsReady:
    """It is."""


@dataclass(frozen=True)
class Ready(Request[IsReady]):
    """Load all that reading needs."""


@dataclass(frozen=True)
class PhotosRead:
    """The first files of a request, in order; the others were left, because these took long."""

    photos: tuple[PhotoRead, ...]


@dataclass(frozen=True)
class ReadPhotos(Request[PhotosRead]):
    """Read, hash and decode files into shared memory.

    Attributes:
        images: to read.
        wanted: of each.
        caches: a content is known where all of these have it: folder, identity, width, and project
            that also reads imported embeddings, or "", of each.
        memory: name of the shared memory.
        start: first byte there: eight for the index of the file being read, then the pixels of
            those that have any, in order.
        patience_s: no file is begun after so long.
    """

    images: tuple[EmbedRequest, ...]
    wanted: WantedPixels
    caches: tuple[OpenedWith, ...]
    memory: str
    start: int
    patience_s: float
