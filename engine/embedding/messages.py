"""Requests and results of the embedding pipeline and of workers that embed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from engine.file_parts import WHOLE, part_content
from engine.images.details_messages import FileDetails
from engine.model_card import BackboneCard
from engine.worker.protocol import Request

# failures of a summary; an unplugged disk of a million images must not fill the memory
MOST_LISTED = 10_000


@dataclass(frozen=True, slots=True)
class EmbedRequest:
    """An image to embed.

    Attributes:
        path: of its file, absolute.
        known_hash: content hash that the file had when it was last read; None where it never was.
        part: of the file; consecutive images of one file are cropped from one decoded picture.
    """

    image_id: int
    path: Path
    known_hash: bytes | None = None
    part: str = WHOLE

    def content(self, file_hash: bytes) -> bytes:
        """The image's content hash, by that of its file."""
        return part_content(file_hash, self.part)


class EmbedResult(NamedTuple):
    """The result for one image."""

    image_id: int
    content_hash: bytes | None  # of the file, or the last known one while it is out of reach
    failure: str | None  # why there is no embedding, in one line; None when it is in the cache


@dataclass(frozen=True)
class EmbedBatch:
    """Some results; their embeddings are in the cache, on disk, before they are reported.

    Attributes:
        details: of those of these files that were read.
        seen: ids of images whose thumbnails are in the cache now, before they are embedded.
    """

    results: tuple[EmbedResult, ...]
    details: tuple[FileDetails, ...] = ()
    seen: tuple[int, ...] = ()


OnBatch = Callable[[EmbedBatch], None]


def ignore_batch(_batch: EmbedBatch) -> None:
    """Ignore results."""


@dataclass(frozen=True)
class EmbedSummary:
    """Counts of a run; `embedded + from_cache + failure_count + missing` is all requests."""

    embedded: int  # images that went through the backbone
    from_cache: (
        int  # images whose content had an embedding already, from before or from a twin in this run
    )
    # image id, path and reason of the first `MOST_LISTED` failures
    failed: tuple[tuple[int, Path, str], ...]
    failure_count: int  # files without an embedding
    seconds: float  # duration of the run
    images_per_s: (
        float  # requests that were not in the cache at the start, by the seconds spent on them
    )
    device_name: str  # where the backbone ran, at the end
    notice: str = ""  # to display, such as that the GPU failed and the CPU took over
    reason: str = ""  # why a GPU was not used
    missing: int = 0  # images whose file is missing; their embedding stays


@dataclass(frozen=True)
class EmbedImages(Request[EmbedSummary]):
    """Embed these images; each result is an event, so the summary lists no failures."""

    event_types = (EmbedBatch,)

    images: tuple[EmbedRequest, ...]  # with absolute paths
    backbone: Path  # its file
    identity: str  # of its embeddings, which names their cache
    card: BackboneCard  # of the backbone
    cache: Path  # root of the caches
    device: str = "auto"  # one of `providers.DEVICES`
    # images that earlier requests of the same run did; they count as done in the progress
    done_before: int = 0
    total: int = 0  # images of the whole run
    with_views: bool = False  # embed each image in all its views, too
    # longer side of the thumbnails to make, with fingerprints; 0 for neither
    thumbnail_side: int = 0


@dataclass(frozen=True)
class PhotoRate:
    """How fast a backbone is on this computer."""

    network: float  # images a second of the backbone alone
    # photos a second that are read and decoded for it; 0 where there were none to try
    decoding: float = 0.0
    is_on_gpu: bool = False  # the backbone runs in parallel with decoding

    @property
    def images_per_s(self) -> float:
        """From the file to the embedding, or of the backbone alone where no photo was tried."""
        if not self.decoding:
            return self.network
        return (
            min(self.network, self.decoding)
            if self.is_on_gpu
            else 1 / (1 / self.network + 1 / self.decoding)
        )

    def times_the_work(self, times: float) -> "PhotoRate":
        """The rate of a backbone with so many times the operations."""
        return replace(self, network=self.network / times)


@dataclass(frozen=True)
class MeasuredRates:
    """Rates by the backbone's name; one that does not run is left out."""

    rates: Mapping[str, PhotoRate]


@dataclass(frozen=True)
class MeasureRates(Request[MeasuredRates]):
    """Measure for about a second how many images a second backbones embed."""

    backbones: tuple[tuple[Path, BackboneCard], ...]  # file and card of each
    # some of those to embed, as absolute paths, so that reading them counts
    photos: tuple[Path, ...] = ()
    device: str = "auto"  # one of `providers.DEVICES`
