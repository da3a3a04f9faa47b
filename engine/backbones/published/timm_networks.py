"""Networks of timm with published weights, described offline, built from weights read as data."""

import json
import logging
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from engine.backbones.published.facts import TIMM, PublishedNetwork, licence_in_words
from engine.backbones.published.web_client import file_address, page_address
from engine.backbones.published.weight_file import do_not_fit, read_numbers
from engine.config import assets_folder
from engine.errors import ModelError, found_at
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.model_card import CHANNELS

if TYPE_CHECKING:
    from timm.models import PretrainedCfg

SIZES_NAME = "timm-networks.json"
"""Parameters without a head, and embedding width, by architecture: building all takes minutes."""
WEIGHT_NAMES = ("model.safetensors", "pytorch_model.bin")
"""Of a network of timm on the hub, the best first."""
BYTES_PER_NUMBER = 4  # of float32, as nearly all weights are published
NOT_KNOWN: Mapping[str, Any] = {
    "publisher": TIMM,
    "top1": None,
    "top5": None,
    "billion_operations": None,
    "input_side": 0,
    "resize_side": 0,
    "interpolation": "",
    "mean": (),
    "std": (),
}
"""What timm does not publish, and what is filled in from a network's configuration."""
_DIGITS = re.compile(r"-([0-9a-f]{8,64})\.pth$")
_ONE_RELEASE = "main"
_REFUSALS = (
    RuntimeError,
    LookupError,
    ValueError,
    TypeError,
    AssertionError,
    AttributeError,
)
"""What timm raises on weights, sides and settings that a network cannot take."""


def network_names() -> tuple[str, ...]:
    """Sorted names of timm's networks with tags of weights that embed square images."""
    return tuple(
        name for name, configuration in _configurations().items() if _is_usable(configuration)
    )


