"""About how many photos a second a backbone embeds, measured in a moment: enough to choose one by."""

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from engine.embedding.embed_chunk import network_input
from engine.embedding.messages import PhotoRate
from engine.embedding.rates import measure_inference_for
from engine.errors import ImageError
from engine.images.read_file import read_file
from engine.model_card import BackboneCard
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import ProviderChoice
from engine.runtime.sessions import usable_cores

NETWORK_S: Final = 0.4
"""Chosen: nobody waits for it, and it tells a fast backbone from a slow one."""
PHOTOS_S: Final = 0.4  # the same


def measure_photo_rate(model: Path, card: BackboneCard, choice: ProviderChoice, photos: Sequence[Path]) -> PhotoRate:
    """Measure a backbone on drawn pixels, and reading and decoding on some photos.

    Raises:
        ModelError: the backbone does not run.
    """
    session = BackboneSession(model, card, choice)
    network = measure_inference_for(session, NETWORK_S)
    return PhotoRate(network, _decoded_per_s(photos, card), session.is_on_gpu)


def _decoded_per_s(photos: Sequence[Path], card: BackboneCard) -> float:
    """Photos a second that all cores read and decode, by what one core does; those that cannot be read do not count."""
    decoded, started_s = 0, time.perf_counter()
    for photo in photos:
        with suppress(ImageError):
            network_input(read_file(photo), card)
            decoded += 1
        if time.perf_counter() - started_s > PHOTOS_S:
            break
    return decoded * usable_cores() / (time.perf_counter() - started_s) if decoded else 0.0
