"""A published network of torchvision as a backbone: its weights loaded as data, and its head taken off."""

import pickle
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn
from torchvision import models

from engine.backbones.published.facts import PublishedNetwork
from engine.errors import ModelError

_DAMAGE: Final = (pickle.UnpicklingError, RuntimeError, EOFError, OSError, ValueError, LookupError, TypeError)
"""What torch raises on files that are damaged, no weights, or weights with code in them."""


def load_published(facts: PublishedNetwork, weights_file: Path) -> nn.Module:
    """Make a published network from its downloaded weights, without its head.

    Returns:
        The network in evaluation mode; maps images (B, 3, side, side) float32 to embeddings (B, d) float32.

    Raises:
        ModelError: the file is damaged, holds more than numbers, or does not fit the network.
    """
    state = read_numbers(weights_file)
    weights = models.get_model_weights(facts.network)[facts.weights]
    try:
        with _handing_out(type(weights), state):
            network = made(facts.network, weights)
    except (RuntimeError, LookupError, ValueError) as error:
        raise ModelError(
            "the weights do not fit the network", expected=f"weights of {facts.network}", found=_first_line(error)
        ) from error
    without_head(network, len(weights.meta["categories"]))
    return network.eval()


def read_numbers(path: Path) -> Mapping[str, Tensor]:
    """Read a file of weights. No code that the file might hold is ever run.

    Raises:
        ModelError: the file is damaged, or holds anything but tensors by name.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about how old files keep their numbers
            state = torch.load(path, map_location="cpu", weights_only=True)
    except _DAMAGE as error:
        raise ModelError(
            "the weights cannot be read as plain numbers",
            expected="tensors by name, and no code",
            found=_first_line(error),
            remedy="nothing of the file was run; do not use it",
        ) from error
    if not isinstance(state, Mapping) or not all(isinstance(value, Tensor) for value in state.values()):
        raise ModelError("the file holds no weights", expected="tensors by name", found=type(state).__name__)
    return state


def made(name: str, weights: Any = None) -> nn.Module:
    """Build a network of torchvision; with weights, as they need it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # two old networks announce another initialisation
        network: nn.Module = models.get_model(name, weights=weights)
    return network


def find_head(network: nn.Module, classes: int) -> tuple[str, int]:
    """Find the layer that turns embeddings into scores of so many classes.

    Returns:
        The layer's path in the network, and the length of the embeddings it takes.

    Raises:
        ModelError: there is no such layer.
    """
    found = None
    for path, module in network.named_modules():  # the last one: auxiliary heads come before it
        if isinstance(module, nn.Linear) and module.out_features == classes:
            found = path, module.in_features
        elif isinstance(module, nn.Conv2d) and module.out_channels == classes:
            found = path, module.in_channels
    if found is None:
        raise ModelError("the network has no head that could be taken off", expected=f"a layer with {classes} outputs")
    return found


def without_head(network: nn.Module, classes: int) -> int:
    """Take the head off a network, which then gives embeddings of the width returned; what comes after it stays."""
    path, width = find_head(network, classes)
    network.set_submodule(path, nn.Identity())
    return width


@contextmanager
def _handing_out(kind: type[Any], state: Mapping[str, Tensor]) -> Iterator[None]:
    """Let weights of this kind be what was read here.

    WORKAROUND: torchvision's builders know how a network must be built for its weights (size of the input, renamed
    layers, dropped auxiliary heads), but fetch the weights themselves, with a reader that runs code. This can go when
    builders take weights that were read before.
    """
    kind.get_state_dict = lambda *_arguments, **_options: state
    try:
        yield
    finally:
        del kind.get_state_dict


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