def published_networks(
    names: Sequence[str] | None = None,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> tuple[PublishedNetwork, ...]:
    """Describe networks, default all; a name without a tag includes all its tags.

    No accuracy is published with the package.
    """
    wanted = None if names is None else set(names)
    chosen = [
        name
        for name in network_names()
        if wanted is None or not wanted.isdisjoint((name, name.partition(".")[0]))
    ]
    defaults, configurations = _default_names(), _configurations()
    meter = ProgressMeter(len(chosen), on_progress, unit="networks")
    found: list[PublishedNetwork] = []
    for name in chosen:
        if cancel is not None:
            cancel.raise_if_cancelled()
        found.append(_facts(name, configurations[name], is_default=name in defaults))
        meter.advance()
    return tuple(sorted(found, key=lambda network: (network.network, not network.is_default)))


def every_architecture() -> tuple[str, ...]:
    """Names of all architectures of timm that weights are published for, sorted."""
    return tuple(sorted({name.partition(".")[0] for name in _configurations()}))


def plain_facts_of(architecture: str) -> PublishedNetwork:
    """An architecture with timm's default weights, without its counts."""
    from timm.models import get_pretrained_cfg

    configuration = get_pretrained_cfg(architecture)
    assert configuration is not None, "every architecture has weights"
    return _facts(f"{architecture}.{configuration.tag}", configuration, is_default=True)


def with_input_side(facts: PublishedNetwork, input_side: int) -> PublishedNetwork:
    """The same network for images of another side, built without numbers to check it.

    Raises:
        ModelError: it takes none of this side.
    """
    chosen = facts.at_side(input_side)
    parameters, width = shape_of(chosen)
    return replace(chosen, embedding_width=width, parameters=facts.parameters or parameters)


def _facts(name: str, configuration: "PretrainedCfg", *, is_default: bool) -> PublishedNetwork:
    architecture, _, tag = name.partition(".")
    body, width = _sizes().get(architecture, (0, 0))
    parameters = body and body + (width + 1) * max(0, configuration.num_classes)
    return facts_from(
        vars(configuration),
        PublishedNetwork(
            network=architecture,
            weights=tag,
            is_default=is_default,
            parameters=parameters,
            size_bytes=BYTES_PER_NUMBER * parameters,
            embedding_width=width,
            licence=licence_in_words(configuration.license),
            **_places(configuration),
            **NOT_KNOWN,
        ),
    )


def facts_from(configuration: Mapping[str, Any], known: PublishedNetwork) -> PublishedNetwork:
    """Fill in the preprocessing from a configuration of timm."""
    side = int(configuration["input_size"][1])
    (red, green, blue), (red_std, green_std, blue_std) = configuration["mean"], configuration["std"]
    return replace(
        known,
        input_side=side,
        resize_side=round(side / min(1.0, configuration.get("crop_pct") or 1.0)),
        interpolation=configuration.get("interpolation") or "bicubic",
        mean=(float(red), float(green), float(blue)),
        std=(float(red_std), float(green_std), float(blue_std)),
        is_squashed=configuration.get("crop_mode") == "squash",
    )


def _places(configuration: "PretrainedCfg") -> dict[str, Any]:
    if not configuration.hf_hub_id:
        digits = _DIGITS.search(str(configuration.url))
        assert digits is not None, "only usable networks are described"
        page = "https://github.com/huggingface/pytorch-image-models"
        return {
            "url": configuration.url,
            "sha256_prefix": digits[1],
            "licence_url": page,
            "recipe_url": page,
        }
    repository, _, revision = configuration.hf_hub_id.partition("@")
    names = [configuration.hf_hub_filename] if configuration.hf_hub_filename else WEIGHT_NAMES
    first, *others = (file_address(repository, revision or _ONE_RELEASE, name) for name in names)
    page = page_address(repository)
    return {
        "url": first,
        "other_urls": tuple(others),
        "sha256_prefix": "",
        "licence_url": page,
        "recipe_url": page,
    }


def _is_usable(configuration: "PretrainedCfg") -> bool:
    channels, height, width = configuration.input_size
    has_place = configuration.hf_hub_id or _DIGITS.search(str(configuration.url))
    # As far as known
    gives_vectors = _sizes().get(str(configuration.architecture), (0, 1))[1] > 0
    return bool(has_place) and channels == CHANNELS and height == width and gives_vectors


@cache
def _configurations() -> "Mapping[str, PretrainedCfg]":
    with quiet():
        import timm
        from timm.models import get_pretrained_cfg

        found = {name: get_pretrained_cfg(name) for name in timm.list_models(pretrained=True)}
    return {
        name: configuration for name, configuration in found.items() if configuration is not None
    }


@cache
def _default_names() -> frozenset[str]:
    from timm.models import get_pretrained_cfg

    found = (get_pretrained_cfg(name.partition(".")[0]) for name in _configurations())
    return frozenset(f"{each.architecture}.{each.tag}" for each in found if each is not None)


@cache
def _sizes() -> Mapping[str, tuple[int, int]]:
    """Parameters without a head and width by architecture; a width of 0: no vector."""
    path = assets_folder() / "published" / SIZES_NAME
    if not path.is_file():  # they are being counted
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["networks"]
        return {name: (int(body), int(width)) for name, (body, width) in found.items()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            "the sizes of timm's networks cannot be read", found=found_at(path, error)
        ) from error


def load_published(facts: PublishedNetwork, weights_file: Path) -> nn.Module:
    """Build a network of timm without its head, (B, 3, side, side) to (B, d) float32.

    Position embeddings are interpolated by timm for the side of the facts.

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
    """Build a network of timm without its head, with these weights or with timm's initialisation.

    All weights must be there, the head's included: so those of another network are noticed.
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
            pretrained_cfg_overlay=None
            if state is None
            else {"state_dict": dict(state), "source": None},
            **options,
        )
    network.pretrained_cfg = network.default_cfg = {}  # type: ignore[assignment]
    network.reset_classifier(0)  # type: ignore[operator]  # every network of timm has it
    return network.eval()


def shape_of(facts: PublishedNetwork) -> tuple[int, int]:
    """Parameters of a network without its head, and its embedding width, without allocation.

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
            "{title} cannot be built for images of {needed_side} pixels",
            found=str(error).partition("\n")[0],
            title=facts.title,
            needed_side=facts.input_side,
        ) from error
    if len(found) != images.ndim - 2 or found[0] != len(images):
        raise ModelError(
            "{title} gives no embeddings",
            expected="(2, width)",
            found=str(found),
            title=facts.title,
        )
    return sum(parameter.numel() for parameter in network.parameters()), found[1]


def _check_patches(network: nn.Module, side: int) -> None:
    """Refuse a side that is not a multiple of the patch: timm would drop the rest."""
    patch = getattr(getattr(network, "patch_embed", None), "patch_size", None)
    smallest = patch[0] if isinstance(patch, tuple | list) else patch
    if isinstance(smallest, int) and side % smallest:
        raise ValueError(f"the side must be a multiple of {smallest}")


def _has_fixed_side(facts: PublishedNetwork, configuration: Mapping[str, Any] | None) -> bool:
    from timm.models import get_pretrained_cfg

    if configuration is not None:
        return bool(configuration.get("fixed_input_size", False))
    found = get_pretrained_cfg(facts.full_name)
    return found is not None and found.fixed_input_size


@contextmanager
def quiet() -> Iterator[None]:
    """Without timm's messages while it is loaded and builds."""
    logger = logging.getLogger("timm")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
