"""A network of timm as a backbone: built for weights that were read as data, without its head."""

import json
import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from engine.backbones.published.facts import PublishedNetwork
from engine.backbones.published.weight_file import do_not_fit, read_numbers
from engine.errors import ModelError

_REFUSALS: Final = (RuntimeError, LookupError, ValueError, TypeError, AssertionError, AttributeError)
"""What timm raises on weights, sides and settings that a network cannot take."""


def load_published(facts: PublishedNetwork, weights_file: Path) -> nn.Module:
    """Make a network of timm from its downloaded weights, without its head.

    Position embeddings are interpolated by timm for the side that the facts name.

    Returns:
        The network in evaluation mode; maps images (B, 3, side, side) float32 to embeddings (B, d) float32.

    Raises:
        ModelError: the file is damaged, holds more than numbers, or does not fit the network.
    """
    state = read_numbers(weights_file)
    try:
        network = made(facts, state)
    except _REFUSALS as error:
        raise do_not_fit(facts.title, error) from error
    return network.float()


def made(facts: PublishedNetwork, state: Mapping[str, Tensor] | None = None) -> nn.Module:
    """Build a network of timm without its head, with these weights or with timm's first numbers.

    All weights must be there, the head's included: that is how those of another network are noticed.
    """
    settings = json.loads(facts.settings or "{}")
    configuration, options = settings.get("pretrained_cfg"), dict(settings.get("model_args", {}))
    if facts.has_chosen_side and _has_fixed_side(facts, configuration):
        options["img_size"] = facts.input_side
    with quiet():
        import timm

        network: nn.Module = timm.create_model(
            settings.get("architecture", facts.full_name),
            pretrained=state is not None,
            pretrained_cfg=configuration,
            pretrained_cfg_overlay=None if state is None else {"state_dict": dict(state), "source": None},
            **options,
        )
    network.pretrained_cfg = network.default_cfg = {}  # type: ignore[assignment]  # it holds the weights once more
    network.reset_classifier(0)  # type: ignore[operator]  # every network of timm has it
    return network.eval()


def shape_of(facts: PublishedNetwork) -> tuple[int, int]:
    """Count the parameters of a network without its head, and the numbers of an embedding, without making them.

    Raises:
        ModelError: it gives no embeddings for images of its side.
    """
    images = torch.empty(2, 3, facts.input_side, facts.input_side, device="meta")
    try:
        with torch.device("meta"), torch.no_grad(), quiet():
            network = made(facts)
            _check_patches(network, facts.input_side)
            found = tuple(network(images).shape)
    except _REFUSALS as error:
        raise ModelError(
            f"{facts.title} cannot be built for images of {facts.input_side} pixels",
            found=str(error).partition("\n")[0],
        ) from error
    if len(found) != images.ndim - 2 or found[0] != len(images):
        raise ModelError(f"{facts.title} gives no embeddings", expected="(2, width)", found=str(found))
    return sum(parameter.numel() for parameter in network.parameters()), found[1]


def _check_patches(network: nn.Module, side: int) -> None:
    """Refuse a side that leaves a part of a patch over, which timm would not show to the network."""
    patch = getattr(getattr(network, "patch_embed", None), "patch_size", None)
    smallest = patch[0] if isinstance(patch, tuple | list) else patch
    if isinstance(smallest, int) and side % smallest:
        raise ValueError(f"the side must be a multiple of {smallest}")


def _has_fixed_side(facts: PublishedNetwork, configuration: Mapping[str, Any] | None) -> bool:
    """Whether the network is built for one side; others take images of any."""
    from timm.models import get_pretrained_cfg

    if configuration is not None:
        return bool(configuration.get("fixed_input_size", False))
    found = get_pretrained_cfg(facts.full_name)
    return found is not None and found.fixed_input_size


@contextmanager
def quiet() -> Iterator[None]:
    """Without what timm says of its own parts while it is loaded and builds."""
    logger = logging.getLogger("timm")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
