"""A published network of torchvision as a backbone: its weights loaded as data, and its head taken off."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import Tensor, nn
from torchvision import models

from engine.backbones.published.facts import PublishedNetwork
from engine.backbones.published.weight_file import do_not_fit, read_numbers
from engine.errors import ModelError


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
        raise do_not_fit(facts.network, error) from error
    without_head(network, len(weights.meta["categories"]))
    return network.eval()


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
