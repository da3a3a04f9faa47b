"""A backbone tried on real images, the project's own or photos of the sample, in a process held to limits."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.backbones.onnx_files.facts import Trial
from engine.config import assets_folder
from engine.embedding.embed_chunk import network_input
from engine.errors import ImageError, InputError, ModelError, StorageError
from engine.images.decode import decode_square
from engine.images.read_file import read_file
from engine.model_card import BackboneCard
from engine.project import Project
from engine.runtime.backbone import BackboneSession
from engine.runtime.devices.names import CPU_PROVIDER
from engine.runtime.providers import ProviderChoice
from engine.worker.limits import peak_memory_bytes

WANTED: Final = 8
LEAST_IMAGES: Final = 2
SAME: Final = 1e-3
"""Median distance of two embeddings, relative to their length, below which all images look the same to a network."""
BATCH_TOLERANCE: Final = 1e-2
REPEAT_TOLERANCE: Final = 1e-5
LARGEST_VALUE: Final = float(np.finfo(np.float16).max)  # the cache keeps embeddings in sixteen bits
MEASURED_S: Final = 0.5
_TINY: Final = float(np.finfo(np.float32).tiny)


def project_images(project: Project) -> tuple[Path, ...]:
    """Some of a project's image files, spread over it."""
    paths = project.images.table().paths
    chosen = np.unique(np.linspace(0, max(0, len(paths) - 1), min(WANTED, len(paths))).astype(int))
    return tuple(project.path.parent / paths[position] for position in chosen)


def trial_images(own: Sequence[Path] = (), count: int = WANTED) -> tuple[Path, ...]:
    """Enough images for a trial: own files that exist, and photos of the sample where these are too few.

    Raises:
        StorageError: the sample's photos are missing.
    """
    found = tuple(path for path in own if path.is_file())[:count]
    return found + sample_photos(count - len(found))


def sample_photos(count: int) -> tuple[Path, ...]:
    """The first photos of the shipped sample collection by name; neighbours show different classes.

    Raises:
        StorageError: the program was installed without them.
    """
    folder = assets_folder() / "sample" / "photos"
    found = sorted(folder.glob("*.jpg"))[:count]
    if len(found) < count:
        what, remedy = "photos of the sample collection are missing", "install Protoleaf again"
        expected = "{count} files in {folder}"
        there = str(len(found))
        raise StorageError(what, expected=expected, found=there, remedy=remedy, count=count, folder=folder)
    return tuple(found)


def sample_squares(count: int, side: int, resize_share: float) -> NDArray[np.uint8]:
    """Photos of the sample collection as a network's square input, (count, side, side, 3) uint8 RGB."""
    return np.stack([decode_square(path.read_bytes(), side, resize_share) for path in sample_photos(count)])


def normalised(squares: NDArray[np.uint8], mean: Sequence[float], std: Sequence[float]) -> NDArray[np.float32]:
    """Squares (n, side, side, 3) as a network takes them, (n, 3, side, side) float32; mean and std in [0, 1]."""
    scaled = (squares / 255 - np.array(mean)) / np.array(std)
    return np.ascontiguousarray(scaled.transpose(0, 3, 1, 2), dtype=np.float32)


def try_backbone(path: Path, card: BackboneCard, images: Sequence[Path]) -> Trial:
    """Embed at least two real images and check that the network does what a backbone must.

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
        what, expected = "the embeddings are too large to be stored", "values up to {limit:,.0f}"
        found, remedy = f"{largest:,.0f}", "normalise them to unit length"
        raise ModelError(what, expected=expected, found=found, remedy=remedy, limit=LARGEST_VALUE)
    first, second = np.triu_indices(len(pixels), 1)
    distances = np.linalg.norm(embeddings[first] - embeddings[second], axis=1)
    spread = float(np.median(distances)) / max(length, _TINY)
    if spread < SAME:
        what, expected = (
            "different images have the same embedding",
            "distances of at least {tolerance:g} of their length",
        )
        found, remedy = f"{spread:.1g}", "check mean, std and value range, and which output is taken"
        raise ModelError(what, expected=expected, found=found, remedy=remedy, tolerance=SAME)
    repeated = _relative(session.embed(pixels), embeddings)
    if not repeated <= REPEAT_TOLERANCE:
        what, expected = "the model gives a different embedding each time", "the same for the same image"
        found, remedy = "a relative difference of {difference:.1g}", "export it in evaluation mode, without dropout"
        raise ModelError(what, expected=expected, found=found, remedy=remedy, difference=repeated)
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
    """Images as the pipeline prepares them, without unreadable ones and duplicates."""
    found: dict[bytes, NDArray[np.uint8]] = {}
    for image in images:
        try:
            square = network_input(read_file(image), card)
        except ImageError:
            continue
        found[square.tobytes()] = square
    if len(found) < LEAST_IMAGES:
        what, expected = (
            "there are too few images to try the backbone on",
            "at least {least} different ones that can be read",
        )
        raise InputError(what, expected=expected, found=str(len(found)), least=LEAST_IMAGES)
    return np.stack(list(found.values()))


def _batch_difference(session: BackboneSession, pixels: NDArray[np.uint8]) -> float:
    alone = np.concatenate([session.embed(pixels[:1]), session.embed(pixels[1:2])])
    difference = _relative(session.embed(pixels[:2]), alone)
    if not difference <= BATCH_TOLERANCE:
        what = "an image's embedding depends on the other images of its batch"
        expected = "a relative difference of at most {tolerance:g}"
        remedy = "export it in evaluation mode; networks with dynamic quantisation cannot be used"
        found = f"{difference:.2g}"
        raise ModelError(what, expected=expected, found=found, remedy=remedy, tolerance=BATCH_TOLERANCE)
    return difference


def _relative(found: NDArray[np.float32], expected: NDArray[np.float32]) -> float:
    return float(np.abs(found - expected).max() / max(float(np.abs(expected).max()), _TINY))


def images_per_s(session: BackboneSession, pixels: NDArray[np.uint8]) -> float:
    """Images a second without reading files: these are embedded again and again for half a second."""
    done, started_s = 0, time.perf_counter()
    while (passed_s := time.perf_counter() - started_s) < MEASURED_S or not done:
        done += len(session.embed(pixels))
    return done / passed_s
