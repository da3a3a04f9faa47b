"""What a worker is asked to embed. Events are `EmbedBatch`es."""

from dataclasses import dataclass
from pathlib import Path

from engine.embedding.records import EmbedBatch, EmbedRequest
from engine.model_card import BackboneCard
from engine.worker.protocol import Request


@dataclass(frozen=True)
class Embedded:
    """How a run ended; see `EmbedSummary` for the fields."""

    embedded: int
    from_cache: int
    failure_count: int
    missing: int
    seconds: float
    device_name: str
    notice: str
    reason: str


@dataclass(frozen=True)
class EmbedImages(Request[Embedded]):
    """Embed these images and answer for each of them.

    Attributes:
        images: with absolute paths.
        backbone: its file.
        backbone_hash: that names its cache.
        card: of the backbone.
        cache: root of the caches.
        device: one of `providers.DEVICES`.
        done_before: images that earlier requests of the same run did; they count as done in the progress.
        total: images of the whole run.
    """

    event_types = (EmbedBatch,)

    images: tuple[EmbedRequest, ...]
    backbone: Path
    backbone_hash: str
    card: BackboneCard
    cache: Path
    device: str = "auto"
    done_before: int = 0
    total: int = 0
