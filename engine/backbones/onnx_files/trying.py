"""Tries a backbone on real images; only ever called in a process held to limits."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.backbones.onnx_files.facts import Trial
from engine.embedding.embed_chunk import network_input
from engine.errors import ImageError, InputError, ModelError
from engine.images.read_file import read_file
from engine.model_card import BackboneCard
from engine.runtime.backbone import BackboneSession
from engine.runtime.devices.names import CPU_PROVIDER
from engine.runtime.providers import ProviderChoice
from engine.worker.limits import peak_memory_bytes

LEAST_IMAGES: Final = 2
SAME: Final = 1e-3
"""Median distance of two embeddings, relative to their length, below which all images look the same to a network."""
BATCH_TOLERANCE: Final = 1e-2
REPEAT_TOLERANCE: Final = 1e-5
LARGEST_VALUE: Final = float(np.finfo(np.float16).max)
"""The cache keeps embeddings in sixteen bits."""
_TINY: Final = float(np.finfo(np.float32).tiny)
MEASURED_S: Final = 0.5


def try_backbone(path: Path, card: BackboneCard, images: Sequence[Path]) -> Trial:
    """Embed real images and see whether the network does what a backbone must.

    Args:
        images: picture files, at least two that can be read.

    Raises:
        ModelError: it does not, and why.
        InputError: fewer than two of the images can be read.
    """
    session = BackboneSession(path, card, ProviderChoice(CPU_PROVIDER, "CPU"), threads=1)
    pixels = _pixels(images, card)
    embeddings = session.embed(pixels)
    length = float(np.linalg.norm(embeddings, axis=1).mean())
    largest = float(np.abs(embeddings).max())
    if largest > LARGEST_VALUE:
        raise ModelError(
            "the embeddings are too large to be stored",
            expected="values up to {limit:,.0f}",
            found=f"{largest:,.0f}",
            remedy="normalise them to unit length",
            limit=LARGEST_VALUE,
        )
    first, second = np.triu_indices(len(pixels), 1)
    distances = np.linalg.norm(embeddings[first] - embeddings[second], axis=1)
    spread = float(np.median(distances)) / max(length, _TINY)
    if spread < SAME:
        raise ModelError(
            "different images have the same embedding",
            expected="distances of at least {tolerance:g} of their length",
            found=f"{spread:.1g}",
            remedy="check mean, std and value range, and which output is taken",
            tolerance=SAME,
        )
    _check_repeat(session, pixels, embeddings)
    return Trial(
        images=len(pixels),
        width=embeddings.shape[1],
        images_per_s=images_per_s(session, pixels),
        memory_bytes=peak_memory_bytes(),
        mean_length=length,
        spread=spread,
        batch_difference=_batch_difference(session, pixels),
    )


def _pixels(images: Sequence[Path], card: BackboneCard) -> NDArray[np.uint8]:
    """Pictures as the pipeline makes them, without those that cannot be read and without copies."""
    found: dict[bytes, NDArray[np.uint8]] = {}
    for image in images:
        try:
            square = network_input(read_file(image), card)
        except ImageError:
            continue
        found[square.tobytes()] = square
    if len(found) < LEAST_IMAGES:
        raise InputError(
            "there are too few images to try the backbone on",
            expected="at least {least} different ones that can be read",
            found=str(len(found)),
            least=LEAST_IMAGES,
        )
    return np.stack(list(found.values()))


def _check_repeat(session: BackboneSession, pixels: NDArray[np.uint8], embeddings: NDArray[np.float32]) -> None:
    difference = _relative(session.embed(pixels), embeddings)
    if not difference <= REPEAT_TOLERANCE:
        raise ModelError(
            "the model gives a different embedding each time",
            expected="the same for the same image",
            found="a relative difference of {difference:.1g}",
            remedy="export it in evaluation mode, without dropout",
            difference=difference,
        )


def _batch_difference(session: BackboneSession, pixels: NDArray[np.uint8]) -> float:
    alone = np.concatenate([session.embed(pixels[:1]), session.embed(pixels[1:2])])
    difference = _relative(session.embed(pixels[:2]), alone)
    if not difference <= BATCH_TOLERANCE:
        raise ModelError(
            "an image's embedding depends on the other images of its batch",
            expected="a relative difference of at most {tolerance:g}",
            found=f"{difference:.2g}",
            remedy="export it in evaluation mode; networks with dynamic quantisation cannot be used",
            tolerance=BATCH_TOLERANCE,
        )
    return difference


def _relative(found: NDArray[np.float32], expected: NDArray[np.float32]) -> float:
    return float(np.abs(found - expected).max() / max(float(np.abs(expected).max()), _TINY))


def images_per_s(session: BackboneSession, pixels: NDArray[np.uint8]) -> float:
    """Images a second, without reading files: these are embedded again and again for half a second."""
    done, started_s = 0, time.perf_counter()
    while (passed_s := time.perf_counter() - started_s) < MEASURED_S or not done:
        done += len(session.embed(pixels))
    return done / passed_s
