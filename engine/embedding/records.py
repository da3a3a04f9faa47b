"""What goes into the embedding pipeline and what comes out of it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

MOST_LISTED: Final = 10_000
"""Failures that a summary lists; an unplugged disk of a million images must not fill the memory."""


@dataclass(frozen=True, slots=True)
class EmbedRequest:
    """An image to embed: its id, its absolute path, and the identity of the content it had when it was last read."""

    image_id: int
    path: Path
    known_hash: bytes | None = None


class EmbedResult(NamedTuple):
    """What became of one image."""

    image_id: int  # as asked
    # Identity of the file's bytes; of those it had when it is out of reach now; None when nobody knows
    content_hash: bytes | None
    failure: str | None  # why there is no embedding, in one line; None when it is in the cache


@dataclass(frozen=True)
class EmbedBatch:
    """Some results. Their embeddings are in the cache, on disk, before anybody is told."""

    results: tuple[EmbedResult, ...]


OnBatch = Callable[[EmbedBatch], None]


def ignore_batch(_batch: EmbedBatch) -> None:
    """Be the listener of callers that only want the summary."""


@dataclass(frozen=True)
class EmbedSummary:
    """What a run did; `embedded + from_cache + failure_count + missing` is the number of requests."""

    embedded: int  # images that went through the backbone
    from_cache: int  # images whose content had an embedding already, from before or from a twin in this run
    # (image id, path, reason) of the first `MOST_LISTED` files without an embedding
    failed: tuple[tuple[int, Path, str], ...]
    failure_count: int  # files without an embedding
    seconds: float  # duration of the run
    images_per_s: float  # requests that were not in the cache at the start, by the seconds spent on them
    device_name: str  # where the backbone ran, at the end
    notice: str = ""  # what a person must be told, such as that the GPU failed and the CPU took over; else empty
    reason: str = ""  # why a GPU was not used; empty when one was, or the CPU was asked for
    missing: int = 0  # images whose file is not there now; the embedding they have is kept
