"""What a worker is asked to embed. Events are `EmbedBatch`es."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
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
        with_views: embed each image in all its views.
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
    with_views: bool = False


@dataclass(frozen=True)
class PhotoRate:
    """How fast a backbone is on this computer.

    Attributes:
        network: images a second of the backbone alone.
        decoding: photos a second that are read and decoded for it; 0 where there were none to try.
        is_on_gpu: the backbone runs beside the cores that decode.
    """

    network: float
    decoding: float = 0.0
    is_on_gpu: bool = False

    @property
    def images_per_s(self) -> float:
        """From the file to the embedding; of the backbone alone where no photo was tried."""
        if not self.decoding:
            return self.network
        return min(self.network, self.decoding) if self.is_on_gpu else 1 / (1 / self.network + 1 / self.decoding)

    def times_the_work(self, times: float) -> "PhotoRate":
        """Of another backbone, by how much more it has to compute for an image."""
        return replace(self, network=self.network / times)


@dataclass(frozen=True)
class MeasuredRates:
    """Rates by the backbone's name; one that does not run is left out."""

    rates: Mapping[str, PhotoRate]


@dataclass(frozen=True)
class MeasureRates(Request[MeasuredRates]):
    """Measure for about a second how many images a second backbones embed.

    Attributes:
        backbones: file and card of each.
        photos: some of those that they are to embed, with absolute paths, so that reading them counts.
        device: one of `providers.DEVICES`.
    """

    backbones: tuple[tuple[Path, BackboneCard], ...]
    photos: tuple[Path, ...] = ()
    device: str = "auto"
