"""Names of published networks as people write them: `ConvNeXt Tiny`, not `convnext_tiny`."""

import re
from collections.abc import Mapping
from enum import StrEnum

LIBRARY_PREFIX = "torchvision-"
TIMM_PREFIX = "timm-"
FIRST_WEIGHTS = "V1"  # not named in a title: most networks have no others

_USUAL_DATA = "IMAGENET1K_"
_FAMILIES: Mapping[str, str] = {
    "alexnet": "AlexNet",
    "convnext": "ConvNeXt",
    "densenet": "DenseNet-",
    "efficientnet": "EfficientNet",
    "googlenet": "GoogLeNet",
    "inception": "Inception",
    "maxvit": "MaxViT",
    "mnasnet": "MNASNet",
    "mobilenet": "MobileNet",
    "regnet": "RegNet",
    "resnet": "ResNet-",
    "resnext": "ResNeXt-",
    "shufflenet": "ShuffleNet",
    "squeezenet": "SqueezeNet",
    "swin": "Swin",
    "vgg": "VGG-",
    "vit": "ViT",
    "wide_resnet": "Wide ResNet-",
}
"""By torchvision's prefix; a hyphen precedes a number of layers."""

_SIZES: Mapping[str, str] = {
    "t": "Tiny",
    "s": "Small",
    "b": "Base",
    "m": "Medium",
    "l": "Large",
    "h": "Huge",
}
_NETWORK = re.compile(rf"({'|'.join(sorted(_FAMILIES, key=len, reverse=True))})_?(.*)")
_DECIMAL = re.compile(r"(?<=\d)_(?=\d+(?:[mg]f)?$)")
_PATCH = re.compile(r"([a-z])_(\d+)$")
_TIMES = re.compile(r"(\d*)x(\d.*)")
_LONGEST_SHORT_FORM = 2
_WORK = re.compile(r"([\d.]+)([mg]f)")


class Advice(StrEnum):
    """Purposes for which a network is recommended."""

    FAST = "fast"
    BALANCED = "balanced"
    BEST = "best"


def network_title(network: str, weights: str) -> str:
    """`ResNet-50 (V2)`, by torchvision's names of a network and of its weights."""
    version = weights.upper().removeprefix(_USUAL_DATA)
    title = _architecture(network)
    if version == FIRST_WEIGHTS:
        return title
    return f"{title} ({_version(version)})"


def library_title(name: str) -> str:
    """The same for a network on this computer; timm's names and those of other backbones stay."""
    if name.startswith(TIMM_PREFIX):
        return name.removeprefix(TIMM_PREFIX)
    network, _, weights = name.removeprefix(LIBRARY_PREFIX).partition(f"-{_USUAL_DATA.lower()}")
    return network_title(network, weights) if name.startswith(LIBRARY_PREFIX) and weights else name


def is_published(name: str) -> bool:
    """Whether a backbone of this name in the library is a published network."""
    return name.startswith((LIBRARY_PREFIX, TIMM_PREFIX))


def _version(version: str) -> str:
    """`SWAG`, and `SWAG linear` where only the head was trained on ImageNet."""
    kind, _, rest = version.partition("_")
    if not rest:
        return kind
    return f"{kind} linear" if rest.startswith("LINEAR") else kind


def _architecture(network: str) -> str:
    found = _NETWORK.fullmatch(network)
    if found is None:
        words = network.replace("_", " ")
        return words[:1].upper() + words[1:]
    family, rest = _FAMILIES[found[1]], found[2]
    if family == "ViT":
        return f"{family} {_PATCH.sub(lambda patch: f'{_SIZES[patch[1]]}/{patch[2]}', rest)}"
    if not family.endswith("-"):
        rest = _DECIMAL.sub(".", rest)
    words = " ".join(map(_word, rest.split("_"))).strip()
    return family + words if family.endswith("-") else f"{family} {words}".strip()


def _word(word: str) -> str:
    if word in _SIZES:
        return _SIZES[word]
    if work := _WORK.fullmatch(word):
        return f"{work[1]} {work[2].upper()}"
    if times := _TIMES.fullmatch(word):
        return f"{times[1]}\N{MULTIPLICATION SIGN}{times[2]}"
    return word.upper() if len(word) <= _LONGEST_SHORT_FORM else word.capitalize()
