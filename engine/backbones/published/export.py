"""A published network as one ONNX file, refused when it does not do what the torch module does."""

from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import nn

from engine.backbones.published.facts import PublishedNetwork
from engine.backbones.trial import normalised, sample_squares
from engine.errors import ModelError
from engine.events import CancelToken
from engine.full_disk import storage_error
from engine.new_file import write_file
from engine.training.export import HALF_WEIGHTS_TOLERANCE, Agreement, Inputs, compare
from engine.training.onnx_conversion import ModelShape, store_weights_as_half, to_onnx

TOLERANCE = 1e-3
"""Relative to an embedding's largest value. Rounding alone gave at most 2 parts in a million in the
ten families that were measured; this leaves room for deeper ones."""
LARGEST_FILE_BYTES = 1_900_000_000
"""A single ONNX file (protocol buffer) ends at 2 GiB; larger networks have float16 weights."""
_BYTES_PER_NUMBER = 4
_RANDOM_IMAGES = 1
_PHOTOS = 3


def export_published(
    network: nn.Module,
    facts: PublishedNetwork,
    path: Path,
    *,
    on_written: Callable[[], None] = lambda: None,
    cancel: CancelToken,
) -> Agreement:
    """Write a published network as an ONNX file for images of its side, and compare it with torch.

    Args:
        network: without its head, in evaluation mode, on the CPU.

    Returns:
        How closely the file agrees with the module, on noise and on photos of the sample
        collection.

    Raises:
        ModelError: the network cannot be converted, or the file differs from the module.
        StorageError: the disk refuses.
        Cancelled: stopped by the person.
    """
    is_half = facts.parameters * _BYTES_PER_NUMBER > LARGEST_FILE_BYTES
    tolerance = HALF_WEIGHTS_TOLERANCE if is_half else TOLERANCE
    try:
        with torch.no_grad():
            content = _converted(network, facts, is_half=is_half)
            cancel.raise_if_cancelled()
            write_file(path, content)
            del content
            on_written()
            return compare(path, network, _inputs(facts, cancel), tolerance=tolerance)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise storage_error(
            path, error, "the network cannot be written", "free some disk space; nothing was saved"
        ) from error
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _converted(network: nn.Module, facts: PublishedNetwork, *, is_half: bool) -> bytes:
    shape = ModelShape(("images",), ("embeddings",), ({0: "batch"},))
    images = torch.zeros(2, 3, facts.input_side, facts.input_side)
    found = tuple(network(images).shape)
    if found != (2, facts.embedding_width):
        raise ModelError(
            "the network gives no embeddings",
            expected=f"(2, {facts.embedding_width})",
            found=str(found),
        )
    model = to_onnx(network, (images,), shape, notes={"name": facts.library_name})
    if is_half:
        store_weights_as_half(model.graph)
    return model.SerializeToString()


def _inputs(facts: PublishedNetwork, cancel: CancelToken) -> Iterator[Inputs]:
    """Noise, and photos with the product's preprocessing, in batches of two sizes."""
    side, generator = facts.input_side, torch.Generator().manual_seed(0)
    cancel.raise_if_cancelled()
    yield (torch.randn(_RANDOM_IMAGES, 3, side, side, generator=generator),)
    cancel.raise_if_cancelled()
    squares = sample_squares(_PHOTOS, side, facts.resize_share)
    yield (torch.from_numpy(normalised(squares, facts.mean, facts.std)),)
    cancel.raise_if_cancelled()
