"""Networks of torchvision with published weights: described, and built without a head."""

import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import init
from torch.overrides import TorchFunctionMode
from torchvision import models

from engine.backbones.published.facts import NON_COMMERCIAL, PublishedNetwork
from engine.backbones.published.weight_file import do_not_fit, read_numbers
from engine.errors import ModelError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress

_DATA_SET = "ImageNet-1K"
_MEBI = 1 << 20
_DIGITS = re.compile(r"-([0-9a-f]{8,64})\.[a-z]+$")
_UNNAMED_LICENCE = (
    "none named for the weights; torchvision is under BSD-3-Clause, and the terms of the training "
    "images may apply"
)
_UNNAMED_LICENCE_URL = "https://github.com/pytorch/vision#pre-trained-model-license"
_KNOWN_LICENCES: Mapping[str, str] = {
    "https://github.com/facebookresearch/SWAG/blob/main/LICENSE": NON_COMMERCIAL,
}
"""By the address in the weights' metadata; source: torchvision's README, “Pre-trained Model
License”."""


def network_names() -> tuple[str, ...]:
    """Sorted names of torchvision's classification networks."""
    return tuple(models.list_models(module=models))


def published_networks(
    names: Sequence[str] | None = None,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> tuple[PublishedNetwork, ...]:
    """Describe networks, default all, with every version of their weights, the default first.

    Weights without a head, which torchvision publishes no accuracy for, are left out.
    """
    chosen = network_names() if names is None else names
    meter = ProgressMeter(len(chosen), on_progress, unit="networks")
    found: list[PublishedNetwork] = []
    for name in chosen:
        if cancel is not None:
            cancel.raise_if_cancelled()
        found += _versions(name)
        meter.advance()
    return tuple(found)


def _versions(name: str) -> list[PublishedNetwork]:
    kind = models.get_model_weights(name)
    usable = [weights for weights in kind if _is_usable(weights)]
    if not usable:
        return []
    default: Any = getattr(kind, "DEFAULT", usable[0])
    try:
        with _NoNumbers():
            network = made(name)
        found = [
            _facts(name, network, weights, is_default=weights is default) for weights in usable
        ]
    except ModelError:  # a network without a head has no embeddings to offer
        return []
    return sorted(found, key=lambda version: not version.is_default)


def _is_usable(weights: Any) -> bool:
    top1 = weights.meta.get("_metrics", {}).get(_DATA_SET, {}).get("acc@1", math.nan)
    return (
        bool(weights.meta.get("categories"))
        and math.isfinite(top1)
        and _DIGITS.search(weights.url) is not None
    )


def _facts(name: str, network: nn.Module, weights: Any, *, is_default: bool) -> PublishedNetwork:
    meta, transforms = weights.meta, weights.transforms()
    metrics, digits = meta["_metrics"][_DATA_SET], _DIGITS.search(weights.url)
    assert digits is not None, "only usable weights are described"
    address = meta.get("license")
    known = _KNOWN_LICENCES.get(address, "see the address") if address else _UNNAMED_LICENCE
    return PublishedNetwork(
        network=name,
        weights=weights.name,
        is_default=is_default,
        url=weights.url,
        sha256_prefix=digits[1],
        size_bytes=round(meta["_file_size"] * _MEBI),
        parameters=meta["num_params"],
        top1=metrics["acc@1"],
        top5=metrics["acc@5"],
        billion_operations=meta["_ops"],
        input_side=transforms.crop_size[0],
        resize_side=transforms.resize_size[0],
        interpolation=transforms.interpolation.value,
        mean=tuple(transforms.mean),
        std=tuple(transforms.std),
        embedding_width=find_head(network, len(meta["categories"]))[1],
        licence=known,
        licence_url=address or _UNNAMED_LICENCE_URL,
        recipe_url=meta["recipe"],
    )


class _NoNumbers(TorchFunctionMode):
    """Creates parameters on the meta device, uninitialised: only the shapes of heads are read."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        _types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        named = kwargs or {}
        if getattr(func, "__module__", None) == init.__name__ and "tensor" in named:
            return named["tensor"]
        elsewhere = {"device": "meta"} if func is torch.empty else {}
        return func(*args, **named | elsewhere)


def load_published(facts: PublishedNetwork, weights_file: Path) -> nn.Module:
    """Build a published network without its head, (B, 3, side, side) to (B, d) float32.

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
        warnings.simplefilter(
            "ignore", FutureWarning
        )  # two old networks announce another initialisation
        network: nn.Module = models.get_model(name, weights=weights)
    return network


def find_head(network: nn.Module, classes: int) -> tuple[str, int]:
    """Path of the classification layer with so many classes, and the width of the embeddings.

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
        raise ModelError(
            "the network has no head that could be taken off",
            expected="a layer with {classes} outputs",
            classes=classes,
        )
    return found


def without_head(network: nn.Module, classes: int) -> int:
    """Replace a network's head by the identity and return the embedding width."""
    path, width = find_head(network, classes)
    network.set_submodule(path, nn.Identity())
    return width


@contextmanager
def _handing_out(kind: type[Any], state: Mapping[str, Tensor]) -> Iterator[None]:
    """Let weights of this kind be those in `state`.

    WORKAROUND: torchvision's builders know how a network must be built for its weights (size of the
    input, renamed layers, dropped auxiliary heads), but fetch the weights themselves, with a reader
    that runs code. This can go when builders take weights that were read before.
    """
    kind.get_state_dict = lambda *_arguments, **_options: state
    try:
        yield
    finally:
        del kind.get_state_dict
