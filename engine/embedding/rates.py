"""Measurement of embedding rates, and of a device against its peak."""

import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.embedding.messages import PhotoRate
from engine.embedding.read_photo import network_input
from engine.errors import ImageError
from engine.images.read_file import read_file
from engine.model_card import BackboneCard
from engine.runtime.backbone import BackboneSession
from engine.runtime.backbone_input import input_shape
from engine.runtime.devices.arithmetic import Product, done_per_s, operations_of
from engine.runtime.devices.settings import provider_options
from engine.runtime.providers import ProviderChoice
from engine.runtime.sessions import usable_cores

NETWORK_S = 0.4  # chosen: tells a fast backbone from a slow one
PHOTOS_S = 0.4  # the same
# times that network and product are measured in turn, of which the median counts
_ROUNDS = 3
_SHORTEST_TICK = 1e-6  # seconds of processor time that are divided by, at least
# of the time that the product gets. Chosen: the rest measures the displayed rate
_PRODUCT_SHARE = 0.3


def measure_inference_for(session: BackboneSession, seconds: float) -> float:
    """Images a second of the backbone on pixels in memory, with whole batches on every worker."""
    side = session.card.input_side
    images = np.random.default_rng(0).integers(
        0, 256, (session.batch_size, side, side, 3), dtype=np.uint8
    )
    if session.is_on_gpu:
        session.embed(images)  # what a GPU sets up for a batch of this size does not count
    return done_per_s([lambda: len(session.embed(images))] * session.parallel_runs, seconds)


def measure_photo_rate(
    model: Path, card: BackboneCard, choice: ProviderChoice, photos: Sequence[Path]
) -> PhotoRate:
    """Measure a backbone on random pixels, and reading and decoding on some photos.

    Raises:
        ModelError: the backbone does not run.
    """
    session = BackboneSession(model, card, choice)
    network = measure_inference_for(session, NETWORK_S)
    return PhotoRate(network, _decoded_per_s(photos, card), session.is_on_gpu)


def _decoded_per_s(photos: Sequence[Path], card: BackboneCard) -> float:
    """Readable photos a second that all cores read and decode, extrapolated from one core."""
    decoded, started_s = 0, time.perf_counter()
    for photo in photos:
        with suppress(ImageError):
            network_input(read_file(photo), card)
            decoded += 1
        if time.perf_counter() - started_s > PHOTOS_S:
            break
    return decoded * usable_cores() / (time.perf_counter() - started_s) if decoded else 0.0


@dataclass(frozen=True)
class DeviceSpeed:
    """Figures of one device."""

    images_per_s: float  # of the backbone alone, on pixels in memory
    operations_per_image: (
        float  # multiplications and additions of its convolutions and matrix products
    )
    product_per_s: float  # operations a second of a float32 matrix product on the same device
    share_of_product: (
        float  # of the backbone; on the CPU by processor time, as other programs do not change it
    )
    batch: float  # images in one run
    # an eight-bit backbone can exceed the float32 product
    is_eight_bit: bool = False


def measure_speed(
    model: Path, card: BackboneCard, choice: ProviderChoice, seconds: float
) -> DeviceSpeed:
    """Measure a backbone and a matrix product in turn, so that other load affects both alike.

    Args:
        seconds: for how long, in all; setting up is added. Slow devices get one round, others
            three.

    Raises:
        ModelError: the device does not work.
    """
    session = BackboneSession(model, card, choice)
    options = provider_options(choice.provider, choice.settings)
    product = Product(choice.provider, options, workers=session.parallel_runs)
    operations = operations_of(model, input_shape(card))
    clock = time.perf_counter if choice.is_gpu else time.process_time
    rounds: list[tuple[_Rate, _Rate]] = []
    started_s = time.perf_counter()
    while not rounds or (len(rounds) < _ROUNDS and time.perf_counter() - started_s < seconds):
        images = _timed(
            lambda: measure_inference_for(session, seconds * (1 - _PRODUCT_SHARE) / _ROUNDS), clock
        )
        rounds.append(
            (images, _timed(lambda: product.measure(seconds * _PRODUCT_SHARE / _ROUNDS), clock))
        )
    return DeviceSpeed(
        images_per_s=statistics.median(images.per_s for images, _limit in rounds),
        operations_per_image=operations,
        product_per_s=statistics.median(limit.per_s for _images, limit in rounds),
        share_of_product=statistics.median(
            images.per_tick * operations / limit.per_tick for images, limit in rounds
        ),
        batch=session.batch_size,
        is_eight_bit=session.is_eight_bit,
    )


@dataclass(frozen=True)
class _Rate:
    """Work per second, and per second of processor time."""

    per_s: float
    per_tick: float


def _timed(measure: Callable[[], float], clock: Callable[[], float]) -> _Rate:
    started_s, started_tick = time.perf_counter(), clock()
    per_s = measure()
    seconds, ticks = time.perf_counter() - started_s, clock() - started_tick
    return _Rate(per_s, per_s * seconds / max(ticks, _SHORTEST_TICK))
