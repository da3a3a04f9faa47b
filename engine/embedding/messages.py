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
    """Embed these images and answer for each of them."""

    event_types = (EmbedBatch,)

    images: tuple[EmbedRequest, ...]  # with absolute paths
    backbone: Path  # its file
    backbone_hash: str  # that names its cache
    card: BackboneCard  # of the backbone
    cache: Path  # root of the caches
    device: str = "auto"  # one of `providers.DEVICES`
    done_before: int = 0  # images that earlier requests of the same run did; they count as done in the progress
    total: int = 0  # images of the whole run
    with_views: bool = False  # embed each image in all its views


@dataclass(frozen=True)
class PhotoRate:
    """How fast a backbone is on this computer."""

    network: float  # images a second of the backbone alone
    decoding: float = 0.0  # photos a second that are read and decoded for it; 0 where there were none to try
    is_on_gpu: bool = False  # the backbone runs beside the cores that decode

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
    """Measure for about a second how many images a second backbones embed."""

    backbones: tuple[tuple[Path, BackboneCard], ...]  # file and card of each
    # Some of those that they are to embed, with absolute paths, so that reading them counts
    photos: tuple[Path, ...] = ()
    device: str = "auto"  # one of `providers.DEVICES`
