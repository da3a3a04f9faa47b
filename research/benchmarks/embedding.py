"""Speed of embedding files, compared with each part alone and with other programs.

Everything uses all cores and the same files, and is timed in turn in every round. On a CPU decoding
and the backbone share the cores, so the pipeline cannot be faster than 1 / (1 / decode + 1 /
inference).
"""

import statistics
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.collection.models import BUNDLED_NAME, ModelFiles, find_model
from engine.errors import InputError, UsageError
from engine.images.find_images import find_images
from engine.new_folder import scratch_folder
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import choose_providers
from engine.runtime.sessions import usable_cores
from research.benchmarks.decoders import measure_decoders
from research.benchmarks.device_settings import read_settings
from research.benchmarks.photos import KINDS, PhotoKind, draw_photos
from research.benchmarks.rates import RateTriple, decode_all, measure_rates
from research.benchmarks.simulated_device import BATCH, DeviceUse, SimulatedDevice, simulated_rate
from research.reference import within_budget

FEWEST_FOR_THE_BACKBONE = 256
"""Decoded images are repeated up to this number, so that timing the backbone is not too short."""

FEWEST_BATCHES = 20  # of a simulated device, so that the incomplete last one hardly counts
SIMULATED_S = 5.0
"""Minimum seconds of work for a simulated device."""

Peer = Callable[[], float]
"""Embed all files once in another way; return images a second."""

OpenPeer = Callable[[ModelFiles, Sequence[Path]], AbstractContextManager[Peer | None]]
"""Prepare a peer; None where it cannot run this backbone."""


@dataclass(frozen=True)
class EmbedFigures:
    """Medians over rounds, images a second; ratios are medians of the rounds' ratios.

    Attributes:
        images: files that were embedded in each round.
        mean_bytes: mean size of a file.
        device: where the backbone ran.
        decode: our decoding alone on all cores: reading, decoding, cutting and resizing.
        inference: the backbone alone on all cores.
        pipeline: end to end, hashing and cache writes included.
        share_of_limit: pipeline over the smaller of the two.
        share_of_reachable: pipeline over 1 / (1/decode + 1/inference): on a CPU both share the same
            cores.
        best_decoder: name of the fastest decoder at a sufficient scale.
        best_decode: its rate on all cores, from files, without cutting and resizing.
        share_of_best_decode: pipeline over it.
        peer: torch's DataLoader with Pillow and the same network in float32; None when it was not
            measured.
        over_peer: pipeline over it.
        is_on_gpu: whether the backbone runs on a GPU.
        idle: share of the time that a simulated device was idle; None for a real one.
        fullness: requested images over images that ran on it, padding included.
        batch_sizes: different sizes of its batches.
        limit: target of `share`.
        limit_large: target of `share_of_best_decode` for large photos.
        limit_over_peer: target of `over_peer`.
    """

    images: int
    mean_bytes: int
    device: str
    decode: float
    inference: float
    pipeline: float
    share_of_limit: float
    share_of_reachable: float
    best_decoder: str
    best_decode: float
    share_of_best_decode: float
    peer: float | None
    over_peer: float | None
    is_on_gpu: bool = False
    idle: float | None = None
    fullness: float | None = None
    batch_sizes: int | None = None
    limit: float = 0.9
    limit_large: float = 0.9
    limit_over_peer: float = 3.0

    @property
    def reachable(self) -> float:
        """Rate that decoding and the backbone allow: sharing the cores, or beside a GPU."""
        return self.pipeline / self.share

    @property
    def share(self) -> float:
        """End-to-end rate over `reachable`."""
        return self.share_of_limit if self.is_on_gpu else self.share_of_reachable

    @property
    def is_kept(self) -> bool:
        """Whether `share` is within its limit."""
        return self.share >= self.limit


@dataclass(frozen=True)
class _Round:
    rates: RateTriple
    decoders: dict[str, float]
    peer: float | None
    use: DeviceUse | None

    @property
    def best_decode(self) -> float:
        return max(self.decoders.values())


