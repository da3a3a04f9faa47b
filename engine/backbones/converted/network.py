"""A bundled backbone as a torch module: the published network, which maps are heard, and the affine cut behind."""

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from engine.backbones.converted.facts import WeightsPackage
from engine.backbones.converted.weights import published_weights
from engine.errors import ModelError
from engine.model.backbone import UnitEmbedding, Whitened
from engine.model.efficientnet_lite import LITE_VARIANTS, EfficientNetLite, load_published

USUALLY_HEARD: Final = (0, 1, 2, 3, 4, 5, 6, 7)
"""Where no head says otherwise: every map."""


@dataclass(frozen=True)
class Head:
    """What is done with the pooled maps."""

    maps: tuple[int, ...]  # which are heard, by their place
    mean: NDArray[np.float32]  # (d_in,) float32, subtracted
    matrix: NDArray[np.float32]  # (d, d_in) float32, multiplied with


def read_head(path: Path) -> Head | None:
    """Read a head from the arrays `maps`, `mean` and `matrix` of an .npz file, or None where there is no file.

    Raises:
        ModelError: the file cannot be read.
    """
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as arrays:
            maps = tuple(int(place) for place in arrays["maps"])
            return Head(maps, arrays["mean"].astype(np.float32), arrays["matrix"].astype(np.float32))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ModelError("the backbone's head cannot be read", found=f"{path}: {error}") from error


def bundled_network(source: WeightsPackage) -> UnitEmbedding:
    """Build a bundled backbone with its published weights, in evaluation mode.

    Returns:
        `UnitEmbedding` of the `EfficientNetLite`, with a `Whitened` between the two where a head is shipped.

    Raises:
        ModelError: the weights are not there or not the published ones.
    """
    return network_with(read_head(source.head), source.name, published_weights(source))


def network_with(head: Head | None, name: str, weights: dict[str, torch.Tensor]) -> UnitEmbedding:
    """Build a network of this name with these weights and this head.

    Raises:
        ModelError: weights or head are those of another network.
    """
    network = EfficientNetLite(LITE_VARIANTS[name], USUALLY_HEARD if head is None else head.maps)
    load_published(network, weights)
    if head is None:
        return UnitEmbedding(network).eval()
    if head.matrix.shape[1:] != head.mean.shape or head.mean.shape != (network.embedding_width,):
        raise ModelError(
            "the head is one of another backbone",
            expected=f"width {network.embedding_width}",
            found=f"mean {head.mean.shape}, matrix {head.matrix.shape}",
        )
    return UnitEmbedding(Whitened(network, torch.from_numpy(head.mean), torch.from_numpy(head.matrix))).eval()