def measure_embed(
    paths: Sequence[Path] = (),
    *,
    photos: str = "small",
    backbone: str = BUNDLED_NAME,
    device: str = "auto",
    device_settings: Sequence[str] = (),
    rounds: int = 5,
    most: int = 1000,
    open_peer: OpenPeer | None = None,
) -> EmbedFigures:
    """Time the pipeline on image files, by default on generated photos.

    Args:
        paths: image files or folders.
        photos: without `paths`, one of `KINDS`: "small" (500 pixels) or "large" (12 megapixels).
        backbone: name or file of the backbone.
        device: one of `providers.DEVICES`.
        device_settings: switches of the device, as NAME=VALUE.
        rounds: at most, of everything but the peer; other load on the computer disturbs single
            rounds.
        most: files.
        open_peer: what to compare with.

    Raises:
        InputError: no images in `paths`.
        UsageError: there is no such device, switch or kind of photos, or the device cannot be used.
    """
    if photos not in KINDS:
        raise UsageError("there is no such kind of photos", expected=", ".join(KINDS), found=photos)
    model = find_model(backbone)
    session = _session(model, device, device_settings)
    with scratch_folder() as folder:
        files = _files(paths, most) if paths else draw_photos(folder, _kind(photos, device))
        with open_peer(model, files) if open_peer else nullcontext() as peer:
            measured = _measure_rounds(files, session, rounds, peer)
        mean_bytes = sum(path.stat().st_size for path in files) // len(files)
    return replace(
        _figures(measured, len(files), mean_bytes, session.device_name), is_on_gpu=session.is_on_gpu
    )


def _session(model: ModelFiles, device: str, settings: Sequence[str]) -> BackboneSession:
    rate = simulated_rate(device)
    if rate is not None:
        return SimulatedDevice(model.backbone, model.card, rate)
    return BackboneSession(
        model.backbone, model.card, choose_providers(device, read_settings(settings))
    )


def _kind(photos: str, device: str) -> PhotoKind:
    """The kind with enough photos that the first batch of a simulated device hardly counts."""
    kind, rate = KINDS[photos], simulated_rate(device) or 0.0
    fewest = max(SIMULATED_S * rate, FEWEST_BATCHES * BATCH) if rate else 0.0
    return replace(kind, copies=max(kind.copies, round(fewest / kind.pictures)))


def _files(paths: Sequence[Path], most: int) -> list[Path]:
    files = [file.path for file in find_images(paths).files][:most]
    if not files:
        raise InputError("there are no images to measure with", found=", ".join(map(str, paths)))
    return files


def _measure_rounds(
    files: Sequence[Path], session: BackboneSession, rounds: int, peer: Peer | None
) -> list[_Round]:
    card = session.card
    # This warms the file cache, too.
    images = decode_all(files, card, workers=session.parallel_runs)
    images = np.concatenate([images] * -(-FEWEST_FOR_THE_BACKBONE // len(images)))
    found = []
    for number in within_budget(rounds):
        rates = measure_rates(files, images, session)
        use = session.take_use() if isinstance(session, SimulatedDevice) else None
        decoders = measure_decoders(
            files, round(card.input_side / card.resize_share), workers=usable_cores()
        )
        # A round of it takes longer than everything else.
        peer_rate = peer() if peer and not number else None
        found.append(_Round(rates, decoders, peer_rate, use))
    return found


def _figures(rounds: Sequence[_Round], images: int, mean_bytes: int, device: str) -> EmbedFigures:
    def median(of: Callable[[_Round], float]) -> float:
        return statistics.median(map(of, rounds))

    def median_of_decoder(name: str) -> float:
        return median(lambda one: one.decoders[name])

    decoders = {name: median_of_decoder(name) for name in rounds[0].decoders}
    best = max(decoders, key=decoders.__getitem__)
    with_peer = [one for one in rounds if one.peer]
    uses = [one.use for one in rounds if one.use is not None]
    return EmbedFigures(
        images=images,
        mean_bytes=mean_bytes,
        device=device,
        decode=median(lambda one: one.rates.decode),
        inference=median(lambda one: one.rates.inference),
        pipeline=median(lambda one: one.rates.pipeline),
        share_of_limit=median(lambda one: one.rates.share_of_limit),
        share_of_reachable=median(lambda one: one.rates.pipeline / one.rates.reachable),
        best_decoder=best,
        best_decode=decoders[best],
        share_of_best_decode=median(lambda one: one.rates.pipeline / one.best_decode),
        peer=statistics.median(one.peer or 0.0 for one in with_peer) if with_peer else None,
        over_peer=statistics.median(one.rates.pipeline / (one.peer or 1.0) for one in with_peer)
        if with_peer
        else None,
        idle=statistics.median(use.idle for use in uses) if uses else None,
        fullness=statistics.median(use.fullness(images) for use in uses) if uses else None,
        batch_sizes=max(use.sizes for use in uses) if uses else None,
    )
